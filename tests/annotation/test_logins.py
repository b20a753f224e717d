"""Logins, passwords, waiting after wrong ones, keeping accounts, and accounts of an identity provider."""

import subprocess
import sys
import threading
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import select

from audit.annotation import accounts
from audit.annotation.accounts import (
    BY_ACCOUNT,
    BY_ADDRESS,
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
    name_in,
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


def test_shorter_limits_hold_for_logins_that_there_are(engine, who, clock):
    open_login(engine, who["ann"].id, cookie_key("a"), LIMITS)
    clock(minutes=30)
    assert account_of(engine, cookie_key("a"), Limits(timedelta(minutes=20), timedelta(hours=5))) is None
    assert account_of(engine, cookie_key("a"), Limits(timedelta(hours=5), timedelta(minutes=20))) is None
    assert account_of(engine, cookie_key("a"), LIMITS) == who["ann"]


def test_a_use_is_written_once_a_minute(engine, who, clock):
    key = cookie_key("a")
    open_login(engine, who["ann"].id, key, LIMITS)
    first = rows(engine)
    clock(seconds=50)
    account_of(engine, key, LIMITS)
    assert rows(engine) == first
    clock(seconds=20)
    account_of(engine, key, LIMITS)
    assert rows(engine)[0]["seen_at"] - first[0]["seen_at"] > timedelta(seconds=60)


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


def test_a_disabled_account_cannot_be_logged_in(engine, who):
    disable_account(engine, "ann")
    with pytest.raises(NotAllowed, match="disabled"):
        open_login(engine, who["ann"].id, cookie_key("a"), LIMITS)
    assert rows(engine) == []
    enable_account(engine, "ann")
    assert log_in(engine, "ann", PASSWORD) == who["ann"]


def test_rows_of_long_ago_go_and_the_last_use_stays(engine, who, clock):
    for number in range(3):
        open_login(engine, who["ann"].id, cookie_key(f"a{number}"), LIMITS)
        clock(days=1)
    assert len(rows(engine)) == 1
    seen = {account.name: account.seen_at for account in account_details(engine)}
    assert seen["ada"] is None
    assert timedelta(hours=23) < tables.now() - seen["ann"] < timedelta(hours=25)


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


@pytest.mark.parametrize("name", ["nobody", "gold", ""])
def test_an_unknown_name_is_said(engine, who, name):
    for change in (disable_account, enable_account, lambda engine, name: set_password(engine, name, PASSWORD)):
        with pytest.raises(AuditError, match="there is no account"):
            change(engine, name)


def test_languages_are_kept_and_checked(engine):
    add_account(engine, "ann", "annotator", PASSWORD, languages=["en", "zh", "en"])
    assert account_details(engine)[0].languages == ("en", "zh")
    for bad in ("EN", "en,zh", "english!", ""):
        with pytest.raises(AuditError, match="is no code such as"):
            add_account(engine, "ben", "annotator", PASSWORD, languages=[bad])
    assert len(account_details(engine)) == 1


# Passwords


def test_the_hashes_of_the_app_are_as_costly_as_recommended():
    # RFC 9106, section 4, its second choice: 64 MiB, 3 passes, 4 lanes. In a new process, as tests hash with less.
    code = "from audit.annotation.accounts import hashed; print(hashed('long enough'))"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert shown.startswith("$argon2id$v=19$m=65536,t=3,p=4$")


def test_a_hash_is_argon2id_and_salted():
    first, second = accounts.hashed(PASSWORD), accounts.hashed(PASSWORD)
    assert first.startswith("$argon2id$")
    assert first != second
    assert accounts.matches(PASSWORD, first)
    assert not accounts.matches(PASSWORD + " ", first)


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


def test_an_account_without_a_password_has_none_that_fits(engine):
    add_account(engine, "ann@example.org", "annotator", None)
    for password in ("", "nobody's password", "no such password"):
        with pytest.raises(NotAllowed):
            log_in(engine, "ann@example.org", password)


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


def test_waiting_is_by_address_whatever_the_account():
    attempts = Attempts(Clock())
    for number in range(BY_ADDRESS):
        assert attempts.begin(f"name {number}", f"2001:db8::{number:x}") == 0
    assert attempts.begin("another", "2001:db8::ffff") == 2  # the same 64 bits: one customer
    assert attempts.begin("another", "2001:db8:0:1::1") == 0


def test_the_right_password_begins_anew_and_a_team_behind_one_address_never_waits():
    attempts = Attempts(Clock())
    for number in range(3 * BY_ADDRESS):
        assert attempts.begin(f"name {number}", "192.0.2.1") == 0
        attempts.succeed(f"name {number}", "192.0.2.1")
    for _ in range(3 * BY_ACCOUNT):
        assert attempts.begin("ann", "192.0.2.1") == 0
        attempts.succeed("ann", "192.0.2.1")


def test_many_tries_at_once_are_not_all_the_first():
    attempts = Attempts(Clock())
    waits, barrier = [], threading.Barrier(40)

    def try_one():
        barrier.wait()
        waits.append(attempts.begin("ann", "192.0.2.1"))

    threads = [threading.Thread(target=try_one) for _ in range(40)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert waits.count(0) == BY_ACCOUNT


@given(st.lists(st.tuples(st.sampled_from(["ann", "bob", "x" * 1000]), st.booleans(), st.floats(0, 100))))
def test_nobody_ever_waits_longer_than_a_minute(tries):
    clock = Clock()
    attempts = Attempts(clock)
    for name, right, pause in tries:
        wait = attempts.begin(name, "192.0.2.1")
        assert 0 <= wait <= LONGEST_WAIT
        if not wait and right:
            attempts.succeed(name, "192.0.2.1")
        clock.now += pause
    clock.now += LONGEST_WAIT
    assert attempts.begin("ann", "192.0.2.1") == 0


def test_names_without_end_do_not_fill_the_memory(monkeypatch):
    monkeypatch.setattr("audit.annotation.accounts._MOST", 100)
    attempts = Attempts(Clock())
    for number in range(1_000):
        attempts.begin(f"name {number}", f"192.0.{number // 250}.{number % 250}")
    assert len(attempts._counts) == 100


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


def test_another_claim_can_name_the_account(engine, ann):
    odd = claims(email="other@example.org", preferred_username="Ann@Example.org")
    assert account_of_identity(engine, odd, "preferred_username", LIMITS) == ann


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


def test_a_cookie_cannot_stand_for_an_identity(engine, ann):
    token = claims()
    account_of_identity(engine, token, limits=LIMITS)
    for made_up in (identity_key(token).hex(), str(token)):
        assert account_of(engine, cookie_key(made_up), LIMITS) is None


def test_the_name_of_an_identity_is_stripped():
    assert name_in({"upn": " ann "}, "upn") == "ann"
