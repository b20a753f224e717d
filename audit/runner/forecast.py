"""What a run would ask of its systems, and what that costs, without asking any.

Groups that are the same for every system are made, as a run makes them: what they want is known exactly. Those that
look at a system's outputs on the way are followed as far as outputs are stored: the numbers are then at least.
"""

from collections import Counter, deque
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from dataclasses import asdict, dataclass, field
from itertools import islice
from typing import Any

from sqlalchemy import Engine

from audit.corpora.base import languages_of
from audit.relations import Relation
from audit.runner import preflight
from audit.runner.budget import Meter, Sending, meter_of
from audit.runner.chunk import Bound, Chunk, Planning, source_of
from audit.runner.executors import Executor
from audit.runner.fitting import lacks_of, refuse_misfits
from audit.runner.options import ONCE, RunOptions
from audit.runner.repeats import AskedOnce, AskedRepeatedly, Lacking, asked_once
from audit.runner.run import fitted_to, planned_groups
from audit.runner.studies import CHUNK, Sampled
from audit.runner.system_runner import loaded
from audit.store.outcomes import find_inputs
from audit.systems.base import System
from audit.tasks import Input, Output


@dataclass(frozen=True)
class Forecast:
    """What a run would ask of a system.

    `inputs` are distinct ones, `stored` those whose outputs are there already, `to_ask` the others. `hanging` are the
    groups, by relation, that want more, depending on what the system will say. A system on this machine makes no
    requests: `calls` is None for it, as is `seconds`, how long it takes at least at its rate. `tokens_counted`: by the
    system's own tokenizer, else a token is taken to have four characters. `cost` is None where its file has no price.
    """

    system: str
    version: str
    inputs: int
    stored: int
    to_ask: int
    hanging: Mapping[str, int]
    calls: int | None
    characters: int
    tokens: int
    tokens_counted: bool
    cost: float | None
    currency: str | None
    seconds: float | None

    @property
    def is_exact(self) -> bool:
        return not self.hanging

    def as_json(self) -> dict[str, Any]:
        """Return what `audit run --dry-run` has in JSON."""
        return asdict(self) | {"exact": self.is_exact}


@dataclass
class _Tally:
    """What is known of a system so far; `own` is its id in a database, where it has one there."""

    system: System
    own: int | None
    repeats: int  # How often it is asked each input
    retry: bool
    meter: Meter
    sending: Sending = field(default_factory=Sending)
    wanted: set[bytes] = field(default_factory=set)
    stored: set[bytes] = field(default_factory=set)
    to_ask: int = 0
    hanging: Counter[str] = field(default_factory=Counter)

    def add(self, inputs: Mapping[bytes, Input], engine: Engine | None) -> dict[bytes, Output]:
        """Add inputs that are wanted together; returns the outputs that are stored of them."""
        found, lacking = self.look_up(inputs, engine)
        new = {key: item for key, item in inputs.items() if key not in self.wanted}
        self.wanted.update(new)
        self.stored.update(found)
        to_ask = {key: len(numbers) for key, numbers in lacking.items() if key in new}
        self.to_ask += len(to_ask)
        for number in range(max(to_ask.values(), default=0)):
            self.sending += self.meter.of([new[key] for key, calls in to_ask.items() if calls > number])
        return found

    def look_up(self, inputs: Mapping[bytes, Input], engine: Engine | None) -> tuple[dict[bytes, Output], Lacking]:
        """Return the stored outputs of inputs, and the calls that are to be made on them."""
        lacking = dict.fromkeys(inputs, range(self.repeats))
        if engine is None or self.own is None:
            return {}, lacking
        with engine.connect() as connection:  # nothing is committed
            ids = find_inputs(connection, list(inputs))
            found, calls = AskedOnce(self.own, self.retry).find(connection, ids)
            if self.repeats > 1:
                calls = AskedRepeatedly(self.own, self.retry, number=self.repeats).find(connection, ids)[1]
        return found, {
            key: calls.get(key, numbers) for key, numbers in lacking.items() if key not in ids or key in calls
        }

    def forecast(self) -> Forecast:
        system, sending, price = self.system, self.sending, self.meter.price
        asks = callable(getattr(system, "run_async", None))
        rate = getattr(system, "rate", None)
        return Forecast(
            system=system.name,
            version=system.version,
            inputs=len(self.wanted),
            stored=len(self.stored),
            to_ask=self.to_ask,
            hanging=dict(self.hanging),
            calls=sending.calls if meter_of(system) is not None else None,
            characters=sending.characters,
            tokens=round(sending.tokens),
            tokens_counted=self.meter.counts_tokens,
            cost=sending.cost if price else None,
            currency=price.currency if price else None,
            seconds=sending.calls / rate if asks and rate else None,
        )


def forecasts(
    studies: Sequence[tuple[Sampled, Sequence[Relation]]],
    systems: Sequence[str],
    executor: Executor,
    engine: Engine | None = None,
    options: RunOptions = ONCE,
) -> list[Forecast]:
    """Return what runs of these systems on these studies, one after the other, would ask of each of them. `engine` is
    the database that the runs would use, which is only read; None: there is none yet. Raises what
    `audit.runner.run.run` raises before it asks a system."""
    by_spec = loaded(systems, options.time_limit)
    for sampled, relations in studies:
        refuse_misfits(sampled.corpus, by_spec, relations)
    tallies: dict[str, _Tally] = {}
    for spec, system in by_spec.items():
        own = None
        if engine is not None:
            with engine.connect() as connection:
                own = preflight.own_id(connection, system)
        repeats = 1 if asked_once(system) else options.repeats
        tallies[spec] = _Tally(system, own, repeats, options.retry_errors, Meter(system))
    if engine is not None:
        for trial in preflight.stored_trials(engine, by_spec, studies[0][0].corpus.task, options.repeats > 1):
            tally = tallies[trial.spec]
            tally.sending += tally.meter.of(list(trial.inputs.values()))
    for sampled, relations in studies:
        _follow_study(sampled, relations, list(tallies.values()), engine, executor)
    return [tally.forecast() for tally in tallies.values()]


def _follow_study(
    sampled: Sampled,
    relations: Sequence[Relation],
    tallies: Sequence[_Tally],
    engine: Engine | None,
    executor: Executor,
) -> None:
    languages = languages_of(sampled.corpus)
    lacks = [lacks_of(tally.system, languages) for tally in tallies]
    # First what each system answers before a run.
    inputs = [row.input for _, row in sampled.sources[: preflight.MOST_LOOKED_AT]]
    for tally, lacking in zip(tallies, lacks, strict=True):
        for trial in preflight.trials({"": tally.system}, {"": lacking}, inputs):
            if not tally.look_up(trial.inputs, engine)[0]:
                tally.add(trial.inputs, None)
    bound = [Bound(number, relation) for number, relation in enumerate(relations, start=1)]
    fitted, size = fitted_to(sampled, relations), CHUNK[sampled.corpus.unit]
    rows = enumerate(row for _, row in sampled.sources)
    underway: deque[tuple[Chunk, Planning, Future[Any]]] = deque()
    while (some := list(islice(rows, size))) or underway:
        if some:
            sources = {place: source_of(row.input, f"{sampled.seed}:{row.key}") for place, row in some}
            chunk = Chunk(0, sources, dict.fromkeys(range(len(tallies)), bound), fitted)
            underway.append((chunk, job := chunk.planning(), executor.submit(job)))
        if len(underway) <= executor.places and some:
            continue
        chunk, job, future = underway.popleft()
        chunk.planned(planned_groups(executor, job, future))
        while wanted := chunk.wanted():
            outputs: dict[int, dict[bytes, Output]] = {}
            for id, items in wanted.items():
                lacking = lacks[id]
                absent = {key for key, item in items.items() if lacking and lacking(item)}
                asked = {key: item for key, item in items.items() if key not in absent}
                outputs[id] = tallies[id].add(asked, engine) | dict.fromkeys(absent, Output())
            chunk.take(outputs)
        for id, relation in chunk.hanging():
            tallies[id].hanging[relation.name] += 1
