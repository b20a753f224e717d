"""The small run of translations with its accounts, and coming to a question about one of them."""

from pathlib import Path

import translations
from app_driver import PASSWORD, Prepared
from sqlalchemy import Engine

from audit.judging.accounts import add_account
from audit.judging.judgements import judge
from audit.judging.queue import Shown, next_question


def prepare_translations(folder: Path, **audits: float) -> Prepared:
    """The accounts of `app_driver.prepare`; annotators read English and Spanish, the others everything."""
    return _prepared(translations.study(folder, **audits), folder / "translations.db")


def _prepared(engine: Engine, path: Path) -> Prepared:
    roles = {"ann": "annotator", "ben": "annotator", "judge": "adjudicator", "boss": "manager"}
    people = {
        name: add_account(engine, name, role, PASSWORD, languages=["en", "es"] if role == "annotator" else [])
        for name, role in roles.items()
    }
    return Prepared(engine, path, **people)


def to_translation(prepared: Prepared, account: int, text: str = "", into: str = "es", kind: str = "pair") -> Shown:
    """Answer questions until one of this kind, into this language and with this in its text, is next; returns it."""
    while True:
        shown = next_question(prepared.engine, account)
        assert shown is not None
        if shown.kind == kind and shown.languages[-1] == into and text in shown.texts[0]:
            return shown
        judge(prepared.engine, account, shown.id, shown.labels[0])
