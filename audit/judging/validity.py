"""The validity study: it is drawn and ended by managers, and its ratings can be given elsewhere, in a CSV.

Ratings from a file are judgements of accounts of their own, disabled: a person's count as those of the app do; a
model's (role `model`) are kept apart from people's, fill no question, and are said to be a model's wherever shown.
"""

import csv
import io
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import Connection, Engine, select

from audit.annotation.accounts import MODEL, checked_name, note, reading_as_manager
from audit.annotation.answers import SCALES, UNSURE
from audit.annotation.questions import RATINGS
from audit.annotation.scales import drawn_members
from audit.errors import AuditError
from audit.files import read_table, refuse_bad_rows
from audit.judging.labels import add_votes, elsewhere_accounts
from audit.judging.samples import draw_work
from audit.judging.unit import unit_of_work
from audit.keys import uniform
from audit.messages import message
from audit.new_files import write_file
from audit.sampling.validity import DrawnPairs, ValidityRequest, draw_pairs, end_pairs
from audit.store import need_study, rows_among
from audit.store.core import input_table, question
from audit.tasks import text_columns

ID = "id"
"""The column of a file that names a text: the key of its content, 32 hexadecimal digits."""


def draw_validity(
    engine: Engine, request: ValidityRequest, study: int | None = None, *, by: int | None = None
) -> list[DrawnPairs]:
    """Draw pairs of a study, or of all that have checked groups, and ask people to rate their texts.

    Asked for by a manager (`by`, an account id; else NotAllowed) or by whoever has the database itself (None). Raises
    what `audit.sampling.validity.draw_pairs` raises; nothing is changed then.
    """
    with draw_work(engine, by) as work:
        drawn = draw_pairs(work.connection, request, study)
        note(work.connection, by, "validity drawn", pairs=sum(part.pairs for part in drawn))
        return drawn


def end_validity(engine: Engine, study: int | None = None, *, by: int | None = None) -> int:
    """Ask nobody to rate texts of a study (None: of any) any more; returns for how many studies that is new.

    Ratings stay, and drawing again goes on. Raises NotAllowed as `draw_validity`, and AuditError for no such study.
    """
    with draw_work(engine, by) as work:
        if study is not None:
            need_study(work.connection, study)
        ended = end_pairs(work.connection, None if study is None else [study])
        if ended:
            note(work.connection, by, "validity ended", studies=ended)
        return ended


def write_texts(engine: Engine, place: str | Path, *, by: int | None = None) -> int:
    """Write the texts of all drawn pairs to a CSV for whoever rates them elsewhere; returns how many there are.

    Columns: id, text (of an input of several texts also text_b ...), language, and the scales, which are empty. Each
    text once, in an order that follows a hash of its content; nothing says of which relation it is, or whether it is an
    original. Raises AuditError where nothing was drawn, BadFile for a place that cannot be written, and NotAllowed
    unless the account `by` is a manager's (None: whoever has the database itself).
    """
    with reading_as_manager(engine, by) as connection:
        ids = sorted({row["input_id"] for row in drawn_members(connection)})
        columns = select(input_table.c.id, input_table.c.key, input_table.c.texts, input_table.c.languages)
        rows = list(rows_among(connection, columns, input_table.c.id, ids))
    if not rows:
        raise AuditError(message("validity.none_drawn"))
    rows.sort(key=lambda row: uniform("rating", bytes(row.key).hex()))
    names = text_columns(max(len(row.texts) for row in rows))
    written = io.StringIO(newline="")
    table = csv.writer(written, lineterminator="\n")
    table.writerow([ID, *names, "language", *SCALES])
    for row in rows:
        texts = [*row.texts, *[""] * (len(names) - len(row.texts))]
        table.writerow([bytes(row.key).hex(), *texts, row.languages.split(",")[0], *[""] * len(SCALES)])
    write_file(place, written.getvalue())
    return len(rows)


@dataclass(frozen=True)
class ImportedRatings:
    """What an import of ratings did. `ratings` = added + changed + known."""

    annotator: str
    model: bool
    texts: int
    """Texts of the file with a rating."""
    ratings: int
    added: int
    changed: int
    """New judgements that supersede what the same annotator was imported with before."""
    known: int
    """Imported before, the same."""
    empty: int
    """Fields without a rating."""


@dataclass(frozen=True)
class RatingFile:
    """The rows of a file of ratings with their lines, and what is wrong with others, by line."""

    path: Path
    rows: list[tuple[int, dict[str, str]]]
    bad: list[tuple[int, str]]


def read_ratings_given(path: str | Path) -> RatingFile:
    """A table with the columns id, plausibility and grammaticality; others are ignored.

    Raises BadFile or BadRow for a file that cannot be read, or lacks columns.
    """
    path = Path(path)
    bad: list[tuple[int, str]] = []
    table = read_table(path, (ID, *SCALES), may_be_empty=(ID, *SCALES), bad=bad)
    return RatingFile(path, [*zip(table.index, table.to_dict("records"), strict=True)], bad)


def import_ratings(
    engine: Engine, file: RatingFile, annotator: str, *, model: bool = False, by: int | None = None
) -> ImportedRatings:
    """Store the ratings of a file as judgements of `annotator`, all or none; the same file again adds nothing.

    A rating is 1 to 5 or unsure; an empty field is none. With `model` they are those of a model, not of a person.
    Raises BadRow or BadFile for an unknown id, an id that is there twice or another rating (with the lines), AuditError
    for a name that cannot be used and where nothing was drawn; NotAllowed unless the account `by` is a manager's (None:
    whoever has the database itself).
    """
    with unit_of_work(engine, by, "manager", owner=True) as work:
        work.hold_all()
        connection = work.connection
        annotator = checked_name(annotator)
        rows, bad = file.rows, list(file.bad)
        questions = _questions(connection)
        ratings = list(_ratings(rows, questions, bad))
        refuse_bad_rows(file.path, bad, len(rows) + len(file.bad))
        account = elsewhere_accounts(connection, [annotator], MODEL if model else "annotator")[annotator]
        votes = {(account, question_id): (answer, None, None) for question_id, answer in ratings}
        added, changed = add_votes(work, votes, "validity import")
    rated = [sum(bool(row[name]) for name in SCALES) for _, row in rows]
    return ImportedRatings(
        annotator,
        model,
        texts=sum(map(bool, rated)),
        ratings=sum(rated),
        added=added,
        changed=changed,
        known=sum(rated) - added - changed,
        empty=len(rows) * len(SCALES) - sum(rated),
    )


def _questions(connection: Connection) -> dict[tuple[str, str], int]:
    """(id in a file, scale) -> question. Raises AuditError where there are none."""
    query = select(input_table.c.key, question.c.kind, question.c.id)
    query = query.join(question, question.c.input_id == input_table.c.id).where(question.c.kind.in_(SCALES))
    found = {(bytes(key).hex(), str(kind)): int(id) for key, kind, id in connection.execute(query)}
    if not found:
        raise AuditError(message("validity.none_drawn"))
    return found


def _ratings(
    rows: list[tuple[int, dict[str, str]]], questions: Mapping[tuple[str, str], int], bad: list[tuple[int, str]]
) -> Iterator[tuple[int, str]]:
    """(question, rating) of each field that has one; what is wrong goes to `bad`, with its line."""
    lines: dict[str, int] = {}
    for line, row in rows:
        id = row[ID].lower()
        if (id, SCALES[0]) not in questions:
            bad.append((line, message("validity.unknown_id", id=row[ID][:40])))
            continue
        if id in lines:
            bad.append((line, message("validity.twice", id=id, line=lines[id])))
            continue
        lines[id] = line
        for name in SCALES:
            rating = row[name].lower()
            if rating and rating not in (*RATINGS, UNSURE):
                bad.append((line, message("validity.bad_rating", scale=name, rating=rating[:40])))
            elif rating:
                yield questions[id, name], rating
