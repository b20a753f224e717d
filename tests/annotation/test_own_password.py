"""Another password by oneself: what it needs, what it ends, and what is refused."""

import pytest
from sqlalchemy import select

from audit.annotation.accounts import (
    account_of,
    add_account,
    change_password,
    cookie_key,
    log_in,
    open_login,
)
from audit.errors import AuditError, NotAllowed
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
