"""Questions and judgements as tasks of Label Studio (https://labelstud.io/guide/task_format), and its labelling config.

What comes back is read by `audit import-labels`: each task carries the key of its question.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from pathlib import Path
from typing import Any
from xml.sax.saxutils import quoteattr

from sqlalchemy import Connection, Engine, exists, or_, select

from audit.annotation.answers import UNSURE, is_counted
from audit.annotation.questions import ABOUT_OUTPUTS
from audit.annotation.words import own_words
from audit.errors import AuditError
from audit.judging.labels import QUESTION, exported_id
from audit.reports.exports.writing import to_export
from audit.store import table_of, tables
from audit.store.bulk import BATCH
from audit.store.copying import in_utc
from audit.store.dump import spelled
from audit.tasks import Input, Task, base_of, get_task, matches, takes_several, wording
from audit.tasks.classification import PLUS

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
            definition = get_task(_chosen_task(connection, task))
            number = annotations = 0
            with (parts / "tasks.json").open("w", encoding="utf-8", newline="\n") as file:
                for number, exported in enumerate(_tasks(connection, definition.name), start=1):
                    file.write("[\n" if number == 1 else ",\n")
                    file.write(json.dumps(exported, ensure_ascii=False))
                    annotations += len(exported["annotations"])
                file.write("\n]\n")
            config = _config(connection, definition)
        (parts / "config.xml").write_text(config, encoding="utf-8")
    return Tasks(folder, number, annotations)


def config_of(
    question: str, labels: Mapping[str, str], output: str = "", *, translates: bool = False, several: bool = False
) -> str:
    """The labelling config of Label Studio: the text, under it the `output` by this name where one is judged, and one
    choice of the labels, or any number of them where a text may have `several`.

    `labels` says how each label reads; what comes back is the label (its `alias` in the config). Where an output is a
    translation (`translates`), the codes of the two languages stand above text and output.

    >>> '<Choice value="Good" alias="positive"/>' in config_of("How is it?", {"positive": "Good", "negative": "Bad"})
    True
    """
    choices = "".join(
        f"    <Choice value={quoteattr(words)}{'' if words == label else f' alias={quoteattr(label)}'}/>\n"
        for label, words in labels.items()
    )
    above, under = (f'  <Header size="6" value="${name}"/>\n' if translates else "" for name in (LANGUAGE, TARGET))
    tags = f'{above}  <Text name="{OBJECT}" value="$text"/>\n'
    if output:
        tags += f'  <Header value={quoteattr(output)}/>\n{under}  <Text name="{OUTPUT}" value="${OUTPUT}"/>\n'
    number = "multiple" if several else "single"
    return (
        f"<View>\n  <Header value={quoteattr(question)}/>\n{tags}"
        f'  <Choices name="{CONTROL}" toName="{OBJECT}" choice="{number}">\n{choices}  </Choices>\n</View>\n'
    )


def _config(connection: Connection, task: Task) -> str:
    """The config of a task in its English words, as this database has them."""
    words = wording(task.name, own=own_words(connection, task.name))
    several = takes_several([task.name])
    labels = [label for label in (*task.labels, UNSURE) if not (several and PLUS in label)]
    return config_of(
        words.question,
        {label: words.labels[label] for label in labels},
        words.output if task.question_kind == "pair" else "",
        translates=base_of(task.name) == "translation",
        several=several,
    )


def _chosen_task(connection: Connection, name: str | None) -> str:
    table = table_of(tables.Question)
    present = sorted({str(row[0]) for row in connection.execute(select(table.c.task).distinct())})
    if not present:
        raise AuditError("there are no questions yet; draw groups with `audit sample` first")
    matching = [candidate for candidate in present if matches(candidate, name)]
    if len(matching) > 1:
        raise AuditError(
            f"there are questions of several tasks: {', '.join(matching)}; choose one with task=NAME", parameter="task"
        )
    return matching[0] if matching else get_task(str(name)).name


def _tasks(connection: Connection, task: str) -> Iterator[dict[str, Any]]:
    question, input_ = table_of(tables.Question), table_of(tables.Input)
    judgement, annotator = table_of(tables.Judgement), table_of(tables.Annotator)
    counting = (
        select(judgement, annotator.c.name, annotator.c.role)
        .join(annotator, annotator.c.id == judgement.c.annotator_id)
        .where(judgement.c.round == 1, is_counted(judgement))
        .subquery()
    )
    given = table_of(tables.JudgeAnswer)
    asked_of_judge = exists().where(given.c.question_id == question.c.id)
    query = (
        select(
            question.c.id,
            question.c.key,
            question.c.output,
            input_.c.texts,
            input_.c.languages,
            counting.c.id.label("judgement"),
            counting.c.annotator_id,
            counting.c.name,
            counting.c.role,
            counting.c.answer,
            counting.c.comment,
            counting.c.shown_at,
            counting.c.decided_at,
        )
        .join(input_, input_.c.id == question.c.input_id)
        .outerjoin(counting, counting.c.question_id == question.c.id)
        .where(question.c.task == task, question.c.kind.in_(ABOUT_OUTPUTS))
        # Questions that were made for a judge that is a model wait for nobody, and are none of people's.
        .where(or_(question.c.priority.is_not(None), counting.c.id.is_not(None), ~asked_of_judge))
        .order_by(question.c.id, counting.c.id)
    )
    several = takes_several([task])
    rows = connection.execution_options(stream_results=True, yield_per=BATCH).execute(query).mappings()
    for id, question_rows in groupby(rows, key=lambda row: row["id"]):
        votes = list(question_rows)
        about = votes[0]
        yield {
            "id": id,
            "data": {
                "text": "\n\n".join(about["texts"]),
                **_languages(Input.stored(about["texts"], about["languages"])),
                QUESTION: bytes(about["key"]).hex(),
            }
            | ({} if about["output"] is None else {OUTPUT: about["output"]}),
            "annotations": [_annotation(vote, several) for vote in votes if vote["judgement"] is not None],
            "predictions": [],
        }


def _languages(input_: Input) -> dict[str, str]:
    """Language codes of the texts, joined by commas, and that of the target if there is one."""
    codes = {LANGUAGE: ",".join(input_.languages[: len(input_.texts)])}
    return codes if input_.target is None else codes | {TARGET: input_.target}


def _annotation(vote: Any, several: bool) -> dict[str, Any]:
    decided_at, shown_at = in_utc(vote["decided_at"]), vote["shown_at"]
    result: dict[str, Any] = {
        "id": exported_id(vote["answer"]),
        "from_name": CONTROL,
        "to_name": OBJECT,
        "type": "choices",
        "value": {"choices": vote["answer"].split(PLUS) if several else [vote["answer"]]},
    }
    if vote["comment"]:
        result["meta"] = {"text": [vote["comment"]]}
    return {
        "id": vote["judgement"],
        "completed_by": {"id": vote["annotator_id"], "email": vote["name"]},
        "created_at": spelled(decided_at),
        "lead_time": _lead_time(decided_at, shown_at),
        "was_cancelled": False,
        "ground_truth": vote["role"] == "gold",
        "result": [result],
    }


def _lead_time(decided_at: datetime, shown_at: datetime | None) -> float | None:
    return None if shown_at is None else round((decided_at - in_utc(shown_at)).total_seconds(), 3)
