"""Asking a system the same input several times: which calls are there, which are to be made, and what comes of them.

Every call is a row of the table `repeat` under the system as it is without repeats, whatever is made of the calls: a
study that takes the first call of each input and one that takes the majority share them. The first call is what
`output` has, where the system was asked once before.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, func, or_, select

from audit.errors import AuditError
from audit.keys import canonical
from audit.messages import message
from audit.relations import Outcome
from audit.store import insert_new, pieces, table_of, tables
from audit.systems.base import System
from audit.tasks import Output
from audit.tasks.repeated import FIRST, MAJORITY, TAKES, majority

MOST = 1_000
"""Calls on one input, at most."""

Calls = dict[int, Output]
"""What a system returned for one input, by the number of the call, from 1."""


@dataclass(frozen=True)
class Repeats:
    """How often a run asks each system each input, and whether its first call or the majority of its calls counts."""

    number: int = 1
    take: str = FIRST

    def checked(self) -> "Repeats":
        """These, if a run can do so. Raises AuditError, which names the parameter.

        >>> Repeats(3, "majority").checked().number
        3
        """
        if type(self.number) is not int or not 1 <= self.number <= MOST:
            raise AuditError(message("repeats.bad_number", number=self.number, most=MOST), parameter="repeats")
        if self.take not in TAKES:
            raise AuditError(message("repeats.bad_take", take=self.take, takes=list(TAKES)), parameter="take")
        if self.take == MAJORITY and self.number == 1:
            raise AuditError(message("repeats.too_few"), parameter=("repeats", "take"))
        return self

    @property
    def by_majority(self) -> bool:
        """Whether the output that counts is made from all calls."""
        return self.take == MAJORITY and self.number > 1

    def settings(self, system: System) -> dict[str, object]:
        """The settings under which a system's outputs that count are stored: its own, or with how they were made."""
        own = dict(system.settings)
        return own | {"repeats": self.number, "take": self.take} if self.by_majority else own


def asked_once(system: System) -> bool:
    """Whether a system says of itself that it always gives the same output for an input."""
    return getattr(system, "deterministic", False) is True


def without_repeats(settings: Mapping[str, object]) -> tuple[dict[str, object], bool]:
    """The settings of the system whose calls a system's outputs were made from, and whether it was another one.

    >>> without_repeats({"model": "a", "repeats": 3, "take": "majority"}), without_repeats({"model": "a"})
    (({'model': 'a'}, True), ({'model': 'a'}, False))
    """
    own = {name: value for name, value in settings.items() if name not in ("repeats", "take")}
    made = settings.get("take") == MAJORITY and type(settings.get("repeats")) is int
    return (own, True) if made else (dict(settings), False)


def base_ids(connection: Connection, systems: Iterable[int]) -> dict[int, int]:
    """For each of these systems, the one under which its calls are kept: itself, or that without repeats."""
    table = table_of(tables.System)
    rows = {int(row.id): row for row in connection.execute(select(table))}
    by_key = {(row.name, row.version, row.settings): id for id, row in rows.items()}
    bases = {}
    for id in systems:
        row = rows[id]
        own, another = without_repeats(json.loads(row.settings))
        bases[id] = by_key.get((row.name, row.version, canonical(own)), id) if another else id
    return bases


@dataclass(frozen=True)
class Repeated:
    """How a system of a run is asked: `base` is the id under which its calls are kept."""

    base: int
    repeats: Repeats
    task: str

    def lacking(self, calls: Calls, retry: bool) -> range:
        """The numbers of the calls on an input that are still to be made; with `retry`, those that failed are made
        again, as further calls."""
        made = sum(output.error is None for output in calls.values()) if retry else len(calls)
        last = max(calls, default=0)
        return range(last + 1, last + 1 + max(self.repeats.number - made, 0))

    def effective(self, calls: Calls) -> Output:
        """The output that counts, by the first calls that answered."""
        ordered = [calls[number] for number in sorted(calls)]
        answered = [output for output in ordered if output.error is None][: self.repeats.number] or ordered
        return majority(self.task, answered) if self.repeats.by_majority else answered[0]


# Calls in the store.


def stored_calls(connection: Connection, system: int, ids: Mapping[bytes, int]) -> dict[bytes, Calls]:
    """All calls of a system on these inputs, by key; an input without any has an empty entry."""
    table = table_of(tables.Repeat)
    keys = {id: key for key, id in ids.items()}
    calls: dict[bytes, Calls] = {key: {} for key in ids}
    for piece in pieces(keys):
        query = select(table).where(table.c.system_id == system, table.c.input_id.in_(piece))
        for row in connection.execute(query).mappings():
            calls[keys[row["input_id"]]][int(row["number"])] = Output.stored(row)
    return calls


def recalled(connection: Connection, system: int, ids: Mapping[bytes, int]) -> dict[bytes, Calls]:
    """As `stored_calls`; the output that counts without repeats is a call, too, and is kept as one.

    It is the first, or the next where all before failed and it did not: it was asked for again.
    """
    calls = stored_calls(connection, system, ids)
    waiting = {ids[key]: key for key, made in calls.items() if all(output.error for output in made.values())}
    output = table_of(tables.Output)
    counts: dict[bytes, Output] = {}
    for piece in pieces(waiting):
        query = (
            select(output).where(output.c.system_id == system, output.c.input_id.in_(piece)).order_by(output.c.attempt)
        )
        for row in connection.execute(query).mappings():
            counts[waiting[row["input_id"]]] = Output.stored(row)
    new = {key: output for key, output in counts.items() if not calls[key] or output.error is None}
    rows = [(key, max(calls[key], default=0) + 1, output) for key, output in new.items()]
    keep_calls(connection, system, ids, rows)
    for key, number, made in rows:
        calls[key][number] = made
    return calls


def keep_calls(
    connection: Connection, system: int, ids: Mapping[bytes, int], calls: Sequence[tuple[bytes, int, Output]]
) -> int:
    """Store calls as (key of the input, number, output); how many were new: another study may have been quicker."""
    return insert_new(
        connection,
        tables.Repeat,
        {
            "input_id": [ids[key] for key, _, _ in calls],
            "system_id": [system] * len(calls),
            "number": [number for _, number, _ in calls],
            "label": [output.label for _, _, output in calls],
            "score": [output.score for _, _, output in calls],
            "text": [output.text for _, _, output in calls],
            "error": [output.error for _, _, output in calls],
            "details": [output.details for _, _, output in calls],
        },
    )


def first_calls(connection: Connection, system: int, ids: Mapping[bytes, int]) -> dict[bytes, Output]:
    """The first call of a system on each of these inputs that it was asked several times, by key."""
    return {key: made[1] for key, made in stored_calls(connection, system, ids).items() if 1 in made}


def has_calls(connection: Connection, system: int) -> bool:
    """Whether a system was ever asked an input several times."""
    table = table_of(tables.Repeat)
    return connection.execute(select(table.c.number).where(table.c.system_id == system).limit(1)).first() is not None


def is_lacking(connection: Connection, study: int, relations: Iterable[int], repeated: Repeated, retry: bool) -> bool:
    """Whether a system has still to be asked an input that it answered in a study, of these relations' groups."""
    group, member, verdict = table_of(tables.Group), table_of(tables.Member), table_of(tables.Verdict)
    output, call, system = table_of(tables.Output), table_of(tables.Repeat), repeated.base
    checked = (
        select(member.c.group_id)
        .join(group, group.c.id == member.c.group_id)
        .join(verdict, verdict.c.group_id == member.c.group_id)
        .where(member.c.input_id == output.c.input_id, group.c.study_id == study)
        .where(group.c.relation_id.in_(list(relations)), verdict.c.system_id == system)
        .where(verdict.c.outcome != int(Outcome.REJECTED))
    )
    made = select(func.count()).where(call.c.system_id == system, call.c.input_id == output.c.input_id)
    if retry:
        made = made.where(call.c.error.is_(None))
    said = (output.c.label, output.c.score, output.c.text, output.c.error)
    query = select(output.c.input_id).where(
        output.c.system_id == system,
        or_(*(column.is_not(None) for column in said)),
        made.scalar_subquery() < repeated.repeats.number,
        checked.exists(),
    )
    return connection.execute(query.limit(1)).first() is not None
