"""Rounds: what is asked is stored with its inclusion probability, a round counts when all of it is answered, and the
states of a study's groups are those of the rule."""

import numpy as np
import pandas as pd
import pytest
from conftest_rows import row
from sqlalchemy import select

import audit
from audit.false_satisfaction.cells import count
from audit.false_satisfaction.population import read_population
from audit.false_satisfaction.resolution import drawn_groups, known_answers, satisfied_groups, settle_group
from audit.false_satisfaction.states import NOT_ASKED, read_standing
from audit.judging.labels import answer_with_gold, frame_labels, import_labels
from audit.judging.samples import ask_next, give_up_rounds
from audit.keys import uniform
from audit.reports.study import study_report
from audit.sampling.samples import SampleOptions, stored_draws
from audit.store import table_of, tables
from audit.store.bulk import LIMIT

LABELS = ("positive", "negative")


def texts(number, gold=lambda n: None, skill=(0.9, 0.6), relations=("MR3.1", "MR2.2")):
    """Texts whose systems are right as often as `skill` says; MR3.1 carries answers, MR2.2 carries nothing."""
    rows = []
    for n in range(number):
        truth = LABELS[n % 2]
        for name, right in zip("ab", skill, strict=False):
            label = truth if uniform("right", name, n) < right else LABELS[1 - n % 2]
            turned = LABELS[1 - LABELS.index(label)]
            for relation in relations:
                says = [label, label] if relation == "MR3.1" else [label, turned]
                own = {"relation": relation, "system": name, "id": str(n), "gold": gold(n)}
                rows.append(row(f"Text {n}.", f"{relation} {n}.", says, **own))
    return rows


def truth_of(text):
    kind, number = text.rstrip(".").rsplit(" ", 1)
    return LABELS[(int(number) + (kind == "MR2.2")) % 2]


def answer_queue(engine, wrong=lambda text: False):
    """One annotator answers everything that waits, with the truth or, where `wrong`, with its opposite."""
    question, content = table_of(tables.Question), table_of(tables.Input)
    query = select(content.c.texts).join(question, question.c.input_id == content.c.id)
    with engine.connect() as connection:
        waiting = [row[0][0] for row in connection.execute(query.where(question.c.priority.is_not(None)))]
    if waiting:
        labels = [LABELS[1 - LABELS.index(truth_of(text))] if wrong(text) else truth_of(text) for text in waiting]
        frame = pd.DataFrame({"text": waiting, "label": labels, "annotator": "anna"})
        import_labels(engine, frame_labels(frame))
    return len(waiting)


def test_a_source_is_asked_exactly_when_its_number_is_at_most_its_threshold(build):
    engine = build(texts(60))
    ask_next(engine, SampleOptions(20, annotators=1))
    with engine.connect() as connection:
        draws, population = stored_draws(connection, 1), read_population(connection, 1)
        groups = list(drawn_groups(connection, None))
    assert {group.group_id // LIMIT**2 for group in groups} == set(draws["source_id"])
    place = np.searchsorted(population.source, draws["source_id"])
    assert (population.u[place] <= draws["q"]).all()
    assert draws["round"].unique().tolist() == [1, 2]  # 10, 20 of each cell: 5 of each would be fewer than 10 texts
    # Who is asked about the follow-ups of a source is asked about the source, too.
    own = set(draws.loc[draws["relation_id"] > 0, "source_id"])
    assert own <= set(draws.loc[draws["relation_id"] == 0, "source_id"])


def test_a_round_counts_when_all_of_it_is_answered(build):
    engine = build(texts(60, relations=("MR3.1",)))
    ask_next(engine, SampleOptions(40, annotators=1))
    assert count(engine).cells["judged"].sum() == 0
    question, content = table_of(tables.Question), table_of(tables.Input)
    with engine.connect() as connection:
        query = select(content.c.texts).join(question, question.c.input_id == content.c.id)
        ordered = [one[0][0] for one in connection.execute(query.order_by(question.c.priority))]
    # In three rounds: the first 10, 20 and 40 of each list. A part of the second makes none of it count.
    part = pd.DataFrame({"text": ordered[:15], "label": [truth_of(text) for text in ordered[:15]], "annotator": "anna"})
    import_labels(engine, frame_labels(part))
    counted = count(engine)
    assert counted.samples[0]["complete"] == 1
    assert counted.cells["judged"].tolist() == [10, 10]
    answer_queue(engine)
    assert count(engine).cells["judged"].tolist() == [40, 40]
    assert count(engine).samples[0]["complete"] == 3


def test_rounds_ask_nobody_what_gold_answers_and_ten_texts_or_more(build):
    engine = build(texts(60, gold=lambda n: LABELS[n % 2] if n % 3 == 0 else None, relations=("MR3.1", "MR2.2")))
    answer_with_gold(engine)
    (asked,) = ask_next(engine, SampleOptions(decide="winner", annotators=1))
    with engine.connect() as connection:
        draws, population = stored_draws(connection, 1), read_population(connection, 1)
        gold = population.source[read_standing(connection, population).labelled]
    alone = draws[draws["relation_id"] == 0]
    assert len(gold) == 20
    assert not alone["source_id"].isin(gold).any()
    assert alone.groupby("round").size().min() >= 10
    for _ in range(20):
        answer_queue(engine)
        (asked,) = ask_next(engine, SampleOptions(decide="winner", annotators=1))
        if not asked.rounds:
            break
    with engine.connect() as connection:
        draws = stored_draws(connection, 1)
    assert not draws[draws["relation_id"] == 0]["source_id"].isin(gold).any()
    people = count(engine, "people")
    assert people.people_alone == {1}
    assert people.cells["groups"].tolist() == [40] * 4
    assert (people.cells["judged"] >= 10).all()


def test_what_is_given_up_leaves_bounds(build):
    engine = build(texts(40, relations=("MR3.1",)))
    ask_next(engine, SampleOptions(8, annotators=1))
    assert give_up_rounds(engine, 1) == 1
    assert give_up_rounds(engine, 1) == 0
    first = study_report(engine)["cells"][0]
    assert (first["judged"], first["open"], first["fs_rate"]["value"]) == (8, 8, None)
    assert (first["fs_rate"]["least"], first["fs_rate"]["most"]) == (0.0, 1.0)
    pair = study_report(engine)["relations"][0]["pairs"]
    assert not pair or pair[0]["difference"] is None


def test_a_system_that_is_run_later_counts_at_once(tmp_path):
    def always(text):
        return "positive"

    def by_length(text):
        return LABELS[len(text) % 2]

    said, store = [f"Text {n}." for n in range(40)], str(tmp_path / "audit.db")
    with audit.run(said, [always], ["MR3.1"], store=store, progress=False) as study:
        study.sample(10, annotators=1, decide="none")
        questions = study.questions()
        study.answer(questions[["text"]].assign(label="positive", annotator="anna"))
        assert count(study.engine).cells["judged"].tolist() == [10]
    with audit.run(said, [always, by_length], ["MR3.1"], store=store, progress=False) as study:
        assert count(study.engine).cells["judged"].tolist() == [10, 10]


def test_a_decision_opens_again_for_a_system_that_is_run_later(tmp_path):
    def right(text):
        return LABELS[int(text[5:-1]) % 2]

    def mostly(text):
        return LABELS[(int(text[5:-1]) % 2) ^ (int(text[5:-1]) % 3 == 0)]

    def less(text):
        return LABELS[(int(text[5:-1]) % 2) ^ (int(text[5:-1]) % 5 < 3)]

    said, store = [f"Text {n}." for n in range(200)], str(tmp_path / "audit.db")

    def decided(systems):
        with audit.run(said, systems, ["MR3.1"], store=store, progress=False) as study:
            for _ in range(20):
                (asked,) = ask_next(study.engine, SampleOptions(5, decide="winner", annotators=1))
                if asked.contests[0].ended:
                    return asked
                texts = study.questions()[["text"]]
                study.answer(texts.assign(label=[right(text) for text in texts["text"]], annotator="anna"))
            raise AssertionError("no decision")

    first = decided([less, mostly])
    assert (first.contests[0].ended, first.contests[0].live) == ("best", (1,))
    assert first.asked > 10
    second = decided([less, mostly, right])
    assert (second.contests[0].leader, 0 in second.contests[0].live) == (2, False)
    assert second.asked < 100


def test_gold_in_part_is_about_its_sources_until_people_answer_for_the_others(build):
    engine = build(texts(60, gold=lambda n: LABELS[n % 2] if n % 3 == 0 else None, relations=("MR3.1",)))
    answer_with_gold(engine)
    counted = count(engine)
    assert counted.gold_alone == {1}
    assert counted.cells["groups"].tolist() == [20, 20]
    assert counted.cells["judged"].tolist() == [20, 20]
    ask_next(engine, SampleOptions(30, annotators=1))
    answer_queue(engine)
    counted = count(engine)
    assert not counted.gold_alone
    assert counted.cells["groups"].tolist() == [60, 60]
    assert (counted.cells["judged"] > 30).all()
    report = study_report(engine, target="corpus")
    for cell, right in zip(report["cells"], (0.9, 0.6), strict=True):
        assert cell["fs_rate"]["low"] <= 1 - right + 0.15
        assert cell["fs_rate"]["high"] >= 1 - right - 0.15


def test_rounds_go_on_until_the_best_system_is_known(build):
    engine = build(texts(300, relations=("MR3.1", "MR2.2"), skill=(0.9, 0.6)))
    for _ in range(20):
        (asked,) = ask_next(engine, SampleOptions(10, decide="winner", annotators=1))
        if not asked.rounds:
            break
        answer_queue(engine)
    (contest,) = asked.contests
    assert contest.ended in ("best", "within")
    decision = study_report(engine)["decisions"][0]
    assert decision["systems"] == ["a"]
    assert asked.asked < 150


def test_rounds_stop_at_the_most_texts(build):
    # As often right as each other, on other texts: only all texts could tell.
    rows = []
    for n in range(300):
        for name, wrong in (("a", (0, 1, 2)), ("b", (3, 4, 5))):
            label = LABELS[(n + (n % 10 in wrong)) % 2]
            rows.append(row(f"Text {n}.", f"MR3.1 {n}.", [label] * 2, relation="MR3.1", system=name, id=str(n)))
    engine = build(rows)
    for _ in range(20):
        (asked,) = ask_next(engine, SampleOptions(10, decide="winner", eps=0.0, most=60, annotators=1))
        if not asked.rounds:
            break
        answer_queue(engine)
    assert 40 <= asked.asked <= 60
    assert asked.contests[0].ended is None


@pytest.mark.parametrize("seed", range(4))
def test_states_are_those_of_the_rule(build, seed):
    engine = build(texts(30, gold=lambda n: LABELS[n % 2] if uniform("gold", seed, n) < 0.3 else None))
    answer_with_gold(engine)
    ask_next(engine, SampleOptions(8, annotators=1))
    answer_queue(engine, wrong=lambda text: uniform("wrong", seed, text) < 0.3)
    with engine.connect() as connection:
        population = read_population(connection, 1)
        standing, answers = read_standing(connection, population), known_answers(connection)
        for relation, ids in population.group.items():
            for drawn in satisfied_groups(connection, 1, relation):
                column = population.systems.index(drawn.system_id)
                row_of = int(np.flatnonzero(ids[:, column] == drawn.group_id)[0])
                state = standing.drawn[relation][row_of, column]
                assert state == NOT_ASKED or state == settle_group(drawn, answers).state
        assert any((states != NOT_ASKED).any() for states in standing.drawn.values())
