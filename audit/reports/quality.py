"""How well each annotator judges: hidden questions, repeats, the others, speed; a JSON document, and text."""

import textwrap
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
import pandas as pd

import audit
from audit.annotation.answers import UNSURE
from audit.annotation.control_questions import FIRST, KNOWN, REPEAT, Record
from audit.annotation.questions import ABOUT_OUTPUTS, labels_of
from audit.annotation.ratings import RATING, Kind, Rated
from audit.errors import AuditError
from audit.reports.words import UNKNOWN, count, percent, signature_line
from audit.statistics.agreement import Ratings
from audit.statistics.annotators import (
    LEAST,
    Competence,
    WithOthers,
    alarms,
    confusion,
    dawid_skene,
    drift,
    label_bias,
    leave_one_out,
    protocols,
    share,
    speed,
)
from audit.tasks import get_task, matches

WIDTH = 100
NOTES = (
    "Accuracy, bias and confusion are measured on hidden questions whose answers are known. 'Unsure' is no answer: "
    "such judgements are counted beside.",
    "Where people settled a question by agreeing, each of them agrees with its answer by that: what tells is where an "
    "adjudicator settled it.",
    "An alarm is a reason to look, not a verdict: of many annotators some alarm by chance.",
)


def quality_report(
    record: Record, task: str | None = None, kind: Kind | None = None, least: int = LEAST
) -> dict[str, Any]:
    """A document with an entry for each annotator, by name. Shares are fractions with a 95 % interval.

    Questions are of one task and one `kind`; None: about inputs or outputs, whichever the task asks about. What rests
    on fewer than `least` observations is null, and its `reason` says so. Raises AuditError for a task that nobody
    judged and where there are several tasks and none was chosen; with no judgement at all the entries say that nothing
    is known.
    """
    frame = record.frame[record.frame["kind"].isin(ABOUT_OUTPUTS if kind is None else (kind,))]
    tasks = sorted(frame["task"].unique())
    there, tasks = tasks, [one for one in tasks if matches(one, task)]
    if task is not None and not tasks and there:
        raise AuditError(f"nobody judged a question of the task {task}; there are judgements of {', '.join(there)}")
    if len(tasks) > 1:
        raise AuditError(
            f"there are judgements of several tasks: {', '.join(tasks)}; choose one with task=NAME", parameter="task"
        )
    chosen = tasks[0] if tasks else task or "sentiment"
    frame = frame[frame["task"] == chosen]
    asked = kind or get_task(chosen).question_kind
    labels = labels_of(chosen, asked)
    alpha, others = _others(frame, labels, least)
    parts = {str(name): part for name, part in frame.groupby("annotator", sort=False)}
    none = frame.iloc[:0]
    return {
        "task": chosen,
        "about": f"{asked}s",
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
            "about": asked,
            "least": least,
            "intervals": "wilson, bonett-price, newcombe",
            "confidence": 0.95,
        },
    }


def _others(frame: pd.DataFrame, labels: Sequence[str], least: int) -> tuple[float | None, dict[str, WithOthers]]:
    """Alpha of everybody's first answers, and each among the others."""
    rated = frame[(frame["round"] == FIRST) & (frame["answer"] != UNSURE)]
    if rated.empty:
        return None, {}
    ratings = rated.rename(columns={"question": "item", "answer": "label"})[RATING]
    alpha, found = leave_one_out(Ratings.of(ratings, labels), least)
    return alpha, {one.annotator: one for one in found}


def _annotator(
    name: str,
    frame: pd.DataFrame,
    record: Record,
    labels: Sequence[str],
    alpha: float | None,
    others: WithOthers | None,
    least: int,
) -> dict[str, Any]:
    first, answered = frame[frame["round"] == FIRST], frame[frame["answer"] != UNSURE]
    gold = answered[(answered["round"] == KNOWN) & answered["known"].notna()]
    hidden = frame[(frame["round"] == KNOWN) & frame["known"].notna()]
    known, given = list(gold["known"]), list(gold["answer"])
    accuracy = share(sum(one in right for one, right in zip(given, known, strict=True)), len(gold), least)
    bias = label_bias(known, given, labels, least)
    repeats = frame[(frame["round"] == REPEAT) & frame["before"].notna()]
    consistency = share(int((repeats["answer"] == repeats["before"]).sum()), len(repeats), least)
    settled = first[(first["answer"] != UNSURE) & first["settled"].notna()]
    right = [one in allowed for one, allowed in zip(settled["answer"], settled["settled"], strict=True)]
    agreed, halves = share(sum(right), len(right), least), drift(right, least)
    times = frame["seconds"].dropna()
    pace = speed(times.tolist(), record.settings.fastest)
    middle = len(times) // 2
    attempts, passed = record.attempts.get(name, (0, False))
    struck = alarms(
        accuracy,
        bias,
        consistency,
        pace,
        halves,
        alpha,
        others.alpha_without if others else None,
        record.settings.pass_mark,
    )
    return {
        "annotator": name,
        "judgements": len(first),
        "unsure": asdict(share(int((first["answer"] == UNSURE).sum()), len(first), least)),
        "training": {"attempts": attempts, "passed": passed},
        "accuracy": asdict(accuracy) | {"unsure": int((hidden["answer"] == UNSURE).sum())},
        "confusion": confusion(known, given, labels) if known else None,
        "bias": [
            {
                "label": one.label,
                "given": one.given,
                "missed": one.missed,
                "value": one.value,
                "low": one.low,
                "high": one.high,
                "reason": one.reason,
            }
            for one in bias
        ],
        "consistency": asdict(consistency),
        "settled": asdict(agreed),
        "others": {
            "items": others.items if others else 0,
            "value": others.percent if others else None,
            "low": others.low if others else None,
            "high": others.high if others else None,
            "alpha_without": others.alpha_without if others else None,
            "reason": others.reason if others else "nothing was judged that others judged too",
        },
        "speed": {
            "seconds": pace.seconds,
            "first_half": float(times[:middle].median()) if middle >= least else None,
            "second_half": float(times[middle:].median()) if middle >= least else None,
            "fast": asdict(pace.fast),
        },
        "drift": {
            "first": asdict(halves.first),
            "second": asdict(halves.second),
            "change": halves.change,
            "low": halves.low,
            "high": halves.high,
        },
        "alarms": [{"rule": one.rule, "label": one.label} for one in struck],
    }


RULES = {
    "accuracy": "right too seldom on hidden questions",
    "bias": "says {label} too often",
    "consistency": "answers repeats otherwise too often",
    "speed": "answers too fast to have read",
    "drift": "agrees less with the answers as time goes on",
    "apart": "judges otherwise than the rest",
}
"""Each alarm in words (`audit.statistics.annotators` has the numbers)."""


def quality_lines(report: dict[str, Any]) -> list[str]:
    """The document as lines of text."""
    people = report["annotators"]
    lines = [f"{len(people):,} annotators, questions about {report['about']}. Rates are in per cent."]
    if report["alpha"] is not None:
        lines.append(f"Krippendorff's alpha of all first answers: {report['alpha']:.3f}.")
    width = max([9, *(min(len(one["annotator"]), 20) for one in people)])
    heads = ("judged", "accuracy", "repeats", "settled", "others", "median s", "fast")
    lines += [
        "",
        "  "
        + "annotator".ljust(width)
        + "".join(head.rjust(18 if 0 < at < 5 else 10) for at, head in enumerate(heads)),
    ]
    for one in people:
        cells = [count(one["judgements"]).rjust(10)]
        cells += [_cell(one[name]).rjust(18) for name in ("accuracy", "consistency", "settled", "others")]
        seconds = one["speed"]["seconds"]
        cells.append((UNKNOWN if seconds is None else f"{seconds:.1f}").rjust(10))
        cells.append(percent(one["speed"]["fast"]["value"]).rjust(10))
        lines.append("  " + one["annotator"][:20].ljust(width) + "".join(cells))
    struck = [one for one in people if one["alarms"]]
    lines += ["", "Alarms:" if struck else "No alarms."]
    for one in struck:
        said = "; ".join(RULES[alarm["rule"]].format(label=alarm["label"]) for alarm in one["alarms"])
        lines += textwrap.wrap(f"  {one['annotator']}: {said}", WIDTH, subsequent_indent="    ")
    lines.append("")
    for note in report["notes"]:
        lines += textwrap.wrap(f"Note: {note}", WIDTH, subsequent_indent="  ")
    return [*lines, "", "signature " + signature_line(report["signature"])]


def _cell(one: dict[str, Any]) -> str:
    if one["value"] is None:
        return UNKNOWN
    ends = "" if one["low"] is None else f" [{percent(one['low'], 0)}–{percent(one['high'], 0)}]"
    return percent(one["value"]) + ends


# How competent each annotator is, by Dawid and Skene's model: a JSON document, and text for a terminal.

_SETTLES = 3
"""Ratings an item needs for the model to tell error from difficulty."""


def annotators_report(
    rated: Rated,
    draws: int = 1000,
    seed: int = 0,
    outputs: pd.DataFrame | None = None,
    adjudicator: float = 1.0,
) -> dict[str, Any]:
    """Shares of the true labels, a confusion matrix for each annotator, and the likeliest label of each item.

    And what protocols would make of these annotators: `protocol`, with the bias of R_FS where `outputs` tells what the
    systems say (columns item, output, groups: `audit.false_satisfaction.opinions.answered_outputs`), and an adjudicator
    who is right with the probability `adjudicator`.

    `rated.frame` has the columns item, annotator, label; repeats are taken as they are. `draws` of the model's
    posterior give the intervals, 0 none. Raises AuditError as `dawid_skene` does.
    """
    found = dawid_skene(rated.frame, draws, seed)
    notes = list(rated.notes)
    if rated.frame.groupby("item").size().max() < _SETTLES:
        notes.append(
            "No item has three ratings. The model then has more unknowns than the ratings can settle: take the shares "
            "and confusions as one of several explanations."
        )
    if not found.converged:
        notes.append(f"The fit was still moving after {found.iterations:,} iterations; its last step is shown.")
    return {
        "labels": list(found.labels),
        "marginals": {name: float(share) for name, share in zip(found.labels, found.marginals, strict=True)},
        "marginals_low": _ends(found, 0),
        "marginals_high": _ends(found, 1),
        "protocol": [
            {
                "name": one.name,
                "wrong_answers": one.wrong_answers,
                "judgements": one.judgements,
                "fs_bias": one.bias,
            }
            for one in protocols(found.confusion, found.marginals.tolist(), _joint(found, outputs), adjudicator)
        ],
        "annotators": [_competence_entry(found, place) for place in range(len(found.annotators))],
        "items": [
            {"item": str(item), "label": found.labels[best], "probability": float(chance)}
            for item, best, chance in zip(
                found.items, found.posterior.argmax(axis=1), found.posterior.max(axis=1), strict=True
            )
        ],
        "log_likelihood": found.log_likelihood,
        "iterations": found.iterations,
        "converged": found.converged,
        "notes": notes,
        "signature": {
            "audit": audit.__version__,
            **rated.origin,
            "model": "Dawid-Skene, maximum likelihood",
            "adjudicator": adjudicator,
            "posterior_draws": draws or None,
            "seed": seed if draws else None,
            "confidence": 0.95 if draws else None,
        },
    }


def _joint(found: Competence, outputs: pd.DataFrame | None) -> np.ndarray | None:
    """Groups by the true label of their item, by what the fit makes of it, and the systems' output; (q, q or more)."""
    if outputs is None or outputs.empty:
        return None
    place = {str(item): at for at, item in enumerate(found.items)}
    said = [*found.labels, *sorted(set(outputs["output"]) - set(found.labels))]
    joint = np.zeros((len(found.labels), len(said)))
    for item, output, groups in outputs[["item", "output", "groups"]].itertuples(index=False):
        if item in place:
            joint[:, said.index(output)] += groups * found.posterior[place[item]]
    return joint


def _ends(found: Competence, end: int) -> dict[str, float] | None:
    if found.marginals_interval is None:
        return None
    return {name: float(share) for name, share in zip(found.labels, found.marginals_interval[end], strict=True)}


def _competence_entry(found: Competence, place: int) -> dict[str, Any]:
    low, high = (None, None) if found.accuracy_interval is None else found.accuracy_interval[:, place]
    return {
        "annotator": found.annotators[place],
        "ratings": int(found.ratings[place]),
        "accuracy": float(found.accuracy[place]),
        "accuracy_low": _known(low),
        "accuracy_high": _known(high),
        # Where an annotator saw nothing of a true label, what they would say of it is not known.
        "confusion": {
            true: {said: _known(chance) for said, chance in zip(found.labels, row, strict=True)}
            for true, row in zip(found.labels, found.confusion[place], strict=True)
        },
    }


def _known(value: float | None) -> float | None:
    return None if value is None or np.isnan(value) else float(value)


def annotators_lines(report: dict[str, Any]) -> list[str]:
    """The document as lines of text; the items are in the JSON only."""
    lines = [
        f"{len(report['annotators']):,} annotators, {count(len(report['items']))} items. Rates are in per cent.",
        "",
    ]
    lines.append(
        "  true label: " + ", ".join(f"{name} {percent(share)}" for name, share in report["marginals"].items())
    )
    size = max(7, *(min(len(name), 14) + 2 for name in report["labels"]))
    for one in report["annotators"]:
        ends = ""
        if one["accuracy_low"] is not None:
            ends = f" [{percent(one['accuracy_low'])}–{percent(one['accuracy_high'])}]"
        lines += ["", f"  {one['annotator']}: right {percent(one['accuracy'])}{ends}, {count(one['ratings'])} ratings"]
        lines.append(f"    {'is / says':<{size + 2}}" + "".join(f"{name[:14]:>{size}}" for name in report["labels"]))
        for true, row in one["confusion"].items():
            cells = "".join(f"{UNKNOWN if chance is None else percent(chance):>{size}}" for chance in row.values())
            lines.append(f"    {true[:14]:<{size + 2}}{cells}")
    right = percent(report["signature"]["adjudicator"])
    lines += ["", f"  If these people answered, independently of each other, and an adjudicator were right in {right}:"]
    for one in report["protocol"]:
        bias = "" if one["fs_bias"] is None else f", bias of R_FS {100 * one['fs_bias']:+.1f}"
        wrong = f"{percent(one['wrong_answers'])} of the answers wrong{bias}"
        lines.append(f"    {one['name']}: {wrong}, {one['judgements']:.2f} judgements a question")
    if report["notes"]:
        lines.append("")
    for note in report["notes"]:
        lines += textwrap.wrap(f"Note: {note}", WIDTH, subsequent_indent="  ")
    return [*lines, "", "signature " + signature_line(report["signature"])]
