"""Databases with questions of each task and kind, and coming to a question of one of them."""

import json
from pathlib import Path
from typing import Any

import summaries
import translations
from app_driver import HOSTILE, Prepared, people, prepare
from sqlalchemy import select

from audit.judging.judgements import judge
from audit.judging.queue import Shown, next_question
from audit.judging.samples import ask_next, draw_validity
from audit.runner.imported import import_run
from audit.sampling.options import SampleOptions
from audit.sampling.validity import ValidityRequest
from audit.store import open_store, table_of, tables

MANY = "classification/refund+late+rude"
SCHEME = "classification/体育,财经,科技,时政,娱乐,教育,房产,游戏,家居,**军事**,<i>时尚</i>"
PAIR = ("银行将利率上调了0.25个百分点。", "周一，银行上调了利率。")
LONG = "这是一段很长的报道，讲的是同一件事的许多细节。" * 30
PREMISE, HYPOTHESIS = "A man is playing a guitar in the street.", "A man is making music outdoors."
CONTEXT = "The bridge was opened in 1932 by the mayor."
TICKET = "My parcel came a week late and the driver shouted at me."


def _row(task: str, source: Any, follow_up: Any, output: Any, language: str = "zh") -> dict:
    return {
        "task": task, "language": language, "relation": "X", "system": "one", "source": source,
        "follow_ups": [follow_up], "outputs": [output, output], "verdict": "satisfied",
    }  # fmt: skip


ROWS = {
    "similarity": [
        _row("similarity", list(PAIR), list(PAIR[::-1]), {"score": 0.7}),
        _row("similarity", [PAIR[0], LONG], [LONG, PAIR[0]], {"score": 0.3}),
    ],
    "summarization": [
        *summaries.rows()[:3],
        _row("summarization", f"{HOSTILE}。", f"{HOSTILE}！", {"text": HOSTILE}),
        _row("summarization", f"甲赢了比赛。{LONG}", f"甲赢了比赛。{LONG}。", {"text": "甲赢了比赛。"}),
    ],
    "classification": [_row(SCHEME, text, f"{text}。", text[:2]) for text in ("体育新闻", "财经新闻")],
    "inference": [_row("inference", [PREMISE, HYPOTHESIS], [PREMISE, f"{HYPOTHESIS[:-1]}!"], "neutral", "en")],
    "question-answering": [
        _row("question-answering", [CONTEXT, "Who drew it?"], [CONTEXT, "Say, who?"], {"text": "unanswerable"}, "en"),
        _row("question-answering", [CONTEXT, "When?"], [CONTEXT, "When, say?"], {"text": "In 1932."}, "en"),
    ],
    MANY: [
        _row(MANY, TICKET, TICKET.upper(), "Rude + LATE", "en"),
        _row(MANY, "Where is my money?", "So where is my money?", "refund", "en"),
    ],
    "translation": translations.rows(),
}
"""Imported runs, by what they are about."""


def import_rows(path: Path, *runs: str) -> None:
    engine = open_store(str(path), create=True)
    for number, run in enumerate(runs):
        file = path.with_name(f"{number}.jsonl")
        file.write_text("\n".join(json.dumps(row) for row in ROWS[run]), encoding="utf-8")
        import_run(engine, file)
    engine.dispose()


def prepare_rows(path: Path, *runs: str) -> Prepared:
    """Imported runs, every group drawn, and the accounts of `app_driver.prepare`."""
    import_rows(path, *runs)
    engine = open_store(str(path))
    ask_next(engine, SampleOptions(share=1.0))
    return people(engine, path)


def prepare_groups(path: Path) -> Prepared:
    """As `prepare`, with all groups asked about."""
    prepared = prepare(path)
    draw_validity(prepared.engine, ValidityRequest(20, annotators=2, asks="groups"))
    return prepared


def to_question(prepared: Prepared, account: int, task: str = "", text: str = "", kind: str = "") -> Shown:
    """Answer questions until one of this task and kind, with this in its texts, is next for this account."""
    while True:
        shown = next_question(prepared.engine, account)
        assert shown is not None
        if shown.task.startswith(task) and text in "".join(shown.texts) and kind in ("", shown.kind):
            return shown
        judge(prepared.engine, account, shown.id, shown.labels[-1])


def names(prepared: Prepared) -> set[str]:
    """What an annotator must never be sent: names of systems and relations."""
    with prepared.engine.connect() as connection:
        return {
            str(name)
            for model in (tables.System, tables.Relation)
            for name in connection.execute(select(table_of(model).c.name)).scalars()
        }
