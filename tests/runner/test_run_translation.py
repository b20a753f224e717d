"""Whole runs of RTT, MCMT and MGMT-sentence with a small translator: what is stored, what is asked, going on."""

import pytest
import toy_translator
from sqlalchemy import select

from audit.corpora import get_corpus
from audit.judging.samples import ask_next
from audit.relations import get_relation
from audit.runner.executors import InProcess
from audit.runner.run import run
from audit.sampling.samples import SampleOptions
from audit.store import open_store, table_of, tables

NAMES = ["RTT", "MCMT", "MGMT-sentence"]
PAIRS = [("en", "es"), ("es", "en"), ("en", "fr"), ("fr", "es"), ("en", "ca"), ("ca", "es"), ("en", "pt")]


@pytest.fixture
def study(tmp_path, monkeypatch):
    """A corpus of forty sentences to be translated into Spanish."""
    monkeypatch.chdir(tmp_path)
    nouns = ("rain", "snow", "wind", "a storm", "the sun")
    rows = [f"Day {number} brought {nouns[number % 5]} and {nouns[number // 8]} to us." for number in range(40)]
    (tmp_path / "days.csv").write_text("\n".join(["text", *rows]), encoding="utf-8")
    return get_corpus("days.csv@es", "translation", "sentence")


def stored(engine):
    verdict, group, relation = (table_of(model) for model in (tables.Verdict, tables.Group, tables.Relation))
    query = select(relation.c.name, group.c.source_id, verdict.c.outcome, verdict.c.value, verdict.c.reason)
    query = query.join(group, group.c.id == verdict.c.group_id).join(relation, relation.c.id == group.c.relation_id)
    with engine.connect() as connection:
        return sorted(tuple(row) for row in connection.execute(query))


def test_a_run_asks_no_pair_twice_and_only_one_way_a_source(study, tmp_path):
    spec = toy_translator.write(tmp_path, "toy_once", pairs=PAIRS, spoils=0.1)
    engine = open_store(str(tmp_path / "a.db"), create=True)
    ran = run(engine, study, [spec], [get_relation("translation", name) for name in NAMES], InProcess())
    rows = stored(engine)
    assert ran.counts.checks == len(rows) == 120
    assert ran.counts.failed == ran.counts.outcomes["error"] == 0
    assert {row[4] for row in rows if row[0] == "MCMT"} == {"through fr", "through ca"}
    calls = toy_translator.calls(tmp_path, "toy_once")
    assert len(calls) == len(set(calls)) == ran.counts.executed
    ways = [call.split("\t")[0] for call in calls]
    # A source has one pivot that both ways are there for, and each other one is asked for at most once.
    assert ways.count("fr>es") + ways.count("ca>es") == 40
    assert ways.count("en>es") >= 40


@pytest.mark.slow
def test_probes_do_not_count_and_links_do(study, tmp_path):
    spec = toy_translator.write(tmp_path, "toy_roles", pairs=PAIRS)
    engine = open_store(str(tmp_path / "a.db"), create=True)
    run(engine, study, [spec], [get_relation("translation", "MCMT")], InProcess())
    member = table_of(tables.Member)
    with engine.connect() as connection:
        rows = connection.execute(select(member.c.group_id, member.c.role, member.c.input_id)).all()
    links = {row.group_id: {member.input_id for member in rows if member[:2] == (row.group_id, "link")} for row in rows}
    probes = {
        row.group_id: {member.input_id for member in rows if member[:2] == (row.group_id, "probe")} for row in rows
    }
    assert len(links) == 40
    assert all(len(links[group]) == 2 and links[group] <= probes[group] for group in links)
    ask_next(engine, SampleOptions(1))
    with engine.connect() as connection:
        input_ids = connection.execute(select(table_of(tables.Question).c.input_id)).scalars().all()
    # The direct translation, the one into the pivot, and the one from there; not what was probed in vain.
    assert len(input_ids) == len(set(input_ids)) == 3
