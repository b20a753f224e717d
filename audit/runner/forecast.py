"""What a run would ask of its systems, and what that costs, without asking any.

Groups that are the same for every system are made, as a run makes them: what they want is known exactly. Those that
look at a system's outputs on the way are followed as far as outputs are stored; what they want after that is not known,
so the numbers are then at least, and at most only where a relation says how much more it wants.
"""

import math
from collections import Counter, deque
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import asdict, dataclass, field
from typing import Any

from sqlalchemy import Connection, Engine

from audit.corpora.base import languages_of
from audit.errors import AuditError
from audit.relations import Relation
from audit.relations.base import Chained, Source
from audit.runner import preflight
from audit.runner.budget import Meter, Sending, meter_of
from audit.runner.chunk import Bound, Chunk, PlannedGroup, Planning, Stored, Wanted
from audit.runner.executors import Executor, Lost, outcome
from audit.runner.repeats import asked_once, stored_calls
from audit.runner.run import TIME_LIMIT, fitted_to, lacks_of, loaded, refuse_misfits
from audit.runner.studies import CHUNK, Sampled, check_limit
from audit.store.outcomes import find_inputs
from audit.systems.base import System
from audit.tasks import Input
from audit.text import Analysis


@dataclass(frozen=True)
class Forecast:
    """What a run would ask of a system.

    `inputs` are distinct ones, `stored` those whose outputs are there already, `to_ask` the others. A system on this
    machine makes no requests: `calls` is None for it, as are `rounds` and `seconds`.
    """

    system: str
    version: str
    inputs: int
    stored: int
    to_ask: int
    most_to_ask: int | None
    """Where more is wanted than is known now, how much at most; None: nobody knows."""
    hanging: Mapping[str, int]
    """Groups that want more, depending on what the system will say, by relation."""
    calls: int | None
    batch: int | None
    """The most inputs of a request."""
    characters: int
    tokens: int
    tokens_counted: bool
    """Whether the system's own tokenizer counted them; else a token is taken to have four characters."""
    cost: float | None
    """None: there is no price in its file."""
    currency: str | None
    concurrency: int | None
    rounds: int | None
    """How many requests come one after the other: the time of one request, so many times, is how long it takes."""
    seconds: float | None
    """How long it takes at least, at its rate."""

    @property
    def is_exact(self) -> bool:
        """Whether nothing hangs on what the system will say."""
        return not self.hanging

    def as_json(self) -> dict[str, Any]:
        """As `audit run --dry-run` has it in JSON."""
        return asdict(self) | {"hanging": dict(self.hanging), "exact": self.is_exact}


@dataclass
class _Tally:
    """What is known of a system so far; `own` is its id in a database, where it has one there."""

    system: System
    own: int | None
    wanted: set[bytes] = field(default_factory=set)
    stored: set[bytes] = field(default_factory=set)
    sending: Sending = field(default_factory=Sending)
    hanging: Counter[str] = field(default_factory=Counter)
    more: int | None = 0
    """How many inputs the hanging groups want at most; None: nobody knows."""
    repeats: int = 1
    """How often it is asked each input."""
    open: int = 0
    """Inputs that it is still to be asked, once or more."""

    def __post_init__(self) -> None:
        self.meter = Meter(self.system)

    def add(self, inputs: Mapping[bytes, Input], stored: Sequence[bytes], calls: Mapping[bytes, int]) -> None:
        """Some inputs that are wanted together, which of them have an output that is stored, and how often it was asked
        those that it was asked several times."""
        new = {key: item for key, item in inputs.items() if key not in self.wanted}
        self.wanted.update(new)
        self.stored.update(stored)
        made = {key: max(calls.get(key, 0), int(key in self.stored)) for key in new}
        self.open += sum(made[key] < self.repeats for key in new)
        for number in range(self.repeats):
            if to_ask := [item for key, item in new.items() if made[key] <= number]:
                self.sending += self.meter.of(to_ask)

    def add_hanging(self, relation: Bound) -> None:
        """A group that wants more."""
        self.hanging[relation.name] += 1
        more = relation.relation.more if isinstance(relation.relation, Chained) else None
        self.more = None if more is None or self.more is None else self.more + more

    def forecast(self) -> Forecast:
        system, sending = self.system, self.sending
        asks = callable(getattr(system, "run_async", None))
        calls = sending.calls if meter_of(system) is not None else None
        concurrency = getattr(system, "concurrency", 1) if asks else None
        rate, price = getattr(system, "rate", None), self.meter.price
        return Forecast(
            system=system.name,
            version=system.version,
            inputs=len(self.wanted),
            stored=len(self.stored),
            to_ask=self.open,
            most_to_ask=None if self.more is None else self.open + self.more,
            hanging=dict(self.hanging),
            calls=calls,
            batch=self.meter.batch if calls is not None else None,
            characters=sending.characters,
            tokens=round(sending.tokens),
            tokens_counted=self.meter.counts_tokens,
            cost=sending.cost if price else None,
            currency=price.currency if price else None,
            concurrency=concurrency,
            rounds=math.ceil(sending.calls / concurrency) if concurrency else None,
            seconds=sending.calls / rate if asks and rate else None,
        )


def forecasts(
    studies: Sequence[tuple[Sampled, Sequence[Relation]]],
    systems: Sequence[str],
    executor: Executor,
    engine: Engine | None = None,
    *,
    retry_errors: bool = False,
    time_limit: float | None = TIME_LIMIT,
    repeats: int = 1,
) -> list[Forecast]:
    """What runs of these systems on these studies, one after the other, would ask of each of them.

    `engine` is the database that the runs would use, of which only is read what is stored already; None: there is none
    yet. With `retry_errors`, inputs that failed are to be asked again. `repeats` is how often each input is asked.
    Raises what `audit.runner.run.run` raises before it asks a system.
    """
    systems_by_spec = loaded(systems, time_limit)
    for sampled, relations in studies:
        check_limit(sampled.limit)
        refuse_misfits(sampled.corpus, systems_by_spec, relations)
    tallies = {
        spec: _Tally(system, _id_in(engine, system), repeats=1 if asked_once(system) else repeats)
        for spec, system in systems_by_spec.items()
    }
    if engine is not None:
        for trial in preflight.stored_trials(engine, systems_by_spec, studies[0][0].corpus.task, repeats > 1):
            tally = tallies[trial.spec]
            tally.sending += tally.meter.of(list(trial.inputs.values()))
    for sampled, relations in studies:
        _Following(sampled, relations, tallies, engine, retry_errors).follow(executor)
    return [tally.forecast() for tally in tallies.values()]


def _id_in(engine: Engine | None, system: System) -> int | None:
    if engine is None:
        return None
    with engine.connect() as connection:
        return preflight.own_id(connection, system)


class _Following:
    """Makes the groups of one study, and follows them as far as outputs are stored."""

    def __init__(
        self,
        sampled: Sampled,
        relations: Sequence[Relation],
        tallies: Mapping[str, _Tally],
        engine: Engine | None,
        retry_errors: bool,
    ) -> None:
        self._sampled, self._engine = sampled, engine
        self._tallies = dict(enumerate(tallies.values(), start=1))
        bound = [Bound(number, relation.name, relation=relation) for number, relation in enumerate(relations, start=1)]
        self._todo = dict.fromkeys(self._tallies, bound)
        languages = languages_of(sampled.corpus)
        self._lacks = {
            id: lacks for id, tally in self._tallies.items() if (lacks := lacks_of(tally.system, languages)) is not None
        }
        self._stored = Stored(set() if retry_errors else None)
        self._fitted = fitted_to(sampled, relations)

    def follow(self, executor: Executor) -> None:
        """Go through all chunks."""
        self._add_first_inputs()
        underway: deque[tuple[Chunk, Planning, Future[Any]]] = deque()
        for chunk in self._chunks():
            if (job := chunk.planning()) is None:
                self._follow_chunk(chunk, [])
                continue
            underway.append((chunk, job, executor.submit(job)))
            if len(underway) > executor.places:
                self._follow_chunk(*_planned(*underway.popleft()))
        while underway:
            self._follow_chunk(*_planned(*underway.popleft()))

    def _follow_chunk(self, chunk: Chunk, groups: list[PlannedGroup]) -> None:
        wanted = chunk.planned(groups)
        while any(wanted.values()):
            self._keep(chunk, wanted)
            wanted = chunk.wanted()
        for id, relation in chunk.hanging():
            self._tallies[id].add_hanging(relation)

    def _chunks(self) -> Iterator[Chunk]:
        size, drawn = CHUNK[self._sampled.corpus.unit], self._sampled.sources
        for number, start in enumerate(range(0, len(drawn), size)):
            sources = {
                place: Source(
                    row.input, Analysis(row.input.text, row.input.languages[0]), f"{self._sampled.seed}:{row.key}"
                )
                for place, (_, row) in enumerate(drawn[start : start + size], start=start)
            }
            yield Chunk(0, number, sources, self._todo, self._lacks, self._fitted)

    def _add_first_inputs(self) -> None:
        """Those that each system answers before the run."""
        inputs = [row.input for _, row in self._sampled.sources[: preflight.MOST_LOOKED_AT]]
        systems = {str(id): tally.system for id, tally in self._tallies.items()}
        lacks = {str(id): lacks for id, lacks in self._lacks.items()}
        for trial in preflight.trials(systems, lacks, inputs):
            tally = self._tallies[int(trial.spec)]
            if not self._found({int(trial.spec): dict(trial.inputs)}).get(int(trial.spec)):
                tally.add(trial.inputs, [], self._calls(int(trial.spec), trial.inputs))

    def _keep(self, chunk: Chunk, wanted: Wanted) -> None:
        """Count what is wanted, and hand the chunk what is stored of it."""
        found = self._found(wanted)
        for id, inputs in wanted.items():
            outputs = found.get(id, {})
            self._tallies[id].add(inputs, list(outputs), self._calls(id, inputs))
            chunk.keep(id, outputs)

    def _calls(self, id: int, inputs: Mapping[bytes, Input]) -> dict[bytes, int]:
        """How often a system was asked each of these inputs, where that is stored call by call."""
        tally = self._tallies[id]
        if self._engine is None or tally.own is None or tally.repeats == 1:
            return {}
        with self._engine.connect() as connection:
            calls = stored_calls(connection, tally.own, find_inputs(connection, list(inputs)))
        return {key: len(made) for key, made in calls.items()}

    def _found(self, wanted: Wanted) -> dict[int, dict[bytes, Any]]:
        """The stored outputs of inputs, by the number of the system here."""
        if self._engine is None:
            return {}

        def read(connection: Connection) -> dict[int, dict[bytes, Any]]:
            keys = {key for inputs in wanted.values() for key in inputs}
            ids = find_inputs(connection, list(keys))
            return {
                id: self._stored.outputs(connection, own, {key: ids[key] for key in inputs if key in ids})
                for id, inputs in wanted.items()
                if (own := self._tallies[id].own) is not None
            }

        with self._engine.connect() as connection:
            return read(connection)


def _planned(chunk: Chunk, job: Planning, future: Future[Any]) -> tuple[Chunk, list[PlannedGroup]]:
    groups = outcome(job, future)
    if isinstance(groups, Lost):
        raise AuditError(
            f"a worker was lost while it made groups ({groups.reason}; out of memory?); try workers=0",
            parameter="workers",
        )
    return chunk, groups
