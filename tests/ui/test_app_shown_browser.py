"""A shown question, and its inspection, in a real Chromium by key and click, in both languages."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from app_driver import Prepared, prepare
from browser_driver import Window, streamlit_server, until
from sqlalchemy import select

from audit.annotation.queue import next_question
from audit.judging.judgements import judge
from audit.judging.samples import draw_all
from audit.sampling.draw import SampleRequest, Size
from audit.store import table_of, tables
from audit.ui.language import text_in

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Prepared]]:
    prepared = prepare(tmp_path_factory.mktemp("shown") / "audit.db")
    draw_all(prepared.engine, SampleRequest(Size(per_relation=20), protocol="shown"))
    with streamlit_server(prepared) as served:
        yield served


@pytest.mark.parametrize("language", ["en", "zh"])
def test_an_earlier_answer_is_in_view_and_the_keys_work(
    served: tuple[str, Prepared], tmp_path: Path, language: str
) -> None:
    address, prepared = served
    with prepared.engine.begin() as connection:  # what the window before looked at
        connection.execute(table_of(tables.Lease).delete())
    first = next_question(prepared.engine, prepared.ann.id)
    assert first is not None
    judge(prepared.engine, prepared.ann.id, first.id, "negative", comment="Sarcasm, I think: <b>'great'</b>.")
    question = table_of(tables.Question)
    with prepared.engine.begin() as connection:  # what ben is asked next
        connection.execute(question.update().where(question.c.id == first.id).values(priority=0))
    with Window(address, tmp_path / "profile", language) as window:
        window.resize(1280, 720)
        window.log_in("ben")
        until(window.question)
        earlier = until(lambda: window.all(".audit-earlier"))[0].text
        assert text_in(language, "earlier.another") in earlier
        assert text_in(language, "label.sentiment.negative") in earlier
        assert "<b>'great'</b>" in earlier
        assert "ann" not in earlier.replace("Another", "").lower().split()
        assert window.in_view(".st-key-judge")
        window.picture(f"shown-{language}")
        window.press("3")
        judgement = table_of(tables.Judgement)
        query = (
            select(judgement.c.saw).where(judgement.c.annotator_id == prepared.ben.id).order_by(judgement.c.id.desc())
        )

        def stored() -> list[int | None]:
            with prepared.engine.connect() as connection:
                return list(connection.execute(query).scalars())

        until(stored)
        assert stored()[0] is not None
        time.sleep(0.5)
    with Window(address, tmp_path / "other", language) as window:
        window.resize(1280, 720)
        window.log_in("judge")
        name = text_in(language, "inspect.inspections", count=1)
        until(lambda: [button for button in window.all("button") if button.text.strip() == name])[0].click()
        until(lambda: window.all(".audit-votes"))
        window.picture(f"inspection-{language}")
        confirm = text_in(language, "inspect.confirm", answer=text_in(language, "label.sentiment.negative"))
        until(lambda: [button for button in window.all("button") if button.text.strip().startswith(confirm)])[0].click()
        adjudication = table_of(tables.Adjudication)

        def inspected() -> list[str]:
            with prepared.engine.connect() as connection:
                of = adjudication.c.question_id == first.id
                return list(connection.execute(select(adjudication.c.reason).where(of)).scalars())

        assert until(inspected) == ["inspection"]
