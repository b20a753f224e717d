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


def test_sentiment_asks_about_the_text_unless_all_are_of_films():
    assert wording("sentiment").question == "Is what this text says positive, negative, or neither?"
    assert wording("sentiment", "zh").question == "这段文字表达的态度是正面、负面，还是两者都不是？"
    films = OwnWords(subject="film")
    assert wording("sentiment", "en", films).question == "What does this text say about the film?"
    assert wording("sentiment", "zh", films).question == "这段文字对影片持什么态度？"


def test_own_words_stand_over_those_of_the_task_language_by_language():
    own = OwnWords({ANY: Wording(question="Good?", labels={"positive": "Yes"}), "zh": Wording(question="好吗？")}, 1)
    assert (wording("sentiment", "en", own).question, wording("sentiment", "zh", own).question) == ("Good?", "好吗？")
    assert wording("sentiment", "zh", own).labels["positive"] == "Yes"
    assert wording("sentiment", "zh", own).labels["negative"] == "负面"
    assert wording("sentiment", "en", own).guideline == wording("sentiment").guideline
