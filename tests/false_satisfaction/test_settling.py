"""The rule that settles a group, case by case."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from audit.false_satisfaction.resolution import Drawn, KnownAnswer, State, Step, carry_of, settle_group
from audit.tasks import Output

LABELS = ["positive", "neutral", "negative"]


def drawn(relation, *labels, roles=None):
    """A group of one source (input 1) and follow-ups (inputs 2, 3, ...) with these output labels."""
    roles = roles or ["source"] + ["follow_up"] * (len(labels) - 1)
    steps = tuple(
        Step(role, number, Output(label, 0.9))
        for number, (role, label) in enumerate(zip(roles, labels, strict=True), start=1)
    )
    return Drawn("sentiment", relation, 1, 1, 1, 1, steps, carry_of("sentiment", relation))


def about(number):
    """What a question about this input asks about."""
    return "sentiment", number, None


@pytest.mark.parametrize(
    ("relation", "outputs", "answers", "state", "wrong", "waits"),
    [
        # What is carried settles, and an answer may allow several labels.
        ("MR1.1", ("positive", "positive"), {1: "positive"}, State.TRUE, None, []),
        ("MR3.1", ("negative", "negative"), {1: "negative"}, State.TRUE, None, []),
        ("MR1.1", ("neutral", "neutral"), {1: "neutral positive"}, State.TRUE, None, []),
        # Jiang et al. 2022, table 6, MR1.1 and Microsoft: both sentences called positive, both are negative.
        ("MR1.1", ("positive", "positive"), {1: "negative"}, State.FALSE, 0, []),
        # One wrong output settles, though the source has no answer; a direct answer beats a carried one.
        ("MR2.2", ("positive", "negative"), {2: "neutral"}, State.FALSE, 1, []),
        ("MR1.1", ("positive", "positive"), {1: "positive", 2: "negative"}, State.FALSE, 1, []),
        # Without an answer what carries waits for the source alone; what carries nothing, or not this label, for all.
        ("MR1.1", ("positive", "positive"), {}, State.WAITING, None, [1]),
        ("MR2.2", ("positive", "negative"), {}, State.WAITING, None, [1, 2]),
        ("MR2.1", ("neutral", "neutral"), {1: "neutral"}, State.WAITING, None, [2]),
        ("MR99.9", ("positive", "positive"), {1: "positive"}, State.WAITING, None, [2]),
    ],
)
def test_the_rule(relation, outputs, answers, state, wrong, waits):
    known = {about(at): KnownAnswer(frozenset(allowed.split()), "people") for at, allowed in answers.items()}
    settled = settle_group(drawn(relation, *outputs), known)
    assert (settled.state, settled.wrong_step, settled.waits_for) == (state, wrong, tuple(map(about, waits)))


def test_origins_are_told_and_a_link_counts():
    known = {about(1): KnownAnswer(frozenset({"positive"}), "people")}
    settled = settle_group(drawn("MR1.1", "positive", "positive"), known)
    assert (settled.origins, settled.decided_by) == (("people", "carried people"), "people")
    linked = settle_group(drawn("MR1.1", "positive", "negative", roles=["source", "link"]), known)
    assert (linked.state, linked.decided_by) == (State.FALSE, "people")


@given(
    labels=st.lists(st.sampled_from(LABELS), min_size=2, max_size=4),
    answers=st.lists(st.one_of(st.none(), st.sampled_from(LABELS)), min_size=4, max_size=4),
    relation=st.sampled_from(["MR1.1", "MR2.1", "MR2.2"]),
)
def test_more_answers_never_unsettle_and_states_mean_what_they_say(labels, answers, relation):
    group = drawn(relation, *labels)
    answered = {
        about(at): KnownAnswer(frozenset({label_given}), "gold")
        for at, label_given in enumerate(answers, 1)
        if label_given
    }
    settled = settle_group(group, answered)
    directly_wrong = any(answer is not None and answer != label for answer, label in zip(answers, labels, strict=False))
    if directly_wrong:
        assert settled.state is State.FALSE
    if settled.state is State.WAITING:
        assert settled.waits_for
        assert not set(settled.waits_for) & set(answered)
    else:
        assert settled.waits_for == ()
    if settled.state is State.TRUE:
        assert all(settled.origins)
