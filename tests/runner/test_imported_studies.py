"""Recorded outputs and labels of published studies go in as they are, and their known figures come out."""

import json
from pathlib import Path

import pandas as pd
import pytest

import audit
from audit.judging.adjudications import open_disputes
from audit.runner.imported import import_run, read_run
from audit.store import open_store

DATA = Path(__file__).parents[2].parent / "shared" / "data"
KNOWN = {  # LLMBar's README, %: SR_o, R_FS, SR_g
    "GPT-4": (92.8, 12.9, 80.9),
    "LLaMA2": (75.3, 57.6, 31.9),
    "PaLM2": (72.3, 21.7, 56.6),
    "ChatGPT": (65.9, 65.2, 22.9),
    "ChatGPT-0301": (57.8, 53.3, 27.0),
    "Falcon": (41.5, 34.5, 27.2),
}
SWAPPED = {"one": "two", "two": "one"}


def shared(name):
    path = DATA / name
    if not path.exists():
        pytest.skip(f"../shared/data/{name} is not here")
    return path


@pytest.fixture
def take(tmp_path):
    """Imports lines; the study of them."""

    def take(lines):
        path, store = tmp_path / "run.jsonl", tmp_path / "audit.db"
        path.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
        import_run(open_store(str(store), create=True), read_run(path))
        return audit.open(store)

    return take


def as_judges_were_asked(row):
    """A line of LLMBar with the outputs named by their place, as in the prompts: swapped, `one` becomes `two`."""
    (swapped,) = row["follow_ups"]
    swapped = swapped.replace("Output one:", "Output 1:").replace("Output two:", "Output one:")
    said, then = row["outputs"]
    return row | {
        "carries": SWAPPED,
        "follow_ups": [swapped.replace("Output 1:", "Output two:")],
        "outputs": [said, SWAPPED[then]],
    }


def test_judges_that_are_asked_in_both_orders(take):
    rows = [json.loads(line) for line in shared("llmbar/groups.jsonl").open(encoding="utf-8")]
    lines = [as_judges_were_asked(row) for row in rows]
    of_all = {row["id"]: row for row in lines if row["system"] == "GPT-4"}
    # Six answers named no winner, and are not in the file: these are errors.
    for system in KNOWN:
        for missing in of_all.keys() - {row["id"] for row in rows if row["system"] == system}:
            lines.append(of_all[missing] | {"system": system, "outputs": [{"error": "no winner"}] * 2, "verdict": None})
    study = take(lines).sample(share=1.0).answer_with_gold()
    cells = {cell["system"]: cell for cell in study.report().document["cells"]}
    assert {
        system: tuple(round(100 * cell[rate], 1) for rate in ("sr_observed", "fs_rate", "sr_genuine"))
        for system, cell in cells.items()
    } == KNOWN
    assert {system: cell["errors"] for system, cell in cells.items() if cell["errors"]} == {"LLaMA2": 2, "PaLM2": 4}
    assert all(cell["waiting"] == 0 for cell in cells.values())


def test_answers_that_people_and_judges_labelled(take):
    rows = pd.read_csv(shared("xstest/labels.csv"))
    rows["row"] = rows["model"] + " " + rows["item"]
    labels = sorted(rows["final"].unique())
    line = {"task": f"classification/{','.join(labels)}", "relation": "asked again", "carries": "everything"}

    def output(said):
        return said if said in labels else {"error": "no label", "text": said}  # a judge that refuses to judge

    study = take(
        line
        | {"system": judge, "id": row["row"], "source": row["row"], "gold": row["final"], "follow_ups": [row["row"]]}
        | {"outputs": [output(row[judge])] * 2, "verdict": "satisfied" if row[judge] in labels else "error"}
        for row in rows.to_dict("records")
        for judge in ("gpt4", "strings")
    ).sample(share=1.0)
    columns = {name: rows[["row", name]].set_axis(["row", "label"], axis=1) for name in ("person_1", "person_2")}
    study.answer(pd.concat([frame.assign(annotator=name) for name, frame in columns.items()]))
    with study.engine.connect() as connection:
        assert len(open_disputes(connection)) == 81  # on the others both said the same
    study.answer_with_gold()
    report = study.report(answers="gold").document
    right = {system["system"]: (system["right"], system["outputs"]) for system in report["accuracy"][0]["systems"]}
    assert right == {"gpt4": (1798, 2239), "strings": (1887, 2250)}
    wrong = {cell["system"]: (cell["false"], cell["errors"]) for cell in report["cells"]}
    assert wrong == {"gpt4": (2239 - 1798, 11), "strings": (2250 - 1887, 0)}
