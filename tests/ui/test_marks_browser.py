"""Names marked by keys alone in a real Chromium, by two people who disagree, and settled by an adjudicator."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from app_driver import PASSWORD, Prepared, rows
from app_server import app_server
from browser_driver import Window, until
from sqlalchemy import Engine

from audit.judging.accounts import add_account
from audit.judging.adjudications import disputes, opinions
from audit.judging.judgements import judge
from audit.judging.queue import next_question
from audit.judging.samples import ask_next
from audit.runner.imported import import_run
from audit.sampling.options import SampleOptions
from audit.store import open_store, tables

TEXT = (
    "After the talks in the old town hall had ended late in the evening, Anna Berg told reporters of the Morning "
    "Herald that she would fly back to Lisbon on the next day."
)
NAMES = "68-77 person; 100-114 organisation; 142-148 place"
COUNT = "window.pressed = 0; window.addEventListener('keydown', () => window.pressed++, true)"


def prepared_marks(folder: Path) -> Prepared:
    """A database with one question about names, for two people."""
    line = {
        "task": "entities", "relation": "X", "system": "one", "source": TEXT, "follow_ups": [f"{TEXT} So be it."],
        "outputs": ["68-77 person", "68-77 person"], "verdict": "satisfied",
    }  # fmt: skip
    engine: Engine = open_store(str(folder / "audit.db"), create=True)
    file = folder / "run.jsonl"
    file.write_text(json.dumps(line), encoding="utf-8")
    import_run(engine, file)
    ask_next(engine, SampleOptions(share=1.0))
    names = {"ann": "annotator", "ben": "annotator", "judge": "adjudicator", "boss": "manager"}
    accounts = {name: add_account(engine, name, role, PASSWORD) for name, role in names.items()}
    return Prepared(engine, folder / "audit.db", **accounts)


@pytest.fixture
def marked(tmp_path: Path) -> Iterator[tuple[str, Prepared]]:
    prepared = prepared_marks(tmp_path)
    with app_server(str(prepared.path), tmp_path / "app.log") as address:
        yield address, prepared


@pytest.mark.browser
@pytest.mark.parametrize("language", ["en", "zh"])
def test_three_names_of_a_long_sentence_and_a_dispute(
    marked: tuple[str, Prepared], tmp_path: Path, language: str
) -> None:
    address, prepared = marked
    assert len(TEXT.split()) >= 30
    with Window(address, tmp_path / "ann", language) as window:
        window.log_in("ann")
        until(lambda: window.all(".audit-marked"))
        window.picture(f"marks-{language}")
        window.script(COUNT)
        window.press("\ue007")  # nothing is marked, so nothing is stored
        for key in ("1", "3", "2"):
            window.press(key)
        window.picture(f"marked-{language}")
        window.press("\ue007")
        until(lambda: rows(prepared, tables.Judgement))
        assert window.script("return window.pressed") <= 12
        window.press("z")  # taken back, and marked anew: no name, then the first one
        until(lambda: window.all(".audit-marked"))
        for key in ("0", "1", "\ue007"):
            window.press(key)
        until(lambda: [row for row in rows(prepared, tables.Judgement) if row.answer.startswith("68-77")][1:])
    said = [row.answer for row in rows(prepared, tables.Judgement)]
    assert said[0] == NAMES
    shown = next_question(prepared.engine, prepared.ben.id)
    assert shown is not None
    judge(prepared.engine, prepared.ben.id, shown.id, NAMES)
    assert len(disputes(prepared.engine, prepared.judge.id)) == 1
    with Window(address, tmp_path / "judge", language) as window:
        window.log_in("judge")
        until(lambda: window.all(".audit-marked"))
        window.picture(f"marks-dispute-{language}")
        for key in ("a", "w", "\ue007"):  # the names of the first of both, the reason, Enter
            window.press(key)
        until(lambda: rows(prepared, tables.Adjudication))
    first = opinions(prepared.engine, prepared.judge.id, shown.id)[0].answer
    assert [row.allowed for row in rows(prepared, tables.Adjudication)] == [[first]]
