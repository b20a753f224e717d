"""What the order of questions does: the tables of docs/evidence/question-order.md, in a small world."""

from itertools import pairwise

import numpy as np
import pytest
from question_order import anchored, cell_questions, changed, claims, in_order, near, reading, said, stopping, summary
from question_world import filled
from sqlalchemy import select
from study_simulation import Drawing
from study_world import available, world

from audit.store import table_of, tables

here = pytest.mark.skipif(not available(), reason="the study's figures (../shared/data/paper) are not here")


@pytest.fixture(scope="module")
def small():
    return world(seed=1, scale=0.05)


@here
def test_every_order_asks_the_same_questions_and_together_each_text_once(small):
    _, about = cell_questions(Drawing(small, 0), 20)
    orders = {order: in_order(about, order) for order in ("most wanted first", "together", "apart")}
    assert {frozenset(asked) for asked in orders.values()} == {frozenset(about)}
    sources = [about[question][0] for question in orders["together"]]
    assert len(set(sources)) == 1 + sum(one != other for one, other in pairwise(sources))
    assert near(small, "together", 20) == 1
    assert near(small, "apart", 20) < 0.3


@here
@pytest.mark.slow
def test_stopping_early_costs_width_and_no_coverage(small):
    found = stopping(small, redraws=2, judged=40)
    assert (found["held"] >= 0.9).all()
    settled = found["settled"].unstack("order")
    assert (settled["together"] <= settled["most wanted first"]).all()
    assert (settled["together"] > 0.5 * settled["most wanted first"]).all()


@here
@pytest.mark.slow
def test_answers_drawn_to_earlier_ones_bias_where_versions_are_together(small):
    found = anchored(small, {"together": 1.0, "apart": 0.05}, pulls=(0.0, 0.3), redraws=2, judged=40)
    assert found.loc[(0.0, "together")].tolist() == found.loc[(0.0, "apart")].tolist()
    change = (found.loc[0.3] - found.loc[0.0])[["two", "wrong"]]
    assert change.loc["together", "two"] < change.loc["apart", "two"]
    assert change.loc["together", "wrong"] > 2 * change.loc["apart", "wrong"]


def test_simulated_people_have_their_accuracy():
    true = np.arange(3000) % 3
    assert (said(true, np.random.default_rng(1)) == true).mean() == pytest.approx(0.9, abs=0.01)


def test_words_that_were_read_are_counted_for_each_reader(tmp_path):
    engine = filled(tmp_path / "audit.db", 6, 1)
    question = table_of(tables.Question)
    with engine.begin() as connection:
        first = connection.execute(select(question.c.input_id).order_by(question.c.id)).scalar()
        connection.execute(question.update().values(source_input_id=first))
    engine.dispose()
    frame = reading(tmp_path / "audit.db", "together")
    assert len(frame) == 12
    assert frame["marked"].sum() == 10, "all but each person's first"
    assert set(frame[frame["marked"]]["differ"]) == {2}, "one number added and one left out"
    figures = summary(frame)
    assert figures["seconds"] < figures["seconds, all read"]
    assert not reading(tmp_path / "audit.db", "most wanted first")["marked"].any()
    assert changed(["It is good."], ["It is good. It is long."]) == 3


def test_claims_are_timed_in_every_order(tmp_path):
    assert {order: len(took) for order, took in claims(str(tmp_path / "claims.db"), 60, answers=8).items()} == {
        "most wanted first": 3, "together": 3, "apart": 3,
    }  # fmt: skip
