"""The stored outputs of the systems of a run: which calls are there, which are to be made, and what comes of them.

A system that is asked each input once has its outputs in `output`; one that failed may be asked again, as another
attempt. Of a system that is asked several times every call is a row of `repeat`, under the system as it is without
repeats, whatever is made of the calls: a study that takes the first call of each input and one that takes the majority
share them. The first call that answers is what `output` has of that system, and an output of an earlier run without
repeats is the first call.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any

from sqlalchemy import Connection, func, or_, select

from audit.keys import canonical
from audit.runner.options import RunOptions
from audit.store import insert_new, table_of, tables
from audit.store.bulk import rows_among
from audit.systems.base import System
from audit.tasks import Output
from audit.tasks.repeated import MAJORITY, majority

Ids = Mapping[bytes, int]  # Of inputs, by key
Outputs = dict[bytes, Output]
Lacking = dict[bytes, range]  # The numbers of the calls that are still to be made, by key
Calls = dict[int, Output]  # What a system returned for one input, by the number of the call, from 1
_FIELDS = ("label", "score", "text", "error", "details")


def settings_of(system: System, options: RunOptions) -> dict[str, object]:
    """Return the settings under which a system's outputs that count are stored: its own, or with how they were made."""
    by_majority = options.take == MAJORITY and not asked_once(system)
    return dict(system.settings) | ({"repeats": options.repeats, "take": MAJORITY} if by_majority else {})


def asked_once(system: System) -> bool:
    """Whether a system says of itself that it always gives the same output for an input."""
    return getattr(system, "deterministic", False) is True


def base_ids(connection: Connection, systems: Iterable[int]) -> dict[int, int]:
    """Return, for each of these systems, the one under which its calls are kept: itself, or that without repeats."""
    rows = {int(row.id): row for row in connection.execute(select(table_of(tables.System)))}
    by_key = {(row.name, row.version, row.settings): id for id, row in rows.items()}
    bases = {}
    for id in systems:
        own = json.loads(rows[id].settings)
        if own.pop("take", None) == MAJORITY and type(own.pop("repeats", None)) is int:
            bases[id] = by_key.get((rows[id].name, rows[id].version, canonical(own)), id)
        else:
            bases[id] = id
    return bases


def _rows(connection: Connection, model: Any, system: int, ids: Ids) -> Iterable[tuple[bytes, Any]]:
    """Yield key and row of a system's outputs or calls for inputs, in the order of attempts or numbers."""
    table, keys = table_of(model), {id: key for key, id in ids.items()}
    order = table.c.attempt if model is tables.Output else table.c.number
    query = select(table).where(table.c.system_id == system).order_by(order)
    for row in rows_among(connection, query, table.c.input_id, keys):
        yield keys[row.input_id], row


def keep_outputs(connection: Connection, system: int, ids: Ids, outputs: Sequence[Output], attempt: int = 1) -> Outputs:
    """Store outputs, in the order of `ids`; return those that count: another study may have been quicker."""
    rows: dict[str, Sequence[Any]] = {"input_id": list(ids.values()), "system_id": [system] * len(ids)}
    rows["attempt"] = [attempt] * len(ids)
    rows.update({name: [getattr(output, name) for output in outputs] for name in _FIELDS})
    stored = dict(zip(ids, outputs, strict=True))
    if insert_new(connection, tables.Output, rows) == len(ids):
        return stored
    found = _rows(connection, tables.Output, system, ids)
    return stored | {key: Output.stored(row._mapping) for key, row in found}


@dataclass
class AskedOnce:
    """The outputs of a system that is asked each input once; with `retry`, those that failed once more in this run."""

    id: int
    retry: bool = False
    tried: set[bytes] = field(default_factory=set)
    """Inputs that were asked in this run: their errors count."""

    def find(self, connection: Connection, ids: Ids) -> tuple[Outputs, Lacking]:
        """Return the stored outputs of inputs, and the calls that are to be made of the others."""
        outputs, lacking = {}, dict.fromkeys(ids, range(1, 2))
        for key, row in _rows(connection, tables.Output, self.id, ids):  # the last attempt counts
            outputs[key] = Output.stored(row._mapping)
            lacking[key] = range(row.attempt + 1, row.attempt + 2)
        if self.retry:
            outputs = {key: it for key, it in outputs.items() if not it.error or key in self.tried}
        return outputs, {key: numbers for key, numbers in lacking.items() if key not in outputs}

    def keep(self, connection: Connection, ids: Ids, numbers: range, returned: Sequence[Output]) -> Outputs:
        """Store what was returned for inputs; return the outputs that count."""
        return keep_outputs(connection, self.id, ids, returned, numbers.start)

    def is_lacking(self, connection: Connection) -> bool:
        """Whether inputs that the system answered are to be asked again."""
        return False


def _keep_counting(connection: Connection, system: int, ids: Ids, counting: Outputs) -> Outputs:
    """Store the outputs that count of inputs which have none yet, or an error; return those that count now."""
    outputs, lacking = AskedOnce(system, retry=True).find(connection, ids)
    for numbers in set(lacking.values()):
        new = {key: ids[key] for key, own in lacking.items() if own == numbers}
        outputs |= keep_outputs(connection, system, new, [counting[key] for key in new], numbers.start)
    return outputs


@dataclass
class AskedRepeatedly(AskedOnce):
    """The outputs of a system that is asked each input `number` times. `base` is the id under which its calls are kept;
    `by_majority`: `id` is another, since other outputs count."""

    base: int = 0
    number: int = 1
    task: str = ""

    @property
    def by_majority(self) -> bool:
        """Whether the majority of the calls counts, and not the first."""
        return self.id != self.base

    def find(self, connection: Connection, ids: Ids) -> tuple[Outputs, Lacking]:
        outputs = AskedOnce(self.id).find(connection, ids)[0]
        made = dict(outputs) if self.by_majority else {}
        missing = {key: id for key, id in ids.items() if key not in made}
        once = AskedOnce(self.base).find(connection, missing)[0] if self.by_majority else outputs
        calls, lacking = self._calls(connection, missing, once), {}
        for key in missing:
            retried = self.retry and key not in self.tried
            count = sum(not output.error for output in calls[key].values()) if retried else len(calls[key])
            first = max(calls[key], default=0) + 1
            if count < self.number:
                lacking[key] = range(first, first + self.number - count)
            else:
                made[key] = outputs.get(key) or self._counting(calls[key])
        new = {key: ids[key] for key in made if key not in outputs}
        return made | _keep_counting(connection, self.id, new, made), lacking

    def keep(self, connection: Connection, ids: Ids, numbers: range, returned: Sequence[Output]) -> Outputs:
        made = zip(product(numbers, ids), returned, strict=True)
        self.keep_calls(connection, ids, [(key, number, output) for (number, key), output in made])
        calls = self._calls(connection, ids, {})
        if self.by_majority:  # a run that asks once finds an output, too
            _keep_counting(connection, self.base, ids, {key: self._answered(calls[key])[0] for key in ids})
        return _keep_counting(connection, self.id, ids, {key: self._counting(calls[key]) for key in ids})

    def keep_calls(self, connection: Connection, ids: Ids, calls: Iterable[tuple[bytes, int, Output]]) -> None:
        """Store calls as (key of the input, number, output); those that are there stay."""
        rows = [
            {"input_id": ids[key], "system_id": self.base, "number": number}
            | {name: getattr(output, name) for name in _FIELDS}
            for key, number, output in calls
        ]
        insert_new(connection, tables.Repeat, rows)

    def is_lacking(self, connection: Connection) -> bool:
        output, call = table_of(tables.Output), table_of(tables.Repeat)
        made = select(func.count()).where(call.c.system_id == self.base, call.c.input_id == output.c.input_id)
        if self.retry:
            made = made.where(call.c.error.is_(None))
        query = select(output.c.input_id).where(
            output.c.system_id == self.base,
            or_(*(output.c[name].is_not(None) for name in _FIELDS[:-1])),
            made.scalar_subquery() < self.number,
        )
        return not self.by_majority and connection.execute(query.limit(1)).first() is not None

    def _calls(self, connection: Connection, ids: Ids, once: Outputs) -> dict[bytes, Calls]:
        """Return all calls on inputs. The output that counts without repeats is one, too, and is kept as such: the
        first, or the next where all before failed and it did not, since it was asked for again."""
        calls: dict[bytes, Calls] = {key: {} for key in ids}
        for key, row in _rows(connection, tables.Repeat, self.base, ids):
            calls[key][int(row.number)] = Output.stored(row._mapping)
        new = []
        for key, output in once.items():
            made = calls[key]
            if not made or (not output.error and all(call.error for call in made.values())):
                made[max(made, default=0) + 1] = output
                new.append((key, max(made), output))
        self.keep_calls(connection, ids, new)
        return calls

    def _answered(self, calls: Calls) -> list[Output]:
        """Return the first calls that answered; all where none did."""
        return [output for output in calls.values() if not output.error][: self.number] or list(calls.values())

    def _counting(self, calls: Calls) -> Output:
        answered = self._answered(calls)
        return majority(self.task, answered) if self.by_majority else answered[0]
