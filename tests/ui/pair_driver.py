"""A database with questions of the tasks on Chinese texts, and coming to a question of one of them."""

import json
from pathlib import Path

import summaries
from app_driver import HOSTILE, PASSWORD, Prepared

from audit.judging.accounts import add_account
from audit.judging.judgements import judge
from audit.judging.queue import Shown, next_question
from audit.judging.samples import ask_next
from audit.runner.imported import import_run
from audit.sampling.options import SampleOptions
from audit.store import open_store

TOPICS = ("体育", "财经", "科技", "时政", "娱乐", "教育", "房产", "游戏", "家居", "**军事**", "<i>时尚</i>")
SCHEME = f"classification/{','.join(TOPICS)}"
PAIR = ("银行将利率上调了0.25个百分点。", "周一，银行上调了利率。")
LONG = "这是一段很长的报道，讲的是同一件事的许多细节。" * 30


def _row(task: str, source: object, follow_up: object, output: object, system: str = "one") -> dict:
    return {
        "task": task, "language": "zh", "relation": "X", "system": system, "source": source, "follow_ups": [follow_up],
        "outputs": [output, output], "verdict": "satisfied",
    }  # fmt: skip


def rows(task: str) -> list[dict]:
    """Two groups of the task, satisfied by one system."""
    if task == "similarity":
        return [
            _row(task, list(PAIR), list(PAIR[::-1]), {"score": 0.7}),
            _row(task, [PAIR[0], LONG], [LONG, PAIR[0]], {"score": 0.3}),
        ]
    if task == "summarization":
        long = f"甲赢了比赛。{LONG}"
        return [
            *summaries.rows()[:3],
            _row(task, f"{HOSTILE}。", f"{HOSTILE}！", {"text": HOSTILE}),
            _row(task, long, f"{long}。", {"text": "甲赢了比赛。"}),
        ]
    return [_row(SCHEME, text, f"{text}。", text[:2]) for text in ("体育新闻", "财经新闻")]


def prepare_pairs(path: Path) -> Prepared:
    """Runs of three tasks, every satisfied group drawn, and the accounts of `app_driver.prepare`."""
    engine = open_store(str(path), create=True)
    for task in ("similarity", "summarization", "classification"):
        file = path.with_name(f"{task}.jsonl")
        file.write_text("\n".join(json.dumps(row) for row in rows(task)), encoding="utf-8")
        import_run(engine, file)
    ask_next(engine, SampleOptions(share=1.0))
    names = {"ann": "annotator", "ben": "annotator", "judge": "adjudicator", "boss": "manager"}
    return Prepared(engine, path, **{name: add_account(engine, name, role, PASSWORD) for name, role in names.items()})


def to_task(prepared: Prepared, account: int, task: str, text: str = "") -> Shown:
    """Answer questions until one of this task, with this in its texts, is next for this account; returns it."""
    while True:
        shown = next_question(prepared.engine, account)
        assert shown is not None
        if shown.task.partition("/")[0] == task and text in "".join(shown.texts):
            return shown
        judge(prepared.engine, account, shown.id, shown.labels[0])
