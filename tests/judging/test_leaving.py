"""A person leaves: the name goes, the answers stay and count."""

import pytest
from sqlalchemy import select

from audit.errors import AuditError, NotAllowed
from audit.judging.accounts import add_account, delete_person, list_accounts
from audit.judging.sign_in import log_in
from audit.reports.study import study_report
from audit.store import open_store, table_of, tables


@pytest.mark.slow
def test_the_name_goes_and_the_answers_stay(judged, content):
    engine = open_store(judged)
    before, report = content(engine), study_report(engine)
    ids = {account.name: account.id for account in list_accounts(engine)}
    left = delete_person(engine, "anna")
    assert left == f"deleted-{ids['anna']}"
    after = content(engine)
    assert after.pop("annotator") != before.pop("annotator")
    assert len(after.pop("log")) == len(before.pop("log")) + 1
    assert after == before
    assert study_report(engine) == report
    assert "anna" not in [account.name for account in list_accounts(engine)]
    with engine.connect() as connection:
        annotator = table_of(tables.Annotator)
        row = connection.execute(select(annotator).where(annotator.c.id == ids["anna"])).mappings().one()
    assert (row["password"], row["languages"], row["disabled"]) == (None, "", True)
    for name in ("anna", left):
        with pytest.raises(NotAllowed):
            log_in(engine, name, "long enough")
    add_account(engine, "anna", "annotator", "long enough")  # the name is free
    assert delete_person(engine, "ada")


def test_who_cannot_be_deleted(judged, content):
    engine = open_store(judged)
    ids = {account.name: account.id for account in list_accounts(engine)}
    mia = add_account(engine, "mia", "manager", "long enough").id
    before = content(engine)
    for name in ("gold", "nobody", ""):
        with pytest.raises(AuditError, match="there is no account"):
            delete_person(engine, name)
    with pytest.raises(NotAllowed):
        delete_person(engine, "ben", by=ids["anna"])
    with pytest.raises(AuditError, match="you cannot delete the account that you use"):
        delete_person(engine, "mia", by=mia)
    with pytest.raises(AuditError, match="'mia' is the last manager"):
        delete_person(engine, "mia")
    assert content(engine) == before
    with pytest.raises(AuditError, match="not begin with 'deleted-'"):
        add_account(engine, f"Deleted-{ids['ben']}", "annotator", "long enough")
