"""Systems compared under one relation, all of them on the same groups: rates, differences, and draws of who is best.

A relation may apply to a group for one system and not for another. Each system's own rate is then about other groups,
and the higher rate need not be the better system's. So whatever is said about who is best is about the common groups:
those that apply to all systems compared.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np
import pandas as pd

from audit.statistics.intervals import Target
from audit.statistics.orders import Orders, compare_orders
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
    common: a random sample of its satisfied common ones, whatever the design. `genuine` (groups, systems) has 1 for a
    genuine satisfaction, 0 for a false one or a violation and NaN for what is not settled, `held` (groups, systems) who
    satisfies; `source` and `cluster` (groups,) are codes of the sources and of their documents, the same in all
    relations. `decides` (groups,), which groups can add to a difference, is there where the design draws the same
    groups for all systems: then these are what `paired_differences` takes.
    """

    systems: tuple[str, ...]
    groups: np.ndarray
    satisfied: np.ndarray
    judged: np.ndarray
    false: np.ndarray
    genuine: np.ndarray | None = None
    held: np.ndarray | None = None
    decides: np.ndarray | None = None
    source: np.ndarray | None = None
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
        return np.asarray(self.decides & ~unsettled(self.genuine))

    @cached_property
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

    def rates(self, relative: bool = False) -> tuple[np.ndarray, np.ndarray]:
        """(SR_o, SR_g) of every system; SR_g is NaN where too few groups are judged, since an order would be luck.

        With `relative` SR_g is up to a constant, which judged groups may leave open.
        """
        found = self.sr_relative if relative else self.sr_genuine
        few = self.few if self.outcomes is None else np.full(len(self.systems), self.short is not None)
        return self.sr_observed, np.where(few, np.nan, found)

    @property
    def orders(self) -> Orders:
        """Order and best systems over the common groups: what reports, replays and disputes say of them."""
        observed, genuine = self.rates(relative=True)
        return compare_orders(pd.DataFrame({"system": self.systems, "sr_observed": observed, "sr_genuine": genuine}))

    @property
    def by_false(self) -> tuple[np.ndarray, np.ndarray]:
        """What each system has before anything counts as false, and what each false group takes; both (systems,).

        `sr_relative` is the former less the latter times the false groups that the comparison rests on: those of
        `outcomes`, or those that `false` counts.
        """
        if self.outcomes is None or self.held is None:
            with np.errstate(invalid="ignore", divide="ignore"):
                return self.sr_observed, np.where(self.judged > 0, self.sr_observed / self.judged, 0.0)
        each = self.deciding / max(len(self.outcomes), 1) / self.groups
        return self.held[self._settled].sum(axis=0) * each, each

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
        """Draws of SR_g, up to a constant that all systems share, as of `weighted_draws`; None where `short`."""
        return weighted_draws([self], [1.0], self.systems, target, draws, seed)

    def _errors(self, target: Target) -> "_Errors":
        """What is known of SR_o and R_FS, and how far off it may be.

        R_FS is over the deciding groups where groups are judged for all systems at once, with errors that go together
        as the judged groups have it, else over each cell with independent errors. For the population the common groups
        are a sample too, and SR_o has the covariance of the satisfactions.
        """
        population = target == "population"
        held = None if self.held is None else self.held.astype(float)
        if self.outcomes is not None and held is not None and self.decides is not None:
            rows = self._settled
            judged, whole = held[rows].sum(axis=0), held[self.decides].sum(axis=0)
            false = judged - self.outcomes.sum(axis=0)
            share = false / np.maximum(judged, 1)
            off = held[rows] - self.outcomes - share * held[rows]
            squares = off.T @ off + PRIOR * np.eye(len(share))
            observed = whole / self.groups
            spread = np.cov(held, rowvar=False) / len(held) if len(held) > 1 else np.zeros_like(squares)
            if population and self.cluster is not None:
                # Groups of one document say less than as many of documents of their own.
                worth = worth_of_differences(self.outcomes, self.cluster[rows])
                squares, spread = squares / worth, spread / worth
        else:
            judged, false, whole = self.judged, self.false, self.satisfied
            share = false / np.maximum(judged, 1)
            squares = np.diag(judged * share * (1 - share) + PRIOR)
            observed = self.sr_observed
            spread = np.diag(observed * (1 - observed) / self.groups)
            rows, off = np.zeros(0, bool), np.zeros((0, len(share)))
            if self.genuine is not None and held is not None:
                rows = (self.held & ~np.isnan(self.genuine)).any(axis=1)
                off = np.where(held[rows] > 0, np.nan_to_num(1 - self.genuine[rows] - share), 0.0)
        rest = np.ones(len(share)) if population else np.sqrt(np.clip(1 - judged / np.maximum(whole, 1), 0.0, 1.0))
        # Nothing judged of what a system satisfies: any rate from 0 to 1 is as good as another.
        covariance = squares * np.outer(rest, rest) / np.outer(np.maximum(judged, 1), np.maximum(judged, 1))
        low, high = np.zeros(len(share)), np.ones(len(share))
        if not population:
            low, high = false / np.maximum(whole, 1), 1 - (judged - false) / np.maximum(whole, 1)
        cluster = self.cluster if population else self.source
        return _Errors(
            observed,
            share,
            covariance,
            spread,
            low,
            high,
            cluster,
            None if cluster is None else cluster[rows],
            off * rest / np.maximum(judged, 1),
            None if held is None or not population else (held - held.mean(axis=0)) / max(len(held), 1),
        )


def unsettled(genuine: np.ndarray) -> np.ndarray:
    """Which rows of `Common.genuine` have a NaN, bool (groups,). There are 10^5 and more, so it is a product.

    >>> unsettled(np.array([[1.0, 0.0], [1.0, np.nan]])).tolist()
    [False, True]
    """
    return np.isnan(genuine @ np.ones(genuine.shape[1]))


@dataclass(frozen=True)
class _Errors:
    """SR_o and R_FS of the systems of one relation (systems,), and their errors' covariances (systems, systems).

    `low` and `high` (systems,) are what the judged groups leave possible of R_FS. `off_share` (judged, systems) and
    `off_observed` (groups, systems) are what each group adds to the errors, `judged` and `cluster` their codes of
    sources or documents; None where nobody knows them.
    """

    observed: np.ndarray
    share: np.ndarray
    covariance: np.ndarray
    spread: np.ndarray
    low: np.ndarray
    high: np.ndarray
    cluster: np.ndarray | None
    judged: np.ndarray | None
    off_share: np.ndarray
    off_observed: np.ndarray | None

    def of(self, at: Sequence[int]) -> "_Errors":
        """Those of the systems at these places alone."""
        both, place = np.ix_(at, at), list(at)
        return _Errors(
            self.observed[place],
            self.share[place],
            self.covariance[both],
            self.spread[both],
            self.low[place],
            self.high[place],
            self.cluster,
            self.judged,
            self.off_share[:, place],
            None if self.off_observed is None else self.off_observed[:, place],
        )


def weighted_draws(
    commons: Sequence[Common],
    weights: Sequence[float],
    systems: Sequence[str],
    target: Target,
    draws: int = DRAWS,
    seed: int = 0,
) -> np.ndarray | None:
    """Draws of the weighted mean of SR_g over relations, up to a constant all systems share; float array (draws,
    systems).

    `systems` are those compared, each of which every one of `commons` has; `weights` (above 0) sum to 1. R_FS over all
    relations is drawn by `hierarchical_draws`. The errors of relations go together where these share sources, of the
    population where they share documents: by the sums over clusters of what each group adds (linearisation, as
    `audit.statistics.dependence`), all relations at once. None where a relation is `short`, and where several
    relations have groups whose sources nobody knows.
    """
    if any(one.short for one in commons):
        return None
    if len(commons) > 1 and any(one.source is None for one in commons):
        return None
    every = [one._errors(target).of([one.systems.index(system) for system in systems]) for one in commons]
    weight = np.asarray(weights, float)[:, None]
    scores = weight * np.array([one.observed for one in every])
    observed = scores.sum(axis=0)
    if not observed.any():
        return np.zeros((draws, len(systems)))
    # What each relation counts for in a system's R_FS over all of them.
    parts = np.where(observed > 0, np.divide(scores, observed, out=np.zeros_like(scores), where=observed > 0), weight)
    share = (parts * [one.share for one in every]).sum(axis=0)
    low, high = ((parts * [getattr(one, name) for one in every]).sum(axis=0) for name in ("low", "high"))
    kept = np.divide(
        [1 - one.share for one in every], 1 - share, out=np.ones_like(parts), where=(1 - share > 0) & (observed > 0)
    )
    moved = weight * kept
    covariance = sum(np.outer(part, part) * one.covariance for part, one in zip(parts, every, strict=True))
    spread = sum(np.outer(part, part) * one.spread for part, one in zip(moved, every, strict=True))
    if len(every) > 1:
        covariance, spread = _together(every, parts, moved, observed, share, covariance, spread)
    rates = hierarchical_draws(observed, share, covariance, low, high, draws, seed)
    if target == "population":
        values, vectors = np.linalg.eigh(np.atleast_2d(spread))
        noise = np.random.default_rng(seed + 1).standard_normal(rates.shape)
        observed = np.clip(observed + noise @ (vectors * np.sqrt(np.clip(values, 0.0, None))).T, 0.0, 1.0)
    return np.asarray(observed * (1 - rates))


def _together(
    every: Sequence[_Errors],
    parts: np.ndarray,
    moved: np.ndarray,
    observed: np.ndarray,
    share: np.ndarray,
    covariance: np.ndarray,
    spread: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """The covariances of R_FS and of SR_o over all relations, with what relations have in common added to each one's
    own."""
    known = [code for one in every for code in (one.judged, one.cluster) if code is not None]
    codes = pd.factorize(np.concatenate(known))[0]
    codes_of = iter(np.split(codes, np.cumsum([len(code) for code in known])[:-1]))
    number = int(codes.max(initial=-1)) + 1
    of_share, of_observed = (np.zeros((number, len(observed))) for _ in range(2))
    own = [np.zeros_like(covariance) for _ in range(3)]
    for one, part, move in zip(every, parts, moved, strict=True):
        sums = []
        for off, weight in ((one.off_share, part), (one.off_observed, move)):
            found, code = np.zeros_like(of_share), next(codes_of)
            if off is not None:
                np.add.at(found, code, off * weight)
            sums.append(found)
        of_share, of_observed = of_share + sums[0], of_observed + sums[1]
        for at, (a, b) in enumerate(((0, 0), (1, 1), (0, 1))):
            own[at] += sums[a].T @ sums[b]
    covariance = covariance + of_share.T @ of_share - own[0]
    # Sources that are hard under one relation are violated more often under another: SR_o and R_FS go together, too.
    turned = np.divide(observed, 1 - share, out=np.zeros_like(observed), where=share < 1)[:, None]
    both = turned * (of_share.T @ of_observed - own[2])
    spread = spread + of_observed.T @ of_observed - own[1] - both - both.T
    values, vectors = np.linalg.eigh(covariance)  # a covariance, whatever few clusters happen to show
    return (vectors * np.clip(values, 0.0, None)) @ vectors.T, spread


NOT_ENOUGH = "not enough judged: {judged} groups, needed are {least}"
