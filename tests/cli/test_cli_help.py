"""Help, suggestions and plug-ins of the command line: one sentence for a mistyped word, and pages without work."""

import pytest

from audit.cli import main
from audit.cli.console import following
from audit.cli.options import options_in_words
from audit.sampling.options import FRONT, PlanOptions


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ("user ad", "No such command 'ad'. Did you mean 'add'?; see `audit user --help`"),
        ("sample --anotators 5", "No such option: --anotators (Possible options: --annotators)"),
        ("report --html --json", "Invalid value for '--html': --json is an option, no file"),
        ("report --html", "Option '--html' requires an argument"),
        ("gold a b", "(a b); see `audit gold --help`"),
        ("rerank", "Missing argument 'FILE'; see `audit rerank --help`"),
        ("--plugin nowhere report", "no module 'nowhere' for a plug-in"),
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
    wanted = "audit --plugin mine sample --base MR1.1=40 --decide relations --eps 0.01"
    assert following("sample", *words) == wanted
