"""Causes as they are stored: the last one counts, and taking one back brings the one before it back."""

import pytest

from audit.judging.accounts import add_account
from audit.judging.causes import TAKEN_BACK, add_cause, current_causes, last_given
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


def test_what_is_taken_back_next_is_the_last_of_one_s_own(engine):
    with engine.begin() as connection:
        for pair in ((7, 1), (8, 1), (9, 1)):
            add_cause(connection, 1, pair, "doubtful", None)
        add_cause(connection, 2, (10, 1), "doubtful", None)
        assert last_given(connection, 1) == (9, 1)
        add_cause(connection, 1, (9, 1), TAKEN_BACK, None)
        assert last_given(connection, 1) == (8, 1)
        assert last_given(connection, 2) == (10, 1)
        assert last_given(connection, 3) is None
