"""Who judges: how much, how fast, and how often they say what was settled in the end."""

import streamlit as st
from sqlalchemy import Engine

from audit.annotation.accounts import Account
from audit.annotation.keeping import kept_accounts
from audit.reports.dashboard_charts import people_chart
from audit.ui.dashboard_parts import chart, moment, table, take_along
from audit.ui.language import t
from audit.ui.workshop import current

COLUMNS = ("name", "role", "judgements", "today", "seconds", "unsure_share", "settled", "agreed_share", "languages",
           "seen_at")  # fmt: skip


def section(engine: Engine, account: Account) -> None:
    """A table and a chart of judgements. No ranking: the pace is for planning, not for comparing people."""
    found = current(engine, "people", {"by": account.id}, "people")
    # Somebody may come without judging anything, which changes no number but this.
    seen = {one.name: one.seen_at for one in kept_accounts(engine, by=account.id)}
    st.caption(t("dashboard.people_legend"))
    rows = [
        one
        | {
            "role": t(f"role.{one['role']}") + (f" ({t('accounts.disabled')})" if one["disabled"] else ""),
            "seen_at": moment(at.isoformat()) if (at := seen.get(one["name"])) else None,
            "languages": ", ".join(one["languages"]),
        }
        for one in found.value
    ]
    table("people", rows, COLUMNS)
    numbers = "; ".join(f"{one['name']} {one['judgements']}" for one in rows)
    drawn = chart(
        "people",
        (found.state,),
        lambda palette: people_chart(found.value, palette),
        t("dashboard.people_alt", numbers=numbers),
    )
    if drawn is None:
        st.info(t("dashboard.nobody_judged"), icon=":material/info:")
    take_along("annotators", rows, COLUMNS, [("people_picture", drawn)])
