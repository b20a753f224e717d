"""What a protocol makes of annotators' errors: how often its answers are wrong, and what that does to R_FS."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from audit.errors import AuditError

ONE, TWO, THREE = "one annotator", "two annotators and an adjudicator", "majority of three"
PROTOCOLS = (ONE, TWO, THREE)


@dataclass(frozen=True, eq=False)
class Protocol:
    """What comes out of one protocol, by its name. Rates are fractions; q labels.

    `bias` is that of R_FS, None where the systems' outputs are not known.
    """

    name: str
    confusion: np.ndarray
    """Probability that the protocol answers a label, given the true one, (true q, answered q)."""
    wrong_answers: float
    """Share of its answers that are wrong."""
    judgements: float
    """Judgements that a question takes, an adjudicator's counted as one."""
    bias: float | None = None


def protocols(
    confusion: np.ndarray,
    marginals: Sequence[float],
    outputs: np.ndarray | None = None,
    adjudicator: float = 1.0,
) -> list[Protocol]:
    """What the three protocols of `PROTOCOLS` make of these annotators, each drawn at random among them.

    `confusion` (a, true q, said q) and `marginals` (q,) are those of a Dawid-Skene fit; annotators who never saw a true
    label (NaN there) are left out for it. Two annotators are two different ones, and so are three where there are
    three; else a third like the average is imagined. Two who agree settle a question; a disagreement goes to an
    adjudicator who is right with the probability `adjudicator`, and else says any other label alike. Of three different
    labels the majority takes one at random. Annotators err independently given the true label: where the same items are
    hard for all of them, two agree on wrong answers more often than this says.

    `outputs` (true q, output q or more) counts the satisfied groups whose true label and output are these, for groups
    that one answer settles; more columns are outputs that are none of the labels, and wrong whatever is answered. Then
    the bias of R_FS is P(answer is not the output) - P(truth is not the output), in closed form. Raises AuditError on
    shapes that do not fit and on an accuracy outside 0 to 1.

    >>> careful = np.array([[[0.9, 0.1], [0.1, 0.9]]] * 2)
    >>> [(one.name, round(one.wrong_answers, 3), round(one.judgements, 2)) for one in protocols(careful, [0.5, 0.5])]
    [('one annotator', 0.1, 1.0), ('two annotators and an adjudicator', 0.01, 2.18), ('majority of three', 0.028, 3.0)]
    """
    said, shares = np.asarray(confusion, float), np.asarray(marginals, float)
    kinds = len(shares)
    if said.ndim != 3 or said.shape[1:] != (kinds, kinds) or not len(said):
        raise AuditError(f"confusion has the shape {said.shape}; needed is (annotators, {kinds}, {kinds})")
    if not 0 <= adjudicator <= 1:
        raise AuditError(f"an adjudicator's accuracy of {adjudicator:g} is impossible; it lies between 0 and 1")
    if outputs is not None and (np.ndim(outputs) != 2 or len(outputs) != kinds or np.shape(outputs)[1] < kinds):
        raise AuditError(f"outputs have the shape {np.shape(outputs)}; needed is ({kinds}, {kinds} or more)")
    settles = np.full((kinds, kinds), (1 - adjudicator) / max(kinds - 1, 1))
    np.fill_diagonal(settles, adjudicator)
    one, two, three = (np.zeros((kinds, kinds)) for _ in range(3))
    disputed = 0.0
    for true in range(kinds):
        # Of a true label that nobody saw nothing is known, and its marginal is (nearly) 0: taken as never mistaken.
        rows = said[~np.isnan(said[:, true]).any(axis=1), true]
        rows = rows if len(rows) else np.eye(kinds)[[true]]
        average = rows.mean(axis=0)
        pairs = _together(rows, 2) if len(rows) > 1 else np.multiply.outer(average, average)
        agreed = np.diag(pairs)
        apart = max(1 - float(agreed.sum()), 0.0)
        one[true], two[true] = average, agreed + apart * settles[true]
        three[true] = _majority(_together(rows, 3) if len(rows) > 2 else np.multiply.outer(pairs, average))
        disputed += float(shares[true]) * apart
    return [
        Protocol(name, found, float(shares @ (1 - np.diag(found))), judgements, _bias(found, outputs))
        for name, found, judgements in zip(PROTOCOLS, (one, two, three), (1.0, 2 + disputed, 3.0), strict=True)
    ]


def _together(rows: np.ndarray, people: int) -> np.ndarray:
    """Probability that `people` (2 or 3) different ones of `rows` (a, q) say these labels: (q, q) or (q, q, q).

    Mean over all ordered choices, from power sums, so that a thousand annotators cost no more than three.
    """
    a = len(rows)
    single, double = rows.sum(axis=0), rows.T @ rows
    if people == 2:
        return (np.multiply.outer(single, single) - double) / (a * (a - 1))
    shared = np.einsum("ij,k->ijk", double, single)
    every = np.einsum("i,j,k->ijk", single, single, single)
    every -= shared + shared.transpose(0, 2, 1) + shared.transpose(2, 1, 0)
    every += 2 * np.einsum("ai,aj,ak->ijk", rows, rows, rows)
    return np.asarray(every) / (a * (a - 1) * (a - 2))


def _majority(said: np.ndarray) -> np.ndarray:
    """Probability of each label (q,) to be said by two of three, or else taken at random; `said` is (q, q, q)."""
    kinds = len(said)
    label = np.eye(kinds)
    votes = label[:, None, None, :] + label[None, :, None, :] + label[None, None, :, :]
    leading = votes == votes.max(axis=-1, keepdims=True)
    return np.einsum("ijk,ijkl->l", said, leading / leading.sum(axis=-1, keepdims=True))


def _bias(answers: np.ndarray, outputs: np.ndarray | None) -> float | None:
    """Mean over the satisfied groups of P(answer is not the output) - [truth is not the output]."""
    if outputs is None:
        return None
    joint = np.asarray(outputs, float)
    total = float(joint.sum())
    if total <= 0:
        return None
    return float((joint[:, : len(joint)] / total * (np.eye(len(joint)) - answers)).sum())
