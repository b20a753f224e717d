"""Who gave which item which label: from a CSV, or from the judgements in a database."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import pandas as pd
from sqlalchemy import Connection, Engine, or_, select

from audit.annotation.accounts import require_manager
from audit.annotation.answers import UNSURE, is_vote
from audit.annotation.questions import ABOUT_OUTPUTS, labels_of
from audit.errors import AuditError, BadFile
from audit.files import read_table, read_text, refuse_bad_rows
from audit.keys import fingerprint
from audit.messages import joined, message
from audit.statistics.agreement import number_of
from audit.store import table_of, tables

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


def read_ratings(path: str | Path, also: Sequence[str] = ()) -> Rated:
    """The ratings of a UTF-8 CSV with the columns item, annotator, label and those of `also`; others are ignored.

    Raises BadFile when the file is missing, empty, not UTF-8 or lacks columns, BadRow for one row with an empty or
    missing field (file, line, column), and BadFile that lists the first ten where there are several.
    """
    path = Path(path)
    text = read_text(path)
    needed = [*RATING, *also]
    expected = message("file.needed", columns=needed)
    header, rows = read_table(path, text, expected)
    missing = [name for name in needed if name not in header]
    if missing:
        raise BadFile(
            message("file.advised", file=path, reason=message("file.columns_missing", columns=missing), advice=expected)
        )
    columns = [header.index(name) for name in needed]
    bad, ratings, lines = [], [], []
    for line, fields in rows:
        if len(fields) != len(header):
            bad.append((line, message("file.fields", count=len(fields), expected=len(header))))
            continue
        row = [fields[column] for column in columns]
        if not all(row):
            empty = needed[row.index("")]
            bad.append((line, message("ratings.empty_column", column=empty)))
        ratings.append(row)
        lines.append(line)
    refuse_bad_rows(path, bad, len(rows))
    frame = pd.DataFrame(ratings, columns=needed).assign(line=lines)
    return Rated(frame, None, (), {"file": path.name, "sha": fingerprint(text.splitlines())})


def once(rated: Rated, repeats: Repeats | None, path: str | Path) -> Rated:
    """One rating of each item by each annotator: the first, the last, or the most frequent (of ties the earliest).

    Without `repeats` an annotator who rates an item again is refused: BadRow or BadFile with the lines.
    """
    frame = rated.frame
    again = frame.duplicated(["item", "annotator"]).to_numpy()
    if not again.any():
        return rated
    if repeats is None:
        ways = joined("list.or", REPEATS)
        earlier = frame.groupby(["item", "annotator"], sort=False)["line"].transform("first")
        rows = frame.assign(earlier=earlier)[again][["line", "item", "annotator", "earlier"]].itertuples(index=False)
        bad = [
            (
                line,
                message("ratings.again", annotator=annotator, item=item, line=earlier, ways=ways),
            )
            for line, item, annotator, earlier in rows
        ]
        refuse_bad_rows(path, bad, len(frame), parameter="repeats")
    if repeats == "majority":
        votes = frame.groupby(["item", "annotator", "label"], sort=False)["line"].transform("size")
        most = votes.groupby([frame["item"], frame["annotator"]], sort=False).transform("max")
        frame = frame[votes == most]
    unique = frame.drop_duplicates(["item", "annotator"], keep="last" if repeats == "last" else "first")
    removed = len(rated.frame) - len(unique)
    note = message("ratings.repeats_left_out", count=removed, which=repeats)
    return Rated(
        unique.reset_index(drop=True), rated.labels, (*rated.notes, note), {**rated.origin, "repeats": repeats}
    )


def need_two(rated: Rated, path: str | Path) -> None:
    """Raise BadFile unless some item of a file was judged by two annotators or more."""
    frame = rated.frame
    first, last = frame.iloc[0], frame.iloc[-1]
    if frame["annotator"].nunique() < 2:
        raise BadFile(
            message(
                "ratings.one_annotator", file=path, first=first["line"], last=last["line"], annotator=first["annotator"]
            )
        )
    if frame.groupby("item")["annotator"].nunique().max() < 2:
        raise BadFile(
            message(
                "ratings.none_twice",
                file=path,
                first=first["line"],
                last=last["line"],
                item=first["item"],
                annotator=first["annotator"],
            )
        )


def need_numbers(rated: Rated, path: str | Path, level: str) -> None:
    """Raise BadRow or BadFile for rows of a file whose label is not a number, as this level needs."""
    rows = zip(rated.frame["line"], rated.frame["label"], strict=True)
    bad = [
        (line, message("ratings.no_number", label=label, level=level))
        for line, label in rows
        if number_of(label) is None
    ]
    refuse_bad_rows(path, bad, len(rated.frame), parameter="order")


def stored_ratings(
    engine: Engine, task: str | None = None, kind: Kind | None = None, *, by: int | None = None
) -> Rated:
    """People's judgements that count: first pass, not superseded, not withdrawn; `item` is the question's id.

    `task` may leave the label scheme out, where there is one. Questions are of one `kind`; None: about inputs or
    outputs, whichever the task asks about. Those about groups have labels of their own. "Unsure" is no label: such
    judgements are left out, and a note says how many. Gold is not a person. They name who gave them: for a manager
    (`by`, an account id; else NotAllowed) or for whoever has the database itself (None). Raises AuditError where nobody
    has judged anything, and where there are several tasks and none was chosen.
    """
    from audit.tasks import get_task

    judgement, annotator, question = (
        table_of(model) for model in (tables.Judgement, tables.Annotator, tables.Question)
    )
    query = (
        select(question.c.task, judgement.c.question_id, annotator.c.name, judgement.c.answer)
        .join(annotator, annotator.c.id == judgement.c.annotator_id)
        .join(question, question.c.id == judgement.c.question_id)
        .where(question.c.kind.in_(ABOUT_OUTPUTS if kind is None else (kind,)), is_vote(judgement))
        .order_by(judgement.c.id)
    )
    if task is not None:
        task_name = get_task(task).name
        query = query.where(
            or_(question.c.task == task_name, question.c.task.startswith(f"{task_name}/", autoescape=True))
        )
    with engine.connect() as connection:
        require_manager(connection, by)
        frame = pd.DataFrame(connection.execute(query).all(), columns=["task", *RATING])
    judged_tasks = sorted(frame["task"].unique())
    if not judged_tasks:
        about = [message(f"ratings.about_{kind}")] if kind in ("group", "pair") else []
        about += [message("ratings.of_task", task=task)] if task else []
        scope = joined("list.beside", about) if about else ""
        raise AuditError(message("ratings.none", scope=scope))
    if len(judged_tasks) > 1:
        raise AuditError(
            message("ratings.several_tasks", tasks=judged_tasks),
            parameter="task",
        )
    unsure = frame["label"] == UNSURE
    notes = (message("note.unsure_left_out", unsure=int(unsure.sum()), count=len(frame)),)
    frame = frame.loc[~unsure, RATING].astype({"item": str}).reset_index(drop=True)
    question_kind = kind or get_task(judged_tasks[0]).question_kind
    origin: dict[str, object] = {"task": judged_tasks[0]} | (
        {} if question_kind == "input" else {"about": f"{question_kind}s"}
    )
    return Rated(frame, labels_of(judged_tasks[0], question_kind), notes if unsure.any() else (), origin)


def attributed(engine: Engine, by: Attribute) -> pd.DataFrame:
    """Which relations or systems each question about an input serves, or in which languages each question is: columns
    item (its id, text) and value.

    A question serves the relations and systems of the drawn groups that have its input as a member; probes, whose
    outputs do not count, left out. One question may serve many. Which of them gave the output that a question is about
    is for `audit.false_satisfaction` to say, which reads outputs.
    """
    question, input_table = table_of(tables.Question), table_of(tables.Input)
    if by == "language":
        query = select(question.c.id, input_table.c.languages).join(
            input_table, input_table.c.id == question.c.input_id
        )
    else:
        draw, member = table_of(tables.Draw), table_of(tables.Member)
        named_table, key = (
            (table_of(tables.Relation), draw.c.relation_id)
            if by == "relation"
            else (table_of(tables.System), draw.c.system_id)
        )
        query = (
            select(question.c.id, named_table.c.name)
            .join(member, member.c.input_id == question.c.input_id)
            .join(draw, draw.c.group_id == member.c.group_id)
            .join(named_table, named_table.c.id == key)
            .where(member.c.role != "probe", question.c.kind == "input")
            .distinct()
        )
        if by == "relation":
            query = query.where(named_table.c.task == question.c.task)
    with engine.connect() as connection:
        return _texts(connection, query)


def _texts(connection: Connection, query: object) -> pd.DataFrame:
    rows = connection.execute(query).all()  # type: ignore[call-overload]
    return pd.DataFrame(rows, columns=["item", "value"]).astype(str)
