"""The design `informative`: one list for all systems of a relation, and every sample a beginning of it."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import event
from test_draw import add, database, drawn

from audit.errors import AuditError
from audit.judging.samples import draw, draw_all
from audit.keys import uniform
from audit.relations import Outcome
from audit.sampling.designs import Numbers
from audit.sampling.draw import DifferingInputs, NothingToCompare, SampleRequest, Size
from audit.store import group_id, insert_new, tables

# (relation, system, source): relation 1 has one group for both systems, relation 2 a group for each.
places = st.tuples(st.integers(1, 2), st.integers(1, 2), st.integers(1, 30))
populations = st.dictionaries(places, st.sampled_from(list(Outcome)), min_size=5, max_size=110)
sizes = st.one_of(st.builds(Size, st.integers(1, 20)), st.builds(lambda share: Size(share=share), st.floats(0.01, 1)))


def listed(outcomes):
    """{relation: sources of its informative groups, in the drawn order}. These groups have no members, so that where
    both systems have the same group they say the same."""
    lists = {}
    for relation in (1, 2):
        both = [
            {
                source: outcome
                for (r, s, source), outcome in outcomes.items()
                if (r, s) == (relation, system) and outcome <= 1
            }
            for system in (1, 2)
        ]
        if not all(both):
            continue
        sources = [
            source
            for source in sorted(set(both[0]) & set(both[1]), key=lambda source: uniform(3, f"r{source}"))
            if {both[0][source], both[1][source]} != {Outcome.VIOLATED}
            and not (relation == 1 and both[0][source] == both[1][source])
        ]
        lists[relation] = sources
    return lists


@pytest.mark.slow
@settings(max_examples=12)
@given(populations, st.lists(sizes, min_size=1, max_size=3))
def test_what_was_drawn_stays_and_is_the_beginning_of_the_relations_list(outcomes, size_list):
    engine = database()
    add(engine, outcomes)
    lists, longest = listed(outcomes), dict.fromkeys((1, 2), 0)
    if not lists:
        with pytest.raises((NothingToCompare, AuditError)):
            draw(engine, 1, SampleRequest(size_list[0], "informative"))
        return
    before = {}
    for size in size_list:
        sample = draw(engine, 1, SampleRequest(size, "informative"))
        now = drawn(engine)
        assert set(before) <= set(now)
        assert all(
            now[cell][: len(rows)] == [(g, r, now[cell][0][2]) for g, r, _ in rows] for cell, rows in before.items()
        )
        assert sample.added == sum(map(len, now.values())) - sum(map(len, before.values()))
        assert sample.not_compared == tuple(f"R{r}" for r in {place[0] for place in outcomes} - set(lists))
        expected = {}
        for relation, sources in lists.items():
            longest[relation] = max(longest[relation], size.of(len(sources)))
            for rank, source in enumerate(sources[: longest[relation]], start=1):
                for system in (1, 2):
                    if outcomes[relation, system, source] == Outcome.SATISFIED:
                        group = group_id(source, relation, system if relation == 2 else None)
                        pi = pytest.approx(longest[relation] / len(sources))
                        expected.setdefault((relation, system), []).append((group, rank, pi))
        assert now == expected
        before = now


def test_numbers_are_those_of_the_design_shared():
    engine = database()
    with engine.connect() as connection:
        numbers = Numbers.of_study(connection, 1, 7).of(np.array([4, 2, 4]))
    assert numbers.tolist() == [uniform(7, "r4"), uniform(7, "r2"), uniform(7, "r4")]


def test_a_system_run_later_changes_the_list_and_what_is_drawn_follows():
    engine = database()
    add(engine, {(1, 1, n): Outcome.SATISFIED for n in range(1, 31)})
    with pytest.raises(NothingToCompare, match="study 1 has no relation under which two systems were checked"):
        draw(engine, 1, SampleRequest(Size(per_relation=5), "informative"))
    assert drawn(engine) == {}
    # The second system violates every second group: those tell the two apart.
    add(engine, {(1, 2, n): Outcome(n % 2) for n in range(1, 31)})
    sample = draw(engine, 1, SampleRequest(Size(per_relation=5), "informative"))
    assert (sample.drawn, sample.cells, sample.distinct_sources, sample.not_compared) == (5, 1, 5, ())
    assert draw(engine, 1, SampleRequest(Size(share=1.0), "informative")).drawn == 15


def test_systems_that_agree_everywhere_need_no_judging():
    engine = database()
    add(engine, {(1, system, n): Outcome(n % 2) for system in (1, 2) for n in range(1, 31)})
    sample = draw(engine, 1, SampleRequest(Size(per_relation=5), "informative"))
    assert (sample.drawn, sample.added, sample.cells) == (0, 0, 0)
    assert drawn(engine) == {}


def test_of_several_studies_those_are_drawn_that_compare():
    engine = database()
    add(engine, {(1, 1, n): Outcome.SATISFIED for n in range(1, 31)})
    with pytest.raises(NothingToCompare, match="run another system, or draw with the design shared"):
        draw_all(engine, SampleRequest(Size(per_relation=5), "informative"))


def test_inputs_on_which_systems_differ_are_looked_up_once_for_some_systems():
    engine = database()
    said = {
        1: ("positive", "positive", None),
        2: ("positive", "negative", "negative"),
        3: ("positive", "positive", "negative"),
        4: ("positive", None, None),
    }
    rows = [
        {
            "input_id": input,
            "system_id": system,
            "attempt": 1,
            "label": label,
            "score": 1.0,
            "text": None,
            "error": None,
        }
        for input, labels in said.items()
        for system, label in enumerate(labels, start=1)
        if label
    ]
    rows += [rows[0] | {"input_id": 5, "system_id": system, "label": None} for system in (1, 2, 3)]  # scores alone
    looked = []
    with engine.begin() as connection:
        insert_new(connection, tables.System, [{"id": 3, "name": "S3", "version": "1", "settings": "{}"}])
        insert_new(connection, tables.Output, rows)

        @event.listens_for(connection, "before_cursor_execute")
        def look(_connection, _cursor, statement, *_others):
            looked.append("FROM output" in statement)

        differing = DifferingInputs(connection)
        inputs = np.array([4, 3, 2, 1, 9])  # nobody was asked about input 9
        assert differing.of((1, 2), inputs).tolist() == [False, False, True, False, False]
        assert differing.of((1, 2, 3), inputs).tolist() == [False, True, True, False, False]
        assert differing.of((1, 2), inputs[:2]).tolist() == [False, False]
        assert differing.of((1, 2), np.array([5])).tolist() == [True]
    assert sum(looked) == 2
