"""Links: what a link gives, how often, until when; that its secret is nowhere; the first manager; the log; leaving."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path

import pytest
from question_world import rows
from sqlalchemy import Engine, update

from audit.errors import AuditError, NotAllowed, Refused
from audit.judging.accounts import (
    account_details,
    add_account,
    delete_person,
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
from audit.reports.study import study_report
from audit.store import open_store, tables
from audit.store.core import invitation

LONG = "long enough"


def unusable(engine: Engine, *secrets: str) -> None:
    for secret in secrets:
        for look in (
            lambda secret=secret: link_of(engine, secret),
            lambda secret=secret: use(engine, secret, "x", LONG),
        ):
            with pytest.raises(NotAllowed, match="cannot be used any more"):
                look()


@pytest.fixture
def engine(tmp_path: Path) -> Engine:
    return open_store(str(tmp_path / "audit.db"), create=True)


@pytest.fixture
def boss(engine: Engine) -> int:
    return add_account(engine, "boss", "manager", LONG).id


def test_a_link_makes_accounts_as_its_terms_say_and_then_none(engine: Engine, boss: int, tmp_path: Path) -> None:
    secret = invite(engine, Terms("adjudicator", ("en", "zh"), uses=2, code="C0DE"), by=boss)
    ada, bea = (use(engine, secret, f" {name} ", LONG) for name in ("ada", "bea"))
    assert (ada.name, ada.role, bea.languages) == ("ada", "adjudicator", ("en", "zh"))
    assert log_in(engine, "ada", LONG) == ada
    assert (completion_code(engine, ada.id), completion_code(engine, boss)) == ("C0DE", None)
    unusable(engine, secret)
    assert invitations(engine, by=boss) == []
    logged = [(entry.who, entry.action) for entry in entries(engine, boss)]
    assert logged == [("bea", "joined"), ("ada", "joined"), ("boss", "invited"), (None, "account added")]
    engine.dispose()
    assert not any(secret.encode() in path.read_bytes() for path in tmp_path.iterdir())


def test_an_invitation_expires_and_is_taken_back(engine: Engine, boss: int) -> None:
    old, ended = (invite(engine, Terms(days=days), by=boss) for days in (1, 2))
    first = next(one for one in invitations(engine, by=boss) if one.expires_at < tables.now() + timedelta(days=1.5))
    with engine.begin() as connection:
        connection.execute(update(invitation).where(invitation.c.id == first.id).values(expires_at=tables.now()))
    (last,) = invitations(engine, by=boss)
    assert (last.by, last.role) == ("boss", "annotator")
    end_invitation(engine, last.id, by=boss)
    with pytest.raises(Refused, match="cannot be used any more"):
        end_invitation(engine, last.id, by=boss)
    unusable(engine, old, ended, "", "no secret at all", "\udcff\0")


def test_twelve_at_once_on_three_uses_make_three_accounts(where: str) -> None:
    engine = open_store(where, create=True)
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
    link = password_link(engine, "boss")
    assert account_of(engine, login_of(engine, use(engine, link, "", "another one").id))
    unusable(engine, link)


def test_a_link_for_a_new_password_is_of_one_account_and_works_once(engine: Engine, boss: int) -> None:
    ann = add_account(engine, "ann", "annotator", LONG)
    links = [password_link(engine, "ann", by=boss) for _ in range(2)]
    assert link_of(engine, links[0]).name == "ann"
    with pytest.raises(AuditError, match="it must have 8 to"):
        use(engine, links[0], "", "short")
    assert use(engine, links[0], "boss", "another one") == log_in(engine, "ann", "another one") == ann
    unusable(engine, *links, sign(engine, LINK, -LASTS, PASSWORD, ann.id, 1), login_of(engine, ann.id))
    disable_account(engine, "ann", by=boss)
    with pytest.raises(NotAllowed, match="disabled"):
        password_link(engine, "ann", by=boss)


def test_the_first_manager_comes_in_by_a_link_once(engine: Engine) -> None:
    add_account(engine, "ann", "annotator", LONG)
    earlier, last = first_account_link(engine) or "", first_account_link(engine) or ""
    assert link_of(engine, last).purpose == FIRST
    assert use(engine, last, "mia", LONG).role == "manager"
    assert first_account_link(engine) is None
    unusable(engine, earlier, last)


# A person leaves: the name goes, the answers stay and count.


@pytest.mark.slow
def test_the_name_goes_and_the_answers_stay(judged, content):
    engine = open_store(judged)
    before, report = content(engine), study_report(engine)
    ids = {account.name: account.id for account in list_accounts(engine)}
    assert delete_person(engine, "anna") == f"deleted-{ids['anna']}"
    after = content(engine)
    assert after.pop("annotator") != before.pop("annotator")
    assert len(after.pop("log")) == len(before.pop("log")) + 1
    assert after == before
    assert study_report(engine) == report
    (row,) = (row for row in rows(engine, tables.Annotator) if row["id"] == ids["anna"])
    assert (row["password"], row["languages"], row["disabled"]) == (None, "", True)
    assert "anna" not in str(account_details(engine))
    add_account(engine, "anna", "annotator", LONG)  # the name is free
    with pytest.raises(AuditError, match="not begin with 'deleted-'"):
        add_account(engine, f"Deleted-{ids['ben']}", "annotator", LONG)


def test_who_cannot_be_deleted(engine, boss, content):
    ann = add_account(engine, "ann", "annotator", LONG).id
    before = content(engine)
    for name, by, reason in (
        ("gold", None, "there is no account"),
        ("nobody", None, "there is no account"),
        ("boss", ann, "needs the role manager"),
        ("boss", boss, "you cannot delete the account that you use"),
        ("boss", None, "'boss' is the last manager"),
    ):
        with pytest.raises((AuditError, NotAllowed), match=reason):
            delete_person(engine, name, by=by)
    assert content(engine) == before
