"""How a judge does: worked by hand, and coverage where sources have several questions."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from audit.errors import AuditError
from audit.statistics.judges import LEAST, against, rate

LABELS = ("a", "b", "c")


def test_a_confusion_worked_by_hand():
    truth = [{"a"}] * 12 + [{"b"}] * 18 + [{"a", "b"}] * 4
    given_labels = ["a"] * 9 + ["b"] * 3 + ["b"] * 16 + ["c"] * 2 + ["a", "b", "c", "c"]
    found = against(given_labels, truth, np.arange(34), LABELS)
    assert (found.accuracy.part, found.accuracy.whole) == (9 + 16 + 2, 34)
    a, b, c = found.labels
    assert (a.truth, a.given) == (12, 10)
    assert (a.sensitivity.part, a.sensitivity.whole) == (9, 12)
    assert (a.specificity.part, a.specificity.whole) == (18, 18)  # answers that allow a are no negatives of it
    assert (b.sensitivity.value, b.specificity.part, b.specificity.whole) == (pytest.approx(16 / 18), 9, 12)
    assert (c.truth, c.sensitivity.value) == (0, None)
    assert found.confusion.tolist() == [[9, 3, 0], [0, 16, 2], [0, 0, 0]]
    # Cohen's kappa of the 30 with one right label: observed 25/30, expected (12*9 + 18*19 + 0*2) / 900.
    expected = (12 * 9 + 18 * 19) / 900
    assert found.kappa.value == pytest.approx((25 / 30 - expected) / (1 - expected))


def test_questions_of_one_source_are_not_independent():
    hits = np.tile([True] * 3 + [False], 30)
    alone = rate(hits, np.arange(120))
    together = rate(np.repeat(hits[:30], 4), np.repeat(np.arange(30), 4))
    assert together.high - together.low > 1.5 * (alone.high - alone.low)


@given(st.lists(st.booleans(), min_size=LEAST, max_size=60), st.integers(1, 20))
@settings(max_examples=50, deadline=None)
def test_an_interval_holds_its_rate(hits, clusters):
    told = rate(hits, np.arange(len(hits)) % clusters)
    assert 0 <= told.low <= told.value <= told.high <= 1


def test_few_say_nothing():
    told = rate([True] * (LEAST - 1), np.arange(LEAST - 1))
    assert (told.value, told.low, told.high) == (None, None, None)
    assert told.reason


def test_accuracy_intervals_cover():
    rng, held = np.random.default_rng(0), 0
    for _ in range(300):
        told = rate(rng.random(120) < 0.85, np.arange(120))
        held += told.low <= 0.85 <= told.high
    assert held >= 0.93 * 300


def test_lengths_that_differ_are_refused():
    with pytest.raises(AuditError, match="do not fit"):
        against(["a"], [], np.arange(1), LABELS)
