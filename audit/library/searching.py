"""Search for violations of a system in a notebook or a script."""

import tempfile
from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

from audit.errors import AuditError
from audit.library.components import Texts, corpus_of, system_names, using
from audit.options import spread
from audit.relations.registry import with_lines
from audit.runner.executors import executor_of
from audit.runner.options import CorpusOptions, SearchOptions
from audit.runner.progress import Bar
from audit.runner.search import SearchResult, searchable
from audit.runner.search import search as search_corpus
from audit.runner.studies import Later
from audit.user_models import checked_arguments


@spread
@checked_arguments
def search(
    corpus: Texts,
    system: object,
    *,
    store: str | Path | None = None,
    progress: bool = True,
    read: CorpusOptions = CorpusOptions(),
    options: SearchOptions = SearchOptions(workers=0),
) -> SearchResult:
    """The strongest violation of one system that relations, alone and one after the other, make of each source.

    Corpus and system are as of `run`; without `store` outputs are kept only until the search ends. The result has
    `found`, one entry a source, and `frame()`. It was searched for, not drawn: no rate comes from it. Raises AuditError
    for what cannot be searched.

    >>> def calm(text):
    ...     return "negative" if text.isupper() else "positive"
    >>> result = search(["A good film."], {"calm": calm}, ["MR1.4", "MR3.1"], budget=10, progress=False)
    >>> result.found[0].violation.relation
    'MR3.1'
    """
    texts = corpus_of(corpus, read)
    names = system_names([system] if isinstance(system, str) or not isinstance(system, Mapping) else system, texts)
    if len(names) != 1:
        raise AuditError(f"system has {len(names)} systems: {', '.join(names)}; search one at a time")
    options = replace(options, parameters=with_lines(texts.task, options.parameters))
    relations = searchable(texts, options)
    bar = Bar(texts.name, leave=False) if progress else nullcontext()
    with nullcontext(str(store)) if store is not None else tempfile.TemporaryDirectory(prefix="audit-") as place:
        database = Later(place if store is not None else str(Path(place) / "audit.db"))
        try:
            with executor_of(options) as executor, bar as watcher, using(names):
                return search_corpus(database, texts, names[0], relations, executor, options, watcher)
        finally:
            if "engine" in vars(database):
                database.engine.dispose()
