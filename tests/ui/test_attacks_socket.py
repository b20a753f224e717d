"""Forged messages of Streamlit's websocket, and pages by their addresses, on a real `audit app`."""

from collections.abc import Iterator

import pytest
import requests
from app_driver import PASSWORD, Prepared, prepare
from app_server import app_server
from http_driver import PAGE, Browser, Served
from socket_driver import PATIENCE, Screen, Session, session

from audit.judging.accounts import change_account, disable_account, enable_account, set_password
from audit.judging.judgements import judge
from audit.judging.queue import next_question
from audit.judging.sign_in import end_logins
from audit.ui.annotate import LEAST
from audit.ui.language import text_in
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
    import time

    time.sleep(2 * LEAST.total_seconds())
    return work.press(screen, id, **more)


def test_what_is_sent_honestly_is_stored(served: Served, content) -> None:  # type: ignore[no-untyped-def]
    """The driver's own proof: without it the tests below would show nothing."""
    before = history(content, served)
    with as_(served, "ann") as work:
        screen = work.open()
        after = slow(work, screen, screen.id("judge-"))
        assert shown(after) != shown(screen)
    assert len(history(content, served)["judgement"]) == len(before["judgement"]) + 1


def test_a_button_of_another_question_does_nothing(served: Served, content) -> None:  # type: ignore[no-untyped-def]
    with as_(served, "ann") as work:
        screen = work.open()
        own = shown(screen)
        before = history(content, served)
        for other in (own + 1, own + 2, 999_999, -1):
            forged = screen.id("judge-").replace(f"judge-{own}-", f"judge-{other}-")
            after = slow(work, screen, forged)
            assert shown(after) == own
        for name in ("skip", "flag"):
            forged = screen.id(f"{name}-").replace(str(own), str(own + 1))
            assert shown(slow(work, screen, forged)) == own
        assert history(content, served) == before


def test_a_button_that_the_page_has_not(served: Served, content) -> None:  # type: ignore[no-untyped-def]
    """Keys of buttons that other pages have for managers, and of labels that there are none of."""
    with as_(served, "ann") as work:
        screen = work.open()
        before = history(content, served)
        own = screen.id("judge-")
        label = own.rsplit("-", 1)[1]
        for forged in (
            own.replace(f"-{label}", "-withdrawn"),
            "$$ID-0-disable-1",
            f"settle-{shown(screen)}",
            "x" * 100_000,
            "",
        ):
            assert shown(slow(work, screen, forged)) == shown(screen)
        assert history(content, served) == before


@pytest.mark.parametrize("name", MANAGERS)
def test_the_hash_of_a_page_of_others_opens_it_for_nobody(served: Served, content, name: str) -> None:  # type: ignore[no-untyped-def]
    with as_(served, "boss") as manager:
        hashes = manager.open().pages
    before = history(content, served)
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


@pytest.mark.parametrize("origin", ["https://evil.example", "http://127.0.0.1:1", "http://localhost:8501"])
def test_another_site_s_page_is_not_connected(served: Served, origin: str) -> None:
    """Cross-site websocket hijacking: the browser sends the cookie, and the Origin tells."""
    import websockets

    sent = cookie(served, "ann")
    with pytest.raises(websockets.exceptions.InvalidStatus), session(served.address, sent, origin):
        pass


@pytest.mark.parametrize("path", ["/", "/login", "/results", "/static/x.js", "/media/x.json", "/_stcore/health"])
def test_every_answer_forbids_frames_and_guessing(served: Served, path: str) -> None:
    browser = Browser(served)
    browser.be("boss")
    headers = browser.look(path).headers
    assert "frame-ancestors 'none'" in headers["Content-Security-Policy"]
    assert headers["X-Frame-Options"] == "DENY"
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Referrer-Policy"] == "same-origin"


@pytest.mark.parametrize("sent", ["", "made-up", "x" * 4_000], ids=["none", "made-up", "long"])
def test_strangers_get_no_session(served: Served, sent: str) -> None:
    """And what they try leaves the log short, and the app as it was."""
    import websockets

    sent = sent and f"audit_login_{served.port}={sent}"
    with pytest.raises(websockets.exceptions.InvalidStatus), session(served.address, sent):
        pass
    assert requests.get(f"{served.address}/", headers=PAGE, allow_redirects=False).status_code == 303


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


def put(served: Served, name: str, content: bytes | Iterator[bytes]) -> int:
    """The status of an upload, in a true session of this account's page; 0 where the server hangs up on it."""
    browser = Browser(served)
    if name:
        browser.be(name)
    address = f"{served.address}/_stcore/upload_file/no-session/no-file"
    try:
        return browser.put(address, data=content, timeout=PATIENCE).status_code
    except requests.ConnectionError:
        return 0


@pytest.mark.parametrize("name", ["", "judge"], ids=["stranger", "adjudicator"])
def test_uploads_are_for_pages_that_take_files(served: Served, name: str) -> None:
    assert put(served, name, b"x") == 403


def test_a_question_that_is_answered_elsewhere_is_refused_by_the_message(
    world: tuple[Served, Prepared], content
) -> None:  # type: ignore[no-untyped-def]
    """A replayed message: the question was answered meanwhile, in another tab."""
    served, prepared = world
    with as_(served, "judge") as work:
        page = work.open().pages["annotate"]
        screen = work.open(page)
        shown_now = next_question(prepared.engine, prepared.judge.id)
        assert shown_now is not None
        judge(prepared.engine, prepared.judge.id, shown_now.id, "positive")
        before = history(content, served)
        after = slow(work, screen, screen.id("judge-"))
        assert text_in("en", "refused.not_leased")[:30].lower() in "".join(after.said).replace("\\", "").lower()
        assert history(content, served) == before
