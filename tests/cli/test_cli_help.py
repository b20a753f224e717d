"""Help, suggestions and plug-ins of the command line: one sentence for a mistyped word, and pages without work."""

import pytest

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


def test_a_next_command_has_the_options_and_plugins_of_this_one(monkeypatch):
    options = PlanOptions(decide="relations", eps=0.01, base={"MR1.1": 40})
    words = options_in_words(options, FRONT, "base", "share", "decide", "eps", "annotators")
    monkeypatch.setattr("audit.cli.console.PLUGINS", ["mine"])
    wanted = "audit sample --base MR1.1=40 --decide relations --eps 0.01 --plugin mine"
    assert following("sample", *words) == wanted
