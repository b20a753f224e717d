"""Words as the package SnowNLP finds them (a generative model of characters, trained on the People's Daily of 1998):
what its two systems stand on."""

from functools import lru_cache

from audit.systems.installed import missing

KEPT = 50_000
"""Pieces of text whose words a process remembers: the package needs 0.2 ms a character, and a follow-up shares most
of its pieces with its source."""


def needs() -> str | None:
    """None when the package is there, else the line that installs it."""
    return missing("snownlp", 'pip install "audit[chinese]"')


def pieces(text: str) -> list[str]:
    """The text cut at line ends and at ，。？！；, which are gone, and without empty pieces.

    >>> pieces("他来了，她走了。")
    ['他来了', '她走了']
    """
    from snownlp import normal

    return normal.get_sentences(text)


@lru_cache(maxsize=KEPT)
def words(piece: str) -> tuple[str, ...]:
    """Words of a piece, without the package's stop words and punctuation.

    >>> words("我在北京工作")
    ('北京', '工作')
    """
    from snownlp import normal, seg

    return tuple(normal.filter_stop(seg.seg(piece)))
