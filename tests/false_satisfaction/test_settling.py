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


def answers_of(**answers):
    """known(i1="positive") -> the answer about input 1."""
    return {
        about(int(name[1:])): KnownAnswer(frozenset(allowed.split("|")), "people") for name, allowed in answers.items()
    }


def test_a_carried_answer_settles_a_true_satisfaction():
    settled = settle_group(drawn("MR1.1", "positive", "positive"), answers_of(i1="positive"))
    assert settled.state is State.TRUE
    assert settled.origins == ("people", "carried people")


def test_the_papers_first_example_is_a_false_satisfaction():
    # Jiang et al. 2022, table 6, MR1.1 and Microsoft: both sentences called positive, both are negative.
    settled = settle_group(drawn("MR1.1", "positive", "positive"), answers_of(i1="negative"))
    assert (settled.state, settled.wrong_step) == (State.FALSE, 0)


def test_one_wrong_output_settles_though_the_source_has_no_answer():
    settled = settle_group(drawn("MR2.2", "positive", "negative"), answers_of(i2="neutral"))
    assert (settled.state, settled.wrong_step, settled.waits_for) == (State.FALSE, 1, ())


def test_without_any_answer_a_carrying_relation_waits_for_the_source_only():
    assert settle_group(drawn("MR1.1", "positive", "positive"), {}).waits_for == (about(1),)


def test_a_relation_that_carries_nothing_waits_for_every_member():
    assert settle_group(drawn("MR2.2", "positive", "negative"), {}).waits_for == (about(1), about(2))


def test_where_the_carry_fails_for_this_answer_the_follow_up_is_asked():
    # MR2.1 carries positive and negative, not neutral.
    settled = settle_group(drawn("MR2.1", "neutral", "neutral"), answers_of(i1="neutral"))
    assert (settled.state, settled.waits_for) == (State.WAITING, (about(2),))


def test_a_direct_answer_beats_a_carried_one():
    settled = settle_group(drawn("MR1.1", "positive", "positive"), answers_of(i1="positive", i2="negative"))
    assert (settled.state, settled.wrong_step) == (State.FALSE, 1)


def test_an_answer_may_allow_several_labels():
    assert settle_group(drawn("MR1.1", "neutral", "neutral"), answers_of(i1="neutral|positive")).state is State.TRUE


def test_a_link_counts():
    group = drawn("MR1.1", "positive", "negative", roles=["source", "link"])
    assert settle_group(group, answers_of(i1="positive")).state is State.FALSE


def test_an_unregistered_relation_carries_nothing():
    assert settle_group(drawn("MR99.9", "positive", "positive"), answers_of(i1="positive")).waits_for == (about(2),)


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


@pytest.mark.parametrize("relation", ["MR1.1", "MR3.1", "MR3.2"])
def test_relations_that_preserve_truth_settle_with_the_source_alone(relation):
    for label in LABELS:
        state = settle_group(drawn(relation, label, label), answers_of(i1=label)).state
        assert state is State.TRUE
