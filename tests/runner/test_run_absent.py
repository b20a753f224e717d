"""Runs of systems that have no output for some inputs: their groups are inapplicable, counted, and no errors."""

import random

import pytest
from sqlalchemy import select

from audit.corpora import get_corpus
from audit.relations import Chained, Member, Outcome, Rewriting, base
from audit.relations.base import Rewritten, Verdict, nothing
from audit.runner.executors import InProcess
from audit.runner.run import run
from audit.store import open_store, table_of, tables
from audit.tasks import Input

OWN = """
from audit.tasks import Output


class Some:
    '''Translates into Spanish, and nothing that is about snow.'''
    tasks, languages, name, version, settings = ("translation",), ("*",), "some", "1", {}
    summary = "test"
    def needs(self): return None
    def prepare(self): pass
    def run(self, inputs):
        return [
            Output() if "snow" in one.text or one.target == "fr" else Output(text=f"{one.target}: {one.text}")
            for one in inputs
        ]
"""


def shout(texts, choices):
    """In capitals."""
    return Rewritten((texts[0].text.upper(),))


def same(outputs, words):
    return Verdict(Outcome.SATISFIED if outputs[0].text.upper() == outputs[1].text.upper() else Outcome.VIOLATED)


def roundabout(source, choices: random.Random):
    """Through French where there is any, else through Spanish."""
    (direct,) = yield [Member("source", source.input)]
    (french,) = yield [Member("probe", Input.of(source.input.text, target="fr"))]
    if not french.absent:
        return None
    yield [Member("link", Input.of(str(direct.text), language="es", target="en"))]
    return Verdict(Outcome.SATISFIED, 1.0)


COMMON = {"task": "translation", "family": "test", "unit": "any", "carry": nothing, "languages": base.ANY}


@pytest.mark.parametrize(
    "relation",
    [
        Rewriting(name="shout", summary="test", rewrite=shout, check=same, **COMMON),
        Chained(name="roundabout", summary="test", walk=roundabout, **COMMON),
    ],
    ids=lambda relation: relation.name,
)
def test_groups_without_an_output_are_inapplicable(relation, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "some_translations.py").write_text(OWN, encoding="utf-8")
    (tmp_path / "texts.csv").write_text("text\nIt rains.\nIt snows.\n", encoding="utf-8")
    corpus = get_corpus("texts.csv@es", "translation")
    engine = open_store(str(tmp_path / "a.db"), create=True)
    ran = run(engine, corpus, ["some_translations:Some"], [relation], InProcess())
    assert (ran.counts.outcomes["satisfied"], ran.counts.outcomes["inapplicable"]) == (1, 1)
    assert ran.counts.failed == 0
    verdict = table_of(tables.Verdict)
    with engine.connect() as connection:
        reasons = connection.execute(
            select(verdict.c.reason).where(verdict.c.outcome == int(Outcome.INAPPLICABLE))
        ).scalars()
        assert list(reasons) == ["the system has no output for a member"]
