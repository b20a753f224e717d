"""From an empty folder to the first answer of an annotator who was invited, all in the browser: in at most 15 clicks
and five minutes. Then a second one, who is on a list with their study; one count of open questions; and the export."""

import re
import time
from pathlib import Path

import pytest
from app_server import app_server
from browser_driver import Window, until
from sqlalchemy import select

from audit.false_satisfaction.questions import queue_length
from audit.judging.accounts import account_details, list_accounts
from audit.judging.invitations import Terms, invite
from audit.store import open_store, table_of, tables
from audit.studies.next_step import next_step, standing
from audit.ui.language import text_in

pytestmark = pytest.mark.browser
MOST_CLICKS, MOST_SECONDS = 15, 300
PASSWORD = "long enough"
ROOMS = ("room", "breakfast", "pool", "garden", "view", "bed", "bath", "lobby", "bar", "lift")
TEXTS = [f"The {room} was {word} and we liked it." for room in ROOMS for word in ("great", "lovely", "clean")]


class Counting(Window):
    """A window that counts the clicks of whoever uses it."""

    clicks = 0

    def click(self, selector: str, text: str) -> None:
        Counting.clicks += 1
        super().click(selector, text)

    def enter(self, link: str, button: str, name: str) -> None:
        """Open an invitation, and choose a name and a password."""
        self.driver.get(link)
        until(lambda: self.all("input[name=password]"))
        self.all("input[name=name]")[0].send_keys(name)
        self.all("input[name=password]")[0].send_keys(PASSWORD)
        self.click("button.main", button)

    def tick(self, name: str) -> None:
        """Click the check box with this title, and see it ticked."""
        Counting.clicks += 1
        code = (
            "const box = [...document.querySelectorAll('[data-testid=stCheckbox]')]"
            ".find(e => e.innerText.trim() == arguments[0]); return box && box.querySelector('input')"
        )
        box = until(lambda: self.driver.execute_script(code, name))
        self.driver.execute_script("arguments[0].click()", box)
        until(lambda: self.driver.execute_script(code + ".checked", name))


@pytest.mark.parametrize("language", ["en", "zh"])
def test_from_nothing_to_the_first_answer(tmp_path: Path, language: str) -> None:
    def said(key: str) -> str:
        return text_in(language, key)

    reviews = tmp_path / "hotels.csv"
    lines = [f"{number},{text},{'pos' if number % 2 else 'neg'}" for number, text in enumerate(TEXTS)]
    reviews.write_text("\n".join(["nr,review,label", *lines]) + "\n", encoding="utf-8")
    folder, began, Counting.clicks = tmp_path / "new", time.monotonic(), 0
    folder.mkdir()
    with app_server(str(folder / "audit.db"), tmp_path / "log.txt") as address:
        (link,) = re.findall(r"http://\S+/join/\S+", (tmp_path / "log.txt").read_text(encoding="utf-8"))
        with Counting(f"{address}/login", tmp_path / "mia", language) as mia:
            mia.enter(f"{link}?lang={language}", said("first.enter"), "mia")
            mia.see(said("own_texts.title"))
            until(lambda: mia.all("input[type=file]"))
            Counting.clicks += 1  # the file is chosen in a window of the browser's
            mia.all("input[type=file]")[0].send_keys(str(reviews))
            mia.see(said("own_texts.use"))
            mia.picture(f"begin-{language}-texts")
            mia.click("button", said("own_texts.use"))
            mia.see(text_in(language, "own_texts.stored", name="hotels"))
            for system in ("vader", "hiv4"):
                mia.tick(system)
            mia.picture(f"begin-{language}-form")
            mia.click("button", said("studies.store_and_run"))
            until(lambda: said("menu.accounts") in mia.text() and mia.all(".st-key-next-step-studies a"), 240)
            mia.picture(f"begin-{language}-run")
            mia.click(".st-key-next-step-studies a", said("menu.accounts"))
            mia.click("button", said("invite.make"))
            invitation = until(lambda: mia.all(".st-key-new-link code"))[0].text.strip()
            mia.picture(f"begin-{language}-invited")
            with Counting(f"{address}/login", tmp_path / "ann", language) as ann:
                ann.enter(f"{invitation}?lang={language}", said("join.enter"), "ann")
                until(ann.question)
                ann.picture(f"begin-{language}-question")
                ann.judge("1")
                Counting.clicks += 1
            clicks, seconds = Counting.clicks, time.monotonic() - began
            print(f"{clicks} clicks, {seconds:.0f} s")
            assert clicks <= MOST_CLICKS
            assert seconds <= MOST_SECONDS
            engine = open_store(str(folder / "audit.db"))
            judgement = table_of(tables.Judgement)
            with engine.connect() as connection:
                assert len(connection.execute(select(judgement.c.answer)).all()) == 1
            roles = {account.name: account for account in list_accounts(engine)}
            assert {name: account.role for name, account in roles.items()} == {"ann": "annotator", "mia": "manager"}
            assert next_step(standing(engine, by=roles["mia"].id)).code == "judging"

            link = f"{address}/join/{invite(engine, Terms(studies=(1,)), by=roles['mia'].id)}"
            with Counting(f"{address}/login", tmp_path / "ben", language) as ben:
                ben.driver.get(f"{link}?lang={language}")
                until(lambda: ben.all("input[name=password]"))
                ben.all("input[name=name]")[0].send_keys("ben")
                ben.all("input[name=password]")[0].send_keys(PASSWORD)
                ben.click("button.main", said("join.enter"))
                until(ben.question)
                ben.judge("1")
            people = {account.name: account.studies for account in account_details(engine)}
            assert people == {"ann": (), "ben": (1,), "mia": ()}
            waiting = queue_length(engine).waiting
            mia.driver.get(f"{address}/dashboard")
            mia.see(text_in(language, "step_next.judging", count=waiting, people=2))
            tile = until(lambda: mia.all(".audit-tiles"))[0]
            until(lambda: str(waiting) in tile.text.split())
            mia.picture(f"begin-{language}-dashboard")
            mia.driver.get(f"{address}/data")
            mia.click("button", said("data.make_export"))
            until(lambda: mia.all("[data-testid=stDownloadButton] button"), 120)
            mia.picture(f"begin-{language}-export")
