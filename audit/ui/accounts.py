"""The accounts that may log in, for managers: inviting and changing them; and one's own account."""

from collections.abc import Mapping, Sequence
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
from audit.ui import session, settings
from audit.ui.language import html, language_name, plain, t

ROLES = ("manager",)
_LINKS = "accounts-links"
"""Links that were made in this session: what for (a text), for which account, and the address."""


def page() -> None:
    """The list of accounts, invitations, and the form that changes accounts."""
    engine, account = session.enter(*ROLES)
    people = account_details(engine, by=account.id)
    st.header(t("menu.accounts"))
    st.dataframe(list(map(_row, people)), hide_index=True)
    if any(person.role == "annotator" and not person.disabled for person in people):  # else what comes next says it
        _warn_of_unread(engine, account.id)
    session.show_last()
    _invite_form(engine, account.id)
    show_links("invite.made")
    _open_invitations(engine, account.id)
    _change_form(engine, account.id, people)


def _row(account: Account) -> dict[str, str]:
    return {
        t("welcome.name"): account.name,
        t("column.role"): t(f"role.{account.role}"),
        t("browse.state"): t("accounts.disabled" if account.disabled else "accounts.enabled"),
        t("column.languages"): ", ".join(account.languages) or t("account.all_languages"),
    }


def _warn_of_unread(engine: Engine, by: int) -> None:
    for entry in unread_questions(engine, by=by):
        languages = t("browse.and").join(map(language_name, entry.languages))
        values = {"number": f"{entry.questions:,}", "languages": plain(languages)}
        st.warning(t("unread.nobody", count=entry.questions, **values), icon=":material/translate:")


def _role_field(key: str, role: str = "annotator") -> str:
    place, names = ALL_ROLES.index(role), {role: t(f"role.{role}") for role in ALL_ROLES}
    return st.selectbox(t("column.role"), ALL_ROLES, place, format_func=names.__getitem__, key=key)


def _languages_field(key: str, languages: Sequence[str] = ()) -> list[str]:
    typed = st.text_input(
        t("accounts.which_languages"), ", ".join(languages), max_chars=1_000, autocomplete="off",
        help=t("accounts.languages_help"), key=key,
    )  # fmt: skip
    return [code.strip() for code in typed.split(",") if code.strip()]


# Inviting: a link for one person or many.


def _invite_form(engine: Engine, by: int) -> None:
    st.header(t("invite.title"))
    with st.form("invite"):
        left, middle, right = st.columns(3)
        with left:
            role = _role_field("invite-role")
        uses = middle.number_input(t("invite.uses"), 1, MOST_USES, value=1, step=1, help=t("invite.uses_help"))
        days = right.number_input(t("invite.days"), 1, MOST_DAYS, value=14, step=1)
        with st.expander(t("invite.more")):
            languages = _languages_field("invite-languages")
            help = t("invite.code_help")
            code = st.text_input(t("invite.code"), max_chars=LONGEST_CODE, autocomplete="off", help=help).strip()
            st.caption(t("invite.platform", link=f"{_link('…')}?participant="))
        submitted = st.form_submit_button(t("invite.make"), type="primary", icon=":material/link:")
    if submitted:
        with session.changing(engine, by):
            terms = Terms(role, languages, int(uses), int(days), code)
            remember_link("invite.made", invite(engine, terms, by=by))


def _link(secret: str) -> str:
    here = urlsplit(st.context.url or "")
    return f"{here.scheme or 'http'}://{here.netloc}{settings.root()}/join/{secret}"


def remember_link(what: str, secret: str, whose: int = 0) -> None:
    """Show a link that was just made beside those before it, of this session."""
    st.session_state.setdefault(_LINKS, []).append((what, whose, _link(secret)))
    st.rerun()


def show_links(what: str, whose: int = 0) -> None:
    """Show the links that were made for this, and for this account, the last one first."""
    links = [link for *kept_for, link in st.session_state.get(_LINKS, []) if kept_for == [what, whose]]
    for number, link in enumerate(reversed(links)):
        with st.container(border=True, key=f"new-link-{whose}-{number}" if whose or number else "new-link"):
            st.markdown(t(what))
            st.code(link, language=None, wrap_lines=True)


def _open_invitations(engine: Engine, by: int) -> None:
    still_open = {invitation.id: invitation for invitation in invitations(engine, by=by)}
    if not still_open:
        return
    with st.expander(t("invite.open", count=len(still_open))):
        rows = [
            {
                t("column.role"): t(f"role.{invitation.role}"),
                t("column.languages"): invitation.languages.replace(",", ", ") or t("account.all_languages"),
                t("invite.uses_left"): invitation.uses_left,
                t("invite.expires"): f"{invitation.expires_at:%Y-%m-%d %H:%M} UTC",
                t("invite.code"): invitation.code,
                t("invite.by"): invitation.by or t("log.database"),
            }
            for invitation in still_open.values()
        ]
        st.dataframe(rows, hide_index=True)
        names = {
            id: f"{invitation.created_at:%Y-%m-%d %H:%M} UTC · {t(f'role.{invitation.role}')}"
            for id, invitation in still_open.items()
        }
        chosen = st.selectbox(t("invite.which"), list(names), format_func=names.__getitem__, key="invitation-to-end")
        if st.button(t("invite.end"), key="end-invitation"):
            st.session_state.pop(_LINKS, None)
            session.do(engine, by, end_invitation, chosen, done=t("invite.ended"))


def _change_form(engine: Engine, by: int, people: list[Account]) -> None:
    st.header(t("accounts.change"))
    by_id = {person.id: person for person in people}
    id = st.selectbox(t("welcome.name"), list(by_id), format_func=lambda id: by_id[id].name, key="change-who")
    chosen, name = by_id[id], by_id[id].name
    with st.form(f"edit-{id}"):
        left, right = st.columns(2)
        with left:
            role = _role_field(f"role-{id}-{chosen.role}", chosen.role)
        with right:
            languages = _languages_field(f"languages-{id}-{chosen.languages}", chosen.languages)
        submitted = st.form_submit_button(t("accounts.store"))
    if submitted:
        done = t("accounts.stored", name=plain(name))
        session.do(engine, by, change_account, name, role, languages, done=done)
    if chosen.disabled:
        if st.button(t("accounts.enable"), key=f"enable-{id}"):
            session.do(engine, by, enable_account, name, done=t("accounts.was_enabled"))
        return
    if st.button(t("accounts.password_link"), key=f"password-link-{id}", icon=":material/link:"):
        with session.changing(engine, by):
            remember_link("accounts.password_link_made", password_link(engine, name, by=by), id)
    show_links("accounts.password_link_made", id)
    with st.container(horizontal=True, vertical_alignment="center"):
        sure = st.checkbox(t("accounts.sure", name=plain(name)), key=f"sure-{id}")
        pressed = st.button(t("accounts.disable"), key=f"disable-{id}", disabled=not sure)
    if pressed and sure:
        session.do(engine, by, disable_account, name, done=t("accounts.was_disabled"))


# One's own account: the link to the form that changes its password, and its tokens of the API.


def account_page() -> None:
    """Name, role and languages of the account that is logged in, and its tokens of the API."""
    engine, account = session.enter(*ALL_ROLES)
    st.header(t("menu.account"))
    facts = {
        t("welcome.name"): account.name,
        t("column.role"): t(f"role.{account.role}"),
        t("column.languages"): ", ".join(account.languages) or t("account.all_languages"),
    }
    st.html(facts_html(facts))
    if own_account(engine, account.id).has_password:
        address = f"{settings.root()}/join/{own_password_link(engine, account.id)}"
        st.html(f'<a class="audit-button" href="{address}">{html(t("account.title"))}</a>')
    else:
        st.caption(t("account.no_password"))
    st.header(t("token.title"))
    st.caption(t("token.what", days=DAYS))
    session.show_last()
    if st.button(t("token.make"), icon=":material/key:"):
        with session.changing(engine, account.id):
            token = make_token(engine, account.id, account.role, DAYS)
            st.success(t("token.made"), icon=":material/key:")
            st.code(token, language=None, wrap_lines=True)
    if st.button(t("token.end"), icon=":material/key_off:"):
        with session.changing(engine, account.id):
            end_tokens(engine, account.id)
            session.done(t("token.ended"))


def facts_html(facts: Mapping[str, str]) -> str:
    """Names and values as HTML, a line each."""
    rows = "".join(f"<dt>{html(name)}</dt><dd>{html(value)}</dd>" for name, value in facts.items())
    return f'<dl class="audit-orders">{rows}</dl>'
