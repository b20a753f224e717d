"""A database with questions of inference, of question answering, and of schemes of a user: one label to a text, and
several."""

import json
from pathlib import Path

from app_driver import PASSWORD, Prepared

from audit.judging.accounts import add_account
from audit.judging.samples import ask_next
from audit.runner.imported import import_run
from audit.sampling.options import SampleOptions
from audit.store import open_store

MANY = "classification/refund+late+rude"
OWN = "classification/strong,weak,zero"
PREMISE, HYPOTHESIS = "A man is playing a guitar in the street.", "A man is making music outdoors."
CONTEXT, ASKED = "The bridge was opened in 1932 by the mayor.", "Who drew the plans of the bridge?"
TICKET = "My parcel came a week late and the driver shouted at me."


def _row(task: str, source: object, follow_up: object, output: object) -> dict:
    return {
        "task": task, "language": "en", "relation": "X", "system": "one", "source": source, "follow_ups": [follow_up],
        "outputs": [output, output], "verdict": "satisfied",
    }  # fmt: skip


ROWS = {
    "inference": [_row("inference", [PREMISE, HYPOTHESIS], [PREMISE, f"{HYPOTHESIS[:-1]}!"], "neutral")],
    "question-answering": [
        _row("question-answering", [CONTEXT, ASKED], [CONTEXT, f"Say, {ASKED}"], {"text": "unanswerable"}),
        _row("question-answering", [CONTEXT, "When?"], [CONTEXT, "When, say?"], {"text": "In 1932."}),
    ],
    MANY: [
        _row(MANY, TICKET, TICKET.upper(), "Rude + LATE"),
        _row(MANY, "Where is my money?", "So where is my money?", "refund"),
    ],
    OWN: [_row(OWN, "The smell is strong.", "The smell is strong!", "strong")],
}


def prepare_words(path: Path, *tasks: str) -> Prepared:
    """Imported runs of these tasks, every group drawn, and the accounts of `app_driver.prepare`."""
    engine = open_store(str(path), create=True)
    for number, task in enumerate(tasks):
        file = path.with_name(f"{number}.jsonl")
        file.write_text("\n".join(json.dumps(row) for row in ROWS[task]), encoding="utf-8")
        import_run(engine, file)
    ask_next(engine, SampleOptions(share=1.0))
    names = {"ann": "annotator", "ben": "annotator", "judge": "adjudicator", "boss": "manager"}
    return Prepared(engine, path, **{name: add_account(engine, name, role, PASSWORD) for name, role in names.items()})
