"""What seeing an earlier answer moves: R_FS by protocol and the difference, where a report has both."""

import streamlit as st

from audit.reports.build import Report
from audit.reports.protocol_words import inspected_text, signed, unchanged_text
from audit.reports.words import percent, with_interval
from audit.ui.language import t
from audit.ui.literal import plain
from audit.ui.results_parts import heading, say


def of_protocols(report: Report) -> None:
    """A sentence and a table; nothing where people answered under one protocol only."""
    found = report.get("protocols")
    if not found:
        return
    heading(t("protocols.title"))
    if found["difference"] is None:
        say(t("protocols.one_empty"))
    else:
        none_shown = found["low"] <= 0 <= found["high"]
        kind = "not_random" if not found["randomised"] else "no_effect" if none_shown else "effect"
        points, low, high = (signed(found[name]) for name in ("difference", "low", "high"))
        say(t(f"protocols.{kind}", points=points, low=low, high=high))
    st.dataframe([_row(arm) for arm in found["arms"]], hide_index=True)
    if found["crossed"]:
        st.caption(plain(t("protocols.crossed", count=found["crossed"])))


def _row(arm: dict[str, object]) -> dict[str, object]:
    rate = with_interval(arm, "fs_rate", "fs_low", "fs_high")
    agreement = arm["agreement"]
    texts = {
        "name": t(f"protocols.{arm['protocol']}"),
        **{name: arm[name] for name in ("sources", "groups", "false")},
        "fs": rate,
        "questions": arm["questions"],
        "agreement": percent(agreement if isinstance(agreement, float) else None),
        "disputed": arm["disputed"],
        "unchanged": unchanged_text(arm),
        "inspected": inspected_text(arm),
    }
    return {t(f"protocols.{name}"): text for name, text in texts.items()}
