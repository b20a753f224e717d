"""Asking a system the same input several times: which calls are there, which are to be made, and what comes of them.

Every call is a row of the table `repeat` under the system as it is without repeats, whatever is made of the calls: a
study that takes the first call of each input and one that takes the majority share them. The first call that answers is
what `output` has of that system, and an output of an earlier run without repeats is the first call.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, func, or_, select

from audit.keys import canonical
from audit.relations import Outcome
from audit.runner.options import RunOptions
from audit.store import insert_new, table_of, tables
from audit.store.bulk import rows_among
from audit.systems.base import System
from audit.tasks import Output
from audit.tasks.repeated import MAJORITY, majority

Calls = dict[int, Output]  # What a system returned for one input, by the number of the call, from 1


def settings_of(system: System, options: RunOptions) -> dict[str, object]:
    """Return the settings under which a system's outputs that count are stored: its own, or with how they were made."""
    made = {"repeats": options.repeats, "take": options.take} if options.take == MAJORITY else {}
    return dict(system.settings) | (made if not asked_once(system) else {})


def asked_once(system: System) -> bool:
    """Whether a system says of itself that it always gives the same output for an input."""
    return getattr(system, "deterministic", False) is True


def base_ids(connection: Connection, systems: Iterable[int]) -> dict[int, int]:
    """Return, for each of these systems, the one under which its calls are kept: itself, or that without repeats."""
    rows = {int(row.id): row for row in connection.execute(select(table_of(tables.System)))}
    by_key = {(row.name, row.version, row.settings): id for id, row in rows.items()}
    bases = {}
    for id in systems:
        settings = json.loads(rows[id].settings)
        if settings.get("take") == MAJORITY and type(settings.get("repeats")) is int:
            own = {name: value for name, value in settings.items() if name not in ("repeats", "take")}
            bases[id] = by_key.get((rows[id].name, rows[id].version, canonical(own)), id)
        else:
            bases[id] = id
    return bases


@dataclass(frozen=True)
class Repeated:
    """How a system of a run is asked: `base` is the id under which its calls are kept."""

    base: int
    number: int
    by_majority: bool
    task: str

    def lacking(self, calls: Calls, retry: bool) -> range:
        """Return the numbers of the calls on an input that are still to be made; with `retry`, those that failed are
        made again, as further calls."""
        made = sum(output.error is None for output in calls.values()) if retry else len(calls)
        last = max(calls, default=0)
        return range(last + 1, last + 1 + max(self.number - made, 0))

    def effective(self, calls: Calls) -> Output:
        """Return the output that counts, by the first calls that answered."""
        ordered = [calls[number] for number in sorted(calls)]
        answered = [output for output in ordered if output.error is None][: self.number] or ordered
        return majority(self.task, answered) if self.by_majority else answered[0]


def stored_calls(connection: Connection, system: int, ids: Mapping[bytes, int]) -> dict[bytes, Calls]:
    """Return all calls of a system on these inputs, by key; an input without any has an empty entry."""
    table, keys = table_of(tables.Repeat), {id: key for key, id in ids.items()}
    calls: dict[bytes, Calls] = {key: {} for key in ids}
    query = select(table).where(table.c.system_id == system)
    for row in rows_among(connection, query, table.c.input_id, keys):
        calls[keys[row.input_id]][int(row.number)] = Output.stored(row._mapping)
    return calls


def recalled(
    connection: Connection, system: int, ids: Mapping[bytes, int], outputs: Mapping[bytes, Output]
) -> dict[bytes, Calls]:
    """As `stored_calls`; the output that counts without repeats is a call, too, and is kept as one: the first, or the
    next where all before failed and it did not, since it was asked for again."""
    calls = stored_calls(connection, system, ids)
    rows = []
    for key, output in outputs.items():
        made = calls[key]
        if not made or (output.error is None and all(call.error for call in made.values())):
            number = max(made, default=0) + 1
            made[number] = output
            rows.append((key, number, output))
    keep_calls(connection, system, ids, rows)
    return calls


def keep_calls(
    connection: Connection, system: int, ids: Mapping[bytes, int], calls: Sequence[tuple[bytes, int, Output]]
) -> None:
    """Store calls as (key of the input, number, output); those that are there stay."""
    fields = ("label", "score", "text", "error", "details")
    rows = {"input_id": [ids[key] for key, _, _ in calls], "system_id": [system] * len(calls)}
    rows |= {name: [getattr(output, name) for _, _, output in calls] for name in fields}
    insert_new(connection, tables.Repeat, rows | {"number": [number for _, number, _ in calls]})


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
        made.scalar_subquery() < repeated.number,
        checked.exists(),
    )
    return connection.execute(query.limit(1)).first() is not None
