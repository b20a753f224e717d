"""`audit values`: other bounds against another run, means, correlations and contributions against other arithmetic."""

import pytest
import translation_study
from scipy import stats

from audit.errors import BadFile, BadRow, UnknownName
from audit.reports.values import (
    bounds_lines,
    bounds_report,
    contribution,
    correlation_lines,
    correlation_report,
    mean_gains,
    means_lines,
    means_report,
    read_references,
    reference_scores,
    source_outputs,
    verdict_values,
)
from audit.store import open_store


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
