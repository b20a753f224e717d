"""Before a run: try a system on a few texts, and say what a run would ask and cost."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pandas as pd

from audit.library.components import Texts, corpus_of, system_names, using
from audit.options import spread
from audit.relations.registry import with_lines
from audit.runner.executors import executor_of
from audit.runner.fitting import fitting_all
from audit.runner.forecast import forecasts
from audit.runner.options import TIME_LIMIT, CorpusOptions, RunOptions
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
    named = corpus_of(list(texts) or list(TEXTS["en"]), CorpusOptions(task=task if task != "translation" else None))
    (name,) = system_names([system], named)
    with using([name]):
        return check(name, texts=texts, task=task, limit=time_limit, apart=False)


@spread
@checked_arguments
def forecast(
    corpus: Texts,
    systems: object,
    *,
    store: str | Path | None = None,
    read: CorpusOptions = CorpusOptions(),
    options: RunOptions = RunOptions(workers=0),
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
    texts = corpus_of(corpus, read)
    names = system_names(systems, texts)
    options = replace(options, parameters=with_lines(texts.task, options.parameters))
    (fitting,) = fitting_all([texts], options)
    engine = readable(str(store)) if store is not None else None
    with executor_of(options) as executor:
        study = Sampled(texts, options.seed, options.limit), fitting
        rows = forecasts([study], names, executor, engine, options)
    return pd.DataFrame([row.as_json() for row in rows])
