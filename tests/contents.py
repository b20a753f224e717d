"""What a database holds, in a form in which two databases can be compared."""

from sqlalchemy import DateTime, Engine, select
from sqlmodel import SQLModel

from audit.store import table_of, tables


def content(engine: Engine, *names: str) -> dict[str, list[str]]:
    """Every table's rows but for their times and the sums of them, sorted; or those of the tables that are named.

    Inputs are named by their keys: their numbers come from the order in which they were stored.
    """
    found = {}
    with engine.connect() as connection:
        known = table_of(tables.Input)
        keys = {id: key.hex() for id, key in connection.execute(select(known.c.id, known.c.key))}
        for table in SQLModel.metadata.sorted_tables:
            if table.name == "seal" or (names and table.name not in names):
                continue
            columns = [column for column in table.columns if not isinstance(column.type, DateTime)]
            inputs = [
                place
                for place, column in enumerate(columns)
                if column is known.c.id or any(one.column is known.c.id for one in column.foreign_keys)
            ]
            rows = []
            for row in connection.execute(select(*columns)):
                shown = list(row)
                for place in inputs:
                    shown[place] = keys.get(row[place])
                rows.append(repr(shown))
            found[table.name] = sorted(rows)
    return found
