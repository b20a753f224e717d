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
from audit.reports.build import cell_entries, families_of, together
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
        place = {name: table[name] for name in ("task", "study", "corpus")}
        relations = [row["name"] for row in table["rows"] if row["by"] == "relation"]
        for by, studies in sliced.by.items():
            slices = studies[int(str(table["study"]))]
            reason = message("slices.none_gold" if by == GOLD else "slices.none_of", property=by)
            entry: Entry = place | {
                "by": by, "slices": [], "empty": [], "systems": table["systems"], "rates": [], "decisions": [],
                "unsliced": int((slices.code == len(slices.names)).sum()), "reason": None if slices.names else reason,
                "relations": relations,
            }  # fmt: skip
            entries.append(entry)
            codes, present = np.full(len(sources), -1), np.isin(sources, slices.sources)
            codes[present] = slices.of(sources[present])
            # What is in no slice comes last.
            for code, name in enumerate((*slices.names, None)) if slices.names else ():
                part, rest = _within(own, codes == code, np.asarray(slices.code == code)), own.within(codes != code)
                if not len(part.checked.cell):
                    entry["empty"] += [] if name is None else [name]
                    continue
                entry["slices"].append(name)
                cells = cell_entries(part)
                for system in entry["systems"]:
                    for relation in (None, *relations):
                        rates = _rates(cells, part, system, relations if relation is None else [relation])
                        entry["rates"] += [{"slice": name, "relation": relation, **rates}] if rates else []
                    about = place | {"by": by, "slice": name, "system": system}
                    tests += [about | test for test in _tests(system, part, rest) if name is not None]
                (decision,) = decisions(part, cells, families_of(own.cells, True))
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
    """Return the cells of a study alone."""
    places = np.flatnonzero([plain(compared) == study for compared in basis.cells["study"]]).tolist()
    judged, checked = of_cells(basis.judged, places), of_cells(basis.checked, places)
    comparisons = {id: compared for id, compared in basis.comparisons.items() if id == study}
    cells = basis.cells.iloc[places].reset_index(drop=True)
    return replace(basis, cells=cells, judged=judged, checked=checked, comparisons=comparisons)


def _within(basis: Basis, keep: np.ndarray, own: np.ndarray) -> Basis:
    """Return the basis of a slice: of the groups of these sources, by their codes, and by their places in the study."""
    part = basis.within(keep)

    def count(groups: Checked | Judged, of: np.ndarray | None = None) -> np.ndarray:
        return np.bincount(groups.cell, of, len(basis.cells)).astype(int)

    groups, satisfied, judged = count(part.checked), count(part.checked, part.checked.satisfied), part.judged
    counts = {"satisfied": satisfied, "violated": groups - satisfied, "judged": count(judged)}
    counts |= {"false": count(judged, judged.false), "open": count(judged, judged.open)}
    comparisons = {study: compared.among(own) for study, compared in basis.comparisons.items()}
    return replace(part, cells=basis.cells.assign(**counts), comparisons=comparisons)


def _cells_with_groups(part: Basis, system: str) -> list[int]:
    """Return the cells of a system that have groups here."""
    there = np.bincount(part.checked.cell, minlength=len(part.cells))
    return [at for at, name in enumerate(part.cells["system"]) if name == system and there[at]]


def _rates(cells: Sequence[Entry], part: Basis, system: str, relations: Sequence[str]) -> Entry | None:
    """Return the rates of a system in a slice under these relations together; None where it has no groups there."""
    places = [at for at in _cells_with_groups(part, system) if cells[at]["relation"] in relations]
    if not places:
        return None
    rates = cells[places[0]] if len(places) == 1 else together(part, cells, places)[0]
    observed = (part.of_cells[places[0]] if len(places) == 1 else part.rates(places)).observed
    violated, satisfied, judged, false = (
        sum(cells[at][name] for at in places) for name in ("violated", "satisfied", "judged", "false")
    )
    checked = np.isin(part.checked.cell, places)
    return {
        "system": system, "sources": len(np.unique(part.checked.source[checked])), "groups": satisfied + violated,
        "violated": violated, "judged": judged, "false": false,
        **{name: rates[name] for name in ("sr_observed", "fs_rate", "sr_genuine")},
        "vr_observed": estimated(observed and observed.less()), "vr_genuine": less(rates["sr_genuine"]),
    }  # fmt: skip


def _tests(system: str, inside: Basis, outside: Basis) -> Iterator[Entry]:
    """Yield the test of each kind of rate of which enough is known."""
    z, both = float(-ndtri((1 - inside.confidence) / 2)), (inside, outside)
    places = [_cells_with_groups(part, system) for part in both]
    if inside.target != "population" or not all(places):
        return
    rates = [part.rates(of) for part, of in zip(both, places, strict=True)]
    checked = [where(part.checked, np.isin(part.checked.cell, of)) for part, of in zip(both, places, strict=True)]
    judged = [where(part.judged, np.isin(part.judged.cell, of)) for part, of in zip(both, places, strict=True)]
    kinds: dict[str, Sequence[Checked | Judged]] = {"observed": checked, "genuine": judged}
    for kind, groups in kinds.items():
        falses = [rate.less() for of in rates if (rate := getattr(of, kind)) is not None and rate.value is not None]
        clusters = [len(np.unique(of_slice.cluster)) for of_slice in groups]
        if len(falses) == 2 and min(clusters) >= LEAST_CLUSTERS:
            ends = difference_of_rates(*(Estimate(rate.value, rate.low, rate.high) for rate in falses))
            difference, low, high = ends
            yield {
                "rate": kind, "groups": len(checked[0].cell), "clusters": clusters[0],
                "judged": len(judged[0].cell) if kind == "genuine" else None, "inside": falses[0].value,
                "outside": falses[1].value, "difference": difference, "low": low, "high": high,
                "p": float(ndtr(-difference / max((difference - low) / z, 1e-12))),
            }  # fmt: skip
