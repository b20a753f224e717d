"""From key to the next question on the screen of a real Chromium, and a key that is held down.

python tests/benchmarks/browser_keys.py                       # 100 judgements, SQLite
python tests/benchmarks/browser_keys.py --store postgresql
python tests/benchmarks/browser_keys.py --others 49           # while so many simulated annotators work, too

The clock is the page's own: from the key event to the frame after the one in which the next question's text was put
into the page, when it is painted. Keys are trusted events, sent one by one, each 0.4 to 0.8 s after the question came.
Then a key is held down for two seconds with the repeats of a keyboard. What is in the database is counted at the end.
"""

import argparse
import asyncio
import os
import random
import shutil
import signal
import statistics
import tempfile
import threading
import time
from pathlib import Path

from app_load import PASSWORD, Annotator, Counts, Server, place_for, prepared
from selenium import webdriver
from sqlalchemy import func, select

from audit.store import table_of, tables

PATIENCE = 60
NAME = "a0"
KEYS = "1231u"
CLOCK = """
const text = () => (document.querySelector(".audit-large") || {}).innerText;
window.audit = {times: [], pressed: null, before: null};
window.addEventListener("keydown", (event) => {
  if (!event.repeat) { window.audit.pressed = event.timeStamp; window.audit.before = text(); }
}, true);
new MutationObserver(() => {
  const {pressed, before} = window.audit, now = text();
  if (pressed === null || !now || now === before) return;
  window.audit.pressed = null;
  requestAnimationFrame(() => requestAnimationFrame(() => window.audit.times.push(performance.now() - pressed)));
}).observe(document.body, {childList: true, subtree: true, characterData: true});
"""


def opened(address, profile):
    """A Chromium in which somebody has logged in and sees a question."""
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium") or shutil.which("google-chrome")
    for flag in (
        "headless=new", "no-sandbox", "disable-gpu", "disable-quic", "no-first-run", "disable-background-networking",
        "disable-component-update", "disable-sync", "disable-dev-shm-usage", "window-size=1280,720",
        f"user-data-dir={profile}",
    ):  # fmt: skip
        options.add_argument(f"--{flag}")
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(shutil.which("chromedriver")))
    driver.get(f"http://{address}/login")
    until(lambda: driver.find_elements("css selector", "input[name=password]"))
    driver.find_element("css selector", "input[name=name]").send_keys(NAME)
    driver.find_element("css selector", "input[name=password]").send_keys(PASSWORD + "\n")
    until(lambda: driver.find_elements("css selector", ".audit-large"))
    time.sleep(2)
    driver.execute_script(CLOCK)
    return driver


def until(condition):
    end = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > end:
            raise SystemExit("the page did not come to show what was waited for")
        time.sleep(0.02)


def press(driver, key, kind="keyDown", **more):
    code = f"Digit{key}" if key.isdigit() else f"Key{key.upper()}"
    event = {"type": kind, "key": key, "code": code, "windowsVirtualKeyCode": ord(key.upper()), **more}
    driver.execute_cdp_cmd("Input.dispatchKeyEvent", event | ({} if kind == "keyUp" else {"text": key}))


def judged(engine):
    judgement, annotator = table_of(tables.Judgement), table_of(tables.Annotator)
    query = select(func.count()).select_from(judgement).join(annotator, annotator.c.id == judgement.c.annotator_id)
    with engine.connect() as connection:
        return connection.execute(query.where(annotator.c.name == NAME)).scalar_one()


def keys(driver, number):
    """Milliseconds from each key to the next question."""
    chance = random.Random(1)
    for done in range(1, number + 1):
        time.sleep(chance.uniform(0.4, 0.8))
        key = chance.choice(KEYS)
        press(driver, key)
        press(driver, key, "keyUp")
        until(lambda done=done: driver.execute_script("return window.audit.times.length") >= done)
    return driver.execute_script("return window.audit.times")


def hold(driver, seconds=2):
    time.sleep(0.5)
    press(driver, "1")
    time.sleep(0.4)
    for _ in range(int(seconds * 30)):
        press(driver, "1", autoRepeat=True)
        time.sleep(1 / 30)
    press(driver, "1", "keyUp")
    time.sleep(1)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--number", type=int, default=100, help="judgements (default: 100)")
    parser.add_argument("--store", choices=("sqlite", "postgresql"), default="sqlite")
    parser.add_argument("--others", type=int, default=0, help="simulated annotators meanwhile (default: 0)")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name, place_for(arguments.store, Path(name)) as where:
        engine = prepared(where, arguments.others + 1, 2_500)
        with (Path(name) / "log.txt").open("w+") as log:
            app, driver, stop, counts = Server(where, log), None, threading.Event(), Counts()
            others = threading.Thread(target=lambda: asyncio.run(crowd(app, counts, arguments.others, stop)))
            try:
                others.start()
                driver = opened(app.address, Path(name) / "profile")
                before = os.getloadavg()[0]
                times = keys(driver, arguments.number)
                by_keys = judged(engine)
                hold(driver)
                held = judged(engine) - by_keys
                after = os.getloadavg()[0]
            finally:
                stop.set()
                others.join()
                if driver:
                    driver.quit()
                app.kill(signal.SIGTERM)
        engine.dispose()
    cut = statistics.quantiles(times, n=100)
    print(f"{arguments.store}, {arguments.others} others ({len(counts.acknowledged):,} judgements of theirs); ", end="")
    print(f"load average {before:.1f} before, {after:.1f} after")
    print(
        f"key to the next question: median {cut[49]:.0f} ms, p95 {cut[94]:.0f} ms, most {max(times):.0f} ms, ", end=""
    )
    print(f"n {len(times)}; judgements in the database {by_keys}; of a key held for two seconds {held}")


async def crowd(app, counts, number, stop):
    """Simulated annotators a1, a2, ... at work until then."""
    people = [Annotator(f"a{other}", app, counts) for other in range(1, number + 1)]
    for person in people:
        await asyncio.to_thread(person.log_in)
    done = asyncio.Event()
    working = asyncio.gather(*(person.work(done, 5) for person in people))
    await asyncio.to_thread(stop.wait)
    done.set()
    await working


if __name__ == "__main__":
    main()
