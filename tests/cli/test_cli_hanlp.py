"""`audit hanlp train`: mistakes are one sentence and exit status 2, and the JSON has the keys that are documented."""

from dataclasses import fields
from pathlib import Path

import pytest
from test_commands_docs import example

from audit.cli import main
from audit.language.hanlp_training import LEARNED, Part, Trained


def test_the_json_shown_has_the_keys_of_the_real_one():
    shown = example("hanlp train")
    assert list(shown) == ["tagger", *(one.name for one in fields(Trained))]
    assert list(shown["segmentation"]) == [one.name for one in fields(Part)]
    assert set(shown["tags"]) == set(LEARNED)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ("--out full", "full: something is there already"),
        ("--out new --held-out 2", "the part held out is 2 of the corpus"),
        ("--out new --epochs 0", "0 epochs train nothing"),
        ("--out new --corpus absent.tar.gz", "absent.tar.gz: there is no such file"),
        ("--out new --corpus full/notes.txt", "line 1: '这不是语料' is not a word with a tag"),
    ],
)
def test_mistakes_are_one_sentence(tmp_path, monkeypatch, capsys, arguments, says):
    monkeypatch.chdir(tmp_path)
    Path("full").mkdir()
    Path("full/notes.txt").write_text("这不是语料", encoding="utf-8")
    assert main(["hanlp", "train", *arguments.split()]) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert says in shown.err
    assert len(shown.err.splitlines()) == 1
    assert not Path("new").exists()


@pytest.mark.slow
def test_a_tagger_is_trained_by_the_command(tmp_path, monkeypatch, capsys):
    pytest.importorskip("hanlp")
    monkeypatch.chdir(tmp_path)
    Path("199801.txt").write_text("我/r  爱/v  北京/ns  。/w\n" * 300, encoding="utf-8")
    arguments = ["--out", "made/tagger", "--corpus", "199801.txt", "--held-out", "0.3", "--epochs", "1"]
    assert main(["hanlp", "train", *arguments]) == 0
    shown = capsys.readouterr()
    assert "The tagger's name is hanlp:made/tagger" in shown.out
    assert "Epoch 1 / 1:" in shown.err
