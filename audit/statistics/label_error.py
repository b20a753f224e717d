"""A share of false groups corrected for wrong labels whose rate is known, where errors do not depend on the outputs.

With K labels, of which each wrong one is as likely as the others, a label is seen where another one is true with
e / (K - 1), so the matrix of seen by true labels is P = a I + b J with b = e / (K - 1) and a = 1 - K b. Whether a group
is false is a function f of the labels that it rests on; applying the inverse of P to f gives a value of the seen labels
whose mean is f of the true ones. Where a group is false under all labels but the one that its outputs have, this is
(observed - e) / (1 - e K / (K - 1)): the correction of a prevalence by a test's sensitivity and specificity.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy.special import ndtri

from audit.errors import AuditError


@dataclass(frozen=True, slots=True)
class Resting:
    """A judged group and the labels that it rests on.

    `labels` are the rows with a label, any numbers that tell them apart; `seen` what each says, as its place among the
    labels that there are; `false` (labels, ..., labels), with an axis for each row, is whether the group is false under
    other labels. A group that rests on none has the shape (). `weight` is what it counts in the share; `share` the part
    of its cell that is judged.
    """

    labels: tuple[int, ...]
    seen: tuple[int, ...]
    false: np.ndarray
    weight: float = 1.0
    share: float = 0.0


@dataclass(frozen=True, slots=True)
class Corrected:
    """A corrected share with its interval, cut to 0 to 1 where `cut` says so."""

    rate: float
    low: float
    high: float
    cut: bool


def check_error(error: float, labels: int) -> None:
    """Raise AuditError where a rate of errors leaves nothing of what such labels say.

    >>> check_error(0.1, 2)
    """
    if labels < 2:
        raise AuditError("gold says one label only, so nothing is known of what it says in error; leave its error out")
    if not 0 <= error < (labels - 1) / labels:
        raise AuditError(
            f"with an error of {error:g} gold of {labels} labels says nothing of the truth; allowed is a rate from 0 "
            f"to less than {(labels - 1) / labels:.3g}"
        )


def corrected(groups: Sequence[Resting], error: float) -> np.ndarray:
    """The corrected value of each group, (groups,): below 0 and above 1 as they come, since only means are shares.

    Raises AuditError for a rate that `check_error` refuses. Source: Rogan and Gladen, American Journal of Epidemiology
    107 (1978), for two labels; Kuha and Skinner, in Survey Measurement and Process Quality (1997), for the matrix.

    >>> one = Resting((1,), (0,), np.array([False, True]))
    >>> corrected([one], 0.1).round(3).tolist()
    [-0.125]
    """
    return np.array([_value(one, error)[one.seen] for one in groups], float)


def correct(groups: Sequence[Resting], error: float, low: float, high: float, confidence: float = 0.95) -> Corrected:
    """The mean of the corrected values, weighed; `low` and `high` are the ends of the observed share's interval.

    The ends keep their distances, stretched by 1 / a for each label that a group rests on. Of a corpus (`share` above
    0) the errors of the labels that are there vary beside what is drawn of it: that is added, for each label the
    variance of all that rests on it, as it would be were the seen label the true one. For texts to come the observed
    interval has it already.

    >>> groups = [Resting((at,), (0,), np.array([at < 30, at >= 30])) for at in range(100)]
    >>> found = correct(groups, 0.1, 0.22, 0.4)
    >>> round(found.rate, 3), round(found.low, 3), round(found.high, 3), found.cut
    (0.25, 0.15, 0.375, False)
    """
    weight = np.array([one.weight for one in groups], float)
    weight = weight / weight.sum()
    observed = float(weight @ np.array([float(one.false[one.seen]) for one in groups]))
    rate = float(weight @ corrected(groups, error))
    stretch = max((_apart(one, error) ** -len(one.labels) for one in groups), default=1.0)
    noise = float(ndtri((1 + confidence) / 2)) ** 2 * _noise(groups, weight, error)
    ends = (
        rate - float(np.hypot(stretch * (observed - low), np.sqrt(noise))),
        rate + float(np.hypot(stretch * (high - observed), np.sqrt(noise))),
    )
    cut = tuple(min(max(one, 0.0), 1.0) for one in (rate, *ends))
    return Corrected(cut[0], cut[1], cut[2], cut != (rate, *ends))


def resting_share(groups: Sequence[Resting], error: float) -> float:
    """The share of the groups, weighed, that may rest on a wrong label: how far the observed share can be off where
    errors go with the outputs.

    >>> groups = [Resting((1,), (0,), np.array([False, True])), Resting((), (), np.array(True))]
    >>> resting_share(groups, 0.1)
    0.05
    """
    weight = np.array([one.weight for one in groups], float)
    reach = np.array([min(1.0, len(one.labels) * error) for one in groups])
    return float(weight @ reach / weight.sum())


def _noise(groups: Sequence[Resting], weight: np.ndarray, error: float) -> float:
    """The variance of the mean by the labels' errors, as far as drawing without replacement leaves it out."""
    if not error or not any(one.share for one in groups):
        return 0.0
    by_label: dict[int, np.ndarray] = {}
    for one, part in zip(groups, weight * np.sqrt([one.share for one in groups]), strict=True):
        value = _value(one, error)
        for axis, label in enumerate(one.labels):
            place = tuple(slice(None) if at == axis else seen for at, seen in enumerate(one.seen))
            # Beside the value under the seen label: what all groups share of one label adds up.
            moved = part * (value[place] - value[one.seen])
            by_label[label] = by_label.get(label, np.zeros(len(moved))) + np.roll(moved, -one.seen[axis])
    chances = {len(one): np.r_[1 - error, np.full(len(one) - 1, error / (len(one) - 1))] for one in by_label.values()}
    return float(sum(chances[len(one)] @ one**2 - (chances[len(one)] @ one) ** 2 for one in by_label.values()))


def _apart(one: Resting, error: float) -> float:
    labels = one.false.shape[0] if one.labels else 2
    return 1 - labels * error / (labels - 1)


def _value(one: Resting, error: float) -> np.ndarray:
    """The corrected value under every combination of seen labels, of the shape of `false`."""
    return _inverted(one.false.tobytes(), one.false.shape, error)


@lru_cache(maxsize=10_000)
def _inverted(false: bytes, shape: tuple[int, ...], error: float) -> np.ndarray:
    value = np.frombuffer(false, bool).reshape(shape).astype(float)
    for axis, labels in enumerate(shape):
        check_error(error, labels)
        each = error / (labels - 1)
        value = (value - each * value.sum(axis=axis, keepdims=True)) / (1 - labels * each)
    return value
