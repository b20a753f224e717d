"""A text, analysed once and lazily for every relation that looks at it."""

from collections.abc import Mapping, Sequence
from functools import cached_property

from audit.text.tokens import Token
from audit.text.tools import Spans, find_tools, spans, tag


class Analysis:
    """Tokens, tags and sentences of one text, each computed when it is first asked for. `tagger` says who finds the
    tokens; empty: the language's own tagger.

    >>> Analysis("It is good. I like it.").replace({3: "!"})
    'It is good! I like it.'
    """

    def __init__(self, text: str, language: str = "en", tagger: str = ""):
        self.text, self.language, self.tagger = text, language, tagger
        self._by_others: dict[str, Analysis] = {}

    def tagged_by(self, tagger: str) -> "Analysis":
        """Return the analysis of the same text by another tagger, kept with this one."""
        if tagger == self.tagger:
            return self
        if tagger not in self._by_others:
            self._by_others[tagger] = Analysis(self.text, self.language, tagger)
        return self._by_others[tagger]

    @cached_property
    def tokens(self) -> tuple[Token, ...]:
        """Tokens in order; contractions are split as in the Penn Treebank (is + n't)."""
        return tag(self.text, self.language, self.tagger)

    @classmethod
    def tag_all(cls, analyses: Sequence["Analysis"]) -> None:
        """Find the tokens of many texts at once, in the languages whose own tagger is faster so."""
        for language in dict.fromkeys(analysis.language for analysis in analyses):
            tools = find_tools(language)
            if tools and tools.tag_all:
                own = [analysis for analysis in analyses if (analysis.language, analysis.tagger) == (language, "")]
                for analysis, tokens in zip(own, tools.tag_all([analysis.text for analysis in own]), strict=True):
                    analysis.tokens = tokens

    @cached_property
    def low(self) -> tuple[str, ...]:
        """The tokens in order, in lower case and with straight apostrophes."""
        return tuple([token.low for token in self.tokens])

    @cached_property
    def words(self) -> frozenset[str]:
        """`low` without order: whether a text holds any word that a relation needs is asked before a walk over it."""
        return frozenset(self.low)

    @cached_property
    def spans(self) -> Spans:
        """(start, end) of each sentence; what lies between them is white space."""
        return spans(self.text, self.language)

    @cached_property
    def sentences(self) -> tuple["Analysis", ...]:
        """One analysis per sentence; a text of one sentence is its own sentence."""
        if self.spans == ((0, len(self.text)),):
            return (self,)
        return tuple(Analysis(self.text[start:end], self.language, self.tagger) for start, end in self.spans)

    def replace(self, new: Mapping[int, str]) -> str:
        """Return the text with some tokens (by index) replaced; "" deletes one with the white space before it."""
        parts: list[str] = []
        at = 0
        for index in sorted(new):
            token, word = self.tokens[index], new[index]
            before = self.text[at : token.start]
            parts += [before if word else before.rstrip(), word]
            at = token.end
        return "".join(parts) + self.text[at:]

    def replace_sentences(self, new: Mapping[int, str]) -> str:
        """Return the text with some sentences (by index) replaced; what stands between sentences stays."""
        parts: list[str] = []
        at = 0
        for index in sorted(new):
            start, end = self.spans[index]
            parts += [self.text[at:start], new[index]]
            at = end
        return "".join(parts) + self.text[at:]
