"""What a database holds after a run, and how large it is: for the benchmarks of whole studies."""

import sqlite3
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

_TABLES = {"sources": "source", "groups": '"group"', "checks": "verdict", "inputs": "input", "executions": "output"}


@dataclass(frozen=True)
class Counts:
    """`checks` are (group, system) pairs, `inputs` distinct ones, `executions` outputs; `each_time` is how many
    executions it would take if every check executed each of its group's inputs itself. `mib` is the database's size."""

    studies: int
    sources: int
    groups: int
    checks: int
    inputs: int
    executions: int
    each_time: int
    mib: float

    @property
    def saved(self):
        """Share of executions that executing each distinct input once saves."""
        return 1 - self.executions / self.each_time if self.each_time else 0.0

    @property
    def mib_per_million(self):
        """MiB that 10^6 groups would take at this rate."""
        return self.mib / self.groups * 1e6 if self.groups else 0.0


def read_only(path):
    """A connection of SQLite that only reads, closed at the end of its `with`."""
    return closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True))


def counts(path):
    """The counts of a SQLite database."""
    with read_only(path) as connection:

        def one(query):
            return connection.execute(query).fetchone()[0]

        found = {name: one(f"SELECT count(*) FROM {table}") for name, table in _TABLES.items()}  # noqa: S608
        return Counts(
            **found,
            studies=one("SELECT count(*) FROM study"),
            each_time=one("SELECT count(*) FROM verdict JOIN member ON member.group_id = verdict.group_id"),
            mib=sum(file.stat().st_size for file in Path(path).parent.glob(f"{Path(path).name}*")) / 2**20,
        )
