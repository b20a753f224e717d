"""One chunk of sources on its way: its groups, what it waits for, its verdicts, and its rows."""

from collections import Counter
from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import isnan
from operator import itemgetter
from traceback import extract_tb
from types import MappingProxyType
from typing import Any, NamedTuple, NoReturn

from sqlalchemy import Connection, select

from audit.errors import AuditError, first_line
from audit.relations import Fixed, Member, Outcome, Relation, Source, Verdict
from audit.relations.base import COUNTED, Role, Steps, Words, cut_verdict
from audit.relations.validity import Fitted, Limit, broken, learns
from audit.store import group_id, insert_new, table_of, tables, upsert
from audit.store.bulk import rows_among
from audit.tasks import Input, Output
from audit.text import Analysis


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


# The job of making the groups of some sources that are the same for every system: analyse once, perturb, key.


class PlannedGroup(NamedTuple):
    """A group: the places of its source and its relation in the job, its follow-ups with their keys, its note, and the
    verdict where it is rejected."""

    source: int
    relation: int
    follow_ups: list[tuple[bytes, Input]]
    note: Words = ()
    rejected: Verdict | None = None


def rejected(
    limits: Sequence[Limit], source: Input, follow_ups: Sequence[Input], fitted: Fitted | None = None
) -> Verdict | None:
    """Return the verdict on a group whose follow-ups break a limit; None where they keep all.

    Without `fitted`, what measures have learnt from the corpus, limits on such measures are left out.
    """
    if fitted is None:
        limits = [limit for limit in limits if not learns(limit)]
    fault = broken(limits, source, follow_ups, fitted)
    return None if fault is None else Verdict(Outcome.REJECTED, None if isnan(fault[0]) else fault[0], fault[1])


@dataclass(frozen=True)
class Planning:
    """Perturb sources under relations: a job. A text is tagged once, however many relations look at it."""

    chunk: int
    sources: tuple[tuple[Input, str], ...]  # Each with the seed of its choices
    relations: tuple[Fixed, ...]
    limit: float | None = field(default=None, compare=False)

    def work(self) -> list[PlannedGroup]:
        """Return the groups, by source and relation. Raises AuditError for what a perturbation raises."""
        sources = [Source(item, Analysis(item.text, item.languages[0]), seed) for item, seed in self.sources]
        if any(relation.grammar for relation in self.relations):
            Analysis.tag_all([source.analysis for source in sources])
        groups: list[PlannedGroup] = []
        for number, relation in enumerate(self.relations):
            try:
                perturbed = relation.make_groups(sources)
            except Exception as problem:
                raise_failed(relation.name, problem)
            limits = relation.limits
            groups += (
                PlannedGroup(
                    place,
                    number,
                    [(follow_up.key, follow_up) for follow_up in follow_ups],
                    note,
                    rejected(limits, sources[place].input, follow_ups) if limits else None,
                )
                for place, (follow_ups, note) in enumerate(perturbed)
                if follow_ups
            )
        return sorted(groups, key=itemgetter(0, 1))


Lacks = Callable[[Input], bool]  # Whether a system has no output for an input, which it knows without being run


@dataclass(frozen=True)
class Bound:
    """A relation with the id of its row."""

    id: int
    relation: Relation

    @property
    def name(self) -> str:
        """The relation's."""
        return self.relation.name


@dataclass
class Counts:
    """What a run made and found; `executed` counts calls to systems, `stored` outputs that were there already.

    `retried` of those executed had failed before, `repeated` were asked what the system had been asked before.
    """

    groups: int = 0
    checks: int = 0
    executed: int = 0
    stored: int = 0
    retried: int = 0
    repeated: int = 0
    failed: int = 0
    first_error: str | None = None
    outcomes: dict[str, int] = field(default_factory=lambda: {outcome.name.lower(): 0 for outcome in Outcome})

    def note(self, outputs: Iterable[Output]) -> None:
        """Count what systems returned."""
        for output in outputs:
            self.executed += 1
            if output.error:
                self.failed += 1
                self.first_error = self.first_error or output.error


@dataclass(slots=True)
class _Group:
    """A group in the making for one system (`system` 0: for every system). Its members are named by their keys."""

    relation: Bound
    source_id: int
    keys: list[bytes]
    roles: list[Role]
    system: int = 0
    steps: Steps | None = None
    last_members: int = 0  # How many members the last yield added
    verdict: Verdict | None = None
    note: Words = ()


_ABSENT = Verdict(Outcome.INAPPLICABLE, reason="the system has no output for a member")
Wanted = dict[int, dict[bytes, Input]]  # System id -> inputs by key


class Chunk:
    """The work of one chunk for some relations and systems, without a database and without an executor.

    `todo[system id]` holds the relations that are not finished for that system; `sources` maps ids to sources, in the
    order of their ids. Whoever drives it gives `planned` what the planning job made, then in turns: gives `keep` or
    `receive` outputs that were wanted, and asks `wanted` again; once nothing is, and nothing is waited for, the chunk
    is ready to be stored.
    """

    def __init__(
        self,
        study_id: int,
        number: int,
        sources: Mapping[int, Source],
        todo: Mapping[int, Sequence[Bound]],
        lacks: Mapping[int, Lacks] = MappingProxyType({}),
        fitted: Fitted = MappingProxyType({}),
    ):
        """`lacks` are those of the systems that have one, by id; `fitted` is what the measures of the relations' limits
        have learnt."""
        self.study_id, self.number, self.sources, self.todo = study_id, number, sources, todo
        self.ids: dict[bytes, int] = {}
        """Ids of the inputs that were wanted, by key: whoever stores the inputs puts them here."""
        self.waits = 0  # Outputs that are wanted and not received
        self.outputs: dict[int, dict[bytes, Output]] = {system: {} for system in todo}
        """Those that were kept or received."""
        self._fixed = list(
            {bound.id: bound for bounds in todo.values() for bound in bounds if not bound.relation.per_system}.values()
        )
        self._shared: list[_Group] = []
        self._chained: list[_Group] = []
        self._walking: list[_Group] = []
        self._requested: dict[int, set[bytes]] = {system: set() for system in todo}
        self._lacks, self._fitted = lacks, fitted
        self._noted: Wanted = {}

    def planning(self) -> Planning | None:
        """Return the job that makes the groups which are the same for every system; None where there are none."""
        relations = tuple(bound.relation for bound in self._fixed if isinstance(bound.relation, Fixed))
        sources = tuple((source.input, source.seed) for source in self.sources.values())
        return Planning(self.number, sources, relations) if relations else None

    def planned(self, groups: Iterable[PlannedGroup]) -> Wanted:
        """Take the groups of the planning job; return what the chunk wants first."""
        ids = list(self.sources)
        keys_of = {id: source.input.key for id, source in self.sources.items()}
        inputs = {key: self.sources[id].input for id, key in keys_of.items()}
        for source, number, others, note, fault in groups:
            id, bound = ids[source], self._fixed[number]
            inputs.update(others)
            roles: list[Role] = ["source", *["follow_up"] * len(others)]  # type: ignore[list-item]
            group = _Group(bound, id, [keys_of[id], *(key for key, _ in others)], roles, note=note, verdict=fault)
            self._shared.append(group)
            if (limits := bound.relation.limits) and self._rejects(group, [item for _, item in others], limits):
                self._note(0, {key: inputs[key] for key in group.keys})
        wanted: Wanted = {}
        for system, bounds in self.todo.items():
            relations = {bound.id for bound in bounds}
            wanted[system] = self._without_lacking(
                system,
                {
                    key: inputs[key]
                    for group in self._shared
                    if group.relation.id in relations and group.verdict is None
                    for key in group.keys
                },
            )
        self._chained = [
            _Group(bound, id, [], [], system, bound.relation.steps(source))
            for system, bounds in self.todo.items()
            for bound in bounds
            if bound.relation.per_system
            for id, source in self.sources.items()
        ]
        self._step(self._chained, wanted, first=True)
        return wanted

    def _rejects(self, group: _Group, follow_ups: Sequence[Input], limits: Sequence[Limit]) -> bool:
        """Whether a group breaks a limit; it has its verdict then."""
        if group.verdict is None:
            # Those that need not learn were looked at when a shared group was planned.
            limits = limits if group.system else list(filter(learns, limits))
            group.verdict = rejected(limits, self.sources[group.source_id].input, follow_ups, self._fitted)
        return group.verdict is not None

    def receive(self, system: int, outputs: Mapping[bytes, Output]) -> None:
        """Take outputs that were wanted."""
        self.keep(system, outputs)
        self.waits -= len(outputs)

    def keep(self, system: int, outputs: Mapping[bytes, Output]) -> None:
        """Take outputs that were stored before."""
        self.outputs[system].update(outputs)

    def want(self, system: int, inputs: Mapping[bytes, Input]) -> Wanted:
        """Want outputs for inputs of no group."""
        return {system: self._without_lacking(system, dict(inputs))}

    def wanted(self) -> Wanted:
        """Return what groups want next that have all they asked for; nothing where the others wait, or at the end."""
        wanted: Wanted = {system: {} for system in self.todo}
        self._step(self._walking, wanted)
        return {system: inputs for system, inputs in wanted.items() if inputs}

    def _step(self, groups: Sequence[_Group], wanted: Wanted, first: bool = False) -> None:
        """Send each group that hangs on its system's outputs what it asked for; note what it asks for next."""
        self._walking = [group for group in groups if self._goes_on(group, wanted[group.system], first)]
        for system, inputs in wanted.items():
            self._requested[system].update(inputs)

    def _goes_on(self, group: _Group, wanted: dict[bytes, Input], first: bool) -> bool:
        """Take a group as far as outputs are there; whether it waits for more, which is put into `wanted`."""
        outputs = self.outputs[group.system]
        last = group.keys[len(group.keys) - group.last_members :]
        if not all(key in outputs for key in last):
            return True
        sent = None if first else [outputs[key] for key in last]
        while (members := _advance(group, sent)) is not None:
            inputs = {member.input.key: member.input for member in members}
            keys = [member.input.key for member in members]
            group.keys += keys
            group.roles += [member.role for member in members]
            group.last_members = len(members)
            follow_ups = [member.input for member in members if member.role == "follow_up"]
            if (limits := group.relation.relation.limits) and self._rejects(group, follow_ups, limits):
                self._note(0, inputs)
                if group.steps is not None:
                    group.steps.close()
                return False
            missing = {key: item for key, item in inputs.items() if key not in outputs}
            if missing := self._without_lacking(group.system, missing):
                before = self._requested[group.system]
                wanted.update({key: item for key, item in missing.items() if key not in before})
                return True
            sent = [outputs[key] for key in keys]  # all is known: it goes on at once
        if group.verdict and group.verdict.outcome in (Outcome.SATISFIED, Outcome.VIOLATED):
            roles = zip(group.keys, group.roles, strict=True)
            group.verdict = cut_verdict([outputs[key] for key, role in roles if role in COUNTED]) or group.verdict
        return False

    def _without_lacking(self, system: int, inputs: dict[bytes, Input]) -> dict[bytes, Input]:
        """Return the inputs but those that the system has no output for; their outputs are absent."""
        lacks = self._lacks.get(system)
        lacking = {key: item for key, item in inputs.items() if lacks(item)} if lacks and inputs else {}
        if not lacking:
            return inputs
        self.keep(system, dict.fromkeys(lacking, Output()))
        self._note(system, lacking)
        return {key: item for key, item in inputs.items() if key not in lacking}

    def _note(self, system: int, inputs: Mapping[bytes, Input]) -> None:
        self._noted.setdefault(system, {}).update(inputs)

    def hanging(self) -> list[tuple[int, Bound]]:
        """Return system and relation of each group that wants outputs which nobody has kept or received yet."""
        return [(group.system, group.relation) for group in self._walking]

    def noted(self) -> Wanted:
        """Return inputs that nobody is asked about, found since this was called last: for each system those that it has
        no output for, and as those of 0 those of rejected groups. Whoever stores them puts their ids into `ids`."""
        noted, self._noted = self._noted, {}
        return noted

    def store(self, connection: Connection) -> list[Outcome]:
        """Write groups, members, verdicts and the note that the chunk is finished; return what the checks found, and
        the number of groups is that of `groups`."""
        groups = self.groups
        ids = [group_id(group.source_id, group.relation.id, group.system or None) for group in groups]
        verdicts = [
            (ids[place], system, verdict)
            for system, bounds in self.todo.items()
            for place, verdict in self._checked(system, {bound.id for bound in bounds})
        ]
        own = zip(ids[len(self._shared) :], groups[len(self._shared) :], strict=True)
        verdicts += [(id, group.system, group.verdict) for id, group in own if group.verdict]
        verdicts.sort(key=itemgetter(0, 1))  # in the order of their key a database writes them soonest
        rows: dict[str, list[Any]] = {
            "id": ids,
            "study_id": [self.study_id] * len(groups),
            "relation_id": [group.relation.id for group in groups],
            "source_id": [group.source_id for group in groups],
            "system_id": [group.system or None for group in groups],
        }
        insert_new(connection, tables.Group, rows)
        rows = {
            "group_id": [id for id, group in zip(ids, groups, strict=True) for _ in group.keys],
            "step": [step for group in groups for step in range(len(group.keys))],
            "input_id": [self.ids[key] for group in groups for key in group.keys],
            "role": [role for group in groups for role in group.roles],
        }
        insert_new(connection, tables.Member, rows)
        rows = {
            "group_id": [id for id, _, _ in verdicts],
            "system_id": [system for _, system, _ in verdicts],
            "outcome": [int(verdict.outcome) for _, _, verdict in verdicts],
            "value": [verdict.value for _, _, verdict in verdicts],
            "reason": [verdict.reason for _, _, verdict in verdicts],
        }
        upsert(connection, tables.Verdict, rows)
        done = [
            {"study_id": self.study_id, "relation_id": bound.id, "system_id": system, "chunk": self.number}
            for system, bounds in self.todo.items()
            for bound in bounds
        ]
        insert_new(connection, tables.Progress, done)
        return [verdict.outcome for _, _, verdict in verdicts]

    @property
    def groups(self) -> list[_Group]:
        """The groups that are stored: of those that hang on outputs, the ones that came to a verdict."""
        return [*self._shared, *(group for group in self._chained if group.verdict)]

    def _checked(self, system: int, relations: Container[int]) -> Iterator[tuple[int, Verdict]]:
        """Yield the verdicts on a system's shared groups under these relations, each with the group's place."""
        output_of = self.outputs[system]
        to_check: dict[int, list[tuple[int, list[Output]]]] = {}
        for place, group in enumerate(self._shared):
            if group.relation.id not in relations:
                continue
            if group.verdict is not None:
                yield place, group.verdict
                continue
            outputs = [output_of[key] for key in group.keys]
            for output in outputs:
                if output.error or output.absent:
                    yield place, _ABSENT if output.absent else Verdict(Outcome.ERROR, reason=output.error)
                    break
            else:
                if same := cut_verdict(outputs):
                    yield place, same
                else:
                    to_check.setdefault(group.relation.id, []).append((place, outputs))
        for entries in to_check.values():
            relation = self._shared[entries[0][0]].relation.relation
            if isinstance(relation, Fixed):
                try:
                    verdicts = relation.verdicts([(outputs, self._shared[place].note) for place, outputs in entries])
                except Exception as problem:
                    raise_failed(relation.name, problem)
                yield from zip((place for place, _ in entries), verdicts, strict=True)


def _advance(group: _Group, outputs: list[Output] | None) -> list[Member] | None:
    """Send the outputs on; return the members that the group asks for next, None at its end."""
    if group.steps is None:
        return None
    roles = group.roles[len(group.roles) - group.last_members :]
    for output, role in zip(outputs or (), roles, strict=True):
        if output.error or (output.absent and role != "probe"):  # a probe may find that the system has nothing
            group.verdict = _ABSENT if output.absent else Verdict(Outcome.ERROR, reason=output.error)
            group.steps.close()
            return None
    try:
        return next(group.steps) if outputs is None else group.steps.send(outputs)
    except StopIteration as end:
        group.verdict = end.value
        return None
    except Exception as problem:
        raise_failed(group.relation.name, problem)


def load_sources(connection: Connection, study_id: int, seed: int, first: int, last: int) -> dict[int, Source]:
    """Return a study's sources from the id `first` to the id `last`, by id, in their order."""
    source, input_table = table_of(tables.Source), table_of(tables.Input)
    query = (
        select(source.c.id, source.c.row, input_table.c.texts, input_table.c.languages)
        .join(input_table, input_table.c.id == source.c.input_id)
        # The sum keeps SQLite from reading the whole study by its index: the ids are the narrower way.
        .where(source.c.study_id + 0 == study_id, source.c.id.between(first, last))
        .order_by(source.c.id)
    )
    return {
        int(row.id): source_of(Input.stored(row.texts, row.languages), f"{seed}:{row.row}")
        for row in connection.execute(query)
    }


def source_of(item: Input, seed: str) -> Source:
    """Return the source of an input, not analysed yet."""
    return Source(item, Analysis(item.text, item.languages[0]), seed)


# Outputs in the store, as a run needs them: what is there already, and what came new.

OutputKey = tuple[int, bytes]  # System id and key of an input


class Stored:
    """The outputs of a run's systems by input, and which failed ones are to be executed again.

    `retried`, where it is given, says that failed inputs are executed again, and which were in this run: each once,
    whether it failed again or not.
    """

    def __init__(self, retried: set[OutputKey] | None = None):
        self.retried = retried
        self._attempts: dict[OutputKey, int] = {}  # How often an input that is to be executed again was executed

    def outputs(self, connection: Connection, system: int, ids: Mapping[bytes, int]) -> dict[bytes, Output]:
        """Return outputs by key, the last attempt of each. An error that is to be tried again is none of them."""
        outputs = {}
        for key, (attempt, output) in self._attempted(connection, system, ids).items():
            if output.error and self.retried is not None and (system, key) not in self.retried:
                self._attempts[system, key] = attempt
            else:
                outputs[key] = output
        return outputs

    def _attempted(
        self, connection: Connection, system: int, ids: Mapping[bytes, int]
    ) -> dict[bytes, tuple[int, Output]]:
        table, keys = table_of(tables.Output), {id: key for key, id in ids.items()}
        query = select(table).where(table.c.system_id == system).order_by(table.c.attempt)
        rows = rows_among(connection, query, table.c.input_id, keys)
        return {keys[row.input_id]: (row.attempt, Output.stored(row._mapping)) for row in rows}

    def note(self, system: int, keys: Collection[bytes]) -> int:
        """Note that these were executed in this run; return how many of them had failed before."""
        if self.retried is not None:
            self.retried.update((system, key) for key in keys)
        return sum((system, key) in self._attempts for key in keys) if self._attempts else 0

    def keep(
        self, connection: Connection, system: int, ids: Mapping[bytes, int], outputs: Sequence[Output]
    ) -> dict[bytes, Output]:
        """Store outputs, in the order of `ids`; return those that count: another study may have been quicker."""
        rows: dict[str, Sequence[Any]] = {
            "input_id": list(ids.values()),
            "system_id": [system] * len(ids),
            "attempt": [self._attempts.get((system, key), 0) + 1 for key in ids] if self._attempts else [1] * len(ids),
            "label": [output.label for output in outputs],
            "score": [output.score for output in outputs],
            "text": [output.text for output in outputs],
            "error": [output.error for output in outputs],
            "details": [output.details for output in outputs],
        }
        new = insert_new(connection, tables.Output, rows)
        stored = dict(zip(ids, outputs, strict=True))
        if new == len(ids):
            return stored
        return stored | {key: output for key, (_, output) in self._attempted(connection, system, ids).items()}


def count_checks(counts: Counts, groups: int, found: Iterable[Outcome]) -> None:
    """Add the groups and the checks of a chunk to the counts of a run."""
    by_outcome = Counter(found)
    counts.groups += groups
    counts.checks += by_outcome.total()
    for outcome, number in by_outcome.items():
        counts.outcomes[outcome.name.lower()] += number
