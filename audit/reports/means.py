"""Mean values of one relation by target language and system: which languages and systems are consistent.

The linear model of the MCMT study (section III), on the values that a study of ours stored.
"""

from dataclasses import asdict
from typing import Any

from sqlalchemy import Engine

from audit.errors import AuditError
from audit.reports.numbers import number, p_number
from audit.reports.terminal_tables import aligned
from audit.reports.verdict_values import origin, verdict_values
from audit.reports.words import UNKNOWN, count, signature_line
from audit.statistics.linear_model import fit_two_way, type_three
from audit.statistics.tukey import compared

FACTORS = ("language", "system")
_CLUSTERS = (
    "Values of one text go together, in all systems and languages: standard errors and tests allow for that "
    "(clusters are the texts)."
)
_PLAIN = "Values are taken as independent, as in the MCMT study, though all systems translated the same texts."


def means_report(
    engine: Engine, relation: str, study: int | None = None, *, independent: bool = False, confidence: float = 0.95
) -> dict[str, Any]:
    """Least-squares means of a relation's values by target language and system, F tests, and which of them differ.

    `means`, `comparisons` and `subsets` have a row a level, or pair of levels, of each factor, `language` (the target)
    or `system`; levels that share a letter in `subsets` are not told apart (Tukey and Kramer, 5 %). What cannot be
    estimated is None, with a reason. `independent` leaves clusters out. Raises what `verdict_values` raises, and
    AuditError where values are too few or do not vary.
    """
    values = verdict_values(engine, study, [relation]).dropna(subset=["value", "target"])
    if values.empty:
        raise AuditError(f"relation {relation} has no values by target language; those of translations have")
    frame = values[["target", "system", "value", "text"]].rename(columns={"target": "language", "value": "score"})
    clusters = None if independent or frame["text"].nunique() < 2 else "text"
    fit = fit_two_way(frame, *FACTORS, clusters=clusters)
    means, comparisons, subsets = [], [], []
    for factor, found, pairs, letters in compared(fit, confidence):
        means += [{"factor": factor} | asdict(one) for one in found]
        comparisons += [{"factor": factor} | asdict(one) for one in pairs]
        if len(letters) > 1:
            subsets += [{"factor": factor, "level": level, "letters": some} for level, some in letters.items()]
    return {
        "relation": relation,
        "values": len(frame),
        "texts": int(frame["text"].nunique()),
        "means": means,
        "tests": [asdict(one) for one in type_three(fit)],
        "comparisons": comparisons,
        "subsets": subsets,
        "notes": [_PLAIN if clusters is None else _CLUSTERS],
        "signature": origin(engine, values) | {"confidence": confidence},
    }


def means_lines(report: dict[str, Any], width: int = 100) -> list[str]:
    """The document as tables: tests, means with their letters, pairs."""
    lines = [f"Values of {report['relation']}: {count(report['values'])} of {count(report['texts'])} texts", ""]
    rows: list[tuple[str, ...]] = [
        (one["effect"], number(one["f"], 2), f"{one['df']}, {one['df_error']}", p_number(one["p"]), one["reason"] or "")
        for one in report["tests"]
    ]
    lines += [*aligned(("effect", "F", "df", "p", ""), rows, 1, width), ""]
    letters = {(one["factor"], one["level"]): one["letters"] for one in report["subsets"]}
    for factor in FACTORS:
        mine = [one for one in report["means"] if one["factor"] == factor]
        mine.sort(key=lambda one: (one["mean"] is None, -(one["mean"] or 0)))
        rows = [
            (
                one["level"],
                count(one["n"]),
                number(one["mean"]),
                number(one["se"]),
                UNKNOWN if one["low"] is None else f"{one['low']:.4f} to {one['high']:.4f}",
                letters.get((factor, one["level"]), "") if one["mean"] is not None else one["reason"],
            )
            for one in mine
        ]
        lines += [*aligned((factor, "n", "LS mean", "SE", "interval", "subset"), rows, 1, width), ""]
    rows = [
        (one["one"], one["other"], number(one["difference"]), number(one["t"], 2), p_number(one["p"]))
        for one in report["comparisons"]
    ]
    if rows:
        lines += [*aligned(("one", "other", "difference", "t", "adjusted p"), rows, 2, width), ""]
    return [*lines, *(f"Note: {note}" for note in report["notes"]), "signature " + signature_line(report["signature"])]
