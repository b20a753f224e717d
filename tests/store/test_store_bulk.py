"""Bulk writes: repeating them changes nothing, content survives as it is, ids of groups never meet."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import select

from audit.errors import AuditError
from audit.store import group_id, input_ids, insert_new, open_store, pieces, table_of, tables, upsert
from audit.store.ids import LIMIT
from audit.tasks import Input


@pytest.fixture(scope="module")
def engine():
    return open_store("sqlite://", create=True)


def stored(connection, ids):
    table = table_of(tables.Input)
    rows = connection.execute(select(table).where(table.c.id.in_(list(ids)))).mappings()
    return {row["id"]: Input(tuple(row["texts"]), tuple(row["languages"].split(","))) for row in rows}


def test_inputs_are_stored_once_whatever_is_asked_again(engine):
    one, two = Input.of("Once."), Input.of("Twice.", "pair")
    with engine.begin() as connection:
        ids = input_ids(connection, [one, two, one, Input.of("Once.")])
        assert input_ids(connection, iter([two, one])) == ids
        assert input_ids(connection, []) == {}
        assert stored(connection, ids.values()) == {ids[one.key]: one, ids[two.key]: two}


def test_two_thousand_inputs_in_one_call(engine):
    many = [Input.of(f"Text {number % 1900}.") for number in range(2000)]
    with engine.begin() as connection:
        first = input_ids(connection, many[:700])
        everything = input_ids(connection, many)
    assert len(everything) == len(set(everything.values())) == 1900
    assert everything.items() >= first.items()


def test_language_and_order_make_another_input(engine):
    inputs = [Input.of("Gut."), Input.of("Gut.", language="de"), Input.of("a", "b"), Input.of("b", "a"), Input.of("ab")]
    with engine.begin() as connection:
        assert len(set(input_ids(connection, inputs).values())) == len(inputs)


texts = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=40)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(
        st.one_of(texts, st.sampled_from(["这部电影很好。", "👍🏽👨‍👩‍👧", "a\r\nb\u2028c", "'; DROP TABLE input; --"])),
        max_size=6,
    )
)
def test_texts_come_back_as_they_went_in(engine, some):
    inputs = [Input.of(text, language="zh") for text in some]
    with engine.begin() as connection:
        ids = input_ids(connection, inputs)
        read = stored(connection, ids.values())
    assert all(read[ids[one.key]] == one for one in inputs)


@pytest.fixture
def verdicts():
    """A database that takes verdicts of groups that are not there."""
    engine = open_store("sqlite://", create=True)
    with engine.connect() as connection:
        connection.exec_driver_sql("PRAGMA foreign_keys=OFF")
    return engine


def rows_of(connection, model):
    return [tuple(row) for row in connection.execute(select(table_of(model)))]


def test_insert_new_leaves_and_upsert_replaces_what_is_there(verdicts):
    with verdicts.begin() as connection:
        insert_new(connection, tables.Verdict, [])
        upsert(connection, tables.Verdict, [])
        given = {"group_id": 1, "system_id": 1, "outcome": 0, "value": None, "reason": None}
        insert_new(connection, tables.Verdict, [given])
        insert_new(connection, tables.Verdict, [given | {"outcome": 1}, given | {"group_id": 2}])
        assert [row[:3] for row in rows_of(connection, tables.Verdict)] == [(1, 1, 0), (2, 1, 0)]
        upsert(connection, tables.Verdict, [given | {"outcome": 3, "reason": "why"}, given | {"group_id": 3}])
        assert [row[2] for row in rows_of(connection, tables.Verdict)] == [3, 0, 0]


def test_more_rows_than_one_batch_of_a_bulk_write(verdicts, monkeypatch):
    monkeypatch.setattr("audit.store.bulk.BATCH", 7)
    rows = [{"group_id": n, "system_id": 1, "outcome": 0, "value": None, "reason": None} for n in range(40)]
    with verdicts.begin() as connection:
        insert_new(connection, tables.Verdict, rows)
        upsert(connection, tables.Verdict, [row | {"outcome": 1} for row in rows])
        assert {row[2] for row in rows_of(connection, tables.Verdict)} == {1}
        assert len(rows_of(connection, tables.Verdict)) == 40


@given(st.lists(st.integers(), max_size=30), st.integers(1, 7))
def test_pieces_are_the_list_cut_up(values, size):
    cut = list(pieces(values, size))
    assert [value for piece in cut for value in piece] == values
    assert all(len(piece) == size for piece in cut[:-1])
    assert all(0 < len(piece) <= size for piece in cut)


small = st.integers(1, LIMIT - 1)
places = st.tuples(st.integers(1, 2**42), small, st.one_of(st.none(), small))


@given(places, places)
def test_ids_of_groups_fit_into_63_bits_and_never_meet(one, other):
    assert 0 < group_id(*one) < 2**63
    assert (group_id(*one) == group_id(*other)) == (one == other)


@pytest.mark.parametrize("place", [(1, LIMIT, None), (1, 1, LIMIT), (1, LIMIT + 5, 3)])
def test_too_many_relations_or_systems_are_refused(place):
    with pytest.raises(AuditError, match="at most 1023 relations and systems"):
        group_id(*place)
