"""What a report is computed from: counts of cells, the groups behind them, and what systems are compared by."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from audit.errors import AuditError
from audit.relations.registry import name_order
from audit.reports.document import plain
from audit.statistics.contests import Answered, Compared, Contest, Evidence, Standing, lead, standing
from audit.statistics.intervals import Target
from audit.statistics.rates import TELLING, Checked, Judged, Rates, rates_of, where

NAMES = ("study", "corpus", "task", "relation", "system")
KEY = ["task", "study", "relation", "system"]
COUNTS = (
    "groups", "satisfied", "violated", "inapplicable", "errors", "drawn", "judged", "false", "open", "waiting",
)  # fmt: skip
NOTHING = np.zeros(0, int)


@dataclass(frozen=True)
class Comparisons:
    """What a study's systems are compared by, by the names of its relations: their groups, and what is answered.

    `open` (groups, systems) are the groups that were given up. `systems` are the names of the columns, `cluster`
    (sources,) codes of documents.
    """

    groups: Mapping[str, Compared]
    answered: Mapping[str, Answered]
    open: Mapping[str, np.ndarray]
    systems: tuple[str, ...]
    cluster: np.ndarray

    def columns(self, systems: Sequence[str]) -> list[int]:
        """Return the columns of these systems."""
        return [self.systems.index(system) for system in systems]

    def among(self, keep: np.ndarray) -> "Comparisons":
        """Return the same over the groups of these sources (bool) alone."""
        rows = {name: keep[groups.source] for name, groups in self.groups.items()}
        groups = {name: part.among(rows[name]) for name, part in self.groups.items()}
        answered = {
            name: Answered(part.q[rows[name]], part.genuine[rows[name]]) for name, part in self.answered.items()
        }
        return replace(self, groups=groups, answered=answered, open={n: part[rows[n]] for n, part in self.open.items()})

    def observed(self) -> "Comparisons":
        """Return the same as if all were known, and every satisfaction genuine."""
        answered = {
            name: Answered(np.ones(of.satisfied.shape), (of.satisfied == 1).astype(np.int8))
            for name, of in self.groups.items()
        }
        return replace(self, answered=answered, open={name: of & False for name, of in self.open.items()})

    def _contest(self, weights: Mapping[str, float], target: Target) -> tuple[Contest, Evidence]:
        """Return the contest over relations with these weights, and what it goes by."""
        place = {name: at for at, name in enumerate(self.groups)}
        shares = {place[name]: share for name, share in weights.items() if name in place}
        size = max(len(self.cluster), int(self.cluster.max(initial=-1)) + 1)
        cluster = self.cluster if target == "population" else None
        evidence = Evidence(list(self.groups.values()), list(self.answered.values()), size, cluster)
        return Contest(shares, tuple(range(len(self.systems)))), evidence

    def standing(
        self, weights: Mapping[str, float], systems: Sequence[str], target: Target, delta: float, seed: int = 0
    ) -> Standing:
        """Return how these systems stand in the mean over relations with these weights."""
        return standing(*self._contest(weights, target), self.columns(systems), delta, seed)

    def sizes(self, weights: Mapping[str, float], systems: Sequence[str]) -> dict[str, int]:
        """Return the numbers of groups that apply to both of two systems, of those that tell them apart
        (`informative`), of these the answered ones (`judged`), and how many groups are `open`."""
        sizes, columns = dict.fromkeys(("groups", "informative", "judged", "open"), 0), self.columns(systems)
        for name in (name for name in weights if name in self.groups):
            groups, answered = self.groups[name], self.answered[name]
            pair = groups.pair(*columns)
            needed, genuine = (of[pair.at][:, columns] for of in (groups.satisfied == 1, answered.genuine))
            counted = ((genuine >= 0) | ~needed).all(1) & (answered.q[pair.at][:, columns] > 0).any(1)
            numbers = pair.groups, len(pair.at), int(counted.sum()), int(self.open[name][:, columns].sum())
            sizes = {size: sizes[size] + number for size, number in zip(sizes, numbers, strict=True)}
        return sizes

    def bounds(
        self, weights: Mapping[str, float], systems: Sequence[str], target: Target, z: float
    ) -> tuple[float, float]:
        """Return the least and the most that SR_g of the first less that of the second may be where groups are open,
        with the outer ends of the intervals of both."""
        (a, b), (contest, evidence) = self.columns(systems), self._contest(weights, target)
        ends = []
        for sign in (-1, 1):
            answered = []
            for name, of_relation in self.answered.items():
                genuine = of_relation.genuine.copy()
                genuine[self.open[name][:, a], a], genuine[self.open[name][:, b], b] = sign > 0, sign < 0
                answered.append(Answered(of_relation.q, genuine))
            d, error, rest = lead(contest, replace(evidence, answered=answered), a, b)
            ends.append(d + sign * z * math.sqrt(float((error**2).sum()) + rest**2))
        return max(ends[0], -1.0), min(ends[1], 1.0)


@dataclass(frozen=True)
class Basis:
    """What a report is computed from.

    `cells` has a row a (study, task, relation, system): these columns, corpus, perhaps family, and the counts of
    `COUNTS`; where totals are known as rates only, the counts are missing and there are sr_observed and fs_rate.
    `judged` and `checked` are the groups behind them, whose cells are rows of `cells`. `comparisons` are those of each
    study; a study that is not there is compared by its cells' rates alone, as if these were independent.
    """

    cells: pd.DataFrame
    judged: Judged = field(default_factory=lambda: Judged(*[NOTHING] * 7))
    checked: Checked = field(default_factory=lambda: Checked(*[NOTHING] * 5))
    comparisons: Mapping[Any, Comparisons] = field(default_factory=dict)
    target: Target = "population"
    confidence: float = 0.95
    delta: float = 0.0

    def rates(self, places: Sequence[int]) -> Rates:
        """Return the rates of these cells together."""
        finite = self.target == "corpus"
        return rates_of(places, self.judged, self.checked, finite=finite, confidence=self.confidence)

    @cached_property
    def of_cells(self) -> list[Rates]:
        """The rates of each cell."""
        return [self.rates([at]) for at in range(len(self.cells))]

    def within(self, keep: np.ndarray) -> "Basis":
        """Return the basis of the groups of these sources (bool, by their codes) alone."""
        judged, checked = where(self.judged, keep[self.judged.source]), where(self.checked, keep[self.checked.source])
        return replace(self, judged=judged, checked=checked)

    @cached_property
    def places(self) -> dict[tuple[object, str, str], int]:
        """The row of each (study, relation, system)."""
        names = (self.cells[name] for name in ("study", "relation", "system"))
        return {(plain(study), *rest): at for at, (study, *rest) in enumerate(zip(*names, strict=True))}


def basis_of_totals(cells: pd.DataFrame, target: Target, confidence: float = 0.95, delta: float = 0.0) -> Basis:
    """Return the basis of a table of totals: every group counts by itself, and the judged ones were drawn at random."""
    optional = [name for name in ("sr_observed", "fs_rate", "family", "rejected") if name in cells]
    cells = cells.reindex(columns=[*NAMES, *COUNTS, *optional])
    keys = [
        (str(task), name_order(str(study)), name_order(str(relation)), str(system))
        for task, study, relation, system in cells[KEY].itertuples(index=False)
    ]
    cells = cells.iloc[sorted(range(len(cells)), key=keys.__getitem__)].reset_index(drop=True)
    judged, checked = [(NOTHING, NOTHING, NOTHING)], [(NOTHING, NOTHING)]
    for at, cell in enumerate(cells.to_dict("records")):
        counts = [plain(cell[name]) for name in ("satisfied", "violated", "judged", "false")]
        if None in counts[:2]:
            continue
        satisfied, violated, n, false = (int(count or 0) for count in counts)
        if not 0 <= false <= n <= satisfied or violated < 0:
            raise AuditError(
                f"relation {cell['relation']}, system {cell['system']}: {false} false of {n} judged of {satisfied} "
                "satisfied groups is impossible"
            )
        judged.append((np.full(n, at), np.arange(n) < false, np.full(n, n / max(satisfied, 1))))
        checked.append((np.full(satisfied + violated, at), np.arange(satisfied + violated) < satisfied))
    cell, is_false, q = (np.concatenate(parts) for parts in zip(*judged, strict=True))
    of_cell, is_satisfied = (np.concatenate(parts) for parts in zip(*checked, strict=True))
    each, nothing, every = np.arange(len(cell)), np.zeros(len(cell), np.int8), np.arange(len(of_cell)) + len(cell)
    of_judged = Judged(cell, nothing + TELLING, is_false.astype(np.int8), nothing, q, each, each)
    of_checked = Checked(of_cell, np.full(len(of_cell), TELLING), is_satisfied.astype(np.int8), every, every)
    return Basis(cells, of_judged, of_checked, target=target, confidence=confidence, delta=delta)
