"""One noun phrase of an English sentence in the other number, with everything that agrees with it: its determiner, the
verbs that it is the subject of, and what it is said to be ("this phone is a toy").

Nothing is offered for a noun that is not in the list of countable ones, nor where something else may refer to the
phrase ("it", "they", "each"). The guard refuses what does not agree.
"""

from collections.abc import Mapping
from functools import cache

from audit.packs.english.emphasis import article
from audit.packs.english.guard import protected
from audit.packs.english.parser import Parse, Word, tree_of
from audit.packs.english.tagging import base, forms, plural
from audit.packs.english.vocabulary import NEGATIONS
from audit.resources import data_rows
from audit.text.analysis import Analysis
from audit.text.tokens import Token, words

Change = dict[int, str]
_TO_THINGS = words("it its itself one another")
_TO_PERSONS = words("he his him himself she her hers herself they them their one another")
_TO_SEVERAL = words(
    "they their them theirs themselves each both other others together another between among many all most none half "
    "few one ones various different similar numerous mixed same alike"
)
_COUNTING = words("one single sole whole entire only other first very such several various many few")
_PLAIN = words("det poss amod compound prep relcl acl punct advmod")
"""Relations of what may hang on a noun that changes its number."""
_NO_NUMBER = words("as like than per between among throughout across")
"""Prepositions, and nouns before "of", that say something of the number."""
_GOING_ON = words("and or & such including like")
_SINGULAR_OF_SEVERAL = words("mess joke pain waste shame must steal rip-off plus pleasure delight mystery")
"""Nouns that may be said of several as they are: "these phones are a joke"."""
_OTHER = {
    "NN": {"this": "these", "that": "those", "the": "the", "any": "any", "it": "they"},
    "NNS": {"these": "this", "those": "that", "the": "the", "any": "any", "some": "a", "they": "it"},
}
"""Determiners and subjects, by the noun's tag; "a" has rules of its own."""
_FORMS = {
    "is": ("am", "is", "are"),
    "was": ("was", "was", "were"),
    "has": ("have", "has", "have"),
    "does": ("do", "does", "do"),
}
_FULL = {"are": "is", "am": "is", "'s": "is", "'re": "is", "'m": "is", "were": "was", "have": "has", "'ve": "has"}
_NUMBERS = ("first", "singular", "plural")


def agree(verb: Token, number: str) -> str | None:
    """A finite verb or auxiliary as it agrees with a subject: `first` (I), `singular` or `plural`. A contraction is
    written in full; None for what is no form of a verb in the dictionary.

    >>> [agree(Analysis(text).tokens[1], "plural") for text in ("It is", "It works", "It went")]
    ['are', 'work', 'went']
    """
    full = _FULL.get(verb.low, verb.low)
    if full in _FORMS:
        new = _FORMS[full][_NUMBERS.index(number)]
    elif verb.tag in ("MD", "VBD"):
        new = verb.low
    else:
        lemma = base(verb.low) or ""
        new = lemma if number != "singular" else next(iter(forms(lemma, "VBZ")), "")
    return (new.upper() if verb.text.isupper() and len(verb.text) > 1 else new) or None


@cache
def countables() -> tuple[Mapping[str, str], Mapping[str, str]]:
    """(singular -> plural, plural -> singular) of the nouns in data/lexicons/countables.tsv."""
    nouns = frozenset[str]().union(*_uses().values())
    many = {noun: plural(noun) or (f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s") for noun in sorted(nouns)}
    return many, {form: noun for noun, form in many.items()}


@cache
def _uses() -> Mapping[str, frozenset[str]]:
    """The nouns of each use, as data/lexicons/countables.tsv explains it."""
    return {use: words(nouns) for use, nouns in data_rows("lexicons/countables.tsv")}


def changes(text: Analysis) -> list[Change]:
    """One set of replacements (token index -> text) for each noun phrase whose number can be changed.

    >>> text = Analysis("The scenes are dull.")
    >>> [text.replace(change) for change in changes(text)]
    ['The scene is dull.']
    """
    plurals, singulars = countables()
    found = text.words & (plurals.keys() | singulars.keys())
    tree = tree_of(text.tokens) if found and "?" not in text.words else None
    made = [
        (word, _change(tree, word))
        for word in tree or ()
        if tree is not None and _singular(word) and word.index not in protected(text)
    ]
    return [change for noun, change in made if change and tree is not None and not _referred_to(tree, noun, change)]


def _singular(word: Word) -> str | None:
    """The countable noun that a word is a form of."""
    plurals, singulars = countables()
    known = {"NNS": singulars.get(word.text), "NN": word.text if word.text in plurals else None}
    return known.get(word.tag)


def _change(tree: Parse, noun: Word) -> Change | None:
    head, change = tree[noun.head], Change()
    if noun.relation in ("nsubj", "nsubjpass"):
        fits = _predicates(tree, head, noun, change) and _phrase(tree, noun, change)
    elif noun.relation == "attr":
        fits = _said(tree, noun, head, change)
    else:
        several = head.lower == "of" and noun.tag == "NNS" and tree[head.head].tag != "NN"  # "one of the scenes"
        governed = noun.relation == "dobj" or (noun.relation == "pobj" and head.lower not in _NO_NUMBER)
        fits = governed and not several and _phrase(tree, noun, change)
    return change if fits else None


def _phrase(tree: Parse, noun: Word, change: Change) -> bool:
    """The noun and its determiner, in the other number."""
    begin = [word for word in tree.under(noun.index) if word.index < noun.index]
    after = tree[noun.index + 1] if noun.index + 1 < len(tree) else None
    clause = tree.child(noun.index, "relcl", "acl")
    if any(child.relation not in _PLAIN or child.lower in _COUNTING for child in tree.children(noun.index)):
        return False
    if after is not None and (
        after.tag[:2] in ("NN", "CD", "PO")
        or after.lower in _GOING_ON
        or (after.tag in ("VBZ", "VBP") and not noun.relation.startswith("nsubj"))
    ):
        return False  # "the scene modes", "the song Running": the phrase is longer than the parser has seen
    if clause is not None and not _may_follow(tree, noun, clause, change):
        return False
    change[noun.index] = countables()[0][noun.text] if noun.tag == "NN" else _singular(noun) or ""
    if not begin or begin[0].relation not in ("det", "poss", "predet"):
        first = (begin or [noun])[0]
        change[first.index] = f"{article('a', first.text)} {change.get(first.index, first.text)}"
        return noun.relation == "attr" and noun.tag == "NNS"
    if any(word.tag in ("JJS", "RBS", "PRP$", "CC", "DT", ",") for word in begin[1:]):
        return False
    new = _determiner(tree, noun, begin[0], begin[1].text if begin[1:] else change[noun.index])
    if new is not None and new != begin[0].text:
        change[begin[0].index] = new.capitalize() if begin[0].text.istitle() else new
    return new is not None


def _may_follow(tree: Parse, noun: Word, clause: Word, change: Change) -> bool:
    """Whether a relative clause goes with either number, or a participle behind an object."""
    subject = tree.subject(clause.index)
    if clause.relation == "acl" or subject is None:
        return clause.relation == "acl" and noun.relation in ("dobj", "pobj") and clause.tag in ("VBN", "VBG")
    return subject.tag not in ("WDT", "WP") or _predicates(tree, clause, noun, change)


def _determiner(tree: Parse, noun: Word, determiner: Word, first: str) -> str | None:
    """The determiner of the other number before the word `first`; None where none reads well."""
    uses, low, singular = _uses(), determiner.low, _singular(noun)
    subject, person = noun.relation.startswith("nsubj"), singular in uses["person"]
    denied = any(word.lower in NEGATIONS for word in tree[: noun.index])
    if determiner.relation == "poss":
        return low if singular in uses["own"] and determiner.tag == "PRP$" and noun.tag == "NN" else None
    if low in ("a", "an"):
        return _some(tree, noun, denied, person)
    if low == "the":
        bound = any(child.relation == "prep" and "NNS" in (noun.tag, child.tag) for child in tree.children(noun.index))
        of = bound or any(child.lower == "of" for child in tree.children(noun.index))
        fits = (subject if person else singular in uses["the"]) and not of
    elif low == "any":
        fits = denied
    else:
        fits = not person and (low != "some" or not (subject or denied or noun.relation == "pobj"))
    new = _OTHER[noun.tag].get(low) if fits else None
    return article("a", first) if new == "a" else new


def _some(tree: Parse, noun: Word, denied: bool, person: bool) -> str | None:
    """What stands for "a" before a plural: "some", nothing (""); None where none reads well."""
    head = tree[noun.head]
    subject = tree.subject(head.index)
    if noun.relation == "attr" and subject is not None and subject.lower != "there":
        return ""
    whole = any(word.lower == "of" or word.relation == "acl" for word in tree.children(noun.index))
    if noun.tag != "NN" or denied or whole or person or noun.relation not in ("dobj", "attr"):
        return None
    subjects = [subject, tree.subject(head.head)]  # not "people love a bargain"
    own = noun.relation == "attr" or any(word is not None and word.lower in ("i", "we") for word in subjects)
    supposed = any(word.lower in ("would", "'d", "if", "could") for word in tree.children(head.index))
    return "some" if own and not supposed else None


def _predicates(tree: Parse, verb: Word, noun: Word, change: Change) -> bool:
    """The verbs that share a subject agree with it, and so do the nouns that it is said to be."""
    joined = [word for word in tree.children(verb.index) if word.relation == "conj" and word.tag[:2] == "VB"]
    for said in [verb, *(word for word in joined if tree.subject(word.index) is None)]:
        finite, attribute = tree.tensed(said.index), tree.child(said.index, "attr", "oprd")
        new = agree(finite, "plural" if noun.tag == "NN" else "singular") if finite is not None else None
        if tree.child(said.index, "ccomp") is not None or (finite is not None and new is None):
            return False  # "the problem is that"
        if finite is not None and new is not None and new != finite.lower:
            glued = finite.index and tree[finite.index - 1].end == finite.start
            change[finite.index] = f" {new}" if glued else new
        if attribute is not None and attribute is not noun and not _attribute(tree, attribute, noun, change):
            return False
    return True


def _attribute(tree: Parse, said: Word, noun: Word, change: Change) -> bool:
    """What the noun is said to be, in its number, or in none."""
    if said.tag == noun.tag and _singular(said):
        return _phrase(tree, said, change)
    mass = noun.tag == said.tag == "NN" and tree.child(said.index, "det", "poss", "nummod") is None
    return (mass and said.text.islower()) or said.lower in _SINGULAR_OF_SEVERAL


def _said(tree: Parse, noun: Word, verb: Word, change: Change) -> bool:
    """ "There is a toy", "it is a toy": the subject changes, too."""
    subject, inner = tree.subject(verb.index), tree.child(verb.index, "ccomp", "xcomp", "advcl", "csubj", "neg", "aux")
    if subject is None or inner is not None:
        return False
    if subject.lower != "there":
        new = _OTHER[noun.tag].get(subject.lower)
        after = tree[noun.index + 1].tag if noun.index + 1 < len(tree) else "."
        opens = subject.index == 0 or tree[subject.index - 1].text in ".!:"
        if new is None or not opens or after not in (".", ",", "CC", "IN", "WDT"):
            return False  # "but it was a problem", of what was said before; "it is a sure bet to"
        change[subject.index] = new.capitalize() if subject.text[0].isupper() else new
    return _predicates(tree, verb, noun, change) and _phrase(tree, noun, change)


def _referred_to(tree: Parse, noun: Word, change: Change) -> bool:
    """Whether another word may refer to the phrase, or repeats its noun."""
    singular = _singular(noun) or ""
    person = singular in _uses()["person"]
    referring = _TO_SEVERAL if noun.tag == "NNS" else _TO_PERSONS if person else _TO_THINGS
    same = {singular, countables()[0][singular]}
    return any(
        word.lower in referring
        or word.lower in same
        or (word.tag == "CD" and noun.tag == "NNS")
        or (word.lower in ("any", "some", "this", "that") and word.tag == "DT" and word.relation != "det")
        for word in tree
        if word.index not in change
    )
