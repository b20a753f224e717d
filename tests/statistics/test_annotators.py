"""Dawid and Skene's model, shares, bias, drift, leave one out, judges: known answers, and what holds for any input."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from audit.errors import AuditError
from audit.statistics import annotators
from audit.statistics.agreement import Ratings
from audit.statistics.annotators import (
    LEAST,
    confusion,
    dawid_skene,
    difference,
    drift,
    label_bias,
    leave_one_out,
    share,
)
from audit.statistics.judges import against, rate

SHARED = Path(__file__).parents[2].parent / "shared" / "data"
LABELS = ("a", "b", "c")


@pytest.fixture(scope="module")
def patients():
    """45 patients, 5 anaesthetists, the first of whom judged three times (Dawid and Skene 1979, table 1)."""
    path = SHARED / "agreement" / "dawid_skene_1979.csv"
    if not path.exists():
        pytest.skip("the shared data (dawid_skene_1979.csv) are not here")
    return pd.read_csv(path, dtype=str)


def frame(rows):
    return pd.DataFrame(rows, columns=["item", "annotator", "label"])


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


# Dawid and Skene's model.


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
    assert fit.accuracy == pytest.approx([(fit.marginals * np.diag(matrix)).sum() for matrix in fit.confusion])
    # Patient 1 was given a 1 seven times out of seven. Patient 2 got five 3s and two 4s, but the second annotator, who
    # says 4, never says so of a 3.
    assert fit.posterior[:2].argmax(axis=1).tolist() == [0, 3]


def test_known_errors_come_out():
    good = [[0.95, 0.05, 0.0], [0.03, 0.94, 0.03], [0.0, 0.05, 0.95]]
    mild = [[0.9, 0.1, 0.0], [0.2, 0.7, 0.1], [0.05, 0.15, 0.8]]
    lenient = [[0.7, 0.3, 0.0], [0.0, 0.8, 0.2], [0.0, 0.0, 1.0]]
    real = {"ann": good, "bob": mild, "cy": lenient, "dee": good}
    ratings, truth = simulated(20_000, real, [0.5, 0.2, 0.3], missing=0.2, seed=4)
    fit = dawid_skene(ratings)
    assert fit.marginals == pytest.approx([0.5, 0.2, 0.3], abs=0.01)
    for matrix, name in zip(fit.confusion, fit.annotators, strict=True):
        assert matrix == pytest.approx(np.array(real[name]), abs=0.03)
    assert (fit.posterior.argmax(axis=1) == truth[list(fit.items)]).mean() > 0.9


def test_a_label_that_is_said_and_never_true_is_no_class_of_its_own():
    fair = [[0.8, 0.1, 0.1], [0.1, 0.8, 0.1], [0.1, 0.1, 0.8]]
    fit = dawid_skene(simulated(1000, dict.fromkeys("abc", fair), [0.5, 0.5, 0])[0], draws=200)
    assert fit.marginals[2] < 0.02
    low, high = fit.accuracy_interval
    assert ((low <= 0.8) & (high >= 0.8) & (high - low < 0.08)).all()


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


def test_intervals_hold_the_truth_are_repeatable_and_no_points():
    good, fair = [[0.9, 0.1], [0.15, 0.85]], [[0.75, 0.25], [0.3, 0.7]]
    ratings, _ = simulated(400, {"a": good, "b": good, "c": fair, "d": fair}, [0.6, 0.4], seed=2)
    fit, again = (dawid_skene(ratings, draws=100, seed=1) for _ in range(2))
    low, high = fit.accuracy_interval
    for held in (fit.accuracy, np.array([0.6 * 0.9 + 0.4 * 0.85] * 2 + [0.6 * 0.75 + 0.4 * 0.7] * 2)):
        assert ((low <= held) & (held <= high)).all()
    assert np.array_equal(fit.accuracy_interval, again.accuracy_interval)
    assert dawid_skene(ratings).accuracy_interval is None
    # Two annotators who were never wrong may err all the same.
    rows = [(item, name, "xy"[item % 2]) for item in range(30) for name in "ab"]
    rows += [(item, "c", "xy"[item % 2] if item % 5 else "x") for item in range(30)]
    low, high = dawid_skene(frame(rows), draws=500).accuracy_interval
    assert ((low[:2] > 0.85) & (low[:2] < 0.99) & (high[:2] >= 1)).all()


def test_one_label_is_certain_and_the_unseen_is_not_known():
    fit = dawid_skene(frame([(1, "a", "x"), (1, "b", "x"), (2, "a", "x"), (2, "b", "x")]))
    assert (fit.marginals.tolist(), fit.accuracy.tolist()) == ([1.0], [1.0, 1.0])
    # c never rated anything that could be a y.
    rows = [(i, a, "x" if i < 4 else "y") for i in range(8) for a in "ab"] + [(0, "c", "x")]
    third = dawid_skene(frame(rows)).confusion[2]
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
        dawid_skene(frame(rows))


# Shares, bias and drift.


def test_bias_by_hand():
    # Ten x and ten y; five y were called x: (5 - 0) / 20. Bonett and Price: p = 6/22 and 1/22, their difference 5/22,
    # variance (7/22 - (5/22)^2) / 22 = 0.01211495, half 1.959964 * 0.1100679 = 0.215729.
    x, y = label_bias(confusion([{"x"}] * 10 + [{"y"}] * 10, ["x"] * 15 + ["y"] * 5, ["x", "y"]))
    assert (x.given, x.missed, x.value) == (5, 0.0, 0.25)
    assert (x.low, x.high) == pytest.approx((5 / 22 - 0.215729, 5 / 22 + 0.215729), abs=1e-6)
    assert (y.given, y.missed, y.value, y.low, y.high) == (0, 5.0, -0.25, -x.high, -x.low)
    # Of several right labels each is missed in part.
    a, b, c = label_bias(confusion([{"a", "b"}] * 10, ["c"] * 10, LABELS))
    assert [(one.missed, one.value) for one in (a, b, c)] == [(5.0, -0.5), (5.0, -0.5), (0.0, 1.0)]
    few = label_bias(confusion([{"a"}], ["b"], LABELS))[0]
    assert (few.missed, few.value, few.reason) == (1.0, None, "one observation, at least 10 are needed")


@given(st.lists(st.tuples(st.sets(st.sampled_from(LABELS), min_size=1), st.sampled_from(LABELS))))
def test_biases_sum_to_nothing_and_lie_in_their_intervals(rows):
    right_answers, given_labels = [row[0] for row in rows], [row[1] for row in rows]
    table = confusion(right_answers, given_labels, LABELS)
    biases = label_bias(table, least=1)
    if rows:
        assert sum(bias.value for bias in biases) == pytest.approx(0, abs=1e-9)
        assert all(-1 <= bias.low <= bias.value <= bias.high <= 1 for bias in biases)
    for label in LABELS:
        assert sum(row[label] for row in table.values()) == pytest.approx(given_labels.count(label))


def test_newcombes_differences():
    # Newcombe, Statistics in Medicine 17 (1998), p. 873, table II, method 10.
    published = {
        ((56, 70), (48, 80)): (0.0524, 0.3339),
        ((9, 10), (3, 10)): (0.1705, 0.8090),
        ((10, 10), (0, 20)): (0.6791, 1.0),
        ((0, 10), (0, 10)): (-0.2775, 0.2775),
    }
    for (first, second), ends in published.items():
        assert difference(share(*first), share(*second))[1:] == pytest.approx(ends, abs=5e-5)


def test_drift_compares_halves_in_their_order():
    halves = drift([True] * 10 + [False] * 11)
    assert (halves.first.whole, halves.second.whole, halves.change) == (10, 11, -1.0)
    assert halves.high < 0
    assert drift([True] * 19).change is None
    assert drift([]).first.reason is not None


# Leave one out.


def test_leave_one_out_by_hand():
    # Twenty items; a and b say x and y in turn, c always x. b agrees with a in all, c in half: a's mean share is
    # (1 + 1) / 2 for x and (1 + 0) / 2 for y, 0.75; c's is 1 for x and 0 for y, 0.5.
    rows = [(item, who, "x" if item % 2 or who == "c" else "y") for item in range(20) for who in "abc"]
    alpha, others = leave_one_out(Ratings.of(frame(rows)))
    # Observed disagreement 20/60, expected 2 * 40 * 20 / (60 * 59).
    assert alpha == pytest.approx(1 - (20 / 60) / (2 * 40 * 20 / (60 * 59)))
    a, c = others["a"], others["c"]
    assert (a.items, a.value, c.value, c.alpha_without) == (20, 0.75, 0.5, 1.0)
    assert a.low < 0.75 < a.high


def test_who_shares_no_item_has_a_reason():
    rows = [(item, "a", "x" if item % 2 else "y") for item in range(12)]
    rows += [(100 + item, who, "x" if item % 2 else "y") for item in range(12) for who in "bc"]
    alpha, others = leave_one_out(Ratings.of(frame(rows)))
    a = others["a"]
    assert (a.items, a.value, a.reason) == (0, None, "0 observations, at least 10 are needed")
    assert (alpha, a.alpha_without, others["c"].alpha_without) == (1.0, 1.0, None)  # a and b share nothing


# Judges that are models.


def test_a_judge_against_answers_worked_by_hand():
    truth = [{"a"}] * 12 + [{"b"}] * 18 + [{"a", "b"}] * 4
    given_labels = ["a"] * 9 + ["b"] * 3 + ["b"] * 16 + ["c"] * 2 + ["a", "b", "c", "c"]
    found = against(given_labels, truth, np.arange(34), LABELS)
    assert (found.accuracy.part, found.accuracy.whole) == (9 + 16 + 2, 34)
    a, b, c = found.labels
    assert (a.truth, a.given, a.sensitivity.part, a.sensitivity.whole) == (12, 10, 9, 12)
    assert (a.specificity.part, a.specificity.whole) == (18, 18)  # answers that allow a are no negatives of it
    assert (b.sensitivity.value, b.specificity.part, b.specificity.whole) == (pytest.approx(16 / 18), 9, 12)
    assert (c.truth, c.sensitivity.value) == (0, None)
    assert found.confusion == [[9, 3, 0], [0, 16, 2], [0, 0, 0]]
    # Cohen's kappa of the 30 with one right label: observed 25/30, expected (12*9 + 18*19 + 0*2) / 900.
    expected = (12 * 9 + 18 * 19) / 900
    assert found.kappa.value == pytest.approx((25 / 30 - expected) / (1 - expected))


def test_questions_of_one_source_are_not_independent():
    hits = np.tile([True] * 3 + [False], 30)
    alone, together = rate(hits, np.arange(120)), rate(np.repeat(hits[:30], 4), np.repeat(np.arange(30), 4))
    assert together.high - together.low > 1.5 * (alone.high - alone.low)


@given(st.lists(st.booleans(), min_size=1, max_size=60), st.integers(1, 20))
@settings(max_examples=50, deadline=None)
def test_a_rate_lies_in_its_interval_or_has_a_reason(hits, clusters):
    found = rate(hits, np.arange(len(hits)) % clusters)
    if len(hits) < LEAST:
        assert (found.value, bool(found.reason)) == (None, True)
    else:
        assert 0 <= found.low <= found.value <= found.high <= 1
