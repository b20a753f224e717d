"""The texts that engines were once asked to translate, each toward the languages it was translated into.

Named `recorded:PATH`, as the systems that answer from the same files are (`audit.systems.recorded`); with some of the
languages behind an @ (`recorded:PATH@es,fr`), the texts that were translated into those.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

from audit.corpora.base import Row, Unit
from audit.corpora.files import unit_of
from audit.corpora.recordings import Ask, read_recording
from audit.errors import AuditError
from audit.keys import canonical, digest, fingerprint
from audit.tasks import Input


class RecordedTexts:
    """Every original of a recording once for each language it was translated into, by whichever engine. What stands
    between the two steps of a recorded chain is no original.

    A corpus has one language: that of the originals, or the one that is asked for where they have several. Raises
    BadFile for what is wrong with the files, AuditError for languages that they do not have.
    """

    prefix = "recorded"
    task = "translation"
    has_gold = False
    version = "1"

    def __init__(
        self,
        path: str | Path,
        language: str | None = None,
        unit: Unit | None = None,
        targets: Sequence[str] = (),
    ):
        self.path = Path(path)
        recording = read_recording(path)
        languages = recording.source_languages()
        if language is None and len(languages) > 1:
            raise AuditError(
                f"{self.path} has texts in {', '.join(languages)}; say which of them are the originals, as in "
                f"--language {languages[0]}"
            )
        self.language = language or languages[0]
        self._texts = [(ask, text) for ask, text in recording.originals.items() if ask.source_language == self.language]
        if not self._texts:
            raise AuditError(
                f"{self.path} has no texts in {self.language!r} that somebody translated, it has some in "
                f"{', '.join(languages)}"
            )
        there = sorted({ask.target_language for ask, _ in self._texts})
        if absent := [code for code in targets if code not in there]:
            raise AuditError(
                f"{self.path} has no translations from {self.language} into {absent[0]!r}; there are some into "
                f"{', '.join(there)}"
            )
        if targets:
            self._texts = [(ask, text) for ask, text in self._texts if ask.target_language in targets]
        self.targets = tuple(code for code in there if not targets or code in targets)
        self.name = f"{self.prefix}:{self.path.name or self.path.resolve().name}" + (
            f"@{','.join(targets)}" if targets else ""
        )
        self._rows = [_row(ask, text) for ask, text in self._texts]
        self.unit: Unit = unit or unit_of(self._rows)
        self.summary = f"{len(self._rows):,} recorded texts with a language they were translated into, of {self.path}"

    def needs(self) -> str | None:
        return None

    def size(self) -> int | None:
        return len(self._rows)

    def fingerprint(self) -> str:
        """Names the texts and languages, whatever their order."""
        parts = sorted(canonical([row.key, *row.input.texts, *row.input.languages]) for row in self._rows)
        return f"{fingerprint(parts)}.{self.version}"

    def rows(self) -> Iterator[Row]:
        return iter(self._rows)


def _row(ask: Ask, text: str) -> Row:
    """A source, keyed by content: the same text has the same key in every file."""
    cluster = digest(ask.source_language, ask.key).hex()[:16]
    return Row(
        f"{cluster}@{ask.target_language}",
        Input.of(text, language=ask.source_language, target=ask.target_language),
        cluster=cluster,
        attributes={"target_language": ask.target_language},
    )
