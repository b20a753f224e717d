"""MR4 of the study of Chinese systems: a punctuation mark is replaced wherever it stands; the meaning stays.

The study says "replace punctuation" and no more. Replaced here is what leaves correct Chinese that says the same:

- quotation marks “ ” and ‘ ’ become 「 」 and 『 』, and the other way round;
- half-width marks between Chinese characters become the full-width ones of GB/T 15834-2011;
- ； becomes ， between two clauses;
- with `half_width`, where none of these can be: （ ）, 【 】, ：, or ！ with ？, become half-width, as much
  of the web writes them, though the standard does not.

Not replaced: 。 by ！ or ？ (another force), ， or ； by 。 (sentences end elsewhere), 、 (一、二、 are ordinals),
《 》 (titles are no quotations), ——, …… and · (parts of words and names), and the full stop and comma of the West (they
stand in numbers and addresses).
"""

import random
import string
import unicodedata
from collections.abc import Callable, Sequence

from audit.language import Analysis
from audit.relations.base import Rewritten, Words
from audit.relations.chinese import chinese
from audit.relations.substituting import replaced

_FAMILY = "same-property substitution"
_ASCII_MARKS = frozenset(string.punctuation)
_SINGLE, _DOUBLE = (("‘", "『"), ("’", "』")), (("“", "「"), ("”", "」"))
_HALF: tuple[Words, ...] = (
    (("（", "("), ("）", ")")),
    (("【", "["), ("】", "]")),
    (("：", ":"),),
    (("！", "!"), ("？", "?")),
)

_Replacements = tuple[tuple[Words, Callable[[str, Words], bool]], ...]
"""Marks and what they become, and whether that harms nothing in a text."""


def _turned(marks: Words) -> Words:
    return tuple((new, old) for old, new in marks)


@chinese(4, family=_FAMILY, params={"half_width": False})
def marks(texts: Sequence[Analysis], choices: random.Random, *, half_width: bool = False) -> Rewritten | None:
    """A punctuation mark becomes another one that says the same, wherever it stands.

    >>> marks([Analysis("他说：“走。”", "zh")], random.Random(1)).texts
    ('他说：「走。」',)
    """
    plain = [text.text for text in texts]
    for some in (_FIRST, _ELSE) if half_width else (_FIRST,):
        possible = [
            marks
            for marks, safe in some
            if any(old in text for text in plain for old, _ in marks) and all(safe(text, marks) for text in plain)
        ]
        for marks in choices.sample(possible, len(possible)):
            made = tuple(replaced(text, marks) for text in plain)
            if all(Analysis(new, "zh").spans == text.spans for text, new in zip(texts, made, strict=True)):
                return Rewritten(made, marks)
    return None


def _quotes(text: str, marks: Words) -> bool:
    """Whether every quotation has both its marks, none holds another one of its kind, and the new marks are new."""
    opened = ""
    for sign in text:
        for (opening, new), (closing, other) in zip(marks[::2], marks[1::2], strict=True):
            if sign in (new, other):
                return False
            if sign == opening:
                if opening in opened:
                    return False
                opened += opening
            elif sign == closing:
                if not opened.endswith(opening):
                    return False
                opened = opened[:-1]
    return not opened


def _to_half(text: str, marks: Words) -> bool:
    """Whether no half-width mark is next to one that is replaced: together they might be another sign, like :)."""
    olds = {old for old, _ in marks}
    return _paired(text, marks) and not any(
        sign in olds and not _ASCII_MARKS.isdisjoint(text[max(at - 1, 0) : at] + text[at + 1 : at + 2])
        for at, sign in enumerate(text)
    )


def _to_full(text: str, marks: Words) -> bool:
    """Whether each of the marks stands in Chinese, on both sides: not in a number, an address, code or a smiley.

    A ? that stands behind no character is what is left of a sign that somebody could not read: ????
    """
    olds = {old for old, _ in marks}
    if "?" in olds and any(
        sign == "?" and not _is_character(text[max(at - 1, 0) : at]) for at, sign in enumerate(text)
    ):
        return False
    return _paired(text, marks) and all(
        _is_chinese(text[at - 1 : at], olds) and _is_chinese(text[at + 1 : at + 2], olds)
        for at, sign in enumerate(text)
        if sign in olds
    )


def _to_comma(text: str, marks: Words) -> bool:
    """Whether each semicolon stands between two clauses of a line that begin and end with words."""
    return all(
        text[at - 1 : at].isalpha() and _is_character(text[at + 1 : at + 2])
        for at, sign in enumerate(text)
        if sign == "；"
    )


def _paired(text: str, marks: Words) -> bool:
    """Whether brackets, if the marks are such, come in pairs, none in another."""
    if marks[0][0] not in "（【([":
        return True
    opened = False
    for sign in text:
        if sign in (marks[0][0], marks[1][0]):
            if opened == (sign == marks[0][0]):
                return False
            opened = not opened
    return not opened


def _is_chinese(sign: str, olds: set[str]) -> bool:
    """Whether a neighbour of a mark is Chinese: a character, a full-width mark, the edge of a line, the mark itself."""
    return (
        not sign
        or sign in olds
        or sign in "\n “”‘’…—"
        or _is_character(sign)
        or unicodedata.east_asian_width(sign) in "WF"
    )


def _is_character(sign: str) -> bool:
    return bool(sign) and unicodedata.name(sign, "").startswith("CJK UNIFIED")


_FIRST: _Replacements = (
    (_DOUBLE + _SINGLE, _quotes),
    (_turned(_DOUBLE + _SINGLE), _quotes),
    *((_turned(marks), _to_full) for marks in (*_HALF, (("；", ";"),)) if marks[0][0] != "【"),
    ((("；", "，"),), _to_comma),
)
_ELSE: _Replacements = tuple((marks, _to_half) for marks in _HALF)
