"""Where sentences end in languages with spaces and Western marks.

Our own rules: libraries find fewer ends where there are no capitals or several marks in a row
(docs/evidence/follow-ups.md). The words, in data/lexicons/sentence_words.toml, are English ones.
"""

import re
import tomllib

from audit.resources import data_file
from audit.text.tokens import words

RULES = "37efd66d"
"""Version of the rules of this module, and part of what names a corpus of sentences. A test says when to change it."""
_LISTS = tomllib.loads(data_file("lexicons/sentence_words.toml").read_text(encoding="utf-8"))
_TITLES, _SHORTENED, _NAMES, _BEGIN, _LINK = (
    words(_LISTS[name]) for name in ("titles", "shortened", "names", "begin", "link")
)
_MARKS = r"""(?:\.(?: \.)+|(?<![.!?])[.!?]++)(?:["'”’)\]]+| ''(?=\s|$))?(?=\s|$)"""
_END = re.compile(_MARKS + r"|\n\s*\n|(?<=[.!?])(?=[A-Z][a-z])")
_AHEAD = re.compile(r"""[\s"'“‘(\[]*([\w'’]*)(\.?)""")
_NEAR = 80  # Characters before a mark that are looked at: a page without a blank takes no longer than one with some


def spans(text: str) -> tuple[tuple[int, int], ...]:
    """Return (start, end) of each sentence, without the white space around it.

    >>> spans("Mr. Smith is good. I like him!")
    ((0, 18), (19, 30))
    """
    result: list[tuple[int, int]] = []
    start = 0
    cased = _is_cased(text)
    for match in _END.finditer(text):
        if not _continues(text, start, match, cased):
            _add_span(result, text, start, match.end())
            start = match.end()
    _add_span(result, text, start, len(text))
    return tuple(result)


def _is_cased(text: str) -> bool:
    """Whether sentences begin with capitals, as far as the text shows it."""
    first = re.search(r"[^\W\d_]", text)
    starts = [first.group() if first else "", *re.findall(r"(?<![\s.]\w)[.!?]\s+([^\W\d_])", text)]
    return sum(map(str.isupper, starts)) >= sum(map(str.islower, starts))


def _continues(text: str, start: int, match: re.Match[str], cased: bool) -> bool:
    """Whether a sentence goes on behind this mark: a shortened word or an initial, the number of a list, or a
    lower-case word where sentences begin with capitals."""
    mark = match.group()
    before = text[max(start, match.start() - _NEAR) : match.start()]
    if not mark.strip():
        return "\n" not in mark and _is_dotted(before)
    ahead = _AHEAD.match(text, match.end())
    follows, stop = (ahead.group(1), ahead.group(2)) if ahead else ("", "")
    goes_on = follows[:1].islower() and not text.startswith("://", ahead.end(1) if ahead else 0)
    if not mark.startswith("."):
        return cased and goes_on and mark[-1] not in "!?"
    if mark.startswith(("..", ". .")):
        # Where no sentence begins with a capital, dots that stand at a word end one.
        return (follows[:1].islower() and (cased or before[-1:].isspace())) or not before.strip()
    if cased and goes_on:
        return True
    word = re.search(r"[\w.'’]*$", before.rstrip())
    written = word.group().lstrip("'’") if word else ""
    last = written.lower()
    if re.search(r"(?:^|[;:]\s|\s\s)\s*[(\[]?(?:\w?\d*|\d+)$", before):
        return bool(follows)
    if last in _TITLES:
        return follows[:1].isdecimal() if last in ("no", "nos") else bool(follows)
    is_name, is_begin = last in _NAMES and written[:1].isupper(), follows.lower() in _BEGIN
    if last in _SHORTENED or is_name or (_is_dotted(before + ".") and last != "i"):
        return bool(follows) and (not is_begin or follows in _LINK)
    if last == "i":  # a word, but in I. M. Pei and Edward I. Koch
        return (len(follows) == 1 and stop == ".") or (_follows_name(before) and follows.istitle() and not is_begin)
    return False


def _is_dotted(text: str) -> bool:
    """Whether a text ends in an initial, or in letters with a stop behind each: U.N., p.m."""
    return re.search(r"(?:^|[\s(\[])[\"'“‘]*(?:[^\W\d_]\.)+$", text) is not None


def _follows_name(text: str) -> bool:
    """Whether the word before an initial at the end is written as a name: Edward I, not But I."""
    word = re.search(r"(\w+)\s+I$", text)
    return word is not None and word[1].istitle() and word[1].lower() not in _BEGIN


def _add_span(spans: list[tuple[int, int]], text: str, start: int, end: int) -> None:
    piece = text[start:end]
    if spans and not re.search(r"\w", piece) and "\n" not in piece.rstrip():
        end = start + len(piece.rstrip())
        spans[-1] = (spans[-1][0], max(spans[-1][1], end))  # a mark by itself ends what stands before it
    elif piece.strip():
        left = start + len(piece) - len(piece.lstrip())
        spans.append((left, left + len(piece.strip())))
