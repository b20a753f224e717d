"""What a run would ask of its systems, and what that costs, without asking any.

Groups that are the same for every system are made, as a run makes them: what they want is known exactly. Those that
look at a system's outputs on the way are followed as far as outputs are stored: the numbers are then at least.
"""

from collections import Counter, deque
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from sqlalchemy import Engine

from audit.corpora.base import languages_of
from audit.relations import Relation
from audit.runner import system_runner
from audit.runner.batch import Lacks, is_asynchronous
from audit.runner.budget import Meter, Sending, meter_of
from audit.runner.chunk import Bound, Chunk, Planning, source_of
from audit.runner.dispatch import Asked, Lacking
from audit.runner.executors import Executor
from audit.runner.fitting import asked_once, fitted_to, lacks_of, refuse_misfits
from audit.runner.options import ONCE, RunOptions
from audit.runner.run import planned_groups
from audit.runner.studies import CHUNK, Sampled
from audit.store.outcomes import find_inputs
from audit.systems.base import System
from audit.tasks import Input, Output


@dataclass
class _Forecast:
    """What a run would ask of a system; it grows while the run is followed."""

    of: System
    asked: Asked | None  # What is stored of it; None: nothing
    repeats: int
    meter: Meter
    sending: Sending = field(default_factory=Sending)
    wanted: set[bytes] = field(default_factory=set)
    known: set[bytes] = field(default_factory=set)
    to_ask: int = 0
    hanging: Counter[str] = field(default_factory=Counter)
    lacks: Lacks | None = None

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

    def add(self, inputs: Mapping[bytes, Input], engine: Engine | None) -> dict[bytes, Output]:
        """Add inputs that are wanted together; return the outputs that are stored of them, or need no asking."""
        absent = dict.fromkeys((key for key, item in inputs.items() if self.lacks and self.lacks(item)), Output())
        inputs = {key: item for key, item in inputs.items() if key not in absent}
        found, lacking = self.look_up(inputs, engine)
        new = {key: item for key, item in inputs.items() if key not in self.wanted}
        self.wanted.update(new)
        self.known.update(found)
        to_ask = {key: len(numbers) for key, numbers in lacking.items() if key in new}
        self.to_ask += len(to_ask)
        for number in range(max(to_ask.values(), default=0)):
            self.sending += self.meter.of([new[key] for key, calls in to_ask.items() if calls > number])
        return found | absent

    def look_up(self, inputs: Mapping[bytes, Input], engine: Engine | None) -> tuple[dict[bytes, Output], Lacking]:
        """Return the stored outputs of inputs, and the calls that are to be made on them."""
        lacking = dict.fromkeys(inputs, range(self.repeats))
        if engine is None or self.asked is None:
            return {}, lacking
        with engine.connect() as connection:  # nothing is committed
            ids = find_inputs(connection, list(inputs))
            found, calls = Asked(self.asked.id, retry=self.asked.retry).find(connection, ids)
            if self.repeats > 1:
                calls = self.asked.find(connection, ids)[1]
        return found, {key: calls.get(key, those) for key, those in lacking.items() if key not in ids or key in calls}


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
    by_spec = system_runner.loaded(systems, options.time_limit)
    for sampled, relations in studies:
        refuse_misfits(sampled.corpus, by_spec, relations)
    made: dict[str, _Forecast] = {}
    for spec, system in by_spec.items():
        own, repeats = None, 1 if asked_once(system) else options.repeats
        if engine is not None:
            with engine.connect() as connection:
                own = system_runner.own_id(connection, system)
        asked = None if own is None else Asked(own, repeats, options.retry_errors)
        made[spec] = _Forecast(system, asked, repeats, Meter(system))
    if engine is not None:
        for trial in system_runner.stored_trials(engine, by_spec, studies[0][0].corpus.task, options.repeats > 1):
            made[trial.spec].sending += made[trial.spec].meter.of(list(trial.inputs.values()))
    for sampled, relations in studies:
        _follow_study(sampled, relations, list(made.values()), engine, executor)
    return [one.document() for one in made.values()]


def _follow_study(
    sampled: Sampled,
    relations: Sequence[Relation],
    made: Sequence[_Forecast],
    engine: Engine | None,
    executor: Executor,
) -> None:
    # First what each system answers before a run.
    inputs = [row.input for _, row in sampled.sources[: system_runner.MOST_LOOKED_AT]]
    for one in made:
        one.lacks = lacks_of(one.of, languages_of(sampled.corpus))
        for trial in system_runner.trials({"": one.of}, {"": one.lacks}, inputs):
            if not one.look_up(trial.inputs, engine)[0]:
                one.add(trial.inputs, None)
    bound = [Bound(number, relation) for number, relation in enumerate(relations, start=1)]
    fitted, size = fitted_to(sampled, relations), CHUNK[sampled.corpus.unit]
    rows = enumerate(row for _, row in sampled.sources)
    underway: deque[tuple[Chunk, Planning, Future[Any]]] = deque()
    while (some := list(islice(rows, size))) or underway:
        if some:
            sources = {place: source_of(row.input, f"{sampled.seed}:{row.key}") for place, row in some}
            chunk = Chunk(0, sources, dict.fromkeys(range(len(made)), bound), fitted)
            underway.append((chunk, job := chunk.planning(), executor.submit(job)))
        if len(underway) <= executor.places and some:
            continue
        chunk, job, future = underway.popleft()
        chunk.planned(planned_groups(executor, job, future))
        while wanted := chunk.wanted():
            chunk.take({number: made[number].add(items, engine) for number, items in wanted.items()})
        for number, relation in chunk.hanging():
            made[number].hanging[relation.name] += 1
