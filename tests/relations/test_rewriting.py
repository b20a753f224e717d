"""Relations that rewrite all texts of a source: the note that their check is given, and the words they replace."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from audit.relations import Outcome, Rewriting, Source
from audit.relations.base import Rewritten, unchanged
from audit.relations.expect import replace_words, same_text, substitute
from audit.tasks import Input, Output
from audit.text import Analysis


def upper(texts, choices):
    """Everything is written in capitals."""
    return Rewritten(tuple(text.text.upper() for text in texts), (("a", "A"),))


RELATION = Rewriting(
    task="summarization", name="MR0", family="tests", summary="", unit="any", carry=unchanged, rewrite=upper,
    check=same_text,
)  # fmt: skip


def source(*texts, language="en"):
    return Source(Input.of(*texts, language=language), Analysis(texts[0], language), "0:1")


def test_all_texts_are_rewritten_and_the_check_is_told_the_words():
    follow_ups, note = RELATION.make_group(source("a b", "c a"))
    assert [follow_up.texts for follow_up in follow_ups] == [("A B", "C A")]
    assert note == (("a", "A"),)
    steps = RELATION.steps(source("a b", "c a"))
    assert [member.role for member in next(steps)] == ["source", "follow_up"]
    with pytest.raises(StopIteration) as end:
        steps.send([Output(text="has a"), Output(text="hAs A")])
    assert end.value.value.outcome is Outcome.SATISFIED


@pytest.mark.parametrize(
    ("source_summary", "follow_up_summary", "outcome"),
    [
        ("王强起诉交警支队。", "石磊起诉交警支队。", Outcome.SATISFIED),
        ("王强起诉交警支队。", "王强起诉交警支队。", Outcome.VIOLATED),
        # The paper's figure 1 and 2: another sentence is chosen.
        ("他起诉交警支队。", "石磊身体不适。", Outcome.VIOLATED),
    ],
)
def test_a_summary_has_the_same_words_replaced(source_summary, follow_up_summary, outcome):
    outputs = [Output(text=source_summary), Output(text=follow_up_summary)]
    assert same_text(outputs, (("王强", "石磊"),)).outcome is outcome


@given(st.text("甲乙丙丁", max_size=12), st.permutations("甲乙丙丁"))
def test_replacing_back_gives_the_text(text, others):
    words = tuple(zip("甲乙丙丁", others, strict=True))
    back = tuple((new, old) for old, new in words)
    assert replace_words(replace_words(text, words), back) == text


def test_a_word_inside_a_longer_one_makes_no_group():
    texts = [Analysis("老师表扬学生。", "zh")]
    rewritten = substitute(texts, {"学生": "同学"})
    assert rewritten == Rewritten(("老师表扬同学。",), (("学生", "同学"),))
    assert next(token.text for token in Analysis("学生会的学生", "zh").tokens) == "学生会"
    assert substitute([Analysis("学生会的学生", "zh")], {"学生": "同学"}) is None
    assert substitute(texts, {"医生": "大夫"}) is None
