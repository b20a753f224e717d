"""Logging in and out, changing one's own password, and what is tried against both, over HTTP on a real `audit app`."""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
import requests
from app_server import app_server
from http_driver import PASSWORD, Browser, Served, fields_of, people_of

from audit.annotation.accounts import (
    cookie_key,
    form_token,
    log_in,
    new_token,
    open_login,
    set_password,
)
from audit.ui.language import text_in

NEW = "another horse, staple"


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("http")
    engine, people = people_of(folder / "audit.db")
    with app_server(str(folder / "audit.db"), folder / "log.txt") as address:
        yield Served(address, engine, folder / "log.txt", people)


@pytest.fixture
def browser(served: Served) -> Browser:
    return Browser(served)


def test_pages_send_strangers_to_log_in_and_back(served: Served, browser: Browser) -> None:
    for path, to in (("/", "/login"), ("/results", "/login?next=results"), ("/nonsense", "/login")):
        sent = browser.look(path)
        assert (sent.status_code, sent.headers["Location"]) == (303, to)
    assert browser.enter("boss", next="results").headers["Location"] == "/results"
    assert browser.look("/results").status_code == 200
    assert browser.look("/login?next=accounts").headers["Location"] == "/accounts"


def test_the_cookie_is_out_of_reach_and_its_token_is_not_in_the_database(served: Served, browser: Browser) -> None:
    answer = browser.enter("ann")
    cookie = next(cookie for cookie in answer.raw.headers.getlist("Set-Cookie") if "audit_login" in cookie)
    assert {"HttpOnly", "SameSite=lax", "Path=/"} <= set(cookie.split("; "))
    assert "Secure" not in cookie
    assert "Max-Age" not in cookie
    assert browser.token
    assert len(browser.token) >= 43  # 256 bits in base64
    stored = served.rows()[-1]
    assert stored["key"] == cookie_key(browser.token)
    assert stored["annotator_id"] == served.people["ann"]
    with open(served.engine.url.database or "", "rb") as database:
        content = database.read()
    assert browser.token.encode() not in content
    assert PASSWORD.encode() not in content
    assert browser.token not in served.log.read_text(encoding="utf-8")
    assert PASSWORD not in served.log.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "next",
    ["https://evil.example", "//evil.example", "/\\evil.example", "javascript:1", "results/../..", "%0d%0a", "a b"],
)
def test_there_is_no_open_redirect(browser: Browser, next: str) -> None:
    assert browser.form("/login?next=" + next)["next"] == ""
    browser.be("ben")
    assert browser.look("/login?next=" + next).headers["Location"] == "/"


def test_a_wrong_password_and_an_unknown_name_are_told_alike(browser: Browser) -> None:
    answers = [browser.enter("judge", "wrong password"), browser.enter("nobody", "wrong password")]
    assert [answer.status_code for answer in answers] == [403, 403]
    for answer in answers:
        assert "Name or password is wrong, or the account is disabled." in answer.text
        assert "wrong password" not in answer.text
    assert browser.token is None
    assert browser.enter("judge").status_code == 303


def test_too_many_wrong_passwords_for_a_name_wait(served: Served) -> None:
    for _ in range(5):
        assert Browser(served).enter("cy", "a guess").status_code == 403
    late = Browser(served).enter("cy")
    assert late.status_code == 429
    assert late.headers["Retry-After"] in ("1", "2")
    assert text_in("en", "welcome.wait", count=int(late.headers["Retry-After"])) in late.text
    assert Browser(served).enter("judge").status_code == 303


@pytest.mark.parametrize("field", ["form", "cookie", "both", "used"])
def test_a_forged_or_used_form_is_refused(served: Served, browser: Browser, field: str) -> None:
    form = browser.form() | {"name": "ann", "password": PASSWORD}
    if field in ("form", "both"):
        form["form"] = "" if field == "both" else "forged"
    if field in ("cookie", "both"):
        browser.cookies.clear()
    if field == "used":
        assert browser.submit("/login", form | {"password": "wrong password"}).status_code == 403
    before = len(served.rows())
    answer = browser.submit("/login", form)
    assert answer.status_code == 403
    assert text_in("en", "welcome.old_form") in answer.text
    assert browser.token is None
    assert len(served.rows()) == before


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
    ],
)
def test_a_form_of_another_site_is_refused(browser: Browser, headers: dict[str, str]) -> None:
    form = browser.form() | {"name": "ann", "password": PASSWORD}
    assert browser.submit("/login", form, **headers).status_code == 403
    assert browser.token is None


def test_logging_out_needs_the_form_of_the_same_login(served: Served, browser: Browser) -> None:
    browser.be("ann")
    other = Browser(served)
    other.be("ben")
    for form in ({"lang": "en"}, {"form": "x"}, {"form": form_token(str(other.token))}, {"form": str(browser.token)}):
        assert browser.submit("/logout", form).status_code == 403
    right = {"form": form_token(str(browser.token))}
    assert browser.submit("/logout", right, Origin="https://evil.example").status_code == 403
    assert browser.look("/logout").headers["Location"] == "/"
    assert browser.look("/").status_code == 200
    assert browser.submit("/logout", right).status_code == 303
    assert browser.look("/").status_code == 303
    assert other.look("/").status_code == 200


def test_logging_in_anew_ends_the_login_before(served: Served, browser: Browser) -> None:
    # Two tabs show the form; one logs ann in, the other ben.
    form = browser.form() | {"name": "ben", "password": PASSWORD}
    first = new_token()
    open_login(served.engine, served.people["ann"], cookie_key(first))
    browser.show(first)
    assert browser.submit("/login", form).status_code == 303
    assert browser.token not in (None, first)
    thief = Browser(served)
    thief.show(first)
    assert thief.look("/").headers["Location"] == "/login"


def test_a_megabyte_is_refused_before_it_is_hashed(browser: Browser) -> None:
    form = browser.form()
    answer = browser.submit("/login", form | {"name": "ann", "password": "x" * 1_000_000})
    assert answer.status_code == 413
    assert text_in("en", "welcome.too_large") in answer.text
    form = browser.form()

    def pieces() -> Iterator[bytes]:  # without a Content-Length
        for _ in range(100):
            yield b"x" * 10_000

    kind = {"Content-Type": "application/x-www-form-urlencoded"}
    try:
        answer = browser.submit("/login", pieces(), **kind)  # type: ignore[arg-type]
        assert answer.status_code == 413
    except requests.ConnectionError:
        pass  # the server hung up in the middle, which is as good
    long = browser.form() | {"name": "ann", "password": "x" * 5_000}
    assert browser.submit("/login", long).status_code == 403


def test_what_is_no_form_is_refused(browser: Browser) -> None:
    browser.form()
    kind = {"Content-Type": "application/x-www-form-urlencoded"}
    assert browser.submit("/login", b'{"name": "ann"}', **{"Content-Type": "application/json"}).status_code == 415
    for body in (b"name=%ff%fe&password=x", b"name=\xff", b"&".join(b"a=b" for _ in range(100))):
        assert browser.submit("/login", body, **kind).status_code == 400


def password_form(
    browser: Browser, present: str = PASSWORD, new: str = NEW, again: str | None = None
) -> dict[str, str]:
    return browser.form("/password") | {"present": present, "new": new, "again": new if again is None else again}


def still(served: Served, name: str, password: str = PASSWORD) -> bool:
    return log_in(served.engine, name, password).name == name


def test_the_password_is_changed_and_the_other_browsers_are_out(served: Served, browser: Browser) -> None:
    browser.be("ann")
    phone = Browser(served)
    phone.be("ann")
    answer = browser.submit("/password", password_form(browser))
    assert answer.status_code == 200
    assert text_in("en", "account.changed") in answer.text
    assert still(served, "ann", NEW)
    assert browser.look("/").status_code == 200
    assert phone.look("/").headers["Location"] == "/login"
    for header in ("Content-Security-Policy", "X-Frame-Options", "X-Content-Type-Options"):
        assert answer.headers[header]
    assert "no-store" in answer.headers["Cache-Control"]
    assert "<script" not in answer.text
    set_password(served.engine, "ann", PASSWORD)


@pytest.mark.parametrize("attack", ["no form", "forged", "token", "another's", "login form", "origin", "site"])
def test_a_forged_form_changes_no_password(served: Served, browser: Browser, content, attack: str) -> None:  # type: ignore[no-untyped-def]
    browser.be("ben")
    other = Browser(served)
    other.be("dee")
    form, headers = password_form(browser), {}
    if attack == "no form":
        del form["form"]
    elif attack == "forged":
        form["form"] = "x" * 64
    elif attack == "token":
        form["form"] = str(browser.token)
    elif attack == "another's":
        form["form"] = form_token(str(other.token))
    elif attack == "login form":
        form["form"] = Browser(served).form("/login")["form"]
    else:
        headers = {"Origin": "https://evil.example"} if attack == "origin" else {"Sec-Fetch-Site": "cross-site"}
    before = content(served.engine)
    answer = browser.submit("/password", form, **headers)
    assert answer.status_code == 403
    assert text_in("en", "welcome.old_form") in answer.text
    assert content(served.engine) == before


def test_secrets_are_in_no_log(served: Served) -> None:
    printed = served.log.read_text(encoding="utf-8")
    assert "Traceback" not in printed
    assert "argon2" not in printed


@pytest.mark.slow
def test_limits_https_and_a_base_path_are_settings(served: Served, tmp_path: Path) -> None:
    path = str(served.engine.url.database)
    base = {"STREAMLIT_SERVER_BASE_URL_PATH": "judge/here"}
    options = ("--idle-hours", "0.5", "--login-hours", "1", "--https")
    with app_server(path, tmp_path / "log.txt", *options, environment=base, base="/judge/here") as address:
        there = Browser(Served(address, served.engine, tmp_path / "log.txt"))
        assert there.look("/results").headers["Location"] == "/judge/here/login?next=results"
        page = there.look("/login")
        assert "Secure" in page.headers["Set-Cookie"]
        assert "Path=/judge/here" in page.headers["Set-Cookie"]
        cookie = page.headers["Set-Cookie"].partition(";")[0]
        form = fields_of(page.text) | {"name": "judge", "password": PASSWORD}
        answer = there.submit("/login", form, Cookie=cookie)
        assert answer.headers["Location"] == "/judge/here/"
    row = max(served.rows(), key=lambda row: row["created_at"])
    assert row["expires_at"] - row["created_at"] == timedelta(minutes=30)
