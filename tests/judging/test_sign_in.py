"""Logins, passwords, tokens of the API, waiting after wrong passwords, and accounts of an identity provider."""

import threading
from datetime import timedelta

import pytest
from question_world import rows
from sqlalchemy import insert

from audit.errors import AuditError, NotAllowed
from audit.judging import accounts
from audit.judging.accounts import (
    account_details,
    add_account,
    change_account,
    disable_account,
    enable_account,
    set_password,
)
from audit.judging.invitations import own_password_link, password_link, use
from audit.judging.sign_in import (
    LOGIN,
    TOKEN,
    Throttle,
    account_of,
    account_of_claims,
    bearer_of,
    end_logins,
    end_tokens,
    log_in,
    login_of,
    make_token,
    sign,
    unsign,
)
from audit.store import open_store, tables
from audit.store.core import lease

PASSWORD, NEW = "long enough", "another one"


@pytest.fixture
def engine(tmp_path):
    return open_store(str(tmp_path / "audit.db"), create=True)


@pytest.fixture
def who(engine):
    """Accounts by name; only one manager."""
    roles = {"ann": "annotator", "ada": "adjudicator", "mia": "manager"}
    return {name: add_account(engine, name, role, PASSWORD) for name, role in roles.items()}


@pytest.fixture
def clock(monkeypatch):
    """Moves the present moment on."""
    shift, real = [timedelta(0)], tables.now

    def later(**by):
        shift[0] += timedelta(**by)

    monkeypatch.setattr(tables, "now", lambda: real() + shift[0])
    return later


def test_log_in_takes_the_password_and_nothing_else(engine, who):
    assert log_in(engine, " ANN ", PASSWORD) == who["ann"]
    for name, password in (
        ("ann", "wrong password"), ("nobody", PASSWORD), ("ann", ""), ("gold", ""), ("ann\0", PASSWORD), ("", PASSWORD),
    ):  # fmt: skip
        with pytest.raises(NotAllowed, match="name or password is wrong"):
            log_in(engine, name, password)
    assert PASSWORD not in str(rows(engine, tables.Annotator))


def test_a_login_is_of_one_account_one_database_and_one_purpose_and_expires(engine, who, tmp_path, clock):
    login = login_of(engine, who["ann"].id, timedelta(hours=2))
    assert account_of(engine, login) == who["ann"]
    other = open_store(str(tmp_path / "other.db"), create=True)
    add_account(other, "eve", "manager", PASSWORD)
    forged = (login[:-1], login + "x", "", None, "a.b", sign(engine, TOKEN, timedelta(1), who["ann"].id, 0))
    for text in (*forged, login_of(other, 1), sign(engine, LOGIN, timedelta(1), 99, 0)):
        assert account_of(engine, text) is None
    assert unsign(engine, TOKEN, login) is None
    clock(minutes=119)
    assert account_of(engine, login) == who["ann"]
    clock(minutes=2)
    assert account_of(engine, login) is None


ENDS = {
    "log out": lambda engine, account, boss: end_logins(engine, account.id),
    "disable": lambda engine, account, boss: disable_account(engine, account.name, by=boss),
    "set password": lambda engine, account, boss: set_password(engine, account.name, NEW, by=boss),
    "own link": lambda engine, account, boss: use(engine, own_password_link(engine, account.id), "", NEW),
    "link": lambda engine, account, boss: use(engine, password_link(engine, account.name, by=boss), "", NEW),
}


@pytest.mark.parametrize("what", ENDS)
def test_what_ends_every_login_of_an_account_and_of_no_other(engine, who, what):
    logins = [login_of(engine, who["ann"].id) for _ in range(2)]
    other, token = login_of(engine, who["mia"].id), make_token(engine, who["ann"].id)
    with engine.begin() as connection:
        connection.exec_driver_sql("PRAGMA foreign_keys=OFF")
        row = {"question_id": 1, "annotator_id": who["ann"].id, "expires_at": tables.now() + timedelta(minutes=15)}
        connection.execute(insert(lease), row)
    ENDS[what](engine, who["ann"], who["mia"].id)
    assert [account_of(engine, login) for login in logins] == [None, None]
    assert account_of(engine, other) == who["mia"]
    assert (bearer_of(engine, token) is None) == (what != "log out")
    # The question that a disabled account was shown is free for others.
    assert len(rows(engine, tables.Lease)) == (what != "disable")
    if what == "disable":
        enable_account(engine, "ann", by=who["mia"].id)
        assert account_of(engine, logins[0]) is None
    elif what != "log out":
        with pytest.raises(NotAllowed):
            log_in(engine, "ann", PASSWORD)
        assert log_in(engine, "ann", NEW) == who["ann"]


def test_the_last_manager_stays(engine, who, content):
    before = content(engine)
    for take in (disable_account, lambda engine, name, by: change_account(engine, name, "annotator", by=by)):
        with pytest.raises(AuditError, match="'mia' is the last manager"):
            take(engine, "mia", by=who["mia"].id)
    assert content(engine) == before
    add_account(engine, "max", "manager", PASSWORD)
    barrier, failed = threading.Barrier(2), []

    def disable(name):
        barrier.wait()
        try:
            disable_account(engine, name)
        except AuditError:
            failed.append(name)

    threads = [threading.Thread(target=disable, args=(name,)) for name in ("mia", "max")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [one.name for one in account_details(engine) if one.role == "manager" and not one.disabled] == failed
    assert len(failed) == 1


# Passwords


@pytest.mark.parametrize("password", ["x" * 7, "x" * 1_000_000])
def test_a_password_of_another_length_is_refused_and_matches_nothing(password):
    with pytest.raises(AuditError, match="it must have 8 to 1,000") as caught:
        accounts.hashed(password)
    assert password not in str(caught.value)
    assert not accounts.matches(password, accounts.hashed(PASSWORD))


@pytest.mark.parametrize("stored", ["an account's", None])
@pytest.mark.parametrize("password", [PASSWORD, "x" * 5_000, "bad \udcff bytes"])
def test_one_hash_is_computed_whoever_is_asked_about(monkeypatch, stored, password):
    hash = accounts.hashed(PASSWORD) if stored else None
    accounts._decoy()
    calls, real = [], accounts._hasher()

    class Counting:
        def verify(self, password, stored):
            calls.append(stored.split("$")[1:4])
            return real.verify(password, stored)

    monkeypatch.setattr(accounts, "_hasher", Counting)
    assert accounts.matches(password, hash) == (password == PASSWORD and stored is not None)
    # Once, and with the same parameters: the same work.
    assert calls == [accounts._decoy().split("$")[1:4]]


# Waiting


def test_wrong_passwords_wait_longer_and_the_owner_elsewhere_does_not():
    now = [1000.0]
    throttle, waits = Throttle(lambda: now[0]), []
    for _ in range(12):
        assert throttle.begin("ann", "192.0.2.1") == 0
        waits.append(throttle.begin("ann", "192.0.2.1") if len(waits) >= Throttle.BY_NAME - 1 else 0)
        now[0] += waits[-1]
    # The first five come at once; after the fifth 2 seconds, and twice as long each time, up to a minute.
    assert waits == [0, 0, 0, 0, 2, 4, 8, 16, 32, 60, 60, 60]
    for _ in range(3600):
        now[0] += 1
        throttle.begin("ann", "192.0.2.1")
    assert throttle.begin("Ann", "192.0.2.1") > 0
    assert throttle.begin("Ann", "::ffff:192.0.2.1") > 0
    assert throttle.begin("ann", "198.51.100.1") == 0


def test_one_customer_s_addresses_count_together():
    throttle = Throttle(lambda: 0.0)
    waits = [throttle.begin(f"n{number}", f"2001:db8::{number}") for number in range(Throttle.BY_ADDRESS + 1)]
    assert [wait > 0 for wait in waits] == [False] * Throttle.BY_ADDRESS + [True]


# Tokens of the API


def test_a_token_may_do_no_more_than_its_role_and_its_account_then_or_later(engine, who):
    assert bearer_of(engine, make_token(engine, who["mia"].id, "annotator")).role == "annotator"
    with pytest.raises(NotAllowed, match="manager is more than annotator, the role of ann"):
        make_token(engine, who["ann"].id, "manager")
    token = make_token(engine, who["ada"].id)
    change_account(engine, "ada", "annotator", by=who["mia"].id)
    assert bearer_of(engine, token).role == "annotator"
    for text in ("", token[:-1], login_of(engine, who["mia"].id)):
        assert bearer_of(engine, text) is None


def test_a_token_ends_by_time_and_by_its_owner(engine, who, clock):
    short, long = (make_token(engine, who["ann"].id, days=days) for days in (1, 3))
    other, login = make_token(engine, who["mia"].id), login_of(engine, who["ann"].id)
    clock(days=1, minutes=1)
    assert [bearer_of(engine, token) is None for token in (short, long)] == [True, False]
    end_tokens(engine, who["ann"].id)
    assert [bearer_of(engine, token) is None for token in (long, other)] == [True, False]
    assert account_of(engine, login) == who["ann"]


@pytest.mark.parametrize(("role", "days", "reason"), [("boss", 1, "role"), (None, 367, "from 1 to 366")])
def test_a_token_that_cannot_be_is_refused_and_changes_nothing(engine, who, content, role, days, reason):
    before = content(engine)
    with pytest.raises(AuditError, match=reason):
        make_token(engine, who["mia"].id, role, days)
    assert content(engine) == before


# Identity providers


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"email": "eve@example.org"}, "there is no account 'eve@example.org'"),
        ({"email": "gold"}, "there is no account"),
        ({"email": ["ann@example.org"]}, "sent no claim 'email'"),
        ({"email": "  "}, "sent no claim 'email'"),
        ({"email_verified": "false"}, "has not verified"),
        ({"email": "off@example.org"}, "that may log in"),
    ],
)
def test_an_identity_is_the_account_of_its_name_or_refused(engine, changed, says):
    ann = add_account(engine, "ann@example.org", "annotator", None)
    add_account(engine, "off@example.org", "annotator", None)
    disable_account(engine, "off@example.org")
    claims = {"sub": "7", "email": "Ann@example.org", "email_verified": True}
    assert account_of_claims(engine, claims) == ann
    with pytest.raises(NotAllowed, match=says):
        account_of_claims(engine, claims | changed)
