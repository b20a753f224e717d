"""SQLModel tables, opening a database, and bulk writes."""

from audit.store.bulk import input_ids, insert_new, pieces, table_of, upsert
from audit.store.engine import open_store
from audit.store.ids import group_id

__all__ = ["group_id", "input_ids", "insert_new", "open_store", "pieces", "table_of", "upsert"]
