"""Every check as arrays: the same as reading the rows one by one."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from audit.relations import Outcome
from audit.store import UNCHECKED, checked, group_id, input_ids, insert_new, open_store, tables
from audit.tasks import Input

places = st.tuples(st.integers(1, 3), st.integers(1, 3), st.integers(1, 8))
verdicts = st.dictionaries(places, st.sampled_from(list(Outcome)), max_size=60)


def database(outcomes):
    """Sources 1 to 8, odd ones of study 1, even ones of study 2; relation 3 has a group for each system."""
    engine = open_store("sqlite://", create=True)
    with engine.begin() as connection:
        ids = sorted(input_ids(connection, [Input.of(f"Text {n}.") for n in range(1, 9)]).values())
        study = {
            "task": "sentiment", "corpus": "made", "fingerprint": "f", "unit": "sentence", "has_gold": False, "seed": 0,
            "chunk": 10, "created_at": tables.now(),
        }  # fmt: skip
        insert_new(connection, tables.Study, [study | {"id": n, "key": bytes([n]) * 16} for n in (1, 2)])
        insert_new(
            connection,
            tables.Source,
            [
                {"id": n, "study_id": 2 - n % 2, "row": f"r{n}", "input_id": id, "attributes": {}, "u": 0.5}
                for n, id in enumerate(ids, start=1)
            ],
        )
        for n in (1, 2, 3):
            insert_new(connection, tables.Relation, [{"id": n, "task": "sentiment", "name": f"R{n}", "version": "1"}])
            insert_new(connection, tables.System, [{"id": n, "name": f"S{n}", "version": "1"}])
        rows = {}
        for (relation, system, source), outcome in outcomes.items():
            group = group_id(source, relation, system if relation == 3 else None)
            rows[group, system] = {"group_id": group, "system_id": system, "outcome": int(outcome)}
        insert_new(connection, tables.Verdict, list(rows.values()))
    return engine


@pytest.mark.slow
@settings(max_examples=25)
@given(verdicts, st.sampled_from([[1], [2], [1, 2], [7], []]))
def test_the_arrays_say_what_the_rows_say(outcomes, studies):
    engine = database(outcomes)
    with engine.connect() as connection:
        checks = checked(connection, studies)
    wanted = {place: outcome for place, outcome in outcomes.items() if 2 - place[2] % 2 in studies}
    assert checks.systems == tuple(sorted({system for _, system, _ in wanted}))
    seen, groups = {}, checks.groups(np.arange(len(checks.source)))
    for row, (relation, source, study) in enumerate(zip(checks.relation, checks.source, checks.study, strict=True)):
        assert study == 2 - source % 2
        assert checks.own[row] == (relation == 3)
        for column, system in enumerate(checks.systems):
            assert groups[row, column] == group_id(int(source), int(relation), system if relation == 3 else None)
            if checks.outcome[row, column] != UNCHECKED:
                seen[int(relation), system, int(source)] = Outcome(int(checks.outcome[row, column]))
    assert seen == wanted
    order = list(zip(checks.source.tolist(), checks.relation.tolist(), strict=True))
    assert order == sorted(set(order))
