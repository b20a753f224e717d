"""A text, analysed once and lazily for every relation that looks at it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property


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


class Analysis:
    """Tokens, tags and sentences of one text. Everything is computed when first asked for, then kept.

    >>> Analysis("It is good. I like it.").replace({3: "!"})
    'It is good! I like it.'
    """

    def __init__(self, text: str, language: str = "en", tagger: str = ""):
        self.text = text
        self.language = language
        self.tagger = tagger
        """Who finds the tokens; empty: the language's own tagger."""
        self._by_others: dict[str, Analysis] = {}

    def tagged_by(self, tagger: str) -> "Analysis":
        """The analysis of the same text by another tagger, kept with this one."""
        if tagger == self.tagger:
            return self
        if tagger not in self._by_others:
            self._by_others[tagger] = Analysis(self.text, self.language, tagger)
        return self._by_others[tagger]

    @cached_property
    def tokens(self) -> tuple[Token, ...]:
        """Tokens in order; contractions are split as in the Penn Treebank (is + n't)."""
        from audit.language.tagging import tag

        return tag(self.text, self.language, self.tagger)

    @cached_property
    def low(self) -> tuple[str, ...]:
        """The tokens in order, in lower case and with straight apostrophes.

        >>> Analysis("It isn’t.").low
        ('it', 'is', "n't", '.')
        """
        return tuple([token.lower.replace("’", "'") for token in self.tokens])

    @cached_property
    def words(self) -> frozenset[str]:
        """`low` without order: whether a text holds any word that a relation needs is asked before a walk over it."""
        return frozenset(self.low)

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
        return tuple(Analysis(self.text[start:end], self.language, self.tagger) for start, end in self.spans)

    def replace(self, new: Mapping[int, str]) -> str:
        """The text with some tokens (by index) replaced; white space stays. An empty string deletes a token together
        with the white space before it."""
        parts: list[str] = []
        at = 0
        text, tokens = self.text, self.tokens
        for index in sorted(new):
            token, word = tokens[index], new[index]
            before = text[at : token.start]
            parts += [before if word else before.rstrip(), word]
            at = token.end
        return "".join(parts) + text[at:]

    def replace_sentences(self, new: Mapping[int, str]) -> str:
        """The text with some sentences (by index) replaced; what stands between sentences stays."""
        parts: list[str] = []
        at = 0
        for index in sorted(new):
            start, end = self.spans[index]
            parts += [self.text[at:start], new[index]]
            at = end
        return "".join(parts) + self.text[at:]


# Closed classes of English words that several modules ask for; all lower-case.


def words(text: str) -> frozenset[str]:
    """The words of a text as a set: lists of words read better in one line than as quoted literals.

    >>> sorted(words("is are"))
    ['are', 'is']
    """
    return frozenset(text.split())


BE_FINITE = words("is are was were am")
MODALS = words("can could will would shall should may might must")
NOMINATIVES = words("i he she it we they")
NEGATIONS = words(
    "not no never none nobody nothing nowhere neither nor n't n’t cannot ain without hardly barely scarcely rarely "
    "seldom few little dont doesnt didnt isnt wasnt wont cant aint lack lacks lacking less least fails fail failed"
)
QUOTES = frozenset("\"“”'‘’`")
QUOTING = QUOTES - frozenset("'’")
"""Marks that only quote: no apostrophes."""
# Words after which a new clause has its own subject.
SUBORDINATORS = words(
    "if while although though because when whenever as since until unless once after before whereas whether where "
    "why how what which who whom whose that than despite lest"
)


# How the Penn Treebank writes signs that mean something else in its files.

ESCAPED = {"-LRB-": "(", "-RRB-": ")", "-LCB-": "{", "-RCB-": "}", "-LSB-": "[", "-RSB-": "]", "``": '"', "''": '"'}
"""Name -> the sign."""
BRACKETS = {name: sign for name, sign in ESCAPED.items() if sign != '"'}
"""Brackets only: quotation marks have two names each."""
