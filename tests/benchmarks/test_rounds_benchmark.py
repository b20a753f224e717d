"""Short versions of `rounds.py`: decisions are right and take few texts, and intervals cover, on real systems."""

import numpy as np
import pytest
import rounds


@pytest.fixture(scope="module")
def sentences(tmp_path_factory):
    return rounds.population("sentences", tmp_path_factory.mktemp("rounds"), 1500)


@pytest.mark.slow
def test_few_texts_decide_and_the_decision_is_right(sentences):
    found = rounds.decisions(sentences, redraws=20, over_all=True)
    assert found["texts"] <= 260
    assert found["right"] >= 0.95


@pytest.mark.slow
@pytest.mark.parametrize("target", ["corpus", "population", "after deciding"])
def test_intervals_cover(sentences, target):
    how = {"of": 750} if target == "population" else {"over_all": True} if target == "after deciding" else {}
    found = rounds.coverage(sentences, 40, 40, **how)
    assert found["held"].between(0.9, 1.0).all(), found


@pytest.mark.slow
def test_near_ties_are_not_told_apart_wrongly():
    wrong = [
        rounds.decisions(rounds.synthetic(1000, relations=1, rivals=4, seed=seed), 1, False, base=0)["wrong best"]
        for seed in range(40)
    ]
    assert np.mean(wrong) <= 0.1
