"""What a report says of the plans that its studies belong to: frozen when, changed since, done otherwise."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from audit.reports.build import Report
from audit.reports.charts import p_text
from audit.reports.document import LaterNaming, PlanEntry, PrimaryEntry
from audit.reports.words import count, percent
from audit.statistics.intervals import RENAMED
from audit.studies.deviations import Deviation, Primary, differences, primary_named
from audit.studies.versions import PlanAdherence, from_to


def plan_entries(
    plans: Sequence[PlanAdherence], settings: Mapping[str, Any], primary: Mapping[int, Primary]
) -> list[PlanEntry]:
    """The key `plan` of a report: one entry a study and plan, ready for JSON.

    `settings` has the answers, interval, target, delta and weights of the report, `primary` by study the
    comparison that is tested by itself: what a plan names of them is compared, too. Times are ISO 8601 in UTC.
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
                for deviation in _deviations(standing, settings, primary.get(standing.study))
            ],
        }
        for standing in plans
    ]


def plan_lines(report: Report) -> list[str]:
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
        lines.append(f"Study {entry['study']}, plan {entry['plan']}: {_frozen_text(entry)}.")
        if entry["changed"]:
            listed = "; ".join(
                f"{change['key']} {from_to(change['before'], change['after'])} ({change['at'][:10]})"
                for change in entry["changed"]
            )
            lines.append(f"Changed after it was frozen: {listed}.")
        if entry["deviates"]:
            listed = "; ".join(
                f"{deviation['key']} {from_to(deviation['planned'], deviation['found'])}"
                for deviation in entry["deviates"]
            )
            lines.append(f"Otherwise than {'frozen' if entry['frozen_at'] else 'planned'}: {listed}.")
    return lines


def _frozen_text(entry: PlanEntry) -> str:
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


def _deviations(standing: PlanAdherence, settings: Mapping[str, Any], primary: Primary | None) -> list[Deviation]:
    planned = dict(standing.plan.content.get("report", {}))
    # The two keys name one comparison; without a relation it is over all relations.
    if named := primary_named(planned.get("primary"), planned.get("primary_relation")):
        planned |= {"primary": str(named)}
        settings = {**settings, "primary": str(primary) if primary else None}
    if planned.get("interval") in RENAMED:
        planned["interval"] = RENAMED[planned["interval"]]
    return [*standing.deviates, *differences("report", planned, settings)]


def _time(moment: datetime) -> str:
    return moment.isoformat(timespec="milliseconds")


# The primary comparison in words, of any language.

ENGLISH = {
    "tested": "Primary comparison of study {study}, named on {date} before the first answer: {pair} by {difference} "
    "points [{low} to {high}], p {p}{over}.",
    "known": "Primary comparison of study {study}, named on {date} before the first answer: {pair} by {difference} "
    "points, without error{over}.",
    "not_yet": "Primary comparison of study {study}, named on {date} before the first answer: {pair}; it is not tested "
    "yet: {reason}.",
    "late": "Study {study}: {pair} was named as primary comparison on {date}, after {answers} answers, so it is "
    "adjusted like all others.",
    "instead": "On {date}, after {answers} answers, {pair} was named instead, which changes nothing here.",
    "pair": "{system} over {other}",
    "pair_under": "{system} over {other} under {relation}",
    "over": " (over {part} of {whole} relations)",
    "holds": "It is tested by itself, at 5 %, and holds; all other comparisons are adjusted among themselves.",
    "fails": "It is tested by itself, at 5 %, and does not hold, so no other two systems are called told apart, and no "
    "change sure.",
    "waits": "Before it is tested, no other two systems are called told apart, and no change sure.",
}
"""Every text, with the fields that are filled in; the app has them in other languages, too."""


def primary_lines(report: Report, words: Mapping[str, str] = ENGLISH, reasons: Any = str) -> list[str]:
    """What a report says of the comparisons that were named as primary, in sentences; none where none was named.

    `words` has the texts of a language, `reasons` says in it why something is not tested.

    >>> entry = {"study": 1, "system": "a", "other": "b", "relation": None, "tested": True, "later": [], "apart": True}
    >>> entry |= {"named_at": "2026-03-02T09:41:00", "answers_before": 0, "relations": 8, "compared": 10}
    >>> entry |= {"difference": 0.031, "low": 0.004, "high": 0.058, "p": 0.0004, "p_holm": 0.0004}
    >>> first, then = primary_lines({"primary": [entry]})
    >>> first[:49], then[:41]
    ('Primary comparison of study 1, named on 2026-03-0', 'It is tested by itself, at 5 %, and holds')
    """
    entries = report.get("primary") or ()
    lines = [line for entry in entries for line in _primary_lines(entry, words, reasons)]
    tested = [entry for entry in entries if entry["tested"]]
    return [*lines, words[_gate_key(tested)]] if tested else lines


def _primary_lines(entry: PrimaryEntry, words: Mapping[str, str], reasons: Any) -> Iterator[str]:
    numbers = {name: percent(entry[name]) for name in ("difference", "low", "high")}
    over = "" if entry["relation"] else words["over"].format(part=entry["relations"], whole=entry["compared"])
    key = "late"
    if entry["tested"]:
        key = "not_yet" if entry["difference"] is None else "tested" if entry["low"] != entry["high"] else "known"
    reason = reasons(entry["reason"]) if key == "not_yet" else ""
    p = p_text(entry["p_holm"])
    yield words[key].format(
        **_naming_fields(entry, words), **numbers, study=entry["study"], over=over, reason=reason, p=p
    )
    for naming in entry["later"]:
        yield words["instead"].format(**_naming_fields(naming, words))


def _naming_fields(entry: PrimaryEntry | LaterNaming, words: Mapping[str, str]) -> dict[str, str]:
    pair = words["pair_under" if entry["relation"] else "pair"]
    names = {name: entry[name] for name in ("system", "other", "relation")}
    answers = count(entry["answers_before"])
    return {"pair": pair.format(**names), "date": entry["named_at"][:10], "answers": answers}


def _gate_key(tested: Sequence[PrimaryEntry]) -> str:
    if any(entry["difference"] is None for entry in tested):
        return "waits"
    return "holds" if all(entry["apart"] or entry["p"] is None for entry in tested) else "fails"
