"""How well each annotator judges: hidden questions, repeats, the others, speed; a JSON document, and text."""

import textwrap
from collections.abc import Sequence
from dataclasses import asdict
from typing import cast

import pandas as pd

import audit
from audit.annotation.answers import UNSURE
from audit.annotation.control_questions import FIRST, KNOWN, REPEAT, Record
from audit.annotation.questions import ABOUT_OUTPUTS, labels_of
from audit.annotation.ratings import RATING, Kind, Rated
from audit.errors import AuditError
from audit.messages import message, with_commas
from audit.reports.document import plain
from audit.reports.documents import (
    AnnotatorCompetence,
    AnnotatorQuality,
    CompetenceDocument,
    LabelBias,
    OthersEntry,
    QualityDocument,
    ShareEntry,
    SpeedEntry,
)
from audit.reports.words import UNKNOWN, count, percent, signature_line
from audit.statistics.agreement import Ratings
from audit.statistics.annotators import (
    LEAST,
    PRIOR,
    Competence,
    Share,
    Speed,
    WithOthers,
    confusion,
    dawid_skene,
    drift,
    label_bias,
    leave_one_out,
    share,
    speed,
)
from audit.tasks import get_task, matches

WIDTH = 100
NOTES = (
    message("note.quality_accuracy"),
    message("note.quality_settled"),
)


def quality_report(
    record: Record, task: str | None = None, kind: Kind | None = None, least: int = LEAST
) -> QualityDocument:
    """A document with an entry for each annotator, by name. Shares are fractions with a 95 % interval.

    Questions are of one task and one `kind`; None: about inputs or outputs, whichever the task asks about. What rests
    on fewer than `least` observations is null, and its `reason` says so. Raises AuditError for a task that nobody
    judged and where there are several tasks and none was chosen; with no judgement at all the entries say that nothing
    is known.
    """
    frame = record.frame[record.frame["kind"].isin(ABOUT_OUTPUTS if kind is None else (kind,))]
    tasks = sorted(frame["task"].unique())
    judged_tasks, tasks = tasks, [name for name in tasks if matches(name, task)]
    if task is not None and not tasks and judged_tasks:
        raise AuditError(
            f"nobody judged a question of the task {task}; there are judgements of {with_commas(judged_tasks)}"
        )
    if len(tasks) > 1:
        raise AuditError(
            f"there are judgements of several tasks: {with_commas(tasks)}; choose one with task=NAME", parameter="task"
        )
    chosen = tasks[0] if tasks else task or "sentiment"
    frame = frame[frame["task"] == chosen]
    question_kind = kind or get_task(chosen).question_kind
    labels = labels_of(chosen, question_kind)
    alpha, others = _others(frame, labels, least)
    parts = {str(name): part for name, part in frame.groupby("annotator", sort=False)}
    none = frame.iloc[:0]
    return {
        "task": chosen,
        "about": f"{question_kind}s",
        "labels": list(labels),
        "alpha": alpha,
        "annotators": [
            _annotator(name, parts.get(name, none), record, labels, alpha, others.get(name), least)
            for name in record.people
        ],
        "settings": asdict(record.settings),
        "notes": list(NOTES),
        "signature": {
            "audit": audit.__version__,
            "task": chosen,
            "about": question_kind,
            "least": least,
            "intervals": "wilson, bonett-price, newcombe",
            "confidence": 0.95,
        },
    }


def _others(frame: pd.DataFrame, labels: Sequence[str], least: int) -> tuple[float | None, dict[str, WithOthers]]:
    """Alpha over all first answers, and how each annotator agrees with the others, by name."""
    rated = frame[(frame["round"] == FIRST) & (frame["answer"] != UNSURE)]
    if rated.empty:
        return None, {}
    ratings = rated.rename(columns={"question": "item", "answer": "label"})[RATING]
    alpha, entries = leave_one_out(Ratings.of(ratings, labels), least)
    return alpha, {entry.annotator: entry for entry in entries}


def _annotator(
    name: str,
    frame: pd.DataFrame,
    record: Record,
    labels: Sequence[str],
    alpha: float | None,
    others: WithOthers | None,
    least: int,
) -> AnnotatorQuality:
    first, answered = frame[frame["round"] == FIRST], frame[frame["answer"] != UNSURE]
    gold = answered[(answered["round"] == KNOWN) & answered["known"].notna()]
    hidden = frame[(frame["round"] == KNOWN) & frame["known"].notna()]
    expected, answers = list(gold["known"]), list(gold["answer"])
    accuracy = share(
        sum(answer in allowed for answer, allowed in zip(answers, expected, strict=True)), len(gold), least
    )
    bias = label_bias(expected, answers, labels, least)
    repeats = frame[(frame["round"] == REPEAT) & frame["before"].notna()]
    consistency = share(int((repeats["answer"] == repeats["before"]).sum()), len(repeats), least)
    with_answer = first[(first["answer"] != UNSURE) & first["settled"].notna()]
    agrees = [answer in allowed for answer, allowed in zip(with_answer["answer"], with_answer["settled"], strict=True)]
    agreed, halves = share(sum(agrees), len(agrees), least), drift(agrees, least)
    times = frame["seconds"].dropna()
    pace = speed(times.tolist(), record.settings.fastest)
    attempts, passed = record.attempts.get(name, (0, False))
    return {
        "annotator": name,
        "judgements": len(first),
        "unsure": _share(share(int((first["answer"] == UNSURE).sum()), len(first), least)),
        "training": {"attempts": attempts, "passed": passed},
        "accuracy": {**_share(accuracy), "unsure": int((hidden["answer"] == UNSURE).sum())},
        "confusion": confusion(expected, answers, labels) if expected else None,
        "bias": [cast(LabelBias, asdict(entry)) for entry in bias],
        "consistency": _share(consistency),
        "settled": _share(agreed),
        "others": _others_entry(others),
        "speed": _speed_entry(times, pace, least),
        "drift": {
            "first": _share(halves.first),
            "second": _share(halves.second),
            "change": halves.change,
            "low": halves.low,
            "high": halves.high,
        },
    }


def _share(share: Share) -> ShareEntry:
    return cast(ShareEntry, asdict(share))


def _others_entry(others: WithOthers | None) -> OthersEntry:
    return {
        "items": others.items if others else 0,
        "value": others.percent if others else None,
        "low": others.low if others else None,
        "high": others.high if others else None,
        "alpha_without": others.alpha_without if others else None,
        "reason": others.reason if others else message("few.none_shared"),
    }


def _speed_entry(times: pd.Series, pace: Speed, least: int) -> SpeedEntry:
    middle = len(times) // 2
    return {
        "seconds": pace.seconds,
        "first_half": float(times[:middle].median()) if middle >= least else None,
        "second_half": float(times[middle:].median()) if middle >= least else None,
        "fast": _share(pace.fast),
    }


def quality_lines(report: QualityDocument) -> list[str]:
    """The document as lines of text."""
    people = report["annotators"]
    lines = [f"{len(people):,} annotators, questions about {report['about']}. Rates are in per cent."]
    if report["alpha"] is not None:
        lines.append(f"Krippendorff's alpha of all first answers: {report['alpha']:.3f}.")
    width = max([9, *(min(len(person["annotator"]), 20) for person in people)])
    heads = ("judged", "accuracy", "repeats", "settled", "others", "median s", "fast")
    lines += [
        "",
        "  "
        + "annotator".ljust(width)
        + "".join(head.rjust(18 if 0 < at < 5 else 10) for at, head in enumerate(heads)),
    ]
    for person in people:
        cells = [count(person["judgements"]).rjust(10)]
        cells += [
            _cell(entry).rjust(18)
            for entry in (person["accuracy"], person["consistency"], person["settled"], person["others"])
        ]
        seconds = person["speed"]["seconds"]
        cells.append((UNKNOWN if seconds is None else f"{seconds:.1f}").rjust(10))
        cells.append(percent(person["speed"]["fast"]["value"]).rjust(10))
        lines.append("  " + person["annotator"][:20].ljust(width) + "".join(cells))
    lines.append("")
    for note in report["notes"]:
        lines += textwrap.wrap(f"Note: {note}", WIDTH, subsequent_indent="  ")
    return [*lines, "", "signature " + signature_line(report["signature"])]


def _cell(entry: ShareEntry | OthersEntry) -> str:
    if entry["value"] is None:
        return UNKNOWN
    ends = "" if entry["low"] is None else f" [{percent(entry['low'], 0)}–{percent(entry['high'], 0)}]"
    return percent(entry["value"]) + ends


# How competent each annotator is, by Dawid and Skene's model: a JSON document, and text for a terminal.

_SETTLES = 3
"""Ratings an item needs for the model to tell error from difficulty."""


def annotators_report(
    rated: Rated,
    draws: int = 1000,
    seed: int = 0,
) -> CompetenceDocument:
    """Shares of the true labels, a confusion matrix for each annotator, and the likeliest label of each item.

    `rated.frame` has the columns item, annotator, label; repeats are taken as they are. `draws` of the model's
    posterior give the intervals, 0 none. Raises AuditError as `dawid_skene` does.
    """
    fit = dawid_skene(rated.frame, draws, seed)
    notes = list(rated.notes)
    if rated.frame.groupby("item").size().max() < _SETTLES:
        notes.append(message("note.few_ratings"))
    if not fit.converged:
        notes.append(message("note.still_moving", count=fit.iterations))
    return {
        "labels": list(fit.labels),
        "marginals": {name: float(share) for name, share in zip(fit.labels, fit.marginals, strict=True)},
        "marginals_low": _ends(fit, 0),
        "marginals_high": _ends(fit, 1),
        "annotators": [_competence_entry(fit, place) for place in range(len(fit.annotators))],
        "items": [
            {"item": str(item), "label": fit.labels[best], "probability": float(chance)}
            for item, best, chance in zip(
                fit.items, fit.posterior.argmax(axis=1), fit.posterior.max(axis=1), strict=True
            )
        ],
        "log_likelihood": fit.log_likelihood,
        "iterations": fit.iterations,
        "converged": fit.converged,
        "notes": notes,
        "signature": {
            "audit": audit.__version__,
            **rated.origin,
            "model": "Dawid-Skene",
            "prior": PRIOR,
            "posterior_draws": draws or None,
            "seed": seed if draws else None,
            "confidence": 0.95 if draws else None,
        },
    }


def _ends(fit: Competence, end: int) -> dict[str, float] | None:
    if fit.marginals_interval is None:
        return None
    return {name: float(share) for name, share in zip(fit.labels, fit.marginals_interval[end], strict=True)}


def _competence_entry(fit: Competence, place: int) -> AnnotatorCompetence:
    low, high = (None, None) if fit.accuracy_interval is None else fit.accuracy_interval[:, place]
    return {
        "annotator": fit.annotators[place],
        "ratings": int(fit.ratings[place]),
        "accuracy": float(fit.accuracy[place]),
        "accuracy_low": plain(low),
        "accuracy_high": plain(high),
        # Unknown for true labels that the annotator never saw.
        "confusion": {
            true: {label: plain(chance) for label, chance in zip(fit.labels, row, strict=True)}
            for true, row in zip(fit.labels, fit.confusion[place], strict=True)
        },
    }


def annotators_lines(report: CompetenceDocument) -> list[str]:
    """The document as lines of text; the items are in the JSON only."""
    lines = [
        f"{len(report['annotators']):,} annotators, {count(len(report['items']))} items. Rates are in per cent.",
        "",
    ]
    lines.append(
        "  true label: " + ", ".join(f"{name} {percent(share)}" for name, share in report["marginals"].items())
    )
    size = max(7, *(min(len(name), 14) + 2 for name in report["labels"]))
    for person in report["annotators"]:
        ends = ""
        if person["accuracy_low"] is not None:
            ends = f" [{percent(person['accuracy_low'])}–{percent(person['accuracy_high'])}]"
        lines += [
            "",
            f"  {person['annotator']}: right {percent(person['accuracy'])}{ends}, {count(person['ratings'])} ratings",
        ]
        lines.append(f"    {'is / says':<{size + 2}}" + "".join(f"{name[:14]:>{size}}" for name in report["labels"]))
        for true, row in person["confusion"].items():
            cells = "".join(f"{UNKNOWN if chance is None else percent(chance):>{size}}" for chance in row.values())
            lines.append(f"    {true[:14]:<{size + 2}}{cells}")
    if report["notes"]:
        lines.append("")
    for note in report["notes"]:
        lines += textwrap.wrap(f"Note: {note}", WIDTH, subsequent_indent="  ")
    return [*lines, "", "signature " + signature_line(report["signature"])]
