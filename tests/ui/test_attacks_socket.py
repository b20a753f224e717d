"""Forged messages of Streamlit's websocket, and pages by their addresses, on a real `audit app`."""

import time
from collections.abc import Iterator

import pytest
from app_driver import PASSWORD, Prepared, prepare
from app_server import app_server
from http_driver import Browser, Served
from socket_driver import PATIENCE, Screen, Session, session

from audit.judging.accounts import change_account, disable_account, enable_account, set_password
from audit.judging.sign_in import end_logins
from audit.ui.annotate import LEAST
from audit.ui.pages import PAGES

pytestmark = pytest.mark.slow  # a server of its own, and many waits for its guard against keys that come too soon

MANAGERS = [page.name for page in PAGES if "annotator" not in page.roles]


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Served, Prepared]]:
    folder = tmp_path_factory.mktemp("attacks")
    prepared = prepare(folder / "audit.db")
    people = {name: getattr(prepared, name).id for name in ("ann", "ben", "judge", "boss")}
    with app_server(str(prepared.path), folder / "log.txt") as address:
        yield Served(address, prepared.engine, folder / "log.txt", people), prepared


@pytest.fixture
def served(world: tuple[Served, Prepared]) -> Served:
    return world[0]


def cookie(served: Served, name: str) -> str:
    browser = Browser(served)
    browser.be(name)
    return f"audit_login_{served.port}={browser.token}"


def as_(served: Served, name: str):  # type: ignore[no-untyped-def]
    return session(served.address, cookie(served, name))


def history(content, served: Served):  # type: ignore[no-untyped-def]
    return content(served.engine, "judgement", "aside", "adjudication", "annotator", "answer", "log")


def shown(screen: Screen) -> int:
    """The question on the screen."""
    return int(screen.id("judge-").rsplit("-", 2)[1])


def slow(work: Session, screen: Screen, id: str, **more) -> Screen:  # type: ignore[no-untyped-def]
    """Press when the guard against keys that come too soon lets one through."""
    time.sleep(2 * LEAST.total_seconds())
    return work.press(screen, id, **more)


def test_only_a_button_of_the_question_on_the_screen_stores(served: Served, content) -> None:  # type: ignore[no-untyped-def]
    """Keys of other questions, of buttons that managers have, and of labels that there are none of."""
    with as_(served, "ann") as work:
        before = history(content, served)
        screen = work.open()
        screen = slow(work, screen, screen.id("judge-"))
        assert len(history(content, served)["judgement"]) == len(before["judgement"]) + 1
        before, own, button = history(content, served), shown(screen), screen.id("judge-")
        others = [button.replace(f"judge-{own}-", f"judge-{other}-") for other in (own + 1, 999_999, -1)]
        others += [screen.id(f"{name}-").replace(str(own), str(own + 1)) for name in ("skip", "flag")]
        label = button.rsplit("-", 1)[1]
        none = [button.replace(f"-{label}", "-withdrawn"), "$$ID-0-disable-1", f"settle-{own}", "x" * 100_000, ""]
        for forged in (*others, *none):
            assert shown(slow(work, screen, forged)) == own
        assert history(content, served) == before


def test_the_hash_of_a_page_of_others_opens_it_for_nobody(served: Served, content) -> None:  # type: ignore[no-untyped-def]
    with as_(served, "boss") as manager:
        hashes = manager.open().pages
    before = history(content, served)
    for name in MANAGERS:
        with as_(served, "ann") as work:
            own = work.open()
            assert set(own.pages) == {"", "answers", "account"}
            after = work.open(hashes.get(name, hashes[""]))
            # Streamlit shows the first page instead: a question, and no widget of a manager's page.
            assert {key.split("-")[0] for key in after.widgets} == {key.split("-")[0] for key in own.widgets}
            assert shown(after)
    assert history(content, served) == before


ENDS = {
    "logged out": lambda engine, person: end_logins(engine, person.id),
    "disabled": lambda engine, person: disable_account(engine, person.name),
    "another password": lambda engine, person: set_password(engine, person.name, PASSWORD),
}


@pytest.mark.parametrize("how", ENDS)
def test_an_ended_login_writes_nothing_in_a_session_that_is_open(
    world: tuple[Served, Prepared], content, how: str
) -> None:  # type: ignore[no-untyped-def]
    served, prepared = world
    with as_(served, "ben") as work:
        screen = work.open()
        ENDS[how](served.engine, prepared.ben)
        before = history(content, served)
        after = slow(work, screen, screen.id("judge-"))
        assert not any("judge-" in key for key in after.widgets)
        assert history(content, served) == before
    if how == "disabled":
        enable_account(served.engine, "ben")


def test_an_adjudicator_who_is_one_no_more_sees_nothing_in_a_session_that_is_open(served: Served, content) -> None:  # type: ignore[no-untyped-def]
    with as_(served, "judge") as work:
        page = work.open().pages["browse"]
        change_account(served.engine, "judge", "annotator")
        before = history(content, served)
        after = work.open(page)
        assert set(after.pages) <= {"", "answers", "account"}
        assert not any("browse" in key for key in after.widgets)
        assert history(content, served) == before
    change_account(served.engine, "judge", "adjudicator")


@pytest.mark.parametrize("path", ["/", "/login", "/results", "/static/x.js", "/media/x.json", "/_stcore/health"])
def test_every_answer_forbids_frames_and_guessing(served: Served, path: str) -> None:
    browser = Browser(served)
    browser.be("boss")
    headers = browser.look(path).headers
    assert "frame-ancestors 'none'" in headers["Content-Security-Policy"]
    assert headers["X-Frame-Options"] == "DENY"
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Referrer-Policy"] == "same-origin"


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
    assert browser.put(address, data=b"x", timeout=PATIENCE).status_code == 403
