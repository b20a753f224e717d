"""A database with a bit of everything, and walking through every page of the app with it in a real Chromium."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from app_driver import PASSWORD, Prepared, prepare
from asked_driver import MANY, ROWS, import_rows
from browser_driver import Window, until
from selenium.common.exceptions import StaleElementReferenceException
from sqlalchemy import ColumnElement, or_

from audit.judging.accounts import add_account
from audit.judging.adjudications import adjudicate, disputes
from audit.judging.control_questions import KnownText, add_known
from audit.judging.invitations import Terms, invite, own_password_link
from audit.judging.judgements import flag, judge
from audit.judging.queue import next_question
from audit.judging.samples import ask_next, draw_validity
from audit.sampling.options import SampleOptions
from audit.sampling.validity import ValidityRequest
from audit.store import table_of, tables
from audit.studies.plan import read_plan
from audit.studies.versions import set_plan
from audit.tasks import Input
from audit.ui.pages import pages_for

JUDGED = 24
"""Questions that each of the two annotators answers before the walk begins."""
ASKED = {
    "text": ("sentiment", "input"),
    "group": ("sentiment", "group"),
    "two texts": ("similarity", "pair"),
    "summary": ("summarization", "pair"),
    "own labels": ("classification", "input"),
    "several labels": (MANY, "input"),
    "inference": ("inference", "input"),
    "answer": ("question-answering", "pair"),
    "translation": ("translation", "pair"),
}
"""Kinds of questions as annotators see them: name -> (task, kind); the kind is only a wish."""
_PLAN = {
    "name": "films",
    "study": {"corpus": "rotten-tomatoes", "systems": ["vader", "textblob"], "relations": ["MR1.4"]},
    "sample": {"base": 10},
}


def prepare_everything(folder: Path) -> Prepared:
    """The accounts of `app_driver.prepare`, with questions of every task; answers, disputes, flags, spot checks,
    settled disputes, false satisfactions, known questions, an invitation and a plan."""
    import_rows(folder / "audit.db", *ROWS)
    prepared = prepare(folder / "audit.db")  # its study is the last, which pages begin with
    engine = prepared.engine
    ask_next(engine, SampleOptions(20))
    draw_validity(engine, ValidityRequest(6, annotators=2, asks="groups"))
    labels: dict[int, tuple[str, ...]] = {}
    for number in range(JUDGED):
        for account in (prepared.ann, prepared.ben):
            if shown := next_question(engine, account.id):
                labels[shown.id] = shown.labels
                if number % 7 == 6 and account is prepared.ben:
                    flag(engine, account.id, shown.id, "cut off")
                else:
                    other = number % 3 == 0 and account is prepared.ben
                    judge(engine, account.id, shown.id, shown.labels[-1 if other else 0])
    for question in disputes(engine, prepared.judge.id)[:2]:
        adjudicate(engine, prepared.judge.id, question, [labels[question][-1]], "for the walk", code="slip")
    invite(engine, Terms(role="annotator"), by=prepared.boss.id)
    add_known(engine, "gold", [KnownText(Input.of("The film is in colour."), ("neutral",), "Only a fact.")])
    set_plan(engine, read_plan(_PLAN), by=prepared.boss.id)
    return prepared


@contextmanager
def only(prepared: Prepared, task: str, kind: str) -> Iterator[str]:
    """While it lasts, questions of this task alone are asked, and of this kind where the task has such; gives the name
    of an annotator who has answered nothing."""
    question, name = table_of(tables.Question), f"reader-{time.monotonic_ns()}"
    add_account(prepared.engine, name, "annotator", PASSWORD)
    of_task: ColumnElement[bool] = or_(question.c.task == task, question.c.task.like(f"{task}/%"))
    with prepared.engine.begin() as connection:
        terms = (question.c.id, question.c.filled, question.c.priority, question.c.annotators)
        before = connection.execute(question.select().with_only_columns(*terms)).mappings().all()
        if connection.execute(question.select().where(of_task, question.c.kind == kind)).first():
            of_task = of_task & (question.c.kind == kind)
        connection.execute(question.update().values(filled=True))
        connection.execute(question.update().where(of_task).values(filled=False, priority=0, annotators=9))
    yield name
    with prepared.engine.begin() as connection:
        for row in before:
            connection.execute(question.update().where(question.c.id == row["id"]).values(dict(row)))


def settle(window: Window) -> None:
    """Wait until Streamlit has run the page, and what it draws has come."""
    state = "return document.querySelector('.stApp')?.dataset.testScriptState"
    busy = '[data-testid="stSpinner"], [data-testid="stSkeleton"], [data-stale="true"]'
    quiet = 0
    for _ in range(1200):
        quiet = quiet + 1 if window.script(state) == "notRunning" and not window.all(busy) else 0
        if quiet == 4:
            return
        time.sleep(0.05)
    raise AssertionError("the page does not come to rest")


@dataclass(frozen=True)
class View:
    """What was on the screen when a look was taken: the page, and the tab that was open."""

    page: str
    part: str = ""

    def __str__(self) -> str:
        return f"{self.page}: {self.part}" if self.part else self.page


_SWITCHES = '.stMain [role="tab"], .stMain [data-testid="stButtonGroup"] [role="radio"]'


def visit(window: Window, page: str, look: Callable[[View], None]) -> None:
    """Look at the open page, with its expanders open and each of its tabs and modes in turn."""
    settle(window)
    _open_expanders(window)
    look(View(page))
    for number in range(1, len(window.all(_SWITCHES))):
        switches = window.all(_SWITCHES)
        if number >= len(switches):
            break
        try:
            name = switches[number].text
            window.driver.execute_script("arguments[0].scrollIntoView({block: 'center'})", switches[number])
            switches[number].click()
        except StaleElementReferenceException:
            continue
        settle(window)
        _open_expanders(window)
        look(View(page, name))


def _open_expanders(window: Window) -> None:
    window.script("document.querySelectorAll('.stMain details:not([open]) > summary').forEach(e => e.click())")
    settle(window)


def walk(prepared: Prepared, window: Window, address: str, look: Callable[[View], None]) -> list[View]:
    """Log in as each role and look at every page that it has; returns all views."""
    views: list[View] = []

    def seen(view: View) -> None:
        views.append(view)
        look(view)

    seen(View("login"))
    for name in ("judge", "boss"):
        _begin(window, address, name)
        for page in pages_for(getattr(prepared, name).role):
            window.driver.get(f"{address}/{page.name}")
            until(lambda: window.all(".st-key-log-out"))
            visit(window, f"{name}: {page.name}", seen)
    window.driver.get(f"{address}/join/{own_password_link(prepared.engine, prepared.ann.id)}")
    seen(View("password"))
    secret = invite(prepared.engine, Terms(role="annotator"), by=prepared.boss.id)
    _end(window, address)
    window.driver.get(f"{address}/join/{secret}")
    seen(View("join"))
    for kind, (task, wish) in ASKED.items():
        with only(prepared, task, wish) as name:
            _begin(window, address, name)
            until(lambda: window.all(".st-key-gate-begin"))
            settle(window)
            seen(View(f"gate: {kind}"))
            window.press("n")
            until(lambda: window.all(".st-key-answer-bar"))
            settle(window)
            seen(View(f"judge: {kind}"))
            window.press("g")
            settle(window)
            window.press("u")
            settle(window)
            seen(View(f"judge: {kind}, guideline folded"))
    with only(prepared, "no such task", "input") as name:
        _begin(window, address, name)
        until(lambda: window.all(".audit-question"))
        settle(window)
        seen(View("judge: nothing left"))
    return views


def _begin(window: Window, address: str, name: str) -> None:
    _end(window, address)
    window.driver.get(f"{address}/login")
    window.log_in(name)


def _end(window: Window, address: str) -> None:
    """Forget the login, not the language."""
    for cookie in window.driver.get_cookies():
        if cookie["name"].startswith("audit_login"):
            window.driver.delete_cookie(cookie["name"])
    window.driver.get(f"{address}/login")
