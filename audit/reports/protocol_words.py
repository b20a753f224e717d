"""The words for what seeing an earlier answer moves, shared by every form of a report."""

from collections.abc import Mapping
from typing import Any

from audit.reports.build import Report
from audit.reports.words import PERCENT, UNKNOWN, count, percent, with_interval

NAMES = {"blind": "judged blind", "shown": "judged seeing earlier answers"}


def protocol_lines(report: Report) -> list[str]:
    """R_FS by arm and the difference, in sentences; none where there is one arm only."""
    found = report.get("protocols")
    if not found:
        return []
    blind, shown = found["arms"]
    lines = [
        f"R_FS of groups {NAMES['blind']}: {with_interval(blind, 'fs_rate', 'fs_low', 'fs_high')} ({_groups(blind)}); "
        f"{NAMES['shown']}: {with_interval(shown, 'fs_rate', 'fs_low', 'fs_high')} ({_groups(shown)})."
    ]
    if found["difference"] is not None:
        points = f"{signed(found['difference'])} points [{signed(found['low'])} to {signed(found['high'])}]"
        moved = (
            f"Seeing an earlier answer moves R_FS by {points}" if found["randomised"] else f"The difference: {points}"
        )
        lines.append(f"{moved}: {_verdict(found)}.")
    lines += [_answered(arm) for arm in (blind, shown) if arm["questions"]]
    if found["crossed"]:
        lines.append(f"Of {count(found['crossed'])} of these groups some answer came under the other protocol.")
    return lines


def protocol_rows(report: Report) -> list[tuple[str, ...]]:
    """(protocol, sources, groups, false, R_FS, questions, votes that agree, disputed, unchanged, inspected) by arm."""
    found = report.get("protocols")
    return [
        (
            NAMES[arm["protocol"]],
            *(count(arm[name]) for name in ("sources", "groups", "false")),
            with_interval(arm, "fs_rate", "fs_low", "fs_high"),
            count(arm["questions"]),
            percent(arm["agreement"]),
            count(arm["disputed"]),
            unchanged_text(arm),
            inspected_text(arm),
        )
        for arm in (found["arms"] if found else [])
    ]


def unchanged_text(arm: Mapping[str, Any]) -> str:
    """How many validations repeat the answer that they saw; a dash where there are none.

    >>> unchanged_text({"validations": 40, "unchanged": 38}), unchanged_text({"validations": 0, "unchanged": 0})
    ('38 of 40', '–')
    """
    return f"{count(arm['unchanged'])} of {count(arm['validations'])}" if arm["validations"] else UNKNOWN


def inspected_text(arm: Mapping[str, Any]) -> str:
    """How many inspections changed an answer; a dash where there are none.

    >>> inspected_text({"inspected": 12, "inspected_changed": 1})
    '1 of 12'
    """
    return f"{count(arm['inspected_changed'])} of {count(arm['inspected'])}" if arm["inspected"] else UNKNOWN


def signed(rate: float) -> str:
    """A difference in points, with its sign.

    >>> signed(0.0512), signed(-0.031), signed(0.0)
    ('+5.1', '-3.1', '0.0')
    """
    text = f"{100 * rate:+.1f}"
    return text[1:] if text in ("+0.0", "-0.0") else text


def _groups(arm: Mapping[str, Any]) -> str:
    return f"{count(arm['groups'])} groups of {count(arm['sources'])} sources"


def _verdict(found: Mapping[str, Any]) -> str:
    if not found["randomised"]:
        return "the samples differ in more than their protocol, so that this is no effect of it"
    if found["low"] <= 0 <= found["high"]:
        return "no effect is shown, nor ruled out within this interval"
    return "sources were divided at random, so that this is the effect of the protocol"


def _answered(arm: Mapping[str, Any]) -> str:
    text = f"Of {count(arm['questions'])} questions {NAMES[arm['protocol']]}, {count(arm['disputed'])} are disputed"
    if arm["agreement"] is not None:
        text += f"; {percent(arm['agreement'])}{PERCENT} of the pairs of votes agree"
    if arm["validations"]:
        text += f"; {unchanged_text(arm)} validations repeat the answer that was seen"
    if arm["inspected"]:
        text += f"; {inspected_text(arm)} inspections changed the answer"
    return text + "."
