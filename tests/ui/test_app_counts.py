"""The progress line: counted now and then, moved by each answer; and what is done before the first visitor."""

from datetime import timedelta

import pytest
from app_driver import Prepared, open_app, said
from streamlit.testing.v1 import AppTest

from audit.judging.queue import queue_of
from audit.ui import annotate, question


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The account of each time that the queue is counted."""
    account_ids = []

    def counting(engine, account_id):
        account_ids.append(account_id)
        return queue_of(engine, account_id)

    monkeypatch.setattr(annotate, "queue_of", counting)
    monkeypatch.setattr(question, "LEAST", timedelta(0))
    return account_ids


def click(app: AppTest, name: str) -> None:
    next(button for button in app.button if str(button.key).startswith(name)).click().run()
    assert not app.exception


def line(prepared: Prepared) -> str:
    """What the line says when it is counted anew."""
    queue = queue_of(prepared.engine, prepared.ann.id)
    return f"{queue.mine_today} today · {queue.mine} in all · {queue.left_for_me} left for you"


def test_answers_move_the_counts_and_undo_and_skip_count_anew(prepared: Prepared, counted: list[int]) -> None:
    app = open_app(prepared.ann)
    for number in (1, 2, 3):
        click(app, "judge-")
        assert line(prepared) in said(app)
        assert line(prepared).startswith(f"{number} today")
    assert counted == [prepared.ann.id]
    click(app, "undo-")
    assert line(prepared) in said(app)
    click(app, "skip-")
    assert line(prepared) in said(app)
    assert len(counted) == 3
