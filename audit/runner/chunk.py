"""One chunk of sources: make the groups, run what has no output yet, check, and store."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from sqlalchemy import Connection, Engine, select

from audit.language import Analysis
from audit.relations import Member, Outcome, Plain, Relation, Source, Verdict
from audit.relations.base import Steps
from audit.runner.executors import Batch, Executor
from audit.store import group_id, input_ids, insert_new, pieces, table_of, tables, upsert
from audit.tasks import Input, Output

BATCH = {"sentence": 256, "document": 32}
"""Inputs given to a system at once."""


@dataclass(frozen=True)
class Bound:
    """A relation or system with the id of its row. `spec` is how workers make the system."""

    id: int
    name: str
    spec: str = ""
    relation: Relation | None = None


@dataclass
class Counts:
    """What a run made and found; `executed` counts calls to systems, `stored` outputs that were there already.

    `retried` of those executed had failed before.
    """

    sources: int = 0
    groups: int = 0
    checks: int = 0
    executed: int = 0
    stored: int = 0
    retried: int = 0
    failed: int = 0
    first_error: str | None = None
    outcomes: dict[str, int] = field(default_factory=lambda: {outcome.name.lower(): 0 for outcome in Outcome})


@dataclass
class _Group:
    """A group in the making for one system (`system` None: for every system)."""

    relation: Bound
    source_id: int
    members: list[Member]
    system: int | None = None
    steps: Steps | None = None
    asked: int = 0
    """How many members the last yield added."""
    verdict: Verdict | None = None


class Chunk:
    """The work of one chunk for some relations and systems.

    `todo[system id]` holds the relations that are not finished for that system; `sources` maps ids to sources.
    `retried`, where it is given, says that failed inputs are executed again, and which (system id, key of an input)
    were in this run: each once, whether it failed again or not.
    """

    def __init__(
        self,
        engine: Engine,
        study_id: int,
        task: str,
        unit: str,
        number: int,
        sources: Mapping[int, Source],
        todo: Mapping[int, Sequence[Bound]],
        systems: Mapping[int, Bound],
        retried: set[tuple[int, bytes]] | None = None,
    ):
        self.engine, self.study_id, self.task, self.number = engine, study_id, task, number
        self.batch = BATCH[unit]
        self.sources, self.todo, self.systems = sources, todo, systems
        self.ids: dict[bytes, int] = {}
        self.outputs: dict[tuple[int, bytes], Output] = {}
        self.retried = retried
        self.attempts: dict[tuple[int, bytes], int] = {}
        """How often an input that is to be executed again was executed."""

    def run(self, executor: Executor, counts: Counts, tick: Callable[[int], None]) -> None:
        """Do the chunk. Outputs are committed as they come, groups and verdicts in one transaction at the end."""
        shared = self._plan()
        self._run_missing(
            {
                system: [
                    member.input for group in shared if group.relation in self.todo[system] for member in group.members
                ]
                for system in self.todo
            },
            executor,
            counts,
            tick,
        )
        chained = self._walk(executor, counts, tick)
        verdicts = [
            (group, system, self._check(group, system))
            for group in shared
            for system in self.todo
            if group.relation in self.todo[system]
        ]
        verdicts += [(group, group.system or 0, group.verdict) for group in chained if group.verdict]
        self._store(shared + [group for group in chained if group.verdict], verdicts, counts)

    def _plan(self) -> list[_Group]:
        """The groups that are the same for every system."""
        relations = {bound.id: bound for some in self.todo.values() for bound in some}
        groups = []
        for source_id, source in self.sources.items():
            for bound in relations.values():
                if isinstance(bound.relation, Plain) and (members := bound.relation.members(source)):
                    groups.append(_Group(bound, source_id, members))
        return groups

    def _walk(self, executor: Executor, counts: Counts, tick: Callable[[int], None]) -> list[_Group]:
        """The groups that depend on a system's outputs: rounds of yield, run, send, for all of them side by side."""
        groups = [
            _Group(bound, source_id, [], system, bound.relation.steps(source))
            for system, some in self.todo.items()
            for bound in some
            if bound.relation is not None and bound.relation.per_system
            for source_id, source in self.sources.items()
        ]
        walking = [group for group in groups if _advance(group, None)]
        while walking:
            wanted: dict[int, list[Input]] = {}
            for group in walking:
                new = group.members[len(group.members) - group.asked :]
                wanted.setdefault(group.system or 0, []).extend(member.input for member in new)
            self._run_missing(wanted, executor, counts, tick)
            walking = [group for group in walking if _advance(group, self._latest(group))]
        return groups

    def _latest(self, group: _Group) -> list[Output]:
        new = group.members[len(group.members) - group.asked :]
        return [self.outputs[group.system or 0, member.input.key] for member in new]

    def _check(self, group: _Group, system: int) -> Verdict:
        outputs = [self.outputs[system, member.input.key] for member in group.members]
        if failed := next((output for output in outputs if output.error), None):
            return Verdict(Outcome.ERROR, reason=failed.error)
        if not isinstance(group.relation.relation, Plain):
            raise TypeError(f"{group.relation.name} is not plain")
        return group.relation.relation.check(outputs)

    def _run_missing(
        self, wanted: Mapping[int, Iterable[Input]], executor: Executor, counts: Counts, tick: Callable[[int], None]
    ) -> None:
        """See to it that every wanted input has an output, asking the database first and the systems last."""
        distinct = {
            system: {one.key: one for one in inputs if (system, one.key) not in self.outputs}
            for system, inputs in wanted.items()
        }
        everything = {key: one for some in distinct.values() for key, one in some.items() if key not in self.ids}
        with self.engine.begin() as connection:
            self.ids |= input_ids(connection, everything.values())
            for system, some in distinct.items():
                counts.stored += self._load(connection, system, some)
        batches = []
        for system, some in distinct.items():
            missing = [one for key, one in some.items() if (system, key) not in self.outputs]
            batches += [
                Batch(self.systems[system].spec, self.task, tuple(piece)) for piece in pieces(missing, self.batch)
            ]
        by_spec = {bound.spec: id for id, bound in self.systems.items()}
        for batch, outputs in executor.run(batches):
            system = by_spec[batch.system]
            counts.retried += sum((system, one.key) in self.attempts for one in batch.inputs)
            self._keep(system, batch, outputs)
            counts.executed += len(outputs)
            errors = [output.error for output in outputs if output.error]
            counts.failed += len(errors)
            counts.first_error = counts.first_error or next(iter(errors), None)
            tick(len(outputs))

    def _load(self, connection: Connection, system: int, wanted: Mapping[bytes, Input]) -> int:
        """Outputs that are stored already, the last attempt of each; how many there are.

        An error that is to be tried again is none of them.
        """
        table = table_of(tables.Output)
        keys = {self.ids[key]: key for key in wanted}
        stored: dict[bytes, tuple[int, Output]] = {}
        for piece in pieces(keys):
            query = (
                select(table).where(table.c.system_id == system, table.c.input_id.in_(piece)).order_by(table.c.attempt)
            )
            for row in connection.execute(query).mappings():
                output = Output(row["label"], row["score"], row["text"], row["error"])
                stored[keys[row["input_id"]]] = row["attempt"], output
        for key, (attempt, output) in stored.items():
            if output.error and self.retried is not None and (system, key) not in self.retried:
                self.attempts[system, key] = attempt
            else:
                self.outputs[system, key] = output
        return sum((system, key) in self.outputs for key in stored)

    def _keep(self, system: int, batch: Batch, outputs: Sequence[Output]) -> None:
        rows = [
            {
                "system_id": system,
                "input_id": self.ids[one.key],
                "attempt": self.attempts.get((system, one.key), 0) + 1,
                "label": output.label,
                "score": output.score,
                "text": output.text,
                "error": output.error,
            }
            for one, output in zip(batch.inputs, outputs, strict=True)
        ]
        with self.engine.begin() as connection:
            insert_new(connection, tables.Output, rows)
        if self.retried is not None:
            self.retried.update((system, one.key) for one in batch.inputs)
        self.outputs.update({(system, one.key): output for one, output in zip(batch.inputs, outputs, strict=True)})

    def _store(self, groups: Sequence[_Group], verdicts: Sequence[tuple[_Group, int, Verdict]], counts: Counts) -> None:
        rows, members = [], []
        for group in groups:
            id = group_id(group.source_id, group.relation.id, group.system)
            rows.append(
                {
                    "id": id,
                    "study_id": self.study_id,
                    "relation_id": group.relation.id,
                    "source_id": group.source_id,
                    "system_id": group.system,
                }
            )
            members += [
                {"group_id": id, "step": step, "input_id": self.ids[member.input.key], "role": member.role}
                for step, member in enumerate(group.members)
            ]
        checked = [
            {
                "group_id": group_id(group.source_id, group.relation.id, group.system),
                "system_id": system,
                "outcome": int(verdict.outcome),
                "value": verdict.value,
                "reason": verdict.reason,
            }
            for group, system, verdict in verdicts
        ]
        done = [
            {"study_id": self.study_id, "relation_id": bound.id, "system_id": system, "chunk": self.number}
            for system, some in self.todo.items()
            for bound in some
        ]
        with self.engine.begin() as connection:
            insert_new(connection, tables.Group, rows)
            insert_new(connection, tables.Member, members)
            upsert(connection, tables.Verdict, checked)
            insert_new(connection, tables.Progress, done)
        counts.groups += len(rows)
        counts.checks += len(checked)
        for _, _, verdict in verdicts:
            counts.outcomes[verdict.outcome.name.lower()] += 1


def _advance(group: _Group, outputs: list[Output] | None) -> bool:
    """Send the outputs on; whether the group asks for more. An error among them ends it."""
    if group.steps is None:
        return False
    if outputs and (failed := next((output for output in outputs if output.error), None)):
        group.verdict = Verdict(Outcome.ERROR, reason=failed.error)
        group.steps.close()
        return False
    try:
        asked = next(group.steps) if outputs is None else group.steps.send(outputs)
    except StopIteration as end:
        group.verdict = end.value
        return False
    group.members += asked
    group.asked = len(asked)
    return True


def load_sources(connection: Connection, study_id: int, seed: int, first: int, count: int) -> dict[int, Source]:
    """Sources number `first` to `first + count - 1` of a study, by id, in the order of their ids."""
    source, given = table_of(tables.Source), table_of(tables.Input)
    query = (
        select(source.c.id, source.c.row, given.c.texts, given.c.languages)
        .join(given, given.c.id == source.c.input_id)
        .where(source.c.study_id == study_id)
        .order_by(source.c.id)
        .offset(first)
        .limit(count)
    )
    found = {}
    for row in connection.execute(query).mappings():
        one = Input(tuple(row["texts"]), tuple(row["languages"].split(",")))
        found[int(row["id"])] = Source(one, Analysis(one.text, one.languages[0]), f"{seed}:{row['row']}")
    return found
