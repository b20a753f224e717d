"""The pictures of the app in docs/pictures, from a demo database.

python tests/benchmarks/pictures.py                       # makes a demo database first, about two minutes
python tests/benchmarks/pictures.py --db audit-demo.db    # a copy of this one, beside which its report may lie
python tests/benchmarks/pictures.py --to /tmp/look --only dispute,long

People who exist only in the copy judge, disagree and flag, so that each page has something to show. A picture that
cannot be made is named at the end, and those that are there stay as they are.
"""

import argparse
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tests" / "ui")]

from app_driver import PASSWORD  # noqa: E402
from app_server import app_server  # noqa: E402
from browser_driver import Window  # noqa: E402
from PIL import Image  # noqa: E402
from selenium.webdriver.common.keys import Keys  # noqa: E402
from sqlalchemy import String, cast, func  # noqa: E402
from walk_driver import settle  # noqa: E402

from audit.judging.accounts import add_account  # noqa: E402
from audit.judging.adjudications import adjudicate, disputes  # noqa: E402
from audit.judging.judgements import flag, judge  # noqa: E402
from audit.judging.queue import next_question  # noqa: E402
from audit.judging.samples import ask_next, draw_validity  # noqa: E402
from audit.sampling.samples import SampleOptions  # noqa: E402
from audit.sampling.validity import ValidityRequest  # noqa: E402
from audit.store import open_store, table_of, tables  # noqa: E402
from audit.ui.language import text_in  # noqa: E402

PEOPLE = {"ann": "annotator", "bob": "annotator", "eve": "annotator", "judge": "adjudicator", "boss": "manager"}
JUDGED = 40
"""Questions that ann and bob answer."""
COLOURS = 64
MOST_BYTES = 150_000
LONG = 1500
"""Characters from which a text is long."""
_SEEN = "return document.querySelector(arguments[0])?.checkVisibility()"


@dataclass(frozen=True)
class Picture:
    """A picture: who sees which page, what is done there, and how large the window is."""

    name: str
    who: str
    page: str = ""
    act: Callable[["Window", str], None] | None = None
    language: str = "en"
    size: tuple[int, int] = (1280, 720)
    asks: str = ""
    """`text`, `long` or `group`: the only questions that are open meanwhile."""


def wait_for(window: Window, selector: str, patience: float = 60) -> None:
    end = time.monotonic() + patience
    while not window.driver.execute_script(_SEEN, selector):
        if time.monotonic() > end:
            raise TimeoutError(f"{selector} did not come")
        time.sleep(0.1)


def begin(window: Window, language: str) -> None:
    """Past the guideline."""
    wait_for(window, ".st-key-answer-bar, .st-key-gate-begin")
    if window.all(".st-key-gate-begin"):
        window.press("n")
        wait_for(window, ".st-key-answer-bar")


def read_on(window: Window, language: str) -> None:
    begin(window, language)
    time.sleep(1)
    window.press(Keys.SPACE)


def until_marked(window: Window, language: str) -> None:
    """Answer until a version of a text before is shown, with what differs marked."""
    begin(window, language)
    for _ in range(40):
        if window.driver.execute_script(_SEEN, ".audit-legend"):
            return
        window.press("1")
        time.sleep(0.6)
    raise TimeoutError("no other version of a text came in 40 answers")


def causes(window: Window, language: str) -> None:
    """Choose the mode of the page *Adjudicate* with false satisfactions, whatever its number."""
    words = text_in(language, "causes.causes", count=987).split("987")[0].strip("（( ")
    radios = [radio for radio in window.all('[role="radio"]') if radio.text.strip().startswith(words)]
    radios[0].click()


def decide(window: Window, language: str) -> None:
    """As it is before Enter: a label and a reason."""
    window.press("1")
    window.press("e")


def own_answers(window: Window, language: str) -> None:
    """The page of the menu that is neither the first nor the last."""
    window.all('[data-testid="stSidebarNavLink"]')[1:-1][0].click()


PICTURES = (
    Picture("annotate", "eve", act=begin, asks="text"),
    Picture("long", "eve", act=read_on, language="zh", asks="long"),
    Picture("group", "eve", act=begin, asks="group", size=(1280, 577)),
    Picture("own-answers", "ann", act=own_answers),
    Picture("dispute", "judge", "adjudicate", act=decide),
    Picture("causes", "judge", "adjudicate", act=causes),
    Picture("results", "boss", "results", size=(1280, 1160)),
    Picture("versions", "ann", act=until_marked, asks="text"),
)
REPORT = (1100, 1255)


def demo(folder: Path) -> Path:
    subprocess.run([sys.executable, "-m", "audit", "demo", "--no-serve"], cwd=folder, check=True)
    return folder / "audit-demo.db"


def copied(database: Path, folder: Path) -> Path:
    """A copy in which PEOPLE have worked."""
    import sqlite3

    path = folder / "pictures.db"
    with sqlite3.connect(database) as source, sqlite3.connect(path) as target:
        source.backup(target)
    engine = open_store(str(path))
    accounts = {name: add_account(engine, name, role, PASSWORD).id for name, role in PEOPLE.items()}
    ask_next(engine, SampleOptions(60))
    draw_validity(engine, ValidityRequest(4, annotators=2, asks="groups"))
    for number in range(JUDGED):
        shown = next_question(engine, accounts["ann"])
        if shown is None:
            break
        since = datetime.now(UTC) - timedelta(seconds=6 + number % 7)
        judge(engine, accounts["ann"], shown.id, shown.labels[0], shown_at=since)
        other = next_question(engine, accounts["bob"])
        if other is None:
            continue
        if number % 8 == 5:
            flag(engine, accounts["bob"], other.id, "The sentence breaks off.")
        else:
            agrees = number % 3
            label = other.labels[0 if agrees else -1]
            comment = None if agrees else "Irony, I think."
            judge(engine, accounts["bob"], other.id, label, shown_at=since, comment=comment)
    for question in disputes(engine, accounts["judge"])[:1]:
        adjudicate(engine, accounts["judge"], question, [shown_label(engine, question)], "", code="figurative")
    engine.dispose()
    return path


def shown_label(engine, question: int) -> str:
    """The answer that somebody gave to it first."""
    judgement = table_of(tables.Judgement)
    with engine.connect() as connection:
        query = judgement.select().with_only_columns(judgement.c.answer).where(judgement.c.question_id == question)
        return str(connection.execute(query.order_by(judgement.c.id)).scalars().first())


@contextmanager
def only(path: Path, asks: str):
    """While it lasts, only such questions are open, and to everybody who has not answered them."""
    engine = open_store(str(path))
    question, texts = table_of(tables.Question), table_of(tables.Input)
    length = func.length(cast(texts.c.texts, String))
    kinds = {
        "text": (question.c.kind == "input") & (length < 400),
        "long": (question.c.kind == "input") & (length > LONG),
        "group": (question.c.kind == "group") & (length < 400),
    }
    columns = (question.c.id, question.c.filled, question.c.annotators)
    with engine.begin() as connection:
        before = connection.execute(question.select().with_only_columns(*columns)).mappings().all()
        connection.execute(table_of(tables.Lease).delete())
        if asks:
            joined = question.join(texts, texts.c.id == question.c.input_id)
            wanted = joined.select().with_only_columns(question.c.id).where(kinds[asks])
            connection.execute(question.update().where(question.c.id.not_in(wanted)).values(filled=True))
            connection.execute(question.update().where(question.c.id.in_(wanted)).values(filled=False, annotators=9))
    yield
    with engine.begin() as connection:
        for row in before if asks else ():
            connection.execute(question.update().where(question.c.id == row["id"]).values(dict(row)))
    engine.dispose()


def save(window: Window, target: Path) -> str:
    """The window as a small PNG; says how large it is."""
    time.sleep(1)
    window.driver.save_screenshot(str(target))
    Image.open(target).convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE).save(target, optimize=True)
    size = target.stat().st_size
    return f"{target.name} {size:,} bytes" + (" - too large" if size > MOST_BYTES else "")


def take(address: str, picture: Picture, target: Path, profile: Path) -> str:
    with Window(f"{address}/login", profile, picture.language, reads=True) as window:
        window.resize(*picture.size)
        window.log_in(picture.who)
        if picture.page:
            window.driver.get(f"{address}/{picture.page}")
        settle(window)
        if picture.act:
            picture.act(window, picture.language)
        settle(window)
        return save(window, target)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--db", type=Path, help="a database of `audit demo`")
    parser.add_argument("--to", type=Path, default=ROOT / "docs" / "pictures")
    parser.add_argument("--only", default="", help="names, with commas between them")
    options = parser.parse_args()
    names = set(filter(None, options.only.split(",")))
    wanted = [picture for picture in PICTURES if not names or picture.name in names]
    options.to.mkdir(parents=True, exist_ok=True)
    missing = []
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        database = options.db or demo(folder)
        report = database.with_suffix(".html")
        path = copied(database, folder)
        with app_server(str(path), folder / "log.txt") as address:
            for picture in wanted:
                name = picture.name + ("" if picture.language == "en" else f"-{picture.language}")
                try:
                    with only(path, picture.asks):
                        print(take(address, picture, options.to / f"{name}.png", folder / f"p-{name}"), flush=True)
                except (Exception, SystemExit) as problem:  # the next pictures do not depend on it
                    missing.append(f"{name}: {type(problem).__name__} {str(problem).splitlines()[0][:120]}")
        if report.exists() and (not names or "report" in names):
            with Window(report.resolve().as_uri(), folder / "p-report") as window:
                window.resize(*REPORT)
                print(save(window, options.to / "report.png"))
    for line in missing:
        print(f"not made: {line}")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
