"""A small real database (twelve sentences, two systems, two relations), and driving the app on it."""

import shutil
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
import streamlit as st
from small_corpus import SmallCorpus
from sqlalchemy import Engine, select
from streamlit.testing.v1 import AppTest

from audit.judging import sign_in
from audit.judging.accounts import Account, add_account
from audit.judging.samples import ask_next
from audit.relations import get_relation
from audit.runner.executors import InProcess
from audit.runner.run import run
from audit.sampling.options import SampleOptions
from audit.store import open_store, table_of
from audit.ui import session

in_both = pytest.mark.parametrize("language", ["en", pytest.param("zh", marks=pytest.mark.slow)])
"""Tests of pages run in English by default, and in every language where slow tests run, too."""
APP = Path(__file__).parents[2] / "app.py"
PASSWORD = "a long password"
HOSTILE = "<script>alert(1)</script> **bold** $x$ :smile: <b>good</b>"
TEXTS = (
    "It lingers in the mind long after the credits.",
    "You leave the cinema wishing for your money back.",
    "A warm and funny film.",
    "The plot is dull and the jokes are stale.",
    "Never once does it bore.",
    "Not a good film.",
    "The actors are wonderful.",
    "It is a terrible mess.",
    "I could watch this again tomorrow.",
    "Save yourself the trip.",
    "The best film of the year.",
    HOSTILE,
)


@dataclass(frozen=True)
class Prepared:
    """A database with its accounts."""

    engine: Engine
    path: Path
    ann: Account
    ben: Account
    judge: Account
    boss: Account


def prepare(path: Path) -> Prepared:
    engine = open_store(str(path), create=True)
    relations = [get_relation("sentiment", name) for name in ("MR1.4", "MR3.1")]
    with InProcess() as executor:
        ran = run(engine, SmallCorpus("sentences", TEXTS), ["vader", "textblob"], relations, executor)
    ask_next(engine, SampleOptions(20), ran.study.id)
    return people(engine, path)


def people(engine: Engine, path: Path) -> Prepared:
    """Two annotators, an adjudicator and a manager."""
    roles = {"ann": "annotator", "ben": "annotator", "judge": "adjudicator", "boss": "manager"}
    return Prepared(engine, path, **{name: add_account(engine, name, role, PASSWORD) for name, role in roles.items()})


def closed(prepared: Prepared) -> Prepared:
    """The same, whole in its file, which may be copied."""
    with prepared.engine.connect() as connection:
        connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)")
    prepared.engine.dispose()
    return prepared


def opened_copy(original: Prepared, path: Path, monkeypatch: pytest.MonkeyPatch) -> Prepared:
    """A copy of a closed database, which the app opens from now on."""
    shutil.copy(original.path, path)
    monkeypatch.setenv("AUDIT_DB", str(path))
    return replace(original, engine=open_store(str(path)), path=path)


def rows(prepared: Prepared, model: type) -> list:
    """Every row of the table, in the order of its key."""
    table = table_of(model)
    with prepared.engine.connect() as connection:
        return list(connection.execute(select(table).order_by(*table.primary_key)).mappings())


_OPENED: dict[tuple[str, int], str] = {}
"""Logins that were opened, by database and account: each run of a page asks several times."""


def cookie_of_session() -> str | None:
    """AppTest has no browser and so no cookies: `account_id` in its session stands for the cookie of a login.

    Takes the place of `audit.ui.session.cookie_token` (see conftest.py); the login itself is a real one.
    """
    id = st.session_state.get("account_id")
    if id is None:
        return None
    key = (session.database_url(), id)
    if key not in _OPENED:
        _OPENED[key] = sign_in.login_of(session.engine(), id)
    return _OPENED[key]


class Everything(frozenset):
    """A set that has whatever it is asked for, and is equal to it."""

    def __contains__(self, thing: object) -> bool:
        return True

    def __eq__(self, thing: object) -> bool:
        return True

    def __ne__(self, thing: object) -> bool:
        return False

    __hash__ = frozenset.__hash__


def open_app(account: Account | None = None, language: str | None = None, read: bool = True) -> AppTest:
    """The app, as somebody who is logged in sees it, or as a stranger does. `read`: the guideline that comes before the
    first question of a kind has been read, and so has what comes where the kind changes."""
    app = AppTest.from_file(str(APP), default_timeout=60)
    if account:
        app.session_state["account_id"] = account.id
    if language:
        app.session_state["language"] = language
    if read:
        app.session_state["guidelines-read"] = app.session_state["block"] = Everything()
    return app.run()


def log_in(app: AppTest, name: str, password: str = PASSWORD) -> AppTest:
    """Log in as the page at /login does, and come back. Raises NotAllowed for a wrong password."""
    app.session_state["account_id"] = sign_in.log_in(session.engine(), name, password).id
    app.run()  # whose session it is now begins with nothing of the one before
    app.session_state["guidelines-read"] = app.session_state["block"] = Everything()
    return app.run()


def go(app: AppTest, name: str) -> AppTest:
    """Open the page of this name, as its link in the menu does; who has no such link comes to the first page."""
    by_name = {page.get("url_pathname"): key for key, page in app._registered_pages.items()}
    app._page_hash = by_name.get(name, by_name[""])
    return app.run()


def press_answer(app: AppTest, answer: str) -> int:
    """Press the button of this answer; the id of the question."""
    button = next(
        button for button in app.button if str(button.key).startswith("judge-") and str(button.key).endswith(answer)
    )
    question = int(str(button.key).split("-")[1])
    button.click().run()
    assert not app.exception
    return question


def is_on(app: AppTest, key: str) -> bool:
    """Whether the switch with this key, a button for a label or a reason, is on."""
    return bool(app.button(key=key).proto.type == "primary")


def blocks(app: AppTest) -> str:
    """All HTML that the page shows, one after the other."""
    return "\n".join(element.proto.body for element in app.get("html"))


def said(app: AppTest) -> str:
    """All messages and captions of the page."""
    kinds = (app.warning, app.error, app.info, app.success, app.caption, app.markdown, app.title)
    return "\n".join(element.value for kind in kinds for element in kind)
