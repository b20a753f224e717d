"""Systems compared under one relation, all of them on the same groups: rates, differences, and draws of who is best.

A relation may apply to a group for one system and not for another. Each system's own rate is then about other groups,
and the higher rate need not be the better system's. So whatever is said about who is best is about the common groups:
those that apply to all systems compared.
"""

from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np
import pandas as pd

from audit.statistics.intervals import Target
from audit.statistics.paired import (
    PairedDifference,
    independent_difference,
    paired_differences,
    worth_of_differences,
)
from audit.statistics.posterior import DRAWS, hierarchical_draws

LEAST = 30
"""Judged groups from which on a cell, or a comparison, is in orders, probabilities and headlines, unless everything was
judged. With fewer the probabilities do not hold (docs/report.md, "How sure a ranking is")."""
PRIOR = 0.5
"""Added to a sum of squares of judged groups, so that a few that happen to be alike leave some doubt."""


@dataclass(frozen=True)
class Common:
    """The common groups of one relation; arrays are (systems,) but for two.

    `groups` are the satisfied or violated ones, `satisfied` those that each system satisfies. Where totals alone are
    known (`own`) these are each system's own groups. `judged` and `false` count the judged groups of each cell that are
    common: a random sample of its satisfied common ones, whatever the design. Where the design draws the same groups
    for all systems, `genuine` (groups, systems) has 1 for a genuine satisfaction, 0 for a false one or a violation and
    NaN for what is not settled, `held` (groups, systems) who satisfies, `decides` (groups,) which groups can add to a
    difference, and `cluster` (groups,) codes of the sources' documents: what `paired_differences` takes.
    """

    systems: tuple[str, ...]
    groups: np.ndarray
    satisfied: np.ndarray
    judged: np.ndarray
    false: np.ndarray
    genuine: np.ndarray | None = None
    held: np.ndarray | None = None
    decides: np.ndarray | None = None
    cluster: np.ndarray | None = None
    own: bool = False

    @classmethod
    def of_totals(cls, cells: pd.DataFrame) -> "Common | None":
        """From the counts of a relation's cells (columns system, satisfied, violated, judged, false), each system's own
        groups taken for common; None where a cell has no counts. Systems without a group are left out.

        >>> cells = pd.DataFrame(dict(system=["a", "b"], satisfied=[8, 6], violated=2, judged=4, false=[1, 0]))
        >>> Common.of_totals(cells).sr_genuine.round(3).tolist()
        [0.6, 0.75]
        """
        counts = cells[["satisfied", "violated", "judged", "false"]].to_numpy(float, na_value=np.nan)
        applies = ~(counts[:, 0] + counts[:, 1] == 0)
        satisfied, violated, judged, false = counts[applies].T
        if np.isnan(counts[applies]).any() or not applies.any():
            return None
        systems = tuple(cells["system"][applies].astype(str))
        return cls(systems, satisfied + violated, satisfied, judged, false, own=True)

    @property
    def sr_observed(self) -> np.ndarray:
        """SR_o of every system over the common groups; NaN where there is none."""
        with np.errstate(invalid="ignore"):
            return np.asarray(self.satisfied / self.groups, float)

    @cached_property
    def outcomes(self) -> np.ndarray | None:
        """Deciding rows of `genuine` judged for all systems, (judged, systems); None where none are drawn so."""
        if self.genuine is None or self.decides is None:
            return None
        return self.genuine[self._settled]

    @cached_property
    def _settled(self) -> np.ndarray:
        """Which groups decide and are judged for all systems, bool (groups,)."""
        if self.genuine is None or self.decides is None:
            return np.zeros(0, bool)
        return np.asarray(self.decides & ~np.isnan(self.genuine).any(axis=1))

    @property
    def deciding(self) -> int:
        """Groups that can add to a difference."""
        return 0 if self.decides is None else int(self.decides.sum())

    @property
    def sr_relative(self) -> np.ndarray:
        """SR_g of every system up to a constant that all share; NaN where nothing is judged. Only differences count."""
        if self.outcomes is None:
            return self._by_cells()
        if not len(self.outcomes):
            return np.zeros(len(self.systems)) if not self.deciding else np.full(len(self.systems), np.nan)
        return np.asarray(self.outcomes.mean(axis=0) * self.deciding / self.groups)

    @property
    def sr_genuine(self) -> np.ndarray:
        """SR_g of every system over the common groups; NaN where it is not known.

        Its differences are those of `sr_relative`: to those is added what the groups add that all systems satisfy with
        identical outputs, which is the same for all.
        """
        if self.outcomes is None or self.genuine is None or self.held is None or self.decides is None:
            return self._by_cells()
        alike = self.held.all(axis=1) & ~self.decides
        known = self.genuine[alike, 0]
        known = known[~np.isnan(known)]
        if alike.any() and not len(known):
            return np.full(len(self.systems), np.nan)
        return self.sr_relative + (known.mean() * alike.sum() / self.groups if alike.any() else 0.0)

    def _by_cells(self) -> np.ndarray:
        with np.errstate(invalid="ignore", divide="ignore"):
            rate = np.where(self.satisfied > 0, self.false / self.judged, 0.0)
        return self.sr_observed * (1 - rate)

    @property
    def short(self) -> str | None:
        """Why nothing is said about who is best: too few groups are judged; None where enough are."""
        if not self.groups.all():
            return "the systems share no group"
        if self.outcomes is not None:
            judged, all_of_them = len(self.outcomes), len(self.outcomes) == self.deciding
            return None if all_of_them or judged >= LEAST else NOT_ENOUGH.format(judged=judged, least=LEAST)
        few = self.few
        return NOT_ENOUGH.format(judged=int(self.judged[few].min()), least=LEAST) if few.any() else None

    @property
    def few(self) -> np.ndarray:
        """The systems of whose satisfied common groups too few are judged, bool (systems,)."""
        return np.asarray((self.judged < LEAST) & (self.judged < self.satisfied))

    def differences(
        self, target: Target, confidence: float, delta: float, sequence: bool = False
    ) -> list[PairedDifference]:
        """The difference of SR_g for each two systems, by paired groups where the design draws them, else by cells."""
        if self.genuine is not None and self.decides is not None:
            return paired_differences(self.genuine, self.decides, target, confidence, sequence, self.cluster, delta)
        if sequence:
            return []
        cells = list(zip(self.groups, self.satisfied, self.judged, self.false, strict=True))
        return [
            independent_difference(one, other, cells[one], cells[other], target, confidence, delta)
            for one, other in combinations(range(len(cells)), 2)
        ]

    def draws(self, target: Target, draws: int = DRAWS, seed: int = 0) -> np.ndarray | None:
        """Draws of SR_g, up to a constant that all systems share; float array (draws, systems). None where `short`.

        R_FS is drawn by `hierarchical_draws`: over the deciding groups where groups are judged for all systems at once,
        with errors that go together as the judged groups have it, else over each cell with independent errors. For the
        population the common groups are a sample too, and SR_o is drawn with the covariance of the satisfactions.
        """
        if self.short:
            return None
        if self.outcomes is not None and not self.deciding:
            return np.zeros((draws, len(self.systems)))
        population = target == "population"
        if self.outcomes is not None and self.held is not None and self.decides is not None:
            held = self.held[self._settled].astype(float)
            judged, false = held.sum(axis=0), (held - self.outcomes).sum(axis=0)
            whole = self.held[self.decides].sum(axis=0).astype(float)
            share = false / np.maximum(judged, 1)
            off = held - self.outcomes - share * held
            squares = off.T @ off + PRIOR * np.eye(len(share))
            observed = whole / self.groups
            spread = np.cov(self.held, rowvar=False) / len(self.held) if len(self.held) > 1 else np.zeros_like(squares)
            if population and self.cluster is not None:
                # Groups of one document say less than as many of documents of their own.
                worth = worth_of_differences(self.outcomes, self.cluster[self._settled])
                squares, spread = squares / worth, spread / worth
        else:
            judged, false, whole = self.judged, self.false, self.satisfied
            share = false / np.maximum(judged, 1)
            squares = np.diag(judged * share * (1 - share) + PRIOR)
            observed = self.sr_observed
            spread = np.diag(observed * (1 - observed) / self.groups)
        rest = np.ones(len(share)) if population else np.sqrt(np.clip(1 - judged / np.maximum(whole, 1), 0.0, 1.0))
        # Nothing judged of what a system satisfies: any rate from 0 to 1 is as good as another.
        covariance = squares * np.outer(rest, rest) / np.outer(np.maximum(judged, 1), np.maximum(judged, 1))
        low, high = np.zeros(len(share)), np.ones(len(share))
        if not population:
            low, high = false / np.maximum(whole, 1), 1 - (judged - false) / np.maximum(whole, 1)
        rates = hierarchical_draws(observed, share, covariance, low, high, draws, seed)
        if population:
            values, vectors = np.linalg.eigh(np.atleast_2d(spread))
            scores = np.random.default_rng(seed + 1).standard_normal(rates.shape)
            moved = scores @ (vectors * np.sqrt(np.clip(values, 0.0, None))).T
            observed = np.clip(observed + moved, 0.0, 1.0)
        return np.asarray(observed * (1 - rates))


NOT_ENOUGH = "not enough judged: {judged} groups, needed are {least}"
