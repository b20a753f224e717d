"""Tasks for Label Studio: its format, what is in them, and what comes back."""

import json
from xml.etree import ElementTree

from audit.exchange.questions import to_label_studio
from audit.judging.labels import import_labels, read_labels
from audit.store import open_store


def tasks(folder):
    return json.loads((folder / "tasks.json").read_text(encoding="utf-8"))


def test_tasks_have_texts_and_annotations_and_no_outputs(judged, tmp_path):
    number, annotations = to_label_studio(open_store(judged), tmp_path / "ls")
    written = tasks(tmp_path / "ls")
    assert (number, annotations) == (len(written), sum(len(task["annotations"]) for task in written))
    assert annotations > number > 0
    for task in written:
        assert list(task["data"]) == ["text", "language", "audit_question", "question"]
        by = [annotation["completed_by"]["email"] for annotation in task["annotations"]]
        assert len(set(by)) == len(by)
    truths = {a["completed_by"]["email"] for task in written for a in task["annotations"] if a["ground_truth"]}
    assert truths == {"gold"}
    view = ElementTree.parse(tmp_path / "ls/config.xml").getroot()
    assert view[2].attrib == {"name": "answer", "toName": "text", "choice": "single"}
    assert [choice.get("alias", choice.get("value")) for choice in view[2]][2:] == ["negative", "unsure"]
    everything = (tmp_path / "ls/tasks.json").read_text(encoding="utf-8")
    assert not any(system in everything for system in ("calm", "odd"))


def test_what_comes_back_is_taken_once(judged, tmp_path, content):
    engine = open_store(judged)
    to_label_studio(engine, tmp_path / "ls")
    before = content(engine)
    assert import_labels(engine, read_labels(tmp_path / "ls/tasks.json")).labels == 0
    written = tasks(tmp_path / "ls")
    eve = {"completed_by": {"email": "eve@example.org"}, "was_cancelled": False}
    result = {"id": "x1", "from_name": "answer", "to_name": "text", "type": "choices"}
    result["value"] = {"choices": ["neutral"]}
    for task in written[:3]:
        task["data"]["text"] = "The key of the question counts, not the text."
        task["annotations"].append(eve | {"result": [result]})
    (tmp_path / "back.json").write_text(json.dumps(written), encoding="utf-8")
    imported = import_labels(engine, read_labels(tmp_path / "back.json"))
    assert (imported.added, imported.annotators, imported.unmatched) == (3, ["eve@example.org"], {})
    assert len(content(engine)["judgement"]) == len(before["judgement"]) + 3
