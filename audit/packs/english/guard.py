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
from audit.packs.english.vocabulary import QUOTING
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
_SEVERAL = words("these those many several few both")
_LOOSE = words("punct advmod npadvmod prep neg intj dep")
"""Relations whose head the parser moves with no meaning lost."""


@lru_cache(maxsize=1024)
def protected(text: Analysis, quotations: bool = True) -> frozenset[int]:
    """Indices of the tokens that no rewriting may touch: in addresses, handles, hashtags, code, markup and numbers with
    their units and, unless told otherwise, in quotations.

    >>> sorted(protected(Analysis('See www.example.com, the "best" one.')))
    [1, 2, 3, 4, 5, 8]
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
        several = head.tag in ("NNS", "NNPS")
        return not (several and word.lower in _SINGULAR) and (
            head.tag not in ("NN", "NNP") or word.lower not in _SEVERAL
        )
    if word.relation not in ("nsubj", "nsubjpass") or word.tag not in ("NN", "NNS"):
        return True
    tensed = tree.tensed(head.index)
    several = word.tag == "NNS" or tree.child(word.index, "cc") is not None
    if tensed is None or head.relation == "relcl":
        return True
    return not (tensed.tag == "VBZ" or tensed.lower == "was") if several else tensed.tag != "VBP"


def replaced(text: Analysis, new: Mapping[int, str]) -> str | None:
    """The text with some tokens replaced; None where that does not read well."""
    follow_up = text.replace(new)
    return follow_up if reads_well(text, follow_up, places_of(text.tokens, new)) else None


def drawn(candidates: Sequence[_Candidate], choices: random.Random) -> Iterator[_Candidate]:
    """The candidates in a random order: the first that reads well is taken."""
    left = list(candidates)
    while left:
        yield left.pop(choices.randrange(len(left)))
