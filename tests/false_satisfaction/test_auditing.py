"""Audits: carried follow-ups that are asked about anyway, and agreed answers that an adjudicator checks."""

import pytest
from conftest_rows import row
from disputing import disputed
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import select

from audit.annotation.accounts import add_account
from audit.annotation.causes import SPOT_CHECK
from audit.annotation.questions import BEHIND
from audit.annotation.queue import next_question
from audit.errors import Refused
from audit.false_satisfaction.cells import count
from audit.false_satisfaction.questions import (
    Reach,
    Versions,
    audited_carries,
    audited_follow_ups,
    audited_size,
    checks_of_cell,
    rests_on_carried,
)
from audit.false_satisfaction.resolution import Drawn, KnownAnswer, State, Step, settle_group
from audit.judging.adjudications import check, checks_left, next_check
from audit.judging.judgements import judge, undo
from audit.judging.samples import draw_all
from audit.judging.unit import rebuild
from audit.sampling.audits import Audits
from audit.sampling.draw import SampleRequest, Size
from audit.store import table_of, tables
from audit.tasks import Output

LABELS = ["positive", "neutral", "negative"]
CARRYING = [
    row(f"text {n}", f"TEXT {n}", ["positive", "positive"], relation="MR3.1", system=system)
    for n in range(4)
    for system in "ab"
]


def people(engine):
    return {
        name: add_account(engine, name, role, "long enough").id
        for name, role in (("ann", "annotator"), ("bob", "annotator"), ("ada", "adjudicator"), ("mia", "manager"))
    }


def answer_all(engine, account, label=lambda text: "positive"):
    """Answer what the queue gives; returns the texts in the order they came."""
    seen = []
    while shown := next_question(engine, account):
        judge(engine, account, shown.id, label(shown.texts[0]))
        seen.append(shown.texts[0])
    return seen


def queue(engine):
    question, input_table = table_of(tables.Question), table_of(tables.Input)
    query = select(input_table.c.texts, question.c.priority).join(question, question.c.input_id == input_table.c.id)
    with engine.connect() as connection:
        return {row[0][0]: row[1] for row in connection.execute(query) if row[1] is not None}


def drawn(*labels, relation="MR3.1", rank=1, group=1):
    """A group of source (input 10 * group) and follow-ups with these output labels."""
    roles = ["source"] + ["follow_up"] * (len(labels) - 1)
    steps = tuple(
        Step(role, 10 * group + at, Output(label, 0.9))
        for at, (role, label) in enumerate(zip(roles, labels, strict=True))
    )
    return Drawn("sentiment", relation, 1, 1, rank, group, steps, 1)


def answers_of(origin="people", **answers):
    """known(i10="positive") -> the answer about input 10."""
    return {
        ("sentiment", int(name[1:]), None): KnownAnswer(frozenset(allowed.split("|")), origin)
        for name, allowed in answers.items()
    }


def test_the_beginning_is_a_share_of_the_draw_rounded_up():
    assert [audited_size(share, 60) for share in (0, 0.1, 0.11, 1)] == [0, 6, 7, 60]
    assert audited_size(0.07, 100) == 7  # 0.07 * 100 is 7.000000000000001


def test_only_where_every_member_has_an_answer_carried_ones_are_audited():
    settled = settle_group(drawn("positive", "positive"), answers_of(i10="positive"))
    assert audited_follow_ups(settled) == [("sentiment", 11, None)]
    assert audited_follow_ups(settle_group(drawn("positive", "positive"), {})) == []
    both = answers_of(i10="positive", i11="positive")
    assert audited_follow_ups(settle_group(drawn("positive", "positive"), both)) == []


@given(
    labels=st.lists(st.sampled_from(LABELS), min_size=2, max_size=4),
    source=st.sampled_from(LABELS),
    others=st.lists(st.one_of(st.none(), st.sampled_from(LABELS)), min_size=3, max_size=3),
    own=st.sampled_from(LABELS),
    relation=st.sampled_from(["MR3.1", "MR2.1", "MR2.3"]),
)
def test_an_answered_audit_never_unsettles(labels, source, others, own, relation):
    group = drawn(*labels, relation=relation)
    about = answers_of(i10=source) | {
        ("sentiment", 11 + at, None): KnownAnswer(frozenset({text}), "people")
        for at, text in enumerate(others[: len(labels) - 1])
        if text
    }
    settled = settle_group(group, about)
    for subject in audited_follow_ups(settled):
        assert settled.state is not State.WAITING
        after = settle_group(group, about | {subject: KnownAnswer(frozenset({own}), "people")})
        assert after.state is not State.WAITING


def test_a_state_rests_on_a_carried_answer_where_another_one_would_change_it():
    def rests(labels, **answers):
        about = answers_of(**answers)
        return rests_on_carried(settle_group(drawn(*labels), about), about)

    assert rests(["positive", "positive"], i10="positive")
    # False by the source's own answer: whatever the follow-up means.
    assert not rests(["positive", "positive"], i10="negative")
    # The source is right, the follow-up's other output wrong by what is carried.
    assert rests(["positive", "negative"], i10="positive")
    assert not rests(["positive", "positive"], i10="positive", i11="positive")
    assert not rests(["positive", "positive"])


def test_carry_errors_are_counted_over_a_beginning_without_gaps():
    groups = [drawn("positive", "positive", rank=n, group=n) for n in range(1, 6)]
    about = answers_of(
        i10="positive", i11="positive", i20="positive", i21="neutral", i30="negative|neutral", i31="neutral"
    )
    about |= answers_of(i40="positive", i50="positive", i51="negative")
    settled = [settle_group(group, about) for group in groups]
    audited = audited_carries(settled, about, Reach(follow_ups={(1, 1, 1): 5}))
    # The fourth has no answer of its own, so that the fifth, which happens to have one, does not count.
    assert [(carried.group_id, carried.source, carried.follow_up, carried.wrong) for carried in audited] == [
        (1, 10, 11, False),
        (2, 20, 21, True),
        (3, 30, 31, False),
    ]
    assert len(audited_carries(settled, about, Reach(follow_ups={(1, 1, 1): 2}))) == 2
    assert audited_carries(settled, about, Reach()) == []


def test_checked_groups_are_a_beginning_settled_by_adjudicated_answers_alone():
    groups = [drawn("positive", "positive", rank=n, group=n) for n in range(1, 6)]
    protocol = answers_of(i10="positive", i20="positive", i30="negative", i40="positive", i50="positive")
    checks = answers_of("adjudicated", i10="positive", i20="neutral", i30="positive", i50="negative")
    counted = checks_of_cell(groups, Versions.of(protocol, protocol | checks), Reach(answers={(1, 1, 1): 5}))
    assert (counted.judged, counted.false) == (5, 1)
    # The second is false once checked, the third true; the fourth was not checked and ends it.
    assert counted.checked == ((1, False, False), (2, False, True), (3, True, False))


def test_a_direct_answer_that_nobody_checked_is_not_replaced_by_a_carried_one():
    group = drawn("positive", "positive")
    protocol = answers_of(i10="positive", i11="positive")
    adjudicated = answers_of("adjudicated", i10="positive")
    counted = checks_of_cell([group], Versions.of(protocol, protocol | adjudicated), Reach(answers={(1, 1, 1): 1}))
    assert counted.checked == ()
    both = adjudicated | answers_of("adjudicated", i11="negative")
    counted = checks_of_cell([group], Versions.of(protocol, protocol | both), Reach(answers={(1, 1, 1): 1}))
    assert counted.checked == ((1, False, True),)


@pytest.mark.slow
def test_an_answer_opens_and_closes_audits_as_a_rebuild_does(build):
    engine = build(CARRYING)
    draw_all(engine, SampleRequest(Size(per_relation=10), audits=Audits(follow_ups=1.0, answers=1.0)))
    who = people(engine)
    checks = table_of(tables.SpotCheck)

    def state():
        with engine.connect() as connection:
            return queue(engine), sorted(tuple(row) for row in connection.execute(select(checks)))

    for _ in range(20):
        for name in ("ann", "bob"):
            shown = next_question(engine, who[name])
            if shown is None:
                continue
            judge(engine, who[name], shown.id, "positive")
            after = state()
            rebuild(engine)
            assert state() == after
    assert queue(engine) == {}
    assert len(state()[1]) == 8
    undo(engine, who["ann"])
    assert len(state()[1]) == 7
    assert next(iter(queue(engine).values())) > BEHIND


@pytest.fixture
def agreed(build):
    """Two people called everything positive; every answer is to be checked."""
    engine = build(CARRYING)
    draw_all(engine, SampleRequest(Size(per_relation=10), audits=Audits(answers=1.0)))
    who = people(engine)
    for name in ("ann", "bob"):
        answer_all(engine, who[name])
    return engine, who


def test_a_check_corrects_an_answer_and_the_protocol_s_is_kept(agreed):
    engine, who = agreed
    assert count(engine).cells["false"].to_list() == [0, 0]
    assert checks_left(engine, who["ada"]) == 4
    first = next_check(engine, who["ada"])
    assert not hasattr(first, "votes")
    check(engine, who["ada"], first.id, ["negative"], "read it again")
    counted = count(engine)
    assert counted.cells["false"].to_list() == [1, 1]
    assert counted.audited.cells["protocol_false"].to_list() == [0, 0]
    assert counted.audited.checks[["protocol", "checked"]].to_numpy().tolist() == [[0, 1], [0, 1]]
    assert (counted.audited.answers, counted.audited.answers_wrong, counted.audited.checks_waiting) == (1, 1, 3)
    adjudication = table_of(tables.Adjudication)
    with engine.connect() as connection:
        assert connection.execute(select(adjudication.c.reason)).scalars().all() == [f"{SPOT_CHECK}: read it again"]
    while shown := next_check(engine, who["ada"]):
        check(engine, who["ada"], shown.id, ["positive"])
    assert disputed(engine, who["ada"]) == []
    counted = count(engine)
    assert len(counted.audited.checks) == 8
    assert (counted.audited.answers, counted.audited.answers_wrong, counted.audited.checks_waiting) == (4, 1, 0)
    assert checks_left(engine, who["ada"]) == 0


def test_what_an_annotator_has_just_taken_back_is_not_checked(agreed):
    engine, who = agreed
    question = undo(engine, who["ann"])
    with pytest.raises(Refused, match="does not wait for a check"):
        check(engine, who["ada"], question, ["positive"])


def test_nobody_checks_what_they_judged(build):
    engine = build(CARRYING)
    draw_all(engine, SampleRequest(Size(per_relation=10), audits=Audits(answers=1.0)))
    who = people(engine)
    for name in ("ann", "ada"):
        answer_all(engine, who[name])
    assert (checks_left(engine, who["ada"]), checks_left(engine, who["mia"])) == (0, 4)
    assert next_check(engine, who["ada"]) is None
    shown = next_check(engine, who["mia"])
    with pytest.raises(Refused, match="judged this question yourself"):
        check(engine, who["ada"], shown.id, ["positive"])
    assert checks_left(engine, who["mia"]) == 4
