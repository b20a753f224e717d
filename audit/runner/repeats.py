"""The stored outputs of the systems of a run: which calls are there, which are to be made, and what comes of them.

A system that is asked each input once has its outputs in `output`; one that failed may be asked again, as another
attempt. Of a system that is asked several times every call is a row of `repeat`; the first that answers is what
`output` has, and an output of an earlier run without repeats is the first call.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any

from sqlalchemy import Connection, func, or_, select

from audit.store import insert_new, rows_among, table_of, tables
from audit.systems.base import System
from audit.tasks import Output

Ids = Mapping[bytes, int]  # Of inputs, by key
Outputs = dict[bytes, Output]
Lacking = dict[bytes, range]  # The numbers of the calls that are still to be made, by key
Calls = dict[int, Output]  # What a system returned for one input, by the number of the call, from 1
_FIELDS = ("label", "score", "text", "error", "details")


def asked_once(system: System) -> bool:
    """Whether a system says of itself that it always gives the same output for an input."""
    return getattr(system, "deterministic", False) is True


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
    tried: set[bytes] = field(default_factory=set)  # Inputs that were asked in this run: their errors count

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
        return keep_outputs(connection, self.id, ids, returned, numbers.start)

    def is_lacking(self, connection: Connection) -> bool:
        return False


@dataclass
class AskedRepeatedly(AskedOnce):
    """The outputs of a system that is asked each input `number` times."""

    number: int = 1

    def find(self, connection: Connection, ids: Ids) -> tuple[Outputs, Lacking]:
        outputs = AskedOnce(self.id).find(connection, ids)[0]
        calls, made, lacking = self._calls(connection, ids, outputs), dict[bytes, Output](), {}
        for key, own in calls.items():
            answered = sum(not output.error for output in own.values())
            count = answered if self.retry and key not in self.tried else len(own)
            if count < self.number:
                first = max(own, default=0) + 1
                lacking[key] = range(first, first + self.number - count)
            else:
                made[key] = outputs.get(key) or _counting(own)
        new = {key: output for key, output in made.items() if key not in outputs}
        return made | self._keep_counting(connection, ids, new), lacking

    def keep(self, connection: Connection, ids: Ids, numbers: range, returned: Sequence[Output]) -> Outputs:
        made = zip(product(numbers, ids), returned, strict=True)
        self.keep_calls(connection, ids, [(key, number, output) for (number, key), output in made])
        calls = self._calls(connection, ids, {})
        return self._keep_counting(connection, ids, {key: _counting(calls[key]) for key in ids})

    def keep_calls(self, connection: Connection, ids: Ids, calls: Iterable[tuple[bytes, int, Output]]) -> None:
        """Store calls as (key of the input, number, output); those that are there stay."""
        rows = [
            {"input_id": ids[key], "system_id": self.id, "number": number}
            | {name: getattr(output, name) for name in _FIELDS}
            for key, number, output in calls
        ]
        insert_new(connection, tables.Repeat, rows)

    def is_lacking(self, connection: Connection) -> bool:
        output, call = table_of(tables.Output), table_of(tables.Repeat)
        made = select(func.count()).where(call.c.system_id == self.id, call.c.input_id == output.c.input_id)
        if self.retry:
            made = made.where(call.c.error.is_(None))
        query = select(output.c.input_id).where(
            output.c.system_id == self.id,
            or_(*(output.c[name].is_not(None) for name in _FIELDS[:-1])),
            made.scalar_subquery() < self.number,
        )
        return connection.execute(query.limit(1)).first() is not None

    def _calls(self, connection: Connection, ids: Ids, once: Outputs) -> dict[bytes, Calls]:
        """Return all calls on inputs. The output that counts is one, too, and is kept as such: the first, or the next
        where all before failed and it did not, since it was asked for again."""
        calls: dict[bytes, Calls] = {key: {} for key in ids}
        for key, row in _rows(connection, tables.Repeat, self.id, ids):
            calls[key][int(row.number)] = Output.stored(row._mapping)
        new = []
        for key, output in once.items():
            made = calls[key]
            if not made or (not output.error and all(call.error for call in made.values())):
                made[max(made, default=0) + 1] = output
                new.append((key, max(made), output))
        self.keep_calls(connection, ids, new)
        return calls

    def _keep_counting(self, connection: Connection, ids: Ids, counting: Outputs) -> Outputs:
        """Store outputs of inputs that have none yet, or an error; return those that count now."""
        outputs, lacking = AskedOnce(self.id, retry=True).find(connection, {key: ids[key] for key in counting})
        for numbers in set(lacking.values()):
            new = {key: ids[key] for key, own in lacking.items() if own == numbers}
            outputs |= keep_outputs(connection, self.id, new, [counting[key] for key in new], numbers.start)
        return outputs


def _counting(calls: Calls) -> Output:
    return next((output for output in calls.values() if not output.error), next(iter(calls.values())))
