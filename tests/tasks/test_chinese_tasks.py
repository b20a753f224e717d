"""The tasks similarity, summarization and classification, whose labels come with the corpus."""

import math

import pytest

from audit.errors import AuditError, BadOutput
from audit.tasks import Output, get_task, spellings

SIMILARITY, SUMMARIZATION = get_task("similarity"), get_task("summarization")


# Jin, Ding, Zhou 2022, section 4.1: [0, .2), [.2, .4), [.4, .6), [.6, .8), [.8, 1].
@pytest.mark.parametrize(
    ("score", "level"),
    [
        (0, "zero"),
        (0.1999, "zero"),
        (0.2, "weak"),
        (0.4, "regulated"),
        (0.6, "strong"),
        (0.74384534, "strong"),  # table 1
        (0.8, "perfect"),
        (1, "perfect"),
    ],
)
def test_a_similarity_lies_in_one_of_five_intervals(score, level):
    assert SIMILARITY.checked(Output(score=score)) == Output(level, score)


@pytest.mark.parametrize("score", [None, -0.01, 1.01, math.nan, math.inf])
def test_a_similarity_is_from_0_to_1(score):
    with pytest.raises(BadOutput, match="is not a number from 0 to 1"):
        SIMILARITY.checked(Output("strong", score))


def test_a_summary_is_a_text():
    assert SUMMARIZATION.checked(Output(text=" 上海下雨。\n")) == Output(text="上海下雨。")
    for text in (None, "", " \n"):
        with pytest.raises(BadOutput, match="summary is empty"):
            SUMMARIZATION.checked(Output(text=text))


def test_a_scheme_is_a_part_of_the_task():
    task = get_task("classification/财经,体育")
    assert (task.name, task.labels) == ("classification/财经,体育", ("财经", "体育"))
    assert task.checked(Output("体育")) == Output("体育")
    with pytest.raises(BadOutput, match="'教育' is not one of 财经, 体育"):
        task.checked(Output("教育"))
    with pytest.raises(BadOutput, match="score 2 is not"):
        task.checked(Output("体育", 2))
    assert task.is_wrong(Output("体育", 1.0), {"财经"})
    assert spellings(["classification/Sports,News"]) == {"sports": "Sports", "news": "News"}
    assert get_task("classification").labels == ()


@pytest.mark.parametrize("name", ["classification/one", "classification/a,,b", "classification/a,A"])
def test_a_scheme_has_two_labels_or_more(name):
    with pytest.raises(AuditError, match="is no label scheme: known are"):
        get_task(name)
