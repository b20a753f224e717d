"""`audit pivots`: the document against the study's own sheet and by hand, and what its text says."""

from pathlib import Path

import pytest

from audit.corpora.recordings import read_chains
from audit.reports.pivots import pivots_report

PIVOTS = Path(__file__).parents[2].parent / "shared" / "data" / "mcmt" / "pivot_runs.csv"
ROWS = [
    # system, source, pivot, target, direct, alternate; scores by hand: see the tests.
    ("a", "One.", "fr", "de", "eins zwei drei vier", "eins zwei drei vier"),
    ("a", "Two.", "fr", "de", "eins zwei drei vier", "fünf"),
    ("b", "One.", "fr", "de", "eins zwei drei vier", "eins zwei drei vier"),
    ("b", "Two.", "es", "de", "eins", "zwei"),
    ("a", "One.", "de", "en", "One.", "One."),
    ("b", "One.", "de", "en", "Two.", "One."),
]


def as_csv(rows, head="system,source,pivot,target,direct,alternate"):
    return "\n".join([head, *(",".join(map(str, row)) for row in rows)])


@pytest.fixture
def chains(tmp_path):
    (tmp_path / "chains.csv").write_text(as_csv(ROWS), encoding="utf-8")
    return read_chains(tmp_path / "chains.csv")


@pytest.fixture(scope="module")
def recorded():
    if not PIVOTS.exists():
        pytest.skip("the study's recorded sheets (../shared/data/mcmt) are not here")
    return read_chains(PIVOTS)


def test_cells_by_hand(chains):
    report = pivots_report(chains)
    cells = {(cell["level"], cell["system"]): cell for cell in report["pivots"]["cells"]}
    # System a: one pair alike, one without a word in common.
    assert cells["de", "a"]["pairs"] == 2
    assert cells["de", "a"]["bleu"] == pytest.approx(0.5)
    assert cells["de", "a"]["cosine"] == pytest.approx(0.5)
    assert (cells["de", "a"]["satisfied"], cells["de", "a"]["equal"]) == (1, 1)
    assert (cells["de", "a"]["sr_observed"], cells["de", "a"]["sentences"]) == (0.5, 2)
    assert cells["de", "a"]["sr_low"] < 0.5 < cells["de", "a"]["sr_high"]
    # System b: eins -> zwei takes four edits of eight characters.
    assert cells["de", "b"]["levenshtein"] == pytest.approx((1 + 1 - 4 / 8) / 2)


def test_all_recorded_scores_of_the_study_are_met(recorded):
    report = pivots_report(recorded)
    assert (report["pivots"]["pairs"], report["round_trips"]["pairs"], report["round_trips"]["unlike"]) == (
        2796,
        956,
        0,
    )
    for score in report["recorded"]:
        assert (score["met"], score["rows"]) == (3752, 3752)
    unknown = {mean["level"] for mean in report["pivots"]["model"]["means"] if mean["mean"] is None}
    assert unknown == {"es", "fr", "ko", "pt", "ru", "sv", "youdao"}  # Youdao translated into Chinese and Japanese only


def of_levels(model, factor):
    return {mean["level"]: mean for mean in model["means"] if mean["factor"] == factor}


def test_chinese_and_japanese_of_three_systems(recorded):
    frame = recorded.frame[recorded.frame["target"].isin(["zh", "ja"])]
    plain = (
        frame.assign(s=frame[["levenshtein", "bleu", "cosine"]].mean(axis=1)).groupby(["target", "system"])["s"].mean()
    )
    model = pivots_report(recorded, targets=["zh", "ja"])["pivots"]["model"]
    languages, systems = of_levels(model, "target"), of_levels(model, "system")
    # Three cells with the same weight: the recorded scores of Bing, Google and Youdao.
    assert languages["zh"]["mean"] == pytest.approx(plain["zh"].mean(), abs=1e-9)
    assert systems["youdao"]["mean"] == pytest.approx((plain["zh", "youdao"] + plain["ja", "youdao"]) / 2, abs=1e-9)
    assert [systems[name]["letters"] for name in ("bing", "google", "youdao")] == ["a", "b", "c"]
    assert (languages["ja"]["letters"], languages["zh"]["letters"]) == ("a", "b")
    below = [pair for pair in model["comparisons"] if pair["other"] == "youdao"]
    assert all(pair["difference"] > 0 and pair["p"] < 0.0001 for pair in below)


def test_errors_that_go_together_by_sentence(recorded):
    alone = pivots_report(recorded, targets=["zh", "ja"], errors="independent")["pivots"]["model"]
    together = pivots_report(recorded, targets=["zh", "ja"])["pivots"]["model"]
    assert (alone["clusters"], together["clusters"], together["df"]) == (None, 281, 280)
    for factor in ("target", "system"):
        independent, clustered = of_levels(alone, factor), of_levels(together, factor)
        assert {name: mean["mean"] for name, mean in independent.items()} == {
            name: mean["mean"] for name, mean in clustered.items()
        }
    # Sentences hard for one system are hard for all.
    assert of_levels(together, "system")["bing"]["se"] > 1.2 * of_levels(alone, "system")["bing"]["se"]


def test_four_languages_of_two_systems(recorded):
    report = pivots_report(recorded, targets=["zh", "ja", "fr", "ko"], systems=["google", "bing"])
    languages = of_levels(report["pivots"]["model"], "target")
    assert {name: mean["letters"] for name, mean in languages.items()} == {"fr": "a", "ko": "b", "ja": "c", "zh": "c"}
    additive = pivots_report(recorded, interaction=False)["pivots"]["model"]
    assert all(mean["mean"] is not None for mean in additive["means"])
    assert [test["effect"] for test in additive["tests"]] == ["target", "system"]


PAGE = Path(__file__).parents[2] / "docs" / "evidence" / "translation-pivots.md"


@pytest.mark.slow
@pytest.mark.parametrize(
    "choice",
    [
        {},
        {"targets": ["zh", "ja"]},
        {"targets": ["zh", "ja"], "errors": "independent"},
        {"targets": ["zh", "ja", "ko", "fr"], "systems": ["google", "bing"]},
        {"targets": ["zh", "ja", "ko", "fr"], "systems": ["google", "bing"], "errors": "independent"},
        {"exclude": ["en"], "systems": ["google", "bing"], "errors": "independent"},
    ],
)
def test_the_figures_of_the_docs(recorded, choice):
    page = PAGE.read_text(encoding="utf-8")
    report = pivots_report(recorded, **choice)
    for part in (report["pivots"], report["round_trips"]):
        for mean in part["model"]["means"]:
            assert mean["mean"] is None or f"{mean['mean']:.4f}" in page, mean
    factors = [test for test in report["pivots"]["model"]["tests"][:2] if choice.get("targets") or test["df"] == 7]
    for test in factors:
        assert f"F({test['df']}, {test['df_error']}) = {test['f']:.2f}" in page
