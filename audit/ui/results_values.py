"""What relations compared, beyond satisfied and violated: other bounds, mean values, levels of granularity."""

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st
from sqlalchemy import Engine

from audit.errors import AuditError
from audit.reports.means import FACTORS
from audit.reports.numbers import number, p_number
from audit.reports.value_charts import bounds_chart, levels_chart, means_chart
from audit.reports.words import percent
from audit.ui import database
from audit.ui.dashboard_parts import Drawn, chart, table, take_along
from audit.ui.language import language_name, t, translated
from audit.ui.literal import plain, sentence, with_commands
from audit.ui.results_parts import heading
from audit.ui.results_source import View
from audit.ui.workshop import current

BOUNDS = tuple(round(step / 20, 2) for step in range(31))
"""Bounds that are computed: some values are quotients, and exceed 1."""
_REACHED = ("system", "checked", "mean", "median", "bound", "sr_observed")
_RATES = ("study", "corpus", "relation", "system", "checked", "at", "sr_observed")
_MEANS = ("factor", "factor_level", "mean", "se", "low", "high", "n", "letters")
_TESTS = ("effect", "f", "df", "df_error", "p")
_PAIRS = ("factor", "first", "second", "difference", "se", "low", "high", "p")
_LEVELS = ("level", "factor_level", "first", "second")
"""Columns that name a level of a factor."""
_SHARES = ("system", "relation", "share", "checked")


def tab(view: View) -> None:
    """One relation at a time: its rates at other bounds, and of translations the means and the levels."""
    engine = database.engine()
    st.caption(plain(t("values.what")))
    try:
        found = current(engine, "bounds", {"at": BOUNDS}, "bounds")
    except AuditError as problem:
        _instead(problem)
        return
    cells = found.value["cells"]
    keys = list(dict.fromkeys((one["study"], one["corpus"], one["relation"]) for one in cells))
    names = [f"{relation} · {t('browse.study_name', corpus=corpus, id=id)}" for id, corpus, relation in keys]
    chosen = st.selectbox(
        t("results.relation"),
        range(len(keys)),
        format_func=names.__getitem__,
        key="results-values-relation",
        persist_state="session",
    )
    study, _, relation = keys[chosen]
    mine = [one for one in cells if (one["study"], one["relation"]) == (study, relation)]
    _bounds(mine, (*keys[chosen], found.state))
    tasks = {(one["study"], one["relation"]): one["task"] for one in view.report["relations"]}
    if tasks.get((study, relation)) == "translation":
        _means(engine, study, relation)
        _levels(engine, study)


def _bounds(cells: Sequence[Mapping[str, Any]], key: tuple[Any, ...]) -> None:
    bound = f"{cells[0]['bound']:g}"
    heading(t("values.bounds"))
    st.caption(plain(t("values.bounds_legend", bound=bound)))
    titles = (t("sheet.bound"), t("values.satisfied"))
    numbers = "; ".join(f"{one['system']} {percent(one['sr_observed'])}" for one in cells)
    drawn = chart(
        "bounds",
        key,
        lambda palette: bounds_chart(cells, titles, palette),
        t("values.bounds_alt", relation=cells[0]["relation"], bound=bound, numbers=numbers),
    )
    table("bounds", cells, _REACHED)
    rates = [{**one, **rate} for one in cells for rate in one["rates"]]
    take_along("bounds", rates, _RATES, [("bounds", drawn)])


def _means(engine: Engine, study: int, relation: str) -> None:
    heading(t("values.means"))
    independent = st.toggle(
        t("values.independent"), key="results-values-independent", help=t("values.independent_help")
    )
    try:
        asked = {"relation": relation, "study": study, "independent": independent}
        found = current(engine, "means", asked, "means")
    except AuditError as problem:
        _instead(problem)
        return
    report, key = found.value, (relation, study, independent, found.state)
    st.caption(plain(t("values.means_legend", values=f"{report['values']:,}", texts=f"{report['texts']:,}")))
    letters = {(one["factor"], one["level"]): one["letters"] for one in report["subsets"]}
    means = [
        one | {"factor_level": one["level"], "letters": letters.get((one["factor"], one["level"]))}
        for one in report["means"]
    ]
    pictures = []
    for factor, column in zip(FACTORS, st.columns(len(FACTORS), gap="medium"), strict=True):
        with column:
            pictures.append((factor, _factor(factor, [one for one in means if one["factor"] == factor], key)))
    lacking = ("reason",) if any(one["reason"] for one in means) else ()
    _numbers("means", [_named(one) for one in means], (*_MEANS, *lacking))
    take_along("means", means, (*_MEANS, *lacking), pictures)
    st.caption(t("values.tests"))
    tests = [_named(one) for one in report["tests"]]
    _numbers("tests", tests, (*_TESTS, *(("reason",) if any(one["reason"] for one in tests) else ())))
    if report["comparisons"]:
        pairs = [one | {"first": one["one"], "second": one["other"]} for one in report["comparisons"]]
        st.caption(t("values.pairs"))
        _numbers("differences", [_named(one) for one in pairs], _PAIRS)
        take_along("differences", pairs, _PAIRS)
    for note in report["notes"]:
        st.caption(plain(translated(note)))


def _factor(factor: str, means: Sequence[Mapping[str, Any]], key: tuple[Any, ...]) -> Drawn | None:
    """The chart of one factor; languages are named."""
    named = [_named(one) for one in means]
    letters = {one["level"]: one["letters"] or "" for one in named}
    numbers = "; ".join(f"{one['level']} {number(one['mean'], 3)} {letters[one['level']]}" for one in named)
    return chart(
        f"means-{factor}",
        (factor, *key),
        lambda palette: means_chart(named, letters, t(f"values.mean_of.{factor}"), palette),
        t("values.means_alt", numbers=numbers),
    )


def _levels(engine: Engine, study: int) -> None:
    """The MGMT score, where two of its levels were run."""
    try:
        found = current(engine, "levels", {"study": study}, "levels")
    except AuditError:
        return
    report = found.value
    heading(t("values.levels"))
    st.caption(t("values.levels_legend"))
    score = t("values.score")
    numbers = "; ".join(f"{one['system']} {percent(one['score'])}" for one in report["cells"])
    drawn = chart(
        "levels",
        (study, found.state),
        lambda palette: levels_chart(report["cells"], score, palette),
        t("values.levels_alt", numbers=numbers),
    )
    rows = [
        {"system": one["system"], "relation": name, "share": share, "checked": one["checked"].get(name)}
        for one in report["cells"]
        for name, share in [*one["shares"].items(), ("score", one["score"])]
    ]
    take_along("levels", rows, _SHARES, [("levels", drawn)])


def _numbers(name: str, rows: Sequence[Mapping[str, Any]], columns: Sequence[str]) -> None:
    """Rows as a table in which a p is never 0."""
    table(name, [{**one, "p": p_number(one["p"])} if "p" in one else one for one in rows], columns)


def _named(row: Mapping[str, Any]) -> dict[str, Any]:
    """With the names of languages and factors, and the reason, in the session's language."""
    named = dict(row)
    if row.get("factor") == "language":
        named |= {name: language_name(row[name]) for name in _LEVELS if name in row}
    if "effect" in row:
        named["effect"] = " × ".join(t(f"sheet.{factor}") for factor in row["effect"].split(" x "))
    if "factor" in row:
        named["factor"] = t(f"sheet.{row['factor']}")
    if row.get("reason"):
        named["reason"] = sentence(translated(row["reason"]))
    return named


def _instead(problem: AuditError) -> None:
    """Why there is nothing to show: no fault of anybody's."""
    st.info(with_commands(sentence(translated(str(problem)))), icon=":material/info:")
