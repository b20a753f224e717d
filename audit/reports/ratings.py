"""Who gave which item which label: from a table, or from the judgements in a database; and what follows of groups."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Literal

import pandas as pd
from sqlalchemy import ColumnElement, Engine, or_, select, true

from audit.errors import AuditError, BadFile
from audit.false_satisfaction.questions import attributed_groups
from audit.false_satisfaction.resolution import KnownAnswer, State, drawn_groups, settle_group, subjects_of
from audit.files import LABEL, MISSING, first_spelling, read_table, refuse_bad_rows, refuse_unknown_columns, sha_of
from audit.judging.accounts import reading_as_manager, stored_name
from audit.judging.answers import is_vote
from audit.messages import joined, message, with_commas
from audit.store import rows_among
from audit.store.bulk import LIMIT
from audit.store.core import annotator, input_table, judgement, question, source, system
from audit.tasks import get_task, lists_answers
from audit.tasks.entities import units
from audit.tasks.questions import ABOUT_OUTPUTS, UNSURE, Subject, labels_of

RATING = ["item", "annotator", "label"]
Repeats = Literal["first", "last", "majority"]
REPEATS: tuple[Repeats, ...] = ("first", "last", "majority")
Kind = Literal["input", "pair", "group"]
"""What questions are about: inputs, outputs with their inputs, or groups."""


@dataclass(frozen=True, eq=False)
class Rated:
    """Ratings and where they came from.

    `frame` has the columns item, annotator, label (text), from a file also `line` and whatever else was asked for, one
    row a rating in the order in which they were given. `labels` are those that annotators could choose from (None:
    nobody knows), `notes` sentences about what is not in the frame, `origin` what a signature says about it.
    """

    frame: pd.DataFrame
    labels: tuple[str, ...] | None
    notes: tuple[str, ...]
    origin: dict[str, object]


def read_ratings(
    path: str | Path, also: Sequence[str] = (), columns: Mapping[str, str] = MappingProxyType({})
) -> Rated:
    """Return the ratings of a table with the columns item, annotator, label and those of `also`; others are ignored.

    `columns` has our name -> the file's, where it has another; `label` may be several columns with + between them, one
    for each annotator. Labels that differ in case alone are one, and so are names. A label that is empty or written as
    missing (NA, null) is none; a note counts them. Raises BadFile and BadRow (file, line, column) as `read_table` does.
    """
    names = [*RATING, *also]
    refuse_unknown_columns(columns, names)
    table = read_table(path, names, columns=columns, may_be_empty=[LABEL])
    missing = table[LABEL].isin(MISSING)
    written = sorted(filter(None, table.loc[missing, LABEL].unique())) or ["empty"]
    note = f"{int(missing.sum()):,} of {len(table):,} ratings have no label ({with_commas(written)}) and are left out."
    frame = table[~missing].rename_axis("line").reset_index()[[*names, "line"]]
    if frame.empty:
        raise BadFile(message("file.no_rows", file=path))
    frame["annotator"] = frame["annotator"].map(stored_name)
    frame[LABEL] = first_spelling(frame[LABEL])
    return Rated(frame, None, (note,) * bool(missing.any()), {"file": Path(path).name, "sha": sha_of(path)})


def once(rated: Rated, repeats: Repeats | None, path: str | Path) -> Rated:
    """Return one rating of each item by each annotator: the first, the last, or the most frequent (of ties the
    earliest).

    Without `repeats` an annotator who rates an item again is refused: BadRow or BadFile with the lines.
    """
    frame, both = rated.frame, ["item", "annotator"]
    again = frame.duplicated(both).to_numpy()
    if not again.any():
        return rated
    if repeats is None:
        allowed = f"allowed is one rating, or choose with repeats={joined('list.or', REPEATS)}"
        says = "column annotator: {} rates item {} again; " + allowed
        bad = [(row.line, says.format(row.annotator, row.item)) for row in frame[again].itertuples()]
        refuse_bad_rows(path, bad, len(frame), parameter="repeats")
    if repeats == "majority":
        votes = frame.groupby([*both, "label"], sort=False)["line"].transform("size")
        frame = frame[votes == votes.groupby([frame[name] for name in both], sort=False).transform("max")]
    unique = frame.drop_duplicates(both, keep="last" if repeats == "last" else "first").reset_index(drop=True)
    note = f"{len(rated.frame) - len(unique):,} repeated ratings were left out; the {repeats} of each counts."
    return replace(rated, frame=unique, notes=(*rated.notes, note), origin={**rated.origin, "repeats": repeats})


def only_task(judged: Sequence[str]) -> None:
    """Raise AuditError where there are judgements of several tasks."""
    if len(judged) > 1:
        names = with_commas(judged)
        raise AuditError(f"there are judgements of several tasks: {names}; choose one with task=NAME", parameter="task")


def stored_ratings(
    engine: Engine,
    task: str | None = None,
    kind: Kind | None = None,
    *,
    by: int | None = None,
    among: ColumnElement[bool] | None = None,
) -> Rated:
    """Return people's judgements that count: first pass, not superseded, not withdrawn; `item` is the question's id.

    `task` may leave the label scheme out, where there is one. Questions are of one `kind`; None: about inputs or
    outputs, whichever the task asks about. "Unsure" is no label: a note says how many were left out. Names are for a
    manager (`by`, an account id; else NotAllowed) or for whoever has the database (None). `among` is a condition on the
    table question. Raises AuditError where nobody has judged anything, or several tasks and none was chosen.
    """
    query = (
        select(question.c.task, judgement.c.question_id, annotator.c.name, judgement.c.answer)
        .join(annotator, annotator.c.id == judgement.c.annotator_id)
        .join(question, question.c.id == judgement.c.question_id)
        .where(question.c.kind.in_(ABOUT_OUTPUTS if kind is None else (kind,)), is_vote(judgement))
        .where(true() if among is None else among)
        .order_by(judgement.c.id)
    )
    if task is not None:
        name = get_task(task).name
        query = query.where(or_(question.c.task == name, question.c.task.startswith(f"{name}/", autoescape=True)))
    with reading_as_manager(engine, by) as connection:
        frame = pd.DataFrame(connection.execute(query).all(), columns=["task", *RATING])
    judged = sorted(frame["task"].unique())
    if not judged:
        about = {"group": " about a group", "pair": " about an output"}.get(kind or "", "")
        about += f" of the task {task}" if task else ""
        what = f"people have judged no question{about} yet"
        raise AuditError(f"{what}; serve the app with `audit app` and let them answer")
    only_task(judged)
    unsure = frame["label"] == UNSURE
    notes = (message("note.unsure_left_out", count=int(unsure.sum()), whole=len(frame)),) * bool(unsure.any())
    frame = frame.loc[~unsure, RATING].astype({"item": str}).reset_index(drop=True)
    question_kind = kind or get_task(judged[0]).question_kind
    origin: dict[str, object] = {"task": judged[0]} | (
        {} if question_kind == "input" else {"about": f"{question_kind}s"}
    )
    labels = (
        None
        if question_kind == "input" and not lists_answers(get_task(judged[0]))
        else labels_of(judged[0], question_kind)
    )
    return Rated(frame, labels, notes, origin)


def of_spans(rated: Rated, engine: Engine, each: Literal["name", "word"]) -> Rated:
    """Return ratings of texts, whose labels are spans, as ratings of each name that any of them has, or of each word: a
    kind, or `none`; names and words of one text are a cluster. Raises AuditError where the answers are no spans."""
    if rated.labels is not None:
        raise AuditError("names and words are agreed on in the task entities alone; leave about=names and words out")
    with engine.connect() as connection:
        query = select(question.c.id, input_table.c.texts).join(input_table, input_table.c.id == question.c.input_id)
        ids = sorted(map(int, rated.frame["item"].unique()))
        texts = {str(id): text for id, (text, *_) in rows_among(connection, query, question.c.id, ids)}
    rows = []
    for item, of in rated.frame.groupby("item", sort=False):
        for place, kinds in units(texts[item], list(of["label"]), each).items():
            name = f"{item}/{place[0]}-{place[1]}"
            rows += [(name, who, kind, item) for who, kind in zip(of["annotator"], kinds, strict=True)]
    if not rows:
        raise AuditError("nobody has marked a name yet, so there is nothing to agree on")
    frame = pd.DataFrame(rows, columns=[*RATING, "cluster"])
    return Rated(frame, None, rated.notes, {**rated.origin, "about": f"{each}s"})


# What the questions serve, to tell agreement by relation, system and language.


def attributed(engine: Engine, by: Literal["relation", "system", "language"]) -> pd.DataFrame:
    """Return which relations or systems each question serves, or in which languages each is: columns item (its id,
    text) and value; one question may serve many.

    A question about an input or output serves the drawn groups of which it settles a counted member.
    """
    if by == "language":
        query = select(question.c.id, input_table.c.languages)
        with engine.connect() as connection:
            rows = connection.execute(query.join(input_table, input_table.c.id == question.c.input_id)).all()
        return pd.DataFrame(rows, columns=["item", "value"]).astype(str)
    pairs = set(attributed_groups(engine, by).itertuples(index=False, name=None))
    with engine.connect() as connection:
        items = {subject: str(id) for id, subject in subjects_of(connection).items()}
        names = dict(connection.execute(select(system.c.id, system.c.name)).all())
        for group in drawn_groups(connection, None) if items else ():
            value = group.relation if by == "relation" else names[group.system_id]
            pairs |= {(items[subject], value) for step in group.steps if (subject := group.subject(step)) in items}
    return pd.DataFrame(sorted(pairs), columns=["item", "value"])


# What each annotator alone would make of the drawn groups. Two people may disagree about a label and still agree that
# an output is wrong, or the other way round: what the rates are made of is the second, so agreement is measured on it.

FALSE, TRUE = "false", "true"


def opinions(engine: Engine, task: str | None = None) -> Rated:
    """Return whether each drawn group is a false satisfaction, by the answers of one annotator at a time.

    Of the frame's rows item is a drawn group of one system, label `false` or `true`, cluster its source (groups of one
    source share questions, so they are not independent); relation, system and language stand beside. A group counts for
    an annotator only where that annotator's answers, carried ones included, cover every member: one wrong output would
    settle a group as false after part of the answers, but never as true. Raises AuditError where nobody has judged, or
    no group is covered.
    """
    rated, answers, rows = stored_ratings(engine, task), dict[str, dict[Subject, KnownAnswer]](), list[object]()
    with engine.connect() as connection:
        subject_of = {str(id): subject for id, subject in subjects_of(connection).items()}
        drawn = {(group.group_id, group.system_id): group for group in drawn_groups(connection, None)}
        systems = dict(connection.execute(select(system.c.id, system.c.name)).all())
        languages = select(source.c.id, input_table.c.languages).join(input_table)
        of_source = dict(rows_among(connection, languages, source.c.id, sorted({id // LIMIT**2 for id, _ in drawn})))
    for item, name, label in rated.frame[RATING].itertuples(index=False):
        if item in subject_of:
            answers.setdefault(name, {})[subject_of[item]] = KnownAnswer(frozenset({label}), "people")
    for name, own in answers.items():
        for (id, system_id), group in drawn.items():
            settled = settle_group(group, own) if any(group.subject(step) in own for step in group.steps) else None
            if settled is not None and all(settled.origins):
                label, cluster = FALSE if settled.state is State.FALSE else TRUE, id // LIMIT**2
                serves = (group.relation, systems[system_id], of_source[cluster])
                rows.append((f"{id}/{system_id}", name, label, cluster, *serves))
    if not rows:
        none = "nobody's own answers cover a drawn group, so there are no opinions on false satisfactions to compare"
        raise AuditError(f"{none}; draw groups with `audit sample` and let people answer")
    note = (
        "A group counts for an annotator whose own answers cover all its members; groups of one source are a cluster."
    )
    frame = pd.DataFrame(rows, columns=[*RATING, "cluster", "relation", "system", "language"])
    return Rated(frame, (FALSE, TRUE), (*rated.notes, note), {**rated.origin, "about": "false satisfactions"})
