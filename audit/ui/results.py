"""The page *Results*: observed and genuine rates, rankings, preferences, values and causes. For managers."""

import csv
import io
import json
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import streamlit as st
from sqlalchemy import Engine

from audit.errors import AuditError
from audit.reports import charts
from audit.reports.build import Report, cells_of
from audit.reports.certainty import LEVELS
from audit.reports.charts import differences_chart, exact, oriented, p_text
from audit.reports.dashboard_charts import bounds_chart, levels_chart, means_chart
from audit.reports.document import CellEntry, PairEntry, PreferenceEntry, RelationResultEntry, RollupEntry
from audit.reports.plan_texts import ENGLISH, primary_lines
from audit.reports.preference import PROFILES
from audit.reports.values import FACTORS
from audit.reports.words import (
    PERCENT,
    change_text,
    count,
    genuine_text,
    notes_of,
    number,
    order_text,
    p_number,
    percent,
    place,
    rollup_name,
    share_covered,
    signature_line,
    summary_of,
    with_interval,
)
from audit.statistics.rates import BOUNDS
from audit.ui import results_parts, session
from audit.ui.background_cache import computed_with_freshness, produce, show_freshness
from audit.ui.dashboard_parts import ShownChart, download_buttons
from audit.ui.dashboard_parts import chart as dashboard_parts_chart
from audit.ui.dashboard_parts import table as dashboard_parts_table
from audit.ui.language import (
    html,
    language,
    language_name,
    plain,
    sentence,
    single_choice,
    summary,
    t,
    text_or,
    texts,
    translated,
    with_commands,
)
from audit.ui.results_parts import (
    DIFFERENCES,
    FILE,
    OWN,
    PROFILE,
    RATES,
    SCORES,
    TESTS,
    View,
    cell_columns,
    cells_table,
    delta_sentence,
    heading,
    keep_own_weights,
    method_sentence,
    protocol_effects,
    ranking_table,
    relation_audit,
    spot_check_results,
    write_plain,
)
from audit.ui.results_parts import chart as results_parts_chart
from audit.ui.results_parts import table as results_parts_table
from audit.ui.studies import plan_texts

# One relation at a time: rates, orders before and after, certainty of the ranking, and differences of systems.


def relation_tab(view: View) -> None:
    """The chosen relation; at first one under which another system becomes the best."""
    report = view.report
    entries = report["relations"]
    if not entries:
        return
    names = [f"{entry['relation']} · {place(report, entry)}" for entry in entries]
    first = next((number for number, entry in enumerate(entries) if entry["best_changes_sure"]), 0)
    index = st.selectbox(
        t("results.relation"),
        range(len(entries)),
        index=first,
        format_func=names.__getitem__,
        key="results-relation",
        persist_state="session",
    )
    entry = entries[index]
    cells = cells_of(report, entry["task"], entry["study"], entry["relation"])
    left, right = st.columns([3, 2], gap="large")
    with left:
        st.caption(f"{t('results.legend')} {t('results.letters')}")
        results_parts_chart(
            view, ("rates", index), lambda palette: charts.rates_chart(report, entry, palette), _rates_alt(entry, cells)
        )
        titles = (t("results.reported"), t("results.genuine"))
        results_parts_chart(
            view,
            ("order", index, titles),
            lambda palette: charts.order_chart(entry, palette, titles),
            _moves_alt(entry),
        )
    with right:
        st.html(_orders(report, entry))
    _ranking(view, entry)
    _pairs(view, index, entry)
    relation_audit(entry)
    heading(t("results.cells_of_relation"))
    cells_table(report, cells, ("system", "groups", "satisfied", "drawn", "judged", "false", "waiting", *RATES))


def _orders(report: Report, entry: RelationResultEntry) -> str:
    """The relation's summary, the order of systems before and after, and the change in one sentence."""
    what = summary(entry["task"], entry["relation"], summary_of(report, entry))
    titles = {"observed": t("results.order_observed"), "genuine": t("results.order_genuine")}
    if entry["order_corrected"]:
        titles["corrected"] = t("results.order_corrected")
    orders = "".join(
        f"<dt>{html(title)}</dt><dd>{html(order_text(entry, when))}</dd>" for when, title in titles.items()
    )
    change = html(sentence(translated(change_text(entry))))
    return f'<p>{html(what)}</p><dl class="audit-orders">{orders}</dl><p><strong>{change}</strong></p>'


def _ranking(view: View, entry: RelationResultEntry) -> None:
    heading(t("results.ranking"))
    st.caption(f"{t('results.ranking_legend')} {delta_sentence(view)}")
    ranking_table(entry["ranking"], {}, ("sr_observed", "sr_genuine"))
    write_plain(comparison_basis(entry))


def comparison_basis(entry: RelationResultEntry) -> str:
    """The groups on which the systems are compared, in a sentence; empty where nothing is compared."""
    common = entry["common"]
    if common is None or len(entry["order_observed"]) < 2:
        return ""
    parts = [
        t("results.own_groups") if common["groups"] is None else t("results.common", groups=count(common["groups"]))
    ]
    if common["deciding"] is not None:
        parts.append(t("results.deciding", judged=count(common["judged"]), deciding=count(common["deciding"])))
    if common["reason"]:
        parts.append(translated(common["reason"]))
    return sentence(t("how.comma").join(parts) + t("how.stop"))


def _pairs(view: View, index: int, entry: RelationResultEntry) -> None:
    """The differences of each two systems, with the surest one in a sentence above them."""
    heading(t("results.pairs"))
    differences = oriented(entry["pairs"])
    if not differences:
        reasons = dict.fromkeys(pair["reason"] for pair in entry["pairs"] if pair["reason"])
        write_plain(sentence(translated(next(iter(reasons), ""))) if reasons else t("pairs.none"))
        return
    write_plain(strongest(differences[0]))
    st.caption(f"{t('pairs.legend')} {delta_sentence(view)}")
    delta = view.options.delta
    results_parts_chart(
        view,
        ("pairs", index),
        lambda palette: differences_chart(entry["pairs"], delta, palette),
        strongest(differences[0]),
    )
    rows = [pair | {"apart": t("pairs.yes" if pair["apart"] else "pairs.no")} for pair in differences]
    results_parts_table(rows, ("system", "other", *DIFFERENCES, *TESTS, "apart", "judged", "informative", "groups"))


def strongest(pair: PairEntry) -> str:
    """The surest difference of a relation in one or two sentences."""
    if exact(pair):
        return t("pairs.exact", best=pair["system"], other=pair["other"], points=percent(pair["difference"]))
    values = {
        "best": pair["system"],
        "other": pair["other"],
        "points": percent(pair["difference"]),
        "low": percent(pair["low"]),
        "high": percent(pair["high"]),
        "holm": p_text(pair["p_holm"]),
    }
    if pair["p_holm"] is None:
        return t("pairs.not_tested", **values)
    return t("pairs.apart" if pair["apart"] else "pairs.not_apart", **values)


def _rates_alt(entry: RelationResultEntry, cells: Sequence[CellEntry]) -> str:
    """The alternative text of the chart of rates."""
    numbers = "; ".join(
        f"{cell['system']} {percent(cell['sr_observed'])} → {percent(cell['sr_genuine'])}" for cell in cells
    )
    return t("results.rates_alt", relation=entry["relation"], numbers=numbers)


def _moves_alt(entry: RelationResultEntry) -> str:
    ranks = "; ".join(f"{move.system} {move.rank_before} → {move.rank_after}" for move in charts.moves(entry))
    return t("results.order_alt", relation=entry["relation"], ranks=ranks)


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
                "name": rollup_name(view.report, entry) if by != "overall" else names[by],
                "cause": text_or(f"cause.{share['cause']}", share["cause"]),
                "count": share["count"],
                "named": t("headline.of", part=entry["named"], whole=entry["false"]),
                **{f"cause_{name}": share[name] for name in ("share", "low", "high")},
            }
            for entry in entries
            if entry["by"] == by
            for share in entry["causes"]
            if share["count"]
        ]
        results_parts_table(rows, ("name", "cause", "cause_share", "cause_low", "cause_high", "count", "named"))
        st.caption(plain(t("causes.how")))
    if disputes:
        heading(t("causes.disputes"))
        write_plain(t("causes.settled", count=disputes["settled"]))
        reasons = [(f"reason.{reason['reason']}", reason["count"]) for reason in disputes["reasons"] if reason["count"]]
        rows = [{"reason_of": text_or(key, key), "count": count} for key, count in reasons]
        if disputes["uncoded"]:
            rows.append({"reason_of": t("causes.uncoded"), "count": disputes["uncoded"]})
        results_parts_table(rows, ("reason_of", "count"))


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
        ranking_table(preference["ranking"], {}, SCORES)
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
    for text in winner_sentences(view, preference):
        write_plain(text)
    scored = [entry for entry in preference["ranking"] if entry["score_observed"] is not None]
    numbers = "; ".join(
        f"{entry['system']} {percent(entry['score_observed'])} → {percent(entry['score'])}" for entry in scored
    )
    st.caption(f"{t('preference.legend')} {delta_sentence(view)}")
    results_parts_chart(
        view,
        ("scores",),
        lambda palette: charts.scores_chart(view.report, palette),
        t("results.rates_alt", relation=t("results.preferences"), numbers=numbers),
    )


def winner_sentences(view: View, preference: PreferenceEntry) -> list[str]:
    """The best system by the weights, how sure that is, and how much it depends on the weights, in sentences."""
    if not preference["winner"]:
        return [t("preference.unknown")]
    before, after = (", ".join(preference[name] or ()) for name in ("winner_observed", "winner"))
    lines = [t("preference.same" if before == after else "preference.changed", before=before, after=after)]
    move, delta = preference["move"], view.options.delta
    if move is None:
        lines.append(t("preference.no_move"))
        return lines
    values = {"rival": move["rival"], "share": f"{percent(move['distance'] / 2)} %", "points": percent(delta)}
    lines.append(t("preference.move_delta" if delta else "preference.move", **values))
    return lines


def _show_weights(preference: PreferenceEntry) -> None:
    """The weights, and beside them the nearest ones under which another system is as good."""
    level = preference["move"]["weights"] if preference["move"] else {}
    rows = [
        {"relation": relation, "weight": share, "weight_level": level.get(relation)}
        for relation, share in preference["weights"].items()
        if share or level.get(relation)
    ]
    with st.expander(t("preference.weights")):
        results_parts_table(rows, ("relation", "weight", *(("weight_level",) if level else ())))


# Rollups of cells: by relation, system, family of relations, and over all.

_NAMED = 4
"""Cells without an estimate that a reason lists by name."""


def together_tab(view: View) -> None:
    """One level at a time, as a chart and a table, with a reason beside each missing rate."""
    names = {level: t(f"rollup.{level}") for level in LEVELS}
    by = single_choice(t("rollup.by"), names, "results-level", LEVELS[1], persist_state="session")
    entries = [entry for entry in view.report["rollups"] if entry["by"] == by]
    if not entries:
        st.info(t("rollup.none"))
        return
    st.caption(t("results.legend"))
    numbers = "; ".join(
        f"{rollup_name(view.report, entry)} {percent(entry['sr_observed'])} → {genuine_text(entry)}"
        for entry in entries
    )
    results_parts_chart(
        view,
        ("rollups", by),
        lambda palette: charts.rollup_chart(view.report, by, palette),
        t("results.rates_alt", relation=t(f"rollup.{by}"), numbers=numbers),
    )
    rows = [_row(view, entry) for entry in entries]
    has_reasons = any(row["reason"] for row in rows)
    # The reason stands beside the rate that it explains, so that a phone shows both.
    false, genuine = RATES[1:4], RATES[4:]
    bounds = BOUNDS if any(entry["sr_least"] is not None for entry in entries) else ()
    reason_column = ("reason",) if has_reasons else ()
    results_parts_table(
        rows, ("name", RATES[0], genuine[0], *reason_column, *bounds[4:], *genuine[1:], *false, *bounds[:4], "cells")
    )
    if bounds:
        st.caption(t("rollup.bounds"))
    for method in dict.fromkeys(entry["method"] for entry in entries if entry["method"]):
        st.caption(plain(sentence(translated(method))))
    spot_check_results(view.report)
    protocol_effects(view.report)


def _row(view: View, entry: RollupEntry) -> dict[str, Any]:
    name = rollup_name(view.report, entry)
    return {
        **entry,
        "name": translated(name) if entry["by"] in ("family", "overall") else name,
        "reason": _missing_reason(entry),
    }


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
        answer = computed_with_freshness(engine, "bounds", {"at": BOUND_VALUES}, "bounds")
    except AuditError as problem:
        _show_unavailable(problem)
        return
    cells = answer.value["cells"]
    keys = list(dict.fromkeys((cell["study"], cell["corpus"], cell["relation"]) for cell in cells))
    names = [f"{relation} · {t('browse.study_name', corpus=corpus, id=id)}" for id, corpus, relation in keys]
    index = st.selectbox(
        t("results.relation"),
        range(len(keys)),
        format_func=names.__getitem__,
        key="results-values-relation",
        persist_state="session",
    )
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
    titles = (t("sheet.bound"), t("values.satisfied"))
    numbers = "; ".join(f"{cell['system']} {percent(cell['sr_observed'])}" for cell in cells)
    picture = dashboard_parts_chart(
        "bounds",
        key,
        lambda palette: bounds_chart(cells, titles, palette),
        t("values.bounds_alt", relation=cells[0]["relation"], bound=bound, numbers=numbers),
    )
    dashboard_parts_table("bounds", cells, _REACHED)
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
    numbers = "; ".join(f"{mean['level']} {number(mean['mean'], 3)} {letters[mean['level']]}" for mean in named_means)
    return dashboard_parts_chart(
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
    numbers = "; ".join(f"{cell['system']} {percent(cell['score'])}" for cell in report["cells"])
    picture = dashboard_parts_chart(
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
    dashboard_parts_table(name, [{**row, "p": p_number(row["p"])} if "p" in row else row for row in rows], columns)


def _with_names(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row with the names of languages and factors, and the reason, in the session's language."""
    result = dict(row)
    if row.get("factor") == "language":
        result |= {name: language_name(row[name]) for name in _LEVELS if name in row}
    if "effect" in row:
        result["effect"] = " × ".join(t(f"sheet.{factor}") for factor in row["effect"].split(" x "))
    if "factor" in row:
        result["factor"] = t(f"sheet.{row['factor']}")
    if row.get("reason"):
        result["reason"] = sentence(translated(row["reason"]))
    return result


def _show_unavailable(problem: AuditError) -> None:
    """Say why there is nothing to show, as information and not as a warning."""
    st.info(with_commands(sentence(translated(problem.sentence))), icon=":material/info:")


# The report in a few sentences in the session's language; `audit.reports.words.headlines` has the English ones.


def headlines(report: Report) -> list[tuple[str, str]]:
    """At most four (number, sentence that follows it) pairs, most important first."""
    totals = report["overall"]
    lines = []
    if totals["fs_rate"] is not None:
        values = {
            "observed": _share(totals["sr_observed"]),
            "genuine": with_interval(totals, "sr_genuine", "sr_genuine_low", "sr_genuine_high", PERCENT),
            "covered": totals["cells_covered"],
            "cells": totals["cells"],
            "share": _share(share_covered(totals)),
        }
        lines.append((with_interval(totals, "fs_rate", "fs_low", "fs_high", PERCENT), t("headline.false", **values)))
    elif totals["fs_rate_median"] is not None and not totals["judged"]:
        least, most = _share(totals["fs_rate_least"]), _share(totals["fs_rate_most"])
        lines.append((_share(totals["fs_rate_median"]), t("headline.median", least=least, most=most)))
    compared = totals["relations_compared"]
    if compared:
        number = t("headline.of", part=totals["best_changes_sure"], whole=compared)
        undecided = totals["best_changes_open"]
        if not undecided:
            more = t("headline.open_none")
        elif totals["judged"] is None:
            more = t("headline.open_rates", count=undecided)
        else:
            more = t("headline.open", count=undecided)
        lines.append((number, t("headline.best", count=compared, more=more)))
    if totals["judged"] is not None:
        lines.append(
            (
                count(totals["judged"]),
                t(
                    "headline.judged",
                    satisfied=count(totals["satisfied"]),
                    estimated=totals["cells_estimated"],
                    cells=totals["cells"],
                ),
            )
        )
    if totals["waiting"]:
        lines.append((count(totals["waiting"]), t("progress.waiting", count=totals["waiting"])))
    return lines


def _share(rate: float | None) -> str:
    return f"{percent(rate)}{PERCENT}"


ROLES = ("manager",)
TABS = ("relations", "together", "preferences", "heat", "cells", "values", "causes")
TAB = "results-tab"
_COUNTS = ("groups", "satisfied", "violated", "inapplicable", "errors", "drawn", "judged", "false", "waiting")


def page() -> None:
    """The report of the database in words, charts and numbers."""
    engine = session.engine()
    session.require_role(engine, *ROLES)
    try:
        options = results_parts.choose_options()
        view = show_freshness(
            lambda recompute: results_parts.compute_view(engine, options, recompute=recompute),
            lambda view: view.answer,
            "results",
        )
    except AuditError as problem:
        session.show_refusal(problem)
        return
    st.html(_headlines(view.report))
    for line in primary_lines(
        view.report, {word: texts(language())[f"primary.{word}"] for word in ENGLISH}, translated
    ):
        st.markdown(plain(line))
    st.caption(plain(method_sentence(view)))
    # Only the open tab is computed and sent.
    for name, tab in zip(
        TABS, st.tabs([t(f"results.{name}") for name in TABS], key=TAB, on_change="rerun"), strict=True
    ):
        if tab.open:
            with tab:
                _tab(name, view)
    _downloads(view)
    _notes(view.report)


def _tab(name: str, view: View) -> None:
    if name == "relations":
        relation_tab(view)
    elif name == "together":
        together_tab(view)
    elif name == "preferences":
        preferences_tab(view)
    elif name == "heat":
        _heat(view)
    elif name == "values":
        values_tab(view)
    elif name == "causes":
        causes_tab(view)
    else:
        cells_table(view.report, view.report["cells"], (*cell_columns(view.report), *_COUNTS, *RATES), height=420)


def _headlines(report: Report) -> str:
    lines = "".join(f"<li><strong>{html(number)}</strong> {html(rest)}</li>" for number, rest in headlines(report))
    return f'<ul class="audit-headlines">{lines}</ul>'


def _heat(view: View) -> None:
    st.caption(t("results.heat_legend"))
    for key in dict.fromkeys((entry["task"], entry["study"]) for entry in view.report["relations"]):
        build = partial(charts.false_chart, view.report, *key, width=120)
        results_parts_chart(view, ("heat", *key), build, t("results.heat_legend"))


def _downloads(view: View) -> None:
    """Downloads of the report as it is shown, with the weights: as JSON, and as an HTML page."""
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
            lambda: str(produce("html", {"report": view.report}, view.key)),
            "report.html",
            "text/html",
            on_click="ignore",
            icon=":material/download:",
        )


def _notes(report: Report) -> None:
    for line in plan_texts(report):
        st.caption(plain(line))
    for note in notes_of(report):
        st.caption(with_commands(translated(note)))
    with st.expander(t("results.signature")):
        st.code(signature_line(report["signature"]), language=None, wrap_lines=True)
