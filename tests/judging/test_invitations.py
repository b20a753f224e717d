"""Invitations: what a link gives, how often, until when; that its secret is nowhere; the first manager; the log."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import Engine, select, update

from audit.errors import AuditError, NotAllowed, Refused
from audit.judging.accounts import (
    account_details,
    add_account,
    change_account,
    disable_account,
    entries,
    list_accounts,
)
from audit.judging.invitations import (
    FIRST,
    LASTS,
    PASSWORD,
    Terms,
    completion_code,
    end_invitation,
    first_account_link,
    invitations,
    invite,
    link_of,
    password_link,
    use,
)
from audit.judging.sign_in import LINK, account_of, log_in, login_of, sign
from audit.store import open_store, tables
from audit.store.core import invitation

LONG = "long enough"
UNUSABLE = "cannot be used any more"


@pytest.fixture
def engine(tmp_path: Path) -> Engine:
    return open_store(str(tmp_path / "audit.db"), create=True)


@pytest.fixture
def boss(engine: Engine) -> int:
    return add_account(engine, "boss", "manager", LONG).id


def test_a_link_makes_accounts_as_its_terms_say_and_then_none(engine: Engine, boss: int) -> None:
    secret = invite(engine, Terms("adjudicator", ("en", "zh"), uses=2), by=boss)
    for name in ("ada", "bea"):
        use(engine, secret, f" {name} ", LONG)
    details = {account.name: account for account in account_details(engine)}
    assert (details["ada"].role, details["bea"].languages) == ("adjudicator", ("en", "zh"))
    assert log_in(engine, "ada", LONG).name == "ada"
    with pytest.raises(NotAllowed, match=UNUSABLE):
        use(engine, secret, "cleo", LONG)
    assert [account.name for account in list_accounts(engine)] == ["ada", "bea", "boss"]
    assert invitations(engine, by=boss) == []


def test_an_invitation_expires_and_is_taken_back(engine: Engine, boss: int) -> None:
    old, ended = (invite(engine, Terms(days=days), by=boss) for days in (1, 2))
    first = next(one for one in invitations(engine, by=boss) if one.expires_at < tables.now() + timedelta(days=1.5))
    with engine.begin() as connection:
        connection.execute(update(invitation).where(invitation.c.id == first.id).values(expires_at=tables.now()))
    (last,) = invitations(engine, by=boss)
    assert (last.by, last.role) == ("boss", "annotator")
    end_invitation(engine, last.id, by=boss)
    with pytest.raises(Refused, match=UNUSABLE):
        end_invitation(engine, last.id, by=boss)
    for secret in (old, ended, "", "no secret at all", "\udcff\0"):
        with pytest.raises(NotAllowed, match=UNUSABLE):
            link_of(engine, secret)
        with pytest.raises(NotAllowed, match=UNUSABLE):
            use(engine, secret, "ann", LONG)


def twelve_at_once_on_three_uses(engine: Engine) -> None:
    boss = add_account(engine, "boss", "manager", LONG).id
    secret = invite(engine, Terms(uses=3), by=boss)

    def try_one(number: int) -> bool:
        try:
            use(engine, secret, f"ann{number}", LONG)
        except NotAllowed:
            return False
        return True

    with ThreadPoolExecutor(12) as threads:
        assert sum(threads.map(try_one, range(12))) == 3
    assert len(list_accounts(engine)) == 4


def test_twelve_at_once_on_three_uses_make_three_accounts(engine: Engine) -> None:
    twelve_at_once_on_three_uses(engine)


@pytest.mark.postgres
def test_the_same_on_postgresql(postgres_url: str) -> None:
    engine = open_store(postgres_url, create=True)
    twelve_at_once_on_three_uses(engine)
    link = password_link(engine, "ann0" if "ann0" in {one.name for one in list_accounts(engine)} else "boss")
    login = login_of(engine, use(engine, link, "", "another one").id)
    assert account_of(engine, login)
    with pytest.raises(NotAllowed, match=UNUSABLE):
        use(engine, link, "", LONG)


def test_a_link_for_a_new_password_is_of_one_account_and_works_once(engine: Engine, boss: int) -> None:
    ann = add_account(engine, "ann", "annotator", LONG)
    links = [password_link(engine, "ann", by=boss) for _ in range(2)]
    assert link_of(engine, links[0]).name == "ann"
    with pytest.raises(AuditError, match="it must have 8 to"):
        use(engine, links[0], "", "short")
    assert use(engine, links[0], "boss", "another one") == ann
    assert log_in(engine, "ann", "another one") == ann
    for secret in (*links, sign(engine, LINK, -LASTS, PASSWORD, ann.id, 1), login_of(engine, ann.id)):
        with pytest.raises(NotAllowed, match=UNUSABLE):
            use(engine, secret, "", LONG)
    disable_account(engine, "ann", by=boss)
    with pytest.raises(NotAllowed, match="disabled"):
        password_link(engine, "ann", by=boss)


def test_the_database_and_the_log_have_no_secret(engine: Engine, boss: int, tmp_path: Path) -> None:
    secret = invite(engine, Terms(code="C0DE"), by=boss)
    account = use(engine, secret, "ann", LONG)
    assert completion_code(engine, account.id) == "C0DE"
    assert completion_code(engine, boss) is None
    engine.dispose()
    assert not any(secret.encode() in path.read_bytes() for path in tmp_path.iterdir())
    logged = [(entry.who, entry.action) for entry in entries(engine, boss)]
    assert logged == [("ann", "joined"), ("boss", "invited"), (None, "account added")]


def test_the_first_manager_comes_in_by_a_link_once(engine: Engine) -> None:
    add_account(engine, "ann", "annotator", LONG)
    earlier, last = first_account_link(engine), first_account_link(engine)
    assert earlier
    assert last
    assert link_of(engine, last).purpose == FIRST
    assert use(engine, last, "mia", LONG).role == "manager"
    assert first_account_link(engine) is None
    for secret in (earlier, last):
        with pytest.raises(NotAllowed, match=UNUSABLE):
            use(engine, secret, "eve", LONG)


def test_role_and_languages_are_changed_and_logged_but_not_the_last_managers(engine: Engine, boss: int) -> None:
    add_account(engine, "ann", "annotator", LONG)
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
        assert connection.execute(select(invitation.c.id)).all() == []
