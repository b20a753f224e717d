"""Parts of English texts that belong together: a quotation or a bracket of several sentences stays whole where
sentences move, and a link, a handle or a piece of code where letters change."""

import re
from collections.abc import Callable, Iterator

from audit.text import Analysis

_PROTECTED = re.compile(
    r"\b(?:https?|ftp)://\S+|\bwww\.\S+|\S+@\S+\.\w+|(?<!\w)[@#]\w+|<[^<>\n]+>|&#?\w+;|```.*?```|`[^`\n]+`|\w+\(\)",
    re.DOTALL,
)


def matches(pattern: re.Pattern[str], text: str) -> Iterator[re.Match[str]]:
    """Where a pattern matches outside of links, addresses, handles, hashtags, markup and code.

    >>> [match.group() for match in matches(re.compile("[a-z]+"), "see <br> (https://a.b) now")]
    ['see', 'now']
    """
    spans = [match.span() for match in _PROTECTED.finditer(text)]
    for match in pattern.finditer(text):
        if not any(start < match.end() and match.start() < end for start, end in spans):
            yield match


def replaced(pattern: re.Pattern[str], new: Callable[[re.Match[str]], str], text: str) -> str:
    """The text with each match outside of links, markup and the like replaced, as `re.sub` does.

    >>> replaced(re.compile(r"\\bb\\b"), lambda match: "c", "b <b> b")
    'c <b> c'
    """
    parts, at = [], 0
    for match in matches(pattern, text):
        parts += [text[at : match.start()], new(match)]
        at = match.end()
    return "".join([*parts, text[at:]])


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
