"""How the studies of a report stand to their plans: frozen when, changed since, done otherwise."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from audit.reports.document import PlanEntry
from audit.studies.deviations import differences
from audit.studies.versions import PlanAdherence


def plan_entries(plans: Sequence[PlanAdherence], settings: Mapping[str, Any]) -> list[PlanEntry]:
    """The key `plan` of a report: one entry a study and plan, ready for JSON.

    `settings` has the answers, target, delta and weights of the report: what a plan names of them is compared, too.
    Times are ISO 8601 in UTC.
    """
    return [
        {
            "plan": standing.plan.name,
            "study": standing.study,
            "version": standing.version,
            "frozen_version": standing.plan.version if standing.frozen_at else None,
            "frozen_at": _time(standing.frozen_at) if standing.frozen_at else None,
            "run_began": _time(standing.began),
            "judgements": standing.judgements,
            "judgements_before": standing.before,
            "changed": [
                {
                    "key": change.key,
                    "before": change.before,
                    "after": change.after,
                    "version": version.version,
                    "at": _time(version.at),
                }
                for version, change in standing.changed
            ],
            "deviates": [
                {"key": deviation.key, "planned": deviation.planned, "found": deviation.found}
                for deviation in [
                    *standing.deviates,
                    *differences("report", standing.plan.content.get("report", {}), settings),
                ]
            ],
        }
        for standing in plans
    ]


def _time(moment: datetime) -> str:
    return moment.isoformat(timespec="milliseconds")
