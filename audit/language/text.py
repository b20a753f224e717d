"""A text, analysed once and lazily for every relation that looks at it."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property


@dataclass(frozen=True, slots=True)
class Token:
    """A word or punctuation mark: `text[start:end]` of its analysis, with its Penn Treebank tag."""

    text: str
    tag: str
    start: int
    end: int

    @property
    def lower(self) -> str:
        return self.text.lower()


class Analysis:
    """Tokens, tags and sentences of one text. Everything is computed when first asked for, then kept.

    >>> Analysis("It is good. I like it.").replace({3: "!"})
    'It is good! I like it.'
    """

    def __init__(self, text: str, language: str = "en"):
        self.text = text
        self.language = language

    @cached_property
    def tokens(self) -> tuple[Token, ...]:
        """Tokens in order; contractions are split as in the Penn Treebank (is + n't)."""
        from audit.language.tagging import tag

        return tag(self.text, self.language)

    @cached_property
    def spans(self) -> tuple[tuple[int, int], ...]:
        """(start, end) of each sentence; what lies between them is white space."""
        from audit.language.sentences import spans

        return spans(self.text, self.language)

    @cached_property
    def sentences(self) -> tuple["Analysis", ...]:
        """One analysis per sentence; a text of one sentence is its own sentence."""
        if len(self.spans) == 1 and self.spans[0] == (0, len(self.text)):
            return (self,)
        return tuple(Analysis(self.text[start:end], self.language) for start, end in self.spans)

    def replace(self, new: Mapping[int, str]) -> str:
        """The text with some tokens (by index) replaced; white space stays. An empty string deletes a token together
        with the white space before it."""
        parts: list[str] = []
        at = 0
        for index in sorted(new):
            token = self.tokens[index]
            before = self.text[at : token.start]
            parts.append(before if new[index] else before.rstrip())
            parts.append(new[index])
            at = token.end
        return "".join(parts) + self.text[at:]

    def replace_sentences(self, new: Mapping[int, str]) -> str:
        """The text with some sentences (by index) replaced; what stands between sentences stays."""
        parts: list[str] = []
        at = 0
        for index in sorted(new):
            start, end = self.spans[index]
            parts += [self.text[at:start], new[index]]
            at = end
        return "".join(parts) + self.text[at:]
