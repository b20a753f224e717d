"""What differs between two texts: what was added, left out and moved.

Sentences are paired first, wherever they stand, then words within a pair (in Chinese and Japanese, signs): so a
sentence that changed its place is one that moved, and no heap of single words that happen to be elsewhere.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from difflib import SequenceMatcher
from enum import Enum
from typing import NamedTuple

_TOKENS = re.compile(
    r"\s+|[\u3040-\u30ff\u3400-\u9fff]|[^\W\u3040-\u30ff\u3400-\u9fff]+(?:['’][^\W\u3040-\u30ff\u3400-\u9fff]+)*|[^\w\s]"
    r"|_+"
)
"""Words, spaces, and every other sign by itself; Chinese and Japanese signs one by one, as they have no spaces. A word
with an apostrophe is one: "it's" became "it is", not "'s" became "is"."""
_SENTENCE_END = re.compile(r"(?:[.!?]+[\"'”’)\]]*(?=\s|\Z)|[。！？；…]+[\"'”’」』）]*|\n)\s*")
"""Enough for pairing in any language: after a shortened word ("Mr.") a sentence ends too early, in both texts alike."""
_LONG = 250_000
"""Pairs of tokens above which texts are compared by their rarer ones; pairs of sentences that are compared at most."""
_ALIKE = 0.5
"""Share of common tokens from which on two sentences, wherever they stand, are versions of one."""
_RELATED = 0.2
"""The same for the only two at one place."""
_MOVED_SIGNS = 4
"""Chinese signs that move together within a sentence, at least; in other scripts two words of half as many more."""


class Kind(Enum):
    """What became of a piece of text."""

    SAME = "same"
    ADDED = "added"
    LEFT_OUT = "left_out"
    MOVED = "moved"
    """At its new place."""
    MOVED_AWAY = "moved_away"
    """At its old place."""


class Piece(NamedTuple):
    """A piece of one of two texts, or of both."""

    text: str
    kind: Kind


BEFORE = frozenset({Kind.SAME, Kind.LEFT_OUT, Kind.MOVED_AWAY})
"""Kinds whose pieces together are the text before."""
AFTER = frozenset({Kind.SAME, Kind.ADDED, Kind.MOVED})
"""Kinds whose pieces together are the text after."""


def differences(before: str, after: str) -> list[Piece]:
    """The pieces of both texts in one order: those of the kinds `BEFORE` put together are `before`, those of `AFTER`
    are `after`. What consists of spaces alone differs for these sums, and is nothing to be marked.

    >>> [(piece.text, piece.kind.value) for piece in differences("a good film", "a very good film")]
    [('a', 'same'), (' very', 'added'), (' good film', 'same')]
    >>> pieces = differences("It rains. We stay.", "We stay. It rains.")
    >>> [(piece.text, piece.kind.value) for piece in pieces if piece.text.strip()]
    [('It rains.', 'moved_away'), ('We stay.', 'same'), ('It rains.', 'moved')]
    """
    old, new = _sentences(before), _sentences(after)
    pairs = _pairs_of_sentences(old, new)
    in_place = _longest_rising(pairs, new)
    moved = [pair for pair in pairs if pair not in in_place]
    # The words of a pair that moved: what stayed of it is told where it was and where it is.
    away = {at: piece for pair in moved for at, piece in _away(pair, old, new)}
    here = {at: piece for pair in moved for at, piece in _here(pair, old, new)}
    result: list[Piece] = []
    at_old = at_new = 0
    for pair in [*in_place, _Pair(range(len(old), len(old)), range(len(new), len(new)))]:
        result += _between(old, new, range(at_old, pair.old.start), range(at_new, pair.new.start), away, here)
        result += _word_differences(_joined(old, pair.old), _joined(new, pair.new))
        at_old, at_new = pair.old.stop, pair.new.stop
    return list(_in_runs(result))


def paired_texts(before: Sequence[str], after: Sequence[str]) -> list[int | None]:
    """For each text after, the index of the text before that it is a version of; None where there is none.

    Texts that changed places are paired where they went; what is left is paired by its place.

    >>> paired_texts(["the sun shines", "it rains"], ["it rains hard", "the sun shines"])
    [1, 0]
    >>> paired_texts(["a", "b"], ["c", "d", "e"])
    [0, 1, None]
    """
    result: list[int | None] = [None] * len(after)
    for at_old, at_new in _alike(list(enumerate(before)), list(enumerate(after)), _ALIKE):
        result[at_new] = at_old
    for at, counterpart in enumerate(result):
        if counterpart is None and at < len(before) and at not in result:
            result[at] = at
    return result


class _Pair(NamedTuple):
    """Sentences before and after that are versions of each other; by index."""

    old: range
    new: range


def _sentences(text: str) -> list[str]:
    """The sentences of a text with the space after them; together they are the text."""
    ends = [match.end() for match in _SENTENCE_END.finditer(text)]
    if not ends or ends[-1] < len(text):
        ends.append(len(text))
    return [text[start:end] for start, end in zip([0, *ends], ends, strict=False) if end > start]


def _joined(sentences: Sequence[str], places: range) -> str:
    return "".join(sentences[places.start : places.stop])


def _pairs_of_sentences(old: Sequence[str], new: Sequence[str]) -> list[_Pair]:
    """Pairs of sentences, equal ones first, in the order of `new`; each sentence is in one pair at most."""
    keys_old, keys_new = [sentence.strip() for sentence in old], [sentence.strip() for sentence in new]
    pairs: dict[int, int] = {}
    for block in SequenceMatcher(None, keys_old, keys_new, autojunk=False).get_matching_blocks():
        pairs |= {block.b + step: block.a + step for step in range(block.size)}
    left: defaultdict[str, list[int]] = defaultdict(list)
    for at in sorted(set(range(len(old))) - set(pairs.values())):
        left[keys_old[at]].append(at)
    for at, key in enumerate(keys_new):
        if at not in pairs and left.get(key):
            pairs[at] = left[key].pop(0)
    rest_old = [(at, keys_old[at]) for at in range(len(old)) if at not in set(pairs.values())]
    rest_new = [(at, keys_new[at]) for at in range(len(new)) if at not in pairs]
    similar = [_Pair(range(a, a + 1), range(b, b + 1)) for a, b in _alike(rest_old, rest_new, _ALIKE)]
    taken_old = set(pairs.values()) | {pair.old.start for pair in similar}
    taken_new = set(pairs) | {pair.new.start for pair in similar}
    wider = [_widened(pair, old, new, taken_old, taken_new) for pair in similar]
    equal = [_Pair(range(a, a + 1), range(b, b + 1)) for b, a in pairs.items()]
    return sorted([*equal, *wider], key=lambda pair: pair.new.start)


def _alike(old: Sequence[tuple[int, str]], new: Sequence[tuple[int, str]], least: float) -> Iterator[tuple[int, int]]:
    """Pairs of numbered texts with at least this share of common tokens, the most alike first, of equal ones the
    nearest."""
    if len(old) * len(new) > _LONG:
        return
    bags_old, bags_new = [_bag(text) for _, text in old], [_bag(text) for _, text in new]
    candidates = sorted(
        (-share, abs(a - b), a, b)
        for (a, _), bag in zip(old, bags_old, strict=True)
        for (b, _), other in zip(new, bags_new, strict=True)
        if (share := _share(bag, other)) >= least
    )
    used_old: set[int] = set()
    used_new: set[int] = set()
    for _, _, a, b in candidates:
        if a not in used_old and b not in used_new:
            used_old.add(a)
            used_new.add(b)
            yield a, b


def _bag(text: str) -> Counter[str]:
    return Counter(token.lower() for token in _TOKENS.findall(text) if not token.isspace())


def _share(bag: Counter[str], other: Counter[str]) -> float:
    """The share of tokens that two bags have in common (Dice's coefficient); 1 for two empty ones."""
    total = bag.total() + other.total()
    return 2 * (bag & other).total() / total if total else 1.0


def _widened(pair: _Pair, old: Sequence[str], new: Sequence[str], taken_old: set[int], taken_new: set[int]) -> _Pair:
    """The pair with the neighbours that nobody else took, where they make it more alike: one sentence became two, or
    two became one. What is taken is noted."""
    best = _share(_bag(_joined(old, pair.old)), _bag(_joined(new, pair.new)))
    while True:
        options = [
            _Pair(pair.old, range(pair.new.start, pair.new.stop + 1)),
            _Pair(pair.old, range(pair.new.start - 1, pair.new.stop)),
            _Pair(range(pair.old.start, pair.old.stop + 1), pair.new),
            _Pair(range(pair.old.start - 1, pair.old.stop), pair.new),
        ]
        free = [
            option
            for option in options
            if set(option.old) - set(pair.old) <= set(range(len(old))) - taken_old
            and set(option.new) - set(pair.new) <= set(range(len(new))) - taken_new
        ]
        shares = [_share(_bag(_joined(old, option.old)), _bag(_joined(new, option.new))) for option in free]
        if not shares or max(shares) <= best:
            return pair
        best = max(shares)
        pair = free[shares.index(best)]
        taken_old |= set(pair.old)
        taken_new |= set(pair.new)


def _longest_rising(pairs: Sequence[_Pair], new: Sequence[str]) -> list[_Pair]:
    """Of pairs in the order of `new`, those with the most text that stand in the order of the text before, too; the
    others moved."""
    best: list[tuple[int, int]] = []  # (letters up to and with this pair, the pair before it)
    for at, pair in enumerate(pairs):
        before = max(((best[other][0], other) for other in range(at) if pairs[other].old.stop <= pair.old.start),
                     default=(0, -1))  # fmt: skip
        best.append((before[0] + len(_joined(new, pair.new)), before[1]))
    chosen: list[_Pair] = []
    at = max(range(len(best)), key=lambda place: best[place][0]) if best else -1
    while at >= 0:
        chosen.append(pairs[at])
        at = best[at][1]
    return chosen[::-1]


def _away(pair: _Pair, old: Sequence[str], new: Sequence[str]) -> Iterator[tuple[int, list[Piece]]]:
    """The pieces of a pair that moved, at its old place."""
    pieces = _word_differences(_joined(old, pair.old), _joined(new, pair.new))
    yield pair.old.start, [_renamed(piece, Kind.MOVED_AWAY) for piece in pieces if piece.kind in BEFORE]
    yield from ((at, []) for at in pair.old[1:])


def _here(pair: _Pair, old: Sequence[str], new: Sequence[str]) -> Iterator[tuple[int, list[Piece]]]:
    """The same at its new place."""
    pieces = _word_differences(_joined(old, pair.old), _joined(new, pair.new))
    yield pair.new.start, [_renamed(piece, Kind.MOVED) for piece in pieces if piece.kind in AFTER]
    yield from ((at, []) for at in pair.new[1:])


def _renamed(piece: Piece, kind: Kind) -> Piece:
    return Piece(piece.text, kind) if piece.kind is Kind.SAME else piece


def _between(
    old: Sequence[str],
    new: Sequence[str],
    places_old: range,
    places_new: range,
    away: dict[int, list[Piece]],
    here: dict[int, list[Piece]],
) -> Iterator[Piece]:
    """The sentences between two pairs that stayed where they were."""
    lost, gained = [at for at in places_old if at not in away], [at for at in places_new if at not in here]
    if len(lost) == len(gained) == 1 and len(places_old) == len(places_new) == 1:
        before, after = old[lost[0]], new[gained[0]]
        if _share(_bag(before), _bag(after)) >= _RELATED:
            yield from _word_differences(before, after)
            return
    for at in places_old:
        yield from away.get(at, [Piece(old[at], Kind.LEFT_OUT)])
    for at in places_new:
        yield from here.get(at, [Piece(new[at], Kind.ADDED)])


class _Edit(NamedTuple):
    """A run of tokens before and after: equal, or one in place of the other."""

    equal: bool
    old: list[str]
    new: list[str]


def _word_differences(before: str, after: str) -> list[Piece]:
    """The pieces of two sentences, in which words or signs were added, left out or moved."""
    if before == after:
        return [Piece(before, Kind.SAME)]
    edits = _without_crumbs(_edits(_TOKENS.findall(before), _TOKENS.findall(after)))
    lost = [list(_kinds(edit.old, Kind.LEFT_OUT)) for edit in edits]
    gained = [list(_kinds(edit.new, Kind.ADDED)) for edit in edits]
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
            pieces += [Piece(token, kind) for token, kind in zip(edit.old, old_kinds, strict=True)]
            pieces += [Piece(token, kind) for token, kind in zip(edit.new, new_kinds, strict=True)]
    return pieces


def _kinds(tokens: Iterable[str], kind: Kind) -> Iterator[Kind]:
    return (kind for _ in tokens)


def _edits(old: list[str], new: list[str]) -> list[_Edit]:
    # In a long review spaces and commas would be compared millions of times; there only rarer words begin a match.
    matcher = SequenceMatcher(None, old, new, autojunk=len(old) * len(new) > _LONG)
    return [
        _Edit(kind == "equal", old[start_old:end_old], new[start_new:end_new])
        for kind, start_old, end_old, start_new, end_new in matcher.get_opcodes()
    ]


def _letters(tokens: Iterable[str]) -> int:
    return sum(len(token) for token in tokens if token[0].isalnum())


def _without_crumbs(edits: list[_Edit]) -> list[_Edit]:
    """The edits without equal runs that stand between two changes and are short beside both: a sign or a comma that two
    different phrases happen to share."""
    result: list[_Edit] = []
    for at, edit in enumerate(edits):
        following = edits[at + 1] if at + 1 < len(edits) else None
        if edit.equal and result and following and not result[-1].equal:
            least = min(max(_letters(side.old), _letters(side.new)) for side in (result[-1], following))
            if 2 * _letters(edit.new) < least:
                edit = _Edit(False, edit.old, edit.new)
        if result and not result[-1].equal and not edit.equal:
            result[-1] = _Edit(False, result[-1].old + edit.old, result[-1].new + edit.new)
        else:
            result.append(edit)
    return result


def _mark_moved(old: list[str], old_kinds: list[Kind], new: list[str], new_kinds: list[Kind]) -> None:
    """Note what is left out in one place and added in another as moved, where it is more than a few letters."""
    match = SequenceMatcher(None, old, new, autojunk=False).find_longest_match()
    start, stop = match.a, match.a + match.size
    tokens = old[start:stop]
    words = [token for token in tokens if token[0].isalnum()]
    signs = sum(1 for word in words if len(word) == 1 and word > "\u3040")
    is_phrase = signs >= _MOVED_SIGNS or (len(words) >= 2 and _letters(words) - signs >= 3 * _MOVED_SIGNS // 2)
    if is_phrase and old_kinds[start] is Kind.LEFT_OUT and new_kinds[match.b] is Kind.ADDED:
        old_kinds[start:stop] = [Kind.MOVED_AWAY] * match.size
        new_kinds[match.b : match.b + match.size] = [Kind.MOVED] * match.size


def _in_runs(pieces: Iterable[Piece]) -> Iterator[Piece]:
    """The pieces with neighbours of one kind put together."""
    text, kind = "", Kind.SAME
    for piece in pieces:
        if piece.kind is kind:
            text += piece.text
        else:
            if text:
                yield Piece(text, kind)
            text, kind = piece
    if text:
        yield Piece(text, kind)
