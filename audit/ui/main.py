"""One run of the script: language, database, account, menu, page."""

import streamlit as st
from sqlalchemy import Engine

from audit.errors import AuditError
from audit.judging.accounts import Account
from audit.resources import data_file
from audit.store.brought import absent_plugins
from audit.ui import session
from audit.ui.language import ask_browser, html, language_switch, plain, sentence, set_page_language, t, translated
from audit.ui.pages import pages_for


def login_page() -> None:
    """A link to the login page, for a page whose login has ended."""
    _, middle, _ = st.columns([1, 2, 1])
    with middle:
        st.title(t("welcome.title"))
        st.write(t("welcome.what"))
        st.info(t("app.logged_out"), icon=":material/info:")
        st.html(session.login_link())
        language_switch()


@session.report_problems
def run() -> None:
    """Show the requested page, with the menu of the account that is logged in."""
    ask_browser()
    st.html(f"<style>{data_file('ui/style.css').read_text(encoding='utf-8')}</style>")
    # An open page asks a restarted server for a whole run only where a fragment has a timer; without it, the page looks
    # alive and its presses are dropped. The timer itself does nothing.
    st.fragment(lambda: None, run_every=24 * 3600)()
    try:
        engine = session.engine()
    except AuditError as problem:
        _configure()
        st.title(t("app.name"))
        st.error(f"{t('app.no_database')}\n\n{plain(sentence(translated(problem.sentence)))}")
        return
    account = session.current_account(engine)
    if account is None:
        _configure(t("welcome.title"))
        set_page_language()
        st.navigation([st.Page(login_page, title=t("welcome.title"))], position="hidden").run()
        return
    _menu(engine, account)


def _configure(title: str = "", wide: bool = False) -> None:
    st.set_page_config(
        page_title=" · ".join(filter(None, (title, t("app.name")))),
        page_icon=":material/fact_check:",
        layout="wide" if wide else "centered",
    )


def _menu(engine: Engine, account: Account) -> None:
    pages = pages_for(account.role)
    menu = [
        st.Page(
            page.show,
            title=t(f"menu.{page.name}"),
            icon=page.icon,
            url_path=page.name,
            default=page.home == account.role,
            visibility="visible" if page.in_menu(account.role) else "hidden",
        )
        for page in pages
    ]
    session.remember_pages({page.name: entry for page, entry in zip(pages, menu, strict=True)})
    selected = st.navigation(menu, expanded=True)  # else the last pages hide behind "View 3 more"
    _configure(selected.title, next(page.wide for page, entry in zip(pages, menu, strict=True) if entry == selected))
    set_page_language()
    st.html(f'<h1 class="audit-hidden">{html(selected.title)}</h1>')  # the menu shows it; this is for those who hear
    with st.sidebar:
        st.html(f'<p class="audit-who">{html(account.name)}<br><small>{t(f"role.{account.role}")}</small></p>')
        if account.role == "manager":
            st.page_link(session.page_of("account"), label=t("menu.account"), icon=":material/person:")
        language_switch()
        with st.container(key="log-out"):
            st.html(session.logout_form())
    if account.role == "manager":
        with engine.connect() as connection:
            for absent in absent_plugins(connection):
                st.warning(plain(sentence(translated(absent))), icon=":material/extension_off:")
    selected.run()
