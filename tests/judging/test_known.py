"""Questions whose answer is known: made, picked, read from files, removed."""

import pytest
from quality_world import forget, world
from question_world import rows
from small_corpus import SmallCorpus

from audit.errors import AuditError, BadRow
from audit.judging.control_questions import (
    KnownText,
    add_known,
    known_questions,
    pick_known,
    read_known,
)
from audit.judging.samples import ask_next
from audit.runner.executors import InProcess
from audit.runner.run import run
from audit.sampling.samples import SampleOptions
from audit.store import open_store, tables
from audit.store.bulk import LIMIT
from audit.tasks import Input


@pytest.fixture
def team(tmp_path):
    return world(tmp_path / "audit.db", questions=3)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda engine: add_known(engine, "quiz", [KnownText(Input.of("A."), ("positive",))]), "purpose 'quiz'"),
        (lambda engine: add_known(engine, "gold", [KnownText(Input.of("A."), ("good",))]), "answer 'good' is not one"),
        (lambda engine: add_known(engine, "gold", []), "there is no text to add"),
        (lambda engine: pick_known(engine, "gold", 0), "count 0: must be from 1"),
        (lambda engine: pick_known(engine, "gold", 5), "there is no question to pick"),
    ],
)
def test_what_cannot_be_changes_nothing(team, content, call, message):
    engine, _ = team
    before = content(engine)
    with pytest.raises(AuditError, match=message):
        call(engine)
    assert content(engine) == before


def test_picking_takes_as_many_of_each_label_and_spends_nothing_of_the_sample(tmp_path, own, toy_relations):
    engine = open_store(str(tmp_path / "picked.db"), create=True)
    # Thirty positive sentences and ten negative ones.
    texts = [f"Film {number} was fine." for number in range(40)]
    labelled = SmallCorpus("labelled", texts, gold=["negative", "positive", "positive", "positive"] * 10)
    with InProcess() as executor:
        ran = run(engine, labelled, own.specs("calm"), [toy_relations[0]], executor)
    ask_next(engine, SampleOptions(8), ran.study.id)
    open_before = {row["input_id"] for row in rows(engine, tables.Question)}
    picked = pick_known(engine, "gold", 12, seed=1)
    # Eight of the forty sources are drawn; of the 32 others at most 10 are negative.
    assert (picked.candidates, picked.added, picked.labels) == (32, 12, {"negative": 6, "positive": 6})
    controls = known_questions(engine)
    questions = {row["id"]: row for row in rows(engine, tables.Question)}
    drawn = {row["source_id"] for row in rows(engine, tables.Draw)}
    spent = {row["input_id"] for row in rows(engine, tables.Member) if row["group_id"] // LIMIT**2 in drawn}
    assert not {questions[control.id]["input_id"] for control in controls} & (spent | open_before)
    assert all(questions[control.id]["priority"] is None for control in controls)
    # The same seed on the same texts picks the same; what is known already is not picked again.
    forget(engine)
    assert pick_known(engine, "gold", 12, seed=1).labels == picked.labels
    assert {control.texts for control in known_questions(engine)} == {control.texts for control in controls}
    more = pick_known(engine, "training", 40, seed=1)
    assert (more.candidates, more.added) == (20, 20)
    with pytest.raises(AuditError, match="there is no question to pick"):
        pick_known(engine, "gold", 1)


CSV = "text,language,answer,explanation\n"


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ("A.,en,good,\n", "line 2: answer 'good' is not one of"),
        ("A.,en,,\n", "line 2: the column answer is empty"),
        (",en,positive,\n", "line 2: the column text is empty"),
        ("A.,english!,positive,\n", "line 2: language 'english!' is no code"),
        ("A.,en,positive|neutral|negative,\n", "line 2: every label is allowed"),
        ("A.,en,positive,\nA.,en,negative,\n", "line 3: the text of line 2 again"),
        ("A.,en,positive,\nB,en\n", "line 3: 2 fields where the header has 4"),
        (f"A.,en,positive,{'x' * 2001}\n", "line 2: the explanation has more than 2,000"),
    ],
)
def test_wrong_rows_are_refused_with_their_line(rows, message):
    with pytest.raises(BadRow, match=message):
        read_known("known.csv", content=(CSV + rows).encode())
