"""Noise in the letters of an English text: a few words are written as hurried fingers or a scanner would.

Only plain lower-case words of five letters or more change, and none that counts, negates or refers, so that a reader
still reads what was meant: names, numbers, links and code stay. What comes out is no other word.
"""

import random
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache

from audit.packs.english.passages import matches
from audit.packs.english.tagging import is_word
from audit.packs.english.vocabulary import NEGATIONS, SUBORDINATORS
from audit.relations.base import Perturb
from audit.relations.uses import EVERY, relation
from audit.resources import data_rows
from audit.text import Analysis
from audit.text.tokens import words

_SHARE = 0.1
_WORD = re.compile(r"(?<![\w'’@#/.$&-])[a-z]{5,}(?![\w'’@/&-]|\.\w)")
"""Words that may change: no names, addresses, contractions, parts of a word with a hyphen."""
_KEPT = (
    NEGATIONS
    | SUBORDINATORS
    | words(
        "every least under above below after before three seven eight eleven twelve thirteen fifteen twenty thirty "
        "forty fifty hundred thousand million billion first second third fourth fifth other others another either "
        "neither always often sometimes almost about could would should might these those their there where which "
        "while until still again against without within during between except percent"
    )
)
"""Words whose letters decide what is said, or that others resemble."""
_ROWS = ("qwertyuiop", "asdfghjkl", "zxcvbnm")
_BESIDE = {key: row[max(0, at - 1) : at] + row[at + 1 : at + 2] for row in _ROWS for at, key in enumerate(row)}
"""Letter -> the letters beside it on a keyboard."""
_SCANNED: Sequence[tuple[str, str]] = re.findall(
    r"(\w+)>(\w+)", "l>1 o>0 i>1 s>5 g>9 b>6 m>rn rn>m d>cl cl>d w>vv h>b e>c u>ii"
)
"""Letters and what a scanner takes them for."""


def wrong_share(params: Mapping[str, object]) -> str | None:
    """What is wrong with the parameter `share`; None: nothing.

    >>> wrong_share({"share": 2.0})
    'share is 2; it is the share of the words that change, above 0 and at most 1'
    """
    share = params["share"]
    if isinstance(share, float) and 0 < share <= 1:
        return None
    return f"share is {share:g}; it is the share of the words that change, above 0 and at most 1"


def _noise(name: str) -> Callable[[Perturb], Perturb]:
    return relation(
        name,
        family="noise in letters",
        tasks=EVERY,
        version="2",
        params={"share": _SHARE},
        check_params=wrong_share,
        needs=("lemminflect",),
    )


@_noise("typos")
def typos(text: Analysis, choices: random.Random, share: float = _SHARE) -> str | None:
    """A letter of one word in ten is that of a key beside it.

    Keeps what a reader understands; may break labels of how carefully a text is written, and the sense of a rare word
    that nobody can guess any more.

    >>> typos(Analysis("The acting was wonderful."), random.Random(1))
    'The acting was wondetful.'
    """
    return _change(text, choices, share, _slips)


@_noise("swapped-letters")
def swapped_letters(text: Analysis, choices: random.Random, share: float = _SHARE) -> str | None:
    """Two letters inside one word in ten change places.

    Keeps the first and last letter of a word, by which readers know it; may break labels of spelling, and the reading
    of a word that now looks like another one.

    >>> swapped_letters(Analysis("The acting was wonderful."), random.Random(1))
    'The acting was wondefrul.'
    """
    return _change(text, choices, share, _swaps)


@_noise("scanning-errors")
def scanning_errors(text: Analysis, choices: random.Random, share: float = _SHARE) -> str | None:
    """Letters of one word in ten are those that a scanner takes them for.

    Keeps what a reader can make out; may break how real the text looks: a digit inside a word is no slip of somebody
    who types.

    >>> scanning_errors(Analysis("The acting was wonderful."), random.Random(1))
    'The acting was wondcrful.'
    """
    return _change(text, choices, share, _readings)


@_noise("misspellings")
def misspellings(text: Analysis, choices: random.Random, share: float = _SHARE) -> str | None:
    """One word in ten, of those that many people misspell, is misspelt.

    Keeps which word is meant; may break labels of spelling, and of who wrote the text: a child, a learner.

    >>> misspellings(Analysis("I really like this film."), random.Random(1))
    'I realy like this film.'
    """
    return _change(text, choices, share, _misspelt)


def _change(
    text: Analysis, choices: random.Random, share: float, spellings: Callable[[str], tuple[str, ...]]
) -> str | None:
    """The text with this share of its words changed, at least one; None where none of them can be."""
    places = [match for match in matches(_WORD, text.text) if spellings is _misspelt or match.group() not in _KEPT]
    wanted = max(1, round(share * len(text.text.split())))
    choices.shuffle(places)
    changed: dict[int, tuple[int, str]] = {}
    for match in places:
        if new := spellings(match.group()):
            changed[match.start()] = (match.end(), choices.choice(new))
        if len(changed) == wanted:
            break
    parts, at = [], 0
    for start in sorted(changed):
        end, word = changed[start]
        parts += [text.text[at:start], word]
        at = end
    return "".join([*parts, text.text[at:]]) if changed else None


# Texts repeat their words, so what becomes of a word is kept.


@lru_cache(maxsize=65536)
def _slips(word: str) -> tuple[str, ...]:
    """The first letter stays: readers go by it."""
    places = range(1, len(word))
    return _unknown(word[:at] + key + word[at + 1 :] for at in places for key in _BESIDE.get(word[at], ""))


@lru_cache(maxsize=65536)
def _swaps(word: str) -> tuple[str, ...]:
    """First and last letters stay."""
    places = [at for at in range(1, len(word) - 2) if word[at] != word[at + 1]]
    return _unknown(word[:at] + word[at + 1] + word[at] + word[at + 2 :] for at in places)


@lru_cache(maxsize=65536)
def _readings(word: str) -> tuple[str, ...]:
    return _unknown(
        word[: match.start()] + seen + word[match.end() :]
        for letters, seen in _SCANNED
        for match in re.finditer(letters, word)
    )


@lru_cache(maxsize=65536)
def _misspelt(word: str) -> tuple[str, ...]:
    return tuple(wrong for right, wrong in data_rows("lexicons/misspellings.tsv", 2) if right == word)


def _unknown(candidates: Iterable[str]) -> tuple[str, ...]:
    """Those that are no words themselves."""
    return tuple(word for word in candidates if not is_word(word))
