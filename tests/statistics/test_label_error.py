"""The correction for wrong labels, against closed forms, enumeration and simulated truth."""

import itertools
import re

import numpy as np
import pytest

from audit.errors import AuditError
from audit.statistics.corrected import Resting, check_error, correct, corrected_values, resting_share


def said(label, own, labels=2, row=0, **rest):
    """A group whose outputs all have the label `own`, so that it is false under every other."""
    return Resting((row,), (label,), np.arange(labels) != own, **rest)


@pytest.mark.parametrize(("labels", "error"), [(2, 0.05), (3, 0.05), (3, 0.3), (5, 0.1)])
def test_where_outputs_agree_it_is_the_closed_form(labels, error):
    # Rogan and Gladen 1978: (observed + specificity - 1) / (sensitivity + specificity - 1), a wrong output being found
    # unless gold's error falls on its label.
    groups = [said(1, at % labels, labels, at) for at in range(90)]
    observed = np.mean([group.false[group.seen] for group in groups])
    sensitivity, specificity = 1 - error / (labels - 1), 1 - error
    expected = (observed + specificity - 1) / (sensitivity + specificity - 1)
    assert expected == pytest.approx((observed - error) / (1 - error * labels / (labels - 1)))
    assert corrected_values(groups, error).mean() == pytest.approx(expected)
    assert correct(groups, error, observed, observed).rate == pytest.approx(expected)


@pytest.mark.parametrize("axes", [1, 2, 3])
def test_any_way_of_settling_is_corrected_without_bias(axes):
    """The mean of the corrected values over what gold may say is what the true labels say, whatever they settle."""
    labels, error = 3, 0.12
    chance = np.full((labels, labels), error / (labels - 1)) + np.eye(labels) * (1 - error - error / (labels - 1))
    false = np.random.default_rng(axes).random((labels,) * axes) < 0.5
    rows = tuple(range(axes))
    for truth in itertools.product(range(labels), repeat=axes):
        mean = 0.0
        for seen in itertools.product(range(labels), repeat=axes):
            likely = np.prod(
                [chance[true_label, seen_label] for true_label, seen_label in zip(truth, seen, strict=True)]
            )
            mean += likely * corrected_values([Resting(rows, seen, false)], error)[0]
        assert mean == pytest.approx(float(false[truth]))


def test_what_no_label_moves_stays():
    always, people = Resting((0,), (1,), np.array([True, True])), Resting((), (), np.array(False))
    assert corrected_values([always, people], 0.2).tolist() == pytest.approx([1.0, 0.0])
    assert resting_share([always, people], 0.2) == 0.1


def test_no_error_changes_nothing():
    groups = [said(at % 2, 0, row=at, share=1.0) for at in range(10)]
    corrected_share = correct(groups, 0.0, 0.3, 0.7)
    assert (corrected_share.rate, corrected_share.low, corrected_share.high, corrected_share.cut) == pytest.approx(
        (0.5, 0.3, 0.7, False)
    )


def test_one_label_that_many_groups_rest_on_errs_once():
    alone = [said(at // 20, 0, row=at, share=1.0) for at in range(40)]
    shared = [said(at // 20, 0, row=at // 4, share=1.0) for at in range(40)]
    reach = [correct(groups, 0.1, 0.5, 0.5).high - 0.5 for groups in (alone, shared)]
    assert reach[1] == pytest.approx(2 * reach[0])


def test_what_is_below_nothing_is_cut():
    corrected_share = correct([said(0, 0, row=at) for at in range(30)], 0.1, 0.0, 0.1)
    assert (corrected_share.rate, corrected_share.low, corrected_share.cut) == (0.0, 0.0, True)


@pytest.mark.parametrize(
    ("error", "labels", "says"),
    [
        (0.5, 2, "with an error of 0.5 gold of 2 labels says nothing of the truth; allowed is a rate from 0 to less"),
        (0.7, 3, "less than 0.667"),
        (0.1, 1, "gold says one label only"),
    ],
)
def test_an_error_at_which_nothing_is_known_is_refused(error, labels, says):
    with pytest.raises(AuditError, match=re.escape(says)):
        check_error(error, labels)
    with pytest.raises(AuditError, match=re.escape(says)):
        corrected_values([said(0, 0, labels)], error)


@pytest.mark.slow
@pytest.mark.parametrize(("labels", "error"), [(2, 0.1), (3, 0.05)])
def test_a_census_with_wrong_labels_is_covered(labels, error):
    """Everything is judged, so that the errors of gold are all that varies: 8 groups rest on each label."""
    rng = np.random.default_rng(labels)
    covered = 0
    for _ in range(150):
        truth, out = rng.integers(labels, size=80), rng.integers(labels, size=(80, 8))
        right = rng.random((80, 8)) < 0.6
        out = np.where(right, truth[:, None], out)
        seen = np.where(rng.random(80) < error, (truth + rng.integers(1, labels, 80)) % labels, truth)
        groups = [said(int(seen[at]), int(own), labels, at, share=1.0) for at in range(80) for own in out[at]]
        observed = np.mean([group.false[group.seen] for group in groups])
        corrected_share = correct(groups, error, observed, observed)
        covered += corrected_share.low <= (out != truth[:, None]).mean() <= corrected_share.high
    assert covered / 150 > 0.92
