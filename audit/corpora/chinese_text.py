"""Chinese web pages as plain text: leftovers of HTML and of layout are mended, no word is changed.

Corpora of Chinese news were cut from web pages: entities, tags, line breaks spelled as the two characters `\\n`,
indents of two ideographic spaces, invisible characters, characters of a private font.
"""

import re
from collections.abc import Iterator
from html import unescape

from audit.language import Analysis

LONGEST_SENTENCE = 300
"""Characters that a sentence may have: what is longer has lost its punctuation, and is a page."""

_BREAK = re.compile(r"\\[nr]|[\r\u2028\u2029]|\u3000{2,}")  # two ideographic spaces begin a paragraph
_COMMENT = re.compile(r"<!--.{0,5000}?-->", re.DOTALL)
_TAG = re.compile(r"</?[a-zA-Z][^<>]{0,300}>")
_ENTITY = re.compile(r"&(?:#\d{1,7}|#x[0-9a-fA-F]{1,6}|[a-zA-Z]{2,8});|&(?:amp|gt|lt|quot|nbsp)(?![a-zA-Z=])")
# The zero-width joiner stays: it makes one picture of two emoji. Fonts of their own (private use) are shown by nobody.
_INVISIBLE = re.compile(
    r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\xad\u200b\u200c\u200e\u200f\u202a-\u202e\u2060\ufeff\ue000-\uf8ff]"
)
_WORD = re.compile(r"[^\W_]+")
_ENDED = re.compile(r"[。！？!?…]+[”’」』）)》\"']*$")
_HAN = re.compile(r"[\u3400-\u9fff]")


def tidied(text: str) -> str:
    """The text with one paragraph a line, single spaces, and nothing of HTML; lines without anything are dropped.

    >>> tidied("　　他说&ldquo;好&rdquo;。\\\\n　　<b>完</b>\\xa0 \\ufeff")
    '他说“好”。\\n完'
    """
    text = _TAG.sub("", _COMMENT.sub("\n", text))
    text = _INVISIBLE.sub("", _ENTITY.sub(lambda found: unescape(found.group()), text))
    lines = (" ".join(line.split()) for line in _BREAK.sub("\n", text).replace("\\t", " ").split("\n"))
    return "\n".join(line for line in lines if line)


def letters(text: str) -> str:
    """The letters and digits alone, in lower case: texts that differ in nothing else are copies.

    >>> letters("ABC：他 说，好。") == letters("abc 他说好！")
    True
    """
    return "".join(_WORD.findall(text.lower()))


def has_chinese(text: str) -> bool:
    """Whether there is a Chinese character in it.

    >>> has_chinese("iPhone 15"), has_chinese("iPhone 15发布")
    (False, True)
    """
    return _HAN.search(text) is not None


def sentences(text: str) -> Iterator[tuple[int, str]]:
    """The whole sentences of a Chinese text, with their numbers from 1: those that have a Chinese character, an end,
    and at most `LONGEST_SENTENCE` characters. The others are headings, captions, and pages without punctuation.

    >>> list(sentences("第一句。\\n图一\\n第二句。"))
    [(1, '第一句。'), (3, '第二句。')]
    """
    analysis = Analysis(text, "zh")
    for number, (start, end) in enumerate(analysis.spans, start=1):
        sentence = analysis.text[start:end]
        if len(sentence) <= LONGEST_SENTENCE and _ENDED.search(sentence) and has_chinese(sentence):
            yield number, sentence
