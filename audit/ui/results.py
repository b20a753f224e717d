"""Results: for managers."""

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
from audit.ui.background_cache import current, fresh, made
from audit.ui.dashboard_parts import Drawn, take_along
from audit.ui.dashboard_parts import chart as dashboard_parts_chart
from audit.ui.dashboard_parts import table as dashboard_parts_table
from audit.ui.language import (
    html,
    known_or,
    language,
    language_name,
    one_of,
    plain,
    sentence,
    summary,
    t,
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
    cells_table,
    heading,
    how,
    keep_own_weights,
    of_all,
    of_protocols,
    of_relation,
    ranking_table,
    say,
    tolerance,
    whole,
)
from audit.ui.results_parts import chart as results_parts_chart
from audit.ui.results_parts import table as results_parts_table
from audit.ui.studies import plan_texts

# A relation at a time: rates, order before and after, how sure the ranking is, and who differs from whom.


def relation_tab(view: View) -> None:
    """The relation that is chosen, the most telling one first: where another system is best."""
    report = view.report
    entries = report["relations"]
    if not entries:
        return
    names = [f"{one['relation']} · {place(report, one)}" for one in entries]
    changed = next((number for number, one in enumerate(entries) if one["best_changes_sure"]), 0)
    chosen = st.selectbox(
        t("results.relation"),
        range(len(entries)),
        index=changed,
        format_func=names.__getitem__,
        key="results-relation",
        persist_state="session",
    )
    entry = entries[chosen]
    cells = cells_of(report, entry["task"], entry["study"], entry["relation"])
    left, right = st.columns([3, 2], gap="large")
    with left:
        st.caption(f"{t('results.legend')} {t('results.letters')}")
        results_parts_chart(
            view, ("rates", chosen), lambda palette: charts.rates_chart(report, entry, palette), _rates(entry, cells)
        )
        titles = (t("results.reported"), t("results.genuine"))
        results_parts_chart(
            view,
            ("order", chosen, titles),
            lambda palette: charts.order_chart(entry, palette, titles),
            _moves(entry),
        )
    with right:
        st.html(_orders(report, entry))
    _ranking(view, entry)
    _pairs(view, chosen, entry)
    of_relation(entry)
    heading(t("results.cells_of_relation"))
    cells_table(report, cells, ("system", "groups", "satisfied", "drawn", "judged", "false", "waiting", *RATES))


def _orders(report: Report, entry: Mapping[str, Any]) -> str:
    """What the relation does, the order of systems before and after, and what that changes."""
    what = summary(entry["task"], entry["relation"], summary_of(report, entry))
    titles = {"observed": t("results.order_observed"), "genuine": t("results.order_genuine")}
    if entry["order_corrected"]:
        titles["corrected"] = t("results.order_corrected")
    orders = "".join(
        f"<dt>{html(title)}</dt><dd>{html(order_text(entry, when))}</dd>" for when, title in titles.items()
    )
    change = html(sentence(translated(change_text(entry))))
    return f'<p>{html(what)}</p><dl class="audit-orders">{orders}</dl><p><strong>{change}</strong></p>'


def _ranking(view: View, entry: Mapping[str, Any]) -> None:
    heading(t("results.ranking"))
    st.caption(f"{t('results.ranking_legend')} {tolerance(view)}")
    ranking_table(entry["ranking"], {}, ("sr_observed", "sr_genuine"))
    say(compared_on(entry))


def compared_on(entry: Mapping[str, Any]) -> str:
    """What the comparison of the systems is about, in a sentence; empty where nothing is compared."""
    found = entry["common"]
    if found is None or len(entry["order_observed"]) < 2:
        return ""
    parts = [t("results.own_groups") if found["groups"] is None else t("results.common", groups=count(found["groups"]))]
    if found["deciding"] is not None:
        parts.append(t("results.deciding", judged=count(found["judged"]), deciding=count(found["deciding"])))
    if found["reason"]:
        parts.append(translated(found["reason"]))
    return sentence(t("how.comma").join(parts) + t("how.stop"))


def _pairs(view: View, number: int, entry: Mapping[str, Any]) -> None:
    """The differences of each two systems; who differs most surely is said first."""
    heading(t("results.pairs"))
    found = oriented(entry["pairs"])
    if not found:
        reasons = dict.fromkeys(pair["reason"] for pair in entry["pairs"] if pair["reason"])
        say(sentence(translated(next(iter(reasons), ""))) if reasons else t("pairs.none"))
        return
    say(strongest(found[0]))
    st.caption(f"{t('pairs.legend')} {tolerance(view)}")
    delta = view.options.delta
    results_parts_chart(
        view,
        ("pairs", number),
        lambda palette: differences_chart(entry["pairs"], delta, palette),
        strongest(found[0]),
    )
    rows = [one | {"apart": t("pairs.yes" if one["apart"] else "pairs.no")} for one in found]
    results_parts_table(rows, ("system", "other", *DIFFERENCES, *TESTS, "apart", "judged", "informative", "groups"))


def strongest(pair: Mapping[str, Any]) -> str:
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


def _rates(entry: Mapping[str, Any], cells: list[dict[str, Any]]) -> str:
    """What the chart of rates shows, for those who cannot see it."""
    numbers = "; ".join(
        f"{one['system']} {percent(one['sr_observed'])} → {percent(one['sr_genuine'])}" for one in cells
    )
    return t("results.rates_alt", relation=entry["relation"], numbers=numbers)


def _moves(entry: Mapping[str, Any]) -> str:
    ranks = "; ".join(f"{one.system} {one.rank_before} → {one.rank_after}" for one in charts.moves(entry))
    return t("results.order_alt", relation=entry["relation"], ranks=ranks)


# Why satisfactions are false, and why people disagreed: what adjudicators said, counted.


def causes_tab(view: View) -> None:
    """Shares of causes at one level, and the reasons of disputes."""
    entries, disputes = view.report["causes"], view.report["disputes"]
    heading(t("results.causes"))
    if not entries:
        st.info(t("causes.not_given"))
    else:
        names = {one["by"]: t(f"rollup.{one['by']}") for one in reversed(entries)}
        by = one_of(t("rollup.by"), names, "results-causes-level", persist_state="session")
        rows = [
            {
                "name": rollup_name(view.report, one) if by != "overall" else names[by],
                "cause": known_or(f"cause.{share['cause']}", share["cause"]),
                "count": share["count"],
                "named": t("headline.of", part=one["named"], whole=one["false"]),
                **{f"cause_{name}": share[name] for name in ("share", "low", "high")},
            }
            for one in entries
            if one["by"] == by
            for share in one["causes"]
            if share["count"]
        ]
        results_parts_table(rows, ("name", "cause", "cause_share", "cause_low", "cause_high", "count", "named"))
        st.caption(plain(t("causes.how")))
    if disputes:
        heading(t("causes.disputes"))
        say(t("causes.settled", count=disputes["settled"]))
        reasons = [(f"reason.{one['reason']}", one["count"]) for one in disputes["reasons"] if one["count"]]
        rows = [{"reason_of": known_or(key, key), "count": count} for key, count in reasons]
        if disputes["uncoded"]:
            rows.append({"reason_of": t("causes.uncoded"), "count": disputes["uncoded"]})
        results_parts_table(rows, ("reason_of", "count"))


# One ranking by a user's weights over relations, and how far the weights can move before another system wins.


def preferences_tab(view: View) -> None:
    """A profile of weights or the user's own, and what it makes of the systems."""
    names = {name: t(f"profile.{name}") for name in (*PROFILES, OWN)}
    profile = one_of(t("preference.profile"), names, PROFILE, persist_state="session")
    st.caption(t(f"profile_is.{profile}"))
    found = view.report.get("preference")
    place = st.container()
    if profile == OWN:
        left, place = st.columns([2, 3], gap="medium")
        with left:
            _editor(view)
    with place:
        if view.problem is not None:
            session.refused(view.problem)
        if found is not None:
            _winner(view, found)
    if found is not None:
        ranking_table(found["ranking"], {}, SCORES)
        _weights(found)


def _editor(view: View) -> None:
    """The weights as a table to write in; they count once they are applied, so that half of them never does."""
    given = dict(st.session_state["results-own-weights"])
    relations = list(dict.fromkeys(one["relation"] for one in view.report["relations"]))
    name, value = t("column.relation"), t("column.own_weight")
    rows = [{name: relation, value: float(given.get(relation, 0.0))} for relation in relations]
    # Other weights or another language, another editor: edits never land on rows they were not made for.
    key = f"results-editor-{language()}-{hash(tuple(given.items()))}"
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
        t("preference.download"), _file(given), FILE, "text/csv", on_click="ignore", icon=":material/download:"
    )


def _file(weights: Mapping[str, float]) -> str:
    """The weights as the command `audit report` reads them."""
    text = io.StringIO()
    csv.writer(text).writerows([("relation", "weight"), *weights.items()])
    return text.getvalue()


def _winner(view: View, found: Mapping[str, Any]) -> None:
    """The winner in sentences, and a chart of all systems."""
    for text in winner(view, found):
        say(text)
    scored = [one for one in found["ranking"] if one["score_observed"] is not None]
    numbers = "; ".join(f"{one['system']} {percent(one['score_observed'])} → {percent(one['score'])}" for one in scored)
    st.caption(f"{t('preference.legend')} {tolerance(view)}")
    results_parts_chart(
        view,
        ("scores",),
        lambda palette: charts.scores_chart(view.report, palette),
        t("results.rates_alt", relation=t("results.preferences"), numbers=numbers),
    )


def winner(view: View, found: Mapping[str, Any]) -> list[str]:
    """Who is best by the weights, how sure that is, and how far it hangs on the weights, in sentences."""
    if not found["winner"]:
        return [t("preference.unknown")]
    before, after = (", ".join(found[name]) for name in ("winner_observed", "winner"))
    lines = [t("preference.same" if before == after else "preference.changed", before=before, after=after)]
    move, delta = found["move"], view.options.delta
    if move is None:
        lines.append(t("preference.no_move"))
        return lines
    values = {"rival": move["rival"], "share": f"{percent(move['distance'] / 2)} %", "points": percent(delta)}
    lines.append(t("preference.move_delta" if delta else "preference.move", **values))
    return lines


def _weights(found: Mapping[str, Any]) -> None:
    """The weights, and beside them the nearest ones with which another system is as good."""
    level = found["move"]["weights"] if found["move"] else {}
    rows = [
        {"relation": relation, "weight": share, "weight_level": level.get(relation)}
        for relation, share in found["weights"].items()
        if share or level.get(relation)
    ]
    with st.expander(t("preference.weights")):
        results_parts_table(rows, ("relation", "weight", *(("weight_level",) if level else ())))


# Cells taken together: by relation, system, family of relations, and over all.

_NAMED = 4
"""Cells without an estimate that a reason names."""


def together_tab(view: View) -> None:
    """One level at a time, as a chart and a table; what is not known says why."""
    names = {level: t(f"rollup.{level}") for level in LEVELS}
    by = one_of(t("rollup.by"), names, "results-level", LEVELS[1], persist_state="session")
    entries = [one for one in view.report["rollups"] if one["by"] == by]
    if not entries:
        st.info(t("rollup.none"))
        return
    st.caption(t("results.legend"))
    numbers = "; ".join(
        f"{rollup_name(view.report, one)} {percent(one['sr_observed'])} → {genuine_text(one)}" for one in entries
    )
    results_parts_chart(
        view,
        ("rollups", by),
        lambda palette: charts.rollup_chart(view.report, by, palette),
        t("results.rates_alt", relation=t(f"rollup.{by}"), numbers=numbers),
    )
    rows = [_row(view, one) for one in entries]
    lacking = any(row["reason"] for row in rows)
    # The reason stands beside the rate that it explains, so that a phone shows both.
    false, genuine = RATES[1:4], RATES[4:]
    bounds = BOUNDS if any(one["sr_least"] is not None for one in entries) else ()
    why = ("reason",) if lacking else ()
    results_parts_table(
        rows, ("name", RATES[0], genuine[0], *why, *bounds[4:], *genuine[1:], *false, *bounds[:4], "cells")
    )
    if bounds:
        st.caption(t("rollup.bounds"))
    for method in dict.fromkeys(one["method"] for one in entries if one["method"]):
        st.caption(plain(sentence(translated(method))))
    of_all(view.report)
    of_protocols(view.report)


def _row(view: View, entry: Mapping[str, Any]) -> dict[str, Any]:
    name = rollup_name(view.report, entry)
    return {**entry, "name": translated(name) if entry["by"] in ("family", "overall") else name, "reason": _why(entry)}


def _why(entry: Mapping[str, Any]) -> str | None:
    """Why there is no rate, with the first of the cells that are to blame."""
    if not entry["reason"]:
        return None
    missing = entry["missing"]
    if not missing:
        return sentence(translated(entry["reason"]))
    # What all of them share, the row's own name, need not be said again.
    parts = [name for name in ("relation", "system") if name != entry["by"]]
    names = list(dict.fromkeys(" ".join(one[part] for part in parts) for one in missing))
    dots = "" if len(names) <= _NAMED else ", …"
    key = "rollup.missing" if entry["sr_least"] is None else "rollup.bounded"
    return t(key, names=", ".join(names[:_NAMED]) + dots)


# What relations compared, beyond satisfied and violated: other bounds, mean values, levels of granularity.

BOUND_VALUES = tuple(round(step / 20, 2) for step in range(31))
"""Bounds that are computed: some values are quotients, and exceed 1."""
_REACHED = ("system", "checked", "mean", "median", "bound", "sr_observed")
_RATES = ("study", "corpus", "relation", "system", "checked", "at", "sr_observed")
_MEANS = ("factor", "factor_level", "mean", "se", "low", "high", "n", "letters")
_TESTS = ("effect", "f", "df", "df_error", "p")
_PAIRS = ("factor", "first", "second", "difference", "se", "low", "high", "p")
_LEVELS = ("level", "factor_level", "first", "second")
"""Columns that name a level of a factor."""
_SHARES = ("system", "relation", "share", "checked")


def values_tab(view: View) -> None:
    """One relation at a time: its rates at other bounds, and of translations the means and the levels."""
    engine = session.engine()
    st.caption(plain(t("values.what")))
    try:
        found = current(engine, "bounds", {"at": BOUND_VALUES}, "bounds")
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
    drawn = dashboard_parts_chart(
        "bounds",
        key,
        lambda palette: bounds_chart(cells, titles, palette),
        t("values.bounds_alt", relation=cells[0]["relation"], bound=bound, numbers=numbers),
    )
    dashboard_parts_table("bounds", cells, _REACHED)
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
    return dashboard_parts_chart(
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
    drawn = dashboard_parts_chart(
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
    dashboard_parts_table(name, [{**one, "p": p_number(one["p"])} if "p" in one else one for one in rows], columns)


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


# The report in a few sentences, in the session's language; in English see `audit.reports.words.headlines`.


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
        left = totals["best_changes_open"]
        if not left:
            more = t("headline.open_none")
        elif totals["judged"] is None:
            more = t("headline.open_rates", count=left)
        else:
            more = t("headline.open", count=left)
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
    session.allowed(engine, *ROLES)
    try:
        options = results_parts.choose()
        view = fresh(lambda anew: results_parts.view(engine, options, anew=anew), lambda one: one.found, "results")
    except AuditError as problem:
        session.refused(problem)
        return
    st.html(_headlines(view.report))
    for line in primary_lines(
        view.report, {word: texts(language())[f"primary.{word}"] for word in ENGLISH}, translated
    ):
        st.markdown(plain(line))
    st.caption(plain(how(view)))
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
        cells_table(view.report, view.report["cells"], (*whole(view.report), *_COUNTS, *RATES), height=420)


def _headlines(report: Report) -> str:
    lines = "".join(f"<li><strong>{html(number)}</strong> {html(rest)}</li>" for number, rest in headlines(report))
    return f'<ul class="audit-headlines">{lines}</ul>'


def _heat(view: View) -> None:
    st.caption(t("results.heat_legend"))
    for key in dict.fromkeys((one["task"], one["study"]) for one in view.report["relations"]):
        drawn = partial(charts.false_chart, view.report, *key, width=120)
        results_parts_chart(view, ("heat", *key), drawn, t("results.heat_legend"))


def _downloads(view: View) -> None:
    """Exactly what is shown, with the weights: as data, and as a page to pass on."""
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
            lambda: str(made("html", {"report": view.report}, view.key)),
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
