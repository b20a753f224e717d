"""Who sees which page, in both languages, and what browse, results and accounts show."""

import pytest
from app_driver import Prepared, blocks, go, in_both, open_app, said
from sqlalchemy import select
from streamlit.testing.v1 import AppTest

from audit.judging.accounts import change_account, list_accounts
from audit.judging.invitations import invitations, link_of, use
from audit.judging.sign_in import end_logins
from audit.store import table_of, tables
from audit.ui.language import text_in
from audit.ui.pages import PAGES, Page, pages_for

NAMES = [page.name for page in PAGES]


def one_page(name: str) -> None:
    """A script that runs one page, whatever the menu says: what somebody would do who forges the page's name."""
    from audit.ui.pages import PAGES

    next(page for page in PAGES if page.name == name).show()


def test_menus_follow_the_role() -> None:
    assert [page.name for page in pages_for("annotator")] == ["annotate", "answers", "account"]
    assert [page.name for page in pages_for("adjudicator")] == [
        "annotate", "answers", "adjudicate", "browse", "account",
    ]  # fmt: skip
    assert [page.name for page in pages_for("manager")] == NAMES
    menu = [page.name for page in PAGES if page.in_menu("manager")]
    assert menu == ["studies", "annotate", "results", "quality", "accounts", "browse", "data"]


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_page_refuses_strangers_and_annotators_who_reach_it(prepared: Prepared, page: Page) -> None:
    for account in (None, *([] if "annotator" in page.roles else [prepared.ann])):
        app = AppTest.from_function(one_page, args=(page.name,), default_timeout=60)
        if account:
            app.session_state["account_id"] = account.id
        app.session_state["role"] = "manager"
        app.run()
        assert not app.exception
        assert text_in("en", "app.not_allowed" if account else "app.logged_out") in said(app)
        assert not app.dataframe
        assert not app.button


def test_a_role_that_is_taken_away_ends_at_the_next_click(prepared: Prepared) -> None:
    app = go(open_app(prepared.judge), "browse")
    assert "browse-search" in {field.key for field in app.text_input}
    change_account(prepared.engine, "judge", "annotator")
    app.run()
    assert not app.exception
    assert "browse-search" not in {field.key for field in app.text_input}
    assert {page.get("url_pathname") for page in app._registered_pages.values()} <= {"", "answers", "account"}


@pytest.mark.parametrize(("name", "home"), [("ann", "annotate"), ("judge", "adjudicate"), ("boss", "studies")])
def test_everybody_begins_on_a_page_of_theirs(prepared: Prepared, name: str, home: str) -> None:
    assert next(page for page in PAGES if page.name == home).home == getattr(prepared, name).role
    open_app(getattr(prepared, name))
    lease = table_of(tables.Lease)
    with prepared.engine.connect() as connection:
        held = connection.execute(select(lease.c.annotator_id)).scalars().all()
    assert held == ([prepared.ann.id] if home == "annotate" else [])


def test_the_language_is_switched_and_stays(prepared: Prepared) -> None:
    app = open_app(prepared.ann)
    app.segmented_control[0].set_value("zh").run()
    assert text_in("zh", "label.sentiment.positive") in [button.label for button in app.button]
    app.run()
    assert text_in("zh", "task.sentiment.question") in blocks(app)
    assert "/logout?lang=zh" in blocks(app)
    end_logins(prepared.engine, prepared.ann.id)
    app.run()
    assert text_in("zh", "welcome.what") in said(app)


@pytest.mark.slow
@in_both
def test_a_manager_changes_a_role_and_invites(prepared: Prepared, language: str) -> None:
    app = go(open_app(prepared.boss, language), "accounts")
    app.selectbox(key="change-who").set_value(prepared.ann.id).run()
    app.selectbox(key=f"role-{prepared.ann.id}-annotator").set_value("adjudicator")
    next(button for button in app.button if button.label == text_in(language, "accounts.store")).click().run()
    assert not app.exception
    assert {account.name: account.role for account in list_accounts(prepared.engine)}["ann"] == "adjudicator"
    app.number_input[0].set_value(2)
    next(button for button in app.button if button.label == text_in(language, "invite.make")).click().run()
    assert not app.exception
    assert text_in(language, "invite.made") in said(app)
    secret = app.code[0].value.rpartition("/")[2]
    assert use(prepared.engine, secret, "王芳", "long enough").name == "王芳"
    app.button(key="end-invitation").click().run()
    assert text_in(language, "invite.ended") in said(app)
    assert invitations(prepared.engine) == []
    app.button(key=f"password-link-{prepared.ann.id}").click().run()
    assert link_of(prepared.engine, app.code[0].value.rpartition("/")[2]).name == "ann"
    for links in (2, 3):
        next(button for button in app.button if button.label == text_in(language, "invite.make")).click().run()
        assert not app.exception
        assert len({code.value for code in app.code}) == links, "a second link leaves the first on the page"
