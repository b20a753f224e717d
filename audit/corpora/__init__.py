"""Where sources come from: corpora of packages, NLTK's corpora, the user's files and copies of published corpora.

A new corpus is one class or function and one line that registers it in `audit.registry.corpora`, here or in a plug-in;
one that users have files of is registered with an argument.
"""

# ruff: noqa: I001 (several names a line)
from functools import cache
from pathlib import Path, PurePath

from audit.corpora.base import CORPORA, Corpus as Corpus, Row as Row, Unit as Unit
from audit.corpora.files import AS_IT_IS, FileCorpus as FileCorpus, Reading as Reading, is_file_name
from audit.corpora.recordings import RecordedTexts, Toward, check_targets, split_targets
from audit.errors import AuditError
from audit.tasks import matches

CORPORA.register(RecordedTexts.prefix, RecordedTexts, argument="FILE")


def all_corpora(task: str | None = None) -> list[Corpus]:
    """Return every registered corpus, in the order of registration; one of a plug-in that cannot be loaded is left
    out."""
    corpora = []
    for entry in CORPORA.entries():
        if not entry.argument:
            with CORPORA.tolerant(entry):
                corpora.append(_made(entry.name))
    return [corpus for corpus in corpora if matches(corpus.task, task)]


def get_corpus(
    name_or_path: str | Path,
    task: str | None = None,
    unit: Unit | None = None,
    language: str | None = None,
    reading: Reading = AS_IT_IS,
) -> Corpus:
    """Return a registered corpus of the task, the user's file, the user's copy of a published corpus (as in
    `paws-x:FILE`), or recorded translations (`recorded:PATH`); files are read and checked at once.

    `task` (sentiment, where it is not said), `unit` and `language` describe a file; for any other corpus they may only
    repeat what it is. For translation the languages to translate into are behind an @, or in a file's column
    `target_language`. Raises UnknownName, BadFile, BadRow, or AuditError for what the corpus does not have.

    >>> get_corpus("rotten-tomatoes@es,fr", "translation").targets
    ('es', 'fr')
    """
    name = str(name_or_path)
    base, targets = split_targets(name) if task in (None, "translation") else (name, ())
    prefix, path = _split(base)
    if prefix is None:
        if not is_file_name(base):
            names = [corpus.name for corpus in all_corpora(task)]
            with_file = [f"{entry.name}:{entry.argument}" for entry in CORPORA.entries() if entry.argument]
            raise CORPORA.unknown(name, [*names, *with_file])
        corpus = FileCorpus(base, "translation" if targets else task or "sentiment", unit, language, reading)
        if task == "translation" and not targets:
            check_targets(base, corpus.rows())
        return Toward(corpus, targets) if targets else corpus
    if reading != AS_IT_IS:
        raise AuditError(f"{name} has columns and labels of its own; columns and labels are for a file of yours: leave "
                         "them out", parameter=("columns", "labels"))  # fmt: skip
    if prefix == RecordedTexts.prefix:
        return _as_asked(RecordedTexts(path, language, unit=unit, targets=targets), task, None, None)
    corpus_there = _made(prefix, path, language, task) if path else _made(prefix)
    if targets:
        return Toward(_as_asked(corpus_there, None, unit, language), targets)
    if (task or corpus_there.task) == "translation" and not (path and corpus_there.task == "translation"):
        which = f"say which languages to translate corpus {name!r} into, as in {name}@es,fr or targets=es,fr"
        raise AuditError(which, parameter="targets")
    return _as_asked(corpus_there, task, unit, language)


@cache
def about_of(name: str) -> str:
    """Return what all texts of the registered corpus of this name are about, as "film"; empty for this and that, and
    for a corpus that nobody registered, such as a user's file."""
    if (entry := CORPORA.find(name)) is not None and not entry.argument:
        with CORPORA.tolerant(entry):
            return str(getattr(_made(name), "about", ""))
    return ""


def short_name(name: str) -> str:
    """Return the name of a corpus in a study: that of a file without its folder."""
    prefix, path = _split(name)
    return f"{prefix}:{PurePath(path).name}" if path else PurePath(name).name


def _split(name: str) -> tuple[str | None, str]:
    """Return the registered name in a name, None where none is, and the path of a file behind it."""
    base, colon, path = name.partition(":")
    entry = CORPORA.find(base)
    return (base, path) if entry is not None and bool(entry.argument) == bool(colon and path) else (None, "")


def _made(name: str, *of_file: str | None) -> Corpus:
    """Return the registered corpus of this name. Raises AuditError for one of a plug-in that cannot be made."""
    make = CORPORA.get(name)
    with CORPORA.guarded(name):
        corpus: Corpus = make(*of_file)
        return corpus


def _as_asked(corpus: Corpus, task: str | None, unit: Unit | None, language: str | None) -> Corpus:
    terms = {"task": None if matches(corpus.task, task) else task, "unit": unit, "language": language}
    for what, wanted in terms.items():
        if wanted is not None and wanted != (own := getattr(corpus, what)):
            raise AuditError(
                f"the {what} of corpus {corpus.name!r} is {own!r}, not {wanted!r}; leave it out or choose another"
            )
    return corpus


def listing(task: str | None = None) -> list[dict[str, object]]:
    """Return what the command `audit corpora` lists: one row per corpus; loads no corpus that is not installed."""
    return [
        {"corpus": corpus.name}
        | {name: getattr(corpus, name) for name in ("task", "language", "unit")}
        | {"size": corpus.size(), "gold": corpus.has_gold}
        | {"available": corpus.needs() is None, "needs": corpus.needs()}
        for corpus in all_corpora(task)
    ]
