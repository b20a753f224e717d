"""Tokens of the API on the page *Account*: what there are, making one, ending one."""

import streamlit as st
from sqlalchemy import Engine

from audit.annotation.accounts import ROLES, Account
from audit.annotation.tokens import DAYS, MOST_DAYS, Token, end_token, make_token, may, own_tokens
from audit.ui import session
from audit.ui.language import in_words, t

_NEW = "token-new"
"""The secret that was just made: shown on the run after, and then gone from the session."""


def show_tokens(engine: Engine, account: Account) -> None:
    """The account's tokens, a form that makes one, and a button that ends one."""
    st.header(t("token.title"))
    st.caption(t("token.what"))
    if secret := st.session_state.pop(_NEW, None):
        st.success(t("token.made"), icon=":material/key:")
        st.code(secret, language=None)
    session.show_last()
    tokens = own_tokens(engine, account.id)
    if tokens:
        st.dataframe([_row(token) for token in tokens], hide_index=True)
        _show_end_form(engine, account, tokens)
    _show_make_form(engine, account)


def _row(token: Token) -> dict[str, str]:
    return {
        t("token.name"): token.name,
        t("accounts.role"): t(f"role.{token.role}"),
        t("token.created_at"): f"{token.created_at:%Y-%m-%d}",
        t("token.seen_at"): f"{token.seen_at:%Y-%m-%d %H:%M} UTC" if token.seen_at else t("token.never"),
        t("token.expires_at"): f"{token.expires_at:%Y-%m-%d}",
    }


def _show_make_form(engine: Engine, account: Account) -> None:
    roles = [role for role in ROLES if may(account.role, role)]
    with st.form("make-token", clear_on_submit=True):
        name = st.text_input(t("token.name"), max_chars=81, autocomplete="off")
        role = st.selectbox(
            t("token.role"), roles, index=len(roles) - 1, format_func=in_words(roles, "role"), key="token-role"
        )
        days = st.number_input(t("token.days"), min_value=1, max_value=MOST_DAYS, value=DAYS, step=1)
        submitted = st.form_submit_button(t("token.make"))
    if submitted:
        with session.changing(engine, account.id):
            st.session_state[_NEW] = make_token(engine, account.id, name, role, int(days))[0]
            st.rerun()


def _show_end_form(engine: Engine, account: Account, tokens: list[Token]) -> None:
    by_id = {token.id: token for token in tokens}
    chosen = st.selectbox(
        t("token.chosen"),
        list(by_id),
        format_func=lambda id: f"{by_id[id].name} ({by_id[id].created_at:%Y-%m-%d})",
        key="token-chosen",
    )
    if st.button(t("token.end"), icon=":material/key_off:"):
        with session.changing(engine, account.id):
            end_token(engine, account.id, chosen)
            session.done(t("token.ended"))
