"""How well each annotator judges: hidden questions, repeats, the others, speed; and Dawid and Skene's model."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import pandas as pd
from sqlalchemy import ColumnElement, Connection, Engine, select, true

import audit
from audit.errors import AuditError
from audit.judging.accounts import is_person, reading_as_manager
from audit.judging.answers import is_counted, settled_by_people
from audit.judging.control_questions import GOLD, KNOWN, REPEAT
from audit.judging.order import FIRST
from audit.judging.settings import JudgingSettings, settings_of
from audit.judging.training import ACTION
from audit.messages import message, with_commas
from audit.reports.document import Entry, estimated, plain
from audit.reports.ratings import RATING, Kind, Rated, only_task
from audit.reports.tables import Section, Table, closing
from audit.reports.words import count, estimate, number, percent
from audit.statistics import annotators as measures
from audit.statistics.agreement import Ratings
from audit.statistics.annotators import LEAST, PRIOR, WithOthers, share
from audit.store.copying import in_utc
from audit.store.core import annotator, judgement, known, log, question
from audit.tasks import get_task, matches
from audit.tasks.questions import ABOUT_OUTPUTS, UNSURE, labels_of

RECORD_COLUMNS = ["annotator", "question", "task", "kind", "round", "answer", "seconds", "known", "settled", "before"]


@dataclass(frozen=True, eq=False)
class Record:
    """Judgements, attempts at training, and the settings by which they are measured.

    `frame` has a row for each judgement of passes 1 to 3 that counts, in the order in which they were given, with the
    columns of `RECORD_COLUMNS`: `annotator` a name; `seconds` from question to answer (NaN: not timed); `known` the
    right answers of a hidden question, `settled` those that people or an adjudicator settled (frozensets; missing where
    there are none); `before` the same person's first answer, of a repeat.
    """

    frame: pd.DataFrame
    people: tuple[str, ...]
    """Everybody who is trained, or has judged something, by name."""
    attempts: dict[str, tuple[int, bool]]
    """By name: finished attempts at training, and whether one of them passed."""
    settings: JudgingSettings


def judging_record(engine: Engine, among: ColumnElement[bool] | None = None, *, by: int | None = None) -> Record:
    """Return how people judge, everywhere or among some questions (a condition on the table question).

    For a manager (`by`, an account id; else NotAllowed) or the owner of the database (None).
    """
    tried = select(annotator.c.name, log.c.detail).join(annotator, annotator.c.id == log.c.annotator_id)
    attempts: dict[str, tuple[int, bool]] = {}
    with reading_as_manager(engine, by) as connection:
        frame = _judgements(connection, among)
        for name, detail in connection.execute(tried.where(log.c.action == ACTION).order_by(log.c.id)):
            number, passed = attempts.get(name, (0, False))
            attempts[name] = (number + 1, passed or bool(detail["passed"]))
        return Record(frame, tuple(sorted({*frame["annotator"], *attempts})), attempts, settings_of(connection))


def _judgements(connection: Connection, among: ColumnElement[bool] | None) -> pd.DataFrame:
    counted = (is_person(annotator), judgement.c.round >= FIRST, is_counted(judgement))
    query = (
        select(judgement, annotator.c.name, question.c.task, question.c.kind)
        .join(annotator, annotator.c.id == judgement.c.annotator_id)
        .join(question, question.c.id == judgement.c.question_id)
        .where(*counted, true() if among is None else among)
        .order_by(judgement.c.id)
    )
    gold = select(known.c.question_id, known.c.allowed).where(known.c.purpose == GOLD)
    control = {id: frozenset(allowed) for id, allowed in connection.execute(gold)}
    settled, first, rows = settled_by_people(connection), dict[tuple[str, int], str](), list[tuple[Any, ...]]()
    for row in connection.execute(query):
        id, before = row.question_id, first.get((row.name, row.question_id))
        if row.round == FIRST:
            first[row.name, id] = row.answer
        told = (
            control.get(id) if row.round == KNOWN else None,
            settled.get(id) if row.round == FIRST else None,
            before if row.round == REPEAT else None,
        )
        shown, decided = row.shown_at, in_utc(row.decided_at)
        seconds = float("nan") if shown is None else max((decided - in_utc(shown)).total_seconds(), 0.0)
        rows.append((row.name, id, row.task, row.kind, row.round, row.answer, seconds, *told))
    # Plain objects: answers and sets are looked at one by one, which is slow in columns made for text.
    return pd.DataFrame(rows, columns=RECORD_COLUMNS, dtype=object).astype({"seconds": float})


def quality_report(record: Record, task: str | None = None, kind: Kind | None = None) -> Entry:
    """Return a document with an entry for each annotator. Shares are fractions with a 95 % interval.

    Questions are of one task and one `kind`; None: about inputs or outputs, whichever the task asks about. What rests
    on fewer than 10 observations is null, and its `reason` says so. Raises AuditError for a task that nobody judged and
    where there are several tasks and none was chosen; with no judgement at all the entries say that nothing is known.
    """
    frame = record.frame[record.frame["kind"].isin(ABOUT_OUTPUTS if kind is None else (kind,))]
    judged = sorted(frame["task"].unique())
    tasks = [name for name in judged if matches(name, task)]
    if judged and not tasks:
        raise AuditError(f"nobody judged a question of the task {task}; there are judgements of {with_commas(judged)}")
    only_task(tasks)
    chosen = tasks[0] if tasks else task or "sentiment"
    frame, about = frame[frame["task"] == chosen], kind or get_task(chosen).question_kind
    labels, rated = labels_of(chosen, about), frame[(frame["round"] == FIRST) & (frame["answer"] != UNSURE)]
    ratings = rated.rename(columns={"question": "item", "answer": "label"})[RATING]
    alpha, others = None, dict[str, WithOthers]()
    if len(ratings):
        alpha, others = measures.leave_one_out(Ratings.of(ratings, labels))
    people = [
        _annotator(name, frame[frame["annotator"] == name], record, labels, others.get(name)) for name in record.people
    ]
    signature = {"audit": audit.__version__, "task": chosen, "about": about, "least": LEAST}
    signature |= {"intervals": "wilson, bonett-price, newcombe", "confidence": 0.95}
    return {
        "task": chosen, "about": f"{about}s", "labels": list(labels), "alpha": alpha, "annotators": people,
        "settings": asdict(record.settings), "signature": signature,
        "notes": [message("note.quality_accuracy"), message("note.quality_settled")],
    }  # fmt: skip


def _annotator(
    name: str, frame: pd.DataFrame, record: Record, labels: Sequence[str], others: WithOthers | None
) -> Entry:
    """Return the entry of one annotator, whose judgements are in `frame`."""
    first, hidden = frame[frame["round"] == FIRST], frame[(frame["round"] == KNOWN) & frame["known"].notna()]
    repeats = frame[(frame["round"] == REPEAT) & frame["before"].notna()]
    controls, settled = (part[part["answer"] != UNSURE] for part in (hidden, first[first["settled"].notna()]))
    right, agrees = (
        [answer in allowed for answer, allowed in zip(part["answer"], part[column], strict=True)]
        for part, column in ((controls, "known"), (settled, "settled"))
    )
    confused = measures.confusion(list(controls["known"]), list(controls["answer"]), labels)
    seconds = frame["seconds"].dropna()
    halves = [seconds[: len(seconds) // 2], seconds[len(seconds) // 2 :]]
    medians = [float(half.median()) if len(halves[0]) >= LEAST else None for half in halves]
    fast = share(int((seconds < record.settings.fastest).sum()), len(seconds), 20)
    shares: dict[str, Any] = {
        "unsure": share(int((first["answer"] == UNSURE).sum()), len(first)),
        "accuracy": share(sum(right), len(right)),
        "consistency": share(int((repeats["answer"] == repeats["before"]).sum()), len(repeats)),
        "settled": share(sum(agrees), len(agrees)),
        "others": others or WithOthers(0, reason=message("few.none_shared")),
        "drift": measures.drift(agrees),
    }
    entry: Entry = {"annotator": name, "judgements": len(first)} | {
        of: asdict(estimate_of) for of, estimate_of in shares.items()
    }
    entry["accuracy"]["unsure"] = len(hidden) - len(controls)
    return entry | {
        "training": dict(zip(("attempts", "passed"), record.attempts.get(name, (0, False)), strict=True)),
        "confusion": confused if right else None,
        "bias": list(map(asdict, measures.label_bias(confused))),
        "speed": {"seconds": plain(seconds.median()), "first_half": medians[0], "second_half": medians[1],
                  "fast": asdict(fast)},
    }  # fmt: skip


def quality_sections(report: Entry) -> Iterator[Section]:
    """Yield a row an annotator, and the notes."""
    rows = [
        (
            person["annotator"], person["judgements"],
            *(estimate(person[name]) for name in ("accuracy", "consistency", "settled", "others")),
            number(person["speed"]["seconds"], 1), person["speed"]["fast"]["value"]
        )
        for person in report["annotators"]
    ]  # fmt: skip
    heads = ("annotator", "judged", "accuracy", "repeats", "settled", "others", "median s", "fast")
    title = f"{len(report['annotators']):,} annotators, questions about {report['about']}; rates are in per cent"
    alpha = [] if report["alpha"] is None else [f"Krippendorff's alpha of all first answers: {report['alpha']:.3f}."]
    yield Section(title, [*alpha, Table(heads, rows), closing(report)])


# How competent each annotator is, by Dawid and Skene's model.

_SETTLES = 3
"""Ratings an item needs for the model to tell error from difficulty."""


def annotators_report(rated: Rated, draws: int = 1000, seed: int = 0) -> Entry:
    """Return shares of the true labels, a confusion matrix for each annotator, and the likeliest label of each item.

    `rated.frame` has the columns item, annotator, label; repeats are taken as they are. `draws` of the model's
    posterior give the intervals, 0 none. Raises AuditError as `dawid_skene` does.
    """
    fit, notes = measures.dawid_skene(rated.frame, draws, seed), list(rated.notes)
    if rated.frame.groupby("item").size().max() < _SETTLES:
        notes.append(message("note.few_ratings"))
    if not fit.converged:
        notes.append(message("note.still_moving", count=fit.iterations))

    def by_label(shares: Any) -> dict[str, float | None]:
        return dict(zip(fit.labels, map(plain, shares), strict=True))

    low, high = (None, None) if fit.marginals_interval is None else map(by_label, fit.marginals_interval)
    ends = [()] * len(fit.annotators) if fit.accuracy_interval is None else fit.accuracy_interval.T.tolist()
    # The confusion is unknown for true labels that an annotator never saw.
    confusion = [dict(zip(fit.labels, map(by_label, of), strict=True)) for of in fit.confusion]
    of_annotators = zip(fit.annotators, fit.ratings.tolist(), fit.accuracy.tolist(), ends, confusion, strict=True)
    of_items = zip(map(str, fit.items), fit.posterior.argmax(axis=1), fit.posterior.max(axis=1).tolist(), strict=True)
    signature = {"audit": audit.__version__, **rated.origin, "model": "Dawid-Skene", "prior": PRIOR}
    return {
        "labels": list(fit.labels), "marginals": by_label(fit.marginals), "marginals_low": low, "marginals_high": high,
        "annotators": [
            {"annotator": name, "ratings": number, "accuracy": estimated((right, *ends)), "confusion": said}
            for name, number, right, ends, said in of_annotators
        ],
        "items": [{"item": item, "label": fit.labels[at], "probability": chance} for item, at, chance in of_items],
        "log_likelihood": fit.log_likelihood, "iterations": fit.iterations, "converged": fit.converged, "notes": notes,
        "signature": signature | ({"posterior_draws": draws, "seed": seed, "confidence": 0.95} if draws else {}),
    }  # fmt: skip


def annotators_sections(report: Entry) -> Iterator[Section]:
    """Yield the likeliest shares of labels, a confusion matrix of each annotator, and the notes; items are in the JSON
    alone."""
    marginals = ", ".join(f"{name} {percent(share)}" for name, share in report["marginals"].items())
    matrices = []
    for person in report["annotators"]:
        rows = [(true, *row.values()) for true, row in person["confusion"].items()]
        about = (
            f"{person['annotator']}: right {estimate(person['accuracy']).text()}, {count(person['ratings'])} ratings"
        )
        matrices.append(Section(about, [Table(("is / says", *report["labels"]), rows)]))
    title = f"{len(report['annotators']):,} annotators, {count(len(report['items']))} items; rates are in per cent"
    yield Section(title, [f"True label: {marginals}.", *matrices, closing(report)])
