"""Search for violations of a system in a notebook or a script."""

import tempfile
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path

from sqlalchemy import Engine

from audit.corpora.base import Unit
from audit.corpora.files import Reading
from audit.errors import AuditError
from audit.library.components import Texts, corpus_of, system_names, using
from audit.relations import Fixed
from audit.relations.registry import with_lines
from audit.runner.budget import Budget
from audit.runner.executors import executor_of
from audit.runner.progress import Bar
from audit.runner.run import TIME_LIMIT, check_limits_used, fitting
from audit.runner.search import GREEDY, SearchRequest, SearchResult
from audit.runner.search import search as search_corpus
from audit.store import open_store
from audit.store.engine import file_of
from audit.user_models import checked_arguments


@checked_arguments
def search(
    corpus: Texts,
    system: object,
    relations: Sequence[str] | None = None,
    *,
    budget: int,
    depth: int = 2,
    method: str = GREEDY,
    width: int = 4,
    draws: int = 3,
    max_changed: float = 1.0,
    limit: int | None = None,
    seed: int = 0,
    store: str | Path | None = None,
    task: str | None = None,
    unit: Unit | None = None,
    language: str | None = None,
    columns: Mapping[str, str] | None = None,
    labels: Mapping[str, str] | None = None,
    parameters: Mapping[str, Mapping[str, object]] | None = None,
    valid: Sequence[str] = (),
    workers: int = 0,
    time_limit: float = TIME_LIMIT,
    max_calls: int | None = None,
    max_cost: float | None = None,
    progress: bool = True,
) -> SearchResult:
    """The strongest violation of one system that relations, alone and one after the other, make of each source.

    `budget` is the inputs that the system is asked about for a source, `depth` the most relations one after the other,
    `draws` the random choices of each that are tried, `max_changed` the largest share of words that may change;
    `method` goes on from the best candidate ("greedy") or the best `width` ("beam"). Other parameters are those of
    `run`; without `store` outputs are kept only until the search ends. The result has `found`, one entry a source, and
    `frame()`. It was searched for, not drawn: no rate comes from it. Raises AuditError for what cannot be searched.

    >>> def calm(text):
    ...     return "negative" if text.isupper() else "positive"
    >>> result = search(["A good film."], {"calm": calm}, ["MR1.4", "MR3.1"], budget=10, progress=False)
    >>> result.found[0].violation.relation
    'MR3.1'
    """
    texts = corpus_of(corpus, task, unit, language, None, Reading(columns or {}, labels or {}))
    names = system_names([system] if isinstance(system, str) or not isinstance(system, Mapping) else system, texts)
    if len(names) != 1:
        raise AuditError(f"system has {len(names)} systems: {', '.join(names)}; search one at a time")
    chosen = fitting(texts, relations, None, with_lines(texts.task, parameters or {}), valid)
    if relations is None:
        chosen = [relation for relation in chosen if isinstance(relation, Fixed)]
    check_limits_used(valid, [relation.name for relation in chosen])
    request = SearchRequest(
        budget=budget, depth=depth, method=method, width=width, draws=draws, max_changed=max_changed
    )
    bar = Bar(texts.name, leave=False) if progress else nullcontext()
    with nullcontext(str(store)) if store is not None else tempfile.TemporaryDirectory(prefix="audit-") as place:
        database = place if store is not None else str(Path(place) / "audit.db")
        file, engines = file_of(database), list[Engine]()

        def opened() -> Engine:
            if not engines:
                engines.append(open_store(database, create=True))
            return engines[0]

        try:
            with executor_of(workers) as executor, bar as watcher, using(names):
                return search_corpus(
                    opened, texts, names[0], chosen, executor, request,
                    seed=seed, limit=limit, watcher=watcher, time_limit=time_limit,
                    first=file is not None and not file.exists(), budget=Budget(max_calls, max_cost),
                )  # fmt: skip
        finally:
            for engine in engines:
                engine.dispose()
