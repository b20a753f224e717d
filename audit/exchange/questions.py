"""Questions for other tools: tasks of Label Studio (https://labelstud.io/guide/task_format), and pages with answers.

What comes back from Label Studio is read by `audit import-labels`: each task carries the key of its question.
"""

import json
from pathlib import Path
from typing import Any, Literal
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from sqlalchemy import Connection, Engine, exists, select, true

from audit.errors import AuditError
from audit.exchange.export import to_export
from audit.judging.accounts import reading_as
from audit.judging.answers import is_counted
from audit.judging.labels import QUESTION, exported_id
from audit.judging.words import words_of
from audit.store.copying import in_utc
from audit.store.core import annotator, answer, input_table, judge_answer, judgement, question
from audit.store.dump import spelled
from audit.studies.deviations import questions_of
from audit.tasks import Input, Task, base_of, get_task, lists_answers, matches, takes_several
from audit.tasks.classification import PLUS
from audit.tasks.questions import ABOUT_OUTPUTS, UNSURE

CONTROL, OBJECT, OUTPUT = "answer", "text", "output"
"""Names of the tags of the labelling config."""
LANGUAGE, TARGET = "language", "target_language"
"""Names under which a task's data have the language of the text, and that it is translated into."""
_ASKED = select(question, input_table.c.texts, input_table.c.languages).join(
    input_table, input_table.c.id == question.c.input_id
)
ASKED = "question"
"""And under which they have what is asked, in the words of its study."""


def to_label_studio(
    engine: Engine, folder: Path, *, task: str | None = None, salt: bytes | None = None, with_comments: bool = False
) -> tuple[int, int]:
    """Write `tasks.json` and `config.xml` of the questions about inputs or outputs of one task into a new folder;
    return the numbers of tasks and annotations.

    Judgements that count (first pass, superseded by nothing, not withdrawn) are annotations, `completed_by` their
    annotator's name as an e-mail address, as Label Studio wants it; gold is `ground_truth`. There are no predictions:
    the only output of a system that is shown is the one that a question is about. `salt` and `with_comments` as in
    `export`. Raises AuditError where there are no questions, or several tasks and none was chosen.
    """
    with to_export(engine, folder, salt, with_comments, None) as (parts, copy), copy.connect() as connection:
        definition = _chosen_task(connection, task)
        if not lists_answers(definition):
            what = f"the answers of {definition.name} are marks in a text, which the app takes"
            raise AuditError(f"{what}; what was marked in Label Studio comes back by --corpus label-studio:FILE")
        exported = _tasks(connection, definition.name)
        text = ",\n".join(json.dumps(entry, ensure_ascii=False) for entry in exported)
        (parts / "tasks.json").write_text(f"[\n{text}\n]\n", encoding="utf-8", newline="\n")
        (parts / "config.xml").write_text(_config(connection, definition), encoding="utf-8")
    return len(exported), sum(len(entry["annotations"]) for entry in exported)


def _chosen_task(connection: Connection, name: str | None) -> Task:
    present = sorted(connection.execute(select(question.c.task).distinct()).scalars())
    if not present:
        raise AuditError("there are no questions yet; draw groups with `audit sample` first")
    matching = [candidate for candidate in present if matches(candidate, name)]
    if len(matching) > 1:
        raise AuditError(
            f"there are questions of several tasks: {', '.join(matching)}; choose one with task=NAME", parameter="task"
        )
    return get_task(matching[0] if matching else str(name))


def _config(connection: Connection, task: Task) -> str:
    """Return the labelling config of a task in its English words, as this database has them: the text, under it the
    output where one is judged, and one choice of the labels, or any number where a text may have several.

    What comes back of a choice is the label, its `alias`. Of a translation the codes of the two languages stand above
    text and output.
    """
    words, several = words_of(connection).wording(task.name), takes_several([task.name])
    view = Element("View")
    shown = [(f"${ASKED}", LANGUAGE, OBJECT)]
    shown += [(words.output, TARGET, OUTPUT)] if task.question_kind == "pair" else []
    for header, language, name in shown:
        SubElement(view, "Header", value=header)
        if base_of(task.name) == "translation":
            SubElement(view, "Header", size="6", value=f"${language}")
        SubElement(view, "Text", name=name, value=f"${name}")
    choices = SubElement(view, "Choices", name=CONTROL, toName=OBJECT, choice="multiple" if several else "single")
    for label in (*task.labels, UNSURE):
        if not (several and PLUS in label):
            alias = {} if words.labels[label] == label else {"alias": label}
            SubElement(choices, "Choice", {"value": words.labels[label]} | alias)
    indent(view)
    return tostring(view, encoding="unicode") + "\n"


def _tasks(connection: Connection, task: str) -> list[dict[str, Any]]:
    of_task = (question.c.task == task, question.c.kind.in_(ABOUT_OUTPUTS))
    votes = (
        select(judgement, annotator.c.name, annotator.c.role)
        .join(annotator, annotator.c.id == judgement.c.annotator_id)
        .join(question, question.c.id == judgement.c.question_id)
        .where(*of_task, judgement.c.round == 1, is_counted(judgement))
        .order_by(judgement.c.id)
    )
    several, annotations = takes_several([task]), dict[int, list[dict[str, Any]]]()
    words = words_of(connection)
    for vote in connection.execute(votes):
        annotations.setdefault(vote.question_id, []).append(_annotation(vote, several))
    # Questions that were made for a judge that is a model are none of people's.
    for_model = exists().where(judge_answer.c.question_id == question.c.id)
    entries = []
    for row in connection.execute(_ASKED.add_columns(for_model.label("for_model")).where(*of_task).order_by("id")):
        if row.id not in annotations and row.priority is None and row.for_model:
            continue
        item = Input.stored(row.texts, row.languages)
        data: dict[str, Any] = {OBJECT: "\n\n".join(item.texts), LANGUAGE: ",".join(item.languages[: len(item.texts)])}
        data |= {TARGET: item.target, QUESTION: bytes(row.key).hex(), OUTPUT: row.output}
        data[ASKED] = words.wording(task, study_id=row.study_id).question
        filled = {name: value for name, value in data.items() if value is not None}
        entries.append({"id": row.id, "data": filled, "annotations": annotations.get(row.id, []), "predictions": []})
    return entries


def _annotation(vote: Any, several: bool) -> dict[str, Any]:
    decided_at = in_utc(vote.decided_at)
    seconds = vote.shown_at and round((decided_at - in_utc(vote.shown_at)).total_seconds(), 3)
    choices = vote.answer.split(PLUS) if several else [vote.answer]
    result = {"id": exported_id(vote.answer), "from_name": CONTROL, "to_name": OBJECT, "type": "choices"}
    result |= {"value": {"choices": choices}} | ({"meta": {"text": [vote.comment]}} if vote.comment else {})
    return {
        "id": vote.id, "completed_by": {"id": vote.annotator_id, "email": vote.name},
        "created_at": spelled(decided_at), "lead_time": seconds, "was_cancelled": False,
        "ground_truth": vote.role == "gold", "result": [result],
    }  # fmt: skip


# A page at a time: what a program of a team fetches again and again.

LARGEST_PAGE = 500
Which = Literal["all", "answered", "open"]
"""All questions, those that have an answer, or those that wait for one."""


def questions_page(
    engine: Engine,
    account_id: int,
    after: int = 0,
    limit: int = 100,
    *,
    which: Which = "all",
    study: int | None = None,
    origin: str | None = None,
) -> list[dict[str, Any]]:
    """Return the next questions with a number above `after`, at most `limit`, in the order of their numbers.

    Of one study, or all; `origin` names whose answers (adjudicated, people, gold) `which` is about. Each has how many
    people are asked (annotators), how many drawn groups wait for it (waits), and the right labels by origin (answers);
    nobody's name is in it. Raises NotAllowed for anyone but a manager.
    """
    of_origin = true() if origin is None else answer.c.origin == origin
    answered = exists().where(answer.c.question_id == question.c.id, of_origin)
    wanted = {"answered": answered, "open": ~answered & question.c.priority.is_not(None)}
    query = _ASKED.where(question.c.id > after, wanted.get(which, true()))
    query = query if study is None else query.where(question.c.id.in_(questions_of(study)))
    answers: dict[int, dict[str, list[str]]] = {}
    with reading_as(engine, account_id, "manager") as connection:
        rows = connection.execute(query.order_by(question.c.id).limit(min(limit, LARGEST_PAGE))).all()
        among = select(answer).where(answer.c.question_id.in_([row.id for row in rows]))
        for settled in connection.execute(among.order_by(answer.c.question_id, answer.c.origin)):
            answers.setdefault(settled.question_id, {})[settled.origin] = list(settled.allowed)
    kept = ("id", "task", "kind", "output", "annotators", "waits", "filled")
    return [
        {name: getattr(row, name) for name in kept}
        | {"answers": answers.get(row.id, {}), "texts": row.texts}
        | {"languages": Input.stored(row.texts, row.languages).languages}
        for row in rows
    ]
