"""Tasks for Label Studio: its format, what is in them, and what comes back."""

import json
from xml.etree import ElementTree

from sqlalchemy import select

from audit.annotation.accounts import add_account
from audit.annotation.queue import next_question
from audit.annotation.words import set_words
from audit.judging.judgements import judge
from audit.judging.labels import import_labels, read_labels
from audit.judging.samples import draw_all
from audit.reports.exports.label_studio import to_label_studio
from audit.runner.imported import import_run, read_run
from audit.sampling.draw import SampleRequest, Size
from audit.store import open_store, table_of, tables


def tasks(folder):
    return json.loads((folder / "tasks.json").read_text(encoding="utf-8"))


def test_tasks_have_texts_and_annotations_and_no_outputs(judged, tmp_path):
    exported = to_label_studio(open_store(judged), tmp_path / "ls")
    written = tasks(tmp_path / "ls")
    assert (exported.tasks, exported.annotations) == (len(written), sum(len(task["annotations"]) for task in written))
    assert exported.annotations > exported.tasks > 0
    for task in written:
        assert list(task) == ["id", "data", "annotations", "predictions"]
        assert list(task["data"]) == ["text", "language", "audit_question"]
        assert task["predictions"] == []
        by = [annotation["completed_by"]["email"] for annotation in task["annotations"]]
        assert len(set(by)) == len(by)
    annotation = next(a for task in written for a in task["annotations"] if a["completed_by"]["email"] == "anna")
    result = annotation["result"][0]
    assert (result["from_name"], result["to_name"], result["type"]) == ("answer", "text", "choices")
    assert result["value"]["choices"][0] in ("positive", "neutral", "negative")
    assert (annotation["ground_truth"], annotation["was_cancelled"]) == (False, False)
    truths = {a["completed_by"]["email"] for task in written for a in task["annotations"] if a["ground_truth"]}
    assert truths == {"gold"}
    everything = (tmp_path / "ls/tasks.json").read_text(encoding="utf-8")
    for system in ("calm", "odd"):
        assert system not in everything


def test_what_comes_back_is_taken_once(judged, tmp_path, content):
    engine = open_store(judged)
    to_label_studio(engine, tmp_path / "ls")
    before = content(engine)
    imported = import_labels(engine, read_labels(tmp_path / "ls/tasks.json"))
    assert imported.labels == 0
    written = tasks(tmp_path / "ls")
    eve = {"completed_by": {"email": "eve@example.org"}, "was_cancelled": False}
    result = {
        "id": "x1",
        "from_name": "answer",
        "to_name": "text",
        "type": "choices",
        "value": {"choices": ["neutral"]},
    }
    for task in written[:3]:
        task["data"]["text"] = "The key of the question counts, not the text."
        task["annotations"].append(eve | {"result": [result]})
    (tmp_path / "back.json").write_text(json.dumps(written), encoding="utf-8")
    imported = import_labels(engine, read_labels(tmp_path / "back.json"))
    assert (imported.added, imported.annotators, imported.unmatched) == (3, ["eve@example.org"], {})
    assert len(content(engine)["judgement"]) == len(before["judgement"]) + 3


def test_several_labels_of_a_text_are_several_choices_and_come_back(tmp_path):
    engine = several(tmp_path / "audit.db")
    set_words(engine, MANY, {"labels": {"late": "Too late"}, "question": "What went wrong?"}, change=True)
    to_label_studio(engine, tmp_path / "ls")
    tree = ElementTree.parse(tmp_path / "ls/config.xml").getroot()
    assert tree.find("Header").get("value") == "What went wrong?"
    choices = tree.find("Choices")
    assert choices.get("choice") == "multiple"
    assert [(choice.get("value"), choice.get("alias")) for choice in choices] == [
        ("None of these", "none"), ("refund", None), ("Too late", "late"), ("rude", None), ("Unsure", "unsure"),
    ]  # fmt: skip
    exported = tasks(tmp_path / "ls")
    chosen = [annotation["result"][0]["value"]["choices"] for task in exported for annotation in task["annotations"]]
    assert chosen == [["late", "rude"]]
    annotation = exported[0]["annotations"][0]
    annotation["completed_by"] = {"email": "zoe"}
    annotation["result"][0] |= {"id": "new", "value": {"choices": ["rude", "refund"]}}
    file = tmp_path / "back.json"
    file.write_text(json.dumps(exported[:1]), encoding="utf-8")
    assert import_labels(engine, read_labels(file)).added == 1
    with engine.connect() as connection:
        answers = connection.execute(select(table_of(tables.Judgement).c.answer)).scalars().all()
    assert answers == ["late+rude", "refund+rude"]


MANY = "classification/refund+late+rude"


def several(path):
    """A database with questions about several labels, and one answer."""
    engine = open_store(str(path), create=True)
    rows = [
        {"task": MANY, "language": "en", "relation": "X", "system": "one", "source": text, "follow_ups": [f"{text}!"],
         "outputs": ["late", "late"], "verdict": "satisfied"}
        for text in ("It came late.", "The driver shouted.")
    ]  # fmt: skip
    file = path.with_suffix(".jsonl")
    file.write_text("\n".join(json.dumps(row) for row in rows), encoding="utf-8")
    import_run(engine, read_run(file))
    draw_all(engine, SampleRequest(Size(share=1.0)))
    ann = add_account(engine, "ann", "annotator", "long enough").id
    judge(engine, ann, next_question(engine, ann).id, "late+rude")
    return engine
