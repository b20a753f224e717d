"""`audit known` and `audit settings`: what they store, and mistakes."""

import json

import pytest

from audit.annotation.settings import settings_of
from audit.cli import main
from audit.store import open_store


@pytest.fixture
def where(tmp_path):
    path = str(tmp_path / "audit.db")
    open_store(path, create=True)
    (tmp_path / "known.csv").write_text("text,answer,explanation\nIt is fine.,positive,Fine.\n", encoding="utf-8")
    return path


def out(capsys, *arguments):
    assert main([*arguments, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_known_questions_are_added(where, tmp_path, capsys):
    file = str(tmp_path / "known.csv")
    added = out(capsys, "known", "add", file, "--purpose", "training", "--db", where)
    assert added == {"purpose": "training", "added": 1, "changed": 0}
    assert out(capsys, "known", "add", file, "--purpose", "gold", "--db", where)["changed"] == 1


def test_settings_are_shown_and_changed(where, capsys):
    assert out(capsys, "settings", "--db", where)["gold_share"] == 0.0
    changed = out(capsys, "settings", "--set", "gold_share=0.1", "--set", "repeat_after=5", "--db", where)
    assert (changed["gold_share"], changed["repeat_after"]) == (0.1, 5)
    with open_store(where).connect() as connection:
        assert settings_of(connection).gold_share == 0.1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("settings --set gold_share", "must be NAME=VALUE"),
        ("settings --set gold_share=much", "the value must be a number"),
        ("settings --set gold_share=true", "the value must be a number"),
        ("settings --set repeat_after=Infinity", "the value must be a number"),
        ("settings --set gold_share=0.9", "gold_share 0.9: must be a number from 0 to 0.5"),
        ("settings --set pace=1", "there is no setting 'pace'"),
        ("known add --purpose gold", "name a file of texts, or questions of the database"),
        ("known add known.csv --questions 1 --purpose gold", "one of the two"),
        ("known add known.csv --purpose quiz", "purpose 'quiz' is not one of training, gold"),
        ("known add known.csv --purpose gold --task weather", "unknown task 'weather'"),
        ("known add absent.csv --purpose gold", "there is no such file"),
        ("known add --questions 7 --purpose gold", "question 7 has no answer that settles it"),
        ("known pick --purpose gold", "there is no question to pick"),
        ("quality --task weather", "unknown task 'weather'"),
    ],
)
def test_mistakes_are_one_sentence_and_change_nothing(
    where, tmp_path, capsys, monkeypatch, content, arguments, message
):
    monkeypatch.chdir(tmp_path)
    before = content(open_store(where))
    assert main([*arguments.split(), "--db", where]) == 2
    said = capsys.readouterr().err
    assert message in said
    assert said.count("\n") == 1
    assert content(open_store(where)) == before
