"""One's own account: what it is, and the way to another password."""

import streamlit as st

from audit.annotation.accounts import ROLES
from audit.annotation.keeping import own_account
from audit.ui import cookies, database, session
from audit.ui.language import t
from audit.ui.literal import html


def page() -> None:
    """Name, role and languages of whoever is logged in."""
    engine = database.engine()
    account = session.allowed(engine, *ROLES)
    mine = own_account(engine, account.id)
    st.subheader(t("menu.account"))
    languages = ", ".join(mine.languages) or t("account.all_languages")
    facts = (
        (t("accounts.name"), mine.name),
        (t("accounts.role"), t(f"role.{mine.role}")),
        (t("accounts.languages"), languages),
    )
    rows = "".join(f"<dt>{html(name)}</dt><dd>{html(value)}</dd>" for name, value in facts)
    st.html(f'<dl class="audit-orders">{rows}</dl>')
    if mine.has_password and session.cookie_token():
        st.html(f'<a class="audit-button" href="{cookies.root()}/password">{html(t("account.title"))}</a>')
    else:
        st.caption(t("account.no_password"))
