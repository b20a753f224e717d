"""What a report says of the plans of its studies, in the session's language; in English see `plan_lines`."""

from collections.abc import Mapping
from typing import Any

from audit.reports.build import Report
from audit.reports.words import count
from audit.studies.words import ENGLISH, from_to
from audit.ui.language import t


def plan_texts(report: Report) -> list[str]:
    """The sentences of `audit.reports.study_plan.plan_lines`."""
    lines = []
    for entry in report.get("plan") or ():
        lines.append(t("plan.line", study=entry["study"], plan=entry["plan"], how=_frozen(entry)))
        if entry["changed"]:
            listed = [
                f"{one['key']} {became(one['before'], one['after'])} ({one['at'][:10]})" for one in entry["changed"]
            ]
            lines.append(t("plan.changed", changes=t("plan.comma").join(listed)))
        if entry["deviates"]:
            listed = [f"{one['key']} {became(one['planned'], one['found'])}" for one in entry["deviates"]]
            key = "plan.otherwise_frozen" if entry["frozen_at"] else "plan.otherwise"
            lines.append(t(key, deviations=t("plan.comma").join(listed)))
    return lines


def became(before: Any, after: Any) -> str:
    """How a value became another."""
    return from_to(before, after, {word: t(f"plan.{word}") for word in ENGLISH})


def _frozen(entry: Mapping[str, Any]) -> str:
    if entry["frozen_at"] is None:
        return t("plan.not_frozen", version=entry["version"])
    run = t("plan.before_run" if entry["frozen_at"] <= entry["run_began"] else "plan.after_run")
    everything, before = entry["judgements"], entry["judgements_before"]
    if not everything:
        judged = t("plan.nothing_judged")
    elif not before:
        judged = t("plan.before_all", count=everything)
    else:
        judged = t("plan.after_some", before=count(before), whole=count(everything))
    return t("plan.frozen", date=entry["frozen_at"][:10], run=run, judged=judged)
