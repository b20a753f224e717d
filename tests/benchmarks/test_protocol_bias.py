"""What the protocol does to the bias: the numbers of docs/reference/annotator-error.md, a small world by default."""

import numpy as np
import pytest
from protocol_bias import LABELS, annotators, answers, coverage, measure, world


def test_simulated_annotators_have_the_accuracy_asked_for():
    true = np.arange(30_000) % len(LABELS)
    for difficulty, together in ((False, 0.1 * 0.1), (True, 0.1 * 0.1 + 0.3 * 0.1 * 0.9)):
        said = annotators(true, 0.9, difficulty, np.random.default_rng(1))
        wrong = said != true
        assert wrong.mean() == pytest.approx(0.1, abs=0.01)
        # Two err at once with p^2, or p^2 + rho p (1 - p) where the same items are hard for both.
        assert (wrong[0] & wrong[1]).mean() == pytest.approx(together, abs=0.01)
        made = answers(true, said, np.random.default_rng(2))
        assert (made["two and an adjudicator"] != true).mean() < (made["majority of three"] != true).mean() < 0.1


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    return world(tmp_path_factory.mktemp("protocol") / "real.db", systems=("vader",), sources=250)


@pytest.mark.slow
def test_one_annotator_biases_and_both_corrections_do_not(small):
    true, cells = small
    found = measure(true, cells, redraws=12, accuracies=(0.8,)).loc[("independent", 0.8)]
    plain, corrected = found.loc[("one annotator", "as it is")], found.loc[("one annotator", "difference")]
    assert plain["bias"] > 0.04
    assert abs(corrected["bias"]) < plain["bias"] / 2
    assert corrected["held"] > plain["held"]
    assert found.loc[("two and an adjudicator", "as it is"), "bias"] < plain["bias"] / 2


def test_the_difference_estimator_covers_on_a_grid():
    found = coverage(repeats=12)
    assert (found["held"] >= 0.9).all()
    assert found["uncorrected"].min() < 0.6


@pytest.mark.slow
def test_coverage_on_real_systems(tmp_path):
    true, cells = world(tmp_path / "real.db")
    found = measure(true, cells, redraws=40)
    held = found["held"].unstack("estimator")
    assert (held["difference"] >= 0.94).all()
    assert (held["Rogan-Gladen"] >= 0.93).all()
    bias = found["bias"].unstack("estimator").abs()
    assert (bias["difference"] < 0.015).all()
    assert (held["as it is"].xs("two and an adjudicator", level="protocol") >= 0.9).all()
