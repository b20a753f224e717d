"""Who gave which item which label: from a table, or from the judgements in a database; and what follows of groups."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

import pandas as pd
from sqlalchemy import ColumnElement, Engine, or_, select

from audit.errors import AuditError, BadFile
from audit.false_satisfaction.resolution import KnownAnswer, State, drawn_groups, settle_group, subjects_of
from audit.files import LABEL, MISSING, first_spelling, read_table, refuse_bad_rows, sha_of
from audit.judging.accounts import reading_as_manager, stored_name
from audit.judging.answers import is_vote
from audit.messages import joined, message, with_commas
from audit.relations import Outcome
from audit.statistics.agreement import number_of
from audit.store import rows_among
from audit.store.bulk import LIMIT
from audit.store.core import (
    annotator,
    draw,
    input_table,
    judgement,
    member,
    question,
    relation,
    source,
    system,
    verdict,
)
from audit.tasks.questions import ABOUT_OUTPUTS, UNSURE, Subject, labels_of

RATING = ["item", "annotator", "label"]
Repeats = Literal["first", "last", "majority"]
REPEATS: tuple[Repeats, ...] = ("first", "last", "majority")
Attribute = Literal["relation", "system", "language"]
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
    """The ratings of a table with the columns item, annotator, label and those of `also`; others are ignored.

    `columns` has our name -> the file's, where it has another; `label` may be several columns with + between them, one
    for each annotator. Labels that differ in case alone are one, and so are names. A label that is
    empty or written as missing (NA, null) is none; a note counts them. Raises BadFile when the file cannot be read or
    lacks columns, BadRow for one row with an empty or missing field (file, line, column), and BadFile that lists the
    first ten where there are several.
    """
    path = Path(path)
    for name in columns:
        if name not in (*RATING, *also):
            raise AuditError(
                message("corpus_file.unknown_column", column=name, allowed=[*RATING, *also]), parameter="columns"
            )
    table = read_table(path, [*RATING, *also], columns=columns, may_be_empty=[LABEL])
    missing = table[LABEL].isin(MISSING)
    written = sorted(filter(None, table.loc[missing, LABEL].unique())) or ["empty"]
    notes = [
        f"{int(missing.sum()):,} of {len(table):,} ratings have no label ({with_commas(written)}) and are left out."
    ]
    frame = table[~missing].rename_axis("line").reset_index()[[*RATING, *also, "line"]]
    if frame.empty:
        raise BadFile(message("file.no_rows", file=path))
    frame["annotator"] = frame["annotator"].map(stored_name)
    frame[LABEL] = first_spelling(frame[LABEL])
    return Rated(frame, None, tuple(notes if missing.any() else ()), {"file": path.name, "sha": sha_of(path)})


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
        earlier = frame.groupby(both, sort=False)["line"].transform("first")
        rows = frame.assign(earlier=earlier)[again][["line", *both, "earlier"]].itertuples(index=False)
        bad = [
            (line, f"column annotator: {name} rates item {item} again, first on line {first}; {allowed}")
            for line, item, name, first in rows
        ]
        refuse_bad_rows(path, bad, len(frame), parameter="repeats")
    if repeats == "majority":
        votes = frame.groupby([*both, "label"], sort=False)["line"].transform("size")
        frame = frame[votes == votes.groupby([frame[name] for name in both], sort=False).transform("max")]
    unique = frame.drop_duplicates(both, keep="last" if repeats == "last" else "first").reset_index(drop=True)
    note = f"{len(rated.frame) - len(unique):,} repeated ratings were left out; the {repeats} of each counts."
    return Rated(unique, rated.labels, (*rated.notes, note), {**rated.origin, "repeats": repeats})


def need_two(rated: Rated, path: str | Path) -> None:
    """Raise BadFile unless some item of a file was judged by two annotators or more."""
    frame = rated.frame
    first, last = frame.iloc[0], frame.iloc[-1]
    where = f"{path}, lines {first['line']} to {last['line']}"
    if frame["annotator"].nunique() < 2:
        raise BadFile(f"{where}: column annotator has only {first['annotator']!r}; two annotators or more are needed")
    if frame.groupby("item")["annotator"].nunique().max() < 2:
        raise BadFile(
            f"{where}: no value of column item was judged by two annotators (item {first['item']!r} by "
            f"{first['annotator']!r} alone); items with two judgements or more are needed"
        )


def need_numbers(rated: Rated, path: str | Path, level: str) -> None:
    """Raise BadRow or BadFile for rows of a file whose label is not a number, as this level needs."""
    allowed = f"which is not a number; the level {level} allows numbers, or give order=A,B"
    rows = rated.frame[["line", "label"]].itertuples(index=False)
    bad = [(line, f"column label is {label!r}, {allowed}") for line, label in rows if number_of(label) is None]
    refuse_bad_rows(path, bad, len(rated.frame), parameter="order")


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
    """People's judgements that count: first pass, not superseded, not withdrawn; `item` is the question's id.

    `task` may leave the label scheme out, where there is one. Questions are of one `kind`; None: about inputs or
    outputs, whichever the task asks about. Those about groups have labels of their own. "Unsure" is no label: such
    judgements are left out, and a note says how many. Gold is not a person. They name who gave them: for a manager
    (`by`, an account id; else NotAllowed) or for whoever has the database itself (None). Raises AuditError where nobody
    has judged anything, and where there are several tasks and none was chosen. `among` is a condition on the table
    question that the questions meet.
    """
    from audit.tasks import get_task

    query = (
        select(question.c.task, judgement.c.question_id, annotator.c.name, judgement.c.answer)
        .join(annotator, annotator.c.id == judgement.c.annotator_id)
        .join(question, question.c.id == judgement.c.question_id)
        .where(question.c.kind.in_(ABOUT_OUTPUTS if kind is None else (kind,)), is_vote(judgement))
        .order_by(judgement.c.id)
    )
    if among is not None:
        query = query.where(among)
    if task is not None:
        task_name = get_task(task).name
        in_scheme = question.c.task.startswith(f"{task_name}/", autoescape=True)
        query = query.where(or_(question.c.task == task_name, in_scheme))
    with reading_as_manager(engine, by) as connection:
        frame = pd.DataFrame(connection.execute(query).all(), columns=["task", *RATING])
    judged_tasks = sorted(frame["task"].unique())
    about = {"group": " about a group", "pair": " about an output"}.get(kind or "", "")
    about += f" of the task {task}" if task else ""
    if not judged_tasks:
        raise AuditError(
            f"people have judged no question{about} yet; serve the app with `audit app` and let them answer"
        )
    only_task(judged_tasks)
    unsure = frame["label"] == UNSURE
    notes = (message("note.unsure_left_out", count=int(unsure.sum()), whole=len(frame)),)
    frame = frame.loc[~unsure, RATING].astype({"item": str}).reset_index(drop=True)
    question_kind = kind or get_task(judged_tasks[0]).question_kind
    origin: dict[str, object] = {"task": judged_tasks[0]} | (
        {} if question_kind == "input" else {"about": f"{question_kind}s"}
    )
    return Rated(frame, labels_of(judged_tasks[0], question_kind), notes if unsure.any() else (), origin)


# What the questions serve, to tell agreement by relation, system and language.


def attributed(engine: Engine, by: Attribute) -> pd.DataFrame:
    """Return which relations or systems each question about an input serves, or in which languages each question is:
    columns item (its id, text) and value.

    A question serves the relations and systems of the drawn groups that have its input as a member; probes, whose
    outputs do not count, left out. One question may serve many.
    """
    if by == "language":
        asked = question.join(input_table, input_table.c.id == question.c.input_id)
        query: Any = select(question.c.id, input_table.c.languages).select_from(asked)
    else:
        serving = relation if by == "relation" else system
        key = (member.c.group_id // LIMIT) % LIMIT if by == "relation" else verdict.c.system_id
        satisfied = (verdict.c.group_id == member.c.group_id) & (verdict.c.outcome == int(Outcome.SATISFIED))
        query = (
            select(question.c.id, serving.c.name)
            .join(member, member.c.input_id == question.c.input_id)
            .join(draw, draw.c.source_id == member.c.group_id // LIMIT**2)
            .join(verdict, satisfied)
            .join(serving, serving.c.id == key)
            .where(member.c.role != "probe", question.c.kind == "input")
            .distinct()
        )
        if by == "relation":
            query = query.where(relation.c.task == question.c.task)
    with engine.connect() as connection:
        return pd.DataFrame(connection.execute(query).all(), columns=["item", "value"]).astype(str)


def attributed_outputs(engine: Engine, by: Literal["relation", "system"]) -> pd.DataFrame:
    """Return which relations or systems each question about an output serves: columns item (its id, text) and value.

    Those of the drawn groups in which a counted member got that very output; of a relation that carries answers, its
    follow-ups included.
    """
    pairs: set[tuple[str, str]] = set()
    with engine.connect() as connection:
        items = {subject: str(id) for id, subject in subjects_of(connection, ["pair"]).items()}
        names = dict(connection.execute(select(system.c.id, system.c.name)).all())
        for group in drawn_groups(connection, None) if items else ():
            value = group.relation if by == "relation" else names[group.system_id]
            pairs |= {(items[subject], value) for step in group.steps if (subject := group.subject(step)) in items}
    return pd.DataFrame(sorted(pairs), columns=["item", "value"])


# What each annotator alone would make of the drawn groups. Two people may disagree about a label and still agree that
# an output is wrong, or the other way round: what the rates are made of is the second, so agreement is measured on it.

FALSE, TRUE = "false", "true"
_OPINION = [*RATING, "cluster", "relation", "system", "language"]


def opinions(engine: Engine, task: str | None = None) -> Rated:
    """Return whether each drawn group is a false satisfaction, by the answers of one annotator at a time.

    Of the frame's rows item is a drawn group of one system, label `false` or `true`, cluster its source (groups of one
    source share questions, so they are not independent). A group counts for an annotator only where that annotator's
    answers, carried ones included, cover every member: one wrong output would settle a group as false after part of the
    answers, but never as true. Raises AuditError where nobody has judged, or no group is covered.
    """
    rated, answers = stored_ratings(engine, task), dict[str, dict[Subject, KnownAnswer]]()
    rows: list[tuple[object, ...]] = []
    with engine.connect() as connection:
        subject_of = {str(id): subject for id, subject in subjects_of(connection).items()}
        drawn = {(group.group_id, group.system_id): group for group in drawn_groups(connection, None)}
        systems = dict(connection.execute(select(system.c.id, system.c.name)).all())
        of_source = select(source.c.id, input_table.c.languages).join(
            input_table, input_table.c.id == source.c.input_id
        )
        sources = sorted({group // LIMIT**2 for group, _ in drawn})
        languages = dict(rows_among(connection, of_source, source.c.id, sources))
    for item, name, label in rated.frame[RATING].itertuples(index=False):
        if item in subject_of:
            answers.setdefault(name, {})[subject_of[item]] = KnownAnswer(frozenset({label}), "people")
    for name, own in answers.items():
        for group in drawn.values():
            if any(group.subject(step) in own for step in group.steps):
                settled = settle_group(group, own)
                if all(settled.origins):
                    label = FALSE if settled.state is State.FALSE else TRUE
                    cluster = group.group_id // LIMIT**2
                    key = f"{group.group_id}/{group.system_id}"
                    serves = (group.relation, systems[group.system_id], languages[cluster])
                    rows.append((key, name, label, cluster, *serves))
    if not rows:
        raise AuditError(message("cells.no_opinions"))
    note = (
        "A group counts for an annotator whose own answers cover all its members; groups of one source are a cluster."
    )
    frame = pd.DataFrame(rows, columns=_OPINION)
    return Rated(frame, (FALSE, TRUE), (*rated.notes, note), {**rated.origin, "about": "false satisfactions"})
