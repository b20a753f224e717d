"""The words for causes of false satisfactions and reasons of disputes, shared by every form of a report."""

from collections.abc import Mapping
from typing import Any

from audit.annotation.causes import CAUSES
from audit.annotation.reasons import REASONS
from audit.reports.build import Report
from audit.reports.words import PERCENT, count, of, rollup_name, with_interval

TITLE = "Why satisfactions are false"


def causes_text(entry: Mapping[str, Any]) -> str:
    r"""The causes that were given, the commonest first, with their shares.

    >>> one = {"cause": "label_range", "count": 2, "share": 0.5, "low": 0.1, "high": 0.9}
    >>> causes_text({"causes": [one, one | {"cause": "other", "count": 0}]})
    'the right label is one that the system never gives 50.0 [10.0–90.0]\xa0% (2)'
    """
    given = sorted((one for one in entry["causes"] if one["count"]), key=lambda one: -one["share"])
    return "; ".join(
        f"{CAUSES[one['cause']]} {with_interval(one, 'share', 'low', 'high')}{PERCENT} ({count(one['count'])})"
        for one in given
    )


def cause_rows(report: Report) -> list[tuple[str, str, str, str]]:
    """(by, name, how many of the judged false satisfactions have a cause, causes with their shares), as text."""
    return [
        (
            entry["by"],
            _name(report, entry),
            f"{count(entry['named'])} of {count(entry['false'])}",
            causes_text(entry),
        )
        for entry in report.get("causes") or []
    ]


def _name(report: Report, entry: Mapping[str, Any]) -> str:
    several = len({one["study"] for one in report["relations"]}) > 1
    name = rollup_name(report, entry)
    return f"{name} (study {entry['study']})" if several and entry["study"] is not None else name


def dispute_line(report: Report) -> str:
    """How adjudicators explained disputes, in a sentence; empty where nothing was settled."""
    found = report.get("disputes")
    if not found:
        return ""
    reasons = [(REASONS[one["reason"]], one["count"]) for one in found["reasons"] if one["count"]]
    reasons += [("no reason from the list", found["uncoded"])] if found["uncoded"] else []
    named = ", ".join(f"{text} {count(number)}" for text, number in sorted(reasons, key=lambda one: -one[1]))
    settled = found["settled"]
    return f"Adjudicators settled {count(settled)} question{'' if settled == 1 else 's'}: {named}."


def cause_note(report: Report) -> str:
    """How to read the shares; empty where there are none."""
    entry = next((one for one in report.get("causes") or [] if one["by"] == "overall"), None)
    if entry is None:
        return ""
    return (
        f"Causes count as far as every false satisfaction of a cell's settled beginning has one, in the order of the "
        f"draw: {of(entry['named'], entry['false'], 'false satisfaction')}, in {count(entry['cells'])} "
        f"cell{'' if entry['cells'] == 1 else 's'}. Shares are of the false satisfactions of these cells."
    )
