"""What `audit annotators` says protocols make of the annotators of a database."""

import json

import numpy as np
import pandas as pd
import pytest

from audit.annotation.accounts import add_account
from audit.annotation.queue import next_question
from audit.annotation.ratings import Rated
from audit.cli import main
from audit.false_satisfaction.opinions import answered_outputs
from audit.judging.judgements import judge
from audit.judging.samples import draw_all
from audit.reports.quality import annotators_lines, annotators_report
from audit.runner.imported import import_run, read_run
from audit.sampling.draw import SampleRequest, Size
from audit.store import open_store


def ratings(accuracy=0.9, items=600, people="abc"):
    """Simulated ratings of two labels: each annotator is right with this probability."""
    rng = np.random.default_rng(3)
    true = rng.integers(2, size=items)
    rows = [
        (str(item), name, "xy"[label if rng.random() < accuracy else 1 - label])
        for item, label in enumerate(true)
        for name in people
    ]
    return Rated(pd.DataFrame(rows, columns=["item", "annotator", "label"]), None, (), {}), true


def test_protocols_and_the_bias_they_imply():
    rated, true = ratings()
    # Systems say the true label of every item but each fifth.
    said = ["xy"[1 - label if item % 5 == 0 else label] for item, label in enumerate(true)]
    outputs = pd.DataFrame({"item": [str(item) for item in range(len(true))], "output": said, "groups": 2})
    report = annotators_report(rated, draws=0, outputs=outputs)
    first, second, third = report["protocol"]
    # Accuracy .9 of two labels: .1, .01 and .028 wrong (tests of `protocols`), bias .8 w - .2 w, with the fit's error.
    assert (first["wrong_answers"], second["wrong_answers"], third["wrong_answers"]) == pytest.approx(
        (0.1, 0.01, 0.028), abs=0.012
    )
    assert (first["fs_bias"], second["fs_bias"]) == pytest.approx((0.06, 0.006), abs=0.01)
    assert second["judgements"] == pytest.approx(2.18, abs=0.03)
    text = "\n".join(annotators_lines(report))
    assert "two annotators and an adjudicator: " in text
    assert "bias of R_FS +" in text
    worse = annotators_report(rated, draws=0, adjudicator=0.5)
    assert worse["protocol"][1]["wrong_answers"] == pytest.approx(0.1, abs=0.012)  # .01 + .18 / 2
    assert worse["protocol"][0]["fs_bias"] is None


def test_what_the_systems_say_where_one_answer_settles_a_group(tmp_path, capsys):
    rows = [("MR3.1", "a", "positive", "positive"), ("MR3.1", "b", "positive", "positive")]
    rows += [("MR1.1", "a", "positive", "positive"), ("MR1.1", "b", "negative", "positive")]  # two outputs
    rows += [("MR2.1", "a", "positive", "positive")]  # carries some answers only
    path = tmp_path / "run.jsonl"
    lines = [
        {"relation": relation, "system": system, "source": f"text {n} of {system}", "follow_ups": [f"{relation} {n}"],
         "outputs": [before, after], "verdict": "satisfied"}
        for n in range(3)
        for relation, system, before, after in rows
    ]  # fmt: skip
    for line in lines:  # one output for each system and input
        if line["system"] == "b":
            line["source"] += f" under {line['relation']}"
    path.write_text("\n".join(json.dumps(line) for line in lines), encoding="utf-8")
    where = str(tmp_path / "audit.db")
    engine = open_store(where, create=True)
    import_run(engine, read_run(path))
    draw_all(engine, SampleRequest(Size(share=1.0)))
    groups_by_output = answered_outputs(engine, "sentiment").groupby("output")["groups"].sum().to_dict()
    # Three texts, and systems a (MR3.1 and MR1.1) and b (MR3.1).
    assert groups_by_output == {"positive": 9}
    for name in ("ann", "bob"):
        account = add_account(engine, name, "annotator", "long enough").id
        number = 0
        while shown := next_question(engine, account):
            judge(engine, account, shown.id, "negative" if number == 0 else "positive")
            number += 1
    assert main(["annotators", "--db", where, "--draws", "0", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["protocol"][0]["name"] == "one annotator"
    assert report["protocol"][0]["fs_bias"] == pytest.approx(0, abs=1e-6)  # they agree in everything
    assert main(["annotators", "--db", where, "--adjudicator", "2"]) == 2
    assert "must be a share from 0 to 1" in capsys.readouterr().err
