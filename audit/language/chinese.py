"""Words of Chinese text with tags of the People's Daily corpus (`audit.language.chinese_tags`), by a tagger of choice.

A tagger's name is `jieba`, which needs nothing but its package, or `hanlp:MODEL`: a directory (one that `audit hanlp
train` made, for instance) or a name that `hanlp.load` knows. `TAGGERS` says who makes them.
"""

from collections.abc import Callable
from functools import cache
from typing import Protocol

from audit.errors import UnknownName
from audit.language.text import Token

DEFAULT = "jieba"


class Tagger(Protocol):
    """Finds the words of Chinese texts. The same text has the same words for ever, as long as `version` is the same."""

    version: str
    """Names everything that words and tags depend on, in a few words."""

    def __call__(self, text: str) -> tuple[Token, ...]:
        """Tokens in order, each with `text[start:end]` and a tag of the People's Daily corpus; together they are
        everything but the white space of the text."""
        ...


def chinese(text: str, tagger: str = DEFAULT) -> tuple[Token, ...]:
    """Tokens of a Chinese text by the tagger of this name; white space is none.

    Raises UnknownName for a tagger that is not known, NotInstalled where its package or its model is absent,
    AuditError for a model that finds no words and tags.

    >>> [token.text for token in chinese("我来到北京清华大学。")]
    ['我', '来到', '北京', '清华大学', '。']
    """
    return tagger_of(tagger)(text)


def version_of(tagger: str = DEFAULT) -> str:
    """What the tokens of this tagger depend on: its package and version, of a model in a directory its files.

    Raises as `chinese` does.

    >>> version_of("jieba").startswith("jieba 0.42")
    True
    """
    return tagger_of(tagger).version


@cache
def tagger_of(name: str) -> Tagger:
    """The tagger of this name, made once in a process; raises as `chinese` does."""
    kind, colon, model = name.partition(":")
    if kind not in TAGGERS or bool(colon) != (kind in _WITH_MODEL) or (colon and not model):
        raise UnknownName("tagger", name, [f"{one}:MODEL" if one in _WITH_MODEL else one for one in TAGGERS])
    return TAGGERS[kind](model)


def _jieba(_: str) -> Tagger:
    from audit.language.jieba_tagger import JiebaTagger

    return JiebaTagger()


def _hanlp(model: str) -> Tagger:
    from audit.language.hanlp_tagger import HanlpTagger

    return HanlpTagger(model)


TAGGERS: dict[str, Callable[[str], Tagger]] = {"jieba": _jieba, "hanlp": _hanlp}
_WITH_MODEL = frozenset({"hanlp"})
