"""What a report would say if gold had the label that it lacks, against the same counted by hand."""

import json
from pathlib import Path

import pandas as pd
import pytest

from audit.cli import main
from audit.corpora import get_corpus
from audit.false_satisfaction import resolution
from audit.false_satisfaction.cells import count, read_resting
from audit.judging.labels import answer_with_gold
from audit.judging.samples import draw_all
from audit.relations import get_relation
from audit.reports.exports.replay import replay
from audit.reports.sensitivity import GoldError
from audit.reports.study import study_report
from audit.reports.words import notes_of
from audit.runner.executors import InProcess
from audit.runner.run import run
from audit.sampling.draw import SampleRequest, Size
from audit.store import open_store

SYSTEM = """
def says(text):
    return text.split()[0].lower()

def never(text):
    return "positive"
"""


def texts(path, gold):
    """Ten texts whose first word is what the first system says: 4 of them neutral, of the others 2 wrong."""
    said = ["neutral"] * 4 + ["positive"] * 4 + ["negative"] * 2
    frame = pd.DataFrame({"text": [f"{word} film number {at}." for at, word in enumerate(said)], "gold": gold})
    frame.to_csv(path, index=False)


@pytest.fixture
def report(tmp_path, monkeypatch):
    def judged_by_gold(gold):
        (tmp_path / "mine_says.py").write_text(SYSTEM, encoding="utf-8")
        monkeypatch.syspath_prepend(tmp_path)
        texts(tmp_path / "films.csv", gold)
        engine = open_store(str(tmp_path / "a.db"), create=True)
        corpus, relation = get_corpus(str(tmp_path / "films.csv")), get_relation("sentiment", "MR3.1")
        with InProcess() as executor:
            run(engine, corpus, ["mine_says:says", "mine_says:never"], [relation], executor)
        draw_all(engine, SampleRequest(Size(share=1.0)))
        answer_with_gold(engine)
        return engine, study_report(engine, "gold")

    return judged_by_gold


TWO = ["positive"] * 6 + ["negative"] * 4


def test_outputs_that_gold_never_says(report):
    # `says` is wrong on 4 neutral ones and on 2 that it calls positive; `never` on the 4 negative ones.
    engine, lacking = report(TWO)
    entry = lacking["sensitivity"]
    assert (entry["labels"], entry["share"]) == (["neutral"], pytest.approx(4 / 10))
    assert entry["fs_rate"] == pytest.approx(10 / 20) == lacking["overall"]["fs_rate"]
    assert entry["fs_rate_right"] == pytest.approx(6 / 20)
    assert entry["fs_rate_left_out"] == pytest.approx(6 / 16)
    rates = {
        system["system"].split(":")[-1]: [system["fs_rate"], system["fs_rate_right"]] for system in entry["systems"]
    }
    assert rates == {"says": pytest.approx([0.6, 0.2]), "never": pytest.approx([0.4, 0.4])}
    # `says` would be best, with .8 instead of .4.
    assert (entry["best_changes_estimated"], entry["best_changes_estimated_right"]) == (0, 0)
    assert lacking["relations"][0]["best_genuine"] == ["mine_says:never"]
    assert count(engine, "gold").cells["false"].sum() == 10  # nothing was changed


def test_gold_that_says_every_label_needs_no_such_line(report):
    _, whole = report(["neutral"] * 2 + TWO[2:])
    assert whole["sensitivity"] is None
    assert not any("gold never says" in note for note in notes_of(whole))


def errors(report):
    return {name: report["gold_error"][name] for name in ("fs_rate", "fs_rate_least", "fs_rate_most")}


def test_wrong_gold_labels_are_corrected_as_the_groups_settle(report):
    # Of 20 groups 10 are seen false. The 4 neutral ones are false whatever gold says; of the other 16, e of the true
    # ones are seen false and e of the false ones seen true: 4 + 16 (6 / 16 - e) / (1 - 2 e).
    engine, _ = report(TWO)
    corrected = study_report(engine, "gold", gold_error=GoldError(0.05, 0.1))
    most, least = ((4 + 16 * (6 / 16 - e) / (1 - 2 * e)) / 20 for e in (0.05, 0.1))
    assert errors(corrected) == pytest.approx({"fs_rate": 0.5, "fs_rate_least": least, "fs_rate_most": most})
    entry = corrected["gold_error"]
    assert entry["fs_low"] < entry["fs_rate_least"] < entry["fs_rate_most"] < entry["fs_high"]
    assert (entry["worst_least"], entry["worst_most"]) == pytest.approx((0.4, 0.6))
    assert (entry["groups"], entry["by_gold"], entry["left_out"], entry["cut"]) == (20, 20, 0, False)
    says = next(system for system in entry["systems"] if system["system"].endswith("says"))
    assert says["fs_rate_most"] == pytest.approx((4 + 6 * (2 / 6 - 0.05) / 0.9) / 10)
    assert corrected["signature"]["gold_error"] == [0.05, 0.1]
    # Of this corpus everything is judged: what is left to chance is gold's errors, and both systems share each.
    census = study_report(engine, "gold", target="corpus", gold_error=GoldError(0.05, 0.05))["gold_error"]
    assert census["fs_low"] < census["fs_rate_least"] < census["fs_high"]
    assert census["fs_high"] - census["fs_low"] < entry["fs_high"] - entry["fs_low"]
    assert "gold_error" not in study_report(engine, "gold")


def test_people_go_before_gold_and_are_not_corrected(report):
    engine, _ = report(TWO)
    assert study_report(engine, "people", gold_error=GoldError(0.1, 0.1))["gold_error"] is None
    counted = count(engine, "gold")
    resting = read_resting(engine, counted, "gold")
    assert resting["modelled"].all()
    # Ten texts have a label each, which both systems' groups rest on; members that it is carried to are no others.
    assert resting["labels"].map(len).tolist() == [1] * 20
    assert resting["labels"].nunique() == 10


def test_the_correction_is_said_in_both_languages_and_replayed(report, tmp_path, capsys):
    report(TWO)
    database, folder, published = (str(tmp_path / name) for name in ("a.db", "export", "report.json"))
    assert main(["report", "--db", database, "--gold-error", "0.02-0.1", "--json"]) == 0
    (tmp_path / "report.json").write_text(said := capsys.readouterr().out, encoding="utf-8")
    (note,) = [note for note in notes_of(json.loads(said)) if note.startswith("With 2.0 to 10.0")]
    assert "are not corrected: at worst R_FS is 40.0 to 60.0 [" in note
    assert any("未作校正" in chinese for chinese in notes_of(json.loads(said), "zh"))
    assert main(["export", "--db", database, "--out", folder]) == 0
    replayed = replay(Path(folder), [Path(published)]).documents
    assert len(replayed) >= 2
    assert {document.differences for document in replayed} == {0}


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--gold-error", "0.5"], "with an error of 0.5 gold of 2 labels says nothing of the truth"),
        (["--gold-error", "5%"], "the error of gold '5%' is no rate; allowed are a number from 0 to less than 1"),
        (["--gold-error", "0.1-0.05"], "'0.1-0.05' is no rate"),
        (["--gold-error=-1"], "'-1' is no rate"),
        (["--gold-error", "0.1", "--interval", "sequence"], "leave proxies and the interval 'sequence' out"),
        (["--gold-error", "0.1", "--proxy", "disagreement"], "leave proxies and the interval 'sequence' out"),
    ],
)
def test_errors_that_say_nothing_are_one_sentence(report, tmp_path, capsys, options, says):
    report(TWO)
    assert main(["report", "--db", str(tmp_path / "a.db"), *options]) == 2
    shown = capsys.readouterr().err
    assert says in shown
    assert shown.count("\n") == 1


def test_drawn_groups_are_read_once(report, monkeypatch):
    """A database of 10^5 groups, all judged, spent nearly half of a report on reading and settling them again."""
    engine, _ = report(TWO)
    drawn, real = [], resolution.Drawn

    def counting(*arguments, **named):
        drawn.append(real(*arguments, **named))
        return drawn[-1]

    with monkeypatch.context() as patched:
        patched.setattr(resolution, "Drawn", counting)
        assert study_report(engine, "gold")["sensitivity"] is not None
    assert len(drawn) == len(count(engine).drawn)
