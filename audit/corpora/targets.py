"""Corpora to translate: the texts of any corpus of single texts, each into some languages.

Named `CORPUS@es,fr`: each text is one source for each target language, and the sources of one text are one cluster.
Gold and scheme of the corpus's own task say nothing about translations and are left out.
"""

from collections.abc import Iterable, Iterator, Sequence

from audit.corpora.base import Corpus, Row, languages_of
from audit.errors import AuditError, BadFile
from audit.keys import fingerprint
from audit.language.iso639 import SPELLED, is_code
from audit.tasks import Input, get_task


def split_targets(name: str) -> tuple[str, tuple[str, ...]]:
    """A corpus name and the target languages behind its last @; none where what stands there are no codes.

    >>> split_targets("treebank@es,fr"), split_targets("me@home.csv")
    (('treebank', ('es', 'fr')), ('me@home.csv', ()))
    """
    base, at, codes = name.rpartition("@")
    found = tuple(dict.fromkeys(codes.split(",")))
    return (base, found) if at and base and all(SPELLED.fullmatch(code) for code in found) else (name, ())


def check_codes(codes: Sequence[str]) -> None:
    """Raises AuditError for what is no code of a language."""
    for code in codes:
        if not is_code(code):
            raise AuditError(f"language {code[:40]!r} is no code such as es, zh or pt-BR")


def check_targets(file: str, rows: Iterable[Row]) -> None:
    """Raises BadFile where a row of a user's file does not say which language its text is to be translated into."""
    for row in rows:
        target = row.input.target
        if target is None:
            raise BadFile(
                f"{file}: row {row.key!r} does not say which language to translate into; give every row one in a "
                "column target_language, or say --targets es,fr for the whole file"
            )
        if not is_code(target):
            found = f"row {row.key!r} has target_language {target[:40]!r}"
            raise BadFile(f"{file}: {found}, which is no code such as es, zh or pt-BR")


class Toward:
    """The texts of a corpus of single texts, each to be translated into every target language but its own.

    Raises AuditError for a corpus of pairs, for no or wrong targets, and where each is the corpus's own language.
    """

    task = "translation"
    has_gold = False

    def __init__(self, corpus: Corpus, targets: Sequence[str]):
        check_codes(targets)
        if get_task(corpus.task).texts != 1:
            raise AuditError(f"corpus {corpus.name} has pairs of texts; for translation take one of single texts")
        self.corpus = corpus
        self.languages = languages_of(corpus)
        self.targets = tuple(code for code in dict.fromkeys(targets) if self.languages != (code,))
        if not self.targets:
            raise AuditError(
                f"corpus {corpus.name} is in {corpus.language}; say other languages to translate into, as in "
                f"--targets {'es' if corpus.language != 'es' else 'en'}"
            )
        self.name = f"{corpus.name}@{','.join(self.targets)}"
        self.language, self.unit = corpus.language, corpus.unit
        self.summary = f"{corpus.summary}, to be translated into {', '.join(self.targets)}"

    def size(self) -> int | None:
        size = self.corpus.size()
        if size is None or len(self.languages) > 1:
            return size and sum(1 for _ in self.rows())
        return size * len(self.targets)

    def needs(self) -> str | None:
        return self.corpus.needs()

    def fingerprint(self) -> str:
        return fingerprint([self.corpus.fingerprint(), *self.targets])

    def rows(self) -> Iterator[Row]:
        for row in self.corpus.rows():
            language = row.input.languages[0]
            for target in self.targets:
                if target != language:
                    yield Row(
                        f"{row.key}@{target}",
                        Input.of(row.input.text, language=language, target=target),
                        cluster=row.cluster or row.key,
                        attributes={**row.attributes, "target_language": target},
                    )
