"""What a run would ask of its systems, and what that costs, without asking any.

Groups that are the same for every system are made, as a run makes them: what they want is known exactly. Those that
look at a system's outputs on the way are followed as far as outputs are stored: the numbers are then at least.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from typing import Any

from sqlalchemy import Connection, Engine

from audit.corpora.base import languages_of
from audit.relations import Relation
from audit.runner.batch import is_asynchronous
from audit.runner.budget import Meter, Sending, meter_of
from audit.runner.chunk import Bound, Chunk, source_of
from audit.runner.dispatch import Asked, AskedAgain, Outputs
from audit.runner.executors import Executor
from audit.runner.fitting import Lacks, asked_once, fitted_to, lacks_of, loaded, refuse_misfits
from audit.runner.options import ONCE, RunOptions
from audit.runner.run import begin_chunk, finish_planning
from audit.runner.studies import CHUNK, Sampled
from audit.runner.trials import own_id, stored_trials
from audit.store import pieces
from audit.store.outcomes import find_inputs
from audit.systems.base import System
from audit.tasks import Input, Output


class _Forecast:
    """What a run would ask of a system; it grows while the run is followed."""

    def __init__(self, system: System, connection: Connection | None, options: RunOptions):
        self.of, self.meter, self._connection, self._retry = system, Meter(system), connection, options.retry_errors
        self.times = 1 if asked_once(system) else options.repeats
        self.id = None if connection is None else own_id(connection, system)
        self.sending, self.hanging = Sending(), Counter[str]()
        self.wanted, self.known, self.to_ask = set[bytes](), set[bytes](), 0

    def add(self, inputs: Mapping[bytes, Input], lacks: Lacks | None) -> Outputs:
        """Add inputs that are wanted together; return the outputs that are stored of them, or need no asking."""
        absent = {key: Output() for key, item in inputs.items() if lacks and lacks(item)}
        to_ask, stored = {key: range(self.times) for key in inputs if key not in absent}, Outputs()
        if self._connection is not None and self.id is not None:
            ids = find_inputs(self._connection, list(to_ask))
            stored, lacking = Asked(self.id, self._retry).find(self._connection, ids)
            if self.times > 1:
                again = AskedAgain(self.id, self._retry, number=self.times)
                lacking = again.find(self._connection, ids, only_read=True)[1]
            to_ask = {key: lacking.get(key, own) for key, own in to_ask.items() if key not in ids or key in lacking}
        new = {key: own for key, own in to_ask.items() if key not in self.wanted}
        self.wanted.update(inputs.keys() - absent.keys())
        self.known.update(stored)
        self.to_ask += len(new)
        for number in range(max(map(len, new.values()), default=0)):
            self.sending += self.meter.of([inputs[key] for key, calls in new.items() if len(calls) > number])
        return stored | absent

    def document(self) -> dict[str, Any]:
        price, rate, sending = self.meter.price, getattr(self.of, "rate", None), self.sending
        return {
            "system": self.of.name,
            "version": self.of.version,
            "inputs": len(self.wanted),
            "stored": len(self.known),
            "to_ask": self.to_ask,
            "hanging": dict(self.hanging),
            "calls": sending.calls if meter_of(self.of) is not None else None,
            "characters": sending.characters,
            "tokens": round(sending.tokens),
            "tokens_counted": self.meter.counts_tokens,
            "cost": sending.cost if price else None,
            "currency": price.currency if price else None,
            "seconds": sending.calls / rate if is_asynchronous(self.of) and rate else None,
            "exact": not self.hanging,
        }


def forecasts(
    studies: Sequence[tuple[Sampled, Sequence[Relation]]],
    systems: Sequence[str],
    executor: Executor,
    engine: Engine | None = None,
    options: RunOptions = ONCE,
) -> list[dict[str, Any]]:
    """Return what runs of these systems on these studies, one after the other, would ask of each of them, as `audit run
    --dry-run` has it in JSON. `engine` is the database that the runs would use, which is only read; None: there is none
    yet. Raises what `audit.runner.run.run` raises before it asks a system.

    `inputs` are distinct ones, `stored` those whose outputs are there already, `to_ask` the others. `hanging` are the
    groups, by relation, that want more, depending on what the system will say. A system on this machine makes no
    requests: `calls` is None for it, as is `seconds`, how long it takes at least at its rate. `tokens_counted`: by the
    system's own tokenizer, else a token is taken to have four characters. `cost` is None where its file has no price.
    """
    by_spec = loaded(systems, options.time_limit, studies[0][0].corpus.task)
    for sampled, relations in studies:
        refuse_misfits(sampled.corpus, by_spec, relations)
    with nullcontext() if engine is None else engine.connect() as connection:
        forecast_of = {spec: _Forecast(system, connection, options) for spec, system in by_spec.items()}
        if engine is not None:
            for trial in stored_trials(engine, by_spec, studies[0][0].corpus.task, options.repeats > 1):
                forecast_of[trial.spec].sending += forecast_of[trial.spec].meter.of(list(trial.inputs.values()))
        for sampled, relations in studies:
            _follow_study(sampled, relations, list(forecast_of.values()), executor)
    return [each.document() for each in forecast_of.values()]


def _follow_study(
    sampled: Sampled, relations: Sequence[Relation], systems: Sequence[_Forecast], executor: Executor
) -> None:
    bound = [Bound(number, relation) for number, relation in enumerate(relations, start=1)]
    lacks = [lacks_of(each.of, languages_of(sampled.corpus)) for each in systems]
    fitted, size = fitted_to(sampled, relations), CHUNK[sampled.corpus.unit]
    for rows in pieces(enumerate(row for _, row in sampled.sources), size):
        sources = {place: source_of(row.input, f"{sampled.seed}:{row.key}") for place, row in rows}
        chunk = Chunk([0], sources, dict.fromkeys(range(len(systems)), bound), fitted)
        finish_planning(executor, chunk, begin_chunk(executor, chunk))
        while wanted := chunk.wanted():
            chunk.take({number: systems[number].add(items, lacks[number]) for number, items in wanted.items()})
        for group in chunk.hanging:
            systems[group.system].hanging[group.relation.name] += 1
