"""Browsing groups without Streamlit, against a real run and answers given by people."""

from pathlib import Path

import pytest
from small_corpus import SmallCorpus
from sqlalchemy import Engine, select

from audit.errors import NotAllowed, Refused
from audit.judging.accounts import Account, add_account
from audit.judging.activity import overview
from audit.judging.adjudications import send_back
from audit.judging.asides import FLAG, add_row
from audit.judging.judgements import judge
from audit.judging.queue import next_question
from audit.judging.samples import ask_next
from audit.relations import get_relation
from audit.relations.registry import configured
from audit.runner.executors import InProcess
from audit.runner.run import run
from audit.sampling.samples import SampleOptions
from audit.store import open_store, table_of, tables
from audit.studies.browse import STATES, GroupFilter, Page, browse, choices, detail

PASSWORD = "a long password"
TEXTS = [
    "It is a good film.",
    "It is a bad film.",
    "It is not bad.",
    "The plot is dull.",
    "A wonderful cast.",
    "Nothing happens.",
    "The worst of all.",
    "I loved it.",
    "They talk.",
    "It could be better.",
]


Made = tuple[Engine, dict[str, Account]]


@pytest.fixture(scope="module")
def judged_study(tmp_path_factory: pytest.TempPathFactory) -> Made:
    """Seven groups of each cell are drawn; two people answered every question, and one is adjudicated both ways."""
    path: Path = tmp_path_factory.mktemp("browse") / "audit.db"
    engine = open_store(str(path), create=True)
    with InProcess() as executor:
        followed = configured(get_relation("sentiment", "MR1.4"), {"strict": False})
        relations = [followed, get_relation("sentiment", "MR3.1")]
        ran = run(engine, SmallCorpus("ten", TEXTS), ["vader", "textblob"], relations, executor)
    ask_next(engine, SampleOptions(7), ran.study.id)[0]
    roles = {"ann": "annotator", "ben": "annotator", "judge": "adjudicator", "boss": "manager"}
    people = {name: add_account(engine, name, role, PASSWORD) for name, role in roles.items()}
    for _ in range(4):
        for name in ("ann", "ben"):
            shown = next_question(engine, people[name].id)
            if shown is not None:
                judge(engine, people[name].id, shown.id, "positive", comment="plainly so")
    return engine, people


def everything(judged_study: Made, wish: GroupFilter, size: int) -> list[tuple[int, int]]:
    engine, people = judged_study
    keys: list[tuple[int, int]] = []
    page: Page | None = None
    while page is None or page.next is not None:
        page = browse(engine, people["boss"].id, wish, page.next if page else None, size)
        keys += [(line.group_id, line.system_id) for line in page.lines]
        assert len(page.lines) <= size
    return keys


@pytest.mark.parametrize(
    "call",
    [
        browse,
        choices,
        lambda engine, id: detail(engine, id, 1, 1),
        overview,
    ],
)
def test_an_annotator_is_refused(judged_study: Made, call) -> None:
    engine, people = judged_study
    with pytest.raises(NotAllowed):
        call(engine, people["ann"].id)
    with pytest.raises(NotAllowed):
        call(engine, 12345)


@pytest.mark.parametrize("size", [1, 7])
def test_pages_of_any_size_show_every_group_once(judged_study: Made, size: int) -> None:
    verdict = table_of(tables.Verdict)
    with judged_study[0].connect() as connection:
        stored = {(row[0], row[1]) for row in connection.execute(select(verdict.c.group_id, verdict.c.system_id))}
    keys = everything(judged_study, GroupFilter(), size)
    assert len(keys) == len(set(keys))
    assert set(keys) == stored


def test_states_part_the_groups(judged_study: Made) -> None:
    by_state = {state: everything(judged_study, GroupFilter(state=state), 3) for state in STATES}
    assert sorted(key for keys in by_state.values() for key in keys) == sorted(
        everything(judged_study, GroupFilter(), 50)
    )
    assert all(by_state[state] for state in ("false", "true", "waiting", "undrawn", "violated", "inapplicable"))


def test_a_false_satisfaction_says_which_outputs_are_wrong(judged_study: Made) -> None:
    engine, people = judged_study
    for group, system in everything(judged_study, GroupFilter(state="false"), 50):
        group_detail = detail(engine, people["judge"].id, group, system)
        assert group_detail.state == "false"
        assert any(part.wrong for part in group_detail.parts)
        assert group_detail.parts[0].role == "source"
        for part in group_detail.parts:
            assert part.output is not None
            assert part.wrong == (part.output.label not in part.allowed)
    # Both relations keep the meaning, so that the answer about a source is carried to its follow-up.
    origins = {part.origin for part in group_detail.parts}
    assert origins <= {"people", "carried people"}


def test_an_adjudicator_sees_nothing_of_what_awaits_a_decision(judged_study: Made) -> None:
    engine, people = judged_study
    waiting = everything(judged_study, GroupFilter(state="waiting"), 50)
    assert waiting
    with pytest.raises(Refused, match="awaits a decision"):
        detail(engine, people["judge"].id, *waiting[0])
    assert detail(engine, people["boss"].id, *waiting[0]).state == "waiting"
    assert browse(engine, people["judge"].id, GroupFilter(state="waiting"), size=50) == Page((), None)
    question, member = table_of(tables.Question), table_of(tables.Member)
    with engine.connect() as connection:
        query = select(member.c.group_id).join(question, question.c.input_id == member.c.input_id)
        open_to_somebody = set(connection.execute(query.where(question.c.priority.is_not(None))).scalars())
    assert {group for group, _ in waiting} <= open_to_somebody
    # Under every filter: what is left out with a system or a relation chosen would tell whose it is.
    relations, systems = choices(engine, people["judge"].id)
    wishes = [GroupFilter(), *(GroupFilter(system=id) for id in systems)]
    for wish in [*wishes, *(GroupFilter(relation=id) for id in relations)]:
        seen = {line.group_id for line in browse(engine, people["judge"].id, wish, size=200).lines}
        assert seen
        assert not seen & open_to_somebody


def test_a_dispute_and_a_flag_keep_their_groups_from_the_adjudicator(judged_study: Made) -> None:
    engine, people = judged_study
    seen = browse(engine, people["judge"].id, GroupFilter(state="false"), size=200).lines
    question, member = table_of(tables.Question), table_of(tables.Member)
    with engine.connect() as connection:
        query = select(question.c.id).join(member, member.c.input_id == question.c.input_id)
        id = connection.execute(query.where(member.c.group_id == seen[0].group_id).limit(1)).scalar_one()
    with engine.begin() as connection:
        add_row(connection, people["boss"].id, id, FLAG, "Look at it again.")
    after = browse(engine, people["judge"].id, GroupFilter(state="false"), size=200).lines
    assert seen[0].group_id not in {line.group_id for line in after}
    send_back(engine, people["judge"].id, id)
    assert browse(engine, people["judge"].id, GroupFilter(state="false"), size=200).lines == seen


@pytest.mark.parametrize(
    ("search", "texts"),
    [
        ("BAD", {"It is a bad film.", "It is not bad."}),
        ("not bad", {"It is not bad."}),
        ("%", set()),
        ("\\", set()),
    ],
)
def test_a_search_finds_groups_by_the_texts_of_their_members(judged_study: Made, search: str, texts: set[str]) -> None:
    engine, people = judged_study
    # A manager finds what waits, too: an adjudicator does not see it.
    lines = browse(engine, people["boss"].id, GroupFilter(search=search), size=100).lines
    assert {line.text for line in lines} == texts


def test_a_question_is_found_by_the_number_that_the_group_shows(judged_study: Made) -> None:
    engine, people = judged_study
    account = people["boss"].id
    group_id, system_id = everything(judged_study, GroupFilter(state="waiting"), 50)[0]
    parts = detail(engine, account, group_id, system_id).parts
    number = next(part.question for part in parts if part.question is not None)
    assert (group_id, system_id) in everything(judged_study, GroupFilter(search=f"#{number}"), 50)
    assert everything(judged_study, GroupFilter(search="#999999"), 50) == []
