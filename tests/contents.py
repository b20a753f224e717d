"""What a database holds, in a form in which two databases can be compared."""

from sqlalchemy import DateTime, Engine, select
from sqlmodel import SQLModel

from audit.store import table_of, tables


def content(engine: Engine, *names: str) -> dict[str, list[str]]:
    """Every table's rows but for their times and the sums of them, sorted; or those of the tables that are named.

    Inputs are named by their keys: their numbers come from the order in which they were stored.
    """
    rows_of_table = {}
    with engine.connect() as connection:
        input_table = table_of(tables.Input)
        keys = {id: key.hex() for id, key in connection.execute(select(input_table.c.id, input_table.c.key))}
        for table in SQLModel.metadata.sorted_tables:
            if table.name == "seal" or (names and table.name not in names):
                continue
            columns = [column for column in table.columns if not isinstance(column.type, DateTime)]
            inputs = [
                place
                for place, column in enumerate(columns)
                if column is input_table.c.id
                or any(foreign_key.column is input_table.c.id for foreign_key in column.foreign_keys)
            ]
            rows = []
            for row in connection.execute(select(*columns)):
                shown = list(row)
                for place in inputs:
                    shown[place] = keys.get(row[place])
                rows.append(repr(shown))
            rows_of_table[table.name] = sorted(rows)
    return rows_of_table
