"""Why satisfactions are false, and why people disagreed: what adjudicators said, counted."""

import streamlit as st

from audit.reports.words import rollup_name
from audit.ui.choice import one_of
from audit.ui.language import known_or, t
from audit.ui.literal import plain
from audit.ui.results_parts import heading, say, table
from audit.ui.results_source import View


def tab(view: View) -> None:
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
        table(rows, ("name", "cause", "cause_share", "cause_low", "cause_high", "count", "named"))
        st.caption(plain(t("causes.how")))
    if disputes:
        heading(t("causes.disputes"))
        say(t("causes.settled", count=disputes["settled"]))
        reasons = [(f"reason.{one['reason']}", one["count"]) for one in disputes["reasons"] if one["count"]]
        rows = [{"reason_of": known_or(key, key), "count": count} for key, count in reasons]
        if disputes["uncoded"]:
            rows.append({"reason_of": t("causes.uncoded"), "count": disputes["uncoded"]})
        table(rows, ("reason_of", "count"))
