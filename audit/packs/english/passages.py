"""Sentences that belong together: a quotation or a bracket of several sentences stays whole where sentences move."""

import re

from audit.text import Analysis

_QUOTATION = re.compile(r"""(?P<both>"|''|[“”])|(?P<open>\()|(?P<close>\))""")
_FAR = 400
"""Characters."""


def passages(text: Analysis) -> Analysis:
    """The text with the sentences that a quotation or a bracket holds together as one.

    A mark that is never closed, or far away, holds nothing together: it may be an inch, or a face.

    >>> [sentence.text for sentence in passages(Analysis('He said "No. Never." Then he left.')).sentences]
    ['He said "No. Never."', 'Then he left.']
    """
    held: list[tuple[int, int]] = []
    opened: dict[str, int] = {}
    for match in _QUOTATION.finditer(text.text):
        kind = "bracket" if match["both"] is None else "quotation"
        if kind in opened and match["open"] is None:
            start = opened.pop(kind)
            held += [(start, match.end())] if match.end() - start <= _FAR else []
        elif match["close"] is None:
            opened[kind] = match.start()
    spans: list[tuple[int, int]] = []
    for start, end in text.spans:
        if spans and any(first < spans[-1][1] and start < last for first, last in held):
            spans[-1] = (spans[-1][0], end)
        else:
            spans.append((start, end))
    if len(spans) == len(text.spans):
        return text
    joined = Analysis(text.text, text.language, text.tagger)
    joined.spans = tuple(spans)
    return joined
