"""`audit hanlp train` and `train-parser`: mistakes are one sentence and exit status 2, the JSON has the keys shown."""

from dataclasses import fields
from pathlib import Path

import pytest
from test_commands_docs import example

from audit.cli import main
from audit.packs.chinese.hanlp_training import LEARNED, Part, Trained
from audit.packs.translation.constituency import parser_training
from audit.packs.translation.constituency.parser_training import SCORED, TREEBANKS, TrainedParser


def test_the_json_shown_has_the_keys_of_the_real_one():
    shown = example("hanlp train")
    assert list(shown) == ["tagger", *(one.name for one in fields(Trained))]
    assert list(shown["segmentation"]) == [one.name for one in fields(Part)]
    assert set(shown["tags"]) == set(LEARNED)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ("--out full", "full is there already and not empty"),
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


def test_the_json_shown_of_a_parser_has_the_keys_of_the_real_one():
    shown = example("hanlp train-parser")
    assert list(shown) == ["parser", *(one.name for one in fields(TrainedParser))]
    assert list(shown["brackets"]) == [one.name for one in fields(Part)]
    assert set(shown["labels"]) <= set(SCORED)
    assert shown["language"] in TREEBANKS


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ("--out full", "full is there already and not empty"),
        ("--out new --held-out 0", "the part held out is 0 of the corpus"),
        ("--out new --epochs 0", "0 epochs train nothing"),
        ("--out new --limit 0", "the limit is 0 sentences"),
        ("--out new --language de", "unknown language with a treebank 'de'; known are: en, zh"),
    ],
)
def test_mistakes_with_a_parser_are_one_sentence(tmp_path, monkeypatch, capsys, arguments, says):
    monkeypatch.chdir(tmp_path)
    Path("full").mkdir()
    Path("full/notes.txt").touch()
    assert main(["hanlp", "train-parser", *arguments.split()]) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert says in shown.err
    assert len(shown.err.splitlines()) == 1
    assert not Path("new").exists()


@pytest.mark.slow
def test_a_parser_is_trained_by_the_command(tmp_path, monkeypatch, capsys):
    pytest.importorskip("hanlp")
    from nltk import Tree

    monkeypatch.chdir(tmp_path)
    trees = [Tree.fromstring(f"(TOP (S (NP (NNP {name})) (VP (VBZ sings)) (. .)))") for name in ("Ann", "Bob")]
    monkeypatch.setattr(parser_training, "documents", lambda _: ((*trees, *trees),) * 10)
    assert main(["hanlp", "train-parser", "--out", "made/parser", "--epochs", "1"]) == 0
    shown = capsys.readouterr()
    assert "The parser's name is hanlp:made/parser" in shown.out
    assert "of the tags right" in shown.out
    assert "Epoch 1 / 1:" in shown.err
