"""Noise in the letters of an English text: a few words are written as hurried fingers or a scanner would.

Only plain lower-case words of five letters or more change, and none that counts, negates or refers, so that a reader
still reads what was meant: names, numbers, links and code stay. What comes out is no other word.
"""

import random
import re
from collections.abc import Mapping
from functools import lru_cache, partial

from audit.packs.english.guard import outside
from audit.packs.english.tagging import is_word
from audit.packs.english.vocabulary import NEGATIONS, SUBORDINATORS, Lists, kept_and_broken
from audit.relations.base import Perturb
from audit.relations.uses import relation
from audit.resources import data_rows
from audit.text import Analysis

_SHARE = 0.1
_WORD = re.compile(r"(?<![\w\u0300-\u036f'’@#/.$&-])[a-z]{5,40}(?![\w\u0300-\u036f'’@/&-]|\.\w)")
"""Words that may change: no names, contractions, parts of a word with a hyphen, and none so long that it is none."""
_KEPT = NEGATIONS | SUBORDINATORS | Lists("noise").kept
"""Words whose letters decide what is said, or that others resemble."""
_ROWS = ("qwertyuiop", "asdfghjkl", "zxcvbnm")
_BESIDE = {key: row[max(0, at - 1) : at] + row[at + 1 : at + 2] for row in _ROWS for at, key in enumerate(row)}
"""Letter -> the letters beside it on a keyboard."""
_SCANNED = re.findall(r"(\w+)>(\w+)", "l>1 o>0 i>1 s>5 g>9 b>6 m>rn rn>m d>cl cl>d w>vv h>b e>c u>ii")
"""Letters and what a scanner takes them for."""


def wrong_share(params: Mapping[str, object]) -> str | None:
    """Return what is wrong with the parameter `share`; None: nothing."""
    share = params["share"]
    if isinstance(share, float) and 0 < share <= 1:
        return None
    return f"share is {share:g}; it is the share of the words that change, above 0 and at most 1"


def _change(text: Analysis, choices: random.Random, share: float = _SHARE, *, kind: str) -> str | None:
    """Return the text with this share of its words changed, at least one; None where none of them can be."""
    places = [match for match in outside(_WORD, text.text) if kind == "misspellings" or match.group() not in _KEPT]
    wanted = max(1, round(share * len(text.text.split())))
    choices.shuffle(places)
    changed: dict[int, tuple[int, str]] = {}
    for match in places:
        if new := _spellings(kind, match.group()):
            changed[match.start()] = (match.end(), choices.choice(new))
        if len(changed) == wanted:
            break
    parts, at = [], 0
    for start in sorted(changed):
        end, word = changed[start]
        parts += [text.text[at:start], word]
        at = end
    return "".join([*parts, text.text[at:]]) if changed else None


@lru_cache(maxsize=1 << 18)
def _spellings(kind: str, word: str) -> tuple[str, ...]:
    """Return what a word may become, no word itself."""
    if kind == "misspellings":
        return tuple(wrong for right, wrong in data_rows("lexicons/misspellings.tsv", 2) if right == word)
    if kind == "typos":
        slips = ((at, key) for at in range(1, len(word)) for key in _BESIDE.get(word[at], ""))
        spellings = [word[:at] + key + word[at + 1 :] for at, key in slips]
    elif kind == "swapped-letters":
        places = [at for at in range(1, len(word) - 2) if word[at] != word[at + 1]]
        spellings = [word[:at] + word[at + 1] + word[at] + word[at + 2 :] for at in places]
    else:
        read = ((match, seen) for letters, seen in _SCANNED for match in re.finditer(letters, word))
        spellings = [word[: match.start()] + seen + word[match.end() :] for match, seen in read]
    return tuple(new for new in spellings if not is_word(new))


def _noise(name: str, about: str) -> Perturb:
    noise = partial(_change, kind=name)
    noise.__doc__ = f"{about}\n\n{kept_and_broken(name)}"
    return relation(
        name,
        family="noise in letters",
        version="3",
        params={"share": _SHARE},
        check_params=wrong_share,
        needs=("lemminflect",),
    )(noise)


typos = _noise("typos", "A letter of one word in ten is that of a key beside it.")
swapped_letters = _noise("swapped-letters", "Two letters inside one word in ten change places.")
scanning_errors = _noise("scanning-errors", "Letters of one word in ten are those that a scanner takes them for.")
misspellings = _noise("misspellings", "One word in ten, of those that many people misspell, is misspelt.")
