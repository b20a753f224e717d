"""Distances from references: 1 - edit / (len a + len b), worked by hand, and as a proxy of judged groups."""

import json

import pytest
import translations
from sqlalchemy import select

from audit.errors import UnknownName
from audit.false_satisfaction.cells import count
from audit.false_satisfaction.population import read_population
from audit.false_satisfaction.proxies import reference_distances
from audit.judging.accounts import add_account
from audit.judging.judgements import judge
from audit.judging.queue import next_question
from audit.judging.samples import ask_next
from audit.runner.imported import import_run
from audit.sampling.samples import SampleOptions
from audit.store import open_store
from audit.store.core import source

REFERENCES = ("El comité aplazó la votación.", "Llovió toda la mañana.", "<b>El puente</b>", "x")


@pytest.fixture
def build(tmp_path):
    def make(references):
        lines = [
            json.dumps(row | {"attributes": {"reference": reference}} if reference is not None else row)
            for row in translations.rows("R")
            for reference in [references[int(row["id"])]]
        ]
        path = tmp_path / "run.jsonl"
        path.write_text("\n".join(lines), encoding="utf-8")
        engine = open_store(str(tmp_path / "a.db"), create=True)
        import_run(engine, path)
        ask_next(engine, SampleOptions(share=1.0, annotators=1))
        ann = add_account(engine, "ann", "annotator", "a password of hers").id
        while (shown := next_question(engine, ann)) is not None:
            judge(engine, ann, shown.id, "mistranslated" if "puente" in str(shown.output) else "accurate")
        return engine

    return make


def test_the_sources_output_is_compared_with_its_reference(build):
    engine = build(REFERENCES)
    with engine.connect() as connection:
        population = read_population(connection, 1)
        keys = connection.execute(select(source.c.row).order_by(source.c.id)).scalars().all()
    measured = dict(zip(keys, reference_distances(population, [REFERENCES[int(key)] for key in keys]), strict=True))
    # Equal: 0. noche -> mañana: five letters change and one is put in, in texts of 21 and 22 characters. Of the third
    # text of 26 characters the last 10, " & el río.", are not in the reference of 16.
    for row, expected in ((0, 0), (1, 6 / (21 + 22)), (2, 10 / (26 + 16))):
        assert measured[str(row)] == pytest.approx(expected)


def test_it_is_a_proxy_of_every_satisfied_group(build):
    counted = count(build(REFERENCES), proxies=["reference"])
    assert counted.checked.proxy.shape == (len(counted.checked.cell), 1)
    assert not counted.left_out
    assert counted.cells["false"].tolist() == [2] * len(counted.cells)  # both texts with a bridge are wrong


def test_a_study_in_which_a_source_has_no_reference_leaves_it_out(build):
    engine = build((*REFERENCES[:3], None))
    reasons = set(count(engine, proxies=["reference"]).left_out.values())
    assert reasons == {"not every source has a reference and an output that is a text"}
    with pytest.raises(UnknownName, match="unknown proxy 'referenz'"):
        count(engine, proxies=["referenz"])
