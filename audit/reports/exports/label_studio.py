"""Questions and judgements as tasks of Label Studio (https://labelstud.io/guide/task_format), and its labelling config.

What comes back is read by `audit import-labels`: each task carries the key of its question.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from pathlib import Path
from typing import Any
from xml.sax.saxutils import quoteattr

from sqlalchemy import Connection, Engine, select

from audit.annotation.answers import UNSURE, counts
from audit.annotation.questions import ABOUT_OUTPUTS
from audit.errors import AuditError
from audit.judging.labels import QUESTION, exported_id
from audit.reports.exports.writing import to_export
from audit.store import table_of, tables
from audit.store.bulk import BATCH
from audit.store.copying import in_utc
from audit.store.dump import spelled
from audit.tasks import Input, base_of, get_task, matches

CONTROL, OBJECT, OUTPUT = "answer", "text", "output"
"""Names of the tags of the labelling config."""
LANGUAGE, TARGET = "language", "target_language"
"""Names under which a task's data have the language of the text, and that it is translated into."""


@dataclass(frozen=True)
class Tasks:
    """What was written."""

    folder: Path
    tasks: int
    annotations: int


def to_label_studio(
    engine: Engine,
    folder: Path,
    *,
    task: str | None = None,
    salt: bytes | None = None,
    with_comments: bool = False,
    by: int | None = None,
) -> Tasks:
    """Write `tasks.json` and `config.xml` of the questions about inputs or outputs of one task into a new folder.

    Judgements that count (first pass, superseded by nothing, not withdrawn) are annotations, `completed_by` their
    annotator's name as an e-mail address, as Label Studio wants it; gold is `ground_truth`. There are no predictions:
    the only output of a system that is shown is the one that a question is about. `salt`, `with_comments` and `by` as
    in `export`. Raises AuditError where there are no questions, or several tasks and none was chosen.
    """
    with to_export(engine, folder, salt, with_comments, by) as (parts, copy):
        with copy.connect() as connection:
            of = get_task(_task(connection, task))
            number = annotations = 0
            with (parts / "tasks.json").open("w", encoding="utf-8", newline="\n") as file:
                for number, one in enumerate(_tasks(connection, of.name), start=1):
                    file.write("[\n" if number == 1 else ",\n")
                    file.write(json.dumps(one, ensure_ascii=False))
                    annotations += len(one["annotations"])
                file.write("\n]\n")
        translates = base_of(of.name) == "translation"
        config = config_of(of.question, (*of.labels, UNSURE), of.question_kind == "pair", translates)
        (parts / "config.xml").write_text(config, encoding="utf-8")
    return Tasks(folder, number, annotations)


def config_of(question: str, labels: tuple[str, ...], pairs: bool = False, translates: bool = False) -> str:
    """The labelling config of Label Studio: the text, with `pairs` the output under it, and one choice of the labels.

    Where an output is a translation (`translates`), the codes of the two languages stand above text and output.

    >>> "<Choice value=\\"positive\\"/>" in config_of("What is it?", ("positive", "negative"))
    True
    """
    choices = "".join(f"    <Choice value={quoteattr(label)}/>\n" for label in labels)
    above, under = (f'  <Header size="6" value="${name}"/>\n' if translates else "" for name in (LANGUAGE, TARGET))
    shown = f'{above}  <Text name="{OBJECT}" value="$text"/>\n'
    if pairs:
        shown += f'  <Header value="{OUTPUT.capitalize()}"/>\n{under}  <Text name="{OUTPUT}" value="${OUTPUT}"/>\n'
    return (
        f"<View>\n  <Header value={quoteattr(question)}/>\n{shown}"
        f'  <Choices name="{CONTROL}" toName="{OBJECT}" choice="single">\n{choices}  </Choices>\n</View>\n'
    )


def _task(connection: Connection, name: str | None) -> str:
    table = table_of(tables.Question)
    there = sorted({str(row[0]) for row in connection.execute(select(table.c.task).distinct())})
    if not there:
        raise AuditError("there are no questions yet; draw groups with `audit sample` first")
    wanted = [one for one in there if matches(one, name)]
    if len(wanted) > 1:
        raise AuditError(
            f"there are questions of several tasks: {', '.join(wanted)}; choose one with task=NAME", parameter="task"
        )
    return wanted[0] if wanted else get_task(str(name)).name


def _tasks(connection: Connection, task: str) -> Iterator[dict[str, Any]]:
    question, given = table_of(tables.Question), table_of(tables.Input)
    judgement, annotator = table_of(tables.Judgement), table_of(tables.Annotator)
    counting = (
        select(judgement, annotator.c.name, annotator.c.role)
        .join(annotator, annotator.c.id == judgement.c.annotator_id)
        .where(judgement.c.round == 1, counts(judgement))
        .subquery()
    )
    query = (
        select(
            question.c.id,
            question.c.key,
            question.c.output,
            given.c.texts,
            given.c.languages,
            counting.c.id.label("judgement"),
            counting.c.annotator_id,
            counting.c.name,
            counting.c.role,
            counting.c.answer,
            counting.c.comment,
            counting.c.shown_at,
            counting.c.decided_at,
        )
        .join(given, given.c.id == question.c.input_id)
        .outerjoin(counting, counting.c.question_id == question.c.id)
        .where(question.c.task == task, question.c.kind.in_(ABOUT_OUTPUTS))
        .order_by(question.c.id, counting.c.id)
    )
    rows = connection.execution_options(stream_results=True, yield_per=BATCH).execute(query).mappings()
    for id, some in groupby(rows, key=lambda row: row["id"]):
        votes = list(some)
        about = votes[0]
        yield {
            "id": id,
            "data": {
                "text": "\n\n".join(about["texts"]),
                **_languages(Input.stored(about["texts"], about["languages"])),
                QUESTION: bytes(about["key"]).hex(),
            }
            | ({} if about["output"] is None else {OUTPUT: about["output"]}),
            "annotations": [_annotation(vote) for vote in votes if vote["judgement"] is not None],
            "predictions": [],
        }


def _languages(given: Input) -> dict[str, str]:
    """Codes of the texts' languages, with commas between several; and where there is one, the target's by itself."""
    codes = {LANGUAGE: ",".join(given.languages[: len(given.texts)])}
    return codes if given.target is None else codes | {TARGET: given.target}


def _annotation(vote: Any) -> dict[str, Any]:
    decided, shown = in_utc(vote["decided_at"]), vote["shown_at"]
    result: dict[str, Any] = {
        "id": exported_id(vote["answer"]),
        "from_name": CONTROL,
        "to_name": OBJECT,
        "type": "choices",
        "value": {"choices": [vote["answer"]]},
    }
    if vote["comment"]:
        result["meta"] = {"text": [vote["comment"]]}
    return {
        "id": vote["judgement"],
        "completed_by": {"id": vote["annotator_id"], "email": vote["name"]},
        "created_at": spelled(decided),
        "lead_time": _lead(decided, shown),
        "was_cancelled": False,
        "ground_truth": vote["role"] == "gold",
        "result": [result],
    }


def _lead(decided: datetime, shown: datetime | None) -> float | None:
    return None if shown is None else round((decided - in_utc(shown)).total_seconds(), 3)
