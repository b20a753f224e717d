"""Invitations: what a link gives, how often, until when; that its secret is nowhere; the first manager; the log."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import Engine, select, update

from audit.annotation.accounts import (
    account_details,
    add_account,
    change_account,
    disable_account,
    entries,
    list_accounts,
    log_in,
)
from audit.annotation.invitations import (
    FIRST,
    Terms,
    completion_code,
    end_invitation,
    first_account_secret,
    invitation_of,
    invitations,
    invite,
    join,
)
from audit.errors import AuditError, NotAllowed, Refused
from audit.store import open_store, tables
from audit.store.core import token

PASSWORD = "long enough"
UNUSABLE = "cannot be used any more"


@pytest.fixture
def engine(tmp_path: Path) -> Engine:
    return open_store(str(tmp_path / "audit.db"), create=True)


@pytest.fixture
def boss(engine: Engine) -> int:
    return add_account(engine, "boss", "manager", PASSWORD).id


def test_a_link_makes_accounts_as_its_terms_say_and_then_none(engine: Engine, boss: int) -> None:
    secret = invite(engine, Terms("adjudicator", ("en", "zh"), uses=2), by=boss)
    for name in ("ada", "bea"):
        join(engine, secret, f" {name} ", PASSWORD)
    details = {account.name: account for account in account_details(engine)}
    assert (details["ada"].role, details["bea"].languages) == ("adjudicator", ("en", "zh"))
    assert log_in(engine, "ada", PASSWORD).name == "ada"
    with pytest.raises(NotAllowed, match=UNUSABLE):
        join(engine, secret, "cleo", PASSWORD)
    assert [account.name for account in list_accounts(engine)] == ["ada", "bea", "boss"]
    assert invitations(engine, by=boss) == []


def test_an_invitation_expires_and_is_taken_back(engine: Engine, boss: int) -> None:
    old, ended = (invite(engine, Terms(days=days), by=boss) for days in (1, 2))
    first = next(one for one in invitations(engine, by=boss) if one.expires_at < tables.now() + timedelta(days=1.5))
    with engine.begin() as connection:
        connection.execute(update(token).where(token.c.key == first.key).values(expires_at=tables.now()))
    (last,) = invitations(engine, by=boss)
    assert (last.by, last.role) == ("boss", "annotator")
    end_invitation(engine, last.key, by=boss)
    with pytest.raises(Refused, match=UNUSABLE):
        end_invitation(engine, last.key, by=boss)
    for secret in (old, ended, "", "no secret at all", "\udcff\0"):
        with pytest.raises(NotAllowed, match=UNUSABLE):
            invitation_of(engine, secret)
        with pytest.raises(NotAllowed, match=UNUSABLE):
            join(engine, secret, "ann", PASSWORD)


def test_the_last_use_of_a_link_is_one_persons(engine: Engine, boss: int) -> None:
    secret = invite(engine, Terms(uses=2), by=boss)

    def try_one(number: int) -> bool:
        try:
            join(engine, secret, f"ann{number}", PASSWORD)
        except NotAllowed:
            return False
        return True

    with ThreadPoolExecutor(5) as threads:
        assert sum(threads.map(try_one, range(5))) == 2
    assert len(list_accounts(engine)) == 3


def test_the_database_and_the_log_have_no_secret(engine: Engine, boss: int, tmp_path: Path) -> None:
    secret = invite(engine, Terms(code="C0DE"), by=boss)
    account = join(engine, secret, "ann", PASSWORD)
    assert completion_code(engine, account.id) == "C0DE"
    assert completion_code(engine, boss) is None
    engine.dispose()
    assert not any(secret.encode() in path.read_bytes() for path in tmp_path.iterdir())
    logged = [(entry.who, entry.action) for entry in entries(engine, boss)]
    assert logged == [("ann", "joined"), ("boss", "invited"), (None, "account added")]


def test_the_first_manager_comes_in_by_the_last_link_alone(engine: Engine) -> None:
    add_account(engine, "ann", "annotator", PASSWORD)
    earlier, last = first_account_secret(engine), first_account_secret(engine)
    assert earlier
    assert last
    with pytest.raises(NotAllowed, match=UNUSABLE):
        invitation_of(engine, earlier)
    assert invitation_of(engine, last).purpose == FIRST
    assert join(engine, last, "mia", PASSWORD).role == "manager"
    assert first_account_secret(engine) is None
    with pytest.raises(NotAllowed, match=UNUSABLE):
        join(engine, last, "eve", PASSWORD)


def test_the_first_link_ends_where_a_manager_is_made_otherwise(engine: Engine) -> None:
    secret = first_account_secret(engine)
    assert secret
    add_account(engine, "boss", "manager", PASSWORD)
    for work in (lambda: invitation_of(engine, secret), lambda: join(engine, secret, "eve", PASSWORD)):
        with pytest.raises(NotAllowed, match=UNUSABLE):
            work()
    assert [account.name for account in list_accounts(engine)] == ["boss"]
    disable = add_account(engine, "second", "manager", PASSWORD)
    disable_account(engine, disable.name)
    assert first_account_secret(engine) is None


def test_role_and_languages_are_changed_and_logged_but_not_the_last_managers(engine: Engine, boss: int) -> None:
    add_account(engine, "ann", "annotator", PASSWORD)
    assert change_account(engine, "ann", "adjudicator", ("en",), by=boss).role == "adjudicator"
    change_account(engine, "ann", "adjudicator", ("en",), by=boss)  # nothing changes: no line
    with pytest.raises(AuditError, match="the last manager"):
        change_account(engine, "boss", "annotator", by=boss)
    change_account(engine, "boss", "manager", ("zh",), by=boss)
    for wrong in (("ann", "king", ()), ("ann", "annotator", ("nonsense!",)), ("nobody", "annotator", ())):
        with pytest.raises(AuditError):
            change_account(engine, *wrong, by=boss)
    changed = [entry.detail for entry in entries(engine, boss) if entry.action == "account changed"]
    ann = next(account for account in account_details(engine) if account.name == "ann")
    assert (ann.role, ann.languages) == ("adjudicator", ("en",))
    assert changed[1] == {"account": ann.id, "role": ["annotator", "adjudicator"], "languages": ["", "en"]}
    assert changed[0]["languages"] == ["", "zh"]
    assert "role" not in changed[0]
    with engine.connect() as connection:
        assert connection.execute(select(token.c.key)).all() == []
