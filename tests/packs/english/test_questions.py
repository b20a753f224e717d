"""Questions put otherwise, and contexts that distract."""

import random

import pytest

from audit.packs.english import questions
from audit.text import Analysis


def made(perturb, text):
    return perturb(Analysis(text), random.Random(0))


@pytest.mark.parametrize(
    ("question", "in_place", "cleft"),
    [
        ("Where does the bird live?", "The bird lives where?", "Where is it that the bird lives?"),
        ("How many eggs does it lay?", "It lays how many eggs?", None),
        ("When was the roof replaced?", "The roof was replaced when?", "When was it that the roof was replaced?"),
        ("Who raised the alarm?", None, "Who was it that raised the alarm?"),
        ("What is amber?", "Amber is what?", None),
        ("What was it before it became a library?", None, None),
        ("Is it good?", None, None),
        ("Who came, and why?", None, None),
        ("Where", None, None),
    ],
)
def test_questions(question, in_place, cleft):
    assert made(questions.question_in_place, question) == in_place
    assert made(questions.cleft_question, question) == cleft


def test_an_indirect_question_has_the_order_of_a_statement():
    assert made(questions.indirect_question, "How many keys are there?").endswith("how many keys there are?")
    assert "who raised the alarm" in made(questions.indirect_question, "Who raised the alarm?")
    assert made(questions.indirect_question, "Is it good?") is None


def test_a_distractor_repeats_the_question_but_not_one_about_asking():
    def distracted(context, question):
        return questions.distractor_sentence((Analysis(context), Analysis(question)), random.Random(0))

    texts = distracted("Ann lives in Oslo.", "Where does Ann live?").texts
    assert texts[1] == "Where does Ann live?"
    assert texts[0].startswith("Ann lives in Oslo. In 19")
    assert distracted("Ann asked him.", "Who asked him?") is None


def test_nothing_stands_before_a_text_that_points_back():
    def opened(text):
        return questions.irrelevant_opening((Analysis(text),), random.Random(0))

    assert opened("It is long.") is None
    assert opened("Ann likes films.").texts[0].endswith(". Ann likes films.")
