"""Lists of English words and turns of phrase, from data/lexicons/english_words.toml, and what English texts say."""

import re
import tomllib
from collections.abc import Mapping
from functools import cache
from typing import Any

from audit.resources import data_file
from audit.text.tokens import words


@cache
def _tables() -> dict[str, dict[str, Any]]:
    return tomllib.loads(data_file("lexicons/english_words.toml").read_text(encoding="utf-8"))


@cache
def kept_and_broken(name: str) -> str:
    """Return what follow-ups of a perturbation keep and may break, as `audit.relations.uses` reads it in a
    docstring."""
    table = tomllib.loads(data_file("lexicons/english_keeps.toml").read_text(encoding="utf-8"))[name]
    return f"Keeps {table['keeps']}; may break {table['may_break']}."


class Lists:
    """The word lists of a table of the file, as sets: `Lists("tense").states`."""

    def __init__(self, table: str):
        lists = {name: words(value) for name, value in _tables()[table].items() if isinstance(value, str)}
        vars(self).update(lists)

    def __getattr__(self, name: str) -> frozenset[str]:
        raise AttributeError(f"english_words.toml has no such list: {name}")


def lines(name: str) -> list[str]:
    """Return the entries of a list of phrases: `lines("tense.now")`."""
    table, _, key = name.partition(".")
    entries: list[str] = _tables()[table][key]
    return entries


def phrases(name: str) -> re.Pattern[str]:
    """Return what finds any phrase of a list, each a regular expression, in lower-case text (looking without regard to
    case takes five times as long)."""
    return re.compile(rf"\b(?:{'|'.join(lines(name))})\b")


BE_FINITE = words("is are was were am")
MODALS = words("can could will would shall should may might must")
FINITE = words("VBZ VBP VBD MD")
"""Tags of verbs that have a tense."""
QUOTES = frozenset("\"“”'‘’`")
QUOTING = QUOTES - frozenset("'’")
"""Marks that only quote: no apostrophes."""
_COMMON = Lists("words")
NEGATIONS, SUBORDINATORS, FUNCTION_WORDS = _COMMON.negations, _COMMON.subordinators, _COMMON.function_words
"""What denies; what opens a clause with a subject of its own; what names nothing."""

ESCAPED = {"-LRB-": "(", "-RRB-": ")", "-LCB-": "{", "-RCB-": "}", "-LSB-": "[", "-RSB-": "]", "``": '"', "''": '"'}
"""Name of a sign in files of the Penn Treebank -> the sign."""


def _any_of(several: str, more: str = "") -> str:
    return rf"(?i:\b(?:{'|'.join(several.split())})\b)" + (f"|{more}" if more else "")


def _patterns() -> Mapping[str, str]:
    told = {name: _tables()["phrases"][name] for name in ("denying", "asking", "helping", "subjects", "female", "male")}
    asking, helping, subjects = (_any_of(told[name]) for name in ("asking", "helping", "subjects"))
    return {
        "negation": _any_of(told["denying"], r"n['’]t\b"),
        "question": rf"\?|^\W*(?:{asking}\s+{helping}|{helping}\s+{subjects})",
        "female": _any_of(told["female"], r"\b(?:Mrs|Ms|Miss)\b(?=\.?\s+[A-Z])"),
        "male": _any_of(told["male"], r"\bMr\b(?=\.?\s+[A-Z])"),
    }


PHRASES = _patterns()
"""Name -> regular expression, as `audit.text.tools.LanguageTools` has them. Phrases, not grammar: "no wonder" denies
here, too. Given names tell no gender."""
