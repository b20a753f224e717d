"""Systems that need neither a package nor a language: similarity by characters and words, and the first sentences."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from audit.systems import get_system
from audit.tasks import Input, get_task

SIMILARITIES = ["rapidfuzz", "word-jaccard", "trigram-cosine"]


def score(name, first, second, language="en"):
    (output,) = get_system(name).run([Input.of(first, second, language=language)])
    return output.score


@pytest.mark.parametrize("name", [*SIMILARITIES, "lead-3"])
def test_they_read_any_language_and_need_nothing(name):
    system = get_system(name)
    system.prepare()
    assert (system.name, system.languages, system.needs()) == (name, ("*",), None)
    assert system.settings
    assert system.summary


@pytest.mark.parametrize("name", SIMILARITIES)
@given(first=st.text(max_size=60), second=st.text(max_size=60))
def test_a_similarity_is_symmetric_and_1_with_itself(name, first, second):
    (output,) = get_system(name).run([Input.of(first, second)])
    assert get_task("similarity").checked(output).score == output.score
    assert score(name, second, first) == pytest.approx(output.score)
    assert score(name, first, first) == 1.0


def test_known_similarities():
    assert score("word-jaccard", "The cat sat on the mat.", "the cat lay on a mat") == 4 / 7
    assert score("word-jaccard", "我喜欢猫", "我喜欢狗", "zh") == 3 / 5
    assert score("word-jaccard", "...", "word") == 0.0
    assert score("trigram-cosine", "ab", "ab c") == pytest.approx(2 / (2 * 4) ** 0.5)  # " ab", "ab "; and "b c", " c "
    assert score("trigram-cosine", " ", "a") == 0.0


def summary(text, language="en"):
    return get_system("lead-3").run([Input.of(text, language=language)])[0].text


def test_the_first_three_sentences():
    assert summary("Mr. A left. B came.\n\nC slept! D woke. E ate.") == "Mr. A left. B came.\n\nC slept!"
    assert summary("甲来了。乙走了！丙睡了？丁醒了。", "zh") == "甲来了。乙走了！丙睡了？"
    assert summary("  One only. ") == "One only."
    assert summary(" ") == ""  # which the task refuses
