"""The difference estimator: worked by hand, its ends, and that it holds what it promises."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from audit.errors import AuditError
from audit.statistics.comparison import difference, difference_of_cells
from audit.statistics.intervals import mid_p


def test_worked_by_hand():
    # 18 of 60 false by the protocol; of 30 checked, 4 false ones are true and 1 true one is false: .3 - 3 / 30 = .2.
    estimate = difference(18, 60, 400, added=1, removed=4, checked=30)
    assert (estimate.rate, estimate.bias, estimate.checked) == pytest.approx((0.2, 0.1, 30))


def test_all_checked_is_the_interval_of_the_corrected_counts():
    # Nothing is left of the second part: 18 + 1 - 4 = 15 of 60.
    estimate = difference(18, 60, 400, added=1, removed=4, checked=60)
    exact = mid_p(15, 60, 400)
    assert (estimate.rate, estimate.low, estimate.high) == pytest.approx((0.25, exact.low, exact.high))
    whole = difference(18, 60, 60, added=1, removed=4, checked=60)
    assert (whole.low, whole.high) == pytest.approx((0.25, 0.25))


def test_no_difference_among_few_checked_is_not_certainty():
    plain = mid_p(18, 60, 400)
    few, many = (difference(18, 60, 400, added=0, removed=0, checked=m) for m in (10, 50))
    assert few.rate == many.rate == pytest.approx(0.3)
    assert few.high - few.low > many.high - many.low > plain.high - plain.low
    # What can still be wrong of 50 unchecked, 0 of 10 seen: added at most high(0 of 10 from 60).
    more = mid_p(0, 10, 60).high
    assert few.high == pytest.approx(0.3 + np.hypot(plain.high - 0.3, more))


def test_no_more_can_be_removed_than_the_protocol_calls_false():
    estimate = difference(0, 60, 400, added=0, removed=0, checked=5)
    assert estimate.low == 0
    assert difference(60, 60, 400, added=0, removed=0, checked=5).high == 1


def test_cells_worked_by_hand():
    # Two cells of equal weight with 2 checked groups each; both of the first are wrongly false: bias (1 + 0) / 2.
    weight, change = np.full(4, 0.25), np.array([-1, -1, 0, 0])
    estimate = difference_of_cells(0.6, 0.5, 0.7, weight, change, np.arange(4))
    assert (estimate.rate, estimate.bias) == pytest.approx((0.1, 0.5))
    # Groups that share their sources are worth less, so that the interval is wider.
    shared = difference_of_cells(0.6, 0.5, 0.7, np.full(40, 1 / 40), np.repeat([-1, 0], [4, 36]), np.arange(40) // 2)
    alone = difference_of_cells(0.6, 0.5, 0.7, np.full(40, 1 / 40), np.repeat([-1, 0], [4, 36]), np.arange(40))
    assert shared.rate == alone.rate
    assert shared.high - shared.low > alone.high - alone.low


@st.composite
def cells(draw):
    n = draw(st.integers(1, 80))
    k = draw(st.integers(0, n))
    m = draw(st.integers(1, n))
    false = draw(st.integers(max(0, m - (n - k)), min(k, m)))
    added, removed = draw(st.integers(0, m - false)), draw(st.integers(0, false))
    return k, n, draw(st.one_of(st.none(), st.integers(n, 500))), added, removed, m


@given(cells())
def test_the_interval_holds_its_estimate_and_stays_in_range(cell):
    k, n, population, added, removed, m = cell
    estimate = difference(k, n, population, added, removed, m)
    assert 0 <= estimate.low <= estimate.rate + 1e-12
    assert estimate.rate <= estimate.high + 1e-12 <= 1 + 2e-12


@given(cells())
def test_labels_may_be_swapped(cell):
    k, n, population, added, removed, m = cell
    estimate = difference(k, n, population, added, removed, m)
    other = difference(n - k, n, population, removed, added, m)
    assert estimate.rate == pytest.approx(1 - other.rate)
    assert (estimate.low, estimate.high) == pytest.approx((1 - other.high, 1 - other.low), abs=1e-6)


@given(st.integers(1, 30), st.data())
def test_the_interval_of_cells_holds_its_estimate(m, data):
    change = np.array(data.draw(st.lists(st.sampled_from([-1, 0, 1]), min_size=m, max_size=m)))
    source = np.array(data.draw(st.lists(st.integers(0, 5), min_size=m, max_size=m)))
    rate = data.draw(st.floats(0, 1))
    estimate = difference_of_cells(rate, max(rate - 0.1, 0), min(rate + 0.1, 1), np.full(m, 1 / m), change, source)
    assert 0 <= estimate.low <= estimate.rate + 1e-12
    assert estimate.rate <= estimate.high + 1e-12 <= 1 + 2e-12


@pytest.mark.parametrize(("false_alarm", "miss"), [(0.0, 0.0), (0.1, 0.02), (0.02, 0.2)])
def test_unbiased_and_covering_in_a_simulation(false_alarm, miss):
    # Simulated: 90 of 300 satisfied groups are false, 60 judged by a protocol that errs, 20 of these checked.
    rng = np.random.default_rng(2)
    truth = np.repeat([1, 0], [90, 210])
    errors, held = [], 0
    for _ in range(300):
        seen = rng.permutation(truth)[:60]
        said = np.where(seen, rng.random(60) >= miss, rng.random(60) < false_alarm).astype(int)
        change = (seen - said)[:20]
        estimate = difference(int(said.sum()), 60, 300, int((change == 1).sum()), int((change == -1).sum()), 20)
        errors.append(estimate.rate - 0.3)
        held += estimate.low <= 0.3 <= estimate.high
    assert abs(np.mean(errors)) < 3.5 * np.std(errors) / np.sqrt(300)
    assert held / 300 >= 0.95


def test_cells_that_share_their_sources_cover_in_a_simulation():
    # Simulated: 6 systems whose errors go together on 300 sentences, all judged, so that the second part stands alone;
    # an answer is wrong for one sentence in 12 and then flips that sentence's group of every system. 40 are checked.
    rng = np.random.default_rng(4)
    held, widths = 0, []
    for _ in range(150):
        hard = rng.random(300)
        truth = (0.6 * rng.random((6, 300)) + 0.4 * hard < 0.3).astype(int)
        said = np.where(rng.random(300) < 1 / 12, 1 - truth, truth)
        seen = rng.permutation(300)[:40]
        change = (truth - said)[:, seen]
        rate = said.mean()
        estimate = difference_of_cells(
            rate, rate, rate, np.full(240, 1 / 240), change.ravel(), np.tile(np.arange(40), 6)
        )
        held += estimate.low <= truth.mean() <= estimate.high
        widths.append(estimate.high - estimate.low)
    assert held / 150 >= 0.95
    assert np.mean(widths) < 0.25


def test_mistakes_are_said():
    with pytest.raises(AuditError, match="allowed are 1 to 60"):
        difference(18, 60, 400, 0, 0, 0)
    with pytest.raises(AuditError, match="0 to 18 removed"):
        difference(18, 60, 400, 0, 19, 30)
    with pytest.raises(AuditError, match="one or more checked"):
        difference_of_cells(0.3, 0.2, 0.4, np.array([]), np.array([]), np.array([]))
    with pytest.raises(AuditError, match=r"add up to 0\.5"):
        difference_of_cells(0.3, 0.2, 0.4, np.array([0.5]), np.array([0]), np.array([1]))


def test_documents_widen_the_part_of_the_draw():
    alone = difference(18, 60, None, 1, 4, 30)
    assert difference(18, 60, None, 1, 4, 30, worth=60) == alone
    fewer = difference(18, 60, None, 1, 4, 30, worth=20)
    assert fewer.rate == alone.rate
    assert fewer.low < alone.low < alone.high < fewer.high
