"""What protocols make of annotators' errors: worked by hand, against every case by name, and by simulation."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from audit.errors import AuditError
from audit.statistics.annotators import PROTOCOLS, protocols


def even(accuracy, kinds=3):
    """A confusion matrix: right with `accuracy`, else any other label alike."""
    matrix = np.full((kinds, kinds), (1 - accuracy) / (kinds - 1))
    np.fill_diagonal(matrix, accuracy)
    return matrix


def test_two_labels_worked_by_hand():
    # Accuracy .9: two agree wrongly with .1^2 = .01, disagree with 2 * .9 * .1 = .18; two or three of three are wrong
    # with 3 * .1^2 * .9 + .1^3 = .028.
    single, double, triple = protocols(np.array([even(0.9, 2)] * 3), [0.3, 0.7])
    assert (single.wrong_answers, double.wrong_answers, triple.wrong_answers) == pytest.approx((0.1, 0.01, 0.028))
    assert (single.judgements, double.judgements, triple.judgements) == pytest.approx((1, 2.18, 3))


def test_three_labels_tie_worked_by_hand():
    # Accuracy .8, others .1 each. Two agree wrongly: 2 * .1^2 = .02. Three: right by 3 or 2 votes .8^3 + 3 * .8^2 * .2
    # = .896; all three different 6 * .8 * .1 * .1 = .048, of which a third is right: .912 right.
    _, two, three = protocols(np.array([even(0.8)] * 3), [0.2, 0.3, 0.5])
    assert two.wrong_answers == pytest.approx(0.02)
    assert three.wrong_answers == pytest.approx(1 - 0.912)


def test_an_adjudicator_who_errs():
    # .01 agreed wrongly, and of .18 disputes a tenth goes wrong: .028, no better than the majority of three.
    two = protocols(np.array([even(0.9, 2)] * 2), [0.5, 0.5], adjudicator=0.9)[1]
    assert two.wrong_answers == pytest.approx(0.028)


def test_the_bias_worked_by_hand():
    # Two labels, 80 of 100 satisfied groups have a right output, 20 a wrong one; the answer is wrong with .1. True
    # groups seem false with .1, false ones true with .1: bias = .8 * .1 - .2 * .1 = .06.
    joint = np.array([[40, 10], [10, 40]])
    single, double, _ = protocols(np.array([even(0.9, 2)] * 2), [0.5, 0.5], joint)
    assert single.bias == pytest.approx(0.06)
    assert double.bias == pytest.approx(0.8 * 0.01 - 0.2 * 0.01)
    # Half of the groups have an output that nobody can answer: wrong in truth and by every protocol.
    more = np.column_stack([joint, [50, 50]])
    assert protocols(np.array([even(0.9, 2)] * 2), [0.5, 0.5], more)[0].bias == pytest.approx(0.03)
    assert protocols(np.array([even(0.9, 2)] * 2), [0.5, 0.5], np.zeros((2, 2)))[0].bias is None
    assert protocols(np.array([even(0.9, 2)] * 2), [0.5, 0.5])[0].bias is None


def test_different_annotators_are_taken_two_and_three_at_a_time():
    # Every choice of different people, in every order, by its name.
    rng = np.random.default_rng(5)
    said = rng.dirichlet([1, 1, 1], size=(4, 3))
    shares = np.array([0.5, 0.3, 0.2])
    wrong = {}
    for people in (2, 3):
        total = []
        for chosen in itertools.permutations(range(4), people):
            lost = 0.0
            for true, labels in itertools.product(range(3), itertools.product(range(3), repeat=people)):
                chance = shares[true] * np.prod(
                    [said[who, true, label] for who, label in zip(chosen, labels, strict=True)]
                )
                votes = np.bincount(labels, minlength=3)
                if people == 2:
                    lost += chance * (len(set(labels)) == 1 and labels[0] != true)
                else:
                    best = np.flatnonzero(votes == votes.max())
                    lost += chance * (1 - (true in best) / len(best))
            total.append(lost)
        wrong[people] = np.mean(total)
    _, two, three = protocols(said, shares)
    assert (two.wrong_answers, three.wrong_answers) == pytest.approx((wrong[2], wrong[3]))


def test_what_an_annotator_never_saw_is_left_to_the_others():
    said = np.array([even(0.9, 2), [[0.7, 0.3], [np.nan, np.nan]], [[0.7, 0.3], [np.nan, np.nan]]])
    single = protocols(said, [0.5, 0.5])[0]
    assert single.wrong_answers == pytest.approx(0.5 * (0.1 + 0.3 + 0.3) / 3 + 0.5 * 0.1)
    nobody = np.array([[[0.9, 0.1], [np.nan, np.nan]]] * 2)
    assert protocols(nobody, [1.0, 0.0])[0].wrong_answers == pytest.approx(0.1)


@given(
    st.lists(st.floats(0.34, 0.99), min_size=1, max_size=6),
    st.floats(0, 1),
    st.integers(2, 5),
)
def test_protocols_are_probabilities_and_more_people_err_less(accuracies, adjudicator, kinds):
    said = np.array([even(max(accuracy, 1.01 / kinds), kinds) for accuracy in accuracies])
    outcomes = protocols(said, np.full(kinds, 1 / kinds), adjudicator=adjudicator)
    assert [protocol.name for protocol in outcomes] == list(PROTOCOLS)
    for protocol in outcomes:
        assert np.allclose(protocol.confusion.sum(axis=1), 1)
        assert (protocol.confusion >= -1e-12).all()
        assert 0 <= protocol.wrong_answers <= 1
    best = protocols(said, np.full(kinds, 1 / kinds))
    assert best[1].wrong_answers <= best[2].wrong_answers + 1e-9 <= best[0].wrong_answers + 2e-9


def test_mistakes_are_said():
    with pytest.raises(AuditError, match=r"needed is \(annotators, 2, 2\)"):
        protocols(np.ones((2, 3, 3)), [0.5, 0.5])
    with pytest.raises(AuditError, match=r"accuracy of 1\.2"):
        protocols(np.array([even(0.9, 2)]), [0.5, 0.5], adjudicator=1.2)
    with pytest.raises(AuditError, match=r"needed is \(2, 2 or more\)"):
        protocols(np.array([even(0.9, 2)]), [0.5, 0.5], np.ones((3, 3)))
