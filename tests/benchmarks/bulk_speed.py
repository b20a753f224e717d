"""Rows per CPU second of bulk writes, beside SQLAlchemy's own executemany of the same rows in the same run.

Everything written is simulated: texts of some 120 characters in made-up words, outputs and verdicts of four systems.

    python tests/benchmarks/bulk_speed.py                                     # SQLite, in a temporary folder
    python tests/benchmarks/bulk_speed.py --db postgresql+psycopg://...       # an empty database; it is filled
"""

import argparse
import random
import tempfile
import time
from pathlib import Path

from sqlalchemy.dialects import postgresql, sqlite

from audit.store import group_id, insert_new, open_store, table_of, tables

INPUTS = 10_000
"""Of one batch; outputs and verdicts are four times, members twice as many."""
SYSTEMS = [1, 2, 3, 4]


def batch(number, rng):
    """(model, columns) of one batch, each after those that it refers to."""
    words = ["".join(rng.choices("abcdefghijk", k=rng.randint(2, 9))) for _ in range(500)]
    ids = list(range(number * INPUTS + 1, (number + 1) * INPUTS + 1))
    each, pair = [id for id in ids for _ in SYSTEMS], [id for id in ids for _ in range(2)]
    wide = len(each)
    texts = [[" ".join(rng.choices(words, k=19))] for _ in ids]
    keys = [rng.randbytes(16) for _ in ids]
    yield tables.Input, {"id": ids, "key": keys, "texts": texts, "languages": ["en"] * INPUTS}
    yield tables.Output, {
        "input_id": each, "system_id": SYSTEMS * INPUTS, "attempt": [1] * wide, "label": ["positive"] * wide,
        "score": [rng.random() for _ in each], "text": [None] * wide, "error": [None] * wide,
    }  # fmt: skip
    yield tables.Member, {
        "group_id": [group_id(id, 1, None) for id in pair], "step": [0, 1] * INPUTS, "input_id": pair,
        "role": ["source", "follow_up"] * INPUTS,
    }  # fmt: skip
    yield tables.Verdict, {
        "group_id": [group_id(id, 1, None) for id in each], "system_id": SYSTEMS * INPUTS, "outcome": [0] * wide,
        "value": [None] * wide, "reason": [None] * wide,
    }  # fmt: skip


def executemany(connection, model, rows):
    """What SQLAlchemy does with rows, 10,000 a statement."""
    dialect = sqlite if connection.dialect.name == "sqlite" else postgresql
    statement = dialect.insert(table_of(model)).on_conflict_do_nothing()
    for start in range(0, len(rows), 10_000):
        connection.execute(statement, rows[start : start + 10_000])


def measured(where, repeats):
    """(table, way) -> the most rows per CPU second of this process in any repeat, each behind the rows before."""
    best = {}
    rng = random.Random(0)
    engine = open_store(where, create=True)
    with engine.begin() as connection:
        insert_new(connection, tables.System, {"id": SYSTEMS, "name": list("abcd"), "version": ["1"] * 4})
    for number in range(3 * repeats):
        way = ("executemany", "rows", "columns")[number % 3]
        for model, columns in batch(number, rng):
            rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
            with engine.begin() as connection:
                started = time.process_time()
                if way == "executemany":
                    executemany(connection, model, rows)
                else:
                    insert_new(connection, model, rows if way == "rows" else columns)
                spent = time.process_time() - started
            best[model.__tablename__, way] = max(best.get((model.__tablename__, way), 0), len(rows) / spent)
    engine.dispose()
    return best


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--db", help="an empty database (default: a new SQLite file)")
    parser.add_argument("--repeats", type=int, default=5)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        found = measured(arguments.db or str(Path(folder) / "simulated.db"), arguments.repeats)
    print("| table | executemany | rows | columns |")
    print("|---|---|---|---|")
    for table in dict.fromkeys(table for table, _ in found):
        print(
            f"| {table} | "
            + " | ".join(f"{found[table, way]:,.0f}" for way in ("executemany", "rows", "columns"))
            + " |"
        )


if __name__ == "__main__":
    main()
