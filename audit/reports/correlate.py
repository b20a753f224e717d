"""Do metamorphic scores go with scores against a reference? Over sentences, and over systems.

Source: the study of MGMT, section 4.2.3, its tables 3 and 4 (over six systems).
"""

from collections.abc import Iterator, Sequence
from typing import Any

import pandas as pd
from sqlalchemy import Engine

from audit.errors import AuditError
from audit.reports.numbers import number, p_number
from audit.reports.references import MEASURES, NOTE, References, reference_scores
from audit.reports.terminal_tables import aligned
from audit.reports.verdict_values import levels_of, origin, outcomes, source_outputs, verdict_values
from audit.reports.words import count, signature_line
from audit.statistics.correlations import pearson, spearman

MGMT = "MGMT"
"""The share of the three levels of granularity that a translation satisfies."""
FEWEST = 5
"""Systems from which on correlations over systems are given."""
_SEVERAL = (
    "Rows of all systems together have no p: translations of one text are not independent. Where a text is translated "
    "into several languages the p of a system counts them as independent, and is too small."
)
_FEW = "Correlations over systems are given from {fewest} systems with a reference; here are {systems}."


def correlation_report(
    engine: Engine, references: References, study: int | None = None, relations: Sequence[str] = ()
) -> dict[str, Any]:
    """Pearson's and Spearman's correlations of each relation's values with the scores of the same translations.

    A row of `sentences` has relation, system (None: all together), measure, n, pearson, pearson_p, spearman,
    spearman_p and, where these are None, the reason; of `systems`, from five systems on, the same over the systems'
    means, without a system. Beside the relations there is `MGMT`, the share of levels that are satisfied, where two
    levels or more were run. Raises what `verdict_values` and `reference_scores` raise, and AuditError where no relation
    has values.
    """
    values = verdict_values(engine, study, relations)
    shown = values[values["target"].notna()]
    scores = pd.concat([shown.dropna(subset=["value"]), _shares(values, relations)], ignore_index=True)
    if scores.empty:
        raise AuditError("no relation of this study has values to correlate; those of translations have")
    unique = scores[["source", "system_id"]].drop_duplicates()
    texts = values[["source", "text", "target"]].drop_duplicates("source")
    outputs = unique.merge(texts, on="source").merge(source_outputs(engine, unique["source"].unique()))
    scored, notes = reference_scores(outputs, references)
    measures = [name for name in MEASURES if scored[name].notna().all()]
    both = scores.merge(scored[["source", "system_id", *measures]], on=["source", "system_id"])
    systems = both["system"].nunique()
    notes = [NOTE, *notes, _SEVERAL]
    if systems < FEWEST:
        notes.append(_FEW.format(fewest=FEWEST, systems=systems))
    return {
        "references": references.name,
        "translations": len(scored),
        "without_reference": len(outputs) - len(scored),
        "repeated": references.repeated,
        "means": _means(scored.merge(both[["system_id", "system"]].drop_duplicates()), measures),
        "sentences": list(_over_sentences(both, measures)),
        "systems": list(_over_systems(both, measures)) if systems >= FEWEST else [],
        "notes": notes,
        "signature": origin(engine, values) | references.signature,
    }


def _shares(values: pd.DataFrame, relations: Sequence[str]) -> pd.DataFrame:
    """Rows of the relation `MGMT`; none where fewer than two levels were run, or other relations asked for."""
    try:
        names = [] if relations else levels_of(values)
    except AuditError:
        names = []
    if not names:
        return values.iloc[:0]
    return outcomes(values, names).mean(axis=1).rename("value").reset_index().assign(relation=MGMT)


def _means(scored: pd.DataFrame, measures: Sequence[str]) -> list[dict[str, Any]]:
    return [
        {"system": system, "translations": len(some)} | {name: float(some[name].mean()) for name in measures}
        for system, some in scored.groupby("system")
    ]


def _over_sentences(both: pd.DataFrame, measures: Sequence[str]) -> Iterator[dict[str, Any]]:
    systems = sorted(both["system"].unique())
    for relation, of_relation in both.groupby("relation", sort=False):
        for measure in measures:
            if len(systems) > 1:
                found = _correlated(of_relation["value"], of_relation[measure])
                yield {"relation": relation, "system": None, "measure": measure} | found | _NO_P
            for system in systems:
                some = of_relation[of_relation["system"] == system]
                found = _correlated(some["value"], some[measure])
                yield {"relation": relation, "system": system, "measure": measure} | found


_NO_P = {"pearson_p": None, "spearman_p": None}


def _over_systems(both: pd.DataFrame, measures: Sequence[str]) -> Iterator[dict[str, Any]]:
    for relation, some in both.groupby("relation", sort=False):
        means = some.groupby("system")[["value", *measures]].mean()
        for measure in measures:
            yield {"relation": relation, "measure": measure} | _correlated(means["value"], means[measure])


def _correlated(one: pd.Series, other: pd.Series) -> dict[str, Any]:
    x, y = one.to_numpy(float), other.to_numpy(float)
    line, ranks = pearson(x, y), spearman(x, y)
    return {
        "n": line.n,
        "pearson": line.value,
        "pearson_p": line.p,
        "spearman": ranks.value,
        "spearman_p": ranks.p,
        "reason": line.reason if line.value is None else None,
    }


def correlation_lines(report: dict[str, Any], width: int = 100) -> list[str]:
    """The document as tables, over systems first where there are enough."""
    lines = [
        f"{count(report['translations'])} translations have a reference in {report['references']}, "
        f"{count(report['without_reference'])} have none.",
        "",
    ]
    measures = [name for name in MEASURES if report["means"] and name in report["means"][0]]
    rows: list[tuple[str, ...]] = [
        (one["system"], count(one["translations"]), *(f"{one[name]:.4f}" for name in measures))
        for one in report["means"]
    ]
    lines += [*aligned(("system", "translations", *measures), rows, 1, width), ""]
    heads: tuple[str, ...] = ("relation", "with", "n", "Pearson", "p", "Spearman", "p")
    if report["systems"]:
        rows = [(row["relation"], row["measure"], *_cells(row)) for row in report["systems"]]
        lines += ["Over systems: their mean values and mean scores", "", *aligned(heads, rows, 2, width), ""]
    rows = [(row["relation"], row["system"] or "(all)", row["measure"], *_cells(row)) for row in report["sentences"]]
    heads = ("relation", "system", "with", "n", "Pearson", "p", "Spearman", "p")
    lines += ["Over sentences", "", *aligned(heads, rows, 3, width), ""]
    return [*lines, *(f"Note: {note}" for note in report["notes"]), "signature " + signature_line(report["signature"])]


def _cells(row: dict[str, Any]) -> tuple[str, ...]:
    line, ranks = (number(row[name], 3) for name in ("pearson", "spearman"))
    return (count(row["n"]), line, p_number(row["pearson_p"]), ranks, p_number(row["spearman_p"]))
