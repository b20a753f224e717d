"""Outputs in the store, as a run needs them: what is there already, and what came new."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, select

from audit.store import insert_new, pieces, table_of, tables
from audit.tasks import Output

Asked = tuple[int, bytes]
"""System id and key of an input."""


class Stored:
    """The outputs of a run's systems by input, and which failed ones are to be executed again.

    `retried`, where it is given, says that failed inputs are executed again, and which were in this run: each once,
    whether it failed again or not.
    """

    def __init__(self, retried: set[Asked] | None = None):
        self.retried = retried
        self._attempts: dict[Asked, int] = {}
        """How often an input that is to be executed again was executed."""

    def outputs(self, connection: Connection, system: int, ids: Mapping[bytes, int]) -> dict[bytes, Output]:
        """Outputs of inputs by key, the last attempt of each. An error that is to be tried again is none of them."""
        kept = {}
        for key, (attempt, output) in self._attempted(connection, system, ids).items():
            if output.error and self.retried is not None and (system, key) not in self.retried:
                self._attempts[system, key] = attempt
            else:
                kept[key] = output
        return kept

    def _attempted(
        self, connection: Connection, system: int, ids: Mapping[bytes, int]
    ) -> dict[bytes, tuple[int, Output]]:
        """The last attempt on each input, with its output."""
        table = table_of(tables.Output)
        keys = {id: key for key, id in ids.items()}
        found: dict[bytes, tuple[int, Output]] = {}
        for piece in pieces(keys):
            query = (
                select(table).where(table.c.system_id == system, table.c.input_id.in_(piece)).order_by(table.c.attempt)
            )
            for row in connection.execute(query).mappings():
                output = Output(row["label"], row["score"], row["text"], row["error"])
                found[keys[row["input_id"]]] = row["attempt"], output
        return found

    def note(self, system: int, keys: Collection[bytes]) -> int:
        """Note that these were executed in this run; how many of them had failed before."""
        if self.retried is not None:
            self.retried.update((system, key) for key in keys)
        return sum((system, key) in self._attempts for key in keys) if self._attempts else 0

    def keep(
        self, connection: Connection, system: int, ids: Mapping[bytes, int], outputs: Sequence[Output]
    ) -> dict[bytes, Output]:
        """Store outputs, in the order of `ids`; returns those that count: another run may have been quicker."""
        rows: dict[str, Sequence[Any]] = {
            "input_id": list(ids.values()),
            "system_id": [system] * len(ids),
            "attempt": [self._attempts.get((system, key), 0) + 1 for key in ids] if self._attempts else [1] * len(ids),
            "label": [output.label for output in outputs],
            "score": [output.score for output in outputs],
            "text": [output.text for output in outputs],
            "error": [output.error for output in outputs],
        }
        new = insert_new(connection, tables.Output, rows)
        made = dict(zip(ids, outputs, strict=True))
        if new == len(ids):
            return made
        return made | {key: output for key, (_, output) in self._attempted(connection, system, ids).items()}
