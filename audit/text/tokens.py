"""Tokens: words and marks with their places in a text."""

from dataclasses import dataclass, field

ACCENTS = "\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff"
r"""Combining marks, for classes of patterns: a decomposed letter is a letter and its marks, which `\w` leaves out."""


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


def words(text: str) -> frozenset[str]:
    """Return the words of a text as a set: lists of words read better in one line than as quoted literals."""
    return frozenset(text.split())
