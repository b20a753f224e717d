"""Which groups are asked about themselves: beginnings of the cells' lists, and nothing is taken back."""

from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import select
from test_draw import add, database, drawn, populations

from audit.relations import Outcome
from audit.sampling.audits import Audits
from audit.sampling.draw import SampleRequest, Size, draw_study
from audit.store import table_of, tables


def draw(engine, study, *given, **more):
    """Draw and ask nobody: these groups are nothing but their numbers."""
    with engine.begin() as connection:
        return draw_study(connection, study, SampleRequest(*given, **more))


def audited_groups(engine):
    """(relation, system, outcome) -> groups in the order of their ranks."""
    table = table_of(tables.AuditDraw)
    query = select(table).order_by(table.c.relation_id, table.c.system_id, table.c.outcome, table.c.rank)
    groups_of = {}
    with engine.connect() as connection:
        for row in connection.execute(query).mappings():
            groups = groups_of.setdefault((row["relation_id"], row["system_id"], Outcome(row["outcome"])), [])
            groups.append(row["group_id"])
            assert row["rank"] == len(groups)
    return groups_of


@settings(max_examples=8, deadline=None)
@given(
    populations,
    st.lists(st.integers(0, 12), min_size=1, max_size=3),
    populations,
)
def test_audits_are_beginnings_and_what_was_asked_stays(before, numbers, later):
    engine = database()
    before = before | {(1, 1, 1): Outcome.SATISFIED}
    add(engine, before)
    before_this, most = {}, 0
    for number in numbers:
        sample = draw(engine, 1, Size(per_relation=6), audits=Audits(groups=number))
        now, most = audited_groups(engine), max(most, number)
        assert sample.audited_groups == len({group for members in now.values() for group in members})
        lists = drawn(engine)
        for (relation, system, outcome), groups in now.items():
            there = sum(
                place[:2] == (relation, system) and place_outcome == outcome for place, place_outcome in before.items()
            )
            if outcome is Outcome.SATISFIED:
                # The same groups, in the same order, as are judged for false satisfactions.
                assert groups == [group for group, _, _ in lists[relation, system]][: len(groups)]
                there = min(there, 6)
            assert len(groups) == min(there, most)
            assert groups[: len(before_this.get((relation, system, outcome), []))] == before_this.get(
                (relation, system, outcome), []
            )
        assert {outcome for _, _, outcome in now} <= {Outcome.SATISFIED, Outcome.VIOLATED}
        before_this = now
    # The run goes on: what was asked about is asked about still.
    add(engine, {place: outcome for place, outcome in later.items() if place not in before})
    draw(engine, 1, Size(per_relation=1))
    grown = audited_groups(engine)
    for cell, groups in before_this.items():
        assert set(groups) <= set(grown[cell])


def test_systems_share_audited_groups():
    engine = database()
    outcomes = {(1, s, n): Outcome.VIOLATED if n % 3 else Outcome.SATISFIED for s in (1, 2) for n in range(1, 31)}
    add(engine, outcomes)
    assert draw(engine, 1, Size(per_relation=10), audits=Audits(groups=5)).audited_groups == 10


def test_nothing_is_asked_without_audits_and_nothing_violated_is_no_mistake():
    engine = database()
    add(engine, {(1, 1, n): Outcome.SATISFIED for n in range(1, 6)})
    assert draw(engine, 1, Size(per_relation=3)).audited_groups == 0
    assert audited_groups(engine) == {}
    assert draw(engine, 1, Size(per_relation=3), audits=Audits(groups=4)).audited_groups == 3
