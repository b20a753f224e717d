"""Causes as they are stored: the last one counts, and taking one back brings the one before it back."""

import pytest

from audit.judging.accounts import add_account
from audit.judging.causes import TAKEN_BACK, add_cause, current_causes
from audit.store import open_store, table_of, tables


@pytest.fixture
def engine(tmp_path):
    engine = open_store(str(tmp_path / "a.db"), create=True)
    for name in ("ada", "eve"):
        add_account(engine, name, "adjudicator", "long enough")
    with engine.begin() as connection:
        connection.execute(table_of(tables.System).insert(), {"name": "a", "version": "1", "settings": "{}"})
    return engine


@pytest.mark.parametrize(
    ("history", "code"),
    [
        ([(1, "all_wrong"), (1, TAKEN_BACK)], None),
        ([(1, "all_wrong"), (2, "doubtful"), (2, TAKEN_BACK)], "all_wrong"),
        ([(1, "all_wrong"), (2, "doubtful"), (1, TAKEN_BACK)], "doubtful"),
        ([(1, TAKEN_BACK), (1, "all_wrong")], "all_wrong"),
    ],
)
def test_the_last_one_that_was_not_taken_back_counts(engine, history, code):
    with engine.begin() as connection:
        for who, chosen in history:
            add_cause(connection, who, (7, 1), chosen, None)
        causes = current_causes(connection)
        assert (causes[7, 1].code if causes else None) == code
        assert current_causes(connection, 8) == {}
        assert len(connection.execute(table_of(tables.Cause).select()).all()) == len(history)
