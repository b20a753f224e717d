"""Names and texts are users' own: what a command prints does nothing to the terminal."""

import json

import pytest

from audit.cli import main
from audit.cli.console import visible

HOSTILE = "a\x1b[2J\x1b]0;title\x07\u202eb\x9b31m"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain, 中文,　wide\tand\nlines – fine", "plain, 中文,　wide\tand\nlines – fine"),
        ("\x1b[31m", "\\x1b[31m"),
        ("\r\x00\x7f\x9b", "\\r\\x00\\x7f\\x9b"),
        ("\u202e\u2066", "\\u202e\\u2066"),
    ],
)
def test_what_acts_is_spelled_out(text, shown):
    assert visible(text) == shown


def test_reports_and_errors_of_hostile_names(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    row = {"relation": HOSTILE, "system": HOSTILE, "source": "S.", "follow_ups": ["F."], "verdict": "satisfied"}
    (tmp_path / "own.jsonl").write_text(json.dumps(row | {"outputs": ["positive", "positive"]}), encoding="utf-8")
    for arguments in ("import-run own.jsonl", "report", "sample --base 5", "agreement", "rerank own.jsonl"):
        main(arguments.split())
    printed = capsys.readouterr()
    for stream in (printed.out, printed.err):
        assert not set(stream) & set("\x1b\x07\u202e\x9b")
    assert "\\x1b[2J" in printed.out
