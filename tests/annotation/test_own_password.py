"""Another password by oneself: what it needs, what it ends, and what is refused."""

import threading

import pytest
from sqlalchemy import select

from audit.annotation import accounts
from audit.annotation.accounts import (
    account_of,
    add_account,
    change_password,
    cookie_key,
    disable_account,
    log_in,
    open_login,
    own_account,
    set_password,
)
from audit.errors import AuditError, NotAllowed, Refused
from audit.store import open_store, table_of, tables

OLD, NEW = "the old password", "the new password"


@pytest.fixture
def engine(tmp_path):
    return open_store(str(tmp_path / "audit.db"), create=True)


@pytest.fixture
def ann(engine):
    return add_account(engine, "ann", "annotator", OLD).id


def test_it_is_changed_and_the_other_logins_end(engine, ann):
    ben = add_account(engine, "ben", "annotator", OLD).id
    keys = [cookie_key(name) for name in ("here", "phone", "library")]
    for key in keys:
        open_login(engine, ann, key)
    open_login(engine, ben, cookie_key("ben"))
    assert change_password(engine, ann, OLD, NEW, keep=keys[0]).name == "ann"
    assert [account_of(engine, key) is not None for key in (*keys, cookie_key("ben"))] == [True, False, False, True]
    assert log_in(engine, "ann", NEW).id == ann
    with pytest.raises(NotAllowed):
        log_in(engine, "ann", OLD)
    with engine.connect() as connection:
        assert NEW not in str(connection.execute(select(table_of(tables.Annotator))).all())


@pytest.mark.parametrize(
    ("present", "new", "kind", "message"),
    [
        ("a guess", NEW, NotAllowed, "the present password is wrong"),
        ("", NEW, NotAllowed, "the present password is wrong"),
        ("x" * 1_000_000, NEW, NotAllowed, "the present password is wrong"),
        (OLD, "short", AuditError, "at least 8 are needed"),
        (OLD, "x" * 1_001, AuditError, "at most 1000 are allowed"),
        (OLD, "long enough \ud800", AuditError, "no UTF-8"),
        (OLD, OLD, AuditError, "is the present one"),
    ],
    ids=range(7),
)
def test_what_is_refused_changes_nothing(engine, ann, content, present, new, kind, message):
    open_login(engine, ann, cookie_key("phone"))
    before = content(engine)
    with pytest.raises(kind, match=message):
        change_password(engine, ann, present, new)
    assert content(engine) == before


def test_without_a_password_there_is_nothing_to_change(engine, content):
    eve = add_account(engine, "eve@example.org", "manager", None, languages=["en", "zh"]).id
    kept = own_account(engine, eve)
    assert (kept.name, kept.role, kept.languages, kept.has_password) == (
        "eve@example.org", "manager", ("en", "zh"), False,
    )  # fmt: skip
    before = content(engine)
    with pytest.raises(Refused, match="logs in through the identity provider"):
        change_password(engine, eve, "", NEW)
    assert content(engine) == before


def test_a_password_that_a_manager_gave_meanwhile_stays(engine, ann, monkeypatch):
    """Between the check of the present password and the change, somebody else changes it."""
    real, entered = accounts.hashed, threading.Event()

    def slow(password):
        if not entered.is_set():
            entered.set()
            set_password(engine, "ann", "from the manager")
        return real(password)

    monkeypatch.setattr(accounts, "hashed", slow)
    with pytest.raises(Refused, match="changed meanwhile"):
        change_password(engine, ann, OLD, NEW)
    assert log_in(engine, "ann", "from the manager").id == ann


def test_a_disabled_account_changes_nothing(engine, ann, content):
    disable_account(engine, "ann")
    before = content(engine)
    with pytest.raises(NotAllowed, match="is disabled"):
        change_password(engine, ann, OLD, NEW)
    assert content(engine) == before
