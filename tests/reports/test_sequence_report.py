"""`--interval sequence`: what holds whenever judging stops, and what is said where something else is shown."""

import json

import pytest

from audit.cli import main
from audit.errors import AuditError
from audit.judging.labels import answer_with_gold
from audit.judging.samples import draw_all
from audit.reports.html import to_html
from audit.reports.plan import PlanRequest, plan
from audit.reports.rerank import rerank
from audit.reports.study import study_report
from audit.reports.terminal import to_terminal
from audit.runner.imported import import_run, read_run
from audit.sampling.draw import SampleRequest, Size
from audit.statistics.intervals import prior_posterior
from audit.store import open_store

NOTE = "fixed-n intervals hold if where to stop was not chosen by looking at the results"


def imported(tmp_path, silent=()):
    """80 texts, two systems; a is wrong on every fourth, b on every fifth; gold is silent on some."""
    rows = []
    for number in range(80):
        for system, every in (("a", 4), ("b", 5)):
            label = "negative" if number % every == 0 else "positive"
            group = {
                "relation": "MR1.1",
                "system": system,
                "source": f"text {number}",
                "follow_ups": [f"text {number}!"],
            }
            group |= {"outputs": [label, label], "verdict": "satisfied", "id": str(number)}
            rows.append(group | ({} if number in silent else {"gold": "positive"}))
    path = tmp_path / "run.jsonl"
    path.write_text("\n".join(json.dumps(row) for row in rows), encoding="utf-8")
    engine = open_store(str(tmp_path / "audit.db"), create=True)
    import_run(engine, read_run(path))
    draw_all(engine, SampleRequest(Size(per_relation=60)))
    answer_with_gold(engine)
    return engine


def test_cells_pairs_and_roll_ups_are_those_of_sequences(tmp_path):
    report = study_report(imported(tmp_path), interval="sequence")
    for cell in report["cells"]:
        expected = prior_posterior(cell["false"], cell["judged"], 80)
        assert (cell["fs_low"], cell["fs_high"], cell["method"]) == (
            expected.low, expected.high, "prior-posterior sequence",
        )  # fmt: skip
        assert cell["judged"] == 60
        assert cell["method_reason"] is None
    (pair,) = report["relations"][0]["pairs"]
    # The systems differ on the 28 texts that exactly one of them gets wrong (20 + 16 - 2 x 4), of 80 groups: in truth
    # by 4. What is not judged adds at most 1 each to either side.
    assert (pair["informative"], pair["groups"]) == (28, 80)
    rest, part = (28 - pair["judged"]) / 80, pair["difference"] * pair["judged"] / 28
    assert part - rest - 1e-12 <= pair["low"] <= pair["difference"] <= pair["high"] <= part + rest + 1e-12
    assert pair["low"] <= (16 - 20) / 80 <= pair["high"] or pair["low"] <= (20 - 16) / 80 <= pair["high"]
    assert 0.05 < pair["p"] <= 1
    assert pair["mcnemar_p"] is None
    assert {roll_up["method"] for roll_up in report["rollups"]} == {"union bound over the cells' confidence sequences"}
    signature = report["signature"]
    assert (signature["interval"], signature["stopping"]) == ("sequence", "sequence: holds whenever judging stops")
    json.dumps(report, allow_nan=False)


def test_every_form_says_that_it_holds_whenever_judging_stops(tmp_path):
    engine = imported(tmp_path)
    sequence, usual = (study_report(engine, interval=name, target="corpus") for name in ("sequence", "midp"))
    for form in (to_terminal, to_html):
        said = "Intervals are confidence sequences, which hold whenever judging stops."
        assert " ".join(form(sequence).split()).count(said) == 1
        assert "confidence sequence" not in form(usual)
    assert "stopping:sequence: holds whenever judging stops" in to_terminal(sequence)
    assert all(
        cell["fs_low"] < other["fs_low"] < other["fs_high"] < cell["fs_high"]
        for cell, other in zip(sequence["cells"], usual["cells"], strict=True)
    )


def test_a_sample_that_is_judged_in_part_is_noted_with_fixed_n_intervals(tmp_path):
    engine = imported(tmp_path, silent=(3, 50))
    usual, sequence = study_report(engine), study_report(engine, interval="sequence")
    assert all(0 < cell["judged"] < cell["drawn"] == 60 for cell in usual["cells"])
    (note,) = [note for note in usual["signature"]["notes"] if NOTE in note]
    assert note.startswith("2 cells are judged in part: ")
    assert 'the interval "sequence" holds anyway' in note
    assert NOTE in " ".join(to_terminal(usual).split())
    assert not any(NOTE in note for note in sequence["signature"]["notes"])


def test_a_sample_that_is_judged_whole_or_not_at_all_has_no_note(tmp_path):
    engine = imported(tmp_path)
    for whose in ("both", "people"):
        assert not any(NOTE in note for note in study_report(engine, whose)["signature"]["notes"])


def test_totals_from_elsewhere_have_sequences_too(tmp_path, capsys):
    path = tmp_path / "totals.csv"
    path.write_text("relation,system,groups,satisfied,judged,false\nX,a,1000,900,400,100\n", encoding="utf-8")
    (cell,) = rerank(path, "sequence")["cells"]
    assert (cell["fs_low"], cell["fs_high"]) == prior_posterior(100, 400, 900).rounded(17)
    with pytest.raises(AuditError, match=r"target population choose midp"):
        rerank(path, "sequence", target="population")
    assert main(["rerank", str(path), "--interval", "sequence", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["signature"]["stopping"].startswith("sequence")


def test_the_population_is_refused_in_a_sentence(tmp_path, capsys):
    imported(tmp_path)
    where = str(tmp_path / "audit.db")
    assert main(["report", "--db", where, "--interval", "sequence", "--target", "population"]) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert "choose midp, or take the target corpus" in said


def test_plans_name_the_option(tmp_path):
    engine = imported(tmp_path)
    for options in ({"half_width": 0.05}, {"decide": "winner"}):
        for design in plan(engine, PlanRequest(**options))["designs"]:
            named = "audit report --interval sequence" in design["reported"]
            assert named == (design["design"] in ("always-valid",))


def test_the_sequence_of_many_pairs(tmp_path):
    rows = []
    for number in range(300):
        for system, wrong in (("a", number % 3 == 0), ("b", number % 3 == 1)):
            label = "negative" if wrong else "positive"
            group = {
                "relation": "MR1.1",
                "system": system,
                "source": f"text {number}",
                "follow_ups": [f"text {number}!"],
            }
            rows.append(group | {"outputs": [label, label], "verdict": "satisfied", "gold": "positive"})
    path = tmp_path / "run.jsonl"
    path.write_text("\n".join(json.dumps(row) for row in rows), encoding="utf-8")
    engine = open_store(str(tmp_path / "audit.db"), create=True)
    import_run(engine, read_run(path))
    draw_all(engine, SampleRequest(Size(per_relation=120)))
    answer_with_gold(engine)
    (pair,) = study_report(engine, interval="sequence")["relations"][0]["pairs"]
    # 200 of 300 groups decide, each by 1 or -1, and the systems are equally good.
    assert 30 <= pair["judged"] < pair["informative"] == 200
    assert pair["low"] < 0 < pair["high"]
    assert pair["high"] - pair["low"] < 2 * 200 / 300
    assert pair["p"] > 0.05


def test_rankings_have_no_probabilities_with_sequences(tmp_path):
    report = study_report(imported(tmp_path), interval="sequence")
    assert report["signature"]["target"] == "corpus"
    (relation,) = report["relations"]
    for entry in relation["ranking"]:
        assert (entry["p_best"], entry["rank_low"], entry["letters"]) == (None, None, None)
        assert entry["reason"].startswith(("not with sequences: ", "not enough judged: "))
