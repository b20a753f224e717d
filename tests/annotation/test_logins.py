"""Logins, passwords, waiting after wrong ones, keeping accounts, and accounts of an identity provider."""

import threading
from datetime import timedelta

import pytest
from sqlalchemy import select

from audit.annotation import accounts
from audit.annotation.accounts import (
    BY_ACCOUNT,
    FORGET,
    LONGEST_WAIT,
    Attempts,
    Limits,
    account_details,
    account_of,
    account_of_identity,
    add_account,
    cookie_key,
    disable_account,
    enable_account,
    end_login,
    identity_key,
    log_in,
    new_token,
    open_login,
    set_password,
)
from audit.annotation.queue import LEASE
from audit.errors import AuditError, NotAllowed
from audit.store import open_store, table_of, tables

PASSWORD = "long enough"
LIMITS = Limits(idle=timedelta(hours=1), longest=timedelta(hours=5))


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
    shift = [timedelta(0)]
    real = tables.now

    def later(**by):
        shift[0] += timedelta(**by)

    monkeypatch.setattr(tables, "now", lambda: real() + shift[0])
    return later


def rows(engine, model=tables.Login):
    with engine.connect() as connection:
        return [dict(row) for row in connection.execute(select(table_of(model))).mappings()]


def test_a_login_is_found_by_its_key_only(engine, who):
    token = new_token()
    open_login(engine, who["ann"].id, cookie_key(token), LIMITS)
    assert account_of(engine, cookie_key(token), LIMITS) == who["ann"]
    assert account_of(engine, cookie_key(new_token()), LIMITS) is None
    assert account_of(engine, cookie_key(token)[:-1], LIMITS) is None
    assert token not in str(rows(engine))
    assert len({new_token() for _ in range(100)}) == 100


def test_use_puts_the_end_off_up_to_the_hard_limit(engine, who, clock):
    key = cookie_key("a")
    open_login(engine, who["ann"].id, key, LIMITS)
    for _ in range(5):  # 0:58, 1:56, 2:54, 3:52, 4:50: each within an hour of the one before
        clock(minutes=58)
        assert account_of(engine, key, LIMITS) == who["ann"]
    clock(minutes=11)  # 5:01
    assert account_of(engine, key, LIMITS) is None


def test_a_login_that_is_not_used_ends(engine, who, clock):
    open_login(engine, who["ann"].id, cookie_key("a"), LIMITS)
    clock(minutes=61)
    assert account_of(engine, cookie_key("a"), LIMITS) is None
    with pytest.raises(NotAllowed, match="has ended"):
        open_login(engine, who["ann"].id, cookie_key("a"), LIMITS)


def test_logging_out_ends_one_login_for_good(engine, who):
    for name in ("a", "b"):
        open_login(engine, who["ann"].id, cookie_key(name), LIMITS)
    end_login(engine, cookie_key("a"))
    end_login(engine, cookie_key("never there"))
    assert account_of(engine, cookie_key("a"), LIMITS) is None
    assert account_of(engine, cookie_key("b"), LIMITS) == who["ann"]
    with pytest.raises(NotAllowed, match="has ended"):
        open_login(engine, who["ann"].id, cookie_key("a"), LIMITS)


@pytest.mark.parametrize("change", [disable_account, lambda engine, name: set_password(engine, name, "other password")])
def test_disabling_and_another_password_end_every_login_of_the_account_alone(engine, who, change):
    for name in ("ann", "mia"):
        for number in range(2):
            open_login(engine, who[name].id, cookie_key(f"{name}{number}"), LIMITS)
    lease, moment = table_of(tables.Lease), tables.now()
    with engine.begin() as connection:
        connection.exec_driver_sql("PRAGMA foreign_keys=OFF")
        connection.execute(
            lease.insert(), {"question_id": 1, "annotator_id": who["ann"].id, "expires_at": moment + LEASE}
        )
    change(engine, "ann")
    assert [account_of(engine, cookie_key(f"ann{number}"), LIMITS) for number in range(2)] == [None, None]
    assert account_of(engine, cookie_key("mia1"), LIMITS) == who["mia"]
    with pytest.raises(NotAllowed):
        log_in(engine, "ann", PASSWORD)
    # The question that a disabled account was looking at is free for others.
    assert len(rows(engine, tables.Lease)) == (0 if change is disable_account else 1)


def test_the_last_manager_cannot_be_disabled(engine, who, content):
    before = content(engine)
    with pytest.raises(AuditError, match="'mia' is the last manager"):
        disable_account(engine, "mia", by=who["mia"].id)
    assert content(engine) == before
    add_account(engine, "max", "manager", PASSWORD)
    disable_account(engine, "mia", by=who["mia"].id)
    with pytest.raises(AuditError, match="'max' is the last manager"):
        disable_account(engine, "max")
    with pytest.raises(NotAllowed):
        enable_account(engine, "mia", by=who["mia"].id)


def test_two_managers_who_disable_each_other_at_once_leave_one(engine, who):
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
    assert len(failed) == 1
    assert [
        account.name for account in account_details(engine) if account.role == "manager" and not account.disabled
    ] == failed


def test_languages_are_kept_and_checked(engine):
    add_account(engine, "ann", "annotator", PASSWORD, languages=["en", "zh", "en"])
    assert account_details(engine)[0].languages == ("en", "zh")
    for bad in ("EN", "en,zh", "english!", ""):
        with pytest.raises(AuditError, match="is no code such as"):
            add_account(engine, "ben", "annotator", PASSWORD, languages=[bad])
    assert len(account_details(engine)) == 1


# Passwords


@pytest.mark.parametrize(
    ("password", "says"),
    [("x" * 7, "at least 8"), ("x" * 1_000_000, "at most 1000"), ("bad \udcff bytes", "no UTF-8")],
)
def test_a_password_that_is_none_is_refused_and_matches_nothing(password, says):
    with pytest.raises(AuditError, match=says) as caught:
        accounts.hashed(password)
    assert password[:7] not in str(caught.value)
    assert not accounts.matches(password, accounts.hashed(PASSWORD))


@pytest.mark.parametrize("stored", ["an account's", None])
@pytest.mark.parametrize("password", [PASSWORD, "wrong password", "", "x" * 5_000, "bad \udcff bytes"])
def test_one_hash_is_computed_whoever_is_asked_about(monkeypatch, stored, password):
    hash = accounts.hashed(PASSWORD) if stored else None
    accounts._decoy()
    calls = []
    real = accounts._hasher()

    class Counting:
        def verify(self, password, stored):
            calls.append(stored.split("$")[1:4])
            return real.verify(password, stored)

    monkeypatch.setattr(accounts, "_hasher", Counting)
    assert accounts.matches(password, hash) == (password == PASSWORD and stored is not None)
    # Once, and with the same parameters: the same work.
    assert calls == [accounts._decoy().split("$")[1:4]]


# Waiting


class Clock:
    def __init__(self):
        self.now = 1000.0

    def __call__(self):
        return self.now


def test_wrong_passwords_wait_longer_and_longer_at_most_a_minute():
    clock = Clock()
    attempts = Attempts(clock)
    waits = []
    for _ in range(12):
        assert attempts.begin("ann", "192.0.2.1") == 0
        wait = attempts.begin("ann", "192.0.2.1") if len(waits) >= BY_ACCOUNT - 1 else 0
        waits.append(wait)
        clock.now += wait
    # The first five come at once; after the fifth 2 seconds, and twice as long each time, up to a minute.
    assert waits == [0, 0, 0, 0, 2, 4, 8, 16, 32, 60, 60, 60]
    assert max(waits) == LONGEST_WAIT


def test_waiting_is_by_name_and_address_and_ends_after_a_while():
    clock = Clock()
    attempts = Attempts(clock)
    for _ in range(BY_ACCOUNT):
        assert attempts.begin("ann", "192.0.2.1") == 0
    assert attempts.begin("ann", "192.0.2.1") == 2
    assert attempts.begin("bob", "192.0.2.1") == 0
    assert attempts.begin("ann", "198.51.100.1") == 0
    clock.now += FORGET + 1
    for _ in range(BY_ACCOUNT):
        assert attempts.begin("ann", "192.0.2.1") == 0


def test_the_owner_at_another_address_is_let_in_after_an_hour_of_guesses():
    clock = Clock()
    attempts = Attempts(clock)
    for _ in range(3600):
        clock.now += 1
        attempts.begin("ann", "192.0.2.1")
    assert attempts.begin("Ann", "192.0.2.1") > 0
    assert attempts.begin("ann", "198.51.100.1") == 0


# Identity providers


def claims(**more):
    now = tables.now().timestamp()
    return {"iss": "https://id.example", "sub": "7", "iat": now, "nonce": "n1", "email": "ann@example.org"} | more


@pytest.fixture
def ann(engine):
    return add_account(engine, "ann@example.org", "annotator", None)


def test_an_identity_logs_in_the_account_of_its_name(engine, ann):
    token = claims()
    assert account_of_identity(engine, token, limits=LIMITS) == ann
    assert account_of_identity(engine, token, limits=LIMITS) == ann  # the next click: the same login
    assert len(rows(engine)) == 1
    assert account_of(engine, identity_key(token), LIMITS) == ann


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"email": "eve@example.org"}, "there is no account 'eve@example.org'"),
        ({"email": "gold"}, "there is no account"),
        ({"email": None}, "sent no claim 'email'"),
        ({"email": ["ann@example.org"]}, "sent no claim 'email'"),
        ({"email": "  "}, "sent no claim 'email'"),
        ({"email_verified": False}, "has not verified"),
        ({"email_verified": "false"}, "has not verified"),
        ({"iat": None}, "no time of issue"),
        ({"iat": "now"}, "no time of issue"),
        ({"iat": 0}, "has ended"),
    ],
)
def test_an_identity_that_is_nobody_s_is_refused_and_stores_nothing(engine, ann, changed, says):
    with pytest.raises(NotAllowed, match=says):
        account_of_identity(engine, claims(**changed), limits=LIMITS)
    assert rows(engine) == []


def test_an_identity_that_was_logged_out_is_not_taken_again(engine, ann, clock):
    token = claims()
    account_of_identity(engine, token, limits=LIMITS)
    end_login(engine, identity_key(token))
    with pytest.raises(NotAllowed, match="has ended"):
        account_of_identity(engine, token, limits=LIMITS)
    clock(days=30)  # the row is gone by then; the time of issue still speaks against it
    open_login(engine, ann.id, cookie_key("a"), LIMITS)
    assert len(rows(engine)) == 1
    with pytest.raises(NotAllowed, match="has ended"):
        account_of_identity(engine, token, limits=LIMITS)


def test_a_disabled_account_is_not_let_in_by_its_provider(engine, ann):
    token = claims()
    account_of_identity(engine, token, limits=LIMITS)
    disable_account(engine, ann.name)
    with pytest.raises(NotAllowed, match="that may log in"):
        account_of_identity(engine, token, limits=LIMITS)
    enable_account(engine, ann.name)
    with pytest.raises(NotAllowed, match="has ended"):
        account_of_identity(engine, token, limits=LIMITS)
