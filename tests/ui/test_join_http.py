"""Coming in by an invitation over HTTP, on a real `audit app` that was started where there was no database."""

import re
from collections.abc import Iterator
from html import unescape
from typing import NamedTuple
from urllib.parse import urlencode, urlsplit

import pytest
import requests
from app_server import app_server
from http_driver import PAGE
from sqlalchemy import Engine

from audit.judging.accounts import add_account, list_accounts
from audit.judging.invitations import Terms, invite
from audit.store import open_store
from audit.ui.language import text_in

PASSWORD = "long enough"


class New(NamedTuple):
    """An app on a new database."""

    address: str
    engine: Engine
    link: str


@pytest.fixture(scope="module")
def new(tmp_path_factory: pytest.TempPathFactory) -> Iterator[New]:
    folder = tmp_path_factory.mktemp("new")
    with app_server(str(folder / "audit.db"), folder / "log.txt") as address:
        printed = (folder / "log.txt").read_text(encoding="utf-8")
        assert "audit.db; a new one is made" in printed
        (link,) = re.findall(r"http://127\.0\.0\.1:\d+/join/\S+", printed)
        yield New(address, open_store(str(folder / "audit.db")), link)


def sent(
    link: str, name: str | None, password: str = PASSWORD, **changed: str
) -> tuple[requests.Session, requests.Response]:
    """A browser that has opened a link and sent its form."""
    browser = requests.Session()
    assert browser.get(link, headers=PAGE).status_code == 200
    fields = {"password": password} | ({} if name is None else {"name": name}) | changed
    origin = {"Origin": "{0.scheme}://{0.netloc}".format(urlsplit(link))}
    return browser, browser.post(link, data=fields, headers=origin, allow_redirects=False)


def test_the_first_manager_and_those_whom_they_invite(new: New) -> None:
    """One after the other: the first link is for one account."""
    assert text_in("en", "first.what") in requests.get(new.link, headers=PAGE).text
    chinese = requests.get(f"{new.link}?lang=zh", headers=PAGE)
    assert text_in("zh", "first.what") in chinese.text
    assert chinese.headers["Cache-Control"] == "no-store"
    assert "script-src" not in chinese.headers["Content-Security-Policy"]
    for changed, status in (({"password": "short"}, 400), ({"name": "gold"}, 400)):
        _, refused = sent(new.link, changed.pop("name", "mia"), **changed)
        assert refused.status_code == status
        assert 'role="alert"' in refused.text
    assert list_accounts(new.engine) == []
    mia, entered = sent(new.link, "mia")
    assert (entered.status_code, entered.headers["Location"]) == (303, "/")
    assert mia.get(f"{new.address}/", headers=PAGE, allow_redirects=False).status_code == 200
    again = requests.get(new.link, headers=PAGE)
    assert again.status_code == 403
    assert "<form" not in again.text
    assert "/login" in again.text

    (manager,) = list_accounts(new.engine)
    link = f"{new.address}/join/{invite(new.engine, Terms(uses=2), by=manager.id)}"
    assert text_in("en", "role.annotator") in requests.get(link, headers=PAGE).text
    assert text_in("en", "join.instead", name="mia") in mia.get(link, headers=PAGE).text
    ann, entered = sent(link, "<b>ann</b>")
    assert (entered.status_code, entered.headers["Location"]) == (303, "/")
    _, taken = sent(link, "<b>ann</b>")
    assert taken.status_code == 400
    assert "<b>ann" not in taken.text
    # What the form does not ask for, nobody can say.
    _, entered = sent(link, "王芳", role="manager")
    assert entered.status_code == 303
    roles = {account.name: account.role for account in list_accounts(new.engine)}
    assert roles == {"mia": "manager", "<b>ann</b>": "annotator", "王芳": "annotator"}
    assert ann.get(f"{new.address}/", headers=PAGE, allow_redirects=False).status_code == 200


def test_the_id_of_a_platforms_participant_is_the_name_of_the_account(new: New) -> None:
    boss = add_account(new.engine, "paying", "manager", PASSWORD)
    link = f"{new.address}/join/{invite(new.engine, Terms(uses=9, code='C0DE'), by=boss.id)}"
    for parameter, id in (("participant", "p-1"), ("PROLIFIC_PID", "5f0a1b2c"), ("workerId", "A1&B=<i>")):
        shown = requests.get(link, params={parameter: id}, headers=PAGE)
        assert "readonly" in shown.text
        assert "<i>" not in shown.text
        assert id in unescape(re.search(r'<input value="([^"]*)"', shown.text)[1])  # type: ignore[index]
        other = re.search(r'href="(/join/[^"]*lang=zh[^"]*)"', shown.text)
        assert other is not None
        chinese = requests.get(new.address + unescape(other.group(1)), headers=PAGE)
        assert id in unescape(chinese.text), "another language keeps who comes"
        _, entered = sent(f"{link}?{urlencode({parameter: id})}", "another name")
        assert entered.status_code == 303
        assert id.casefold() in {account.name for account in list_accounts(new.engine)}
        assert "another name" not in {account.name for account in list_accounts(new.engine)}
    again = sent(f"{link}?participant=p-1", None)[1]
    assert again.status_code == 400
    assert "p-1" in again.text
    assert sent(f"{link}?participant=gold", None)[1].status_code == 400


def test_a_link_that_is_none_and_one_that_is_too_long(new: New) -> None:
    for path in ("nothing", "x" * 5_000, "%00", "..%2Flogin"):
        shown = requests.get(f"{new.address}/join/{path}", headers=PAGE, allow_redirects=False)
        assert shown.status_code in (303, 400, 403, 404), path
        assert "Traceback" not in shown.text
