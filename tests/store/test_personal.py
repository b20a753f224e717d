"""What says who somebody is: nothing of it is forgotten, and pseudonyms are what they promise."""

from sqlalchemy import String
from sqlmodel import SQLModel

from audit.store import dump, tables
from audit.store.dump import is_secret, pseudonym, salt_of


def about_people(table):
    return table.name == tables.Annotator.__tablename__ or any(
        foreign.target_fullname == "annotator.id" for column in table.columns for foreign in column.foreign_keys
    )


def test_every_text_of_a_table_about_people_has_been_thought_about():
    sorts = (dump.SECRET_COLUMNS, dump.NAMES, dump.FREE_TEXT, dump.IMPERSONAL)
    forgotten = [
        f"{table.name}.{column.name}"
        for table in SQLModel.metadata.sorted_tables
        if about_people(table) and not is_secret(table)
        for column in table.columns
        if isinstance(column.type, String)
        and not any(column.name in columns_of.get(table.name, ()) for columns_of in sorts)
    ]
    assert forgotten == [], "say in audit/store/dump.py what they hold"


def test_pseudonyms_depend_on_the_salt_and_on_the_name(tmp_path):
    assert pseudonym("anna", b"one") == pseudonym("anna", b"one")
    assert len({pseudonym("anna", b"one"), pseudonym("anna", b"two"), pseudonym("ben", b"one")}) == 3
    assert "anna" not in pseudonym("anna", b"one")
    file = tmp_path / "salt"
    assert salt_of(file) == salt_of(file)
    assert file.stat().st_mode & 0o077 == 0
    assert salt_of(None) != salt_of(None)
