"""Where sentences of Chinese text end, with English words and marks among them.

After GB/T 15834-2011, "General rules for punctuation": 。 ？ and ！ end sentences, ； and ： stand within them. What
ends within a title, brackets or a quotation ends nothing outside of it, so a sentence has both ends of its quotes.
"""

import re
from bisect import bisect_right
from collections import Counter
from itertools import pairwise

RULES = "834fd310"
"""Version of the rules of this module, as `audit.text.sentences.RULES`."""
PAIRS = dict(zip("“‘「『《〈（(【〔", "”’」』》〉）)】〕", strict=True))
_OPENING = {closing: opening for opening, closing in PAIRS.items()}
_LINE = re.compile(r"[^\n\r\x0b\x0c\x85\u2028\u2029]+")
_PAIRED = re.compile(rf"[{re.escape(''.join([*PAIRS, *_OPENING]))}\"]")
_MARK = re.compile(r"[。！？｡‼⁇⁈⁉!?.．…⋯]+")
_FULL = re.compile("[。！？｡‼⁇⁈⁉]")
_ELLIPSIS = re.compile(r"[…⋯]+|\.{3,}")
_BEGINS = re.compile(r"\s|\Z|[\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff“‘「『《（【\"]")
"""What may follow a Western mark that ends a sentence; nothing of it stands within 3.5, a.com or Yahoo!'s."""
_GOES_ON = re.compile(r"[ \t\u3000]*[，、：；,;:]")
_APART = re.compile(r"\s|\Z|[“‘「『\"]")
_INTRODUCES = re.compile(r"[：:，,]\s*\Z")
_ABBREVIATED = re.compile(
    r"(?<![A-Za-z.])(?:[A-Za-z]|(?i:mr|mrs|ms|dr|jr|sr|st|vs|no|vol|prof|gen|col|lt|[a-z]\.[a-z]))\Z"
)
_NUMBERING = re.compile(r"\s*[0-9０-９A-Za-zＡ-Ｚａ-ｚ一二三四五六七八九十]{1,3}\Z")
_WORD = re.compile(r"\w")

Span = tuple[int, int]


def spans(text: str) -> tuple[Span, ...]:
    """(start, end) of each sentence, without the white space around it; nothing else is left out.

    >>> spans("他说：“好。走吧！”她来了。")
    ((0, 10), (10, 14))
    """
    result: list[Span] = []
    for line in _LINE.finditer(text):
        for start, end in pairwise([line.start(), *_ends(text, *line.span()), line.end()]):
            piece = text[start:end]
            if piece.strip():
                left = start + len(piece) - len(piece.lstrip())
                result.append((left, left + len(piece.strip())))
    return tuple(result)


def _ends(text: str, start: int, stop: int) -> list[int]:
    """Where sentences end in a line. One walk over it: what was looked at is not looked at again."""
    pairs = _outermost(text, start, stop)
    opened, closed = [opening for opening, _ in pairs], {closing for _, closing in pairs}
    ends: list[int] = []
    looked = start
    worded = False  # whether the sentence has a word up to `looked`
    for mark in _MARK.finditer(text, start, stop):
        worded = worded or bool(_WORD.search(text, looked, mark.start()))
        looked = end = mark.end()
        while end < stop and (text[end] in _OPENING or end in closed):
            end += 1
        if not worded or not _is_end(text, start, mark, end):
            continue
        place = bisect_right(opened, mark.start()) - 1
        if place < 0 or mark.start() > pairs[place][1] or _closes(text, start, pairs[place], end):
            ends.append(end)
            start = looked = end
            worded = False
    if ends and not worded and not _WORD.search(text, looked, stop):
        ends.pop()  # what is left of a line, an emoji or a dash, belongs to its last sentence
    return ends


def _is_end(text: str, start: int, mark: re.Match[str], end: int) -> bool:
    """Whether a mark ends the sentence, by what stands before and after it; `end` is behind its closing quotes."""
    if _GOES_ON.match(text, end):
        return False
    if _FULL.search(mark[0]):
        return True
    if _ELLIPSIS.fullmatch(mark[0]):
        # 从……到……: hardly anything was said before it.
        return bool(re.fullmatch(r"\w{3}", text[max(start, mark.start() - 3) : mark.start()]))
    if not _BEGINS.match(text, end):
        return False
    if mark[0] in ("．", "."):
        before = text[max(start, mark.start() - 8) : mark.start()]
        at_once = end < len(text) and not text[end].isspace()
        counted = mark.start() - start <= 8 and bool(_NUMBERING.match(before))
        return not (counted or _ABBREVIATED.search(before) or (at_once and before[-1:].isdigit()))
    return True


def _closes(text: str, start: int, pair: Span, end: int) -> bool:
    """Whether a mark within quotes or brackets ends the sentence around them: they end with it, and it with them.

    A quotation that nothing introduces is a part of its sentence: “好！”他说。
    """
    opening, closing = pair
    if end <= closing or text[opening] in "《〈":
        return False
    if text[opening] not in '“‘「『"':
        return not text[start:opening].strip()
    return bool(_APART.match(text, end) or _INTRODUCES.search(text, max(start, opening - 8), opening))


def _outermost(text: str, start: int, stop: int) -> list[Span]:
    """(opening, closing) of quotes, titles and brackets of a line that are in no other, in order."""
    pairs: list[Span] = []
    waiting: list[int] = []
    number: Counter[str] = Counter()
    for match in _PAIRED.finditer(text, start, stop):
        sign = match[0]
        opening = '"' if sign == '"' else _OPENING.get(sign, "")
        if not number[opening]:
            if sign in PAIRS or sign == '"':
                waiting.append(match.start())
                number[sign] += 1
            continue
        begun = -1
        while begun < 0 or text[begun] != opening:
            begun = waiting.pop()
            number[text[begun]] -= 1
        while pairs and pairs[-1][0] > begun:
            pairs.pop()
        pairs.append((begun, match.start()))
    return pairs
