"""Short versions of `rounds.py`: decisions are right and take few texts, and intervals cover, on real systems."""

from pathlib import Path

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
@pytest.mark.parametrize("world", ["simulated", "half gold", "documents"])
def test_intervals_cover_what_is_simulated(world):
    worlds = {"simulated": {}, "half gold": {}, "documents": {"documents": 300}}
    simulated = rounds.synthetic(seed=7, **worlds[world])
    if world == "half gold":
        simulated = rounds.with_gold(simulated, 0.5)
    found = rounds.coverage(simulated, 30, 20, over_all=True, seed=7)
    assert found["held"].between(0.88, 1.0).all(), found


@pytest.mark.slow
def test_a_judge_saves_texts_and_a_useless_one_costs_few():
    world = rounds.synthetic(2000, seed=7)
    texts = {right: rounds.decisions(rounds.with_judge(world, right), 20, True)["texts"] for right in (0.9, 0.5)}
    alone = rounds.decisions(world, 20, True)["texts"]
    assert texts[0.9] < alone
    assert texts[0.5] < 1.15 * alone


@pytest.mark.slow
def test_real_judges_sharpen_rates_that_still_cover():
    labels = Path(__file__).parents[3] / "shared" / "data" / "xstest" / "labels.csv"
    if not labels.exists():
        pytest.skip("../shared/data/xstest is not here")
    found = rounds.real_judges(labels, 60, 60)
    assert (found["held"] >= 0.92).all(), found
    assert found["width"]["gpt4"] < 0.85 * found["width"]["nobody"], found


@pytest.mark.slow
def test_near_ties_are_not_told_apart_wrongly():
    wrong = [
        rounds.decisions(rounds.synthetic(1000, relations=1, rivals=4, seed=seed), 1, False, base=0)["wrong best"]
        for seed in range(40)
    ]
    assert np.mean(wrong) <= 0.1
