"""`audit export`: everything in a database, as files that people read and files that a database is made from."""

import csv
import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlalchemy import ColumnElement, Connection, Engine, Table, exists, select

import audit
from audit.annotation.accounts import require_manager
from audit.annotation.answers import WITHDRAWN
from audit.annotation.causes import current_causes
from audit.annotation.ratings import stored_ratings
from audit.errors import AuditError
from audit.new_files import new_folder
from audit.reports.agreement import agreement_report
from audit.reports.study import study_report
from audit.store import table_of, tables
from audit.store.bulk import BATCH
from audit.store.copying import in_utc, private_copy
from audit.store.dump import described, left_out, pseudonymise, seal, spelled, write_tables
from audit.tasks import Input

# The documents with published numbers that an export has in it: what `audit replay` recomputes.

DOCUMENTS: dict[str, Callable[[Engine], Mapping[str, Any]]] = {
    "report.json": study_report,
    "agreement.json": lambda engine: agreement_report(stored_ratings(engine)),
}
"""By file: how the document is made from a database, with the settings that a command has by default."""


def document(name: str, engine: Engine) -> Mapping[str, Any] | None:
    """A document of a database; None where there is nothing yet to say (nothing checked, fewer than two annotators)."""
    try:
        return DOCUMENTS[name](engine)
    except AuditError:
        return None


def written(document: Mapping[str, Any]) -> str:
    """A document as a file has it; the command `audit report` prints the same as JSON."""
    return json.dumps(document, ensure_ascii=False, allow_nan=False, indent=2) + "\n"


# The history of answers for people: wide CSVs of judgements, adjudications and causes.
#
# They repeat what the tables say; an import reads the tables.

_QUESTION = {
    "question": "number of the question",
    "task": "the task",
    "kind": "what is asked about: an input, an (input, output) pair, or a group",
    "text": "the input's text, its first where it has several",
    "more_texts": "the other texts, a JSON list; empty where there are none",
    "languages": "language codes of the texts",
    "target_language": "code of the language that the text is translated into; empty where nothing is translated",
    "output": "the output asked about; empty where the question is about the input",
}
JUDGEMENTS = {
    "judgement": "number of the judgement",
    **_QUESTION,
    "annotator": "who answered",
    "role": "annotator, adjudicator, manager or gold",
    "pass": "1; 0: training, 2: a hidden repeat, 3: a hidden question whose answer is known",
    "answer": "a label, unsure, or withdrawn",
    "counts": "yes: of the first pass, superseded by nothing, not withdrawn",
    "supersedes": "number of the judgement that this one replaces",
    "compared": "judged with what differs from the text of this judgement, the one before, marked; empty: unmarked",
    "guideline": "version of the guideline; 0: answered without ours",
    "shown_at": "when the question was shown, UTC",
    "decided_at": "when the answer was given, UTC",
    "seconds": "from shown to decided",
    "comment": "the annotator's; of an answer that a manager let go stale, why",
    "withdrawn_by": "of a row withdrawn: the manager who let the answer go stale; empty: its annotator took it back",
    "client": "with what it was given: the app's version and the browser, or the command",
}
ADJUDICATIONS = {
    "adjudication": "number of the adjudication",
    **_QUESTION,
    "adjudicator": "who settled it",
    "allowed": "the labels allowed, with | between them; empty: takes back the adjudication before it",
    "code": "why people disagreed, a word of a list; empty: a spot check, or only the reason says",
    "reason": "why, in words",
    "guideline": "version of the guideline; empty: settled before versions were kept",
    "decided_at": "when, UTC; the last one of a question counts",
}
CAUSES = {
    "cause": "number of the row",
    "group": "number of the group",
    "relation": "its relation",
    "system": "the system that satisfied it falsely",
    "version": "of the system",
    "row": "row of the corpus",
    "text": "the source's text, its first where it has several",
    "annotator": "who said it",
    "code": "the cause, a word of a list, or taken_back, which takes back the last one of the same person and group",
    "comment": "in words",
    "counts": "yes: the last one of its group and system that was not taken back",
    "at": "when, UTC",
}


def write_history(connection: Connection, folder: Path) -> dict[str, dict[str, str]]:
    """Write the CSVs of the history (UTF-8, one header); returns what their columns are, by file."""
    _write_rows(folder / "judgements.csv", JUDGEMENTS, _judgements(connection))
    _write_rows(folder / "adjudications.csv", ADJUDICATIONS, _adjudications(connection))
    _write_rows(folder / "causes.csv", CAUSES, _causes(connection))
    return {"judgements.csv": JUDGEMENTS, "adjudications.csv": ADJUDICATIONS, "causes.csv": CAUSES}


def _write_rows(path: Path, columns: dict[str, str], rows: Iterator[dict[str, Any]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        # Lines end as RFC 4180 has it: only then does Python quote a text with a carriage return in it.
        writer = csv.DictWriter(file, list(columns), lineterminator="\r\n")
        writer.writeheader()
        writer.writerows(rows)


def _judgements(connection: Connection) -> Iterator[dict[str, Any]]:
    judgement = table_of(tables.Judgement)
    superseded = exists().where(judgement.alias("later").c.supersedes == judgement.c.id).label("superseded")
    manager = table_of(tables.Annotator).alias("manager")
    withdrawer = select(manager.c.name).where(manager.c.id == judgement.c.withdrawn_by).scalar_subquery()
    for row in _history_rows(connection, judgement, superseded, withdrawer.label("withdrawer")):
        decided_at = in_utc(row["decided_at"])
        shown_at = in_utc(row["shown_at"]) if row["shown_at"] is not None else None
        counts = row["round"] == 1 and not row["superseded"] and row["answer"] != WITHDRAWN
        yield _question_fields(row) | {
            "judgement": row["id"],
            "annotator": row["annotator"],
            "role": row["role"],
            "pass": row["round"],
            "answer": row["answer"],
            "counts": "yes" if counts else "no",
            "supersedes": row["supersedes"],
            "compared": row["compared"],
            "guideline": row["guideline"],
            "shown_at": spelled(shown_at) if shown_at else None,
            "decided_at": spelled(decided_at),
            "seconds": round((decided_at - shown_at).total_seconds(), 3) if shown_at else None,
            "comment": row["comment"],
            "withdrawn_by": row["withdrawer"],
            "client": row["client"],
        }


def _adjudications(connection: Connection) -> Iterator[dict[str, Any]]:
    for row in _history_rows(connection, table_of(tables.Adjudication)):
        yield _question_fields(row) | {
            "adjudication": row["id"],
            "adjudicator": row["annotator"],
            "allowed": "|".join(row["allowed"]),
            "code": row["code"],
            "reason": row["reason"],
            "guideline": row["guideline"],
            "decided_at": spelled(in_utc(row["decided_at"])),
        }


def _causes(connection: Connection) -> Iterator[dict[str, Any]]:
    cause, group, relation = (table_of(model) for model in (tables.Cause, tables.Group, tables.Relation))
    system, source, input_ = (table_of(model) for model in (tables.System, tables.Source, tables.Input))
    annotator = table_of(tables.Annotator)
    counting = {standing.id for standing in current_causes(connection).values()}
    query = (
        select(
            cause,
            relation.c.name.label("relation"),
            system.c.name.label("system"),
            system.c.version,
            source.c.row,
            input_.c.texts,
            annotator.c.name.label("annotator"),
        )
        .join(group, group.c.id == cause.c.group_id)
        .join(relation, relation.c.id == group.c.relation_id)
        .join(system, system.c.id == cause.c.system_id)
        .join(source, source.c.id == group.c.source_id)
        .join(input_, input_.c.id == source.c.input_id)
        .join(annotator, annotator.c.id == cause.c.annotator_id)
        .order_by(cause.c.id)
    )
    for row in connection.execute(query).mappings():
        yield {name: row[name] for name in ("relation", "system", "version", "row", "annotator", "code", "comment")} | {
            "cause": row["id"],
            "group": row["group_id"],
            "text": row["texts"][0],
            "counts": "yes" if row["id"] in counting else "no",
            "at": spelled(in_utc(row["at"])),
        }


def _history_rows(connection: Connection, table: Table, *also: ColumnElement[Any]) -> Iterator[Any]:
    """Rows of a history table with their annotator and what was asked, in the order of their number."""
    question, input_, annotator = table_of(tables.Question), table_of(tables.Input), table_of(tables.Annotator)
    query = (
        select(
            table,
            *also,
            annotator.c.name.label("annotator"),
            annotator.c.role,
            question.c.task,
            question.c.kind,
            question.c.output,
            input_.c.texts,
            input_.c.languages,
        )
        .join(question, question.c.id == table.c.question_id)
        .join(input_, input_.c.id == question.c.input_id)
        .join(annotator, annotator.c.id == table.c.annotator_id)
        .order_by(table.c.id)
    )
    yield from connection.execution_options(stream_results=True, yield_per=BATCH).execute(query).mappings()


def _question_fields(row: Any) -> dict[str, Any]:
    first, *others = row["texts"]
    input_ = Input.stored(row["texts"], row["languages"])
    return {
        "question": row["question_id"],
        "task": row["task"],
        "kind": row["kind"],
        "text": first,
        "more_texts": json.dumps(others, ensure_ascii=False) if others else None,
        "languages": ",".join(input_.languages[: len(input_.texts)]),
        "target_language": input_.target,
        "output": row["output"],
    }


FORMAT = 1
"""Of the manifest and of the files. Another number is another way to read them."""
MANIFEST = "manifest.json"


@dataclass(frozen=True)
class Exported:
    """What an export has in it."""

    folder: Path
    seal: str
    rows: int
    tables: Mapping[str, int]
    """Rows by table."""
    documents: tuple[str, ...]
    pseudonymised: bool
    free_text: bool
    """Whether comments and reasons are in it."""


def export(
    engine: Engine,
    folder: Path,
    *,
    salt: bytes | None = None,
    with_comments: bool = False,
    by: int | None = None,
) -> Exported:
    """Write a database into a new folder, or none at all.

    With a `salt` the names of people are pseudonyms and what they wrote freely is left out (`with_comments` keeps it).
    The export is of one moment, while others go on judging; the same content gives the same bytes. `by` is the account
    of the manager who asks, None whoever has the database itself. Raises NotAllowed for another role, BadFile where the
    folder has something in it or cannot be written.
    """
    with to_export(engine, folder, salt, with_comments, by) as (parts, copy):
        manifest = _write(copy, parts, salt is not None, salt is None or with_comments)
    rows = {name: int(entry["rows"]) for name, entry in manifest["tables"].items()}
    return Exported(
        folder,
        manifest["seal"],
        sum(rows.values()),
        rows,
        tuple(manifest["documents"]),
        manifest["pseudonymised"],
        manifest["free_text"],
    )


def _write(engine: Engine, folder: Path, pseudonymised: bool, free_text: bool) -> dict[str, Any]:
    with engine.connect() as connection:
        entries = write_tables(connection, folder)
        columns = write_history(connection, folder)
    documents = []
    for name in DOCUMENTS:
        computed = document(name, engine)
        if computed is not None:
            (folder / name).write_text(written(computed), encoding="utf-8")
            documents.append(name)
    files = [*(entry["file"] for entry in entries.values()), *columns, *documents]
    manifest: dict[str, Any] = {
        "format": FORMAT,
        "audit": audit.__version__,
        "schema": tables.SCHEMA_VERSION,
        "pseudonymised": pseudonymised,
        "free_text": free_text,
        "left_out": left_out(),
        "tables": entries,
        "history": columns,
        "documents": documents,
        "files": {name: described(folder / name) for name in sorted(files)},
    }
    manifest["seal"] = seal(manifest)
    (folder / MANIFEST).write_text(json.dumps(manifest, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    return manifest


@contextmanager
def to_export(
    engine: Engine, folder: Path, salt: bytes | None, with_comments: bool, by: int | None
) -> Iterator[tuple[Path, Engine]]:
    """A place for the files of a new folder, and a copy of the database of one moment, pseudonymised with a `salt`.

    Every format of an export begins here: its arguments, and what it raises, are those of `export`.
    """
    with engine.connect() as connection:
        require_manager(connection, by)
    # The files may name people.
    with new_folder(folder, private=True) as parts, private_copy(engine, parts) as copy:
        if salt is not None:
            with copy.begin() as connection:
                pseudonymise(connection, salt, with_comments)
        yield parts, copy
