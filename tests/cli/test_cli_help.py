"""Help, suggestions and plug-ins of the command line: one sentence for a mistyped word, and pages without work."""

import ast
import re
import sys
from pathlib import Path
from types import ModuleType

import pytest

import audit
from audit.cli import main
from audit.cli.options import shell_wording
from audit.errors import AuditError

PACKAGE = Path(audit.__file__).parent


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ("samble", "there is no command 'samble'; did you mean sample?"),
        ("user lst", "there is no command 'lst'; did you mean list?"),
        ("xyz", "there is no command 'xyz'; see `audit --help`"),
        ("sample --per-relatoin 5", "there is no option --per-relatoin; did you mean --per-relation?"),
        ("report --html --json", "--html needs a value, and --json is an option; write --html=--json"),
        ("report --html", "the option '--html' requires an argument"),
        ("gold --json=1", "the option '--json' does not take a value"),
        ("gold a b", "unexpected arguments (a b); see `audit gold --help`"),
        ("rerank", "FILE is missing; see `audit rerank --help`"),
        ("--plugin", "--plugin needs the name of a module"),
        ("--plugin --json report", "--plugin needs the name of a module"),
    ],
)
def test_a_mistyped_word_is_one_sentence(words, says, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "audit.registry", registry([]))
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
    assert shown.out.endswith("\n")


def registry(loaded):
    """A stand-in for `audit.registry`, which notes the modules that it is to load and refuses one."""

    def load_plugin(module):
        if module == "absent":
            raise AuditError("there is no module 'absent' for --plugin")
        loaded.append(module)

    stand_in = ModuleType("audit.registry")
    stand_in.load_plugin = load_plugin
    return stand_in


def test_plugins_are_loaded_wherever_they_are_named(capsys, monkeypatch):
    loaded = []
    monkeypatch.setitem(sys.modules, "audit.registry", registry(loaded))
    assert main(["--plugin", "first", "--plugin=second", "relations", "--task", "sentiment"]) == 0
    assert loaded == ["first", "second"]
    assert "MR1.1" in capsys.readouterr().out
    assert main(["relations", "--plugin", "third", "--task", "sentiment", "--plugin=fourth"]) == 0
    assert loaded[2:] == ["third", "fourth"]
    assert main(["--plugin", "absent", "relations"]) == 2
    assert capsys.readouterr().err == "audit: there is no module 'absent' for --plugin\n"


def test_errors_of_the_rooms_name_no_option():
    """They name parameters, and the command line spells these as its options."""
    named = []
    for path in sorted(PACKAGE.rglob("*.py")):
        if path.is_relative_to(PACKAGE / "cli"):
            continue
        for statement in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(statement, ast.Raise):
                said = [one.value for one in ast.walk(statement) if isinstance(one, ast.Constant)]
                named += [
                    (path.name, text) for text in said if re.search(r"--[a-z]", str(text)) and "snownlp" not in text
                ]
    assert named == []


@pytest.mark.parametrize(
    ("sentence", "parameters", "shown"),
    [
        ("limit 0: must be at least 1", "limit", "--limit 0: must be at least 1"),
        ("either per_relation=N or share=0.01", ("per_relation", "share"), "either --per-relation N or --share 0.01"),
        ("3 workers were lost; try workers=1", "workers", "3 workers were lost; try --workers 1"),
        ("params MR1.1: not among those that are run", "params", "--set MR1.1: not among those that are run"),
        ("by/by.csv: label 'by'; say by", "by", "by/by.csv: label 'by'; say --by"),
    ],
)
def test_parameters_are_spelled_as_options(sentence, parameters, shown):
    assert shell_wording(AuditError(sentence, parameter=parameters)) == shown
