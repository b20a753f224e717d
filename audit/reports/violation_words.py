"""The words and rows for violation rates, topics and accuracy, shared by the terminal and the HTML file."""

from collections.abc import Mapping, Sequence
from typing import Any

from audit.reports.accuracy import order_words
from audit.reports.build import Report
from audit.reports.words import UNKNOWN, count, percent, place, with_interval

TOTALS = {"all": "all relations", "estimated": "with an estimate everywhere"}
TITLE = "Violation rates"
ACCURACY = "Accuracy by gold, and by metamorphic testing"
SCORES = {"accuracy": "accuracy", "observed": "1 - VR_o", "genuine": "1 - VR_g"}


def rates_text(entry: Mapping[str, Any]) -> str:
    """VR_o, and what it is once false satisfactions are counted, with its interval; a dash where it was not run.

    >>> one = {"vr_observed": 0.25, "vr_genuine": 0.5, "vr_genuine_low": 0.4, "vr_genuine_high": 0.65}
    >>> rates_text(one)
    '25.0 → 50.0 [40.0–65.0]'
    >>> rates_text(one | {"vr_genuine": None})
    '25.0 → –'
    """
    if entry["vr_observed"] is None:
        return UNKNOWN
    if entry["vr_genuine"] is None and entry.get("vr_least") is None:
        return f"{percent(entry['vr_observed'])} → {UNKNOWN}"
    return (
        f"{percent(entry['vr_observed'])} → {with_interval(entry, 'vr_genuine', 'vr_genuine_low', 'vr_genuine_high')}"
    )


def row_name(row: Mapping[str, Any]) -> str:
    """What a row of a table is called.

    >>> row_name({"by": "all", "name": "all"}), row_name({"by": "estimated", "name": "6 of 7 relations"})
    ('all relations', '6 of 7 relations')
    """
    return TOTALS["all"] if row["by"] == "all" else str(row["name"])


def title_of(report: Report, entry: Mapping[str, Any], text: str) -> str:
    """A heading with the study that it is about, where the report has several."""
    return f"{text}: {place(report, entry)}" if len(report["violations"]) > 1 else text


def rates_key(report: Report) -> str:
    """How the table of violation rates is to be read."""
    text = (
        "VR_o → VR_g in per cent: the violation rate that was observed, and the one in which false satisfactions count "
        "as violations. Families and all relations weigh each cell by its groups."
    )
    if any(row["by"] == "estimated" for table in report["violations"] for row in table["rows"]):
        text += " The last row leaves out relations that lack an estimate for some system."
    return text


def property_name(by: str) -> str:
    """What topics are: the gold label, or a column of the corpus.

    >>> property_name("gold"), property_name("genre")
    ('gold label', 'genre')
    """
    return "gold label" if by == "gold" else by


def topic_key(entry: Mapping[str, Any]) -> str:
    """How the table of topics is to be read."""
    return (
        f"Groups by {property_name(entry['by'])} of their source, over all relations. In brackets: 95 % intervals, of "
        "VR_o for the texts that this corpus was drawn from (the groups of a source count as dependent). VR_g rests on "
        "the judged groups of the topic; it is not known while some relation has none there."
    )


def topic_name(name: str | None) -> str:
    """A topic as it is shown; sources without one have a dash."""
    return UNKNOWN if name is None else name


def topic_rows(entry: Mapping[str, Any]) -> list[tuple[str, ...]]:
    """(topic, system, sources, groups, VR_o, judged, VR_g) of every topic and system over all relations, as text."""
    return [
        (
            topic_name(one["topic"]),
            one["system"],
            count(one["sources"]),
            count(one["groups"]),
            with_interval(one, "vr_observed", "vr_observed_low", "vr_observed_high"),
            count(one["judged"]),
            with_interval(one, "vr_genuine", "vr_genuine_low", "vr_genuine_high"),
        )
        for one in entry["rates"]
        if one["relation"] is None
    ]


def topics_by_relation(entry: Mapping[str, Any], system: str) -> tuple[list[str], list[tuple[str, list[str]]]]:
    """The relations of one system, and for each topic (name, VR_o → VR_g under each of them), as text."""
    mine = [one for one in entry["rates"] if one["system"] == system and one["relation"] is not None]
    # Another topic may lack a relation, so that the first topic's relations alone would not be all.
    relations = [name for name in entry["relations"] if any(one["relation"] == name for one in mine)]
    texts = {(one["topic"], one["relation"]): rates_text(one) for one in mine}
    rows = [
        (topic_name(topic), [texts.get((topic, relation), UNKNOWN) for relation in relations])
        for topic in entry["topics"]
    ]
    return relations, rows


def accuracy_rows(entry: Mapping[str, Any]) -> list[tuple[str, ...]]:
    """(system, right of outputs, accuracy, 1 - VR_o, 1 - VR_g) of every system, as text, the most accurate first."""
    systems = sorted(entry["systems"], key=lambda one: (-(one["accuracy"] or 0.0), one["system"]))
    return [
        (
            one["system"],
            f"{count(one['right'])} of {count(one['outputs'])}",
            with_interval(one, "accuracy", "low", "high"),
            percent(one["sr_observed"]),
            with_interval(one, "sr_genuine", "sr_genuine_low", "sr_genuine_high"),
        )
        for one in systems
    ]


def accuracy_lines(entry: Mapping[str, Any]) -> list[str]:
    """What the accuracies are of, and whether metamorphic testing orders the systems so; or why there are none."""
    if entry["reason"] is not None:
        return [f"No accuracy: {entry['reason']}."]
    over = (
        "all relations" if entry["over"] == "all" else f"{entry['over']}, those of which every system has an estimate"
    )
    lines = [
        f"{count(entry['sources'])} sources have a gold label. 1 - VR over {over}; accuracy has a 95 % interval for "
        "the texts that this corpus was drawn from."
    ]
    by_accuracy = order_words(entry, "accuracy")
    if len(entry["systems"]) < 2 or not by_accuracy:
        return lines
    lines.append(f"Order by accuracy: {by_accuracy}.")
    lines += [_order_line(entry, score) for score in ("observed", "genuine")]
    return lines


def _order_line(entry: Mapping[str, Any], score: str) -> str:
    order = order_words(entry, score)
    if not order:
        return f"Order by {SCORES[score]}: not known."
    same = order == order_words(entry, "accuracy")
    return f"Order by {SCORES[score]}: {order} ({'the same' if same else 'another'} order)."


def shown_accuracy(report: Report) -> Sequence[Mapping[str, Any]]:
    """The entries of `accuracy` that a reader sees: all, where one has systems; else none, as nothing could be said."""
    entries: list[Mapping[str, Any]] = report.get("accuracy") or []
    return entries if any(one["systems"] for one in entries) else []
