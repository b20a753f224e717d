"""SQLModel tables, opening a database, bulk writes, and reading every check at once."""

from audit.store.bulk import insert_new, pieces, table_of, upsert
from audit.store.engine import open_store, write_much
from audit.store.ids import group_id
from audit.store.inputs import input_ids, known_inputs
from audit.store.outcomes import UNCHECKED, Checked, checked, integers, need_study
from audit.store.writing import reading, writing

__all__ = [
    "UNCHECKED",
    "Checked",
    "checked",
    "group_id",
    "input_ids",
    "insert_new",
    "integers",
    "known_inputs",
    "need_study",
    "open_store",
    "pieces",
    "reading",
    "table_of",
    "upsert",
    "write_much",
    "writing",
]
