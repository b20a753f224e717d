"""Draws of relative rates: worked by hand, an oracle, properties, and coverage."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import betabinom

from audit.errors import AuditError
from audit.statistics.comparison import comparison_draws, relative_rates
from audit.statistics.paired import paired_differences
from audit.statistics.ranking import rank_systems


def test_one_system_has_the_beta_binomial_posterior():
    # 6 of 10 judged are genuine, 30 more are not judged, 100 groups in all. With the prior weight of two fair coins the
    # unseen genuine ones are betabinom(30, 6 + 1, 4 + 1), so that SR_g is (6 + that) / 100: mean .06 + .3 x 7 / 12.
    judged = np.repeat([[1], [0]], [6, 4], axis=0)
    draws = comparison_draws(judged, informative=40, groups=100, draws=20_000)[:, 0]
    known = betabinom(30, 7, 5)
    assert draws.mean() == pytest.approx((6 + known.mean()) / 100, abs=1e-3)
    assert draws.std() == pytest.approx(known.std() / 100, rel=0.03)
    assert np.quantile(draws, [0.025, 0.5, 0.975]) == pytest.approx(
        (6 + known.ppf([0.025, 0.5, 0.975])) / 100, abs=0.011
    )


def test_two_systems_split_as_jeffreys_has_it():
    # All 8 judged groups are genuine for the first system alone. Of what tells them apart the second one's share is
    # Beta(1/2, 8.5): P(above 1/2) = .0010 for endless groups, and no certainty where Rubin's bootstrap has it.
    judged = np.repeat([[1, 0]], 8, axis=0)
    draws = comparison_draws(judged, informative=10**6, groups=10**6, draws=40_000)
    overtaken = (draws[:, 1] > draws[:, 0]).mean()
    assert overtaken == pytest.approx(0.001, abs=0.0008)
    assert rank_systems(draws)[0].p_best > 0.99


def test_all_judged_leave_no_doubt():
    judged = np.array([[1, 0, 0], [1, 1, 0], [0, 1, 0]])
    draws = comparison_draws(judged, informative=3, groups=6, draws=7)
    assert (draws == [2 / 6, 2 / 6, 0]).all()
    assert comparison_draws(judged, 3, 6, "population").std(axis=0)[0] > 0.05


def test_what_is_not_known_and_what_needs_no_judging():
    nothing = np.empty((0, 2))
    assert np.isnan(comparison_draws(nothing, informative=5, groups=9, draws=3)).all()
    assert (comparison_draws(nothing, informative=0, groups=9, draws=3) == 0).all()  # alike everywhere
    assert np.isnan(relative_rates(nothing, informative=0, groups=0)).all()


@pytest.mark.parametrize(
    ("genuine", "informative", "groups", "says"),
    [
        ([[1, 2]], 5, 9, "1 .genuine. and 0"),
        ([[1, np.nan]], 5, 9, "1 .genuine. and 0"),
        ([1, 0], 5, 9, "must be .groups, systems."),
        ([[1, 0], [1, 0]], 1, 9, "2 judged of 1 informative among 9 groups is impossible"),
        ([[1, 0]], 10, 9, "1 judged of 10 informative among 9"),
    ],
)
def test_impossible_numbers_are_refused(genuine, informative, groups, says):
    with pytest.raises(AuditError, match=says):
        comparison_draws(np.array(genuine, float), informative, groups)


@given(
    st.integers(0, 100),
    st.integers(1, 12),
    st.integers(0, 30),
    st.integers(0, 30),
    st.sampled_from(["corpus", "population"]),
)
def test_draws_stay_within_what_is_possible(seed, judged, unseen, others, target):
    genuine = np.random.default_rng(seed).integers(0, 2, (judged, 3))
    informative, groups = judged + unseen, judged + unseen + others
    draws = comparison_draws(genuine, informative, groups, target, draws=50, seed=seed)
    assert (draws >= -1e-12).all()
    assert (draws <= 1 + 1e-12).all()
    if target == "corpus":  # what was judged stays: at least its genuine ones, at most those and all unseen
        assert (draws >= genuine.sum(axis=0) / groups - 1e-12).all()
        assert (draws <= (genuine.sum(axis=0) + unseen) / groups + 1e-12).all()
    assert (draws == comparison_draws(genuine, informative, groups, target, draws=50, seed=seed)).all()


@given(st.integers(0, 50))
def test_relative_rates_differ_as_paired_differences_do(seed):
    rng = np.random.default_rng(seed)
    genuine, decides = rng.integers(0, 2, (40, 3)).astype(float), rng.random(40) < 0.6
    genuine[rng.random(40) < 0.5] = np.nan
    judged = genuine[decides & ~np.isnan(genuine).any(axis=1)]
    if len(judged):
        rates = relative_rates(judged, int(decides.sum()), 40)
        for one in paired_differences(genuine, decides):
            assert one.difference == pytest.approx(rates[one.one] - rates[one.other])


def test_intervals_of_differences_hold():
    # 300 informative among 500 groups, systems that err together; 50 judged at a time.
    rng = np.random.default_rng(4)
    hard = rng.random((300, 1)) < 0.5
    genuine = np.where(hard, rng.random((300, 3)) < [0.3, 0.4, 0.5], rng.random((300, 3)) < [0.9, 0.8, 0.7]).astype(
        float
    )
    true, held = genuine.sum(axis=0) / 500, []
    for _ in range(250):
        draws = comparison_draws(genuine[rng.permutation(300)[:50]], 300, 500, draws=800, seed=int(rng.integers(10**6)))
        low, high = np.quantile(draws[:, [0]] - draws[:, 1:], [0.025, 0.975], axis=0)
        held += ((low <= true[0] - true[1:]) & (true[0] - true[1:] <= high)).tolist()
    assert 0.93 <= np.mean(held) <= 0.985
