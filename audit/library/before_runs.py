"""Before a run: try a system on a few texts, and say what a run would ask and cost."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import pandas as pd

from audit.corpora.base import Unit
from audit.library.components import Texts, corpus_of, system_names, using
from audit.relations.registry import with_lines
from audit.runner.executors import executor_of
from audit.runner.forecast import forecasts
from audit.runner.run import TIME_LIMIT, fitting_all
from audit.runner.studies import Sampled
from audit.runner.system_check import TEXTS, SystemCheck
from audit.runner.system_check import check_system as check
from audit.store.engine import readable
from audit.user_models import checked_arguments


@checked_arguments
def check_system(
    system: object, texts: Sequence[str] = (), *, task: str | None = None, time_limit: float = TIME_LIMIT
) -> SystemCheck:
    """Ask a system about a few texts, each alone, and store nothing: what it said, its outputs, seconds, what it costs.

    `system` is anything that `run` takes; without `texts` it is asked about three of ours. For a task on pairs every
    two texts are one. Raises AuditError for a system that cannot be asked; one that fails says so in its answers.

    >>> checked = check_system("vader", ["A good film."])
    >>> checked.works, checked.answers[0].label
    (True, 'positive')
    """
    named = corpus_of(list(texts) or list(TEXTS["en"]), task if task != "translation" else None, None, None, None)
    (name,) = system_names([system], named)
    with using([name]):
        return check(name, texts=texts, task=task, limit=time_limit, apart=False)


@checked_arguments
def forecast(
    corpus: Texts,
    systems: object,
    relations: str | Sequence[str] | None = None,
    *,
    limit: int | None = None,
    seed: int = 0,
    store: str | Path | None = None,
    task: str | None = None,
    unit: Unit | None = None,
    language: str | None = None,
    parameters: Mapping[str, Mapping[str, object]] | None = None,
    valid: Sequence[str] = (),
    workers: int = 0,
) -> pd.DataFrame:
    """What `run` with the same arguments would ask of each system, and what it costs, without asking any.

    Columns: system, version, inputs (distinct ones), stored (of these, in `store`), to_ask, most_to_ask, hanging
    (groups by relation that want more, depending on what the system will say), calls (requests to another machine),
    batch, characters, tokens, tokens_counted (else four characters are taken for one), cost, currency, concurrency,
    rounds, seconds (at its rate), exact. Nothing is stored. Raises what `run` raises before it asks a system.

    >>> forecast(["A good film.", "A bad film."], ["vader"], ["MR3.1"])[["system", "inputs", "to_ask", "exact"]]
      system  inputs  to_ask  exact
    0  vader       4       4   True
    """
    texts = corpus_of(corpus, task, unit, language, None)
    names = system_names(systems, texts)
    (fitting,) = fitting_all([texts], relations, params=with_lines(texts.task, parameters or {}), valid=valid)
    engine = readable(str(store)) if store is not None else None
    with executor_of(workers) as executor:
        rows = forecasts([(Sampled(texts, seed, limit), fitting)], names, executor, engine)
    return pd.DataFrame([row.as_json() for row in rows])
