"""How many answers hold winners up, in a database: flipping those answers in the history changes the winner."""

import json

import film_world
import pytest
from sqlalchemy import select

from audit.annotation.answers import settle
from audit.false_satisfaction.impact import fragile
from audit.judging.samples import draw_all
from audit.reports.study import study_report
from audit.runner.imported import import_run, read_run
from audit.sampling.draw import SampleRequest, Size
from audit.store import insert_new, open_store, table_of, tables


def world(tmp_path, said, relation="X"):
    """Two systems that satisfy one relation on films; `said` is what both outputs of each are, per film."""
    lines = [
        {
            "relation": relation, "system": system, "source": f"Film {n}.", "follow_ups": [f"Film {n}!"], "id": str(n),
            "outputs": [label, label], "verdict": "satisfied",
        }
        for system, labels in said.items()
        for n, label in enumerate(labels)
    ]  # fmt: skip
    (tmp_path / "own.jsonl").write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    engine = open_store(str(tmp_path / "a.db"), create=True)
    import_run(engine, read_run(tmp_path / "own.jsonl"))
    draw_all(engine, SampleRequest(Size(share=1.0)))
    with engine.begin() as connection:  # `answer` makes questions of its own, numbered as their inputs
        connection.execute(table_of(tables.Question).delete())
    return engine


def answer(engine, label_of):
    """Gold answers about every input, by its text; asked again, the answers are others."""
    input_table, question = table_of(tables.Input), table_of(tables.Question)
    judgement, annotator = table_of(tables.Judgement), table_of(tables.Annotator)
    with engine.begin() as connection:
        person = {"id": 1, "name": "gold", "role": "gold", "languages": "", "disabled": False}
        insert_new(connection, tables.Annotator, [person | {"created_at": tables.now()}])
        assert connection.execute(select(annotator.c.id)).scalars().all() == [1]
        connection.execute(judgement.delete())
        for id, texts in connection.execute(select(input_table.c.id, input_table.c.texts)).all():
            here = select(question.c.id).where(question.c.input_id == id, question.c.kind == "input")
            if (question_id := connection.execute(here).scalar()) is None:
                question_id = 1_000 + id
                row = {"id": question_id, "key": bytes([id]) * 16, "task": "sentiment", "kind": "input", "input_id": id}
                insert_new(connection, tables.Question, [row])
            vote = {"question_id": question_id, "annotator_id": 1, "answer": label_of(texts[0]), "guideline": 0}
            connection.execute(judgement.insert(), vote | {"decided_at": tables.now()})
        settle(connection, connection.execute(select(question.c.id)).scalars().all())


def best(engine):
    return study_report(engine)["relations"][0]["best_genuine"]


def test_one_answer_settles_groups_of_both_systems(tmp_path):
    # a is right on 4 of 5 films, b on 3; they differ on films 0 (a right), 1 (b right), 2 (a right).
    said = {"a": ["positive", "negative", "positive", "positive", "positive"]}
    said["b"] = ["negative", "positive", "negative", "positive", "positive"]
    engine = world(tmp_path, said)
    answer(engine, lambda text: "positive")
    (entry,) = fragile(engine)
    # SR_g of a: 4/5, of b: 3/5. Films 3 and 4 add the same to both, whatever is answered about them. Each group needs
    # both of its answers: film 0 for b takes two answers (both parts of its group mended, which also makes a's group
    # false): 3/5 and 4/5.
    assert (entry.winner, entry.challenger, entry.questions, entry.answered) == (("a",), "b", 2, 6)
    assert entry.exact or entry.least == 1
    assert best(engine) == ["a"]
    answer(engine, lambda text: "negative" if text in ("Film 0.", "Film 0!") else "positive")
    assert best(engine) == ["b"]


def test_carried_answers_change_with_the_source(tmp_path):
    # MR3.1 carries every answer: one question a film.
    engine = world(tmp_path, {"a": ["positive"] * 4, "b": ["negative"] * 2 + ["positive"] * 2}, "MR3.1")
    answer(engine, lambda text: "positive")
    with engine.begin() as connection:  # nobody was asked about follow-ups
        input_table, question = table_of(tables.Input), table_of(tables.Question)
        rows = connection.execute(
            select(question.c.id, input_table.c.texts).join(question, question.c.input_id == input_table.c.id)
        )
        follow_ups = [id for id, texts in rows if texts[0].endswith("!")]
        for table in (tables.Answer, tables.Judgement):
            connection.execute(table_of(table).delete().where(table_of(table).c.question_id.in_(follow_ups)))
        connection.execute(question.delete().where(question.c.id.in_(follow_ups)))
    (entry,) = fragile(engine)
    # a 4/4, b 2/4, and films 2 and 3 add the same to both. Film 0 answered negative: a 3/4, b 3/4, a tie; film 1 too: a
    # 2/4, b 4/4.
    assert (entry.questions, entry.exact, entry.judgements, entry.answered) == (2, True, 2, 2)
    answer(engine, lambda text: "negative" if text.startswith(("Film 0", "Film 1")) else "positive")
    assert best(engine) == ["b"]


def test_judgements_behind_people_are_counted(judged):
    for entry in fragile(open_store(judged)):
        assert entry.winner
        if entry.questions is not None:
            assert entry.questions <= entry.judgements <= 2 * entry.questions
            assert entry.least <= entry.questions <= entry.answered


@pytest.mark.parametrize("design", ["shared", "simple", "informative"])
def test_a_winner_is_the_reports_not_that_of_own_groups(build, design):
    """Films 0 to 3 apply to both: b is right on three, a on two. Six easy ones are a's alone: 8/10 of its own."""
    said = {
        "a": ["negative", "negative", "positive", "positive"],
        "b": ["positive", "positive", "positive", "negative"],
    }
    engine, _ = film_world.world(build, said, film_world.alone("a", ["positive"] * 6, "b"), design)
    films, own = ({f"{name} {n}{end}": "positive" for n in range(6) for end in ".!"} for name in ("Film", "Own"))
    film_world.answer(engine, films | own)
    (entry,) = fragile(engine)
    relation = study_report(engine)["relations"][0]
    assert entry.winner == tuple(relation["best_genuine"]) == ("b",)
    assert relation["best_own"] == (None if design == "informative" else ["a"])
    # Film 0 answered otherwise: 3/4 become 2/4 for b and 2/4 become 3/4 for a, with both of its questions.
    assert (entry.challenger, entry.questions) == ("a", 2)
    assert entry.answered == (6 if design != "simple" else 8)


@pytest.mark.parametrize("design", ["shared", "simple"])
def test_systems_that_share_no_group_have_no_winner(build, design):
    engine, _ = film_world.world(build, {"a": ["positive"]}, film_world.alone("b", ["negative"], "a"), design)
    film_world.answer(engine, {f"{name} 0{end}": "positive" for name in ("Film", "Own") for end in ".!"})
    (entry,) = fragile(engine)
    assert (entry.winner, entry.reason) == ((), "the systems share no group")
    assert study_report(engine)["relations"][0]["best_genuine"] == []


def test_no_winner_without_estimates(tmp_path):
    engine = world(tmp_path, {"a": ["positive"], "b": ["negative"]})
    (entry,) = fragile(engine)
    assert (entry.winner, entry.questions) == ((), None)
    assert entry.reason == "no group that tells the systems apart is settled for all"
    (tmp_path / "one").mkdir()
    (entry,) = fragile(world(tmp_path / "one", {"a": ["positive"]}))
    assert entry.reason == "fewer than two systems are compared"
