"""The page *Results*: observed and genuine rates, rankings, preferences, values and causes. For managers."""

import csv
import io
import json
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import streamlit as st
from sqlalchemy import Engine

from audit.errors import AuditError
from audit.reports import charts, words
from audit.reports.build import Report, cells_of
from audit.reports.certainty import LEVELS
from audit.reports.dashboard_charts import bounds_chart, levels_chart, means_chart
from audit.reports.document import PreferenceEntry, PreferredSystem, RankedEntry, RelationResultEntry, RollupEntry
from audit.reports.first_page import decision_lines
from audit.reports.preference import PROFILES
from audit.reports.values import FACTORS, PARAMETERS
from audit.reports.words import number, p_number, percent
from audit.statistics.rates import BOUNDS
from audit.ui import results_parts, session
from audit.ui.background_cache import computed_with_freshness, produce, show_freshness
from audit.ui.dashboard_parts import (
    CAUSES,
    CORRECTED,
    POINTS,
    RATES,
    SCORES,
    ShownChart,
    chart,
    chosen_index,
    download_buttons,
    heading,
    table,
    with_reason,
    write_plain,
)
from audit.ui.language import (
    html,
    language,
    language_name,
    plain,
    sentence,
    single_choice,
    t,
    text_or,
    translated,
    with_commands,
)
from audit.ui.results_parts import FILE, OWN, PROFILE, View, keep_own_weights
from audit.ui.study_choice import study_name

# One relation at a time: rates, orders before and after, certainty of the ranking, and differences of systems.


def relation_tab(view: View) -> None:
    """The chosen relation; at first one under which another system becomes the best."""
    report, code = view.report, language()
    entries = report["relations"]
    if not entries:
        return
    names = [f"{entry['relation']} · {words.place(report, entry, code)}" for entry in entries]
    first = next((number for number, entry in enumerate(entries) if entry["best_changes_sure"]), 0)
    index = chosen_index(names, "results-relation", first)
    entry = entries[index]
    left, right = st.columns([3, 2], gap="large")
    with left:
        st.caption(t("results.legend"))
        chart(
            "rates",
            (view.key, index),
            lambda palette: charts.rates_chart(report, entry, palette, language=code),
            charts.rates_in_words(report, entry, code),
        )
        chart(
            "order",
            (view.key, index),
            lambda palette: charts.order_chart(entry, palette, code),
            charts.order_in_words(entry, code),
        )
    with right:
        st.html(_orders(report, entry))
    heading(t("results.ranking"))
    st.caption(f"{t('results.ranking_legend')} {_delta(view)}")
    _ranking_table("ranking", entry["ranking"], ("sr_observed", "sr_genuine"))
    if common := words.common_text(entry, code):
        write_plain(sentence(common))
    _pairs(view, index, entry)
    if audits := [text for text in (words.holds_text(entry, code), words.carry_text(entry, code)) if text]:
        heading(t("audits.title"))
        for text in audits:
            write_plain(sentence(text))
    heading(t("results.cells_of_relation"))
    cells = cells_of(report, entry["task"], entry["study"], entry["relation"])
    columns = ("system", "groups", "satisfied", "drawn", "judged", "false", "waiting", *RATES)
    _cells_table("relation-cells", cells, columns)


def _orders(report: Report, entry: RelationResultEntry) -> str:
    """The relation's summary, the order of systems before and after, and the change in one sentence."""
    kinds = ("observed", "genuine", *(("corrected",) if entry["order_corrected"] else ()))
    orders = "".join(
        f"<dt>{html(t(f'column.order_{kind}'))}</dt><dd>{html(words.order_text(entry, kind))}</dd>" for kind in kinds
    )
    summary = html(words.summary_of(report, entry, language()))
    change = html(sentence(words.change_text(entry, language())))
    return f'<p>{summary}</p><dl class="audit-orders">{orders}</dl><p><strong>{change}</strong></p>'


def _ranking_table(name: str, entries: Sequence[RankedEntry | PreferredSystem], columns: Sequence[str]) -> None:
    """A ranking, best first: rates, rank interval and P(best) of each system, or why these are missing."""
    ranked = words.by_rank(entries)
    unranked = [entry for entry in entries if entry["p_best"] is None]
    rows = [
        with_reason(entry) | {"ranks": words.ranks_text(entry) if entry["p_best"] is not None else None}
        for entry in (*ranked, *unranked)
    ]
    reason = ("reason",) if unranked else ()
    shown = ("ranks", "p_best") if ranked else ()
    table(name, rows, ("system", *columns[:2], *reason, *columns[2:], *shown))


def _pairs(view: View, index: int, entry: RelationResultEntry) -> None:
    """The differences of each two systems, with the surest one in a sentence above them."""
    heading(t("results.pairs"))
    strongest = words.pairs_text(entry["pairs"], language())
    if not strongest:
        reasons = [pair["reason"] for pair in entry["pairs"] if pair["reason"]]
        write_plain(sentence(translated(reasons[0])) if reasons else t("pairs.none"))
        return
    write_plain(strongest)
    st.caption(f"{t('pairs.legend')} {_delta(view)}")
    build = partial(charts.differences_chart, entry["pairs"], view.options.delta)
    chart("pairs", (view.key, index), build, strongest)
    rows = [
        pair
        | {"apart": t("pairs.yes" if pair["apart"] else "pairs.no")}
        | {"points": pair["difference"], "points_low": pair["low"], "points_high": pair["high"]}
        for pair in words.oriented(entry["pairs"])
    ]
    tests = ("p_holm", "mcnemar_p", "apart", "judged", "informative", "groups")
    table("pairs", rows, ("system", "other", *POINTS, *tests))


def _cells_table(name: str, cells: Sequence[Mapping[str, Any]], columns: Sequence[str], height: Any = "auto") -> None:
    """Cells as a table; bounds, corrected rates, method and reason have columns where a cell has them."""
    optional = (*BOUNDS, *CORRECTED, "method", "reason")
    extra = [column for column in optional if any(cell.get(column) is not None for cell in cells)]
    named = [with_reason(cell) | ({} if cell["study"] is None else {"study": study_name(cell)}) for cell in cells]
    table(name, named, (*columns, *extra), height)


def _delta(view: View) -> str:
    """Which differences count as equal, in one sentence."""
    return sentence(words.delta_text(view.options.delta, language()))


# Causes of false satisfactions and reasons of disputes, as adjudicators gave them, counted.


def causes_tab(view: View) -> None:
    """Shares of causes at one level, and the reasons of disputes."""
    entries, disputes = view.report["causes"], view.report["disputes"]
    heading(t("results.causes"))
    if not entries:
        st.info(t("causes.not_given"))
    else:
        names = {entry["by"]: t(f"rollup.{entry['by']}") for entry in reversed(entries)}
        by = single_choice(t("rollup.by"), names, "results-causes-level", persist_state="session")
        rows = [
            {
                "name": words.rollup_name(view.report, entry, language()) if by != "overall" else names[by],
                "cause": text_or(f"cause.{share['cause']}", share["cause"]),
                "count": share["count"],
                "named": words.of_text(entry["named"], entry["false"], language()),
                **{f"cause_{name}": value for name, value in share.items()},
            }
            for entry in entries
            if entry["by"] == by
            for share in entry["causes"]
            if share["count"]
        ]
        table("causes", rows, ("name", "cause", *CAUSES, "count", "named"))
        st.caption(plain(t("causes.how")))
    if disputes:
        heading(t("html.disputes"))
        write_plain(words.dispute_line(view.report, language()))


# One ranking by a user's weights over relations, and how far the weights can move before another system wins.


def preferences_tab(view: View) -> None:
    """A profile of weights or the user's own, and the ranking that it gives."""
    names = {name: t(f"profile.{name}") for name in (*PROFILES, OWN)}
    profile = single_choice(t("preference.profile"), names, PROFILE, persist_state="session")
    st.caption(t(f"profile_is.{profile}"))
    preference = view.report.get("preference")
    container = st.container()
    if profile == OWN:
        left, container = st.columns([2, 3], gap="medium")
        with left:
            _editor(view)
    with container:
        if view.problem is not None:
            session.show_refusal(view.problem)
        if preference is not None:
            _show_winner(view, preference)
    if preference is not None:
        _ranking_table("scores", preference["ranking"], SCORES)
        _show_weights(preference)


def _editor(view: View) -> None:
    """The weights as an editable table. They count once they are applied, so that never only half of them do."""
    own_weights = dict(st.session_state["results-own-weights"])
    relations = list(dict.fromkeys(entry["relation"] for entry in view.report["relations"]))
    name, value = t("column.relation"), t("column.own_weight")
    rows: list[dict[str, Any]] = [
        {name: relation, value: float(own_weights.get(relation, 0.0))} for relation in relations
    ]
    # The key changes with the weights and the language, so that edits never reach rows they were not made for.
    key = f"results-editor-{language()}-{hash(tuple(own_weights.items()))}"
    with st.form(f"{key}-form", border=False):
        edited = st.data_editor(
            rows,
            hide_index=True,
            disabled=[name],
            height=min(420, 38 + 35 * len(rows)),
            column_config={value: st.column_config.NumberColumn(min_value=0.0, step=0.1, required=True)},
            key=key,
        )
        applied = st.form_submit_button(t("preference.apply"), icon=":material/check:")
    if applied:
        keep_own_weights({row[name]: float(row[value] or 0.0) for row in edited})
        st.rerun()
    st.download_button(
        t("preference.download"),
        _weights_csv(own_weights),
        FILE,
        "text/csv",
        on_click="ignore",
        icon=":material/download:",
    )


def _weights_csv(weights: Mapping[str, float]) -> str:
    """The weights as CSV, as `audit report` reads them."""
    text = io.StringIO()
    csv.writer(text).writerows([("relation", "weight"), *weights.items()])
    return text.getvalue()


def _show_winner(view: View, preference: PreferenceEntry) -> None:
    """The winner in sentences, and a chart of all systems."""
    lines = words.winner_lines(preference, view.options.delta, language()) or [t("preference.unknown")]
    for line in lines:
        write_plain(line)
    st.caption(f"{t('preference.legend')} {_delta(view)}")
    alt = " ".join(words.preference_lines(view.report, language()))
    chart("scores", (view.key,), partial(charts.scores_chart, preference["ranking"]), alt)


def _show_weights(preference: PreferenceEntry) -> None:
    """The weights, and beside them the nearest ones under which another system is as good."""
    level = preference["move"]["weights"] if preference["move"] else {}
    rows = [
        {"relation": relation, "weight": share, "weight_level": level.get(relation)}
        for relation, share in preference["weights"].items()
        if share or level.get(relation)
    ]
    with st.expander(t("preference.weights")):
        table("weights", rows, ("relation", "weight", *(("weight_level",) if level else ())))


# Rollups of cells: by relation, system, family of relations, and over all.

_NAMED = 4
"""Cells without an estimate that a reason lists by name."""


def together_tab(view: View) -> None:
    """One level at a time, as a chart and a table, with a reason beside each missing rate."""
    report, code = view.report, language()
    names = {level: t(f"rollup.{level}") for level in LEVELS}
    by = single_choice(t("rollup.by"), names, "results-level", LEVELS[1], persist_state="session")
    entries = [entry for entry in report["rollups"] if entry["by"] == by]
    if not entries:
        st.info(t("rollup.none"))
        return
    st.caption(t("results.legend"))
    build = partial(charts.rollup_chart, report, by, language=code)
    chart("rollups", (view.key, by), build, t("rollup.alt", level=names[by]))
    rows = [
        {**entry, "name": words.rollup_name(report, entry, code), "reason": _missing_reason(entry)} for entry in entries
    ]
    # The reason stands beside the rate that it explains, so that a phone shows both.
    reason = ("reason",) if any(row["reason"] for row in rows) else ()
    bounds = BOUNDS if any(entry["sr_least"] is not None for entry in entries) else ()
    genuine = (*reason, *bounds[4:], *RATES[5:])
    table("rollups", rows, ("name", RATES[0], RATES[4], *genuine, *RATES[1:4], *bounds[:4], "cells"))
    if bounds:
        st.caption(t("rollup.bounds"))
    for method in dict.fromkeys(entry["method"] for entry in entries if entry["method"]):
        st.caption(plain(sentence(translated(method))))
    if checks := words.check_lines(report, code):
        heading(t("checks.title"))
        for line in checks:
            write_plain(line)
    if protocols := words.protocol_lines(report, code):
        heading(t("protocols.title"))
        for line in protocols:
            write_plain(line)
        arms = (dict(zip(words.ARM_COLUMNS, arm, strict=True)) for arm in words.protocol_rows(report, code))
        rows_of_arms = [{t(f"column.{column}"): text for column, text in arm.items()} for arm in arms]
        st.dataframe(rows_of_arms, hide_index=True)
    _repeats(report, code)


def _repeats(report: Report, code: str) -> None:
    """Contradictions on the same input, where systems were asked it several times, and verdicts by call."""
    for entry in report.get("repeats") or []:
        heading(words.title_of(report, entry, "repeats.title", code))
        of_systems = words.REPEATED_COLUMNS, words.repeated_rows(entry, code), words.repeat_lines(entry, code)
        of_cells = words.BY_CALL_COLUMNS, words.by_call_rows(entry, code), words.by_call_lines(entry, code)
        for columns, rows, lines in (of_systems, of_cells):
            heads = [t(f"column.{column}") for column in columns]
            if rows:
                st.dataframe([dict(zip(heads, row, strict=True)) for row in rows], hide_index=True)
            for line in lines:
                st.caption(plain(line))


def _missing_reason(entry: RollupEntry) -> str | None:
    """The reason for a missing rate, with the names of the first cells that cause it."""
    if not entry["reason"]:
        return None
    missing = entry["missing"]
    if not missing:
        return sentence(translated(entry["reason"]))
    # The row's own name, which all of them share, is not repeated.
    parts = [{"relation": cell["relation"], "system": cell["system"]} for cell in missing]
    names = list(dict.fromkeys(" ".join(name for by, name in part.items() if by != entry["by"]) for part in parts))
    dots = "" if len(names) <= _NAMED else ", …"
    key = "rollup.missing" if entry["sr_least"] is None else "rollup.bounded"
    return t(key, names=", ".join(names[:_NAMED]) + dots)


# The values that relations compared: satisfaction rates at other bounds, mean values, levels of granularity.

BOUND_VALUES = tuple(round(step / 20, 2) for step in range(31))
"""Bounds for which rates are computed; some values are quotients, and exceed 1."""
_REACHED = ("system", "checked", "mean", "median", "bound", "sr_observed")
_RATES = ("study", "corpus", "relation", "system", "checked", "at", "sr_observed")
_MEANS = ("factor", "factor_level", "mean", "se", "low", "high", "n", "letters")
_TESTS = ("effect", "f", "df", "df_error", "p")
_PAIRS = ("factor", "first", "second", "difference", "se", "low", "high", "p")
_LEVELS = ("level", "factor_level", "first", "second")
"""Columns that name a level of a factor."""
_SHARES = ("system", "relation", "share", "checked")


def values_tab(view: View) -> None:
    """One relation at a time: its rates at other bounds; for translation also the means and the levels."""
    engine = session.engine()
    st.caption(plain(t("values.what")))
    try:
        answer = computed_with_freshness(engine, "bounds", {"at": BOUND_VALUES, "study": view.options.study}, "bounds")
    except AuditError as problem:
        _show_unavailable(problem)
        return
    cells = answer.value["cells"]
    keys = list(dict.fromkeys((cell["study"], cell["corpus"], cell["relation"]) for cell in cells))
    names = [f"{relation} · {study_name({'study': id, 'corpus': corpus})}" for id, corpus, relation in keys]
    index = chosen_index(names, "results-values-relation")
    study, _, relation = keys[index]
    relation_cells = [cell for cell in cells if (cell["study"], cell["relation"]) == (study, relation)]
    _bounds(relation_cells, (*keys[index], answer.state))
    tasks = {(entry["study"], entry["relation"]): entry["task"] for entry in view.report["relations"]}
    if tasks.get((study, relation)) == "translation":
        _means(engine, study, relation)
        _levels(engine, study)


def _bounds(cells: Sequence[Mapping[str, Any]], key: tuple[Any, ...]) -> None:
    bound = f"{cells[0]['bound']:g}"
    heading(t("values.bounds"))
    st.caption(plain(t("values.bounds_legend", bound=bound)))
    titles = (t("column.bound"), t("values.satisfied"))
    numbers = t("list.semicolon").join(f"{cell['system']} {percent(cell['sr_observed'])}" for cell in cells)
    picture = chart(
        "bounds",
        key,
        lambda palette: bounds_chart(cells, titles, palette),
        t("values.bounds_alt", relation=cells[0]["relation"], bound=bound, numbers=numbers),
    )
    table("bounds", cells, _REACHED)
    rates = [{**cell, **rate} for cell in cells for rate in cell["rates"]]
    download_buttons("bounds", rates, _RATES, [("bounds", picture)])


def _means(engine: Engine, study: int, relation: str) -> None:
    heading(t("values.means"))
    independent = st.toggle(
        t("values.independent"), key="results-values-independent", help=t("values.independent_help")
    )
    try:
        values = {"relation": relation, "study": study, "independent": independent}
        answer = computed_with_freshness(engine, "means", values, "means")
    except AuditError as problem:
        _show_unavailable(problem)
        return
    report, key = answer.value, (relation, study, independent, answer.state)
    st.caption(plain(t("values.means_legend", values=f"{report['values']:,}", texts=f"{report['texts']:,}")))
    letters = {(subset["factor"], subset["level"]): subset["letters"] for subset in report["subsets"]}
    means = [
        mean | {"factor_level": mean["level"], "letters": letters.get((mean["factor"], mean["level"]))}
        for mean in report["means"]
    ]
    pictures = []
    for factor, column in zip(FACTORS, st.columns(len(FACTORS), gap="medium"), strict=True):
        with column:
            pictures.append((factor, _factor_chart(factor, [mean for mean in means if mean["factor"] == factor], key)))
    reason_column = ("reason",) if any(mean["reason"] for mean in means) else ()
    _number_table("means", [_with_names(mean) for mean in means], (*_MEANS, *reason_column))
    download_buttons("means", means, (*_MEANS, *reason_column), pictures)
    st.caption(t("values.tests"))
    tests = [_with_names(test) for test in report["tests"]]
    _number_table("tests", tests, (*_TESTS, *(("reason",) if any(test["reason"] for test in tests) else ())))
    if report["comparisons"]:
        pairs = [pair | {"first": pair["one"], "second": pair["other"]} for pair in report["comparisons"]]
        st.caption(t("values.pairs"))
        _number_table("differences", [_with_names(pair) for pair in pairs], _PAIRS)
        download_buttons("differences", pairs, _PAIRS)
    for note in report["notes"]:
        st.caption(plain(translated(note)))


def _factor_chart(factor: str, means: Sequence[Mapping[str, Any]], key: tuple[Any, ...]) -> ShownChart | None:
    """The chart of one factor; languages are named."""
    named_means = [_with_names(mean) for mean in means]
    letters = {mean["level"]: mean["letters"] or "" for mean in named_means}
    numbers = t("list.semicolon").join(
        f"{mean['level']} {number(mean['mean'], 3)} {letters[mean['level']]}" for mean in named_means
    )
    return chart(
        f"means-{factor}",
        (factor, *key),
        lambda palette: means_chart(named_means, letters, t(f"values.mean_of.{factor}"), palette),
        t("values.means_alt", numbers=numbers),
    )


def _levels(engine: Engine, study: int) -> None:
    """The MGMT score, where at least two of its levels were run."""
    try:
        answer = computed_with_freshness(engine, "levels", {"study": study}, "levels")
    except AuditError:
        return
    report = answer.value
    heading(t("values.levels"))
    st.caption(t("values.levels_legend"))
    score = t("values.score")
    numbers = t("list.semicolon").join(f"{cell['system']} {percent(cell['score'])}" for cell in report["cells"])
    picture = chart(
        "levels",
        (study, answer.state),
        lambda palette: levels_chart(report["cells"], score, palette),
        t("values.levels_alt", numbers=numbers),
    )
    rows = [
        {"system": cell["system"], "relation": name, "share": share, "checked": cell["checked"].get(name)}
        for cell in report["cells"]
        for name, share in [*cell["shares"].items(), ("score", cell["score"])]
    ]
    download_buttons("levels", rows, _SHARES, [("levels", picture)])


def _number_table(name: str, rows: Sequence[Mapping[str, Any]], columns: Sequence[str]) -> None:
    """Rows as a table in which a p-value is never shown as 0."""
    table(name, [{**row, "p": p_number(row["p"])} if "p" in row else row for row in rows], columns)


def _with_names(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row with the names of languages and factors, and the reason, in the session's language."""
    result = with_reason(row)
    if row.get("factor") == "language":
        result |= {name: language_name(row[name]) for name in _LEVELS if name in row}
    if "effect" in row:
        result["effect"] = " × ".join(t(f"column.{factor}") for factor in row["effect"].split(" x "))
    if "factor" in row:
        result["factor"] = t(f"column.{row['factor']}")
    return result


def _show_unavailable(problem: AuditError) -> None:
    """Say why there is nothing to show, as information and not as a warning."""
    st.info(with_commands(sentence(translated(problem.sentence))), icon=":material/info:")


ROLES = ("manager",)
TAB = "results-tab"
_COUNTS = ("groups", "satisfied", "violated", "inapplicable", "errors", "rejected")
_DRAW_COUNTS = ("drawn", "judged", "false", "waiting")


def page() -> None:
    """The report of the database in words, charts and numbers."""
    engine = session.engine()
    account = session.require_role(engine, *ROLES)
    try:
        options = results_parts.choose_options(engine, account.id)
        view = show_freshness(
            lambda recompute: results_parts.compute_view(engine, options, recompute=recompute),
            lambda view: view.answer,
            "results",
        )
    except AuditError as problem:
        session.show_refusal(problem)
        return
    st.html(_headlines(view.report))
    whose = sentence(t(f"how.{view.options.whose}"))
    st.caption(plain(f"{words.how_text(view.report, language())} {whose}"))
    # Only the open tab is computed and sent.
    shown = [name for name in TABS if name != "values" or _has_values(view.report)]
    tabs = st.tabs([t(f"results.{name}") for name in shown], key=TAB, on_change="rerun")
    for show, tab in zip((TABS[name] for name in shown), tabs, strict=True):
        if tab.open:
            with tab:
                show(view)
    _downloads(view)
    _notes(view.report)


def _has_values(report: Report) -> bool:
    """Whether a relation compares a value with a bound; without one there is nothing to see at other bounds."""
    return any(not set(PARAMETERS).isdisjoint(entry["params"]) for entry in report["signature"]["relations"])


def cells_tab(view: View) -> None:
    """Every cell; with the study where there are several."""
    cells = view.report["cells"]
    st.caption(plain(t("results.cells_legend")))
    several_studies = len({cell["study"] for cell in cells}) > 1
    counts = [name for name in _COUNTS if name != "rejected" or any(name in cell for cell in cells)]
    columns = (*(("study",) if several_studies else ()), "relation", "system", *counts, *_DRAW_COUNTS, *RATES)
    _cells_table("cells", cells, columns, height=420)


def _headlines(report: Report) -> str:
    code = language()
    first, *rest = [html(line) for line in decision_lines(report, code)] or [""]
    lines = [*([f"<strong>{first}</strong>"] if first else []), *rest]
    lines += [f"<strong>{html(number)}</strong> {html(text)}" for number, text in words.headlines(report, code)]
    return f'<ul class="audit-headlines">{"".join(f"<li>{line}</li>" for line in lines)}</ul>'


def heat_tab(view: View) -> None:
    """R_FS of every cell, a heat map a study."""
    st.caption(t("results.heat_legend", least=charts.LEAST_SHOWN))
    for task, study in dict.fromkeys((entry["task"], entry["study"]) for entry in view.report["relations"]):
        build = partial(charts.false_chart, view.report, task, study, width=120, language=language())
        chart(f"heat-{task}-{study}", (view.key,), build, t("chart.false_alt"))


def _downloads(view: View) -> None:
    """Downloads of the report as it is shown, with the weights: as JSON, and as an HTML page in its language."""
    code = language()
    with st.container(horizontal=True):
        st.download_button(
            t("results.download_json"),
            lambda: json.dumps(view.report, ensure_ascii=False, indent=2),
            "report.json",
            "application/json",
            on_click="ignore",
            icon=":material/download:",
        )
        st.download_button(
            t("results.download_html"),
            lambda: str(produce("html", {"report": view.report, "language": code}, (*view.key, code))),
            "report.html",
            "text/html",
            on_click="ignore",
            icon=":material/download:",
        )


def _notes(report: Report) -> None:
    for line in words.plan_lines(report, language()):
        st.caption(plain(line))
    for note in words.notes_of(report, language()):
        st.caption(with_commands(note))
    with st.expander(t("results.signature")):
        st.code(words.signature_line(report["signature"]), language=None, wrap_lines=True)


TABS: dict[str, Callable[[View], None]] = {
    "relations": relation_tab,
    "together": together_tab,
    "preferences": preferences_tab,
    "heat": heat_tab,
    "cells": cells_tab,
    "values": values_tab,
    "causes": causes_tab,
}
"""The tabs by the keys of their titles."""
