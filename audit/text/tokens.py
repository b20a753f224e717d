"""Tokens: words and marks with their places in a text."""

from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Token:
    """A word or punctuation mark: `text[start:end]` of its analysis, with its tag: of the Penn
    Treebank for English, of the People's Daily corpus for Chinese."""

    text: str
    tag: str
    start: int
    end: int
    lower: str = field(init=False, repr=False, compare=False)
    """The text in lower case: relations ask for it dozens of times, so it is made once."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "lower", self.text.lower())

    @property
    def low(self) -> str:
        """The text in lower case and with a straight apostrophe."""
        return self.lower.replace("’", "'")


class Untagged(Token):
    """A token that asks for its tag when somebody wants to know it.

    >>> Untagged("film", 0, 4, lambda: Token("film", "NN", 0, 4)).tag
    'NN'
    """

    __slots__ = ("_tagged",)
    _tagged: Callable[[], Token]

    def __init__(self, text: str, start: int, end: int, tagged: Callable[[], Token]):
        keep = object.__setattr__
        keep(self, "text", text)
        keep(self, "start", start)
        keep(self, "end", end)
        keep(self, "lower", text.lower())
        keep(self, "_tagged", tagged)

    @property
    def tag(self) -> str:
        """Of the token as it is tagged."""
        return tagged(self).tag


def tagged(token: Token) -> Token:
    """The token as its tagger has it, with its place in a tree where there is one."""
    return token._tagged() if isinstance(token, Untagged) else token


def words(text: str) -> frozenset[str]:
    """The words of a text as a set: lists of words read better in one line than as quoted literals.

    >>> sorted(words("is are"))
    ['are', 'is']
    """
    return frozenset(text.split())
