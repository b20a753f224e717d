"""What in the tables says who somebody is, and what must never leave the database.

A new table that refers to an annotator, or a new text in one that does, has its place here: a test refuses texts that
nobody thought about.
"""

import hashlib
import os
import secrets
from pathlib import Path

from sqlalchemy import Connection, Table, select
from sqlmodel import SQLModel

from audit.errors import BadFile
from audit.files import read_bytes
from audit.new_files import new_file
from audit.store import tables
from audit.store.bulk import table_of

SECRET_TABLES = ("login", "job", "chunk_lease")
"""Tables that stay where they are: sessions and what protects them, and work that this machine has in hand. A name with
`_` behind it counts too."""
SECRET_COLUMNS = {"annotator": ("password",)}
"""Columns that stay where they are; they are null where an export is imported."""
NAMES = {"annotator": ("name",)}
"""Columns with names of people."""
FREE_TEXT = {
    "judgement": ("comment", "client"),
    "adjudication": ("reason",),
    "aside": ("comment",),
    "cause": ("comment",),
    "known": ("explanation",),
}
"""Columns in which people write what they like, other people's names included, or by which one may know them."""
IMPERSONAL = {
    "annotator": ("role", "languages"),
    "judgement": ("answer",),
    "adjudication": ("code",),
    "aside": ("kind",),
    "cause": ("code",),
    "known": ("purpose",),
    "log": ("action",),
    "plan": ("name",),
}
"""Texts of tables about people that name nobody: words of a list, codes of languages."""
LEFT_OUT = "(left out)"
"""Stands in place of a free text that may not be null."""
_NOT_PEOPLE = ("gold",)


def is_secret(table: Table) -> bool:
    """Whether a whole table stays where it is."""
    return any(table.name == name or table.name.startswith(f"{name}_") for name in SECRET_TABLES)


def carried_tables() -> list[Table]:
    """The tables of an export, each after those that it refers to; the version of the tables is in the
    manifest."""
    return [table for table in SQLModel.metadata.sorted_tables if not is_secret(table) and table.name not in tables.OWN]


def carried_columns(table: Table) -> list[str]:
    """The columns of a table that an export has, in their order."""
    return [column.name for column in table.columns if column.name not in SECRET_COLUMNS.get(table.name, ())]


def left_out() -> list[str]:
    """What an export leaves out: tables, and columns as `table.column`."""
    whole = [table.name for table in SQLModel.metadata.sorted_tables if is_secret(table)]
    return sorted([*whole, *(f"{table}.{column}" for table, columns in SECRET_COLUMNS.items() for column in columns)])


def pseudonym(name: str, salt: bytes) -> str:
    """The name that stands for a person: the same for the same salt, and without the salt nobody can work it out.

    Source: BLAKE2 as a keyed hash (RFC 7693, section 2.9).

    >>> pseudonym("anna", b"salt") == pseudonym("anna", b"salt") != pseudonym("ben", b"salt")
    True
    """
    return f"person-{hashlib.blake2b(name.encode(), key=salt[:64], digest_size=5).hexdigest()}"


def pseudonymise(connection: Connection, salt: bytes, keep_free_text: bool = False) -> None:
    """Put pseudonyms for the names of people, and nothing for what they wrote freely. For a copy, never a database.

    `gold` is nobody and keeps its name.
    """
    table = table_of(tables.Annotator)
    people = connection.execute(select(table.c.id, table.c.name).where(table.c.role.not_in(_NOT_PEOPLE))).all()
    for id, name in people:
        connection.execute(table.update().where(table.c.id == id).values(name=pseudonym(name, salt)))
    if keep_free_text:
        return
    for name, columns in FREE_TEXT.items():
        of = SQLModel.metadata.tables[name]
        for column in columns:
            nothing = None if of.c[column].nullable else LEFT_OUT
            connection.execute(of.update().where(of.c[column].is_not(None)).values({column: nothing}))


def salt_of(file: Path | None) -> bytes:
    """The salt in a file, made where there is none; without a file a new one that nobody keeps.

    Raises BadFile for a file that cannot be read or written, or is too short to be a salt.
    """
    if file is None:
        return secrets.token_bytes(32)
    if not os.path.exists(file):
        with new_file(file, private=True, new=True) as part:
            part.write_text(secrets.token_hex(32) + "\n", encoding="ascii")
    text = read_bytes(file).strip()
    if len(text) < 16:
        raise BadFile(
            f"{file}: a salt has at least 16 bytes, this file has {len(text)}; name a new file to have one made"
        )
    return hashlib.sha256(text).digest()
