"""`audit report --proxy`: on a small real run whose groups gold answers."""

import json

import numpy as np
import pandas as pd
import pytest
from sqlalchemy import select

from audit.corpora import get_corpus
from audit.false_satisfaction.cells import count
from audit.false_satisfaction.groups import judged_groups
from audit.false_satisfaction.proxies import cell_proxies
from audit.false_satisfaction.resolution import State
from audit.judging.labels import answer_with_gold
from audit.judging.samples import draw_all
from audit.relations import Outcome, get_relation
from audit.reports.study import study_report
from audit.reports.validity import powered
from audit.runner.executors import InProcess
from audit.runner.run import run
from audit.sampling.draw import SampleRequest, Size
from audit.statistics.intervals import mid_p
from audit.statistics.prediction_powered import prediction_powered
from audit.store import open_store, table_of, tables

NEW = ("method", "gain", "method_reason")


@pytest.fixture(scope="module")
def real(tmp_path_factory):
    """(path, engine): three systems on 120 sentences whose columns say how long they are, 60 of each cell judged."""
    folder = tmp_path_factory.mktemp("real")
    rows = list(get_corpus("rotten-tomatoes").rows())[::70][:120]
    frame = pd.DataFrame({"text": [row.input.text for row in rows], "gold": [row.gold for row in rows]})
    frame.assign(length=frame["text"].str.len(), by="ann").to_csv(folder / "films.csv", index=False)
    engine = open_store(str(folder / "real.db"), create=True)
    corpus = get_corpus(str(folder / "films.csv"))
    with InProcess() as executor:
        relations = [get_relation("sentiment", name) for name in ("MR3.1", "MR1.1")]
        run(engine, corpus, ["vader", "textblob", "hiv4"], relations, executor)
    draw_all(engine, SampleRequest(Size(per_relation=60)))
    answer_with_gold(engine)
    return str(folder / "real.db"), engine


def by_hand(engine, counted, relation, system):
    """(truth, proxies of the sample, proxies of all) of one cell, group by group."""
    group, verdict, member, output = (
        table_of(model) for model in (tables.Group, tables.Verdict, tables.Member, tables.Output)
    )
    ids = counted.keys.set_index(["relation", "system"]).loc[(relation, system)]
    with engine.connect() as connection:
        said = {
            (row.system_id, row.input_id): (row.label, row.score)
            for row in connection.execute(select(output).order_by(output.c.attempt))
        }
        satisfied = connection.execute(
            select(group.c.id)
            .join(verdict, verdict.c.group_id == group.c.id)
            .where(
                group.c.relation_id == int(ids["relation_id"]),
                verdict.c.system_id == int(ids["system_id"]),
                verdict.c.outcome == int(Outcome.SATISFIED),
            )
        ).scalars()
        members = {}
        for row in connection.execute(select(member)):
            members.setdefault(row.group_id, []).append(row.input_id)
        source = table_of(tables.Source)
        lengths = connection.execute(
            select(group.c.id, source.c.attributes).join(source, source.c.id == group.c.source_id)
        )
        length = {id: float(attributes["length"]) for id, attributes in lengths}
    own_id, systems = int(ids["system_id"]), set(counted.keys["system_id"])
    proxies = {}
    for id in satisfied:
        shares = [
            np.mean([said[other, member][0] != said[own_id, member][0] for other in systems - {own_id}])
            for member in members[id]
        ]
        unsure = 1 - min(said[own_id, member][1] for member in members[id])
        proxies[id] = (np.mean(shares), unsure, length[id])
    drawn = counted.drawn[
        (counted.drawn["relation_id"] == ids["relation_id"]) & (counted.drawn["system_id"] == own_id)
    ].sort_values("rank")
    judged = drawn[drawn["judged"]]
    sample = np.array([proxies[id] for id in judged["group_id"]])
    return (judged["state"] == State.FALSE).to_numpy(int), sample, np.array(list(proxies.values()))


@pytest.mark.slow
@pytest.mark.parametrize("names", [("disagreement",), ("low_confidence", "length"), ("length", "disagreement")])
def test_every_cell_is_what_prediction_powered_says(real, names):
    _, engine = real
    report = study_report(engine, "gold", proxies=names)
    counted = count(engine, "gold")
    columns = [("disagreement", "low_confidence", "length").index(name) for name in names]
    powered = 0
    for cell in report["cells"]:
        truth, sample, population = by_hand(engine, counted, cell["relation"], cell["system"])
        assert (len(truth), truth.sum(), len(population)) == (cell["judged"], cell["false"], cell["satisfied"])
        # A system without scores: that proxy is left out.
        used = [column for column in columns if column != 1 or population[:, 1].std() > 0]
        expected = prediction_powered(truth, sample[:, used], population[:, used])
        assert cell["fs_rate"] == pytest.approx(expected.estimate)
        assert (cell["fs_low"], cell["fs_high"]) == pytest.approx((expected.low, expected.high))
        assert (cell["method"], cell["gain"]) == (expected.method, pytest.approx(expected.gain))
        assert (cell["method_reason"] or "").endswith(expected.reason)
        assert ("low_confidence is left out" in (cell["method_reason"] or "")) == (used != columns)
        assert cell["sr_genuine"] == pytest.approx(cell["sr_observed"] * (1 - cell["fs_rate"]))
        assert cell["sr_genuine_low"] == pytest.approx(cell["sr_observed"] * (1 - cell["fs_high"]))
        assert cell["sr_genuine"] + cell["vr_genuine"] == pytest.approx(1)
        powered += cell["gain"] > 1
    assert powered >= 1
    assert report["signature"]["proxy"] == {"names": list(names), "folds": 10, "comparisons": "without proxies"}
    json.dumps(report, allow_nan=False)


@pytest.mark.slow
def test_without_proxies_nothing_but_the_new_names_is_new(real):
    _, engine = real
    report = study_report(engine, "gold", target="corpus")
    assert "proxy" not in report["signature"]
    for cell in report["cells"]:
        usual = mid_p(cell["false"], cell["judged"], cell["satisfied"])
        assert [cell[name] for name in ("fs_rate", "fs_low", "fs_high", *NEW)] == [
            cell["false"] / cell["judged"], usual.low, usual.high, usual.method, None, None,
        ]  # fmt: skip
    # A proxy that is known to be of no use changes nothing: every cell falls back to the report's own interval.
    again = study_report(engine, "gold", proxies=["disagreement"], study=None)
    fallen = [cell for cell in again["cells"] if cell["gain"] == 1]
    usual = {(cell["relation"], cell["system"]): cell for cell in report["cells"]}
    for cell in fallen:
        assert {name: cell[name] for name in cell if name not in NEW} == pytest.approx(
            {name: value for name, value in usual[cell["relation"], cell["system"]].items() if name not in NEW}
        )


@pytest.mark.slow
def test_roll_ups_follow_the_estimates_and_comparisons_do_not(real):
    _, engine = real
    report = study_report(engine, "gold", proxies=["disagreement"])
    assert report["relations"] == [
        usual | {"best_own": relation["best_own"]}
        for usual, relation in zip(
            study_report(engine, "gold", target="corpus")["relations"], report["relations"], strict=True
        )
    ]
    satisfied = np.array([cell["satisfied"] for cell in report["cells"]])
    rates = np.array([cell["fs_rate"] for cell in report["cells"]])
    everything = next(roll_up for roll_up in report["rollups"] if roll_up["by"] == "overall")
    assert everything["fs_rate"] == pytest.approx((satisfied * rates).sum() / satisfied.sum())
    assert everything["fs_low"] < everything["fs_rate"] < everything["fs_high"]


def test_what_varies_together_is_what_proxies_leave(real):
    _, engine = real
    counted = count(engine, "gold")
    judged = judged_groups(counted)
    estimates, left = powered(counted, judged, cell_proxies(engine, counted, ["disagreement"]))
    assert estimates["gain"].max() > 1
    for cell in estimates.itertuples():
        of_cell = (judged["relation"] == cell.relation) & (judged["system"] == cell.system)
        truth, sample, population = by_hand(engine, counted, cell.relation, cell.system)
        used = prediction_powered(truth, sample[:, 0], population[:, 0])
        slope = used.weights[0] if used.weights else 0.0
        assert left.loc[of_cell, "value"].to_numpy() == pytest.approx(truth - slope * sample[:, 0])
        assert (left.loc[of_cell, "false"] == truth).all()
