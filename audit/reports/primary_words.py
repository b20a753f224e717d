"""The primary comparison in words, of any language."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from audit.reports.build import Report
from audit.reports.differences import p_text
from audit.reports.words import count, percent

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
    lines = [line for entry in entries for line in _lines(entry, words, reasons)]
    tested = [one for one in entries if one["tested"]]
    return [*lines, words[_gate(tested)]] if tested else lines


def _lines(entry: Mapping[str, Any], words: Mapping[str, str], reasons: Any) -> Iterator[str]:
    numbers = {name: percent(entry[name]) for name in ("difference", "low", "high")}
    over = "" if entry["relation"] else words["over"].format(part=entry["relations"], whole=entry["compared"])
    key = "late"
    if entry["tested"]:
        key = "not_yet" if entry["difference"] is None else "tested" if entry["low"] != entry["high"] else "known"
    reason = reasons(entry["reason"]) if key == "not_yet" else ""
    p = p_text(entry["p_holm"])
    yield words[key].format(**_when(entry, words), **numbers, study=entry["study"], over=over, reason=reason, p=p)
    for one in entry["later"]:
        yield words["instead"].format(**_when(one, words))


def _when(entry: Mapping[str, Any], words: Mapping[str, str]) -> dict[str, str]:
    pair = words["pair_under" if entry["relation"] else "pair"]
    names = {name: entry[name] for name in ("system", "other", "relation")}
    answers = count(entry["answers_before"])
    return {"pair": pair.format(**names), "date": entry["named_at"][:10], "answers": answers}


def _gate(tested: Sequence[Mapping[str, Any]]) -> str:
    if any(one["difference"] is None for one in tested):
        return "waits"
    return "holds" if all(one["apart"] or one["p"] is None for one in tested) else "fails"
