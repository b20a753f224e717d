"""How many votes settle a question, decisions that come from elsewhere, and one person under two spellings."""

import json

import pandas as pd
import pytest
from sqlalchemy import select

import audit
from audit.cli import main
from audit.errors import AuditError
from audit.judging.activity import overview
from audit.store.core import adjudication, answer, input_table, question

TEXTS = [f"Film {number} wasn't bad." for number in range(1, 6)]
CODES = {"p": "positive", "n": "negative", "u": "unsure"}


def drawn(texts=TEXTS, **terms):
    """A study with a question about each of these texts."""
    return audit.run([(text, "positive") for text in texts], ["vader"], ["MR1.1"]).sample(100, **terms)


def votes(*of_texts, texts=TEXTS):
    """Labels of annotators a, b, c...: one code for each of them, text by text."""
    rows = [
        {"text": text, "label": CODES[code], "annotator": chr(ord("a") + place)}
        for text, codes in zip(texts, of_texts, strict=False)
        for place, code in enumerate(codes)
    ]
    return pd.DataFrame(rows)


def settled(study):
    """What each text is settled on by people and adjudicators, in the order of the texts; without an answer: None."""
    query = select(input_table.c.texts, answer.c.allowed).select_from(question.join(input_table).join(answer))
    with study.engine.connect() as connection:
        rows = connection.execute(query.order_by(answer.c.origin.desc())).all()  # adjudicated after people
    answers = {texts[0]: allowed[0] for texts, allowed in rows}
    return [answers.get(text) for text in TEXTS]


def disputed(study):
    return overview(study.engine).disputed


@pytest.mark.slow
def test_all_must_agree_where_the_sample_says_so():
    study = drawn(annotators=3, quorum="all").answer(votes("ppp", "pnp", "pun", "nnn", "pup"))
    assert settled(study) == ["positive", None, None, "negative", None]
    assert disputed(study) == 3
    assert "quorum=all" in study.report(answers="people").signature
    # The rule of the sample is that of its questions, also of those that are answered already.
    study.sample(100, annotators=3, quorum="majority")
    assert settled(study) == ["positive", "positive", None, "negative", "positive"]
    assert "quorum" not in study.report(answers="people").signature
    study.sample(100, annotators=3, quorum="all")
    assert settled(study) == ["positive", None, None, "negative", None]
    with pytest.raises(AuditError, match="majority"):
        study.sample(100, quorum="most")


@pytest.mark.slow
def test_decisions_from_elsewhere_go_before_votes(tmp_path, capsys):
    study = drawn(annotators=2).answer(votes("pn", "pp", "pn", "pn"))
    file = tmp_path / "decided.csv"
    texts = [f'"{TEXTS[0]}",negative,slip', f'"{TEXTS[1]}",negative,Irony.', f'"{TEXTS[2]}",unsure,']
    file.write_text("\n".join(["text,label,reason", *texts]), encoding="utf-8")
    command = ["import-labels", str(file), "--db", study.store, "--as", "adjudicator", "--annotator", "Ada", "--json"]
    assert main(command) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["added"], told["annotators"], sum(told["unmatched"].values())) == (2, ["ada"], 1)
    assert settled(study) == ["negative", "negative", None, None, None]
    assert disputed(study) == 2
    with study.engine.connect() as connection:
        rows = connection.execute(select(adjudication.c.code, adjudication.c.reason).order_by(adjudication.c.id)).all()
    assert rows == [("slip", ""), (None, "Irony.")]
    assert main(command) == 0
    assert json.loads(capsys.readouterr().out)["known"] == 2
    # The same person may have voted, too, and decides otherwise in another file.
    study.answer(pd.DataFrame([{"text": TEXTS[3], "label": "negative", "annotator": "ada"}]))
    study.answer(pd.DataFrame([{"text": TEXTS[0], "label": "positive", "annotator": "ADA"}]), role="adjudicator")
    assert settled(study) == ["positive", "negative", None, "negative", None]
    assert study.report(answers="people").document["disputes"]["settled"] == 2
