"""Shares of causes, worked by hand, and in a report, with the reasons of disputes."""

import json

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from question_world import add_people
from sqlalchemy import select

from audit.judging.adjudications import adjudicate
from audit.judging.causes import CAUSES
from audit.judging.samples import ask_next
from audit.reports.study import cause_entries, study_report
from audit.runner.imported import import_run
from audit.sampling.samples import SampleOptions
from audit.store import open_store
from audit.store.core import question
from audit.studies.impact import false_satisfactions, give_cause


def falses(*cells):
    """Rows of `named_falses`: of each cell its system, for how many groups a judged one stands, and the codes."""
    rows = [
        {"study": 1, "task": "sentiment", "relation": "X", "system": system, "source": 100 * number + place,
         "weight": float(weight), "code": code}
        for number, (system, weight, codes) in enumerate(cells)
        for place, code in enumerate(codes)
    ]  # fmt: skip
    return pd.DataFrame(rows).astype({"code": object})


def of(entries, by, name):
    return next(entry for entry in entries if (entry["by"], entry["name"]) == (by, name))


def test_cells_weigh_as_many_false_satisfactions_as_they_have():
    # a: 10 false ones, each for 5, two causes, both doubtful. b: 5, each for 2, two causes, one of them doubtful.
    # Together (50 * 1 + 10 * 1/2) / 60 = 55/60.
    entries = cause_entries(
        falses(("a", 5, ["doubtful"] * 2 + [None] * 8), ("b", 2, ["doubtful", "other"] + [None] * 3))
    )
    shares = {one["cause"]: one["share"]["value"] for one in of(entries, "overall", "all")["causes"]}
    assert (shares["doubtful"], shares["other"]) == pytest.approx((55 / 60, 5 / 60))
    assert of(entries, "relation", "X")["study"] == 1
    assert [entry["by"] for entry in entries] == ["relation", "system", "system", "overall"]


codes = st.lists(st.sampled_from([*CAUSES, None]), min_size=1, max_size=8)


@pytest.mark.slow
@settings(max_examples=60)
@given(st.lists(st.tuples(codes, st.floats(1, 20)), min_size=1, max_size=4))
def test_shares_are_shares_and_lie_in_their_intervals(cells):
    entries = cause_entries(falses(*((f"s{at}", weight, named) for at, (named, weight) in enumerate(cells))))
    assert bool(entries) == any(code for named, _ in cells for code in named)
    for entry in entries:
        assert 0 < entry["named"] == sum(cause["count"] for cause in entry["causes"]) <= entry["false"]
        assert sum(cause["share"]["value"] for cause in entry["causes"]) == pytest.approx(1)
        for share in (cause["share"] for cause in entry["causes"]):
            assert -1e-9 <= share["low"] <= share["value"] + 1e-9 <= share["high"] + 2e-9 <= 1 + 3e-9


@pytest.mark.slow
def test_each_false_satisfaction_with_a_cause_counts(tmp_path):
    """Two systems on six films under a relation that carries nothing; all that people say is neutral."""
    lines = [
        {"relation": "X", "system": system, "source": f"Film {n}.", "follow_ups": [f"Film {n}!"], "id": str(n),
         "outputs": [label, label], "verdict": "satisfied"}
        for system, label in (("a", "positive"), ("b", "negative"))
        for n in range(6)
    ]  # fmt: skip
    (tmp_path / "own.jsonl").write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    engine = open_store(str(tmp_path / "a.db"), create=True)
    import_run(engine, tmp_path / "own.jsonl")
    ask_next(engine, SampleOptions(share=1.0))
    judge = add_people(engine, {"ada": "adjudicator"})["ada"]
    with engine.connect() as connection:
        asked = connection.execute(select(question.c.id)).scalars().all()
    for id in asked:
        adjudicate(engine, judge, id, ["neutral"], "", "slip")
    of_a = [pair for pair in false_satisfactions(engine, judge).without if pair[1] == 1]
    for place in (0, 1, 3):
        give_cause(engine, judge, *of_a[place], "doubtful")
    report = study_report(engine)
    entry = of(report["causes"], "system", "a")
    assert (entry["false"], entry["named"], report["signature"]["causes"]) == (6, 3, 3)
    assert report["disputes"]["settled"] == len(asked)
