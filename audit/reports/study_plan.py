"""What a report says of the plans that its studies belong to: frozen when, changed since, done otherwise."""

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Engine

from audit.reports.words import count
from audit.statistics.intervals import RENAMED
from audit.studies.deviations import Deviation, differences
from audit.studies.primary import Primary, primary_named
from audit.studies.standing import Standing, standings
from audit.studies.words import from_to


def plans_of(
    engine: Engine, studies: Sequence[Mapping[str, Any]], samples: Sequence[Mapping[str, Any]]
) -> list[Standing]:
    """How each study stands to each of its plans; the arguments are those of `audit.studies.standing.standings`."""
    with engine.connect() as connection:
        return standings(connection, studies, samples)


def plan_entries(
    plans: Sequence[Standing], how: Mapping[str, Any], primary: Mapping[int, Primary]
) -> list[dict[str, Any]]:
    """The key `plan` of a report: one entry a study and plan, ready for JSON.

    `how` has the answers, interval, target, delta and weights that the report was made with, `primary` by study the
    comparison that is tested by itself: what a plan names of them is compared, too. Times are ISO 8601 in UTC.
    """
    return [
        {
            "plan": one.plan.name,
            "study": one.study,
            "version": one.version,
            "frozen_version": one.plan.version if one.frozen_at else None,
            "frozen_at": _time(one.frozen_at),
            "run_began": _time(one.began),
            "judgements": one.judgements,
            "judgements_before": one.before,
            "changed": [
                {"key": change.key, "before": change.before, "after": change.after, "version": made.version}
                | {"at": _time(made.at)}
                for made, change in one.changed
            ],
            "deviates": [
                {"key": found.key, "planned": found.planned, "found": found.found}
                for found in _all(one, how, primary.get(one.study))
            ],
        }
        for one in plans
    ]


def plan_lines(report: Mapping[str, Any]) -> list[str]:
    """The plans of a report in sentences: when each was frozen, what was changed after, what was done otherwise.

    >>> change = {"key": "sample.per_relation", "before": 60, "after": 100, "at": "2026-03-09T08:00:00+00:00"}
    >>> entry = {"plan": "films", "study": 1, "frozen_at": "2026-03-02T09:41:00+00:00", "judgements": 12}
    >>> entry |= {"judgements_before": 0, "run_began": "2026-03-02T10:00:00+00:00", "version": 3}
    >>> for line in plan_lines({"plan": [entry | {"changed": [change], "deviates": []}]}):
    ...     print(line)
    Study 1, plan films: frozen on 2026-03-02, before its run and before all 12 judgements.
    Changed after it was frozen: sample.per_relation 60 -> 100 (2026-03-09).
    """
    lines = []
    for entry in report.get("plan") or ():
        lines.append(f"Study {entry['study']}, plan {entry['plan']}: {_frozen(entry)}.")
        if entry["changed"]:
            listed = "; ".join(
                f"{one['key']} {from_to(one['before'], one['after'])} ({one['at'][:10]})" for one in entry["changed"]
            )
            lines.append(f"Changed after it was frozen: {listed}.")
        if entry["deviates"]:
            listed = "; ".join(f"{one['key']} {from_to(one['planned'], one['found'])}" for one in entry["deviates"])
            lines.append(f"Otherwise than {'frozen' if entry['frozen_at'] else 'planned'}: {listed}.")
    return lines


def _frozen(entry: Mapping[str, Any]) -> str:
    if entry["frozen_at"] is None:
        return f"not frozen (version {entry['version']}), so changes to it are not counted"
    run = "before its run" if entry["frozen_at"] <= entry["run_began"] else "after its run began"
    everything, before = entry["judgements"], entry["judgements_before"]
    if not everything:
        judged = "while nothing is judged yet"
    elif not before:
        judged = f"before all {count(everything)} judgements" if everything > 1 else "before the one judgement"
    else:
        judged = f"after {count(before)} of {count(everything)} judgements"
    return f"frozen on {entry['frozen_at'][:10]}, {run} and {judged}"


def _all(one: Standing, how: Mapping[str, Any], primary: Primary | None) -> list[Deviation]:
    planned = dict(one.plan.content.get("report", {}))
    # Both keys are one comparison: without a relation it is over all of them.
    if named := primary_named(planned.get("primary"), planned.get("primary_relation")):
        planned, how = planned | {"primary": str(named)}, {**how, "primary": str(primary) if primary else None}
    if planned.get("interval") in RENAMED:
        planned["interval"] = RENAMED[planned["interval"]]
    return [*one.deviates, *differences("report", planned, how)]


def _time(moment: Any) -> str | None:
    return None if moment is None else str(moment.isoformat(timespec="milliseconds"))
