"""What differs between two texts, word by word: what was added, left out and moved.

The fewest words that turn one text into the other (rapidfuzz), without crumbs that two different phrases happen to
share; what is left out in one place and stands in another one moved.
"""

import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from enum import Enum
from itertools import groupby
from typing import NamedTuple

from audit.text.tokens import ACCENTS
from audit.text.tools import find_tools

_EAST = "\u3040-\u30ff\u3400-\u9fff"
_LETTERS = rf"[^\W{_EAST}](?:[^\W{_EAST}]|[{ACCENTS}])*"
_TOKENS = re.compile(rf"\s+|[{_EAST}]|{_LETTERS}(?:['’]{_LETTERS})*|[^\w\s]")
"""Words, spaces, and every other sign by itself. A word with an apostrophe is one: "it's" became "it is", not "'s"
became "is"."""
_SENTENCES = re.compile(r"\s+|\S[^.!?。！？；…\n]*(?:[.!?。！？；…]+[\"'”’)\]」』）]*)?")
_LONG = 25_000_000
"""Pairs of words above which two stretches of text are not compared, but shown as one in place of the other."""
_ALIKE = 0.5  # Share of common tokens from which on two texts, wherever they stand, are versions of one
_MOVED_SIGNS = 4
"""Chinese signs that move together, at least; in other scripts letters of two words or more, half as many again."""


class Kind(Enum):
    """What became of a piece of text: it moved, at its new place, or at its old one (`MOVED_AWAY`)."""

    SAME = "same"
    ADDED = "added"
    LEFT_OUT = "left_out"
    MOVED = "moved"
    MOVED_AWAY = "moved_away"


class Piece(NamedTuple):
    """A piece of one of two texts, or of both."""

    text: str
    kind: Kind


BEFORE = frozenset({Kind.SAME, Kind.LEFT_OUT, Kind.MOVED_AWAY})  # Kinds whose pieces together are the text before
AFTER = frozenset({Kind.SAME, Kind.ADDED, Kind.MOVED})  # Kinds whose pieces together are the text after


class _Edit(NamedTuple):
    """A run of tokens before and after: equal, or one in place of the other."""

    equal: bool
    old: list[str]
    new: list[str]

    def __add__(self, other: "_Edit") -> "_Edit":  # type: ignore[override]
        return _Edit(self.equal and other.equal, self.old + other.old, self.new + other.new)


def differences(before: str, after: str, language: str = "") -> list[Piece]:
    """Return the pieces of both texts in one order: those of the kinds `BEFORE` put together are `before`, those of
    `AFTER` are `after`. Words of Chinese are told apart where its tools are there and `language` is named, else signs.

    >>> [(piece.text, piece.kind.value) for piece in differences("a good film", "a very good film")]
    [('a ', 'same'), ('very ', 'added'), ('good film', 'same')]
    """
    edits = _edits(before, after, language)
    lost = [[Kind.LEFT_OUT] * len(edit.old) for edit in edits]
    gained = [[Kind.ADDED] * len(edit.new) for edit in edits]
    changed = [at for at, edit in enumerate(edits) if not edit.equal]
    for at_old in changed:
        for at_new in changed:
            if at_old != at_new:
                _mark_moved(edits[at_old].old, lost[at_old], edits[at_new].new, gained[at_new])
    pieces: list[Piece] = []
    for edit, old_kinds, new_kinds in zip(edits, lost, gained, strict=True):
        if edit.equal:
            pieces.append(Piece("".join(edit.new), Kind.SAME))
        else:
            pieces += [*map(Piece, edit.old, old_kinds), *map(Piece, edit.new, new_kinds)]
    runs = groupby(pieces, key=lambda piece: piece.kind)
    return [Piece(text, kind) for kind, run in runs if (text := "".join(piece.text for piece in run))]


def paired_texts(before: Sequence[str], after: Sequence[str]) -> list[int | None]:
    """Return for each text after the index of the text before that it is a version of; None where there is none. Texts
    that changed places are paired where they went; what is left is paired by its place."""
    from rapidfuzz.distance import Indel

    olds, news = [[_tokens(text.lower()) for text in texts] for texts in (before, after)]
    alike = sorted(
        (-share, abs(a - b), a, b)
        for a, old in enumerate(olds)
        for b, new in enumerate(news)
        if (share := Indel.normalized_similarity(old, new)) >= _ALIKE
    )
    result: list[int | None] = [None] * len(after)
    for _, _, a, b in alike:
        if a not in result and result[b] is None:
            result[b] = a
    for at, counterpart in enumerate(result):
        if counterpart is None and at < len(before) and at not in result:
            result[at] = at
    return result


def _tokens(text: str, language: str = "") -> list[str]:
    tools = find_tools(language)
    return tools.cut(text) if tools and tools.cut else _TOKENS.findall(text)


def _edits(before: str, after: str, language: str) -> list[_Edit]:
    """Return the runs that are equal and those that are not: of sentences, then of words in sentences that changed. An
    equal run between two changes that is short beside both is none."""
    result: list[_Edit] = []
    for sentences in _opcodes(_SENTENCES.findall(before), _SENTENCES.findall(after)):
        old, new = (_tokens("".join(side), language) for side in (sentences.old, sentences.new))
        is_long = len(old) * len(new) > _LONG
        for edit in [_Edit(sentences.equal, old, new)] if sentences.equal or is_long else _opcodes(old, new):
            result.append(edit)
            while len(result) > 2 and result[-2].equal and not (result[-1].equal or result[-3].equal):
                first, between, last = result[-3:]
                if 2 * _letters(between.new) >= min(max(_letters(e.old), _letters(e.new)) for e in (first, last)):
                    break
                result[-3:] = [first + between + last]
    return result


def _opcodes(old: list[str], new: list[str]) -> Iterator[_Edit]:
    """The fewest edits, what is left out and what is added at one place as one."""
    from rapidfuzz.distance import Indel

    runs = groupby(Indel.opcodes(old, new), key=lambda code: code.tag == "equal")
    for equal, codes in ((equal, list(run)) for equal, run in runs):
        first, last = codes[0], codes[-1]
        yield _Edit(equal, old[first.src_start : last.src_end], new[first.dest_start : last.dest_end])


def _letters(tokens: Sequence[str]) -> int:
    return sum(len(token) for token in tokens if token[0].isalnum())


def _mark_moved(old: list[str], old_kinds: list[Kind], new: list[str], new_kinds: list[Kind]) -> None:
    """Note as moved what is left out in one place and added in another, where it is more than a few letters."""
    matcher = SequenceMatcher(None, old, new, autojunk=False)
    if not matcher.real_quick_ratio() or len(old) * len(new) > _LONG:
        return
    blocks = matcher.get_matching_blocks()[:-1]
    if sum(block.size for block in blocks) < _ALIKE * min(len(old), len(new)):
        blocks = blocks and [max(blocks, key=lambda block: block.size)]
    words = [token for block in blocks for token in old[block.a : block.a + block.size] if token[0].isalnum()]
    signs = sum(len(word) for word in words if word[0] > "\u3040")
    if signs < _MOVED_SIGNS and (len(words) < 2 or _letters(words) - signs < 3 * _MOVED_SIGNS // 2):
        return
    for a, b, size in blocks:
        free = {*old_kinds[a : a + size], *new_kinds[b : b + size]} <= {Kind.LEFT_OUT, Kind.ADDED}
        if free and any(token[0].isalnum() for token in old[a : a + size]):
            old_kinds[a : a + size] = [Kind.MOVED_AWAY] * size
            new_kinds[b : b + size] = [Kind.MOVED] * size
