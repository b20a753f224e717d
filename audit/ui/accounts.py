"""The accounts that may log in, for managers: inviting and changing them; and one's own account."""

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

import streamlit as st
from sqlalchemy import Engine

from audit.judging.accounts import ROLES as ALL_ROLES
from audit.judging.accounts import (
    Account,
    account_details,
    change_account,
    disable_account,
    enable_account,
    may,
    own_account,
)
from audit.judging.activity import unread_questions
from audit.judging.invitations import (
    LONGEST_CODE,
    MOST_DAYS,
    MOST_USES,
    Terms,
    end_invitation,
    invitations,
    invite,
    own_password_link,
    password_link,
)
from audit.judging.sign_in import DAYS, end_tokens, make_token
from audit.judging.sign_in import MOST_DAYS as MOST_TOKEN_DAYS
from audit.ui import session, settings
from audit.ui.language import html, in_words, language_name, plain, t

ROLES = ("manager",)
_LINKS = "accounts-links"
"""Links that were made in this session: what for (a text), for which account, and the address."""
_TOKEN = "token-new"
"""The API token that was just made: shown on the run after, and then gone from the session."""


def page() -> None:
    """The list of accounts, invitations, and the form that changes accounts."""
    engine, account = session.enter(*ROLES)
    accounts = account_details(engine, by=account.id)
    st.header(t("menu.accounts"))
    st.dataframe(list(map(_row, accounts)), hide_index=True)
    if any(entry.role == "annotator" and not entry.disabled for entry in accounts):  # else what comes next says it
        warn_of_unread([unread._asdict() for unread in unread_questions(engine, by=account.id)])
    session.show_last()
    _show_invite_form(engine, account.id)
    show_links("invite.made")
    _show_open_invitations(engine, account.id)
    _show_change_form(engine, account.id, accounts)


def _row(account: Account) -> dict[str, str]:
    return {
        t("welcome.name"): account.name,
        t("column.role"): t(f"role.{account.role}"),
        t("browse.state"): t("accounts.disabled" if account.disabled else "accounts.enabled"),
        t("column.languages"): ", ".join(account.languages) or t("account.all_languages"),
    }


def warn_of_unread(unread: Sequence[Mapping[str, Any]]) -> None:
    """Warn of questions that no account may answer; `unread` as in the totals."""
    for entry in unread:
        languages = t("browse.and").join(map(language_name, entry["languages"]))
        values = {"number": f"{entry['questions']:,}", "languages": plain(languages)}
        st.warning(t("unread.nobody", count=entry["questions"], **values), icon=":material/translate:")


def _role_field(key: str, role: str = "annotator") -> str:
    place = ALL_ROLES.index(role)
    return st.selectbox(t("column.role"), ALL_ROLES, place, format_func=in_words(ALL_ROLES, "role"), key=key)


def _languages_field(key: str, languages: Sequence[str] = ()) -> list[str]:
    """Codes of languages, with commas between them; none: all."""
    typed = st.text_input(
        t("accounts.which_languages"),
        ", ".join(languages),
        max_chars=1_000,
        autocomplete="off",
        help=t("accounts.languages_help"),
        key=key,
    )
    return [code.strip() for code in typed.split(",") if code.strip()]


# Inviting: a link for one person or many.


def _show_invite_form(engine: Engine, by: int) -> None:
    st.header(t("invite.title"))
    with st.form("invite"):
        left, middle, right = st.columns(3)
        with left:
            role = _role_field("invite-role")
        with middle:
            uses = st.number_input(t("invite.uses"), 1, MOST_USES, value=1, step=1, help=t("invite.uses_help"))
        with right:
            days = st.number_input(t("invite.days"), 1, MOST_DAYS, value=14, step=1)
        with st.expander(t("invite.more")):
            languages = _languages_field("invite-languages")
            code = st.text_input(
                t("invite.code"), max_chars=LONGEST_CODE, autocomplete="off", help=t("invite.code_help")
            )
            st.caption(t("invite.platform", link=f"{_link('…')}?participant="))
        submitted = st.form_submit_button(t("invite.make"), type="primary", icon=":material/link:")
    if submitted:
        with session.changing(engine, by):
            terms = Terms(role, languages, int(uses), int(days), code.strip())
            remember_link("invite.made", invite(engine, terms, by=by))


def _link(secret: str) -> str:
    """The address of an invitation, as this browser comes to the app."""
    here = urlsplit(st.context.url or "")
    return f"{here.scheme or 'http'}://{here.netloc}{settings.root()}/join/{secret}"


def remember_link(what: str, secret: str, whose: int = 0) -> None:
    """Show a link that was just made beside those before it, of this session."""
    st.session_state.setdefault(_LINKS, []).append((what, whose, _link(secret)))
    st.rerun()


def show_links(what: str, whose: int = 0) -> None:
    """Show the links that were made for this, and for this account, the last one first."""
    links = [link for *made, link in st.session_state.get(_LINKS, []) if made == [what, whose]]
    for number, link in enumerate(reversed(links)):
        with st.container(border=True, key=f"new-link-{what}-{number}" if number else "new-link"):
            st.markdown(t(what))
            st.code(link, language=None, wrap_lines=True)


def _show_open_invitations(engine: Engine, by: int) -> None:
    """Invitations that can still be used, and the button that takes one back."""
    still_open = invitations(engine, by=by)
    if not still_open:
        return
    with st.expander(t("invite.open", count=len(still_open))):
        by_id = {one.id: one for one in still_open}
        rows: list[Mapping[str, object]] = [
            {
                t("column.role"): t(f"role.{one.role}"),
                t("column.languages"): one.languages.replace(",", ", ") or t("account.all_languages"),
                t("invite.uses_left"): one.uses_left,
                t("invite.expires"): f"{one.expires_at:%Y-%m-%d %H:%M} UTC",
                t("invite.code"): one.code,
                t("invite.by"): one.by or t("log.database"),
            }
            for one in still_open
        ]
        st.dataframe(rows, hide_index=True)
        role_name = in_words(ALL_ROLES, "role")
        chosen = st.selectbox(
            t("invite.which"),
            list(by_id),
            format_func=lambda id: f"{by_id[id].created_at:%Y-%m-%d %H:%M} UTC · {role_name(by_id[id].role)}",
            key="invitation-to-end",
        )
        if st.button(t("invite.end"), key="end-invitation"):
            with session.changing(engine, by):
                end_invitation(engine, chosen, by=by)
                st.session_state.pop(_LINKS, None)
                session.done(t("invite.ended"))


def _show_change_form(engine: Engine, by: int, accounts: list[Account]) -> None:
    st.header(t("accounts.change"))
    by_id = {account.id: account for account in accounts}
    chosen = by_id[
        st.selectbox(t("welcome.name"), list(by_id), format_func=lambda id: by_id[id].name, key="change-who")
    ]
    name = chosen.name
    with st.form(f"edit-{chosen.id}"):
        left, right = st.columns(2)
        with left:
            role = _role_field(f"role-{chosen.id}-{chosen.role}", chosen.role)
        with right:
            languages = _languages_field(f"languages-{chosen.id}-{chosen.languages}", chosen.languages)
        submitted = st.form_submit_button(t("accounts.store"))
    if submitted:
        with session.changing(engine, by):
            change_account(engine, name, role, languages, by=by)
            session.done(t("accounts.stored", name=plain(name)))
    if chosen.disabled:
        if st.button(t("accounts.enable"), key=f"enable-{chosen.id}"):
            with session.changing(engine, by):
                enable_account(engine, name, by=by)
                session.done(t("accounts.was_enabled"))
        return
    if st.button(t("accounts.password_link"), key=f"password-link-{chosen.id}", icon=":material/link:"):
        with session.changing(engine, by):
            remember_link("accounts.password_link_made", password_link(engine, name, by=by), chosen.id)
    show_links("accounts.password_link_made", chosen.id)
    with st.container(horizontal=True, vertical_alignment="center"):
        sure = st.checkbox(t("accounts.sure", name=plain(name)), key=f"sure-{chosen.id}")
        pressed = st.button(t("accounts.disable"), key=f"disable-{chosen.id}", disabled=not sure)
    if pressed and sure:
        with session.changing(engine, by):
            disable_account(engine, name, by=by)
            session.done(t("accounts.was_disabled"))


# One's own account, and the link to the form that changes its password.


def account_page() -> None:
    """Name, role and languages of the account that is logged in, and its tokens of the API."""
    engine, account = session.enter(*ALL_ROLES)
    profile = own_account(engine, account.id)
    st.header(t("menu.account"))
    languages = ", ".join(profile.languages) or t("account.all_languages")
    facts = (
        (t("welcome.name"), profile.name),
        (t("column.role"), t(f"role.{profile.role}")),
        (t("column.languages"), languages),
    )
    rows = "".join(f"<dt>{html(name)}</dt><dd>{html(value)}</dd>" for name, value in facts)
    st.html(f'<dl class="audit-orders">{rows}</dl>')
    if profile.has_password:
        address = f"{settings.root()}/join/{own_password_link(engine, account.id)}"
        st.html(f'<a class="audit-button" href="{address}">{html(t("account.title"))}</a>')
    else:
        st.caption(t("account.no_password"))
    _show_tokens(engine, account)


def _show_tokens(engine: Engine, account: Account) -> None:
    """A form that makes a token of the API, and a button that ends all of the account's."""
    st.header(t("token.title"))
    st.caption(t("token.what"))
    if token := st.session_state.pop(_TOKEN, None):
        st.success(t("token.made"), icon=":material/key:")
        st.code(token, language=None, wrap_lines=True)
    session.show_last()
    roles = [role for role in ALL_ROLES if may(account.role, role)]
    with st.form("make-token", clear_on_submit=True):
        role = st.selectbox(
            t("token.role"), roles, index=len(roles) - 1, format_func=in_words(roles, "role"), key="token-role"
        )
        days = st.number_input(t("token.days"), min_value=1, max_value=MOST_TOKEN_DAYS, value=DAYS, step=1)
        submitted = st.form_submit_button(t("token.make"))
    if submitted:
        with session.changing(engine, account.id):
            st.session_state[_TOKEN] = make_token(engine, account.id, role, int(days))
            st.rerun()
    if st.button(t("token.end"), icon=":material/key_off:"):
        with session.changing(engine, account.id):
            end_tokens(engine, account.id)
            session.done(t("token.ended"))
