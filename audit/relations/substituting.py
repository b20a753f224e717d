"""Words of a source's texts replaced by others: the same word by the same one wherever it stands."""

import re
from collections.abc import Mapping, Sequence

from audit.language import Analysis
from audit.relations.base import Rewritten, Words


def replaced(text: str, words: Words) -> str:
    """The text with every old word replaced by its new one, all at once, the longest first.

    >>> replaced("甲说乙，乙说甲", (("甲", "乙"), ("乙", "甲")))
    '乙说甲，甲说乙'
    """
    if not words:
        return text
    new = dict(words)
    pattern = "|".join(re.escape(old) for old in sorted(new, key=len, reverse=True))
    return re.sub(pattern, lambda found: new[found.group()], text)


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
