"""How many questions a design needs: for a half-width of every cell, or for decisions about relations.

Pure functions on frames and arrays; `audit.reports.plan` gets these from a database. What is counted are questions, not
groups: one answer settles groups of several systems and relations, and lists that share their random numbers overlap.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from audit.errors import AuditError
from audit.statistics.allocation import effective_size, judged_size, sizes_for_half_width, width_targeted
from audit.statistics.confidence_sequences import sizes_for_prior_posterior, sizes_for_sequence
from audit.statistics.ranking_allocation import (
    LEAST,
    Contest,
    Goal,
    Standing,
    expected_deviation,
    needed_to_decide,
    pairs_of,
)

GUESS = 0.3
"""R_FS that is expected where nothing is judged: the study's median cell is about that."""
GAP = 0.1
"""Difference of SR_g between two systems that is expected where nothing is judged."""


@dataclass(frozen=True, slots=True)
class Need:
    """What a design needs. `questions` is expected (a guess, or what is known so far), `questions_worst` bounds it for
    a rate of 1/2, or no difference between systems, everywhere; `answered` of the expected ones are known already."""

    design: str
    questions: int
    questions_worst: int
    answered: int

    @property
    def to_go(self) -> int:
        """Questions that nobody has answered."""
        return self.questions - self.answered


def distinct_questions(lists: pd.DataFrame, sizes: np.ndarray, known: np.ndarray | None = None) -> tuple[int, int]:
    """Distinct questions that settle the first `sizes[cell]` groups of each cell, and how many of them are known.

    `lists` has one row a (group of a cell, question): cell (0.. as in `sizes`), rank (from 1), question (a number).
    `known` are the numbers of answered questions.

    >>> lists = pd.DataFrame({"cell": [0, 0, 1], "rank": [1, 2, 1], "question": [7, 8, 7]})
    >>> distinct_questions(lists, np.array([2, 1]), np.array([8]))
    (2, 1)
    """
    if not len(lists):
        return 0, 0
    cell, rank = lists["cell"].to_numpy(), lists["rank"].to_numpy()
    asked = np.unique(lists["question"].to_numpy()[rank <= np.asarray(sizes)[cell]])
    return len(asked), 0 if known is None else int(np.isin(asked, known).sum())


def sizes_by_design(
    cells: pd.DataFrame, half_width: float, confidence: float = 0.95, guess: float = GUESS
) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """For each design the groups to judge of each cell: expected, and in the worst case.

    `cells` has the columns satisfied, judged, false, one row a cell. Before the work (judged = 0) a cell's rate is
    `guess`; during it, what was found. `simple` and `shared` fix the numbers before anything is known, so both
    are worst cases; `two-phase` goes on from what is known; `always-valid` stops by the exact sequence. Raises
    AuditError on missing columns, impossible counts and a guess that is not from 0 to 1.

    >>> cells = pd.DataFrame({"satisfied": [9000], "judged": [40], "false": [2]})
    >>> {name: sizes[0].tolist() for name, sizes in sizes_by_design(cells, 0.05).items()}
    {'simple': [365], 'shared': [365], 'two-phase': [153], 'always-valid': [398]}
    """
    missing = [name for name in ("satisfied", "judged", "false") if name not in cells]
    if missing:
        raise AuditError(f"cells lack the column(s) {', '.join(missing)}; needed are satisfied, judged and false")
    if not 0 <= guess <= 1:
        raise AuditError(f"a guessed rate of {guess:g} is impossible; it is 0 to 1, for example 0.3")
    satisfied, judged, false = (cells[name].to_numpy(int) for name in ("satisfied", "judged", "false"))
    worst = np.maximum(sizes_for_half_width(0.5, satisfied, half_width, confidence), judged)
    rate = np.where(judged > 0, (false + 2) / (judged + 4), guess)
    expected = np.where(
        judged > 0,
        width_targeted(judged, false, satisfied, half_width, confidence),
        sizes_for_half_width(rate, satisfied, half_width, confidence),
    )
    return {
        "simple": (worst, worst),
        "shared": (worst, worst),
        "two-phase": (np.maximum(expected, judged), worst),
        "always-valid": (
            np.maximum(sizes_for_prior_posterior(rate, satisfied, half_width, confidence), judged),
            np.maximum(sizes_for_prior_posterior(0.5, satisfied, half_width, confidence), judged),
        ),
    }


def equal_sizes(
    rates: Sequence[float], satisfied: Sequence[int], goal: Goal, delta: float, confidence: float = 0.95
) -> np.ndarray:
    """Groups of each cell of one relation when cells are drawn apart, equally and without stopping.

    `rates` are the SR_o of the systems, `satisfied` their satisfied groups. The worst R_FS of 1/2 and the least
    favourable difference, delta: the two cells of a pair err apart, so that their variances add up.

    >>> equal_sizes([0.9, 0.9], [100_000, 100_000], "winner", delta=0.02).tolist()
    [2667, 2667]
    """
    observed = np.sort(np.asarray(rates, float))[-2:]
    deviation = float(np.sqrt((np.square(observed) / 4).sum()))
    pairs = pairs_of(goal, len(rates))
    wanted = float(needed_to_decide(0.0, deviation, pairs, delta, confidence, stops=False))
    return judged_size(np.full(len(rates), wanted), np.asarray(satisfied))


def sizes_to_decide(
    of: Contest,
    at: Standing,
    judged: Sequence[int],
    goal: Goal,
    delta: float = 0.02,
    confidence: float = 0.95,
    guess: float = GUESS,
    gap: float = GAP,
) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """For each design the informative groups to judge of each pair of one contest: expected, and in the worst case.

    `judged` has by pair how many of them are judged, `at` is where they leave the contest. `shared` fixes the numbers
    for the least favourable difference delta; `stopping` ends by the posterior rule, `always-valid` by the confidence
    sequence. Fewer than `LEAST` judged of a pair: its difference is expected to be `gap`, its spread that of `guess`.
    A pair that is decided, or on which nothing rests, needs no more than it has.

    >>> from audit.statistics.ranking_allocation import contest, standing
    >>> made = contest([[1, 0], [0, 1]] * 2000, [[1, 1]] * 4000)
    >>> sizes = sizes_to_decide(made, standing(made, [[]]), [0], "winner")
    >>> {name: (expected.tolist(), worst.tolist()) for name, (expected, worst) in sizes.items()}
    {'shared': ([1049], [1189]), 'stopping': ([40], [1189]), 'always-valid': ([139], [2532])}
    """
    pairs = pairs_of(goal, of.systems)
    size = np.array([len(groups) for groups in of.groups])
    have = np.asarray(judged, int)
    seen = have >= LEAST
    first, second = (np.array(side) for side in zip(*of.pairs, strict=True))
    effective = effective_size(np.minimum(have, np.maximum(size - 1, 0)), size)
    measured = at.error[first, second] * np.sqrt(np.where(np.isfinite(effective), effective, 0.0))
    deviation = np.where(seen & (have < size), measured, expected_deviation(of, guess))
    distance = np.where(seen, np.abs(at.difference[first, second]), gap)
    # Whom a decision rests on: all pairs for the order; for the winner those of the leader, or any while it is unknown.
    leader = at.order[0]
    rests = np.full(len(size), goal == "order") | ~seen.any() | (first == leader) | (second == leader)
    least = np.minimum(LEAST, size)
    level = 1 - (1 - confidence) / len(size)

    def sized(wanted: np.ndarray, always: np.ndarray) -> np.ndarray:
        whole = np.maximum(np.maximum(np.where(rests, np.minimum(wanted, size), 0), least), have)
        return np.where(always, have, whole).astype(int)

    open_pairs = at.wanted > 0 if seen.any() else np.ones(len(size), bool)
    none = np.zeros(len(size), bool)
    settled = seen & ~open_pairs
    worst = expected_deviation(of)
    fixed = [
        judged_size(needed_to_decide(0.0, spread, pairs, delta, confidence, stops=False), size)
        for spread in (deviation, worst)
    ]
    stops = judged_size(needed_to_decide(distance, deviation, pairs, delta, confidence), size)
    valid = [
        sizes_for_sequence(spread, size, np.maximum(far + delta, 1e-6), level)
        for spread, far in ((deviation, distance), (worst, np.zeros(len(size))))
    ]
    return {
        "shared": (sized(fixed[0], none), sized(fixed[1], none)),
        "stopping": (sized(stops, settled), sized(fixed[1], settled)),
        "always-valid": (sized(valid[0], none), sized(valid[1], none)),
    }
