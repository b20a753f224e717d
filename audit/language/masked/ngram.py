"""Words by the two before and the two after, as they stand together in a running text: a proposer without a model."""

from collections.abc import Sequence
from functools import cached_property, lru_cache
from pathlib import Path

from audit.errors import NotInstalled
from audit.kept_arrays import Kept, made_once, say
from audit.keys import fingerprint
from audit.language.masked.base import Masked
from audit.language.masked.counts import COUNTING, Counts, count
from audit.language.masked.fitting import RULES, first_fitting, replaceable, tag_alone, tag_in_place
from audit.language.masked.running_text import Text, split
from audit.language.wordsets import words
from audit.resources import cache_folder

_NAMES = words("NNP NNPS")
"""Tags that a word has for its capital: one in lower case never has them."""


class NgramProposer:
    """Proposes what a running text has between the same neighbours.

    The text is counted once per machine and language, and the counts are kept in the cache; `version` names the text
    and how it is counted, as in `ngram(1f2e3d4c5b6a)`.
    """

    def __init__(self, text: Text):
        self.text = text
        self.name = f"ngram({text.name})"
        self.languages = text.languages

    @cached_property
    def version(self) -> str:
        return f"ngram({fingerprint([self.text.fingerprint(), COUNTING, RULES])})"

    def needs(self) -> str | None:
        return self.text.needs()

    def counts(self, language: str) -> Counts:
        """The counts of the text, its words split as those of this language; made where the cache has none.

        Raises NotInstalled or BadFile where the text cannot be read.
        """
        return _counts(self, language, cache_folder())

    def propose(self, masked: Sequence[Masked], language: str) -> list[str | None]:
        if self.languages != ("*",) and language not in self.languages:
            raise NotInstalled(f"{self.name} has no text in {language}; name a file of your own: ngram:FILE")
        counts = self.counts(language)
        return [self._proposed(counts, tokens, at, language) for tokens, at in masked]

    def _proposed(self, counts: Counts, tokens: tuple[str, ...], at: int, language: str) -> str | None:
        if not replaceable(tokens[at], language):
            return None
        tag = tag_in_place(tokens, at, language)
        low = [one.lower() for one in tokens[max(0, at - 2) : at + 3]]
        place = min(at, 2)
        ranked = counts.ranked(low[:place], low[place + 1 :], low[place], "" if tag in _NAMES else tag)
        return first_fitting(tokens, at, ranked, language)


@lru_cache(maxsize=4)
def _counts(proposer: NgramProposer, language: str, cache: Path) -> Counts:
    name = f"ngram-{language}"
    version = fingerprint([proposer.text.fingerprint(), COUNTING])

    def counted() -> Kept:
        say(f"counting the words of {proposer.text.name}, once; 6 million words take half a minute")
        lines = (split(line, language) for line in proposer.text.lines())
        return count(lines, lambda word: tag_alone(word, language)).as_kept(text=proposer.text.name)

    return Counts.of(made_once(name, version, cache, counted))
