"""What a primary comparison costs and brings: how often a report errs with one, and how often it is found.

    python tests/benchmarks/primary_comparison.py     # prints the table of docs/evidence/benchmarks.md

Made-up systems under several relations that share their sources: SR_o .85, R_FS .30 but for system a, which is ahead by
so many points of R_FS in every relation. Of each world reports are made through the code of `audit report`, without a
primary comparison, and with a over b named before: under one relation, and over all. *False claims* is the share of
reports that call some pair of equal systems, or the comparison, told apart, or some change of the best system sure that
is none.
"""

import argparse
from datetime import datetime

import numpy as np
import pandas as pd

from audit.reports.build import compare_all, rated
from audit.reports.primary import Named
from audit.statistics.comparison import Common, informative
from audit.studies.deviations import Naming

SYSTEMS = ("a", "b", "c", "d")
NAMINGS = {"none": (), "a over b under R1": ("a", "b", "R1"), "a over b over all": ("a", "b", None)}
SECOND = ("c", "d", None)
"""A comparison of systems that are equal in every world: nothing is to be found, so the gate stays shut."""


def world(rng, relations=6, groups=600, judged=60, lead=0.0, together=0.7):
    """Common groups by (task, study, relation), of which the first `judged` are judged."""
    hard, found = rng.random(groups), {}
    for number in range(1, relations + 1):
        mine = rng.random((groups, len(SYSTEMS)))
        held = rng.random((groups, len(SYSTEMS))) < 0.85
        chance = np.where(rng.random((groups, len(SYSTEMS))) < together, hard[:, None], mine)
        wrong = chance < 0.3 - lead * (np.arange(len(SYSTEMS)) == 0)
        decides = informative(held, np.where((wrong == wrong[:, :1]).all(axis=1)[:, None], 0, np.arange(len(SYSTEMS))))
        genuine = np.where(np.arange(groups)[:, None] < judged, held & ~wrong, np.where(held, np.nan, 0.0))
        stop = np.flatnonzero(decides & np.isnan(genuine).any(axis=1))
        genuine[stop[0] if len(stop) else groups :] = np.nan
        drawn = held[:judged].sum(axis=0)
        false = (held & wrong)[:judged].sum(axis=0)
        whole = np.full(len(SYSTEMS), groups)
        codes = np.arange(groups)
        common = Common(SYSTEMS, whole, held.sum(axis=0), drawn, false, genuine, held, decides, codes, codes)
        found["sentiment", 1, f"R{number}"] = common
    return found


def report(shared, named, target="population"):
    """The relations of a report and its primary comparisons."""
    rows = [
        {"study": 1, "task": "sentiment", "relation": relation, "system": system, "satisfied": common.satisfied[at]}
        | {"violated": common.groups[at] - common.satisfied[at], "judged": common.judged[at], "false": common.false[at]}
        for (_, _, relation), common in shared.items()
        for at, system in enumerate(SYSTEMS)
    ]
    naming = Naming(1, 2, None, datetime(2026, 3, 2), 0)
    primary = [Named(1, "sentiment", *named, naming, True)] if named else []
    relations, _, _, entries = compare_all(rated(pd.DataFrame(rows)), shared, target, 0.0, 0.95, named=primary)
    return relations, entries


def claims(relations, entries, lead):
    """(whether something false is claimed, pairs with a that are told apart, whether the comparison is)."""
    pairs = [pair for one in relations for pair in one["pairs"] if pair["apart"]]
    equal = [pair for pair in pairs if not lead or "a" not in (pair["system"], pair["other"])]
    turned = [pair for pair in pairs if lead and (pair["difference"] < 0) == (pair["system"] == "a")]
    turned = [pair for pair in turned if "a" in (pair["system"], pair["other"])]
    sure = [found for one in relations for found in one["overtaking"] if found["sure"]]
    wrong = [found for found in sure if not lead or found["system"] != "a"]
    held = [one for one in entries if one["apart"]]
    false = [one for one in held if not lead or "a" not in (one["system"], one["other"]) or one["difference"] < 0]
    return bool(equal or turned or wrong or false), len(pairs) - len(equal) - len(turned), bool(held)


def measure(named, lead, reports, seed=0, **how):
    """Shares of reports with a false claim, and with the comparison told apart; mean pairs told apart rightly."""
    rng = np.random.default_rng(seed)
    found = np.array([claims(*report(world(rng, lead=lead, **how), named), lead) for _ in range(reports)], float)
    return dict(zip(("false claims", "pairs rightly apart", "comparison holds"), found.mean(axis=0), strict=True))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--reports", type=int, default=1000)
    arguments = parser.parse_args()
    print(
        "| a ahead by | named | false claims | comparison holds | pairs rightly apart, of 18 |\n|---|---|---|---|---|"
    )
    for lead in (0.0, 0.1, 0.2):
        for name, named in (NAMINGS | {"c over d over all": SECOND}).items():
            found = measure(named, lead, arguments.reports)
            held = f"{found['comparison holds']:.3f}" if named else "–"
            print(
                f"| {lead:.2f} | {name} | {found['false claims']:.3f} | {held} | {found['pairs rightly apart']:.2f} |"
            )


if __name__ == "__main__":
    main()
