"""Two arms of judged groups: worked by hand, its ends, and that it holds what it promises."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from audit.errors import AuditError
from audit.statistics.corrected import between_arms


def test_worked_by_hand():
    # Blind: 10 of 40 sources false, one group each. Clopper and Pearson's interval of 10 of 40 is .1269 to .4120
    # (R 4.3: binom.test(10, 40)); shown: 4 of 40, .0279 to .2366. MOVER (Zou and Donner 2008, equation 7):
    # -.15 - sqrt((.1 - .0279)^2 + (.4120 - .25)^2) = -.3273, -.15 + sqrt((.2366 - .1)^2 + (.25 - .1269)^2) = .0339.
    source, second = np.arange(80), np.arange(80) >= 40
    false = (np.arange(80) < 10) | ((np.arange(80) >= 40) & (np.arange(80) < 44))
    arms = between_arms(source, false, second)
    assert (arms.first.rate, arms.first.low, arms.first.high) == pytest.approx((0.25, 0.1269, 0.4120), abs=1e-4)
    assert (arms.second.rate, arms.second.low, arms.second.high) == pytest.approx((0.1, 0.0279, 0.2366), abs=1e-4)
    assert (arms.difference, arms.low, arms.high) == pytest.approx((-0.15, -0.3273, 0.0339), abs=1e-4)


def test_groups_of_a_source_are_not_independent():
    # Four copies of each group say nothing more than one.
    false = np.arange(80) % 8 < 2
    alone = between_arms(np.arange(80), false, np.arange(80) >= 40)
    again = between_arms(np.arange(80).repeat(4), false.repeat(4), (np.arange(80) >= 40).repeat(4))
    assert again.difference == alone.difference
    assert (again.low, again.high) == pytest.approx((alone.low, alone.high), abs=0.01)
    assert again.first.groups == 4 * again.first.sources


def test_an_empty_arm_leaves_the_difference_unknown():
    arms = between_arms(np.arange(5), np.zeros(5), np.zeros(5))
    assert (arms.second.groups, arms.second.rate, arms.difference, arms.low) == (0, None, None, None)
    assert arms.first.rate == 0
    assert between_arms(np.array([]), np.array([]), np.array([])).first.rate is None


@pytest.mark.parametrize(
    ("source", "false", "second", "message"),
    [
        ([1, 2], [0], [0, 1], "2 sources, 1 values and 2 arms"),
        ([1, 2], [0, 2], [0, 1], "false .1. or not"),
        ([1, 1], [0, 1], [0, 1], "source 1 is in both arms"),
    ],
)
def test_what_cannot_be_is_refused(source, false, second, message):
    with pytest.raises(AuditError, match=message):
        between_arms(np.array(source), np.array(false), np.array(second))


groups = st.lists(st.tuples(st.integers(0, 15), st.booleans()), min_size=1, max_size=60)


@given(groups, st.integers(0, 16))
def test_the_interval_holds_the_difference_and_swapping_the_arms_turns_it(judged_groups, cut):
    source, false = np.array([group[0] for group in judged_groups]), np.array([group[1] for group in judged_groups])
    arms, turned = between_arms(source, false, source >= cut), between_arms(source, false, source < cut)
    if arms.difference is None:
        assert turned.difference is None
        return
    assert -1 <= arms.low <= arms.difference <= arms.high <= 1
    assert (turned.difference, turned.low, turned.high) == pytest.approx((-arms.difference, -arms.high, -arms.low))


@pytest.mark.slow
@pytest.mark.parametrize(("rate", "effect"), [(0.25, 0.0), (0.25, -0.1), (0.05, 0.05)])
def test_coverage_where_groups_share_sources(rate, effect):
    # Simulated: 60 sources an arm, 1 to 8 groups of each, a beta-binomial with an intra-source correlation of .3.
    rng, held, runs = np.random.default_rng(7), 0, 1000
    for _ in range(runs):
        sizes = rng.integers(1, 9, 120)
        source = np.arange(120).repeat(sizes)
        second = rng.permutation(120) < 60
        mean = np.where(second, rate + effect, rate)
        chance = rng.beta(mean * (1 / 0.3 - 1), (1 - mean) * (1 / 0.3 - 1))
        false = rng.random(len(source)) < chance.repeat(sizes)
        arms = between_arms(source, false, second[source])
        held += arms.low <= effect <= arms.high
    assert held / runs >= 0.94  # measured: see docs/reference/report.md
