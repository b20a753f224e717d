"""The two-way model: against statsmodels, published numbers, plain means where data are balanced, and empty cells."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from audit.errors import AuditError
from audit.statistics.linear_model import (
    Comparison,
    adjusted_p,
    compare_means,
    fit_two_way,
    homogeneous_subsets,
    least_squares_means,
    type_three,
)

# Conformity by authoritarianism and the partner's status: Moore and Krupat, Sociometry 34 (1971), the unbalanced data
# of R's package car (carData::Moore), whose help page prints the tests of type III.
MOORE = {
    ("low", "low"): [8, 7, 10, 6, 13, 12, 7, 6, 8, 12],
    ("medium", "low"): [12, 4, 4, 9],
    ("high", "low"): [4, 8, 13, 9, 24, 7, 23, 13],
    ("low", "high"): [21, 23, 15, 12, 16],
    ("medium", "high"): [12, 17, 14, 16, 20, 8, 14, 17, 7, 17, 15],
    ("high", "high"): [19, 9, 7, 11, 14, 13, 10],
}


def frame(cells):
    rows = [(first, second, float(value)) for (first, second), values in cells.items() for value in values]
    return pd.DataFrame(rows, columns=["language", "translator", "score"])


def unbalanced(seed=3, languages=4, translators=3, most=9):
    """Scores with both effects and an interaction, 2 to `most` a cell, and the sentence of each."""
    rng = np.random.default_rng(seed)
    rows = []
    for language in range(languages):
        for translator in range(translators):
            for sentence in rng.choice(12, rng.integers(2, most + 1), replace=False):
                value = (
                    0.5
                    + 0.05 * language
                    - 0.1 * translator
                    + 0.02 * language * translator
                    + 0.02 * sentence
                    + rng.normal(0, 0.1)
                )
                rows.append((f"l{language}", f"t{translator}", value, f"s{sentence}"))
    return pd.DataFrame(rows, columns=["language", "translator", "score", "sentence"])


def test_the_published_tests_of_type_three():
    tests = {test.effect: test for test in type_three(fit_two_way(frame(MOORE)))}
    # car's Anova(type=3): F = 0.8589 (2, 39), 11.4250 (1, 39), 4.1846 (2, 39); p = 0.431492, 0.001657, 0.022572.
    assert [test.df for test in tests.values()] == [2, 1, 2]
    assert {test.df_error for test in tests.values()} == {39}
    assert [test.f for test in tests.values()] == pytest.approx([0.8589, 11.4250, 4.1846], abs=5e-5)
    assert [test.p for test in tests.values()] == pytest.approx([0.431492, 0.001657, 0.022572], abs=5e-7)


def test_least_squares_means_by_hand():
    fit = fit_two_way(frame(MOORE))
    # Cell means: low 8.9 and 17.4; medium 7.25 and 157/11; high 12.625 and 83/7. The mean square is 817.764 / 39.
    means = {mean.level: mean for mean in least_squares_means(fit, "language")}
    assert fit.mse == pytest.approx(817.764 / 39, abs=1e-5)
    assert means["low"].mean == pytest.approx((8.9 + 17.4) / 2)
    assert means["medium"].mean == pytest.approx((7.25 + 157 / 11) / 2)
    assert means["high"].mean == pytest.approx((12.625 + 83 / 7) / 2)
    se = np.sqrt(fit.mse / 4 * (1 / 10 + 1 / 5))
    assert means["low"].se == pytest.approx(se)
    assert means["low"].low == pytest.approx(13.15 - stats.t.ppf(0.975, 39) * se)
    assert means["low"].n == 15
    assert means["low"].missing == ()


@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize("interaction", [True, False])
def test_as_statsmodels(seed, interaction):
    formulas = pytest.importorskip("statsmodels.formula.api", reason="statsmodels is a package of the tests")
    anova = pytest.importorskip("statsmodels.stats.anova")
    data = unbalanced(seed)
    sign = "*" if interaction else "+"
    model = formulas.ols(f"score ~ C(language, Sum) {sign} C(translator, Sum)", data).fit()
    table = anova.anova_lm(model, typ=3).drop(index=["Intercept", "Residual"])
    fit = fit_two_way(data, interaction=interaction)
    tests = type_three(fit)
    assert len(tests) == 2 + interaction
    assert [test.df for test in tests] == table["df"].tolist()
    assert [test.f for test in tests] == pytest.approx(table["F"].tolist())
    assert [test.p for test in tests] == pytest.approx(table["PR(>F)"].tolist())
    assert (fit.mse, fit.df) == (pytest.approx(model.mse_resid), model.df_resid)
    # A least-squares mean is the mean of what the model says of the level's cells.
    for mean in least_squares_means(fit, "language"):
        cells = pd.DataFrame([(mean.level, name) for name in fit.levels[1]], columns=["language", "translator"])
        assert mean.mean == pytest.approx(model.predict(cells).mean())


def test_clusters_as_statsmodels():
    formulas = pytest.importorskip("statsmodels.formula.api", reason="statsmodels is a package of the tests")
    data = unbalanced()
    model = formulas.ols("score ~ C(language, Sum) + C(translator, Sum)", data).fit(
        cov_type="cluster", cov_kwds={"groups": pd.factorize(data["sentence"])[0]}, use_t=True
    )
    fit = fit_two_way(data, interaction=False, clusters="sentence")
    groups = data["sentence"].nunique()
    assert (fit.df, fit.clusters) == (groups - 1, groups)
    (pair, *_) = compare_means(fit, "translator")
    # t0 - t1 = effect of t0 less effect of t1, the last two coefficients.
    apart = np.array([0] * 4 + [1, -1])
    variance = apart @ model.cov_params().to_numpy() @ apart
    assert pair.difference == pytest.approx(apart @ model.params.to_numpy())
    assert pair.se == pytest.approx(np.sqrt(variance))
    # Theirs is Wald's statistic over its rank, with groups - 1 degrees of freedom; ours is Hotelling's T2.
    translator = type_three(fit)[1]
    wald = model.f_test(np.eye(len(model.params))[-2:])
    assert (translator.df, translator.df_error) == (2, groups - 2)
    assert translator.f == pytest.approx(float(wald.fvalue) * (groups - 2) / (groups - 1))


def test_tukey_as_statsmodels_where_there_is_one_factor():
    multiple = pytest.importorskip("statsmodels.stats.multicomp", reason="statsmodels is a package of the tests")
    data = unbalanced().assign(translator="only")
    comparisons = compare_means(fit_two_way(data), "language")
    theirs = multiple.pairwise_tukeyhsd(data["score"], data["language"])
    assert len(comparisons) == 6
    assert [pair.difference for pair in comparisons] == pytest.approx(
        -theirs.meandiffs
    )  # theirs is the second less the first
    assert [pair.p for pair in comparisons] == pytest.approx(theirs.pvalues, abs=1e-6)
    assert [pair.low for pair in comparisons] == pytest.approx(-theirs.confint[:, 1], abs=1e-4)
    assert [pair.high for pair in comparisons] == pytest.approx(-theirs.confint[:, 0], abs=1e-4)


def test_adjusted_p_of_the_study():
    # MCMT: t(5608) = 3.71, 3.80 and 0.12 of three translators; adjusted p = 0.0006, 0.0004 and 0.9920.
    assert round(adjusted_p(3.71, 3, 5608), 4) == 0.0006
    assert round(adjusted_p(3.80, 3, 5608), 4) == 0.0004
    assert adjusted_p(0.12, 3, 5608) == pytest.approx(0.992, abs=5e-4)
    assert adjusted_p(5.0, 1, 10) == 1


def test_subsets_of_the_study():
    # MCMT, table 2; the pairs as in its text.
    means = {"google": 0.6321, "youdao": 0.5800, "bing": 0.6355}
    p = {("bing", "google"): 0.9920, ("bing", "youdao"): 0.0004, ("google", "youdao"): 0.0006}
    pairs = [Comparison(*names, 0, 1, 0, 5608, value, 0, 0) for names, value in p.items()]
    assert homogeneous_subsets(means, pairs) == (("bing", "a"), ("google", "a"), ("youdao", "b"))
    with pytest.raises(AuditError, match="bing and google were not compared"):
        homogeneous_subsets(means, pairs[1:])


SCORES = st.floats(-5, 5, allow_nan=False).map(lambda value: round(value, 3))


@given(st.integers(2, 4), st.integers(1, 3), st.integers(2, 3), st.data())
def test_balanced_data_have_plain_means(languages, translators, each, data):
    values = data.draw(
        st.lists(SCORES, min_size=languages * translators * each, max_size=languages * translators * each)
    )
    keys = [(f"l{i}", f"t{j}") for i in range(languages) for j in range(translators) for _ in range(each)]
    table = pd.DataFrame(keys, columns=["language", "translator"]).assign(score=values)
    for interaction in (True, False):
        fit = fit_two_way(table, interaction=interaction)
        for factor in ("language", "translator"):
            plain = table.groupby(factor)["score"].mean()
            means = least_squares_means(fit, factor)
            assert [mean.level for mean in means] == plain.index.tolist()
            assert [mean.mean for mean in means] == pytest.approx(plain.tolist(), abs=1e-6)
            assert sum(mean.n for mean in means) == len(table)


@given(st.sets(st.tuples(st.integers(0, 3), st.integers(0, 2)), min_size=1), st.booleans(), st.integers(0, 99))
def test_what_is_estimated_does_not_depend_on_empty_cells(cells, interaction, seed):
    """With the interaction a mean is there exactly where all cells are, and the plain mean of theirs."""
    rng = np.random.default_rng(seed)
    table = frame({(f"l{i}", f"t{j}"): rng.normal(size=3) for i, j in sorted(cells)})
    fit = fit_two_way(table, interaction=interaction)
    cell_means = table.groupby(["language", "translator"])["score"].mean().unstack()
    for mean, (level, row) in zip(least_squares_means(fit, "language"), cell_means.iterrows(), strict=True):
        assert mean.level == level
        if interaction:
            assert (mean.mean is None) == row.isna().any()
            assert mean.mean is None or mean.mean == pytest.approx(row.mean())
        elif row.notna().all():
            assert mean.mean is not None
    for test in type_three(fit):
        assert test.p is None or 0 <= test.p <= 1
