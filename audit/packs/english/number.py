"""One noun phrase of an English sentence in the other number, with everything that agrees with it: its determiner, the
verbs that it is the subject of, and what it is said to be ("this phone is a toy").

Nothing is offered for a noun that is not in the list of countable ones, nor where something else may refer to the
phrase ("it", "they", "each").
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
_COUNTING = words(
    "one single sole lone same whole entire only other first second third last next final main own right wrong very "
    "most such different similar various several many few numerous certain former latter previous countless"
)
_PARTS = words(
    "kind sort type lot lots bit piece pair set series list number couple bunch group part half rest majority variety "
    "range collection size way alot"
)
_NO_NUMBER = words("as like than per between among amongst throughout across at behind")
_NO_KIND = words("the a an no some")
_PLAIN = words("det poss amod compound prep relcl acl punct advmod")
"""Relations of what may hang on a noun that changes its number."""
_SINGULAR_OF_SEVERAL = words("mess joke pain waste shame must steal rip-off plus pleasure delight mystery")
"""Nouns that may be said of several as they are: "these phones are a joke"."""
_OF_SEVERAL = words("include consist range vary differ compete gather number total")
_OF_FACTS = words("thing problem review things problems reviews")
"""What "this is a ..." says of what was said before, or of the text."""
_OTHER = {
    True: {"this": "these", "that": "those", "the": "the", "any": "any", "it": "they"},
    False: {"these": "this", "those": "that", "the": "the", "any": "any", "some": "a", "they": "it"},
}
"""Determiners and subjects by whether the noun becomes a plural; "a" has rules of its own."""
_FORMS = {"is": ("am", "is", "are"), "was": ("was", "was", "were"), "has": ("have", "has", "have")} | {
    "does": ("do", "does", "do")
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
    if "?" in text.words or not text.words & (plurals.keys() | singulars.keys()):
        return []
    tree = tree_of(text.tokens)
    if tree is None:
        return []
    nouns = [word for word in tree if _singular(word) and word.index not in protected(text)]
    return [change for noun in nouns if (change := _change(tree, noun)) and not _referred_to(tree, noun, change)]


def _singular(word: Word) -> str | None:
    """The countable noun that a word is a form of."""
    plurals, singulars = countables()
    if not word.text.islower() or word.tag not in ("NN", "NNS"):
        return None
    return singulars.get(word.text) if word.tag == "NNS" else word.text if word.text in plurals else None


def _change(tree: Parse, noun: Word) -> Change | None:
    head, whole = tree[noun.head], tree[tree[noun.head].head]
    change: Change = {}
    if noun.relation in ("nsubj", "nsubjpass"):
        fits = noun.index < head.index and _predicates(tree, head, noun, change) and _phrase(tree, noun, change)
    elif noun.relation == "attr":
        fits = _said(tree, noun, head, change)
    elif noun.relation == "dobj":
        fits = head.tag.startswith("VB") and _phrase(tree, noun, change)
    else:
        several = head.lower == "of" and noun.tag == "NNS" and whole.tag not in ("NN", "NNP")
        barred = several or head.lower in _NO_NUMBER or whole.lower in _PARTS
        fits = noun.relation == "pobj" and not barred and _phrase(tree, noun, change)
    return change if fits else None


def _phrase(tree: Parse, noun: Word, change: Change) -> bool:
    """The noun and its determiner, in the other number."""
    inside, children = tree.under(noun.index), list(tree.children(noun.index))
    after = tree[noun.index + 1] if noun.index + 1 < len(tree) else None
    if any(child.relation not in _PLAIN or child.lower in _COUNTING for child in children):
        return False
    if inside[-1].index - inside[0].index + 1 != len(inside) or (after is not None and _is_longer(noun, after)):
        return False
    clause = tree.child(noun.index, "relcl", "acl")
    if clause is not None and not _may_follow(tree, noun, clause, change):
        return False
    singular = _singular(noun) or ""
    change[noun.index] = countables()[0][singular] if noun.tag == "NN" else singular
    begin = [word for word in inside if word.index < noun.index]
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


def _is_longer(noun: Word, after: Word) -> bool:
    """Whether the phrase is longer than the parser has seen: "the scene modes", "the song Running"."""
    if after.tag[:2] in ("NN", "CD", "PO") or after.lower in words("and or & / enough such including like"):
        return True
    longer = after.tag in ("VBZ", "VBP") or after.lower == "as" or (after.text[0].isupper() and after.text != "I")
    return (noun.relation[:5] != "nsubj" and longer) or (after.start == noun.end and after.text not in ".,!;:)")


def _may_follow(tree: Parse, noun: Word, clause: Word, change: Change) -> bool:
    """Whether a relative clause, or a participle, goes with either number."""
    if clause.relation == "acl":
        return noun.relation in ("dobj", "pobj") and clause.tag in ("VBN", "VBG")
    subject = tree.subject(clause.index)
    if subject is None or tree[tree.under(clause.index)[0].index - 1].text == ",":
        return False
    relative = subject.tag in ("WDT", "WP")
    return not relative or (tree[noun.head].lower != "of" and _predicates(tree, clause, noun, change))


def _determiner(tree: Parse, noun: Word, determiner: Word, first: str) -> str | None:
    """The determiner of the other number before the word `first`; None where none reads well."""
    uses, low, singular, head = _uses(), determiner.low, _singular(noun), tree[noun.head]
    subject, person = noun.relation.startswith("nsubj"), singular in uses["person"]
    before = tree[determiner.index - 1] if determiner.index else None
    if subject and before is not None and (before.tag[:2] == "NN" or (before.text == "," and low in ("a", "an"))):
        return None  # "Strout, a reporter"
    if determiner.relation == "poss":
        own = singular in uses["own"] and determiner.tag == "PRP$" and noun.tag == "NN"
        return low if own and noun.relation in ("nsubj", "nsubjpass", "dobj") else None
    denied = any(word.lower in NEGATIONS for word in tree[: noun.index])
    if low == "the":
        of = noun.tag == "NNS" and tree.child(noun.index, "prep") is not None
        of = of or any(child.lower == "of" for child in tree.children(noun.index))
        fits = (subject if person else singular in uses["the"]) and not of and head.lower not in ("to", "from")
    elif low in ("a", "an"):
        return _some(tree, noun, first, denied)
    elif low == "some":
        fits = not (subject or denied or person or singular == "thing" or noun.relation == "pobj")
    else:
        fits = (denied or head.lower == "without") if low == "any" else not person
    new = _OTHER[noun.tag == "NN"].get(low) if fits else None
    return article("a", first) if new == "a" else new


def _some(tree: Parse, noun: Word, first: str, denied: bool) -> str | None:
    """What stands for "a" before a plural: "some", "any", nothing (""); None where none reads well."""
    head, person = tree[noun.head], _singular(noun) in _uses()["person"]
    whole = any(word.lower == "of" or word.relation == "acl" for word in tree.children(noun.index))
    if noun.tag != "NN" or first == "more" or first[0].isdigit():
        return None
    if noun.relation == "attr" and (subject := tree.subject(head.index)) and subject.lower != "there":
        return ""
    if head.lower == "without":
        return None if denied else "any"
    if denied or whole or person:
        return None
    if noun.relation != "dobj":
        return "some" if head.lower == "about" or noun.relation == "attr" or head.tag == "VBD" else None
    subjects = [tree.subject(verb.index) for verb in (head, tree[head.head])]
    own = any(subject is not None and subject.lower in ("i", "we") for subject in subjects)
    supposed = any(word.lower in ("would", "'d", "if", "could") for word in tree.children(head.index))
    return "some" if own and not supposed else None


def _predicates(tree: Parse, verb: Word, noun: Word, change: Change) -> bool:
    """The verbs that share a subject agree with it, and so do the nouns that it is said to be."""
    joined = [word for word in tree.children(verb.index) if word.relation == "conj" and word.tag[:2] == "VB"]
    for said in [verb, *(word for word in joined if tree.subject(word.index) is None)]:
        lemma, finite = base(said.lower), tree.tensed(said.index)
        if lemma in _OF_SEVERAL or (lemma == "be" and tree.child(said.index, "ccomp") is not None):
            return False  # "the problem is that"
        if finite is None and said is verb and said.tag not in ("VB", "VBG"):
            return False
        if finite is not None:
            new = agree(finite, "plural" if noun.tag == "NN" else "singular")
            if new is None or (finite.low == "'s" and said.tag == "VBN"):
                return False  # "it's been"
            if new != finite.lower:
                glued = finite.index and tree[finite.index - 1].end == finite.start
                change[finite.index] = f" {new}" if glued else new
        attribute = tree.child(said.index, "attr", "oprd")
        if attribute is not None and attribute is not noun and not _attribute(tree, attribute, noun, change):
            return False
    return True


def _attribute(tree: Parse, said: Word, noun: Word, change: Change) -> bool:
    """What the noun is said to be, in its number, or in none."""
    if said.tag == noun.tag and _singular(said):
        return _phrase(tree, said, change)
    mass = noun.tag == said.tag == "NN" and said.text.islower() and tree.child(said.index, "det", "poss", "nummod") is None
    return mass or said.lower in _SINGULAR_OF_SEVERAL or said.tag.startswith(("JJ", "VB", "IN"))


def _said(tree: Parse, noun: Word, verb: Word, change: Change) -> bool:
    """ "There is a toy", "it is a toy": the subject changes, too."""
    subject, inner = tree.subject(verb.index), tree.child(verb.index, "ccomp", "xcomp", "advcl", "csubj", "neg", "aux")
    if subject is None or subject.index > verb.index or verb.tag not in ("VBZ", "VBP", "VBD") or inner is not None:
        return False
    if subject.lower != "there":
        new = _OTHER[noun.tag == "NN"].get(subject.lower)
        opens = subject.index == 0 or tree[subject.index - 1].text in ".!:"
        if new is None or subject.lower in ("the", "any") or not opens or noun.lower in _OF_FACTS:
            return False  # what was said before: "but it was a problem"
        after = tree[noun.index + 1].tag if noun.index + 1 < len(tree) else "."
        if subject.lower == "it" and after not in (".", ",", "CC", "IN"):
            return False  # "it is a sure bet to"
        change[subject.index] = new.capitalize() if subject.text[0].isupper() else new
    return _predicates(tree, verb, noun, change) and _phrase(tree, noun, change)


def _referred_to(tree: Parse, noun: Word, change: Change) -> bool:
    """Whether another word may refer to the phrase, or repeats its noun."""
    singular = _singular(noun) or ""
    person = singular in _uses()["person"]
    referring = _TO_SEVERAL if noun.tag == "NNS" else _TO_PERSONS if person else _TO_THINGS
    others = [word for word in tree if word.index not in change]
    if any(word.lower in referring or word.lower in (singular, countables()[0][singular]) for word in others):
        return True
    if noun.tag == "NNS":
        return any(word.tag == "CD" or (word.lower in ("any", "some") and word.relation != "det") for word in others)
    return any(word.tag == "DT" and word.lower in ("this", "that") and word.relation != "det" for word in others)
