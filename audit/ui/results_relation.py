"""A relation at a time: rates, order before and after, how sure the ranking is, and who differs from whom."""

from collections.abc import Mapping
from typing import Any

import streamlit as st

from audit.reports import charts, slopes
from audit.reports.build import Report, cells_of
from audit.reports.differences import differences_chart, exact, oriented, p_text
from audit.reports.order_words import change_text, order_text
from audit.reports.words import count, percent, place, summary_of
from audit.ui.language import summary, t, translated
from audit.ui.literal import html, sentence
from audit.ui.results_audits import of_relation
from audit.ui.results_parts import (
    DIFFERENCES,
    RATES,
    TESTS,
    cells_table,
    chart,
    heading,
    ranking_table,
    say,
    table,
    tolerance,
)
from audit.ui.results_source import View


def tab(view: View) -> None:
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
        chart(view, ("rates", chosen), lambda palette: charts.rates_chart(report, entry, palette), _rates(entry, cells))
        titles = (t("results.reported"), t("results.genuine"))
        chart(
            view,
            ("order", chosen, titles),
            lambda palette: slopes.order_chart(entry, palette, titles),
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
    chart(
        view,
        ("pairs", number),
        lambda palette: differences_chart(entry["pairs"], delta, palette),
        strongest(found[0]),
    )
    rows = [one | {"apart": t("pairs.yes" if one["apart"] else "pairs.no")} for one in found]
    table(rows, ("system", "other", *DIFFERENCES, *TESTS, "apart", "judged", "informative", "groups"))


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
    ranks = "; ".join(f"{one.system} {one.rank_before} → {one.rank_after}" for one in slopes.moves(entry))
    return t("results.order_alt", relation=entry["relation"], ranks=ranks)
