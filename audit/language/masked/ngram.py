"""Words by the two before and the two after, as they stand together in a running text: a proposer that needs no model."""

from collections.abc import Sequence
from functools import cached_property, lru_cache
from pathlib import Path

from audit.errors import NotInstalled
from audit.keys import canonical, fingerprint
from audit.kept_arrays import made_once, say
from audit.language.masked.base import Masked
from audit.language.masked.counts import COUNTING, Counts, count
from audit.language.masked.fitting import first_fitting
from audit.language.masked.running_text import Text, split
from audit.resources import cache_folder


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
        return f"ngram({fingerprint([self.text.fingerprint(), canonical(dict(COUNTING))])})"

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
        low = [one.lower() for one in tokens[max(0, at - 2) : at + 3]]
        place = min(at, 2)
        ranked = counts.ranked(low[:place], low[place + 1 :], low[place])
        return first_fitting(tokens, at, ranked, language)


@lru_cache(maxsize=4)
def _counts(proposer: NgramProposer, language: str, cache: Path) -> Counts:
    name = f"ngram-{language}"
    version = fingerprint([proposer.version])

    def counted():
        say(f"counting the words of {proposer.text.name}, once; 6 million words take half a minute")
        return count(split(line, language) for line in proposer.text.lines()).as_kept(text=proposer.text.name)

    return Counts.of(made_once(name, version, cache, counted))
