"""Perturbations written once for several tasks: which texts change, what is checked, what is carried."""

import pickle

import pytest

from audit.errors import AuditError
from audit.relations import Outcome, Source, get_relation
from audit.relations.base import Seen, where_same
from audit.relations.registry import RELATIONS, configured
from audit.relations.uses import BOTH, EVERY, SECOND, relation, uses
from audit.tasks import Input, Output
from audit.tasks.question_answering import normalised
from audit.text import Analysis


def shouted(text, choices):
    """A mark of exclamation is added."""
    return f"{text.text}!" if text.text != "no" else None


def twice(text, choices):
    """Two follow-ups of a text that begins with a."""
    return [f"{text.text}{mark}" for mark in ("!", "?")][: 2 if text.text.startswith("a") else 1]


def follow_ups(made, *texts, seed="1"):
    return [follow_up.texts for follow_up in made.follow_ups(Source(Input.of(*texts), Analysis(texts[0]), seed))]


@pytest.fixture
def restored():
    with RELATIONS.restored():
        yield


def test_one_function_is_a_relation_of_every_task(restored):
    relation("shouted", family="tests", tasks=EVERY | uses("inference", texts=SECOND))(shouted)
    for task, use in EVERY.items():
        made = get_relation(task, "shouted")
        where = {"inference": ", in the hypothesis", "question-answering": ", in the question"}.get(task, "")
        assert made.summary == f"A mark of exclamation is added{where}; {use.expects}."
        assert (made.check, made.carry) == (use.check, use.carry)
        assert pickle.loads(pickle.dumps(made)).params == made.params  # noqa: S301, our own bytes
    assert get_relation("inference", "shouted").texts == SECOND
    assert get_relation("similarity", "shouted").texts == BOTH
    with pytest.raises(AuditError, match="registered twice"):
        relation("shouted", family="tests")(shouted)


def test_a_threshold_is_a_parameter():
    made = get_relation("question-answering", "typos")
    assert made.params == {"threshold": 1.0, "share": 0.1}
    outputs = [Output(text="in the old town"), Output(text="the old town")]
    assert made.verdict(outputs, ()).outcome is Outcome.VIOLATED
    loose = configured(made, {"threshold": 0.8, "share": 1.0})
    assert loose.verdict(outputs, ()).outcome is Outcome.SATISFIED
    assert loose.verdict(outputs, ()).value == pytest.approx(2 * 2 / 5)  # "old town" of three words and two
    source = Source(Input.of("x", "which people believe yellow newspapers?"), Analysis("x"), "1")
    source_words, words = source.input.texts[1].split(), loose.follow_ups(source)[0].texts[1].split()
    assert sum(old != new for old, new in zip(source_words, words, strict=True)) >= 3  # all that may change
    joint = configured(get_relation("summarization", "irrelevant-sentence"), {"threshold": 0.2})
    assert joint.check.threshold == 0.2


def test_answers_about_outputs_are_carried_where_the_outputs_are_the_same():
    carry = where_same(normalised)

    def seen(text):
        return Seen(Input.of("c", "q"), Output(text=text))

    assert carry({"right"}, seen("Paris."), seen("paris")) == {"right"}
    assert carry({"wrong"}, seen("Paris"), seen("paris")) == {"wrong"}
    assert carry({"right"}, seen("Paris"), seen("Paris, France")) is None
    assert carry({"right"}) is None  # nothing is known of the outputs
    assert carry.reads
    assert not carry.preserves_truth
