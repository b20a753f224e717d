"""Which script a Chinese text is in: our word lists are simplified, and a word of one script is wrong in the other."""

from functools import cache

from audit.errors import NotInstalled

_SHARE = 20
"""A text is traditional where more than one in this many of its characters is. Names in a simplified text may hold one
or two (乾, 著); of a traditional text more than a quarter are not simplified ones."""


def is_traditional(text: str) -> bool:
    """Whether a text is written in traditional characters, by OpenCC's conversion.

    Raises NotInstalled where OpenCC is absent.

    >>> is_traditional("總統發表談話"), is_traditional("总统发表谈话"), is_traditional("Hello")
    (True, False, False)
    """
    letters = sum(letter.isalpha() for letter in text)
    return _changed(text) * _SHARE > letters


def _changed(text: str) -> int:
    simplified = _converter().convert(text)
    if simplified == text:
        return 0
    return sum(one != other for one, other in zip(text, simplified, strict=False)) + abs(len(text) - len(simplified))


@cache
def _converter():
    try:
        from opencc import OpenCC
    except ImportError as problem:
        raise NotInstalled('Chinese scripts need OpenCC; run: pip install "audit[chinese]"') from problem
    return OpenCC("t2s")
