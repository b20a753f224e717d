"""What each relation adds to the others: whether they see the same, and what reference scores their verdicts go with.

Source: the study of MGMT, section 4.3.1, its tables 2, 5 and 6.
"""

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

import pandas as pd
from sqlalchemy import Engine

from audit.reports.numbers import number, p_number
from audit.reports.references import MEASURES, NOTE, References, reference_scores
from audit.reports.terminal_tables import aligned
from audit.reports.verdict_values import levels_of, origin, outcomes, plain, source_outputs, verdict_values
from audit.reports.words import count, signature_line
from audit.statistics.correlations import spearman

DEPENDENT = (
    "Translations of one text by several systems, or into several languages, are counted as if they were independent; "
    "p is too small where there are such."
)
Combination = frozenset[str]
"""Names of the relations that a translation satisfies; it violates the others."""


def contribution(scores: Mapping[Combination, float]) -> dict[Combination, dict[str, float]]:
    """What satisfying each relation, too, adds to a mean score: combination -> relation in it -> gain.

    The gain is the score of the combination less that of the one without the relation, where both are there.

    >>> found = contribution({frozenset(): 0.1789, frozenset({"word"}): 0.2858})
    >>> round(found[frozenset({"word"})]["word"], 4)
    0.1069
    """
    return {
        some: {name: score - scores[some - {name}] for name in sorted(some) if some - {name} in scores}
        for some, score in scores.items()
    }


def mean_gains(gains: Mapping[Combination, Mapping[str, float]]) -> dict[str, float]:
    """The mean gain of each relation over the combinations that have one (the study's table 6, its last rows).

    >>> mean_gains({frozenset("a"): {"a": 0.1}, frozenset("ab"): {"a": 0.3}})
    {'a': 0.2}
    """
    found: dict[str, list[float]] = {}
    for some in gains.values():
        for name, gain in some.items():
            found.setdefault(name, []).append(gain)
    return {name: sum(of) / len(of) for name, of in found.items()}


def contribution_report(
    engine: Engine, study: int | None = None, relations: Sequence[str] = (), references: References | None = None
) -> dict[str, Any]:
    """Spearman's correlation of each pair of relations' outcomes; how many translations satisfy each combination of
    them; and with `references` the mean scores of each, and what each relation adds to them.

    `groups` are the translations by the share of relations that they satisfy, `gains` the means over combinations.
    Only translations that every one of the relations checked are counted. Raises what `verdict_values`, `levels_of` and
    `reference_scores` raise.
    """
    values = verdict_values(engine, study, relations)
    names = levels_of(values, relations)
    known = outcomes(values, names)
    notes = [DEPENDENT]
    scored = known.reset_index()
    if references is not None:
        scored, more = _scored(engine, values, scored, references)
        notes += [NOTE, *more]
    scored["share"] = scored[names].mean(axis=1).round(6)
    scored["satisfied"] = [frozenset(name for name in names if row[name]) for row in scored.to_dict("records")]
    rows = [(some, scored[[one == some for one in scored["satisfied"]]]) for some in _combinations(names)]
    gains = {measure: _gains(rows, measure) for measure in MEASURES if measure in scored}
    combined = [
        {
            "satisfied": [name for name in names if name in some],
            "translations": len(mine),
            **_means(mine),
            "gains": {measure: of[some] for measure, of in gains.items() if some in of},
        }
        for some, mine in rows
    ]
    means = {measure: mean_gains(of) for measure, of in gains.items()}
    return {
        "relations": names,
        "translations": len(scored),
        "pairs": [_pair(known, *pair) for pair in combinations(names, 2)],
        "groups": [
            {"share": float(share), "translations": len(some), **_means(some)}
            for share, some in scored.groupby("share")
        ],
        "combinations": combined,
        "gains": [
            {"relation": name, **{measure: plain(of.get(name)) for measure, of in means.items()}} for name in names
        ]
        if references is not None
        else [],
        "notes": notes,
        "signature": origin(engine, values[values["relation"].isin(names)])
        | ({} if references is None else references.signature),
    }


def _scored(
    engine: Engine, values: pd.DataFrame, known: pd.DataFrame, references: References
) -> tuple[pd.DataFrame, list[str]]:
    outputs = source_outputs(engine, known["source"].unique())
    texts = values[["source", "text", "target"]].drop_duplicates("source")
    return reference_scores(known.merge(texts, on="source").merge(outputs, on=["source", "system_id"]), references)


def _combinations(names: Sequence[str]) -> list[Combination]:
    """Of no relation, of one, of two, ..., each in the order of the names."""
    return [frozenset(some) for size in range(len(names) + 1) for some in combinations(names, size)]


def _gains(rows: Sequence[tuple[Combination, pd.DataFrame]], measure: str) -> dict[Combination, dict[str, float]]:
    return contribution({some: float(mine[measure].mean()) for some, mine in rows if mine[measure].notna().any()})


def _means(some: pd.DataFrame) -> dict[str, float | None]:
    return {measure: plain(some[measure].mean()) if measure in some else None for measure in MEASURES}


def _pair(known: pd.DataFrame, one: str, other: str) -> dict[str, Any]:
    found = spearman(known[one].to_numpy(), known[other].to_numpy())
    return {
        "one": one,
        "other": other,
        "translations": found.n,
        "spearman": found.value,
        "p": found.p,
        "reason": found.reason if found.value is None else None,
    }


def contribution_lines(report: dict[str, Any], width: int = 100) -> list[str]:
    """The document as tables: pairs of relations, shares, combinations with gains, mean gains."""
    names = report["relations"]
    scored = [measure for measure in MEASURES if any(row[measure] is not None for row in report["groups"])]
    rows: list[tuple[str, ...]] = [
        (pair["one"], pair["other"], count(pair["translations"]), number(pair["spearman"], 3), p_number(pair["p"]))
        for pair in report["pairs"]
    ]
    lines = ["Do two relations see the same? Spearman's correlation of their outcomes", ""]
    lines += [*aligned(("one", "other", "translations", "Spearman", "p"), rows, 2, width), ""]
    rows = [
        (f"{row['share']:.3f}", count(row["translations"]), *(number(row[measure]) for measure in scored))
        for row in report["groups"]
    ]
    lines += ["Translations by the share of relations that they satisfy", ""]
    lines += [*aligned(("share", "translations", *scored), rows, 1, width), ""]
    lines += ["By the relations that they satisfy (+), with mean scores and what each relation adds to them", ""]
    measures: list[str | None] = [*scored] or [None]
    for measure in measures:
        rows = [_combined(row, names, measure) for row in report["combinations"]]
        if measure:
            means = [next(row[measure] for row in report["gains"] if row["relation"] == name) for name in names]
            rows.append((*("" for _ in names), "", "mean gain", *(number(gain) for gain in means)))
        heads = (*names, "translations", *((measure, *(f"gain {name}" for name in names)) if measure else ()))
        lines += [*aligned(heads, rows, len(names), width), ""]
    lines += [f"Note: {note}" for note in report["notes"]]
    return [*lines, "signature " + signature_line(report["signature"])]


def _combined(row: Mapping[str, Any], names: Sequence[str], measure: str | None) -> tuple[str, ...]:
    ticks = ["+" if name in row["satisfied"] else "" for name in names]
    if measure is None:
        return (*ticks, count(row["translations"]))
    gains = row["gains"].get(measure, {})
    return (
        *ticks,
        count(row["translations"]),
        number(row[measure]),
        *(number(gains.get(name)) for name in names),
    )
