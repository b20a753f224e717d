"""Simplified and traditional Chinese characters, told apart by OpenCC."""

from functools import cache, lru_cache

from audit.errors import NotInstalled

_MISSING = 'Chinese needs OpenCC; run: pip install "audit[chinese]"'


@lru_cache(maxsize=64)  # all relations of a task ask about the same texts, one after the other
def is_traditional(text: str) -> bool:
    """Whether a text is written in traditional characters: more of its characters have another simplified form than
    have another traditional one.

    A name in traditional characters does not make a simplified text a traditional one; characters that are the same
    in both say nothing. Raises NotInstalled without OpenCC.

    >>> is_traditional("這是繁體中文。"), is_traditional("这是简体中文。"), is_traditional("一二三")
    (True, False, False)
    """
    if text.isascii():
        return False
    simplified, traditional = _converters()
    return _changes(text, simplified.convert(text)) > _changes(text, traditional.convert(text))


def _changes(text: str, other: str) -> int:
    """How many characters are others: a conversion keeps the number of characters, or nearly so."""
    return sum(one != two for one, two in zip(text, other, strict=False)) if text != other else 0


@cache
def _converters():
    try:
        from opencc import OpenCC
    except ImportError as problem:
        raise NotInstalled(_MISSING) from problem
    return OpenCC("t2s"), OpenCC("s2t")


def simplified(text: str) -> str:
    """The text in simplified characters. Raises NotInstalled without OpenCC.

    >>> simplified("我們常常一起上學")
    '我们常常一起上学'
    """
    return text if text.isascii() else _converters()[0].convert(text)
