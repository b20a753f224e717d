"""Capitals that words have only because they open a sentence."""

from audit.packs.english.parser import Parse, tree_of
from audit.packs.english.tagging import known_as
from audit.text import Analysis
from audit.text.tokens import words

_ENDS = words('. ! ? ... " “ ``')
_INSIDE_NAMES = words("of and the for in - & '")
_QUANTIFIERS = words(
    "most many much few several some all both other no every each such any either one more none half "
    "own same last first next second third least former"
)
_NAMES = words("democratic republican democrat christian catholic liberal labor will grant")
# "The Senate" is no title of a book or a film; "The Mother" may be one.
_INSTITUTIONS = words(
    "senate house president congress court government administration pentagon kremlin council department commission "
    "bank army navy mayor governor minister secretary party union states state city board committee agency republic "
    "institute legislature constitution kingdom assembly parliament bureau office university pope treasury white "
    "church association society foundation chancellor commissioner prime vice attorney director chairman police fed "
    "reserve league museum center centre ministry institution act"
)
_CLOSED = words("IN RB WRB PRP PRP$ CC EX MD WP PDT")
_ABSTRACT = ("ness", "ments", "tions")


def opens(tree: Parse, index: int) -> bool:
    """Whether a word is the first of a sentence, where a capital says nothing.

    >>> from audit.packs.english.parser import tree_of
    >>> from audit.text import Analysis
    >>> [opens(tree_of(Analysis("It is. I am.").tokens), index) for index in range(4)]
    [True, False, False, True]
    """
    return index == 0 or tree.words[index - 1].text in _ENDS


def keeps_capital(tree: Parse, index: int) -> bool | None:
    """Whether the first word of a sentence keeps its capital inside one; None where that cannot be told: it may begin a
    title.

    >>> from audit.packs.english.parser import tree_of
    >>> from audit.text import Analysis
    >>> texts = "The film is long.", "American films are long.", "The Mother is long."
    >>> [keeps_capital(tree_of(Analysis(text).tokens), 0) for text in texts]
    [False, True, None]
    """
    word = tree.words[index]
    if word.text[0].islower() or word.text == "I" or (len(word.text) > 1 and not word.text[1:].islower()):
        return True
    if word.tag in ("NNP", "NNPS") and not word.lower.endswith(_ABSTRACT):
        return True
    if word.tag in _CLOSED or word.lower in _QUANTIFIERS:
        return False
    if word.tag in ("JJ", "NNS") and not any(known_as(word.lower, part) for part in ("ADJ", "NOUN")):
        return True
    if word.lower in _NAMES:
        return None
    stop = index + 1
    while stop < len(tree.words) and (tree.words[stop].text[0].isupper() or tree.words[stop].lower in _INSIDE_NAMES):
        stop += 1
    run = tree.words[index + 1 : stop]
    while run and not run[-1].text[0].isupper():
        run = run[:-1]
    if not run or run[0].text == "I":
        return False
    if run[0].text[0].islower():  # "Lord of War", but "Members of Congress"
        return False if run[0].lower != "of" or word.tag == "NNS" else None
    if word.tag != "DT":
        return None
    goes_on = tree.words[stop].tag in ("NN", "NNS", "JJ", "CD") if stop < len(tree.words) else False
    plain = any(name.lower in _INSTITUTIONS or name.tag == "NNPS" or name.text.isupper() for name in run)
    return False if goes_on or plain or word.lower not in ("the", "a", "an") else None


_LINKING = words(
    "however meanwhile moreover furthermore besides instead therefore thus hence still yet then also so "
    "nevertheless nonetheless unfortunately sadly luckily fortunately while yes no well oh ah please maybe "
    "perhaps let lets otherwise likewise and but or nor"
)
"""Words that a statement may open with, and no statement behind other words."""


def is_statement(text: Analysis) -> bool:
    """Whether the first sentence of a text is a clause with subject and finite verb that opens with no link to a
    sentence before it, and no other clause stands before its own: "It rains, he said."

    >>> [is_statement(Analysis(text)) for text in ("It is long.", "A long film.", "But it is long.", "I go, he said.")]
    [True, False, False, False]
    """
    tree = tree_of(text.tokens)
    if tree is None or not tree.words[0].text[0].isalpha():
        return False
    first = tree.words[0]
    root = next((word for word in tree.roots() if any(under.index == 0 for under in tree.under(word.index))), None)
    if tree.words[1:2] and tree.words[1].lower in ("addition", "fact", "contrast", "turn"):
        return False  # "In addition, ..."
    if root is None or first.lower in _LINKING or first.tag in ("CC", "UH") or not tree.is_finite(root.index):
        return False
    subject = tree.subject(root.index)
    before = [word for word in tree.children(root.index) if word.index < root.index and word.relation == "ccomp"]
    return subject is not None and subject.index < root.index and not before


def inside_sentence(text: Analysis) -> str | None:
    """A text as it is written behind the beginning of a sentence: its first word without the capital that only opened
    it. None where that cannot be told, or the text does not begin with a plain statement.

    >>> inside_sentence(Analysis("The film is long.")), inside_sentence(Analysis("I like it."))
    ('the film is long.', 'I like it.')
    """
    tree = tree_of(text.tokens)
    keeps = keeps_capital(tree, 0) if tree is not None and is_statement(text) else None
    if keeps is None or tree is None:
        return None
    start = tree.words[0].start
    return text.text if keeps else text.text[:start] + text.text[start].lower() + text.text[start + 1 :]
