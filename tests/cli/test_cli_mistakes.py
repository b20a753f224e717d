"""Mistakes of the user: exit status 2, one line on stderr, nothing on stdout, no traceback, nothing left behind."""

import socket

import pytest

from audit.cli import main
from audit.cli.console import following
from audit.cli.options import options_in_words
from audit.corpora import FileCorpus
from audit.relations import get_relation
from audit.runner.executors import InProcess
from audit.runner.run import run
from audit.sampling.options import FRONT, PlanOptions
from audit.store import open_store


@pytest.fixture
def mistake(capsys):
    """Runs a command that must fail; returns its one line."""

    def call(*arguments):
        status = main([str(one) for one in arguments])
        shown = capsys.readouterr()
        assert status == 2
        assert shown.out == ""
        assert shown.err.count("\n") == 1
        assert shown.err.startswith("audit: ")
        assert "Traceback" not in shown.err
        return shown.err

    return call


@pytest.fixture
def here(tmp_path, monkeypatch):
    """The current directory, with reviews.csv in it."""
    monkeypatch.chdir(tmp_path)
    lines = ["text,gold", *(f"The film number {n} is good.,positive" for n in range(6))]
    (tmp_path / "reviews.csv").write_text("\n".join(lines), encoding="utf-8")
    return tmp_path


@pytest.fixture
def ran(here, own):
    """a.db with a run, and none of a sample."""
    engine = open_store("a.db", create=True)
    relations = [get_relation("sentiment", "MR3.1")]
    run(engine, FileCorpus("reviews.csv"), own.specs("calm"), relations, InProcess())
    engine.dispose()
    return here


RUN = ["run", "--db", "new.db", "--workers", "0"]
GOOD = ["--corpus", "reviews.csv", "--systems", "vader"]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ([*RUN, "--corpus", "nothing", "--systems", "vader"], "unknown corpus 'nothing'; known are: conll:FILE, imdb"),
        ([*RUN, "--corpus", "reviews.csv", "--systems", ","], "expected one or more names with commas"),
        ([*RUN, *GOOD, "--seed", "9" * 30], "or too large a one"),
        ([*RUN, *GOOD, "--limit", "0"], "--limit 0: expected a whole number from 1"),
        ([*RUN, *GOOD, "--limit", "x"], "should be a valid integer"),
        ([*RUN, *GOOD, "--time-limit", "inf"], "--time-limit inf: is not a number"),
        (["run", "--db", ".", *GOOD], "is a folder"),
        (["run", "--db", "", *GOOD], "--db is empty"),
        (["run", *GOOD[:2]], "Missing option '--systems'; see `audit run --help`"),
        (["sample", "--base", "5"], "there is no database audit.db; make one with `audit run`"),
        (["sample", "--base", "5", "--share", "0.1"], "--base 20 or --share 0.01, not both"),
        (["gold", "--db", "reviews.csv"], "is not a database of audit"),
        (["app", "--address", "192.0.2.77"], "cannot listen on 192.0.2.77:8501"),
        ([], "Missing command"),
        (["user", "ad"], "No such command 'ad'. Did you mean 'add'?; see `audit user --help`"),
        (["sample", "--anotators", "5"], "No such option: --anotators (Possible options: --annotators)"),
        (["values", "means", "--at", "0.5"], "--at is not for means"),
        (["report", "--html"], "Option '--html' requires an argument"),
        (["gold", "a", "b"], "(a b); see `audit gold --help`"),
        (["rerank"], "Missing argument 'FILE'; see `audit rerank --help`"),
        (["--plugin", "nowhere", "report"], "no module 'nowhere' for a plug-in"),
    ],
    ids=lambda value: " ".join(value)[:60] if isinstance(value, list) else "",
)
def test_a_mistake_is_one_line_and_leaves_nothing(arguments, says, here, mistake):
    assert says in mistake(*arguments)
    assert sorted(one.name for one in here.iterdir()) == ["reviews.csv"]


def test_a_port_that_is_taken_or_none_is_refused(ran, capsys):
    with socket.socket() as other:
        other.bind(("localhost", 0))
        other.listen()
        taken = other.getsockname()[1]
        for port, says in ((taken, f"cannot listen on localhost:{taken} (Address already in use)"), (0, "1 to 65535")):
            assert main(["app", "--db", "a.db", "--port", str(port)]) == 2
            shown = capsys.readouterr()
            assert says in shown.err
            assert "Traceback" not in shown.err


def test_a_database_that_refuses_is_one_line(ran, mistake, monkeypatch):
    """Full, locked or read-only: which one is the database's own words."""
    engine = open_store("a.db")

    def refusing(*_):
        with engine.begin() as connection:
            connection.exec_driver_sql("PRAGMA query_only=ON")
            connection.exec_driver_sql("DELETE FROM answer")

    monkeypatch.setattr("audit.judging.labels.answer_with_gold", refusing)
    assert "the database refused: attempt to write a readonly database; what was stored before is kept" in mistake(
        "gold", "--db", "a.db"
    )


def test_stopping_says_that_the_same_command_goes_on(here, capsys, monkeypatch):
    def stop(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("audit.runner.executors.InProcess.submit", stop)
    assert main([*RUN, *GOOD]) == 130
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.splitlines()[-1] == "audit: stopped; the same command goes on from here"
    monkeypatch.undo()


def test_a_next_command_has_the_options_and_plugins_of_this_one(monkeypatch):
    options = PlanOptions(decide="relations", eps=0.01, base={"MR1.1": 40})
    words = options_in_words(options, FRONT, "base", "share", "decide", "eps", "annotators")
    monkeypatch.setattr("audit.cli.console.PLUGINS", ["mine"])
    wanted = "audit --plugin mine sample --base MR1.1=40 --decide relations --eps 0.01"
    assert following("sample", *words) == wanted
