"""Whole runs of the English relations: two toy systems of each task, from texts to verdicts and false satisfactions."""

import pandas as pd
import pytest

import audit
from audit.corpora.files import FrameCorpus
from audit.errors import AuditError
from audit.relations import all_relations
from audit.runner.run import fitting

CONTEXTS = [
    "Ann has a shop in Oslo. Bob sells really good tea. Trains cross the town.",
    "The film isn't long. Many people believe its ending. Oslo has hills and rivers.",
    "We bought a bike last summer. Rain fell in Bergen. Nobody believed the weather report.",
]
HYPOTHESES = ["Ann has a shop.", "The film is very long.", "We sold a bike."]
QUESTIONS = ["Where does Ann have a shop?", "What do many people believe?", "What did we buy last summer?"]
GOLD = ["entailment", "contradiction", "contradiction"]


def tickets(text):
    return "delivery" if "bike" in text.lower() else "other"


def loud(text):
    return "other" if text.isupper() else tickets(text)


def overlap(pair):
    premise, hypothesis = (set(text.lower().rstrip(".").split()) for text in pair)
    return "entailment" if hypothesis <= premise else "neutral"


def denying(pair):
    return "contradiction" if " not " in pair[1] else overlap(pair)


def first_name(pair):
    context, question = pair
    words = [word.strip(".") for word in context.split()[1:]]
    return next((word for word in words if word[:1].isupper() and word not in question), "unanswerable")


def last_word(pair):
    return pair[0].rstrip(".").split()[-1]


def shared(pair):
    first, second = (set(text.lower().split()) for text in pair)
    return len(first & second) / max(1, len(first | second))


def first_letters(pair):
    return min(1.0, ord(pair[0][0]) / ord(pair[1][0]) / 1.5)


def lead(text):
    return text.split(".")[0] + "."


def longest(text):
    return max(text.split("."), key=len).strip() + "."


SYSTEMS = {
    "classification/delivery,other": [tickets, loud],
    "inference": [overlap, denying],
    "question-answering": [first_name, last_word],
    "similarity": [shared, first_letters],
    "summarization": [lead, longest],
}
SECONDS = {"inference": HYPOTHESES, "question-answering": QUESTIONS, "similarity": [*CONTEXTS[1:], CONTEXTS[0]]}


def corpus(task, unit="document", language="en", **columns):
    frame = pd.DataFrame({"text": CONTEXTS, **columns})
    if task in SECONDS:
        frame["text_b"] = SECONDS[task]
    return FrameCorpus(frame, "toy", task, unit, language)


@pytest.mark.parametrize("unit", ["sentence", pytest.param("document", marks=pytest.mark.slow)])
@pytest.mark.parametrize("task", SYSTEMS)
def test_relations_of_each_task_run_with_two_systems(task, unit):
    relations = fitting(corpus(task, unit), None)
    assert {relation.languages for relation in relations} == {("en",)}
    study = audit.run(corpus(task, unit), systems=SYSTEMS[task], workers=0)
    cells = study.report().to_frame()
    assert set(cells["relation"]) <= {relation.name for relation in relations}
    assert cells["relation"].nunique() >= 8
    assert cells["system"].nunique() == 2
    assert cells["groups"].sum() > cells["satisfied"].sum() > 0


def test_a_system_that_sees_only_capitals_violates_upper_case_alone():
    task = "classification/delivery,other"
    study = audit.run(corpus(task), systems=SYSTEMS[task], relations=["upper-case", "typos"], workers=0)
    cells = study.report().to_frame().set_index(["system", "relation"])
    assert cells["sr_observed"].round(3).to_dict() == {
        ("tickets", "upper-case"): 1.0,
        ("tickets", "typos"): 1.0,
        ("loud", "upper-case"): 0.667,
        ("loud", "typos"): 1.0,
    }


def test_gold_of_pairs_is_carried_to_what_follows_from_them():
    names = ["hypothesis-from-premise", "denied-hypothesis", "upper-case"]
    study = audit.run(corpus("inference", gold=GOLD), systems=[overlap, denying], relations=names, workers=0)
    report = study.sample(per_relation=3).answer_with_gold().report()
    cells = report.to_frame().set_index(["system", "relation"])
    # Every premise has several sentences; a sentence of it follows by its words, and gold says what the source was:
    # entailment, which is right, and twice a contradiction that both systems call neutral.
    from_premise = cells.loc[("overlap", "hypothesis-from-premise")]
    assert (from_premise["satisfied"], from_premise["false"]) == (3, 2)
    denied = cells.loc[("denying", "denied-hypothesis")]
    assert (denied["satisfied"], denied["sr_observed"], denied["false"]) == (1, pytest.approx(1 / 3), 0)


def test_what_people_say_of_an_answer_is_carried_to_the_same_answer():
    names = ["polite-question", "other-context"]
    study = audit.run(corpus("question-answering"), systems=[first_name], relations=names, workers=0)
    questions = study.sample(per_relation=3).questions()
    assert set(questions["text"]) == set(CONTEXTS)  # of follow-ups nobody is asked yet
    assert set(questions["text_b"]) == set(QUESTIONS)
    right = questions.assign(label="right")
    study.answer(pd.concat([right.assign(annotator=name) for name in ("ann", "bob")]))
    cells = study.report().to_frame().set_index("relation")
    assert cells.loc["polite-question", ["satisfied", "judged", "false"]].tolist() == [3, 3, 0]
    # One of the three is answered from the irrelevant sentences, whatever they are.
    assert cells.loc["other-context", ["groups", "judged", "false"]].tolist() == [3, 2, 0]


def test_no_relation_fits_and_the_error_says_which_would():
    with pytest.raises(AuditError, match=r"no relation of task inference fits .* in fr; it has \d+ for sentences and "):
        fitting(corpus("inference", language="fr"), None)
    with pytest.raises(AuditError, match=r"documents in en and \d+ for sentences and documents in zh; language=CODE"):
        fitting(corpus("classification/a,b", language="fr"), None)
    assert all_relations("classification")


def test_names_that_stand_for_several_take_what_fits():
    tickets = corpus("classification/delivery,other")
    letters = [relation.name for relation in fitting(tickets, ["family:noise in letters", "tense"])]
    assert letters == ["misspellings", "scanning-errors", "swapped-letters", "typos", "tense"]
    everything = fitting(tickets, ["all"])
    assert {"tense", "typos"} < {relation.name for relation in everything}
    assert all("en" in relation.languages for relation in everything)  # nobody named the Chinese ones
    with pytest.raises(AuditError, match=r"known are: .*family:noise in letters"):
        fitting(tickets, ["family:noise"])
