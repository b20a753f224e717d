"""One run of the script: language, database, account, menu, page."""

import streamlit as st
from sqlalchemy import Engine

from audit.annotation.accounts import Account
from audit.errors import AuditError
from audit.resources import data_file
from audit.store.brought import absent_plugins
from audit.ui import session
from audit.ui.language import ask_browser, html, language_switch, plain, say_language, sentence, t, translated
from audit.ui.places import places_for

# What somebody sees who is not logged in: the way to log in.


def page() -> None:
    """A link to the page that logs in, or why somebody whom a provider has sent is not let in."""
    _, middle, _ = st.columns([1, 2, 1])
    with middle:
        st.title(t("welcome.title"))
        st.write(t("welcome.what"))
        engine = session.engine()
        reason = session.why_not(engine)
        if reason:
            st.warning(plain(sentence(translated(reason))), icon=":material/info:")
            st.button(t("app.log_out"), key="leave", on_click=session.leave_provider, args=(engine,))
        else:
            st.info(t("app.logged_out"), icon=":material/info:")
            st.html(session.link_to_log_in())
        language_switch()


@session.guarded
def run() -> None:
    """Show the page that was asked for, to somebody who may see it."""
    ask_browser()
    st.html(f"<style>{data_file('ui/style.css').read_text(encoding='utf-8')}</style>")
    try:
        engine = session.engine()
    except AuditError as problem:
        _configure()
        st.title(t("app.name"))
        st.error(f"{t('app.no_database')}\n\n{plain(sentence(translated(str(problem))))}")
        return
    account = session.current(engine)
    if account is None:
        _configure()
        say_language()
        st.navigation([st.Page(page, title=t("welcome.title"))], position="hidden").run()
        return
    _menu(engine, account)


def _configure(wide: bool = False) -> None:
    st.set_page_config(page_title="audit", page_icon=":material/fact_check:", layout="wide" if wide else "centered")


def _menu(engine: Engine, account: Account) -> None:
    places = places_for(account.role)
    pages = [
        st.Page(
            place.show,
            title=t(f"menu.{place.name}"),
            icon=place.icon,
            url_path=place.name,
            default=place.home == account.role,
        )
        for place in places
    ]
    chosen = st.navigation(pages)
    _configure(wide=next(place.wide for place, page in zip(places, pages, strict=True) if page == chosen))
    say_language()
    with st.sidebar:
        st.html(f'<p class="audit-who">{html(account.name)}<br><small>{t(f"role.{account.role}")}</small></p>')
        language_switch()
        with st.container(key="log-out"):
            _way_out(engine)
    if account.role == "manager":
        with engine.connect() as connection:
            for absent in absent_plugins(connection):
                st.warning(plain(sentence(absent)), icon=":material/extension_off:")
    chosen.run()


def _way_out(engine: Engine) -> None:
    form = session.leaving_form()
    if form is not None:
        st.html(form)
    else:
        st.button(
            t("app.log_out"), key="leave", on_click=session.leave_provider, args=(engine,), icon=":material/logout:"
        )
