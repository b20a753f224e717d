"""The task sentiment, and the values that pass between the rooms."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from audit.errors import BadOutput
from audit.tasks import Input, Output, get_task

SENTIMENT = get_task("sentiment")


def test_an_output_is_wrong_when_its_label_is_not_allowed():
    assert SENTIMENT.is_wrong(Output("positive", 0.9), {"negative"})
    assert not SENTIMENT.is_wrong(Output("neutral", 0.1), {"neutral", "negative"})


@pytest.mark.parametrize("score", [-0.1, 1.1, math.nan, math.inf])
def test_scores_are_from_0_to_1(score):
    with pytest.raises(BadOutput, match="is not a number from 0 to 1"):
        SENTIMENT.checked(Output("positive", score))


@pytest.mark.parametrize("label", ["Positive", "very positive", "", None])
def test_labels_are_those_of_the_scheme(label):
    with pytest.raises(BadOutput, match="is not one of positive, neutral, negative"):
        SENTIMENT.checked(Output(label, 0.5))


@given(st.lists(st.text(), min_size=1, max_size=3), st.lists(st.text(), min_size=1, max_size=3))
def test_inputs_have_one_key_per_content(one, other):
    assert (Input.of(*one).key == Input.of(*other).key) == (one == other)
    assert Input.of(*one).key != Input.of(*one, language="zh").key
