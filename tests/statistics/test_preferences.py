"""Weights: worked by hand, and the smallest moves against a linear programme and a grid."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from audit.errors import AuditError
from audit.statistics.orders import normalised, smallest_move

# In thousandths: the linear programme lets a lead of 1e-7 pass for none, ours does not.
rates = st.lists(st.integers(0, 1000).map(lambda number: number / 1000), min_size=3, max_size=3)


def test_worked_by_hand():
    # The leads are +.4 and -.1 at weights .5: +.15. Moving m takes .5 m from it: m = .3, |changes| sum to .6.
    table = np.array([[0.9, 0.5], [0.5, 0.6]])
    move = smallest_move(table, np.array([0.5, 0.5]), 0)
    assert (move.rival, move.distance) == (1, pytest.approx(0.6))
    assert move.weights == pytest.approx((0.2, 0.8))


def test_the_study_users():
    # Jiang et al. 2022, section 6.2: by SR_g amazon is best for MR1.3 and for MR4.2, so no weights of the two move it.
    genuine = np.array([[0.8124, 0.8323], [0.6589, 0.7125], [0.6615, 0.5784], [0.4989, 0.8293]])
    assert smallest_move(genuine, np.array([1.0, 0.0]), 0) is None


@pytest.mark.slow
@given(rates, rates, rates)
@settings(max_examples=80)
def test_the_smallest_move_is_the_linear_programmes(first, second, weights):
    assume(sum(weights) > 0.1)
    table, share = np.array([first, second]), normalised(weights)
    winner = int(np.argmax(table @ share))
    lead = table[winner] - table[1 - winner]
    assume(lead @ share > 1e-6)
    move = smallest_move(table, share, winner)
    # new = share + up - down with up, down >= 0: least sum with new >= 0, sum(new) = 1, lead . new <= 0.
    eye = np.eye(3)
    programme = linprog(
        np.ones(6),
        A_ub=np.vstack([np.hstack([lead, -lead]), np.hstack([-eye, eye])]),
        b_ub=np.concatenate([[-lead @ share], share]),
        A_eq=np.array([[1, 1, 1, -1, -1, -1]]),
        b_eq=[0],
    )
    assert (move is None) == (programme.status == 2) or abs(lead.min()) < 1e-6
    if move is not None and programme.status == 0:
        assert move.distance == pytest.approx(programme.fun, abs=1e-6)
        assert sum(move.weights) == pytest.approx(1)
        assert lead @ np.array(move.weights) == pytest.approx(0, abs=1e-9)


def test_delta_lets_the_winner_stay_longer_and_missing_rates_are_left_out():
    table = np.array([[0.9, 0.5, 0.5], [0.5, 0.6, np.nan], [np.nan, 0.9, 0.9]])
    share = np.array([0.5, 0.5, 0.0])
    assert smallest_move(table, share, 0, delta=0.02).distance > smallest_move(table, share, 0).distance
    assert smallest_move(table, share, 0).rival == 1  # the third has no rate where there is weight
    assert smallest_move(table, share, 0).weights[2] == 0


def test_weights_that_cannot_be():
    for weights in ([0, 0], [1, -1], [float("nan")]):
        with pytest.raises(AuditError):
            normalised(weights)
