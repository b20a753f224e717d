"""Rates by slices of the sources: the report over each slice's groups, and which slices are worse than the rest."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.special import ndtr, ndtri

from audit.corpora.slices import GOLD
from audit.false_satisfaction.slices import Sliced
from audit.messages import message
from audit.reports.basis import Basis
from audit.reports.build import cell_entries, families_of, genuine_rates
from audit.reports.document import Entry, estimated, less, plain
from audit.reports.standings import decisions
from audit.statistics.intervals import Estimate, difference_of_rates
from audit.statistics.orders import discovery_rates
from audit.statistics.rates import Checked, Judged, of_cells, where

LEVEL = 0.05
"""The false discovery rate up to which slices are found."""
LEAST_CLUSTERS = 20
"""Sources, or documents, that a slice and the rest each need for a test, and of which as many have a judged group for
one of genuine rates: fewer tell too little of how groups go together."""


def slice_entries(
    tables: Sequence[Entry], sliced: Sliced, basis: Basis, sources: np.ndarray
) -> tuple[list[Entry], Entry]:
    """Return an entry for each table of `violations` and slicing, and the tests of slices against the rest.

    `sources` are the ids of the sources by their codes in `basis`. An entry has the rates of each (slice, system) over
    all relations (`relation` None), then under each, and the decision in each slice; a study that the property says
    nothing of has a reason. Each slice of each system is tested against the rest of its study's sources, for VR_o and
    for VR_g: either is one family of hypotheses over the whole report, with q-values that hold however the slices
    overlap. Tests are about texts to come, so there are none where the target is the corpus. The worst come first.
    """
    entries, tests = list[Entry](), list[Entry]()
    for table in tables:
        own = _of_study(basis, table["study"])
        for by, studies in sliced.by.items():
            slices, place = (
                studies[int(str(table["study"]))],
                {name: table[name] for name in ("task", "study", "corpus")},
            )
            reason = message("slices.none_gold" if by == GOLD else "slices.none_of", property=by)
            entry: Entry = place | {
                "by": by, "slices": [], "empty": [], "systems": table["systems"], "rates": [], "decisions": [],
                "unsliced": int((slices.code == len(slices.names)).sum()), "reason": None if slices.names else reason,
                "relations": [row["name"] for row in table["rows"] if row["by"] == "relation"],
            }  # fmt: skip
            entries.append(entry)
            codes, known = np.full(len(sources), -1), np.isin(sources, slices.sources)
            codes[known] = slices.of(sources[known])
            # What is in no slice comes last.
            for code, name in enumerate((*slices.names, None)) if slices.names else ():
                part, rest = _within(own, codes == code, np.asarray(slices.code == code)), own.within(codes != code)
                if not len(part.checked.cell):
                    entry["empty"] += [] if name is None else [name]
                    continue
                entry["slices"].append(name)
                for system in entry["systems"]:
                    for relation in (None, *entry["relations"]):
                        entry["rates"] += _rate(entry, name, relation, system, part)
                    about = place | {"by": by, "slice": name, "system": system}
                    tests += [about | test for test in _tests(entry, system, part, rest) if name is not None]
                (decision,) = decisions(part, cell_entries(part), families_of(own.cells, True))
                entry["decisions"].append({"slice": name, **decision})
            entry["rates"].sort(key=lambda rate: rate["relation"] is not None)
    for kind in ("observed", "genuine"):
        of_rate = [test for test in tests if test["rate"] == kind]
        for test, q in zip(of_rate, discovery_rates([test["p"] for test in of_rate]), strict=True):
            test |= {"q": q, "found": q <= LEVEL}
    tests.sort(key=lambda test: (test["rate"] == "observed", not test["found"], -test["difference"]))
    untestable = None if basis.target == "population" else message("slices.tests_need_population")
    return entries, {"level": LEVEL, "least": LEAST_CLUSTERS, "tests": tests, "reason": untestable}


def _of_study(basis: Basis, study: Any) -> Basis:
    """The cells of a study alone."""
    places = np.flatnonzero([plain(one) == study for one in basis.cells["study"]]).tolist()
    judged, checked = of_cells(basis.judged, places), of_cells(basis.checked, places)
    comparisons = {id: one for id, one in basis.comparisons.items() if id == study}
    cells = basis.cells.iloc[places].reset_index(drop=True)
    return replace(basis, cells=cells, judged=judged, checked=checked, comparisons=comparisons)


def _within(basis: Basis, keep: np.ndarray, own: np.ndarray) -> Basis:
    """The basis of a slice: of the groups of these sources, by their codes, and by their places in the study."""
    part = basis.within(keep)

    def count(groups: Checked | Judged, of: np.ndarray | None = None) -> np.ndarray:
        return np.bincount(groups.cell, of, len(basis.cells)).astype(int)

    groups, satisfied, judged = count(part.checked), count(part.checked, part.checked.satisfied), part.judged
    counts = {"satisfied": satisfied, "violated": groups - satisfied, "judged": count(judged)}
    counts |= {"false": count(judged, judged.false), "open": count(judged, judged.open)}
    comparisons = {study: one.among(own) for study, one in basis.comparisons.items()}
    return replace(part, cells=basis.cells.assign(**counts), comparisons=comparisons)


def _occupied(entry: Entry, part: Basis, relations: Sequence[str], system: str) -> tuple[list[int], Checked, Judged]:
    """The cells of a system under these relations that have groups in a slice, and these groups."""
    keys = (part.places.get((entry["study"], relation, system)) for relation in relations)
    there = set(np.unique(part.checked.cell).tolist())
    cells = [place for place in keys if place is not None and place in there]
    checked, judged = np.isin(part.checked.cell, cells), np.isin(part.judged.cell, cells)
    return cells, where(part.checked, checked), where(part.judged, judged)


def _rate(entry: Entry, name: str | None, relation: str | None, system: str, part: Basis) -> list[Entry]:
    """The rates of a system in a slice, under a relation or over all; none where it has no groups there."""
    relations = entry["relations"] if relation is None else [relation]
    cells, checked, judged = _occupied(entry, part, relations, system)
    if not cells:
        return []
    rates, reason = part.of_cells[cells[0]] if len(cells) == 1 else part.rates(cells), None
    if rates.genuine is not None and rates.genuine.value is None:
        reason = message("slices.bounds_only")
    elif rates.genuine is None:
        lacking = len(cells) - len(np.unique(judged.cell))
        some = message("slices.some_not_judged", count=lacking or 1, whole=len(cells))
        reason = some if relation is None else message("slices.not_judged")
    held = genuine_rates(rates, len(judged.cell), reason)
    return [
        {
            "slice": name, "relation": relation, "system": system, "sources": len(np.unique(checked.source)),
            "groups": len(checked.cell), "violated": int((checked.satisfied == 0).sum()), "judged": len(judged.cell),
            "false": int(judged.false.sum()), **held,
            "vr_observed": estimated(rates.observed and rates.observed.less()), "vr_genuine": less(held["sr_genuine"]),
        }
    ]  # fmt: skip


def _tests(entry: Entry, system: str, inside: Basis, outside: Basis) -> Iterator[Entry]:
    """Yield the test of each kind of rate of which enough is known."""
    z = float(-ndtri((1 - inside.confidence) / 2))
    parts = [_occupied(entry, part, entry["relations"], system) for part in (inside, outside)]
    if inside.target != "population" or not all(cells for cells, *_ in parts):
        return
    both = inside.rates(parts[0][0]), outside.rates(parts[1][0])
    kinds: dict[str, Sequence[Checked | Judged]]
    kinds = {"observed": [of for _, of, _ in parts], "genuine": [of for *_, of in parts]}
    for kind, groups in kinds.items():
        rates = [getattr(one, kind) for one in both]
        known = [rate.less() for rate in rates if rate is not None and rate.value is not None]
        clusters = [len(np.unique(one.cluster)) for one in groups]
        if len(known) == 2 and min(clusters) >= LEAST_CLUSTERS:
            ends = difference_of_rates(*(Estimate(rate.value, rate.low, rate.high) for rate in known))
            difference, low, high = ends
            yield {
                "rate": kind, "groups": len(parts[0][1].cell), "clusters": clusters[0],
                "judged": len(groups[0].cell) if kind == "genuine" else None, "inside": known[0].value,
                "outside": known[1].value, "difference": difference, "low": low, "high": high,
                "p": float(ndtr(-difference / max((difference - low) / z, 1e-12))),
            }  # fmt: skip
