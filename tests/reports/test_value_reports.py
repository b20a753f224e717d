"""`audit values`: other bounds against another run, means, correlations and contributions against other arithmetic."""

import numpy as np
import pandas as pd
import pytest
import translation_study
from scipy import stats

from audit.errors import AuditError, BadFile, BadRow, NotInstalled, UnknownName
from audit.reports import values
from audit.reports.values import (
    bounds_lines,
    bounds_report,
    contribution,
    contribution_lines,
    contribution_report,
    correlation_lines,
    correlation_report,
    levels_lines,
    levels_of,
    levels_report,
    mean_gains,
    means_lines,
    means_report,
    outcomes,
    read_references,
    reference_scores,
    source_outputs,
    verdict_values,
)
from audit.store import open_store

NAMES = list(translation_study.RELATIONS)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("values")


@pytest.fixture(scope="module")
def engine(folder):
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        translation_study.write_files(folder)
        opened = open_store(str(folder / "a.db"), create=True)
        ran = translation_study.run_study(opened, folder)
    assert ran.counts.outcomes["error"] == 0
    yield opened
    opened.dispose()


@pytest.fixture(scope="module")
def references(folder, engine):
    return read_references(folder / "references.csv")


def test_every_verdict_is_a_row_with_its_text_and_languages(engine):
    values = verdict_values(engine)
    assert values.groupby("relation").size()[["RTT", "MCMT"]].tolist() == [400, 400]  # 40 texts, 2 targets, 5 systems
    assert set(values["text"]) == set(translation_study.TEXTS)
    assert set(values["language"]) == {"en"}
    assert set(values["target"]) == {"es", "fr"}
    assert set(values["outcome"]) == {0, 1}
    round_trips = values[values["relation"] == "RTT"]
    assert ((round_trips["value"] >= 0.6) == (round_trips["outcome"] == 0)).all()
    assert list(dict.fromkeys(verdict_values(engine, relations=["RTT", "MCMT"])["relation"])) == ["RTT", "MCMT"]
    with pytest.raises(UnknownName, match="unknown relation 'RTTT'; known are: MCMT"):
        verdict_values(engine, relations=["RTTT"])
    with pytest.raises(AuditError, match="no study of task similarity has been run"):
        verdict_values(engine, task="similarity")


def test_rates_at_another_bound_are_those_of_another_run(engine, folder, monkeypatch):
    monkeypatch.chdir(folder)
    again = open_store(str(folder / "b.db"), create=True)
    params = {"RTT": {"threshold": 0.75}, "MCMT": {"threshold": 0.45}, "MGMT-sentence": {"bound": 1.2}}
    translation_study.run_study(again, folder, systems=("tb", "td"), params=params)
    bounds = bounds_report(engine, at=[0.75, 0.45, 1.2])
    for cell in bounds_report(again, at=[0.0])["cells"]:
        expected = {(cell["relation"], cell["system"]): cell for cell in bounds["cells"]}[
            cell["relation"], cell["system"]
        ]
        rates = {rate["at"]: rate["sr_observed"] for rate in expected["rates"]}
        assert cell["sr_observed"] == rates[cell["bound"]]
        assert (cell["checked"], cell["mean"]) == (expected["checked"], expected["mean"])
        assert cell["rates"] == [{"at": 0.0, "sr_observed": 1.0}]
    again.dispose()
    lines = bounds_lines(bounds)
    assert lines[0] == "MCMT, study 1 of days.csv@es,fr: SR_o at 0.6, and at other bounds, in per cent"
    assert lines[2].split() == ["system", "checked", "mean", "SR_o", "0.75", "0.45", "1.2"]


def test_rates_fall_as_the_bound_rises(engine):
    for cell in bounds_report(engine)["cells"]:
        rates = [rate["sr_observed"] for rate in cell["rates"]]
        assert len(rates) == 11
        assert rates == sorted(rates, reverse=True)
    with pytest.raises(AuditError, match="bound nan is no number"):
        bounds_report(engine, at=[float("nan")])


def test_labels_have_no_bounds(judged):
    with pytest.raises(AuditError, match="no relation that was run compares a value with a bound"):
        bounds_report(open_store(judged))


# Liu et al., the MGMT study, table 6: score of the translations that satisfy these levels (S sentence, P phrase, W
# word), the gains it prints beside them, and the mean gains in its last row. It has no row that satisfies all three.
BLEU = {"": 0.1789, "S": 0.1907, "P": 0.2004, "W": 0.2858, "SP": 0.2028, "PW": 0.3231, "SW": 0.3159}
METEOR = {"": 0.3881, "S": 0.4017, "P": 0.4117, "W": 0.5271, "SP": 0.4183, "PW": 0.5656, "SW": 0.5602}
WER = {"": 0.2452, "S": 0.2674, "P": 0.2782, "W": 0.4284, "SP": 0.2772, "PW": 0.4846, "SW": 0.4678}
GAINS = {("S", "S"): 0.0118, ("P", "P"): 0.0215, ("W", "W"): 0.1069, ("SP", "S"): 0.0024, ("SP", "P"): 0.0121}
GAINS |= {("PW", "P"): 0.0373, ("PW", "W"): 0.1227, ("SW", "S"): 0.0301, ("SW", "W"): 0.1252}


@pytest.mark.parametrize(
    ("scores", "expected"),
    [
        (BLEU, {"S": 0.0148, "P": 0.0236, "W": 0.1183}),
        (METEOR, {"S": 0.0178, "P": 0.0262, "W": 0.1504}),
        (WER, {"S": 0.0202, "P": 0.0330, "W": 0.1967}),
    ],
)
def test_the_mean_gains_are_those_of_the_study(scores, expected):
    gains = contribution({frozenset(combination): score for combination, score in scores.items()})
    # The last digit of what it prints is not always the rounded one: 0.1504 for (0.1390 + 0.1539 + 0.1585) / 3.
    assert mean_gains(gains) == pytest.approx(expected, abs=1.1e-4)
    if scores is BLEU:
        printed = {(combination, name): gains[frozenset(combination)][name] for combination, name in GAINS}
        assert printed == pytest.approx(GAINS, abs=1e-9)


def test_contributions_count_every_translation_once(engine, references):
    report = contribution_report(engine, None, NAMES, references)
    assert report["relations"] == NAMES
    assert sum(row["translations"] for row in report["combinations"]) == report["translations"]
    assert sum(row["translations"] for row in report["groups"]) == report["translations"]
    assert len(report["combinations"]) == 8
    # The same from the frames, by hand.
    values = verdict_values(engine, relations=NAMES)
    wide = values.pivot(index=["source", "system"], columns="relation", values="outcome").dropna()
    texts = values.drop_duplicates("source").set_index("source")["text"]
    wide = wide[[texts[source] != translation_study.TEXTS[0] for source, _ in wide.index]]  # it has no reference
    assert len(wide) == report["translations"]
    all_three = next(row for row in report["combinations"] if len(row["satisfied"]) == 3)
    assert all_three["translations"] == int((wide == 0).all(axis=1).sum())
    mean = sum(row["bleu"] * row["translations"] for row in report["groups"]) / report["translations"]
    again = sum((row["bleu"] or 0) * row["translations"] for row in report["combinations"]) / report["translations"]
    assert mean == pytest.approx(again)
    text = "\n".join(contribution_lines(report))
    assert "A reference is a proxy, never gold" in text
    assert "mean gain" in text


def test_pairs_of_relations_are_correlated_as_scipy_does(engine):
    report = contribution_report(engine, None, NAMES)
    wide = verdict_values(engine).pivot(index=["source", "system"], columns="relation", values="outcome").dropna()
    for pair in report["pairs"]:
        expected = stats.spearmanr(wide[pair["one"]], wide[pair["other"]])
        assert pair["spearman"] == pytest.approx(expected.statistic)
        assert pair["p"] == pytest.approx(expected.pvalue)
    assert report["gains"] == []
    assert {row["bleu"] for row in report["groups"]} == {None}
    assert "mean gain" not in "\n".join(contribution_lines(report))


def test_levels_that_were_not_run_are_asked_for(engine):
    with pytest.raises(AuditError, match=r"1 of the relations MGMT-sentence, MGMT-phrase, MGMT-word has verdicts"):
        levels_report(engine)
    values = pd.DataFrame({"relation": ["MGMT-word", "MGMT-sentence", "RTT"]})
    assert levels_of(values) == ["MGMT-sentence", "MGMT-word"]
    with pytest.raises(AuditError, match="MGMT-word was run in several versions"):
        levels_of(pd.DataFrame({"relation": ["MGMT-word@1#3", "MGMT-word@1#4"]}))


def test_levels_are_shares_and_their_mean_by_domain(engine):
    report = levels_report(engine, relations=NAMES, domain="domain")
    assert {(cell["system"], cell["domain"]) for cell in report["cells"]} == {
        (system, domain) for system in translation_study.SPOILS for domain in ("law", "news")
    }
    law = [text for number, text in enumerate(translation_study.TEXTS) if number % 4 == 0]
    values = verdict_values(engine)
    for cell in report["cells"]:
        assert cell["score"] == pytest.approx(np.mean(list(cell["shares"].values())))
        of_cell = values[(values["system"] == cell["system"]) & (values["text"].isin(law) == (cell["domain"] == "law"))]
        for name, share in cell["shares"].items():
            of_relation = of_cell[of_cell["relation"] == name]
            assert (cell["checked"][name], share) == (
                len(of_relation),
                pytest.approx((of_relation["outcome"] == 0).mean()),
            )
    assert [cell["domain"] for cell in levels_report(engine, relations=NAMES)["cells"]] == ["days.csv@es,fr"] * 5
    assert levels_lines(report)[2].split() == ["system", "level", "law", "news"]
    with pytest.raises(UnknownName, match="unknown attribute 'topic'; known are: domain, target_language"):
        levels_report(engine, relations=NAMES, domain="topic")


def test_balanced_means_are_plain_means(engine):
    report = means_report(engine, "RTT")
    values = verdict_values(engine, relations=["RTT"])
    means = {(mean["factor"], mean["level"]): mean["mean"] for mean in report["means"]}
    assert means == pytest.approx(
        {("language", level): mean for level, mean in values.groupby("target")["value"].mean().items()}
        | {("system", level): mean for level, mean in values.groupby("system")["value"].mean().items()}
    )
    assert (report["values"], report["texts"]) == (400, 40)
    assert len([pair for pair in report["comparisons"] if pair["factor"] == "system"]) == 10
    clustered, plain = report["tests"][1], means_report(engine, "RTT", independent=True)["tests"][1]
    assert (clustered["df_error"], plain["df_error"]) == (39 - 4 + 1, 390)
    assert "LS mean" in "\n".join(means_lines(report))
    with pytest.raises(UnknownName):
        means_report(engine, "MR1")


def test_correlations_are_those_of_scipy(engine, references):
    report = correlation_report(engine, references)
    assert (report["translations"], report["without_reference"], report["repeated"]) == (390, 10, 1)
    values = verdict_values(engine, relations=["RTT"])
    outputs = values[["source", "system_id", "text", "target"]].merge(source_outputs(engine, values["source"].unique()))
    scored, _ = reference_scores(outputs, references)
    both = values.merge(scored[["source", "system_id", "bleu"]])
    of_system = both[both["system"] == "tc"]
    row = next(
        row for row in report["sentences"] if (row["relation"], row["system"], row["measure"]) == ("RTT", "tc", "bleu")
    )
    assert row["n"] == len(of_system) == 78
    assert row["pearson"] == pytest.approx(stats.pearsonr(of_system["value"], of_system["bleu"]).statistic)
    assert row["spearman_p"] == pytest.approx(stats.spearmanr(of_system["value"], of_system["bleu"]).pvalue)
    together = next(row for row in report["sentences"] if row["system"] is None)
    assert together["pearson"] is not None
    assert (together["pearson_p"], together["spearman_p"]) == (None, None)
    of_systems = next(
        system for system in report["systems"] if (system["relation"], system["measure"]) == ("RTT", "bleu")
    )
    means = both.groupby("system")[["value", "bleu"]].mean()
    assert of_systems["n"] == 5
    assert of_systems["spearman"] == pytest.approx(stats.spearmanr(means["value"], means["bleu"]).statistic)
    text = "\n".join(correlation_lines(report))
    assert "never gold" in text
    assert "Over systems" in text


def test_the_best_of_several_references_counts(references):
    text = translation_study.TEXTS[1]
    exact = translation_study.marked(text, "es")
    outputs = pd.DataFrame({"text": [text, text], "target": ["es", "es"], "output": [exact, "another one"]})
    scored, notes = reference_scores(outputs, references)
    assert scored["bleu"].tolist() == pytest.approx([1.0, values.reference_bleu("another one", "another one", "es")])
    assert scored["wer"].tolist() == [1.0, 1.0]
    assert notes == []


def test_without_wordnet_there_is_no_meteor_and_a_note(references, engine, monkeypatch):
    def absent(*_, **__):
        raise NotInstalled("METEOR of English needs WordNet")

    monkeypatch.setattr(values, "meteor", absent)
    report = correlation_report(engine, references, relations=["RTT"])
    assert {row["measure"] for row in report["sentences"]} == {"bleu", "wer"}
    assert "METEOR of English needs WordNet (or without synonyms)" in report["notes"]
    table = contribution_report(engine, None, NAMES, references)
    assert {row["meteor"] for row in table["groups"]} == {None}
    assert contribution_lines(table)


@pytest.mark.parametrize(
    ("content", "error", "message"),
    [
        ("source,reference\na,b", BadFile, "column.s. target_language missing; needed are source"),
        ("source,reference,target_language\na,,es", BadRow, "line 2: the column reference is empty"),
        ("source,reference,target_language\na,b\nc,d", BadFile, "2 of 2 rows are wrong"),
        ("source,reference,target_language", BadFile, "the file has no rows"),
    ],
)
def test_bad_files_of_references_are_refused(content, error, message, tmp_path):
    (tmp_path / "r.csv").write_text(content, encoding="utf-8")
    with pytest.raises(error, match=message):
        read_references(tmp_path / "r.csv")


def test_references_of_other_texts_are_refused(engine, tmp_path):
    (tmp_path / "r.csv").write_text("source,reference,target_language\na,b,es", encoding="utf-8")
    with pytest.raises(AuditError, match="has no reference for any of the 400 outputs"):
        correlation_report(engine, read_references(tmp_path / "r.csv"))


def test_outcomes_are_those_that_all_relations_checked(engine):
    values = verdict_values(engine)
    satisfied = outcomes(values, NAMES)
    assert list(satisfied.columns) == NAMES
    assert len(satisfied) == (values["relation"] == "MGMT-sentence").sum() < 400
    assert set(np.unique(satisfied.to_numpy())) <= {0.0, 1.0}
