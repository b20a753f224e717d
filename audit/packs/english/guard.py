"""What every rewriting of an English text shares: what it leaves alone, and the one guard that its result has to pass.

`reads_well` parses the follow-up: the parser must see the structure that the source has, and determiners, subjects and
verbs must agree in number. A rewriting can therefore be short: what the parser mistook looks different afterwards.
"""

import random
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import TypeVar

from audit.packs.english.parser import Parse, Word, tree_of
from audit.packs.english.tagging import base, forms, known_as
from audit.packs.english.vocabulary import FINITE, QUOTING
from audit.text.analysis import Analysis
from audit.text.tokens import Token, words

_Candidate = TypeVar("_Candidate")
_PROTECTED = re.compile(
    r"""
      \w+://\S+ | www\.\S+ | \S+@\S+\.\w+                                      # addresses
    | [\w-]+(?:\.[\w-]+)*\.(?:com?|org|net|edu|gov|ly|io|py|js|txt|html?)\b\S*
    | (?<!\w)[@#]\w[\w-]*                                                       # handles, hashtags
    | `[^`\n]+` | \b\w*_\w+\b | \w+\(\) | (?-i:\b[a-z]+[A-Z]\w*)                # code
    | </?\w[^<>\n]*> | &\#?\w+; | \[[^\]\n]*\]\([^)\n]*\)                       # markup
    | [$£€]?\d[\d.,:]*\s?(?:%|[ckm]?m|[km]?g|[kmgt]?b|mp|fps|hz|inch|inches|volts?|watts?)\b
    """,
    re.VERBOSE | re.IGNORECASE,
)
_MAY_BE = re.compile(r"[@#`_<&(\d/]|\w\.\w|[a-z][A-Z]")
_SINGULAR = words("a an this that every each another")
_NUMBERS = {"NN": "singular", "NNP": "singular", "NNS": "plural", "NNPS": "plural"}
_ONE = words("he she it this that everything everyone everybody nothing nobody each one")
_MANY = words("we you they these those both many few people")
_OF_MANY = words("some most none lot lots number couple half majority all any rest plenty more less percent what")
"""Subjects whose number is that of other words."""
_VERBAL = words("VB VBD VBG VBN VBP VBZ MD")
_NOMINAL = words("dobj pobj amod compound nsubj nsubjpass poss nummod det appos npadvmod attr dative")
"""Relations that no finite verb has."""
_CAUSATIVES = words("make let help see watch hear feel have go come do be")
"""Verbs that a bare infinitive follows."""
_AUXILIARIES = words("is are am 's 're 'm was were has have 've had do does did get gets")
_LOOSE = words("punct advmod npadvmod prep neg intj dep")
"""Relations whose head the parser moves with no meaning lost."""


@lru_cache(maxsize=1024)
def protected(text: Analysis, quotations: bool = True) -> frozenset[int]:
    """Indices of the tokens that no rewriting may touch: in addresses, handles, hashtags, code, markup and numbers with
    their units and, unless told otherwise, in quotations.

    >>> sorted(protected(Analysis('See www.example.com, the "best" one.')))
    [1, 2, 3, 4, 5, 6, 9]
    """
    spans = [match.span() for match in _PROTECTED.finditer(text.text)] if _MAY_BE.search(text.text) else []
    inside = {
        index for index, token in enumerate(text.tokens) if any(start <= token.start < end for start, end in spans)
    }
    quoted = False
    for index, token in enumerate(text.tokens) if quotations else ():
        if token.text in QUOTING or token.text == "''":
            quoted = not quoted
        elif quoted:
            inside.add(index)
    return frozenset(inside)


def reads_well(
    before: Analysis, after: str, origins: Sequence[int | None] = (), roles: Mapping[int, int] | None = None
) -> bool:
    """Whether the parser sees the structure of the source in a follow-up, and everything agrees in number that did.

    `origins` has the index in the source of each token of the follow-up, None for a new one; without it they are the
    same. `roles`: index of a word in the source -> index of the word whose place in the tree it takes, so that what
    hangs on the one hangs on the other; a word with its own index keeps its head.
    """
    old, new = tree_of(before.tokens), tree_of(Analysis(after).tokens)
    places, roles = origins or range(len(before.tokens)), roles or {}
    if old is None or new is None or len(new) != len(places):
        return False
    pairs = [(word, origin) for word, origin in zip(new, places, strict=True) if origin is not None]
    changed = {origin for word, origin in pairs if word.lower != old[origin].lower} | roles.keys()
    for word, origin in pairs:
        was = old[roles.get(origin, origin)]
        if was.relation in _LOOSE or changed.isdisjoint((origin, old[origin].head)):
            continue  # far from what has changed, a parser may waver
        head = was.head if roles.get(origin) == origin else roles.get(was.head, was.head)
        if word.relation != was.relation or places[word.head] != head:
            return False
    return {places[index] for index in disagreeing(new)} <= disagreeing(old)


def sound(tree: Parse) -> bool:
    """Whether the parse of a text hangs together: no finite verb may be another word, and no other word a finite verb.

    >>> sound(tree_of(Analysis("It is good.").tokens)), sound(tree_of(Analysis("Don't be late.").tokens))
    (True, False)
    """
    return not any(_is_doubtful(tree, word) for word in tree)


def _is_doubtful(tree: Parse, word: Word) -> bool:
    relations = [child.relation for child in tree.children(word.index)]
    following = tree[word.index + 1].tag if word.index + 1 < len(tree) else "."
    if word.tag in ("POS", "PRP$"):  # "the film's not bad", "its a film"
        return following in (("RB", "DT", "VBG") if word.tag == "POS" else ("DT", "VBG", "IN", "PRP", "MD"))
    if word.tag not in _VERBAL:
        hidden = word.tag == "NNS" and known_as(word.lower, "VERB") and not known_as(word.lower, "NOUN")
        governs = "dobj" in relations or ("nsubj" in relations and word.relation != "ccomp")
        return hidden or governs or (word.relation == "relcl" and word.tag[:2] == "NN")
    if relations.count("nsubj") > 1 or (word.relation in _NOMINAL and word.tag in FINITE):
        return True  # "hope all is well"
    if word.tag in ("VBG", "MD"):
        return False
    return _has_doubtful_form(tree, word, tree.subject_of(word), relations)


def _has_doubtful_form(tree: Parse, word: Word, subject: Word | None, relations: list[str]) -> bool:
    head, is_auxiliary = tree[word.head], word.relation in ("aux", "auxpass")
    aided, own = "aux" in relations or "auxpass" in relations, "nsubj" in relations or "nsubjpass" in relations
    if word.tag in ("VB", "VBN") and is_auxiliary:
        return False
    if word.tag == "VB":
        joined = word.relation == "conj" and head.tag == "VB"
        led = word.relation in ("xcomp", "ccomp") and base(head.lower) in _CAUSATIVES
        return not (aided or joined or led) or (word.relation == "ROOT" and not own)
    if word.tag == "VBN":
        joined = word.relation == "conj" and head.tag != "VBN"
        return not aided and (word.relation == "ROOT" or joined or (own and word.relation != "ccomp"))
    if is_auxiliary or (subject is None and word.tag == "VBP"):
        return subject is None or word.low not in _AUXILIARIES  # "Don't be late"
    if word.relation == "conj" and not own and head.tag in ("VBN", "VB"):
        return word.tag != "VBZ"  # "was displayed and fathomed", "will come and see": the form says nothing
    clash = {"plural": "VBZ", "first": "VBZ", "singular": "VBP"}.get(number_of(tree, subject) or "")
    return word.lower in forms(word.lower, "VBD") or word.tag == clash  # "they put it on" may be either tense


def number_of(tree: Parse, subject: Word | None) -> str | None:
    """`first` (I), singular or plural; None where it cannot be told."""
    if subject is None or (subject.relation == "expl" and subject.lower != "it") or subject.lower in _OF_MANY:
        return None
    if subject.lower in ("who", "which", "that") and subject.tag in ("WDT", "WP"):  # of what they stand for
        verb = tree[subject.head]
        while verb.relation == "conj":
            verb = tree[verb.head]
        noun = tree[verb.head]
        of = noun.relation == "pobj" or tree.child(noun.index, "prep")
        return None if verb.relation != "relcl" or of else number_of(tree, noun)
    if tree.child(subject.index, "conj") is not None:
        joint = tree.child(subject.index, "cc")
        return "plural" if joint is not None and joint.lower == "and" else None
    if subject.lower == "i":
        return "first"
    if subject.lower in _ONE or subject.relation == "csubj":
        return "singular"
    return "plural" if subject.lower in _MANY else _NUMBERS.get(subject.tag)


def places_of(tokens: Sequence[Token], new: Mapping[int, str]) -> list[int | None]:
    """For `reads_well`: where the tokens of a text come from that `Analysis.replace` makes of these replacements.

    >>> places_of(Analysis("It makes a film.").tokens, {1: "does not makes", 2: ""})
    [0, None, None, 1, 3, 4]
    """
    places: list[int | None] = []
    for index, token in enumerate(tokens):
        parts = new.get(index, token.text).split()
        own = parts.index(token.text) if token.text in parts else len(parts) - 1
        places += [index if place == own else None for place in range(len(parts))]
    return places


def disagreeing(tree: Parse) -> set[int]:
    """Indices of determiners and subjects that do not agree with their noun or verb in number."""
    return {word.index for word in tree if not _agrees(tree, word)}


def _agrees(tree: Parse, word: Word) -> bool:
    head = tree[word.head]
    if word.relation == "det":
        return word.lower not in _SINGULAR or head.tag not in ("NNS", "NNPS")
    tensed = tree.tensed(head.index) if word.relation in ("nsubj", "nsubjpass") and word.tag in ("NN", "NNS") else None
    clashing = {"plural": ("VBZ", "was"), "singular": ("VBP",)}.get(number_of(tree, word) or "", ())
    return tensed is None or not {tensed.tag, tensed.lower} & {*clashing}


def replaced(text: Analysis, new: Mapping[int, str]) -> str | None:
    """The text with some tokens replaced; None where that does not read well."""
    follow_up = text.replace(new)
    return follow_up if reads_well(text, follow_up, places_of(text.tokens, new)) else None


def drawn(candidates: Sequence[_Candidate], choices: random.Random) -> Iterator[_Candidate]:
    """The candidates in a random order: the first that reads well is taken."""
    left = list(candidates)
    while left:
        yield left.pop(choices.randrange(len(left)))
