"""Sentence boundaries. Written by hand because NLTK's punkt is not on every machine, and knows no Chinese."""

import re

from audit.language.chinese_sentences import chinese_spans
from audit.language.wordsets import words

RULES = "9ec56d5c"
"""Version of the rules of this module, and part of what names a corpus of sentences. A test says when to change it."""
_ABBREVIATIONS = words("mr mrs ms dr jr sr st vs etc no vol prof gen col lt sgt e.g i.e u.s u.k")
_END = re.compile(r"""[.!?]+(?:\.\.+)?["'”’)\]]*(?=\s|$)|\n\s*\n|(?<=[.!?])(?=[A-Z][a-z])""")


def spans(text: str, language: str) -> tuple[tuple[int, int], ...]:
    """(start, end) of each sentence, without the white space around it.

    >>> spans("Mr. Smith is good. I like him!", "en")
    ((0, 18), (19, 30))
    >>> spans("他来了。她说：“走吧！”", "zh")
    ((0, 4), (4, 12))
    """
    if language == "zh":
        return chinese_spans(text)
    found: list[tuple[int, int]] = []
    start = 0
    for match in _END.finditer(text):
        end = match.end()
        if match.group().startswith(".") and _continues(text, start, match.start(), end):
            continue
        _keep(found, text, start, end)
        start = end
    _keep(found, text, start, len(text))
    return tuple(found)


def _continues(text: str, start: int, dot: int, end: int) -> bool:
    """Whether a full stop does not end the sentence: an abbreviation, an initial, or a lower-case word after "..."."""
    word = re.search(r"[\w.]*$", text[start:dot])
    last = word.group().lower() if word else ""
    if last in _ABBREVIATIONS or (len(last) == 1 and last.isalpha() and last != "i"):
        return True
    ahead = text[end:].lstrip()
    return text[dot:end].count(".") > 1 and ahead[:1].islower()


def _keep(found: list[tuple[int, int]], text: str, start: int, end: int) -> None:
    piece = text[start:end]
    if piece.strip():
        left = start + len(piece) - len(piece.lstrip())
        found.append((left, left + len(piece.strip())))
