"""Training data: settled texts with their labels, each source in one split, and nothing of people."""

import json

import pandas as pd
import pytest

import audit
from audit import registry
from audit.errors import AuditError, BadFile
from audit.exchange.training import write_training

TASK = "classification/good,bad"


@pytest.fixture(scope="module", autouse=True)
def relations():
    """One relation that carries every label, and one that carries `good`."""
    with registry.relations.restored():
        audit.relation("loud", task="classification", check=audit.equivalent, preserves="label")(loud)
        audit.relation("so", task="classification", check=audit.equivalent, preserves=["good"])(so)
        yield


def loud(text):
    """Capitals."""
    return text.upper()


def so(text):
    """A word."""
    return f"{text} so"


def judge_by_case(text):
    """Good in lower case where the text says so, bad in capitals."""
    return "good" if "fine" in text else "bad"


TEXTS = [(f"film {name} was {word}", gold) for name in "abcdefgh" for word, gold in (("fine", "good"), ("dull", "bad"))]


def study(corpus=TEXTS, names=("loud", "so"), store="sqlite://"):
    return audit.run(corpus, [judge_by_case], list(names), task=TASK, progress=False, store=store)


def exported(made, folder, **request):
    written = write_training(made.engine, folder, **request)
    lines = (folder / "texts.jsonl").read_text(encoding="utf-8").splitlines()
    return written, {entry["texts"][0]: entry for entry in map(json.loads, lines)}


def test_follow_ups_have_the_carried_label_and_who_was_wrong(tmp_path):
    written, texts = exported(study(), tmp_path / "out", test_share=0.3)
    loud_one = texts["FILM A WAS FINE"]
    assert (loud_one["allowed"], loud_one["origin"], loud_one["relations"]) == (["good"], "carried gold", ["loud"])
    assert (loud_one["kinds"], [name.split("@")[0] for name in loud_one["wrong"]]) == (
        ["genuine violation"], ["judge_by_case"],
    )  # fmt: skip
    assert texts["film a was fine so"]["allowed"] == ["good"]
    assert "film a was dull so" not in texts  # `so` carries good alone
    assert texts["film a was dull"]["kinds"] == ["true satisfaction"]
    assert texts["film a was dull"]["origin"] == "gold"
    assert written.kinds == {
        "false satisfaction": 0, "true satisfaction": 8 + 8, "genuine violation": 8, "false violation": 0,
    }  # fmt: skip
    assert (written.unsettled, written.conflicting, written.ambiguous) == (8, 0, 0)
    assert written.train + written.test == len(texts) == 16 + 16 + 8


def test_no_source_and_no_text_stands_in_both_splits(tmp_path):
    corpus = pd.DataFrame(
        {"text": [text for text, _ in TEXTS], "gold": [gold for _, gold in TEXTS], "document": list("aabbccdd") * 2}
    )
    written, texts = exported(study(corpus), tmp_path / "out", test_share=0.5)
    split_of = {}
    for entry in texts.values():
        for row in entry["rows"]:
            assert split_of.setdefault(row, entry["split"]) == entry["split"]
    assert set(split_of.values()) == {"train", "test"}
    assert written.parts == 4  # documents
    assert {entry["part"] for entry in texts.values()} == {1, 2, 3, 4}
    shared = [("FILM", "good"), ("film", "good"), ("other", "bad")]
    _, together = exported(study(shared, ["loud"]), tmp_path / "two", test_share=0.5)
    assert together["FILM"]["part"] == together["film"]["part"] != together["other"]["part"]


def test_people_go_before_gold_and_their_names_are_nowhere(tmp_path):
    violated = study([("film a was fine", "good"), ("a dull one", "bad")], ["loud", "so"]).sample(2, annotators=1)
    votes = pd.DataFrame({"text": ["a dull one"], "label": ["good"], "annotator": ["secretive-name"]})
    violated.answer(votes)
    _, texts = exported(violated, tmp_path / "out")
    assert (texts["a dull one"]["allowed"], texts["a dull one"]["origin"]) == (["good"], "people")
    assert texts["A DULL ONE"]["origin"] == "carried people"
    assert texts["a dull one"]["kinds"] == ["false satisfaction"]
    assert not any("secretive-name" in path.read_text() for path in (tmp_path / "out").iterdir())
    made = study([("film a was fine", None)], ["loud"])
    with pytest.raises(AuditError, match=r"no text of task .* has a settled label; let gold or people answer first"):
        exported(made, tmp_path / "none")
    assert not (tmp_path / "none").exists()


def test_violations_of_a_search_come_with_the_carried_truth(tmp_path):
    made = study([("film a was fine", "good")], ["so"])
    corpus = [("film a was fine", "good"), ("film z was fine", "good"), ("ungold fine", None)]
    result = audit.search(corpus, judge_by_case, ["loud", "so"], budget=9, task=TASK, progress=False, store="sqlite://")
    result.write(tmp_path / "found.jsonl")
    written, texts = exported(made, tmp_path / "out", searches=[tmp_path / "found.jsonl"])
    assert written.searched == 2
    assert texts["FILM Z WAS FINE"]["allowed"] == ["good"]
    assert texts["FILM Z WAS FINE"]["kinds"] == ["searched"]
    assert texts["FILM A WAS FINE"]["part"] == texts["film a was fine"]["part"]
    assert "UNGOLD FINE" not in texts
    for content in ('{"task": 1}', "{", "text,gold"):
        (tmp_path / "bad.jsonl").write_text(content)
        with pytest.raises(BadFile, match=r"bad.jsonl, line 1: not a line of a search; give what audit search --out"):
            exported(made, tmp_path / "no", searches=[tmp_path / "bad.jsonl"])
