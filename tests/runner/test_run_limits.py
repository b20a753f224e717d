"""Runs with limits on follow-ups: what breaks one is kept and counted, and no system is asked about it."""

import pytest
from sqlalchemy import select

from audit.relations import Outcome
from audit.relations.validity import limit_of, limited
from audit.runner.executors import InProcess
from audit.runner.run import run
from audit.store import open_store, table_of, tables

pytestmark = pytest.mark.usefixtures("asked_once")

LIMITS = {"T1": [], "T2": ["edit-distance<=0.25"], "T3": ["edit-distance<=0.52", "perplexity-ratio<=1000"]}


@pytest.fixture
def engine():
    return open_store("sqlite://", create=True)


@pytest.fixture(autouse=True)
def small_chunks(monkeypatch):
    monkeypatch.setattr("audit.runner.studies.CHUNK", {"sentence": 8, "document": 2})
    for name in ("FEW", "MOST"):
        monkeypatch.setattr(f"audit.runner.dispatch.{name}", 10)


@pytest.fixture
def strict(toy_relations):
    return [limited(relation, [limit_of(text)[1] for text in LIMITS[relation.name]]) for relation in toy_relations]


def rejected_texts(engine) -> set[str]:
    """Follow-ups of rejected groups that no other group has."""
    verdict, member, stored = table_of(tables.Verdict), table_of(tables.Member), table_of(tables.Input)
    query = select(stored.c.texts).join(member, member.c.input_id == stored.c.id).where(member.c.role == "follow_up")
    rejected = select(verdict.c.group_id).where(verdict.c.outcome == int(Outcome.REJECTED))
    with engine.connect() as connection:
        within = connection.execute(query.where(member.c.group_id.in_(rejected))).scalars()
        others = connection.execute(query.where(member.c.group_id.not_in(rejected))).scalars()
        return {texts[0] for texts in within} - {texts[0] for texts in others}


def test_rejected_groups_are_kept_counted_and_never_executed(own, toy_corpus, strict, engine):
    ran = run(engine, toy_corpus(), own.specs("calm", "nervous"), strict, InProcess())
    assert list(ran.rejected) == ["T2", "T3"]
    for groups, rejected in ran.rejected.values():
        assert 0 < rejected < groups
    counts = ran.counts
    assert counts.checks == sum(counts.outcomes.values())
    assert ran.as_json()["rejected_by_relation"]["T2"] == dict(
        zip(("groups", "rejected"), ran.rejected["T2"], strict=True)
    )
    groups, rejected = ran.rejected["T2"]
    assert f"T2: {rejected} of {groups} groups rejected by its limits, and kept." in ran.lines()
    assert any(line.endswith(f"{counts.outcomes['rejected']} rejected.") for line in ran.lines())
    unasked, asked = rejected_texts(engine), {call.split("\t")[1] for call in own.calls()}
    assert unasked
    assert not unasked & asked
    again = run(engine, toy_corpus(), own.specs("calm", "nervous"), strict, InProcess())
    assert (again.counts.checks, again.counts.executed, again.rejected) == (0, 0, ran.rejected)
