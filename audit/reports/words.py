"""The words that every form of a report shares: percentages, orders, headlines, notes and the signature line."""

from collections.abc import Mapping
from typing import Any

from audit.keys import canonical
from audit.reports.build import Report, cells_of
from audit.statistics.orders import TIED

UNKNOWN = "–"
PERCENT = "\N{NO-BREAK SPACE}%"


def percent(rate: float | None, digits: int = 1) -> str:
    """A fraction as a percentage without its sign; a dash where it is unknown.

    >>> percent(0.1236), percent(None)
    ('12.4', '–')
    """
    return UNKNOWN if rate is None else f"{100 * rate:.{digits}f}"


def with_interval(cell: Mapping[str, Any], rate: str, low: str, high: str) -> str:
    """A rate of a cell with its interval, in per cent.

    >>> with_interval({"r": 0.2, "l": 0.1, "h": 0.35}, "r", "l", "h")
    '20.0 [10.0–35.0]'
    """
    if cell[low] is None or cell[high] is None:
        return percent(cell[rate])
    return f"{percent(cell[rate])} [{percent(cell[low])}–{percent(cell[high])}]"


def count(number: int | None) -> str:
    """A count with separators; a dash where it is unknown.

    >>> count(12345)
    '12,345'
    """
    return UNKNOWN if number is None else f"{number:,}"


def of(part: int, whole: int, noun: str) -> str:
    """`3 of 20 relations`, with the noun (given in the singular) in its number."""
    return f"{part:,} of {whole:,} {noun}{'' if whole == 1 else 's'}"


def order_text(report: Report, relation: Mapping[str, Any], when: str) -> str:
    """The order of systems, best first, with `=` between tied ones; `when` is `observed` or `genuine`.

    >>> cells = [{"task": "t", "study": None, "relation": "MR1", "system": s, "sr_genuine": 0.5} for s in "ab"]
    >>> entry = {"task": "t", "study": None, "relation": "MR1", "order_genuine": ["a", "b"]}
    >>> order_text({"cells": cells}, entry, "genuine")
    'a = b'
    """
    cells = cells_of(report, relation["task"], relation["study"], relation["relation"])
    rates = {cell["system"]: cell[f"sr_{when}"] for cell in cells}
    systems = relation[f"order_{when}"]
    if not systems:
        return UNKNOWN
    text = systems[0]
    for before, system in zip(systems, systems[1:], strict=False):  # noqa: RUF007 - pairwise hides the first system
        text += (" = " if rates[before] - rates[system] <= TIED else " > ") + system
    return text


def change_text(relation: Mapping[str, Any]) -> str:
    """What correction does to one relation, in words.

    >>> change_text({"order_observed": ["a", "b"], "order_genuine": ["a"], "best_changes": False})
    'not known yet'
    """
    if relation["best_changes"]:
        return "another system is best"
    if len(relation["order_observed"]) == 1:
        return "one system"
    if len(set(relation["order_observed"]) & set(relation["order_genuine"])) < 2:
        return "not known yet"
    if relation["order_changes"]:
        return "the order changes"
    partly = len(relation["order_genuine"]) < len(relation["order_observed"])
    return "no change so far" if partly else "no change"


def place(entry: Mapping[str, Any]) -> str:
    """What a cell or relation of a report belongs to: task, and corpus or study where they are known."""
    return " · ".join(str(part) for part in (entry["task"], entry["corpus"] or entry["study"]) if part is not None)


def summary_of(report: Report, relation: Mapping[str, Any]) -> str:
    """What a relation does, in one line; empty where it is not one of ours, or a file's own totals are corrected."""
    from audit.errors import UnknownName
    from audit.relations import get_relation

    if "file" in report["signature"]:
        return ""  # somebody else's MR1.1 may be another relation than ours
    try:
        return get_relation(relation["task"], relation["relation"]).summary
    except UnknownName:
        return ""


def headlines(report: Report) -> list[tuple[str, str]]:
    """The report in at most four (number, sentence that follows it) pairs, most important first.

    >>> from audit.reports.build import build_report
    >>> import pandas as pd
    >>> headlines(build_report(pd.DataFrame([]), {}))
    [('0', 'cells: nothing was checked yet.')]
    """
    totals = report["overall"]
    if not totals["cells"]:
        return [("0", "cells: nothing was checked yet.")]
    lines = []
    if totals["fs_rate"] is not None:
        lines.append(
            (
                f"{percent(totals['fs_rate'])}{PERCENT}",
                f"of the satisfaction that was reported is false: {percent(totals['sr_observed'])}{PERCENT} of the groups "
                f"seem to satisfy their relation, {percent(totals['sr_genuine'])}{PERCENT} really do.",
            )
        )
    elif totals["fs_rate_median"] is not None:
        lines.append(
            (
                f"{percent(totals['fs_rate_median'])}{PERCENT}",
                "of the satisfaction that was reported is false in the median cell; the cells lie between "
                f"{percent(totals['fs_rate_least'])}{PERCENT} and {percent(totals['fs_rate_most'])}{PERCENT}.",
            )
        )
    compared = totals["relations_compared"]
    if compared:
        noun = "relation has" if compared == 1 else "relations have"
        lines.append(
            (
                f"{totals['best_changes']} of {compared}",
                f"{noun} another best system once false satisfactions are taken out; "
                f"the order of systems changes for {totals['order_changes']}.",
            )
        )
    if totals["judged"] is not None:
        estimated = of(totals["cells_estimated"], totals["cells"], "cell")
        lines.append(
            (
                count(totals["judged"]),
                f"satisfied groups were judged, out of {count(totals['satisfied'])}; {estimated} have a genuine rate.",
            )
        )
    if totals["waiting"]:
        bound = "" if totals["waiting_distinct"] else "at most, "
        lines.append(
            (count(totals["waiting"]), f"questions wait for an answer ({bound}in {totals['cells_waiting']} cells).")
        )
    return lines


def notes_of(report: Report) -> list[str]:
    """What a reader must know beside the numbers: the signature's notes, then what the data themselves call for."""
    found = [str(note) for note in report["signature"].get("notes") or []]
    totals = report["overall"]
    unestimated = totals["cells"] - totals["cells_estimated"]
    if unestimated and totals["cells_estimated"]:
        found.append(
            f"{of(unestimated, totals['cells'], 'cell')} have no genuine rate yet; the order after correction, and "
            "whether it changes, look only at systems that have one."
        )
    elif unestimated:
        found.append("No cell has a genuine rate yet: no satisfied group of a sample is settled.")
    if totals["errors"]:
        found.append(f"{count(totals['errors'])} groups were not checked because a system failed; they are in no rate.")
    return found


def signature_line(signature: Mapping[str, Any]) -> str:
    """The signature as one line of `key:value` pairs, as sacreBLEU prints it; the notes are shown elsewhere.

    >>> signature_line({"audit": "0.1.0", "systems": ["a", "b"], "seed": 0, "notes": ["..."]})
    'audit:0.1.0|systems:a,b|seed:0'
    """
    return "|".join(
        f"{key}:{_value(value)}" for key, value in signature.items() if key != "notes" and value is not None
    )


def _value(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, list | tuple) and all(isinstance(part, str) for part in value):
        return ",".join(value)
    return canonical(value)
