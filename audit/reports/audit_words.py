"""The words for what audits found, shared by every form of a report."""

from collections.abc import Mapping
from typing import Any

from audit.reports.build import Report
from audit.reports.words import PERCENT, count, percent, place, with_interval


def holds_text(relation: Mapping[str, Any]) -> str:
    r"""In how many groups the relation does not hold, in words; empty where no group was judged.

    >>> share = {"judged": 20, "broken": 1, "rate": 0.05, "low": 0.001, "high": 0.249}
    >>> holds_text({"holds": share | {"satisfied": share, "violated": share | {"rate": None}, "waiting": 0}})
    'does not hold in 5.0 [0.1–24.9]\xa0% of the groups (1 of 20 judged): 5.0 of the satisfied, – of the violated'
    """
    entry = relation["holds"]
    if entry is None:
        return ""
    waiting = f"{count(entry['waiting'])} question{'' if entry['waiting'] == 1 else 's'} about groups without an answer"
    if entry["rate"] is None:
        return waiting if entry["waiting"] else ""
    by_outcome = ", ".join(f"{percent(entry[name]['rate'])} of the {name}" for name in ("satisfied", "violated"))
    return (
        f"does not hold in {with_interval(entry, 'rate', 'low', 'high')}{PERCENT} of the groups "
        f"({count(entry['broken'])} of {count(entry['judged'])} judged): {by_outcome}"
    ) + (f"; {waiting}" if entry["waiting"] else "")


def carry_text(relation: Mapping[str, Any]) -> str:
    r"""How often answers are carried wrongly, and what that can do to R_FS; empty where nothing was audited.

    >>> found = {"audited": 40, "wrong": 2, "error": 0.05, "low": 0.006, "high": 0.169}
    >>> carry_text({"carry": found | {"rests_on_carried": 0.5, "effect": 0.0845}})
    'carry error 5.0 [0.6–16.9], 2 of 40 audited follow-ups; 50.0\xa0% of the judged groups rest on it, R_FS ±8.5'
    """
    found = relation.get("carry")
    if not found or not found["audited"]:
        return ""
    text = f"carry error {with_interval(found, 'error', 'low', 'high')}, "
    text += f"{found['wrong']:,} of {found['audited']:,} audited follow-up{'' if found['audited'] == 1 else 's'}"
    if found["effect"] is None:
        return text
    rests = percent(found["rests_on_carried"])
    return f"{text}; {rests}{PERCENT} of the judged groups rest on it, R_FS ±{percent(found['effect'])}"


def check_lines(report: Report) -> list[str]:
    """What spot checks found of the protocol's errors, in sentences; none where nothing was checked."""
    found = report["overall"].get("checks")
    if found is None:
        return []
    lines = []
    if found["answers"]:
        wrong = f"{count(found['answers_wrong'])} wrong, {with_interval(found, 'error', 'error_low', 'error_high')}"
        lines.append(f"An adjudicator checked {_answers(found['answers'])} on which people agreed: {wrong}{PERCENT}.")
    if found["fs_checked"] is None:
        return lines
    groups = f"{count(found['groups'])} group{'' if found['groups'] == 1 else 's'}"
    lines.append(
        f"In {groups} whose deciding answers were checked, {count(found['removed'])} turned out true that the protocol "
        f"calls false, and {count(found['added'])} the other way round."
    )
    cells = f"{count(found['cells'])} cell{'' if found['cells'] == 1 else 's'}"
    lines.append(
        f"R_FS over {cells}: {with_interval(found, 'fs_rate', 'fs_low', 'fs_high')} by the protocol, "
        f"{with_interval(found, 'fs_checked', 'fs_checked_low', 'fs_checked_high')} by the difference estimator, "
        f"{_rogan_gladen(found['rogan_gladen'])}."
    )
    return lines


def checked_rows(report: Report) -> list[tuple[str, str, str, int, str, str]]:
    """(study, relation, system, checked groups, R_FS, checked R_FS) of the cells that have the last; per cent."""
    return [
        (
            place(report, cell),
            cell["relation"],
            cell["system"],
            cell["checked"],
            with_interval(cell, "fs_rate", "fs_low", "fs_high"),
            with_interval(cell, "fs_checked", "fs_checked_low", "fs_checked_high"),
        )
        for cell in report["cells"]
        if cell["fs_checked"] is not None
    ]


def _answers(number: int) -> str:
    return f"{count(number)} answer{'' if number == 1 else 's'}"


def _rogan_gladen(found: Mapping[str, Any]) -> str:
    if found["rate"] is None:
        return f"not known by Rogan-Gladen ({found['reason']})"
    (right_false, false), (right_true, true) = found["sensitivity"], found["specificity"]
    return (
        f"{with_interval(found, 'rate', 'low', 'high')} by Rogan-Gladen (sensitivity {right_false} of {false}, "
        f"specificity {right_true} of {true})"
    )
