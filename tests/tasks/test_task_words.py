"""One function says the words of every task: audit's own, a user's scheme, a plug-in's, and one that is not there."""

import pytest

from audit.tasks import wording
from audit.tasks.words import ANY, OwnWords, Wording

LABELS = (
    ("inference", "neutral", "Neither follows nor is ruled out", "推不出，也不矛盾"),
    ("sentiment", "neutral", "Neutral", "中性"),
    ("similarity", "strong", "Strongly similar", "强相似"),
    ("classification/strong,weak,zero", "strong", "strong", "strong"),
    ("classification/positive,negative", "positive", "positive", "positive"),
    ("classification/inews", "positive", "Positive", "正面"),
    ("classification/thucnews", "财经", "财经", "财经"),
    ("question-answering", "right", "Right", "正确"),
    ("classification/a,b", "unsure", "Unsure", "不确定"),
)


@pytest.mark.parametrize(("task", "label", "english", "chinese"), LABELS)
def test_a_label_is_worded_by_its_task(task, label, english, chinese):
    assert (wording(task).labels[label], wording(task, "zh").labels[label]) == (english, chinese)


def test_own_words_stand_over_those_of_the_task_language_by_language():
    own = OwnWords({ANY: Wording(question="Good?", labels={"positive": "Yes"}), "zh": Wording(question="好吗？")}, 1)
    assert (wording("sentiment", "en", own).question, wording("sentiment", "zh", own).question) == ("Good?", "好吗？")
    assert wording("sentiment", "zh", own).labels["positive"] == "Yes"
    assert wording("sentiment", "zh", own).labels["negative"] == "负面"
    assert wording("sentiment", "en", own).guideline == wording("sentiment").guideline
