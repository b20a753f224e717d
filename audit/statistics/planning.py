"""How many questions a design needs: for a half-width of every cell, or for decisions about relations.

Pure functions on frames and arrays; `audit.reports.plan` gets these from a database. What is counted are questions, not
groups: one answer settles groups of several systems and relations, and lists that share their random numbers overlap.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from audit.errors import AuditError
from audit.statistics.allocation import judged_size, sizes_for_half_width, width_targeted
from audit.statistics.confidence_sequences import sizes_for_prior_posterior
from audit.statistics.ranking_allocation import (
    SEEN,
    Contest,
    Goal,
    Standing,
    expected_deviation,
    first_groups,
    needed_to_decide,
    pairs_of,
)

GUESS = 0.3
"""R_FS that is expected where nothing is judged: the study's median cell is about that."""
GAP = 0.1
"""Difference of SR_g between two systems that is expected where nothing is judged."""
GROWTH = 1.25
"""A contest that is not decided where it was expected to be is looked at again with this many times the groups."""


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
) -> dict[str, tuple[int, int]]:
    """For each design the first informative groups of one contest to judge, for all systems: expected, and at worst.

    `judged` has by pair how many of its informative groups are judged, `at` is where they leave the contest. `shared`
    fixes the number for the least favourable difference delta; `always-valid` ends when the decision is made. Fewer
    than `SEEN` judged of a pair: its difference is expected to be `gap`, its spread that of `guess`. What is decided
    needs no more than it has.

    >>> from audit.statistics.ranking_allocation import contest, standing
    >>> made = contest([[1, 0], [0, 1]] * 2000, [[1, 1]] * 4000)
    >>> sizes_to_decide(made, standing(made, [[]]), [0], "winner")
    {'shared': (1049, 1189), 'always-valid': (141, 2439)}
    """
    pairs = pairs_of(goal, of.systems)
    size = np.array([len(groups) for groups in of.groups])
    have = np.asarray(judged, int)
    seen = have >= np.minimum(SEEN, size)
    first, second = (np.array(side) for side in zip(*of.pairs, strict=True))
    worst = expected_deviation(of)
    deviation = np.where(seen, at.deviation, expected_deviation(of, guess))
    # A pair rests on its leader's lead: where the leader is behind, nothing can be expected of it.
    place = np.argsort(at.order)
    lead = at.difference[first, second] * np.where(place[first] < place[second], 1, -1)
    distance = np.where(seen, np.maximum(lead, 0.0), gap)
    rests = at.open_pairs if seen.all() or at.decided else np.ones(len(size), bool)
    # Where as many as were expected have not decided it, a quarter more is looked at.
    more = np.minimum(np.ceil(have * GROWTH), size).astype(int)

    def sized(wanted: np.ndarray, which: np.ndarray, least: np.ndarray) -> int:
        return first_groups(of, np.where(which, np.maximum(judged_size(wanted, size), least), have))

    every = np.full(len(size), not at.decided)
    found = {}
    for design, stops, which, least in (("shared", False, every, have), ("always-valid", True, rests, more)):
        wanted = (
            needed_to_decide(far, spread, pairs, delta, confidence, stops)
            for far, spread in ((distance, deviation), (0.0, worst))
        )
        expected, most = (sized(one, which, least) for one in wanted)
        found[design] = (expected, max(expected, most))
    return found
