"""Logging in and out, changing one's own password, and what is tried against both, over HTTP on a real `audit app`."""

import socket
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from app_server import app_server
from http_driver import PASSWORD, Browser, Served, people_of

from audit.judging.accounts import set_password
from audit.judging.invitations import own_password_link
from audit.judging.sign_in import LOGIN, log_in, login_of, unsign
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
    assert unsign(served.engine, LOGIN, browser.token)[1:] == [served.people["ann"], 0]
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
    assert Browser(browser.served).enter("ben", next=next).headers["Location"] == "/"
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


OTHER_SITES = [{"Origin": "https://evil.example"}, {"Origin": "null"}, {"Origin": ""}, {"Origin": "http://127.0.0.1:1"}]


@pytest.mark.parametrize("headers", OTHER_SITES, ids=lambda headers: headers["Origin"])
def test_a_form_of_another_site_is_refused(served: Served, browser: Browser, content, headers: dict[str, str]) -> None:  # type: ignore[no-untyped-def]
    before = content(served.engine)
    answer = browser.submit("/login", {"name": "ann", "password": PASSWORD}, **headers)
    assert answer.status_code == 403
    assert text_in("en", "welcome.old_form") in answer.text
    assert browser.token is None
    browser.be("ben")
    link = f"/join/{own_password_link(served.engine, served.people['ben'])}"
    assert browser.submit(link, {"password": NEW}, **headers).status_code == 403
    assert browser.submit("/logout", {}, **headers).status_code == 403
    assert content(served.engine) == before
    assert browser.look("/").status_code == 200


def test_logging_out_ends_the_logins_of_the_account_alone(served: Served, browser: Browser) -> None:
    browser.be("fay")
    phone, other = Browser(served), Browser(served)
    phone.show(str(browser.token))
    other.be("ben")
    assert browser.look("/logout").headers["Location"] == "/"  # a link of another site logs nobody out
    assert browser.look("/").status_code == 200
    assert browser.submit("/logout?lang=zh", {}).headers["Location"] == "/login?lang=zh"
    assert browser.token is None
    assert [one.look("/").status_code for one in (phone, other)] == [303, 200]


def test_a_large_form_is_refused_before_it_is_read_and_a_broken_one_leaves_no_trace(
    served: Served, browser: Browser
) -> None:
    assert browser.submit("/login", {"name": "ann", "password": "x" * 1_000_000}).status_code == 413
    assert browser.submit("/login", {"name": "ann", "password": "x" * 5_000}).status_code == 403
    assert browser.submit("/login", iter([b"x"])).status_code == 411  # type: ignore[arg-type]
    for body in (b'{"name": "ann"}', b"name=%ff%fe&password=x", b"name=\xff", b"&".join(b"a=b" for _ in range(100))):
        assert browser.submit("/login", body).status_code in (400, 403, 429)
    for _ in range(30):
        with socket.create_connection(("127.0.0.1", served.port)) as half:
            half.sendall(f"POST /login HTTP/1.1\r\nHost: 127.0.0.1:{served.port}\r\n".encode())
            half.sendall(f"Origin: {served.address}\r\nContent-Length: 100\r\n\r\nname=".encode())
    assert browser.look("/login").status_code == 200
    assert len(served.log.read_text(encoding="utf-8")) < 5_000


def test_the_password_is_changed_and_the_other_browsers_are_out(served: Served, browser: Browser) -> None:
    browser.be("ann")
    phone = Browser(served)
    phone.be("ann")
    link = f"/join/{own_password_link(served.engine, served.people['ann'])}"
    shown = browser.look(link)
    for header in ("Content-Security-Policy", "X-Frame-Options", "X-Content-Type-Options"):
        assert shown.headers[header]
    assert "no-store" in shown.headers["Cache-Control"]
    assert "<script" not in shown.text
    assert browser.submit(link, {"password": "short"}).status_code == 400
    assert browser.submit(link, {"password": NEW}).status_code == 303
    assert log_in(served.engine, "ann", NEW).name == "ann"
    assert browser.look("/").status_code == 200
    assert phone.look("/").headers["Location"] == "/login"
    set_password(served.engine, "ann", PASSWORD)


def test_every_answer_forbids_frames_and_guessing(browser: Browser) -> None:
    browser.be("boss")
    for path in ("/", "/login", "/results", "/static/x.js", "/media/x.json", "/_stcore/health"):
        headers = browser.look(path).headers
        assert "frame-ancestors 'none'" in headers["Content-Security-Policy"]
        named = ("X-Frame-Options", "X-Content-Type-Options", "Referrer-Policy")
        assert [headers[name] for name in named] == ["DENY", "nosniff", "same-origin"]


@pytest.mark.parametrize(
    ("path", "strangers", "annotators", "managers"),
    [
        ("/_stcore/health", 200, 200, 200),
        ("/_stcore/host-config", 403, 200, 200),
        ("/_stcore/metrics", 403, 404, 404),
        ("//_stcore/metrics", 403, 404, 404),
        ("/_stcore/script-health-check", 403, 404, 404),
        ("/_stcore/agent/openapi.json", 403, 404, 404),
        ("/app/static/secrets.toml", 403, 404, 404),
        ("/media/x.json", 403, 403, 404),
        ("/component/x/y.js", 303, 404, 404),
        ("/whatever", 303, 200, 200),
    ],
)
def test_what_streamlit_serves_beside_pages(
    served: Served, path: str, strangers: int, annotators: int, managers: int
) -> None:
    browsers = {name: Browser(served) for name in ("", "ann", "boss")}
    for name in ("ann", "boss"):
        browsers[name].be(name)
    looked = [browser.look(path).status_code for browser in browsers.values()]
    assert looked == [strangers, annotators, managers]


@pytest.mark.parametrize("name", ["", "judge"], ids=["stranger", "adjudicator"])
def test_uploads_are_for_pages_that_take_files(served: Served, name: str) -> None:
    browser = Browser(served)
    if name:
        browser.be(name)
    address = f"{served.address}/_stcore/upload_file/no-session/no-file"
    assert browser.put(address, data=b"x", timeout=60).status_code == 403


@pytest.mark.slow
def test_limits_https_and_a_base_path_are_settings(served: Served, tmp_path: Path) -> None:
    path = str(served.engine.url.database)
    base = {"STREAMLIT_SERVER_BASE_URL_PATH": "judge/here", "AUDIT_LOGIN_HOURS": "1"}
    options = ("--https",)
    with app_server(path, tmp_path / "log.txt", *options, environment=base, base="/judge/here") as address:
        there = Browser(Served(address, served.engine, tmp_path / "log.txt"))
        assert there.look("/results").headers["Location"] == "/judge/here/login?next=results"
        answer = there.enter("judge")
        assert answer.headers["Location"] == "/judge/here/"
        assert {"Secure", "Path=/judge/here"} <= set(answer.headers["Set-Cookie"].split("; "))
        login = answer.headers["Set-Cookie"].partition("=")[2].partition(";")[0]
        expires, *_ = unsign(served.engine, LOGIN, login)
        assert 3_500 < expires - time.time() <= 3_600
    assert login_of(served.engine, served.people["judge"])
