"""Tokens of the API: made once, found by their hash, bounded by a role, and ended with their account."""

from datetime import timedelta

import pytest
from sqlalchemy import select

from audit.annotation import tokens
from audit.annotation.accounts import add_account, disable_account, enable_account, set_password
from audit.annotation.tokens import bearer_of, end_token, make_token, own_tokens, token_key
from audit.errors import AuditError, NotAllowed, Refused
from audit.store import open_store, tables
from audit.store.core import token


@pytest.fixture
def engine(tmp_path):
    return open_store(str(tmp_path / "audit.db"), create=True)


@pytest.fixture
def mia(engine):
    return add_account(engine, "mia", "manager", "long enough")


def test_a_token_acts_for_its_account_and_its_secret_is_kept_nowhere(engine, mia):
    secret, made = make_token(engine, mia.id, "nightly", "annotator", 30)
    bearer = bearer_of(engine, secret)
    assert bearer is not None
    assert (bearer.account.name, bearer.role, bearer.token.id) == ("mia", "annotator", made.id)
    with engine.connect() as connection:
        row = connection.execute(select(token)).mappings().one()
    assert row["key"] == token_key(secret)
    assert secret not in repr(dict(row))
    assert bearer_of(engine, secret[:-1]) is None
    assert bearer_of(engine, "") is None


def test_a_token_may_do_no_more_than_its_account_then_or_later(engine, mia):
    ann = add_account(engine, "ann", "annotator", "long enough")
    with pytest.raises(NotAllowed, match="manager is more than annotator, the role of ann"):
        make_token(engine, ann.id, "x", "manager")
    secret, made = make_token(engine, mia.id, "x")
    assert made.role == "manager"
    with engine.begin() as connection:
        table = tables.Annotator.__table__
        connection.execute(table.update().where(table.c.id == mia.id).values(role="adjudicator"))
    assert bearer_of(engine, secret).role == "adjudicator"


def test_a_token_ends_by_time_by_its_owner_and_with_its_account(engine, mia, monkeypatch):
    ann = add_account(engine, "ann", "annotator", "long enough")
    secrets = [make_token(engine, ann.id, f"{number}", days=1 + number)[0] for number in range(3)]
    ended = own_tokens(engine, ann.id)[-1]
    assert end_token(engine, ann.id, ended.id).name == "0"
    assert [bearer_of(engine, secret) is not None for secret in secrets] == [False, True, True]
    with pytest.raises(Refused, match="no such token"):
        end_token(engine, ann.id, ended.id)
    with pytest.raises(Refused, match="no such token"):
        end_token(engine, mia.id, own_tokens(engine, ann.id)[0].id)  # somebody else's
    moment = tables.now()
    with monkeypatch.context() as patch:
        patch.setattr(tokens.tables, "now", lambda: moment + timedelta(days=2, minutes=1))
        assert [bearer_of(engine, secret) is not None for secret in secrets] == [False, False, True]
    disable_account(engine, "ann", by=mia.id)
    enable_account(engine, "ann", by=mia.id)
    assert own_tokens(engine, ann.id) == []
    secret, _ = make_token(engine, ann.id, "again")
    set_password(engine, "ann", "another one", by=mia.id)
    assert bearer_of(engine, secret) is None


@pytest.mark.parametrize(
    ("name", "role", "days", "reason"),
    [
        ("", None, 1, "1 to 80"),
        ("a\nb", None, 1, "1 to 80"),
        ("x", "boss", 1, "role"),
        ("x", None, 367, "from 1 to 366"),
    ],
)
def test_what_cannot_be_a_token_is_refused_and_changes_nothing(engine, mia, content, name, role, days, reason):
    before = content(engine)
    with pytest.raises(AuditError, match=reason):
        make_token(engine, mia.id, name, role, days)
    assert content(engine) == before
