"""One ranking by a user's weights over relations, and how far the weights can move before another system wins."""

import csv
import io
from collections.abc import Mapping
from typing import Any

import streamlit as st

from audit.reports import charts
from audit.reports.preference import PROFILES
from audit.reports.words import percent
from audit.ui import session
from audit.ui.choice import one_of
from audit.ui.language import language, t
from audit.ui.results_parts import SCORES, chart, ranking_table, say, table, tolerance
from audit.ui.results_source import FILE, OWN, PROFILE, View, keep_own_weights


def tab(view: View) -> None:
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
    """The weights as `audit report --weights` reads them."""
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
    chart(
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
        table(rows, ("relation", "weight", *(("weight_level",) if level else ())))
