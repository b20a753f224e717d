"""Texts, comments and names that would be something else, in a real Chromium: no script runs, no element is made."""

from collections.abc import Iterator

import pytest
from app_driver import PASSWORD, Prepared, prepare
from app_server import app_server
from browser_driver import Window
from sqlalchemy import select

from audit.judging.accounts import add_account
from audit.judging.judgements import flag, judge
from audit.judging.queue import next_question
from audit.judging.staleness import mark_stale
from audit.store import table_of, tables

pytestmark = pytest.mark.browser

HOSTILE = (
    "<script>window.hit='script'</script><img src=x onerror=\"window.hit='img'\"><svg onload=\"window.hit='svg'\">"
    "<iframe srcdoc='<script>parent.hit=1</script>'></iframe><style>*{display:none}</style>"
    "<form action=https://evil.example><input name=password></form>"
    " [link](javascript:window.hit='link') ![p](https://evil.example/p.png) **bold** :red[red] :material/delete: "
    "$\\href{javascript:window.hit='latex'}{x}$ \x1b[31mred \u202egnp.exe\u202c &lt;b&gt; {{7*7}} ${7*7}"
)
NAME = "<img src=x onerror=hit=1> **b**"


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Prepared]]:
    """Every text of the corpus, a comment, a flag, a reason and a name are hostile."""
    folder = tmp_path_factory.mktemp("hostile")
    prepared = prepare(folder / "audit.db")
    add_account(prepared.engine, NAME, "annotator", PASSWORD)
    input_table = table_of(tables.Input)
    with prepared.engine.begin() as connection:
        for id, texts in connection.execute(select(input_table.c.id, input_table.c.texts)).all():
            connection.execute(
                input_table.update().where(input_table.c.id == id).values(texts=[f"{HOSTILE} {text}" for text in texts])
            )
    for account, label in ((prepared.ann, "positive"), (prepared.ben, "negative")):
        shown = next_question(prepared.engine, account.id)
        assert shown is not None
        judge(prepared.engine, account.id, shown.id, label, comment=HOSTILE)
    again = next_question(prepared.engine, prepared.ann.id)
    assert again is not None
    flag(prepared.engine, prepared.ann.id, again.id, HOSTILE)
    question = next_question(prepared.engine, prepared.ben.id)
    assert question is not None
    outdated = judge(prepared.engine, prepared.ben.id, question.id, "neutral")
    judgement = table_of(tables.Judgement)
    with prepared.engine.begin() as connection:
        connection.execute(judgement.update().where(judgement.c.id == outdated).values(guideline=1))
    mark_stale(prepared.engine, prepared.boss.id, "sentiment", "input", 2, HOSTILE)
    with app_server(str(prepared.path), folder / "log.txt") as address:
        yield address, prepared


CODE = """
const shown = [...document.querySelectorAll('.stMain, .stSidebar')];
const made = shown.flatMap(e => [...e.querySelectorAll(
  'script, iframe, svg[onload], [onerror], img[src="x"], img[src*="evil"], a[href^="javascript"], '
  + 'form[action*="evil"], style'
)]).filter(e => !(e.tagName == 'STYLE' && e.textContent.includes('.audit-question')));
return {hit: window.hit === undefined ? null : String(window.hit), made: made.map(e => e.outerHTML.slice(0, 80)),
  hidden: getComputedStyle(document.querySelector('.stMain')).display};
"""


def harmless(window: Window, part: str) -> None:
    window.see(part)
    assert window.script(CODE) == {"hit": None, "made": [], "hidden": "flex"}


@pytest.mark.parametrize("name", ["ann", "ben", "judge", "boss"])
def test_nothing_runs_and_nothing_is_made(served: tuple[str, Prepared], window: Window, name: str) -> None:
    address, _ = served
    window.log_in(name)
    pages = {
        "ann": [("annotate", "window.hit='script'")],
        "ben": [("annotate", "window.hit='latex'")],  # the reason why an answer went stale, too
        "judge": [("adjudicate", "window.hit='link'")],
        "boss": [
            ("browse", "window.hit='script'"),
            ("browse", "window.hit='img'"),
            ("accounts", "Invite people"),
            ("stale", "stale"),
        ],
    }[name]
    for page, part in pages:
        window.driver.get(f"{address}/{page}")
        harmless(window, part)
    if name == "judge":
        window.driver.get(f"{address}/adjudicate")
        window.click("button", "Flagged (1)")
        harmless(window, "Flagged:")
        # Texts stand there to the letter.
        assert "<script>window.hit='script'</script>" in window.text()


def test_a_hostile_name_logs_in_as_a_text(served: tuple[str, Prepared], window: Window) -> None:
    window.log_in(NAME)
    harmless(window, NAME)
