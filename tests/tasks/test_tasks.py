"""The tasks of audit, and the values that pass between the rooms: what is allowed, and when an output is wrong."""

import math
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from audit import registry
from audit.errors import AuditError, BadOutput
from audit.tasks import Input, LabelTask, Output, get_task, spellings

SENTIMENT, SIMILARITY, TRANSLATION = map(get_task, ("sentiment", "similarity", "translation"))


# Jin, Ding, Zhou 2022, section 4.1: [0, .2), [.2, .4), [.4, .6), [.6, .8), [.8, 1]; .74384534 is of table 1.
@pytest.mark.parametrize(
    ("score", "level"),
    [(0, "zero"), (0.1999, "zero"), (0.2, "weak"), (0.4, "regulated"), (0.6, "strong"), (0.74384534, "strong"),
     (0.8, "perfect"), (1, "perfect")],
)  # fmt: skip
def test_a_similarity_lies_in_one_of_five_intervals(score, level):
    assert SIMILARITY.checked(Output(score=score)) == Output(level, score)


@pytest.mark.parametrize("score", [-0.01, 1.01, math.nan, math.inf])
@pytest.mark.parametrize("task", [SENTIMENT, SIMILARITY, get_task("classification/positive,negative")])
def test_scores_are_from_0_to_1(task, score):
    with pytest.raises(BadOutput, match="is not a number from 0 to 1"):
        task.checked(Output("positive", score))


@pytest.mark.parametrize("label", ["Positive", "very positive", "", None])
def test_labels_are_those_of_the_scheme(label):
    with pytest.raises(BadOutput, match="is not one of positive, neutral, negative"):
        SENTIMENT.checked(Output(label, 0.5))
    assert SENTIMENT.is_wrong(Output("positive", 0.9), {"negative"})
    assert not SENTIMENT.is_wrong(Output("neutral", 0.1), {"neutral", "negative"})


@pytest.mark.parametrize("task", ["summarization", "translation"])
def test_a_summary_and_a_translation_are_texts(task):
    assert get_task(task).checked(Output(text=" 上海下雨。\n")) == Output(text="上海下雨。")
    for output in (Output(text=" \n"), Output(text=""), Output(label="x")):
        with pytest.raises(BadOutput, match="is empty"):
            get_task(task).checked(output)
    assert TRANSLATION.checked(Output()).absent


def test_a_scheme_is_a_part_of_the_task():
    task = get_task("classification/财经,体育")
    assert (task.name, task.labels) == ("classification/财经,体育", ("财经", "体育"))
    assert task.checked(Output("体育")) == Output("体育")
    with pytest.raises(BadOutput, match="'教育' is not one of 财经, 体育"):
        task.checked(Output("教育"))
    assert task.is_wrong(Output("体育", 1.0), {"财经"})
    assert spellings(["classification/Sports,News"]) == {"sports": "Sports", "news": "News"}
    assert get_task("classification").labels == ()


@pytest.mark.parametrize("name", ["classification/one", "classification/a,,b", "classification/a,A"])
def test_a_scheme_has_two_labels_or_more(name):
    with pytest.raises(AuditError, match="is no label scheme: known are"):
        get_task(name)


@given(st.lists(st.text(), min_size=1, max_size=3), st.lists(st.text(), min_size=1, max_size=3))
def test_inputs_have_one_key_per_content(one, other):
    assert (Input.of(*one).key == Input.of(*other).key) == (one == other)
    keys = {Input.of(*one, language=code, target=to).key for code in ("en", "zh") for to in (None, "es", "fr")}
    assert len(keys) == 6
    assert (Input.of(*one, target="es").target, Input.of(*one).target) == ("es", None)


def test_a_task_that_cannot_be_used_is_refused():
    refused = "name must be 'mood', as it is registered; labels must be a tuple of two or more different texts$"
    with pytest.raises(AuditError, match=refused):
        registry.tasks.register("mood", LabelTask("moods", ("good", "good"), "How is it?"))
    without_methods = SimpleNamespace(**vars(LabelTask("mood", ("good", "bad"), "How is it?")))
    with pytest.raises(AuditError, match=r"it needs methods checked\(output\) and is_wrong\(output, allowed\)"):
        registry.tasks.register("mood", without_methods)
    assert "mood" not in registry.tasks
