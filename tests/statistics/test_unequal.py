"""The weighted rate against numbers worked by hand, its limits, and its coverage."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import beta

from audit.errors import AuditError
from audit.statistics.corrected import weighted_rate


def test_hajek_worked_by_hand():
    # Weights 4, 2, 1 and hits on the first and the last: 5 / 7. Corpus: 49 / (16 x .75 + 4 x .5) = 3.5.
    weighted = weighted_rate([True, False, True], [0.25, 0.5, 1.0])
    assert (weighted.rate, weighted.effective) == pytest.approx((5 / 7, 3.5))
    # Kish: 49 / (16 + 4 + 1).
    assert weighted_rate([True, False, True], [0.25, 0.5, 1.0], target="population").effective == pytest.approx(49 / 21)


def test_equal_probabilities_give_jeffreys_interval():
    # In the population 5 of 20 is 5 of 20, whatever the probability was.
    weighted = weighted_rate([True] * 5 + [False] * 15, [0.1] * 20, target="population")
    ends = beta.ppf([0.025, 0.975], 5.5, 15.5)
    assert (weighted.rate, weighted.low, weighted.high) == pytest.approx((0.25, *ends))


def test_sure_groups_leave_nothing_open_in_the_corpus_only():
    assert weighted_rate([True, False], [1.0, 1.0]).low == 0.5
    assert weighted_rate([True, False], [1.0, 1.0], target="population").low < 0.1
    assert weighted_rate([], []) is None


def test_bad_input_is_refused():
    with pytest.raises(AuditError, match="2 groups have 1 probabilities"):
        weighted_rate([True, False], [0.5])
    with pytest.raises(AuditError, match="an inclusion probability is 0"):
        weighted_rate([True, False], [0.0, 0.5])


@given(st.lists(st.tuples(st.booleans(), st.floats(0.01, 1)), min_size=1, max_size=40), st.sampled_from([0.8, 0.95]))
def test_the_estimate_is_inside(groups, confidence):
    hits, pi = zip(*groups, strict=True)
    weighted = weighted_rate(hits, pi, confidence)
    assert 0 <= weighted.low <= weighted.rate <= weighted.high <= 1
    assert weighted.effective >= weighted_rate(hits, pi, confidence, "population").effective - 1e-9


def test_the_interval_holds_the_truth():
    # 900 groups drawn with .02 and 100 with .2, as satisfied and violated ones; broken in 45 and 30 of them: 7.5 %.
    rng = np.random.default_rng(7)
    pi = np.repeat([0.02, 0.2], [900, 100])
    broken = np.concatenate([np.arange(900) < 45, np.arange(100) < 30])
    held = 0
    for _ in range(500):
        drawn = rng.random(1000) < pi
        weighted = weighted_rate(broken[drawn], pi[drawn])
        held += weighted.low <= 0.075 <= weighted.high
    assert held / 500 >= 0.93


def test_documents_are_worth_what_varies_between_them():
    hits, pi = [True] * 8 + [False] * 24, [0.5] * 32
    alone = weighted_rate(hits, pi, target="population")
    assert weighted_rate(hits, pi, target="population", cluster=range(32)) == alone
    together = weighted_rate(hits, pi, target="population", cluster=[at // 4 for at in range(32)])
    assert together.rate == alone.rate
    # Eight documents of four copies each: eight observations at most.
    assert together.effective < 8 < alone.effective == 32
    assert together.high - together.low > 1.5 * (alone.high - alone.low)
    corpus = weighted_rate(hits, pi)
    assert weighted_rate(hits, pi, cluster=[at // 4 for at in range(32)]) == corpus
