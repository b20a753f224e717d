"""SQLModel tables, opening a database, bulk writes, and reading every check at once."""

from audit.store.bulk import (
    columns,
    group_id,
    insert_new,
    pieces,
    reading,
    rows_among,
    snapshot,
    table_of,
    upsert,
    writing,
)
from audit.store.engine import open_store, write_much
from audit.store.outcomes import UNCHECKED, Checked, by_system, checked, input_ids, integers, need_study, store_inputs

__all__ = [
    "UNCHECKED",
    "Checked",
    "by_system",
    "checked",
    "columns",
    "group_id",
    "input_ids",
    "insert_new",
    "integers",
    "need_study",
    "open_store",
    "pieces",
    "reading",
    "rows_among",
    "snapshot",
    "store_inputs",
    "table_of",
    "upsert",
    "write_much",
    "writing",
]
