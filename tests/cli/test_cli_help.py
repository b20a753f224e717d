"""Help, suggestions and plug-ins of the command line: one sentence for a mistyped word, and pages without work."""

import pytest

from audit import registry
from audit.cli import main
from audit.cli.console import following
from audit.cli.options import options_in_words
from audit.sampling.options import FRONT, PlanOptions


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ("samble", "No such command 'samble'. Did you mean 'sample'"),
        ("user ad", "No such command 'ad'. Did you mean 'add'?; see `audit user --help`"),
        ("sample --anotators 5", "there is no option --anotators; did you mean --annotators?"),
        ("report --html --json", "--html needs a value, and --json is an option; write --html=--json"),
        ("report --html", "the option '--html' requires an argument"),
        ("gold --json=1", "the option '--json' does not take a value"),
        ("gold a b", "unexpected arguments (a b); see `audit gold --help`"),
        ("rerank", "FILE is missing; see `audit rerank --help`"),
        ("--plugin", "--plugin needs the name of a module"),
        ("--plugin --json report", "--plugin needs the name of a module"),
    ],
)
def test_a_mistyped_word_is_one_sentence(words, says, capsys):
    assert main(words.split()) == 2
    shown = capsys.readouterr()
    assert (shown.out, shown.err.count("\n")) == ("", 1)
    assert shown.err.startswith("audit: ")
    assert says in shown.err


@pytest.mark.parametrize(
    "words", ["--help", "-h", "report --help", "report -h", "user --help", "user add --help", "--version"]
)
def test_help_is_an_answer(words, capsys):
    assert main(words.split()) == 0
    shown = capsys.readouterr()
    assert shown.err == ""
    assert shown.out.startswith("audit " if words == "--version" else "Usage: audit")


def test_plugins_are_loaded_wherever_they_are_named(capsys, monkeypatch):
    loaded = []
    monkeypatch.setattr(registry, "load_plugin", loaded.append)
    assert main(["--plugin", "first", "--plugin=second", "relations", "--task", "sentiment"]) == 0
    assert main(["relations", "--plugin", "third", "--task", "sentiment", "--plugin=fourth"]) == 0
    assert loaded == ["first", "second", "third", "fourth"]
    assert "MR1.1" in capsys.readouterr().out


def test_the_overview_fits_a_screen(capsys):
    main(["--help"])
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) <= 40
    assert max(map(len, lines)) <= 80


def test_a_next_command_has_the_options_and_plugins_of_this_one(monkeypatch):
    options = PlanOptions(decide="relations", eps=0.01, base={"MR1.1": 40})
    words = options_in_words(options, FRONT, "base", "share", "decide", "eps", "annotators")
    monkeypatch.setattr("audit.cli.console.PLUGINS", ["mine"])
    wanted = "audit sample --base MR1.1=40 --decide relations --eps 0.01 --plugin mine"
    assert following("sample", *words) == wanted
