"""The log in words: every action that the code writes has a name in both languages."""

import ast
from pathlib import Path

import pytest
from app_driver import Prepared, go, in_both, open_app
from sqlalchemy.orm import Session

from audit.judging.accounts import change_account, disable_account, note
from audit.judging.invitations import Terms, invite
from audit.judging.settings import change_settings
from audit.messages import LANGUAGES, catalogue
from audit.ui.language import text_in

ROOT = Path(__file__).parents[2] / "audit"


def logged() -> list[tuple[str, str]]:
    """(action, file) of each call of `note` of the log that names its action, there or in a constant of its file."""
    found = []
    for path in sorted(path for path in ROOT.rglob("*.py") if "packs" not in path.parts):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        constants = {
            target.id: node.value.value
            for node in tree.body
            if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant)
            for target in node.targets
            if isinstance(target, ast.Name)
        }
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "note" and len(node.args) >= 3:
                action = node.args[2]
                value = constants.get(action.id) if isinstance(action, ast.Name) else getattr(action, "value", None)
                if isinstance(value, str):
                    found.append((value, path.name))
    return found


@pytest.mark.slow
@pytest.mark.parametrize("language", LANGUAGES)
def test_every_action_has_a_name(language: str) -> None:
    actions = logged()
    assert len(actions) > 10
    missing = {
        (action, file)
        for action, file in actions
        if f"log_action.{action.replace(' ', '_')}" not in catalogue(language)
    }
    assert not missing


@in_both
def test_lines_are_said_in_words_and_found(prepared: Prepared, language: str) -> None:
    engine, boss = prepared.engine, prepared.boss.id
    change_account(engine, "ann", "adjudicator", ("en",), by=boss)
    disable_account(engine, "ben", by=boss)
    invite(engine, Terms("manager", uses=2), by=boss)
    change_settings(engine, boss, {"pass_mark": 0.6})
    with Session(engine) as work, work.begin():
        note(work.connection(), prepared.judge.id, "training", attempt=1, right=3, questions=4, passed=True, until=9)
    app = go(open_app(prepared.boss, language), "log")
    assert not app.exception
    frame = app.dataframe[0].value
    details = dict(zip(frame[text_in(language, "log.action")], frame[text_in(language, "log.detail")], strict=True))
    assert "ann" in details[text_in(language, "log_action.account_changed")]
    assert details[text_in(language, "log_action.account_disabled")].endswith('"ben"')
    assert "pass_mark" in details[text_in(language, "log_action.setting")]
    app.selectbox(key="log-who").set_value(prepared.judge.id).run()
    assert list(app.dataframe[0].value[text_in(language, "log.who")]) == ["judge"]
