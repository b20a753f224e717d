"""Rates by inclusion probabilities: what holds for every draw, and that intervals cover."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from audit.statistics.rates import Checked, Judged, Rate, bottom_k, rates_of, weighted_mean, weighted_rate


@given(st.integers(0, 10**6), st.integers(1, 6))
def test_a_source_is_asked_exactly_when_it_is_among_the_first_of_a_list(seed, n):
    rng = np.random.default_rng(seed)
    u = rng.random(20)
    lists = [np.sort(rng.choice(20, size, replace=False)) for size in (3, 8, 20)]
    first = set(np.concatenate([members[np.argsort(u[members])[:n]] for members in lists]).tolist())
    assert set(np.flatnonzero(u <= bottom_k(u, lists, [n] * len(lists))).tolist()) == first


def test_weights_of_asked_sources_add_up_to_all_on_average():
    rng, value = np.random.default_rng(0), np.arange(12) % 3
    lists = [np.arange(12), np.arange(4), np.array([1, 5, 9])]
    totals = []
    for _ in range(4000):
        u = rng.random(12)
        q = bottom_k(u, lists, [2] * len(lists))
        totals.append((value / q)[u <= q].sum())
    assert np.mean(totals) == pytest.approx(value.sum(), abs=4 * np.std(totals) / 4000**0.5)


def test_when_all_are_asked_the_rate_is_known():
    value = np.array([1, 0, 0, 1, 1])
    rate = weighted_rate(value, np.ones(5), np.array([0, 0, 1, 1, 1]), np.array([2, 3]), np.arange(5), finite=True)
    assert (rate.value, rate.low, rate.high) == (0.6, 0.6, 0.6)


def test_a_stratum_without_an_answer_leaves_the_rate_open():
    one = (np.array([1.0]), np.array([0.5]), np.array([0]))
    assert weighted_rate(*one, np.array([2, 2]), np.array([0]), finite=True) is None
    assert weighted_rate(*one, np.array([2, 0]), np.array([0]), finite=True).value == 1


@pytest.mark.parametrize("share", [0.02, 0.3])
@pytest.mark.parametrize("per_document", [1, 5])
def test_intervals_cover(share, per_document):
    """Two cells of texts to come, in documents whose sentences are alike, of which the second applies to half."""
    rng, covered = np.random.default_rng(1), []
    for _ in range(300):
        document = np.arange(400) // per_document
        chance = np.where(rng.random(400 // per_document) < 0.3, *(share * np.array([[3.0], [1 / 7]])))
        false = rng.random(400) < chance[document]
        cells = [np.arange(400), np.flatnonzero(rng.random(400) < 0.5)]
        u = rng.random(400)
        q = bottom_k(u, cells, [60, 60])
        groups = np.concatenate(cells)
        stratum = np.repeat([0, 1], [len(cell) for cell in cells])
        asked = (u <= q)[groups]
        groups, stratum = groups[asked], stratum[asked]
        sizes = np.array([len(cell) for cell in cells])
        rate = weighted_rate(false[groups], q[groups], stratum, sizes, document[groups], finite=False)
        covered.append(rate.low <= share <= rate.high)
    assert np.mean(covered) >= 0.91


def test_a_mean_of_rates_that_go_together_is_no_better_known_than_they_are():
    rate = Rate(0.5, 0.4, 0.6, error=np.full(4, 0.02))
    mean = weighted_mean([weighted_mean([rate, rate], [0.5, 0.5]), rate], [0.5, 0.5])
    assert (mean.low, mean.high) == pytest.approx((0.4, 0.6))
    np.testing.assert_allclose(mean.error, rate.error)


def test_rates_are_those_of_the_study_and_totals_add_up():
    """Jiang et al. 2022, section 3.2: R_FS = n_fs / n_s, SR_g = SR_o (1 - R_FS), VR_g = VR_o + SR_o R_FS."""
    judged = Judged(
        *(np.array(column) for column in ([0] * 8, [2] * 8, [1] * 4 + [0] * 4, [0] * 8, [1.0] * 8)), *[np.arange(8)] * 2
    )
    checked = Checked(np.zeros(10, int), np.full(10, 2), np.array([1] * 8 + [0] * 2), *[np.arange(10)] * 2)
    rates = rates_of([0], judged, checked, finite=True)
    assert (rates.observed.value, rates.false.value, rates.genuine.value) == (0.8, 0.5, 0.4)
    assert rates.genuine.less().value == pytest.approx(0.2 + 0.8 * 0.5)
    assert (rates.false.low, rates.false.high) == (0.5, 0.5)
    open_groups = replace(judged, open=np.array([0] * 6 + [1] * 2), false=np.array([1] * 4 + [0] * 4))
    bounds = rates_of([0], open_groups, checked, finite=True)
    assert (bounds.false.least, bounds.false.most, bounds.false.value) == (0.5, 0.75, None)
    assert bounds.genuine.least == pytest.approx(0.8 * 0.25)


def drawn(proxies=False, given_up=0.0):
    """Three cells in three strata: gold's, and two that are asked with a probability of one half; sources in fours."""
    rng = np.random.default_rng(3)
    source = np.concatenate([np.sort(rng.choice(200, n, replace=False)) for n in (150, 90, 60)])
    cell = np.repeat([0, 1, 2], (150, 90, 60))
    stratum, satisfied = rng.integers(0, 3, 300), (rng.random(300) < 0.8).astype(int)
    false, q = (rng.random(300) < 0.25).astype(int), np.where(stratum == 0, 1.0, 0.5)
    x = np.where(rng.random(300) < 0.8, false, 1 - false)[:, None] * 1.0 if proxies else None
    at = (satisfied == 1) & (rng.random(200)[source] < q)
    is_open = (rng.random(300) < given_up).astype(int)
    groups = [one[at] for one in (cell, stratum, false * (1 - is_open), is_open, q, source, source // 4)]
    return Judged(*groups, None if x is None else x[at]), Checked(cell, stratum, satisfied, source, source // 4, x)


@pytest.mark.parametrize(
    ("cells", "finite", "proxies", "given_up", "observed", "false", "genuine"),
    [
        ([0, 2], True, True, 0, (0.8286, 0.8286, 0.8286), (0.2322, 0.1929, 0.2837), (0.6362, 0.5935, 0.6687)),
        ([0, 1, 2], True, False, 0, (0.82, 0.82, 0.82), (0.2614, 0.2137, 0.3227), (0.6057, 0.5554, 0.6448)),
        ([0, 1, 2], False, False, 0, (0.82, 0.7618, 0.8688), (0.2614, 0.1855, 0.3644), (0.6057, 0.5017, 0.685)),
        ([0, 2], False, False, 0.1, (0.8286, 0.7571, 0.8857), (None, 0.174, 0.4732), (None, 0.4255, 0.6994)),
    ],
)
def test_the_numbers_are_those_with_which_simulations_covered(
    cells, finite, proxies, given_up, observed, false, genuine
):
    """No oracle knows these; `benchmarks/rounds.py` says how often such intervals hold the truth."""
    rates = rates_of(cells, *drawn(proxies, given_up), finite=finite)
    for rate, numbers in ((rates.observed, observed), (rates.false, false), (rates.genuine, genuine)):
        assert (rate.value, rate.low, rate.high) == pytest.approx(numbers, abs=5e-5)


def test_a_mean_over_families_is_that_with_which_simulations_covered():
    rates = [rates_of(cells, *drawn(), finite=False).genuine for cells in ([0], [1, 2])]
    mean = weighted_mean(rates, [0.5, 0.5])
    assert [round(float(end), 4) for end in (mean.value, mean.low, mean.high)] == [0.6057, 0.4986, 0.6778]


def test_a_proxy_sharpens_and_a_useless_one_costs_little():
    rng, widths, held = (
        np.random.default_rng(0),
        {"none": [], "good": [], "useless": []},
        {"none": [], "good": [], "useless": []},
    )
    for _ in range(200):
        false = rng.random(600) < 0.3
        proxies = {"none": None, "good": np.where(rng.random(600) < 0.9, false, ~false), "useless": rng.random(600)}
        asked = rng.random(600) < 0.15
        for name, x in proxies.items():
            how = None if x is None else (x[asked, None].astype(float), np.array([[x.mean()]]))
            number = int(asked.sum())
            rate = weighted_rate(
                false[asked], np.full(number, 0.15), np.zeros(number, int), np.array([600]), np.arange(number),
                finite=True, proxy=how,
            )  # fmt: skip
            widths[name].append(rate.high - rate.low)
            held[name].append(rate.low <= false.mean() <= rate.high)
    assert np.mean(widths["good"]) < 0.75 * np.mean(widths["none"])
    assert np.mean(widths["useless"]) < 1.05 * np.mean(widths["none"])
    assert min(np.mean(kind) for kind in held.values()) >= 0.91
