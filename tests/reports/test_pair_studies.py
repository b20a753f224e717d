"""Reports, plans, agreement, exports and replays of a study whose questions are about outputs (`tests/summaries.py`).

Four texts; `lead` and `first` say the same of all, `last` something else and violates the relation on one. Eleven pairs
are satisfied, and seven outputs of sources are asked about.
"""

from dataclasses import replace

import pytest
import summaries
from sqlalchemy import select

from audit.exchange.export import export
from audit.exchange.replay import import_export, replay
from audit.false_satisfaction.questions import queue_length
from audit.judging.samples import ask_next
from audit.reports.agreement import agreement_report, stored_agreement
from audit.reports.ratings import attributed, attributed_outputs, stored_ratings
from audit.reports.sections import to_terminal
from audit.reports.study import study_report
from audit.runner.executors import InProcess
from audit.runner.run import run
from audit.sampling.samples import SampleOptions
from audit.store import open_store, table_of, tables

registered = pytest.fixture(autouse=True)(summaries.registered)


@pytest.fixture
def study(tmp_path):
    return summaries.study(tmp_path)


@pytest.fixture
def judged(study):
    anna, ben, _ = summaries.people(study)
    summaries.judge_all(study, anna, ben)
    return study


@pytest.mark.slow
def test_the_report_of_a_judged_study(judged):
    report = study_report(judged)
    rates = {
        cell["system"]: (cell["sr_observed"], cell["fs_rate"]["value"], cell["sr_genuine"]["value"])
        for cell in report["cells"]
    }
    # SR_g = SR_o (1 - R_FS): all of `last`'s three satisfactions out of four are false.
    assert rates == {"first": (1, 0, 1), "lead": (1, 0, 1), "last": (0.75, 1, 0)}
    assert report["signature"]["answers"] == {"whose": "both", "people": 7}
    assert report["relations"][0]["best_genuine"] == ["first", "lead"]
    assert "summarization" in to_terminal(report, full=True)


def test_agreement_on_outputs(judged):
    rated = stored_ratings(judged, "summarization")
    assert rated.origin == {"task": "summarization", "about": "pairs"}
    report = agreement_report(rated, by="system", parts=attributed_outputs(judged, "system"))
    assert (report["items"], report["ratings"]) == (7, 14)
    assert {group["value"]: group["items"] for group in report["groups"]} == {"first": 4, "last": 3, "lead": 4}
    assert attributed(judged, "system").empty  # that is of questions about inputs
    assert set(attributed(judged, "language")["value"]) == {"zh"}
    (agreement,) = stored_agreement(judged)
    assert (agreement["task"], agreement["kind"]) == ("summarization", "pair")


@pytest.mark.slow
def test_an_export_comes_back_and_replays_the_same(judged, tmp_path):
    export(judged, tmp_path / "out")
    assert replay(tmp_path / "out").equal
    import_export(tmp_path / "out", str(tmp_path / "again.db"))
    again = open_store(str(tmp_path / "again.db"))
    with again.connect() as connection, judged.connect() as other:
        for model in (tables.Question, tables.Judgement, tables.Answer, tables.Output):
            query = select(table_of(model)).order_by(*table_of(model).primary_key)
            assert connection.execute(query).all() == other.execute(query).all()
    assert study_report(again)["cells"] == study_report(judged)["cells"]
    history = (tmp_path / "out" / "judgements.csv").read_text(encoding="utf-8")
    assert summaries.said("last", summaries.TEXTS[0]) in history


@pytest.mark.slow
def test_a_run_of_own_systems_is_asked_about(tmp_path, monkeypatch):
    from small_corpus import SmallCorpus

    from audit.tasks import Input

    class Chinese(SmallCorpus):
        task, language = "summarization", "zh"

        def rows(self):
            for row in super().rows():
                yield replace(row, input=Input.of(row.input.text, language="zh"))

    (tmp_path / "own_summaries.py").write_text(
        "from audit.tasks import Output\n"
        "class Lead:\n"
        "    tasks, languages = ('summarization',), ('zh',)\n"
        "    def __call__(self, text):\n"
        "        return Output(text=text.split('。')[0] + '。')\n"
        "class Whole(Lead):\n"
        "    def __call__(self, text):\n"
        "        return Output(text=text)\n",
        encoding="utf-8",
    )
    monkeypatch.chdir(tmp_path)
    engine = open_store(str(tmp_path / "own.db"), create=True)
    with InProcess() as executor:
        run(
            engine, Chinese("four", summaries.TEXTS), ["own_summaries:Lead", "own_summaries:Whole"],
            [summaries.relation()], executor,
        )  # fmt: skip
    ask_next(engine, SampleOptions(share=1.0))
    # Two different outputs of each of four texts; both relations of outputs hold, and answers are carried.
    assert queue_length(engine).waiting == 8
    anna, ben, _ = summaries.people(engine)
    summaries.judge_all(engine, anna, ben)
    cells = {cell["system"]: cell for cell in study_report(engine)["cells"]}
    assert {name: (cell["judged"], cell["fs_rate"]["value"]) for name, cell in cells.items()} == {
        "own_summaries:Lead": (4, 0.0), "own_summaries:Whole": (4, 0.0),
    }  # fmt: skip
