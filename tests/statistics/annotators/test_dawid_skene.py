"""Dawid and Skene's model against their own paper, and against annotators whose errors are known."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from audit.errors import AuditError
from audit.statistics import annotators
from audit.statistics.annotators import dawid_skene

SHARED = Path(__file__).parents[3].parent / "shared" / "data"
PATIENTS = SHARED / "agreement" / "dawid_skene_1979.csv"


@pytest.fixture(scope="module")
def patients():
    """45 patients, 5 anaesthetists, the first of whom judged three times (Dawid and Skene 1979, table 1)."""
    if not PATIENTS.exists():
        pytest.skip("the shared data (dawid_skene_1979.csv) are not here")
    return pd.read_csv(PATIENTS, dtype=str)


def simulated(items, confusion, shares, missing=0.0, seed=0):
    """Ratings by annotators with known confusion matrices, and the truth."""
    random = np.random.default_rng(seed)
    truth = random.choice(len(shares), size=items, p=shares)
    rows = []
    for name, matrix in confusion.items():
        bounds = np.cumsum(matrix, axis=1)[truth]
        said = (random.random(items)[:, None] > bounds).sum(axis=1)
        there = random.random(items) >= missing
        rows.append(pd.DataFrame({"item": np.arange(items), "annotator": name, "label": said})[there])
    return pd.concat(rows), truth


def test_the_paper(patients, monkeypatch):
    # Dawid and Skene, Applied Statistics 28 (1979), tables 2 and 4: by maximum likelihood.
    monkeypatch.setattr(annotators, "PRIOR", 0.0)
    fit = dawid_skene(patients)
    assert fit.converged
    assert fit.labels == ("1", "2", "3", "4")
    assert fit.marginals == pytest.approx([0.400, 0.422, 0.112, 0.067], abs=6e-4)
    first = [[0.89, 0.11, 0, 0], [0.07, 0.88, 0.05, 0], [0, 0.34, 0.66, 0], [0, 0, 0.56, 0.44]]
    assert fit.confusion[0] == pytest.approx(np.array(first), abs=0.006)
    assert fit.ratings.tolist() == [135, 45, 45, 45, 45]
    assert fit.posterior.shape == (45, 4)
    # Patient 1 was given a 1 seven times out of seven. Patient 2 got five 3s and two 4s, but the second annotator, who
    # says 4, never says so of a 3.
    assert fit.posterior[:2].argmax(axis=1).tolist() == [0, 3]


def test_accuracy_is_the_diagonal_weighed_by_the_shares(patients):
    fit = dawid_skene(patients)
    expected = [(fit.marginals * np.diag(matrix)).sum() for matrix in fit.confusion]
    assert fit.accuracy == pytest.approx(expected)


def test_known_errors_come_out():
    good = [[0.95, 0.05, 0.0], [0.03, 0.94, 0.03], [0.0, 0.05, 0.95]]
    mild = [[0.9, 0.1, 0.0], [0.2, 0.7, 0.1], [0.05, 0.15, 0.8]]
    lenient = [[0.7, 0.3, 0.0], [0.0, 0.8, 0.2], [0.0, 0.0, 1.0]]
    real = {"ann": good, "bob": mild, "cy": lenient, "dee": good}
    frame, truth = simulated(20_000, real, [0.5, 0.2, 0.3], missing=0.2, seed=4)
    fit = dawid_skene(frame)
    assert fit.annotators == ("ann", "bob", "cy", "dee")
    assert fit.marginals == pytest.approx([0.5, 0.2, 0.3], abs=0.01)
    for matrix, name in zip(fit.confusion, fit.annotators, strict=True):
        assert matrix == pytest.approx(np.array(real[name]), abs=0.03)
    right = fit.posterior.argmax(axis=1) == truth[list(fit.items)]
    assert right.mean() > 0.9


def test_a_label_that_is_said_and_never_true_is_no_class_of_its_own():
    fair = [[0.8, 0.1, 0.1], [0.1, 0.8, 0.1], [0.1, 0.1, 0.8]]
    frame, _ = simulated(1000, dict.fromkeys("abc", fair), [0.5, 0.5, 0])
    fit = dawid_skene(frame, draws=200)
    assert fit.marginals[2] < 0.02
    low, high = fit.accuracy_interval
    assert (low <= 0.8).all()
    assert (high >= 0.8).all()
    assert (high - low < 0.08).all()


def test_ten_people_who_rated_hate_speech_are_as_competent_as_gold_says():
    folder = SHARED / "hatecheck"
    if not folder.exists():
        pytest.skip("the shared data (hatecheck) are not here")
    ratings, gold = pd.read_csv(folder / "ratings.csv"), pd.read_csv(folder / "gold.csv")
    found = dawid_skene(ratings, draws=300)
    right = ratings["label"].eq(ratings["item"].map(gold.set_index("item")["gold"]))
    truth = right.groupby(ratings["annotator"]).mean()[list(found.annotators)]
    low, high = found.accuracy_interval
    assert ((low <= truth) & (truth <= high)).sum() >= 9


def test_somebody_who_always_says_the_opposite_is_still_useful():
    good, liar = [[0.9, 0.1], [0.1, 0.9]], [[0.1, 0.9], [0.9, 0.1]]
    frame, _ = simulated(3000, {"a": good, "b": good, "c": good, "liar": liar}, [0.6, 0.4], seed=1)
    assert dawid_skene(frame).accuracy == pytest.approx([0.9, 0.9, 0.9, 0.1], abs=0.03)


def test_intervals_hold_the_truth_and_are_repeatable():
    good, fair = [[0.9, 0.1], [0.15, 0.85]], [[0.75, 0.25], [0.3, 0.7]]
    frame, _ = simulated(400, {"a": good, "b": good, "c": fair, "d": fair}, [0.6, 0.4], seed=2)
    fit = dawid_skene(frame, draws=100, seed=1)
    low, high = fit.accuracy_interval
    assert (low <= fit.accuracy).all()
    assert (fit.accuracy <= high).all()
    truth = np.array([0.6 * 0.9 + 0.4 * 0.85] * 2 + [0.6 * 0.75 + 0.4 * 0.7] * 2)
    assert (low <= truth).all()
    assert (truth <= high).all()
    again = dawid_skene(frame, draws=100, seed=1)
    assert np.array_equal(fit.accuracy_interval, again.accuracy_interval)
    assert np.array_equal(fit.marginals_interval, again.marginals_interval)
    assert dawid_skene(frame).accuracy_interval is None


def test_no_interval_is_a_point():
    """Three annotators of whom two are never wrong: the estimate is 1, and they may err all the same."""
    rows = [(item, name, "xy"[item % 2]) for item in range(30) for name in "ab"]
    rows += [(item, "c", "xy"[item % 2] if item % 5 else "x") for item in range(30)]
    fit = dawid_skene(pd.DataFrame(rows, columns=["item", "annotator", "label"]), draws=500)
    low, high = fit.accuracy_interval
    assert fit.accuracy[:2] == pytest.approx([1, 1])
    assert (low[:2] > 0.85).all()
    assert (low[:2] < 0.99).all()
    assert (high - low > 0.02).all()


def test_order_of_rows_does_not_matter(patients):
    fit, shuffled_fit = dawid_skene(patients), dawid_skene(patients.sample(frac=1, random_state=3))
    assert fit.marginals == pytest.approx(shuffled_fit.marginals)
    assert fit.confusion == pytest.approx(shuffled_fit.confusion, nan_ok=True)
    assert fit.log_likelihood == pytest.approx(shuffled_fit.log_likelihood)


def test_one_label_is_certain_and_the_unseen_is_not_known():
    same = pd.DataFrame({"item": [1, 1, 2, 2], "annotator": list("abab"), "label": ["x"] * 4})
    fit = dawid_skene(same)
    assert fit.marginals.tolist() == [1.0]
    assert fit.accuracy.tolist() == [1.0, 1.0]
    # c never rated anything that could be a y.
    rows = [(i, a, "x" if i < 4 else "y") for i in range(8) for a in "ab"] + [(0, "c", "x")]
    third = dawid_skene(pd.DataFrame(rows, columns=["item", "annotator", "label"])).confusion[2]
    assert np.isnan(third[1]).all()
    assert third[0].tolist() == [1, 0]


@pytest.mark.parametrize(
    ("rows", "says"),
    [
        ([], "there are no ratings"),
        ([(1, "ann", "x"), (1, "ann", "x")], "ann is the only annotator"),
        ([(1, "ann", "x"), (2, "bob", "x")], "no item has two ratings"),
    ],
)
def test_what_cannot_be_fitted_is_refused(rows, says):
    with pytest.raises(AuditError, match=says):
        dawid_skene(pd.DataFrame(rows, columns=["item", "annotator", "label"]))
