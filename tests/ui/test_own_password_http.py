"""Changing one's own password over HTTP, and what is tried against it, on a real `audit app`."""

from collections.abc import Iterator

import pytest
from app_server import app_server
from http_driver import PASSWORD, Browser, Served, people_of

from audit.annotation.accounts import add_account, cookie_key, form_token, log_in, new_token, open_login, set_password
from audit.ui.language import text_in

NEW = "another horse, staple"


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("password")
    engine, people = people_of(folder / "audit.db")
    people["eve"] = add_account(engine, "eve", "annotator", None).id
    with app_server(str(folder / "audit.db"), folder / "log.txt") as address:
        yield Served(address, engine, folder / "log.txt", people)


@pytest.fixture
def browser(served: Served) -> Browser:
    return Browser(served)


def filled(browser: Browser, present: str = PASSWORD, new: str = NEW, again: str | None = None) -> dict[str, str]:
    return browser.form("/password") | {"present": present, "new": new, "again": new if again is None else again}


def still(served: Served, name: str, password: str = PASSWORD) -> bool:
    return log_in(served.engine, name, password).name == name


def test_the_password_is_changed_and_the_other_browsers_are_out(served: Served, browser: Browser) -> None:
    browser.be("ann")
    phone = Browser(served)
    phone.be("ann")
    answer = browser.submit("/password", filled(browser))
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


def test_strangers_log_in_first(browser: Browser) -> None:
    assert browser.look("/password").headers["Location"] == "/login?next=account"
    assert browser.submit("/password", {"present": PASSWORD, "new": NEW, "again": NEW}).status_code == 303


@pytest.mark.parametrize(
    ("present", "new", "again", "status", "key"),
    [
        (PASSWORD, NEW, NEW + "!", 400, "account.differ"),
        (PASSWORD, "short", "short", 400, None),
        (PASSWORD, PASSWORD, PASSWORD, 400, "account.same_password"),
        ("a guess", NEW, NEW, 403, "account.present_password_wrong"),
    ],
)
def test_what_is_refused_says_why_and_changes_nothing(
    served: Served, browser: Browser, content, present: str, new: str, again: str, status: int, key: str | None
) -> None:  # type: ignore[no-untyped-def]
    browser.be("ben")
    form = filled(browser, present, new, again)
    before = content(served.engine)
    answer = browser.submit("/password", form)
    assert answer.status_code == status
    assert 'role="alert"' in answer.text
    if key:
        assert text_in("en", key).rstrip(".").lower() in answer.text.lower()
    assert content(served.engine) == before
    assert still(served, "ben")


@pytest.mark.parametrize("attack", ["no form", "forged", "token", "another's", "login form", "origin", "site"])
def test_a_forged_form_is_refused(served: Served, browser: Browser, content, attack: str) -> None:  # type: ignore[no-untyped-def]
    browser.be("ben")
    other = Browser(served)
    other.be("cy")
    form, headers = filled(browser), {}
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


def test_a_form_that_is_sent_again_finds_another_password(served: Served, browser: Browser) -> None:
    token = new_token()
    open_login(served.engine, served.people["cy"], cookie_key(token))
    browser.show(token)
    form = filled(browser)
    assert browser.submit("/password", form).status_code == 200
    assert browser.submit("/password", form).status_code == 403
    assert still(served, "cy", NEW)
    set_password(served.engine, "cy", PASSWORD)
    # The login has ended with the manager's change: the form leads to logging in.
    assert browser.submit("/password", form).headers["Location"] == "/login?next=account"


def test_an_account_of_a_provider_has_none(served: Served, browser: Browser, content) -> None:  # type: ignore[no-untyped-def]
    browser.be("eve")
    shown = browser.look("/password")
    assert shown.status_code == 403
    assert text_in("en", "account.no_password") in shown.text
    assert "<form" not in shown.text
    before = content(served.engine)
    form = {"form": form_token(str(browser.token)), "present": "", "new": NEW, "again": NEW}
    assert browser.submit("/password", form).status_code == 400
    assert content(served.engine) == before


def test_guesses_wait_and_share_their_count_with_logging_in(served: Served, browser: Browser) -> None:
    browser.be("judge")
    for _ in range(5):
        assert browser.submit("/password", filled(browser, "a guess")).status_code == 403
    late = browser.submit("/password", filled(browser))
    assert late.status_code == 429
    assert late.headers["Retry-After"]
    assert Browser(served).enter("judge").status_code == 429
    assert still(served, "judge")


def test_a_megabyte_and_what_is_no_form_change_nothing(served: Served, browser: Browser) -> None:
    browser.be("boss")
    assert browser.submit("/password", filled(browser, new="x" * 1_000_000)).status_code == 413
    assert browser.submit("/password", b"{}", **{"Content-Type": "application/json"}).status_code == 415
    assert (
        browser.submit("/password", b"\xff\xfe", **{"Content-Type": "application/x-www-form-urlencoded"}).status_code
        == 400
    )
    assert still(served, "boss")


def test_the_page_speaks_chinese(browser: Browser) -> None:
    browser.be("boss")
    page = browser.look("/password?lang=zh").text
    assert '<html lang="zh">' in page
    assert text_in("zh", "account.present") in page
    assert 'href="/password?lang=en"' in page
