"""Words of a source's texts replaced by others: the same word by the same one wherever it stands."""

import re
from collections.abc import Mapping, Sequence

from audit.language import Analysis
from audit.relations.base import Rewritten, Words

TITLES = re.compile(r"《[^《》]*》")
"""Titles of Chinese works, which no word is replaced in."""


def replaced(text: str, words: Words) -> str:
    """The text with every old word replaced by its new one, all at once, the longest first.

    >>> replaced("甲说乙，乙说甲", (("甲", "乙"), ("乙", "甲")))
    '乙说甲，甲说乙'
    """
    if not words:
        return text
    new = dict(words)
    return _any_of(words).sub(lambda found: new[found.group()], text)


def _any_of(words: Words) -> re.Pattern[str]:
    return re.compile("|".join(re.escape(old) for old in sorted((old for old, _ in words), key=len, reverse=True)))


def substituted(texts: Sequence[Analysis], new: Mapping[str, str]) -> Rewritten | None:
    """The follow-up in which each token that is a key of `new` is replaced by its value, in all texts.

    None where nothing is replaced, or where a replaced word also stands inside a longer one: then the replacement
    could not be told from the texts alone, as the check of summaries has to.
    """
    made = tuple(
        text.replace({at: new[token.text] for at, token in enumerate(text.tokens) if token.text in new})
        for text in texts
    )
    there = {token.text for text in texts for token in text.tokens}
    words = tuple((old, one) for old, one in new.items() if old in there)
    if not words or any(replaced(text.text, words) != other for text, other in zip(texts, made, strict=True)):
        return None
    return Rewritten(made, words)


def exchanged(texts: Sequence[Analysis], words: Words) -> Rewritten | None:
    """The follow-up in which each old word, which may be several tokens (王女士), is replaced by its new one.

    None where nothing is replaced, or where an old word begins or ends inside a token: then it is part of a longer one.

    >>> exchanged([Analysis("王女士来了，王女士走了", "zh")], (("王女士", "李女士"),)).texts
    ('李女士来了，李女士走了',)
    >>> exchanged([Analysis("中国人民银行", "zh")], (("国人", "人"),)) is None
    True
    """
    there = tuple((old, new) for old, new in words if any(old in text.text for text in texts))
    if not there:
        return None
    for text in texts:
        starts, ends = {token.start for token in text.tokens}, {token.end for token in text.tokens}
        if any(found.start() not in starts or found.end() not in ends for found in _any_of(there).finditer(text.text)):
            return None
    return Rewritten(tuple(replaced(text.text, there) for text in texts), there)
