"""Coverage, for texts to come in documents, of what is said beside rates: bounds, spot checks, carrying.

    python tests/benchmarks/document_coverage.py                   # the tables of docs/evidence/benchmarks.md
    python tests/benchmarks/document_coverage.py --redraws 40      # a quick look

A world has `documents` of `sentences` each. Whatever may be true of a sentence is so with a probability that its
document draws from a Beta distribution (intraclass correlation ICC), so that the sentences of a document are alike.
"""

import argparse
from functools import partial

import numpy as np
import pandas as pd
from scipy.special import betaincinv

from audit.reports.build import cell_entries, rated
from audit.reports.certainty import certainty, dependence, with_worth
from audit.reports.validity import Findings, audit_parts
from audit.statistics.rates import BOUNDS, with_bounds, with_rates

WORLDS = (
    # documents, sentences in each, intraclass correlation, drawn groups of each cell (0: all)
    (100, 10, 0.1, 60), (100, 10, 0.3, 0), (20, 30, 0.3, 60), (20, 30, 0.3, 0), (1000, 1, 0.1, 60),
)  # fmt: skip
LEFT_OUT = {"true ones": (1.0, 0.0), "false ones": (0.0, 1.0), "few": (0.02, 0.02)}
"""Which answers of a cell are not there: the share of the true groups, and of the false ones."""
RATE = 0.3
SATISFIED = 0.75
CHECKED, AUDITED = 20, 30
"""Groups whose answers are checked, or of which people are asked; follow-ups that are audited."""


def shares(rng, documents, sentences, icc, mean, latent=None):
    """What is so, in all sentences of the documents; (documents x sentences,). `latent` says how hard these are."""
    if sentences == 1:
        return rng.random(documents) < mean
    chance = chance_of(mean, icc, rng.random((documents, 1)) if latent is None else latent)
    return (rng.random((documents, sentences)) < chance).ravel()


def chance_of(mean, icc, latent):
    """The probability in a document whose place among all documents is `latent`, between 0 and 1."""
    more = 1 / icc - 1
    return betaincinv(mean * more, (1 - mean) * more, latent)


def truths(sentences, icc):
    """R_FS and the carry error of `audits_coverage`, over endlessly many documents."""
    latent = (np.arange(20_000) + 0.5) / 20_000
    of = (lambda mean: np.full(len(latent), mean)) if sentences == 1 else partial(chance_of, icc=icc, latent=latent)
    violated, false = of(1 - SATISFIED), of(RATE)
    satisfied = (1 - violated).mean()
    return ((1 - violated) * false).mean() / satisfied, ((1 - violated) * of(0.1)).mean() / satisfied


def held(low, high, truth):
    return low - 1e-9 <= truth <= high + 1e-9


def bounds_coverage(documents, sentences, icc, drawn, left_out, cells=4, apart=0.3, redraws=400, seed=4, rates=1):
    """Coverage of the intervals of bounds: R_FS and SR_g of a cell, and of all `cells` together, and two mean widths.

    Answers are left out of all cells but the first `rates`. Cells share their sources; a sentence is false under a
    relation of its own accord with the probability `apart`, else as under all (so that within a cell what is false has
    apart^2 + (1 - apart)^2 times the intraclass correlation).
    """
    rng = np.random.default_rng(seed)
    document = np.repeat(np.arange(documents), sentences)
    found = []
    for _ in range(redraws):
        hard = shares(rng, documents, sentences, icc, RATE)
        order = rng.permutation(len(document))
        rows, frames = [], {"judged": [], "drawn": [], "checked": []}
        for at in range(cells):
            satisfied = shares(rng, documents, sentences, icc, SATISFIED)
            own = rng.random(len(hard)) < apart
            false = np.where(own, shares(rng, documents, sentences, icc, RATE), hard)
            here = order[satisfied[order]][: drawn or None]
            key = {"study": 1, "task": "sentiment", "relation": f"MR{at}", "system": "a"}
            lost = rng.random(len(hard)) < np.choose(1 * false, LEFT_OUT[left_out])
            waits = lost[here] & (at >= rates)
            known = false[here] & ~waits
            groups = pd.DataFrame(key | {"source": here, "cluster": document[here], "false": 1 * known})
            frames["drawn" if at >= rates else "judged"].append(groups.assign(open=1 * waits))
            frames["checked"].append(pd.DataFrame(key | {"cluster": document, "satisfied": 1 * satisfied}))
            counts = {"satisfied": int(satisfied.sum()), "violated": int((~satisfied).sum()), "drawn": len(here)}
            counts |= {"drawn_false": int(known.sum()), "drawn_open": int(waits.sum())}
            counts |= {"judged": 0, "false": 0} if at >= rates else {"judged": len(here), "false": int(known.sum())}
            rows.append(key | counts)
        groups = {name: pd.concat(some, ignore_index=True) for name, some in frames.items() if some}
        groups["judged"] = groups.get("judged", groups["drawn"].iloc[:0]).drop(columns="open")
        table = with_worth(pd.DataFrame(rows), groups["judged"], groups["checked"], drawn=groups["drawn"])
        table = with_bounds(with_rates(table, target="population"), target="population")
        sure = certainty(table, groups["judged"], groups["checked"], "population", drawn=groups["drawn"])
        of_cell = table.iloc[-1]
        ends = [tuple(of_cell[list(names[2:])]) for names in (BOUNDS[:4], BOUNDS[4:])]
        ends += [sure.bounds(table, range(cells), satisfied)[2:] for satisfied in (False, True)]
        truths = 2 * (RATE, SATISFIED * (1 - RATE))
        covered = [held(*one, truth) for one, truth in zip(ends, truths, strict=True)]
        found.append([*covered, ends[0][1] - ends[0][0], ends[2][1] - ends[2][0]])
    return np.mean(found, axis=0)


def audits_coverage(documents, sentences, icc, drawn, redraws=400, seed=5):
    """Coverage of checked R_FS of a cell and of two, and of the answers' error (spot
    checks), of the carry error, and of R_FS widened by it.

    Relation MR0 carries answers to three groups in ten, one in ten of these wrongly; the protocol errs in 8 % of the
    groups of MR1 and MR2. All of it goes by the same documents: hard ones have more of each.
    """
    rate, carry_error = truths(sentences, icc)
    rng = np.random.default_rng(seed)
    document = np.repeat(np.arange(documents), sentences)
    found = []
    for _ in range(redraws):
        of = partial(shares, rng, documents, sentences, icc, latent=rng.random((documents, 1)))
        order = rng.permutation(len(document))
        rows, frames = [], {name: [] for name in ("judged", "checked", "cells", "follow_ups", "checks")}
        mistaken = of(0.08)
        for at in range(3):
            key = {"study": 1, "corpus": "c", "task": "sentiment", "relation": f"MR{at}", "system": "a"}
            satisfied, false = ~of(1 - SATISFIED), of(RATE)
            here, rest = order[satisfied[order]][: drawn or None], order[~satisfied[order]]
            rests = (rng.random(len(document)) < 0.3) & (at == 0)
            carried_wrong = of(0.1)
            told = false ^ (rests & carried_wrong) ^ (mistaken & np.isin(at, (1, 2)))
            known = told.copy()
            if at in (1, 2):
                known[here[:CHECKED]] = false[here[:CHECKED]]
                checks = {"source": here[:CHECKED], "cluster": document[here[:CHECKED]]}
                frames["checks"].append(
                    pd.DataFrame(
                        key | checks | {"protocol": 1 * told[checks["source"]], "checked": 1 * false[checks["source"]]}
                    )
                )
            counts = {"satisfied": int(satisfied.sum()), "violated": len(rest), "judged": len(here), "drawn": len(here)}
            counts |= {"false": int(known[here].sum()), "drawn_false": int(known[here].sum()), "drawn_open": 0}
            rows.append(key | counts)
            resting = {
                f"rests_{name}": int((rests & one)[here].sum()) for name, one in (("true", ~told), ("false", told))
            }
            protocol = {"protocol_judged": len(here), "protocol_false": int(told[here].sum())}
            frames["cells"].append(pd.DataFrame([key | resting | protocol]))
            if at == 0:
                audit = here[:AUDITED]
                follow_ups = {"group_id": audit, "source": audit, "follow_up": audit, "cluster": document[audit]}
                frames["follow_ups"].append(pd.DataFrame(key | follow_ups | {"wrong": 1 * carried_wrong[audit]}))
            frames["judged"].append(
                pd.DataFrame(key | {"source": here, "cluster": document[here], "false": 1 * known[here]})
            )
            frames["checked"].append(pd.DataFrame(key | {"cluster": document, "satisfied": 1 * satisfied}))
        one = {name: pd.concat(some, ignore_index=True) for name, some in frames.items()}
        first = order[:CHECKED]
        answers = pd.DataFrame({"source": first, "cluster": document[first], "wrong": 1 * mistaken[first]})
        audits = Findings(one["cells"], one["follow_ups"], one["checks"], answers, 0, 0)
        cells = with_worth(pd.DataFrame(rows), one["judged"], one["checked"])
        cells = rated(cells)
        entries = cell_entries(cells)
        of_false, _ = dependence(cells, one["judged"], one["checked"], "population")
        parts = audit_parts(entries, rows, cells, audits, of_false, 0.95, "population")
        carried, protocol, _ = (entry | part for entry, part in zip(entries, parts.cells, strict=True))
        checks, carry = parts.totals["checks"], parts.carry[0]
        found.append(
            [
                held(protocol["fs_checked_low"], protocol["fs_checked_high"], rate),
                held(checks["fs_checked_low"], checks["fs_checked_high"], rate),
                held(checks["error_low"], checks["error_high"], 0.08),
                held(carry["low"], carry["high"], carry_error),
                held(carried["fs_carry_low"], carried["fs_carry_high"], rate),
            ]
        )
    return np.mean(found, axis=0)


def table(heads, rows):
    """Prints a Markdown table while its rows come."""
    print(f"\n| {heads} |\n|{'---|' * (heads.count('|') + 1)}")
    for *world, found in rows:
        print(f"| {' | '.join(map(str, world))} | {' | '.join(f'{one:.3f}' for one in found)} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--redraws", type=int, default=400)
    parser.add_argument("--only", choices=("bounds", "audits"))
    arguments = parser.parse_args()
    if arguments.only in (None, "bounds"):
        table(
            "documents | sentences | ICC | drawn | left out | R_FS | SR_g | all: R_FS | SR_g | width | all: width",
            (
                (*world, left_out, bounds_coverage(*world, left_out, redraws=arguments.redraws))
                for world in WORLDS
                for left_out in LEFT_OUT
            ),
        )
    if arguments.only in (None, "audits"):
        table(
            "documents | sentences | ICC | drawn | checked R_FS | of two cells | answers | carry error | R_FS with it",
            ((*world, audits_coverage(*world, redraws=arguments.redraws)) for world in WORLDS),
        )


if __name__ == "__main__":
    main()
