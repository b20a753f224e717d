"""Where sentences end in languages with spaces and Western marks. Written by hand, as NLTK's punkt is not on every
machine."""

import re

from audit.text.tokens import words

RULES = "9ec56d5c"
"""Version of the rules of this module, and part of what names a corpus of sentences. A test says when to change it."""
_ABBREVIATIONS = words("mr mrs ms dr jr sr st vs etc no vol prof gen col lt sgt e.g i.e u.s u.k")
_END = re.compile(r"""[.!?]+(?:\.\.+)?["'”’)\]]*(?=\s|$)|\n\s*\n|(?<=[.!?])(?=[A-Z][a-z])""")


def spans(text: str) -> tuple[tuple[int, int], ...]:
    """(start, end) of each sentence, without the white space around it.

    >>> spans("Mr. Smith is good. I like him!")
    ((0, 18), (19, 30))
    """
    result: list[tuple[int, int]] = []
    start = 0
    for match in _END.finditer(text):
        end = match.end()
        if match.group().startswith(".") and _continues(text, start, match.start(), end):
            continue
        _add_span(result, text, start, end)
        start = end
    _add_span(result, text, start, len(text))
    return tuple(result)


def _continues(text: str, start: int, dot: int, end: int) -> bool:
    """Whether a full stop does not end the sentence: an abbreviation, an initial, or a lower-case word after "..."."""
    word = re.search(r"[\w.]*$", text[start:dot])
    last = word.group().lower() if word else ""
    if last in _ABBREVIATIONS or (len(last) == 1 and last.isalpha() and last != "i"):
        return True
    ahead = text[end:].lstrip()
    return text[dot:end].count(".") > 1 and ahead[:1].islower()


def _add_span(spans: list[tuple[int, int]], text: str, start: int, end: int) -> None:
    piece = text[start:end]
    if piece.strip():
        left = start + len(piece) - len(piece.lstrip())
        spans.append((left, left + len(piece.strip())))
