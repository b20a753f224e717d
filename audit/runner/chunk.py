"""Chunks of sources: their groups, the inputs that these wait for, their verdicts, and their rows."""

from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import isnan
from operator import itemgetter
from traceback import extract_tb
from types import MappingProxyType
from typing import NamedTuple, NoReturn

from sqlalchemy import Connection, select

from audit.errors import AuditError, first_line
from audit.relations import Fixed, Outcome, Relation, Source, Verdict
from audit.relations.base import COUNTED, Role, Steps, Words, cut_verdict
from audit.relations.validity import Fitted, Limit, broken, learns
from audit.store import columns, group_id, insert_new, pieces, table_of, tables, upsert
from audit.tasks import Input, Output
from audit.text import Analysis

Wanted = dict[int, dict[bytes, Input]]  # System id -> inputs by key
_ABSENT = Verdict(Outcome.INAPPLICABLE, reason="the system has no output for a member")


def raise_failed(relation: str, problem: Exception) -> NoReturn:
    """Raise what a relation's own code raised as one sentence with the relation and the line; an AuditError as it is.

    >>> raise_failed("MINE.1", IndexError("list index out of range"))
    Traceback (most recent call last):
        ...
    audit.errors.AuditError: relation MINE.1 failed: IndexError: list index out of range; mend it and run again
    """
    if isinstance(problem, AuditError):
        raise problem
    frames = extract_tb(problem.__traceback__)
    where = f" ({frames[-1].filename}, line {frames[-1].lineno})" if frames else ""
    raise AuditError(
        f"relation {relation} failed: {type(problem).__name__}: {first_line(problem)}{where}; mend it and run again"
    ) from problem


def source_of(item: Input, seed: str) -> Source:
    """Return a source whose relations choose by this seed."""
    return Source(item, Analysis(item.text, item.languages[0]), seed)


def load_sources(connection: Connection, study_id: int, seed: int, first: int, last: int) -> dict[int, Source]:
    """Return a study's sources from one id to another, by id, in their order."""
    source, input_table = table_of(tables.Source), table_of(tables.Input)
    query = (
        select(source.c.id, source.c.row, source.c.gold, input_table.c.texts, input_table.c.languages)
        .join(input_table, input_table.c.id == source.c.input_id)
        # The sum keeps SQLite from reading the whole study by its index: the ids are the narrower way.
        .where(source.c.study_id + 0 == study_id, source.c.id.between(first, last))
        .order_by(source.c.id)
    )
    return {
        int(row.id): replace(source_of(Input.stored(row.texts, row.languages), f"{seed}:{row.row}"), gold=row.gold)
        for row in connection.execute(query)
    }


def _rejected(limits: Sequence[Limit], source: Input, follow_ups: Sequence[Input], fitted: Fitted) -> Verdict | None:
    """Return the verdict on a group whose follow-ups break a limit; None where they keep all."""
    fault = broken(limits, source, follow_ups, fitted)
    return None if fault is None else Verdict(Outcome.REJECTED, None if isnan(fault[0]) else fault[0], fault[1])


def _unusable(outputs: Iterable[Output]) -> Verdict | None:
    """Return the verdict on a group one of whose members has an error, or no output; None where all have outputs."""
    for output in outputs:
        if output.error or output.absent:
            return _ABSENT if output.absent else Verdict(Outcome.ERROR, reason=output.error)
    return None


class PlannedGroup(NamedTuple):
    """A group: the places of its source and its relation in the job, its follow-ups with their keys, its note, and the
    verdict where it is rejected."""

    source: int
    relation: int
    follow_ups: list[tuple[bytes, Input]]
    note: Words
    rejected: Verdict | None


@dataclass(frozen=True)
class Planning:
    """The job of perturbing sources under relations. A text is tagged once, however many relations look at it."""

    sources: tuple[tuple[Input, str], ...]  # Each with the seed of its choices
    relations: tuple[Fixed, ...]
    limit: float | None = field(default=None, compare=False)

    def work(self) -> list[PlannedGroup]:
        """Return the groups, by source and relation. Raises AuditError for what a perturbation raises."""
        sources = [source_of(item, seed) for item, seed in self.sources]
        if any(relation.grammar for relation in self.relations):
            Analysis.tag_all([source.analysis for source in sources])
        groups: list[PlannedGroup] = []
        for number, relation in enumerate(self.relations):
            try:
                of_relation = relation.make_groups(sources)
            except Exception as problem:
                raise_failed(relation.name, problem)
            # Limits on what measures learn from the corpus are looked at by the run, which has learnt it.
            limits = [limit for limit in relation.limits if not learns(limit)]
            for place, (follow_ups, note) in enumerate(of_relation):
                if follow_ups:
                    fault = _rejected(limits, sources[place].input, follow_ups, {})
                    groups.append(PlannedGroup(place, number, [(item.key, item) for item in follow_ups], note, fault))
        return sorted(groups, key=itemgetter(0, 1))


@dataclass(frozen=True)
class Bound:
    """A relation with the id of its row."""

    id: int
    relation: Relation

    @property
    def name(self) -> str:
        return self.relation.name


@dataclass(slots=True)
class Group:
    """A group in the making, for one system or (`system` 0) for every one. Members are named by their keys; `steps` is
    the relation's generator where it asks the system on its way, `waits_for` the number of members of its last step."""

    relation: Bound
    source_id: int
    keys: list[bytes]
    roles: list[Role]
    system: int = 0
    verdict: Verdict | None = None
    note: Words = ()
    steps: Steps | None = None
    waits_for: int = 0

    @property
    def id(self) -> int:
        return group_id(self.source_id, self.relation.id, self.system or None)


class Chunk:
    """The work of some chunks, without a database and without an executor: `todo[system id]` holds the relations that
    are not finished, `sources` the sources by id, in order. `planned` takes what the planning jobs made; then `answer`
    asks for what it wants. `fitted` is what the measures of the relations' limits have learnt."""

    def __init__(
        self,
        numbers: Sequence[int],
        sources: Mapping[int, Source],
        todo: Mapping[int, Sequence[Bound]],
        fitted: Fitted = MappingProxyType({}),
    ):
        self.numbers, self.sources, self.todo, self._fitted = numbers, sources, todo, fitted
        self.unasked: dict[bytes, Input] = {}  # Inputs of rejected groups, which are stored though nobody is asked
        self.hanging: list[Group] = []  # Groups that wait for outputs, to say what they want next
        self._outputs: dict[int, dict[bytes, Output]] = {system: {} for system in todo}
        self._wanted: Wanted = {system: {} for system in todo}
        by_id = {bound.id: bound for bounds in todo.values() for bound in bounds}
        self._fixed = [bound for bound in by_id.values() if not bound.relation.per_system]
        self._shared: list[Group] = []
        self._chained: list[Group] = []

    def planning(self, jobs: int) -> list[Planning]:
        """Return the jobs that make the groups that are the same for every system."""
        relations = tuple(bound.relation for bound in self._fixed if isinstance(bound.relation, Fixed))
        sources = [(source.input, source.seed) for source in self.sources.values()]
        self._part = -(-len(sources) // jobs)
        return [Planning(tuple(part), relations) for part in pieces(sources, self._part)]

    def planned(self, groups: Iterable[Iterable[PlannedGroup]]) -> None:
        """Take the groups of the planning jobs, and begin those that hang on a system's outputs."""
        sources = list(self.sources.items())
        inputs = {source.input.key: source.input for _, source in sources}
        in_order = ((job * self._part, one) for job, part in enumerate(groups) for one in part)
        for first, (place, number, follow_ups, note, fault) in in_order:
            (id, source), bound = sources[first + place], self._fixed[number]
            inputs.update(follow_ups)
            keys = [source.input.key, *(key for key, _ in follow_ups)]
            roles: list[Role] = ["source", *["follow_up"] * len(follow_ups)]  # type: ignore[list-item]
            group = Group(bound, id, keys, roles, verdict=fault, note=note)
            self._shared.append(group)
            limits = [limit for limit in bound.relation.limits if learns(limit)]
            if self._rejects(group, [item for _, item in follow_ups], limits):
                self.unasked.update((key, inputs[key]) for key in keys)
        for system, bounds in self.todo.items():
            relations = {bound.id for bound in bounds}
            for group in self._shared:
                if group.relation.id in relations and group.verdict is None:
                    self._wanted[system].update((key, inputs[key]) for key in group.keys)
            for bound in bounds:
                if bound.relation.per_system:
                    self._chained += [
                        Group(bound, id, [], [], system, steps=bound.relation.steps(source)) for id, source in sources
                    ]
        self.hanging = [group for group in self._chained if self._waits(group)]

    def wanted(self) -> Wanted:
        """Return the inputs that groups wait for, by system; empty once all groups have come to their end."""
        return {system: inputs for system, inputs in self._wanted.items() if inputs}

    def take(self, outputs: Mapping[int, Mapping[bytes, Output]]) -> None:
        """Take the outputs of what was wanted; those of `wanted` that are not among them are waited for no more."""
        for system, outputs_of in outputs.items():
            self._outputs[system].update(outputs_of)
        self._wanted = {system: {} for system in self.todo}
        self.hanging = [group for group in self.hanging if self._waits(group)]

    def answer(self, ask: Callable[[Wanted], Mapping[int, Mapping[bytes, Output]]]) -> bool:
        """Ask for what is wanted until nothing is; return whether all of it was answered."""
        while wanted := self.wanted():
            outputs = ask(wanted)
            if not all(outputs[system].keys() >= inputs.keys() for system, inputs in wanted.items()):
                return False
            self.take(outputs)
        return True

    def _waits(self, group: Group) -> bool:
        """Take a group as far as outputs are there; return whether it waits for more, which is then wanted."""
        outputs, steps, relation = self._outputs[group.system], group.steps, group.relation.relation
        assert steps is not None
        while True:
            begin = len(group.keys) - group.waits_for
            last, roles = group.keys[begin:], group.roles[begin:]
            if not all(key in outputs for key in last):
                return True
            said = [outputs[key] for key in last]
            # A probe may find that the system has nothing.
            counting = (out for out, role in zip(said, roles, strict=True) if role != "probe" or out.error)
            if fault := _unusable(counting):
                group.verdict = fault
                steps.close()
                return False
            try:
                members = steps.send(said if group.keys else None)  # type: ignore[arg-type]
            except StopIteration as end:
                group.verdict = end.value
                if group.verdict and group.verdict.outcome in (Outcome.SATISFIED, Outcome.VIOLATED):
                    every = zip(group.keys, group.roles, strict=True)
                    same = cut_verdict([outputs[key] for key, role in every if role in COUNTED])
                    group.verdict = same or group.verdict
                return False
            except Exception as problem:
                raise_failed(relation.name, problem)
            inputs = {member.input.key: member.input for member in members}
            group.keys += [member.input.key for member in members]
            group.roles += [member.role for member in members]
            group.waits_for = len(members)
            follow_ups = [member.input for member in members if member.role == "follow_up"]
            if self._rejects(group, follow_ups, relation.limits):
                self.unasked.update(inputs)
                steps.close()
                return False
            self._wanted[group.system].update((key, item) for key, item in inputs.items() if key not in outputs)

    def _rejects(self, group: Group, follow_ups: Sequence[Input], limits: Sequence[Limit]) -> bool:
        if group.verdict is None and limits:
            group.verdict = _rejected(limits, self.sources[group.source_id].input, follow_ups, self._fitted)
        return group.verdict is not None

    @property
    def groups(self) -> list[Group]:
        """The groups that are stored: of those that hang on outputs, the ones that came to a verdict."""
        return [*self._shared, *(group for group in self._chained if group.verdict)]

    def store(self, connection: Connection, study_id: int, input_ids: Mapping[bytes, int]) -> list[Outcome]:
        """Write groups, members, verdicts and the note that the chunks are finished; return what the checks found."""
        groups = [(group.id, group) for group in self.groups]
        verdicts = [(id, group.system, group.verdict) for id, group in groups if group.system and group.verdict]
        for system, bounds in self.todo.items():
            checked = self._checked(system, {bound.id for bound in bounds})
            verdicts += [(groups[place][0], system, verdict) for place, verdict in checked]
        verdicts.sort(key=itemgetter(0, 1))  # in the order of their key a database writes them soonest
        of_groups = ((id, study_id, one.relation.id, one.source_id, one.system or None) for id, one in groups)
        members = (
            (id, step, input_ids[key], role)
            for id, group in groups
            for step, (key, role) in enumerate(zip(group.keys, group.roles, strict=True))
        )
        checks = ((id, system, int(own.outcome), own.value, own.reason) for id, system, own in verdicts)
        left = [(own.id, system) for system, bounds in self.todo.items() for own in bounds]
        done = ((study_id, *of, number) for number in self.numbers for of in left)
        insert_new(connection, tables.Group, columns("id study_id relation_id source_id system_id", of_groups))
        insert_new(connection, tables.Member, columns("group_id step input_id role", members))
        upsert(connection, tables.Verdict, columns("group_id system_id outcome value reason", checks))
        insert_new(connection, tables.Progress, columns("study_id relation_id system_id chunk", done))
        return [verdict.outcome for _, _, verdict in verdicts]

    def _checked(self, system: int, relations: Container[int]) -> Iterator[tuple[int, Verdict]]:
        """Yield the verdicts on a system's shared groups under these relations, each with the group's place."""
        output_of = self._outputs[system]
        to_check: dict[int, list[tuple[int, list[Output]]]] = {}
        for place, group in enumerate(self._shared):
            if group.relation.id not in relations:
                continue
            if group.verdict is not None:
                yield place, group.verdict
                continue
            outputs = [output_of[key] for key in group.keys]
            if verdict := _unusable(outputs) or cut_verdict(outputs):
                yield place, verdict
            else:
                to_check.setdefault(group.relation.id, []).append((place, outputs))
        for entries in to_check.values():
            relation = self._shared[entries[0][0]].relation.relation
            assert isinstance(relation, Fixed)
            try:
                verdicts = relation.verdicts([(outputs, self._shared[place].note) for place, outputs in entries])
            except Exception as problem:
                raise_failed(relation.name, problem)
            yield from zip((place for place, _ in entries), verdicts, strict=True)
