"""Bulk writes: repeating them changes nothing, content survives as it is, ids of groups never meet."""

from datetime import UTC, datetime

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import select
from sqlalchemy.exc import SQLAlchemyError

from audit.store import group_id, input_ids, insert_new, open_store, table_of, tables, upsert
from audit.store.bulk import LIMIT
from audit.store.copying import in_utc
from audit.tasks import Input

texts = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=40)


def test_columns_that_are_left_out_have_their_defaults_and_numbers_may_be_numpys():
    with open_store("sqlite://", create=True).begin() as connection:
        rows = {"id": np.arange(1, 91), "name": list(map(str, range(90))), "version": ["1"] * 90}
        insert_new(connection, tables.System, rows)
        stored = connection.execute(select(table_of(tables.System))).all()
    assert [tuple(row) for row in stored] == [(n + 1, str(n), "1", "{}") for n in range(90)]


# What COPY, SQL or JSON could take for something else.
odd = st.sampled_from(["\\N", "\\.", "a\tb\\tc", "x\ny\r\n", "{}", "NULL", '"', "'; --", "影评 👍🏽", ""])
words = st.one_of(odd, texts)
maybe = st.none() | words
numbers = st.none() | st.floats(allow_nan=False)
moments = st.datetimes(min_value=datetime(1990, 1, 1), max_value=datetime(2090, 1, 1), timezones=st.just(UTC))
anything = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | words,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=3),
    max_leaves=6,
)
some_group = st.integers(1, 3) | st.integers(2**62, 2**62 + 2)
ROWS = {
    tables.Output: st.fixed_dictionaries(
        {"input_id": st.integers(1, 3), "system_id": st.integers(1, 3), "attempt": st.integers(1, 2), "label": maybe,
         "score": numbers, "text": maybe, "error": maybe, "details": st.none() | st.dictionaries(words, anything)}
    ),
    tables.Verdict: st.fixed_dictionaries(
        {"group_id": some_group, "system_id": st.integers(1, 3), "outcome": st.integers(0, 3), "value": numbers,
         "reason": maybe}
    ),
    tables.Member: st.fixed_dictionaries(
        {"group_id": some_group, "step": st.integers(0, 3), "input_id": st.integers(1, 3), "role": words}
    ),
    tables.Setting: st.fixed_dictionaries({"name": words, "value": anything}),
    tables.Invitation: st.fixed_dictionaries(
        {"id": st.integers(1, 3), "annotator_id": st.none() | st.just(1), "role": words, "languages": words,
         "code": maybe, "uses_left": st.integers(0, 9), "created_at": moments, "expires_at": moments}
    ),
}  # fmt: skip
"""Rows of tables that have every kind of column between them; few keys, so that some come twice."""
written = st.sampled_from(list(ROWS)).flatmap(
    lambda model: st.tuples(st.just(model), st.lists(ROWS[model], max_size=12), st.lists(ROWS[model], max_size=12))
)


def filled(where):
    """A new database with what the rows above refer to."""
    engine = open_store(where, create=True)
    with engine.begin() as connection:
        insert_new(connection, tables.System, {"id": [1, 2, 3], "name": ["a", "b", "c"], "version": ["1"] * 3})
        input_ids(connection, [Input.of("x"), Input.of("y"), Input.of("z")])
        somebody = {"id": 1, "name": "ann", "role": "annotator", "created_at": tables.now()}
        insert_new(connection, tables.Annotator, [somebody])
    return engine


@pytest.fixture(scope="module")
def referred():
    """Such a database that tests leave as it is."""
    return filled("sqlite://")


def stored_as_expected(engine, model, first, second):
    """Rows are inserted, then more: those that were there stay; then replaced by others: the last ones stay."""
    table = table_of(model)
    keys = [column.name for column in table.primary_key]

    def key(row):
        return tuple(row[name] for name in keys)

    def there(connection):
        rows = connection.execute(select(table)).mappings()
        return {
            key(row): {name: in_utc(one) if isinstance(one, datetime) else one for name, one in row.items()}
            for row in rows
        }

    with engine.connect() as connection, connection.begin() as transaction:
        expected = {}
        for rows, write in ((first, insert_new), (second, insert_new), (first, upsert), (second[:2], upsert)):
            keys_before = set(expected)
            for row in rows:
                if write is upsert or key(row) not in expected:
                    expected[key(row)] = row
            new = write(connection, model, rows)
            assert there(connection) == expected
            assert write is upsert or new == len(expected) - len(keys_before)
        transaction.rollback()


@pytest.mark.slow
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.integers(1, 5), written)
def test_any_rows_come_back_equal_however_they_are_given(monkeypatch, referred, at_once, rows):
    monkeypatch.setattr("audit.store.bulk.AT_ONCE", at_once)
    monkeypatch.setattr("audit.store.bulk._STATEMENTS", 2)
    stored_as_expected(referred, *rows)


@pytest.mark.postgres
def test_any_rows_come_back_equal_from_postgresql(postgres_url):
    engine = filled(postgres_url)

    @settings(max_examples=25, deadline=None)
    @given(written)
    def check(rows):
        stored_as_expected(engine, *rows)

    check()
    with pytest.raises(SQLAlchemyError) as caught, engine.begin() as connection:
        insert_new(connection, tables.Setting, [{"name": "a\0secret", "value": 1}])
    assert "secret" not in str(caught.value)
    engine.dispose()


small = st.integers(1, LIMIT - 1)
places = st.tuples(st.integers(1, 2**42), small, st.one_of(st.none(), small))


@given(places, places)
def test_ids_of_groups_fit_into_63_bits_and_never_meet(first, second):
    assert 0 < group_id(*first) < 2**63
    assert (group_id(*first) == group_id(*second)) == (first == second)
