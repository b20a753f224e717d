"""What audits found: whether relations hold, how often answers are carried wrongly, what spot checks say."""

from collections.abc import Mapping
from typing import Any

import streamlit as st

from audit.reports.build import Report
from audit.reports.words import percent
from audit.ui.language import t, translated
from audit.ui.literal import plain
from audit.ui.results_parts import heading, say, table


def of_relation(entry: Mapping[str, Any]) -> None:
    """Of one relation, in sentences; nothing where nothing was audited."""
    holds, carry = entry["holds"], entry["carry"]
    texts = []
    if holds and holds["rate"] is not None:
        values = {name: percent(holds[name]) for name in ("rate", "low", "high")}
        values |= {name: percent(holds[name]["rate"]) for name in ("satisfied", "violated")}
        texts.append(t("audits.holds", broken=holds["broken"], judged=holds["judged"], **values))
    if carry and carry["audited"]:
        values = {name: percent(carry[name]) for name in ("error", "low", "high")}
        texts.append(t("audits.carry", wrong=carry["wrong"], audited=carry["audited"], **values))
        if carry["effect"] is not None:
            rests, effect = percent(carry["rests_on_carried"]), percent(carry["effect"])
            texts.append(t("audits.effect", rests=rests, effect=effect))
    if texts:
        heading(t("audits.title"))
    for text in texts:
        say(text)


def of_all(report: Report) -> None:
    """What spot checks say of the protocol and of R_FS; nothing where nothing was checked."""
    found = report["overall"]["checks"]
    if not found or not found["answers"]:
        return
    heading(t("audits.checks"))
    ends = {name: percent(found[f"error_{name}"]) for name in ("low", "high")}
    rate = percent(found["error"])
    say(t("audits.answers", answers=found["answers"], wrong=found["answers_wrong"], rate=rate, **ends))
    if found["fs_checked"] is None:
        return
    st.caption(plain(t("audits.groups", groups=found["groups"], removed=found["removed"], added=found["added"])))
    other = found["rogan_gladen"]
    estimates = (
        ("protocol", found["fs_rate"], found["fs_low"], found["fs_high"]),
        ("difference", found["fs_checked"], found["fs_checked_low"], found["fs_checked_high"]),
        ("rogan_gladen", other["rate"], other["low"], other["high"]),
    )
    rows = [
        {"name": t(f"audits.{name}"), "fs_rate": rate, "fs_low": low, "fs_high": high}
        for name, rate, low, high in estimates
    ]
    table(rows, ("name", "fs_rate", "fs_low", "fs_high"))
    if other["reason"]:
        st.caption(plain(f"{t('audits.rogan_gladen')}: {translated(other['reason'])}"))
