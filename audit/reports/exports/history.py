"""The history of answers for people: one wide CSV of judgements, one of adjudications.

They repeat what the tables say; an import reads the tables.
"""

import csv
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sqlalchemy import ColumnElement, Connection, Table, exists, select

from audit.annotation.answers import WITHDRAWN
from audit.store import table_of, tables
from audit.store.bulk import BATCH
from audit.store.copying import in_utc
from audit.store.dump import spelled

_QUESTION = {
    "question": "number of the question",
    "task": "the task",
    "kind": "what is asked about: an input, an (input, output) pair, or a group",
    "text": "the input's text, its first where it has several",
    "more_texts": "the other texts, a JSON list; empty where there are none",
    "languages": "language codes of the texts",
    "output": "the output asked about; empty where the question is about the input",
}
JUDGEMENTS = {
    "judgement": "number of the judgement",
    **_QUESTION,
    "annotator": "who answered",
    "role": "annotator, adjudicator, manager or gold",
    "pass": "1; hidden repeats are later passes",
    "answer": "a label, unsure, or withdrawn",
    "counts": "yes: of the first pass, superseded by nothing, not withdrawn",
    "supersedes": "number of the judgement that this one replaces",
    "saw": "judged seeing what counted up to this judgement of somebody else; empty: judged blind",
    "guideline": "version of the guideline; 0: answered without ours",
    "shown_at": "when the question was shown, UTC",
    "decided_at": "when the answer was given, UTC",
    "seconds": "from shown to decided",
    "comment": "the annotator's",
}
ADJUDICATIONS = {
    "adjudication": "number of the adjudication",
    **_QUESTION,
    "adjudicator": "who settled it",
    "allowed": "the labels allowed, with | between them",
    "reason": "why",
    "decided_at": "when, UTC; the last one of a question counts",
}


def write_history(connection: Connection, folder: Path) -> dict[str, dict[str, str]]:
    """Write judgements.csv and adjudications.csv (UTF-8, one header); returns what their columns are, by file."""
    _write(folder / "judgements.csv", JUDGEMENTS, _judgements(connection))
    _write(folder / "adjudications.csv", ADJUDICATIONS, _adjudications(connection))
    return {"judgements.csv": JUDGEMENTS, "adjudications.csv": ADJUDICATIONS}


def _write(path: Path, columns: dict[str, str], rows: Iterator[dict[str, Any]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        # Lines end as RFC 4180 has it: only then does Python quote a text with a carriage return in it.
        writer = csv.DictWriter(file, list(columns), lineterminator="\r\n")
        writer.writeheader()
        writer.writerows(rows)


def _judgements(connection: Connection) -> Iterator[dict[str, Any]]:
    judgement = table_of(tables.Judgement)
    superseded = exists().where(judgement.alias("later").c.supersedes == judgement.c.id).label("superseded")
    for row in _with_question(connection, judgement, superseded):
        decided = in_utc(row["decided_at"])
        shown = in_utc(row["shown_at"]) if row["shown_at"] is not None else None
        counts = row["round"] == 1 and not row["superseded"] and row["answer"] != WITHDRAWN
        yield _about(row) | {
            "judgement": row["id"],
            "annotator": row["annotator"],
            "role": row["role"],
            "pass": row["round"],
            "answer": row["answer"],
            "counts": "yes" if counts else "no",
            "supersedes": row["supersedes"],
            "saw": row["saw"],
            "guideline": row["guideline"],
            "shown_at": spelled(shown) if shown else None,
            "decided_at": spelled(decided),
            "seconds": round((decided - shown).total_seconds(), 3) if shown else None,
            "comment": row["comment"],
        }


def _adjudications(connection: Connection) -> Iterator[dict[str, Any]]:
    for row in _with_question(connection, table_of(tables.Adjudication)):
        yield _about(row) | {
            "adjudication": row["id"],
            "adjudicator": row["annotator"],
            "allowed": "|".join(row["allowed"]),
            "reason": row["reason"],
            "decided_at": spelled(in_utc(row["decided_at"])),
        }


def _with_question(connection: Connection, table: Table, *also: ColumnElement[Any]) -> Iterator[Any]:
    """Rows of a history table with their annotator and what was asked, in the order of their number."""
    question, given, annotator = table_of(tables.Question), table_of(tables.Input), table_of(tables.Annotator)
    query = (
        select(
            table,
            *also,
            annotator.c.name.label("annotator"),
            annotator.c.role,
            question.c.task,
            question.c.kind,
            question.c.output,
            given.c.texts,
            given.c.languages,
        )
        .join(question, question.c.id == table.c.question_id)
        .join(given, given.c.id == question.c.input_id)
        .join(annotator, annotator.c.id == table.c.annotator_id)
        .order_by(table.c.id)
    )
    yield from connection.execution_options(stream_results=True, yield_per=BATCH).execute(query).mappings()


def _about(row: Any) -> dict[str, Any]:
    first, *others = row["texts"]
    return {
        "question": row["question_id"],
        "task": row["task"],
        "kind": row["kind"],
        "text": first,
        "more_texts": json.dumps(others, ensure_ascii=False) if others else None,
        "languages": row["languages"],
        "output": row["output"],
    }
