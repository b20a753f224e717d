"""Mistakes of the user: exit status 2, one line on stderr, nothing on stdout, no traceback, nothing left behind or
overwritten; and what names and texts would do to a terminal."""

import json
import os
import shlex
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from audit.cli import main
from audit.cli.console import following, visible
from audit.cli.options import options_in_words
from audit.sampling.options import FRONT, PlanOptions
from audit.store import open_store

HOSTILE = "a\x1b[2J\x1b]0;title\x07\u202eb\x9b31m"
TOTALS = "relation,system,sr_observed,fs_rate\nMR 电1 😀,á,0.9,0.2\nMR 电1 😀,b,0.8,0.1\n"
posix = pytest.mark.skipif(os.name == "nt", reason="a shell of POSIX")


@pytest.fixture
def mistake(capsys):
    """Runs a command that must fail; returns its one line."""

    def call(*arguments):
        status = main([str(one) for one in arguments])
        shown = capsys.readouterr()
        assert (status, shown.out, shown.err.count("\n")) == (2, "", 1), shown.err
        assert shown.err.startswith("audit: ")
        return shown.err

    return call


@pytest.fixture
def here(tmp_path, monkeypatch):
    """The current directory, with reviews.csv in it."""
    monkeypatch.chdir(tmp_path)
    lines = ["text,gold", *(f"The film number {n} is good.,positive" for n in range(6))]
    (tmp_path / "reviews.csv").write_text("\n".join(lines), encoding="utf-8")
    return tmp_path


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
        (["gold", "--db", "reviews.csv"], "cannot open the database reviews.csv: file is not a database"),
        (["app", "--address", "192.0.2.77"], "cannot listen on 192.0.2.77:8501"),
        (["app", "--port", "0"], "1 to 65535"),
        ([], "Missing command"),
        (["user", "ad"], "No such command 'ad'. Did you mean 'add'?; see `audit user --help`"),
        (["sample", "--anotators", "5"], "No such option: --anotators (Possible options: --annotators)"),
        (["values", "means", "--at", "0.5"], "--at is not for means"),
        (["rerank", "reviews.csv", "--html", "./reviews.csv"], "is read by this command"),
        (["rerank", "reviews.csv", "--html", "/dev/null"], "it is a device, pipe or socket"),
        (["--plugin", "nowhere", "report"], "no module 'nowhere' for a plug-in"),
    ],
    ids=lambda value: " ".join(value)[:60] if isinstance(value, list) else "",
)
def test_a_mistake_is_one_line_and_leaves_nothing(arguments, says, here, mistake):
    before = (here / "reviews.csv").read_bytes()
    assert says in mistake(*arguments)
    assert sorted(one.name for one in here.iterdir()) == ["reviews.csv"]
    assert (here / "reviews.csv").read_bytes() == before


@pytest.mark.parametrize("output", ["judged.db", "link.db", "second.html"])
def test_no_database_is_overwritten(judged, output, mistake, monkeypatch):
    monkeypatch.chdir(Path(judged).parent)
    Path("link.db").symlink_to("judged.db")
    os.link("judged.db", "second.html")
    before = Path(judged).read_bytes()
    assert "is a database" in mistake("report", "--db", "sqlite:///judged.db", "--html", output)
    assert Path(judged).read_bytes() == before


def test_a_port_that_is_taken_is_refused(judged, mistake):
    with socket.socket() as other:
        other.bind(("localhost", 0))
        other.listen()
        taken = other.getsockname()[1]
        says = f"cannot listen on localhost:{taken} (Address already in use)"
        assert says in mistake("app", "--db", judged, "--port", taken)


def test_a_database_that_refuses_is_one_line(judged, mistake, monkeypatch):
    """Full, locked or read-only: which one is the database's own words."""

    def refusing(*_):
        with open_store(judged).begin() as connection:
            connection.exec_driver_sql("PRAGMA query_only=ON")
            connection.exec_driver_sql("DELETE FROM answer")

    monkeypatch.setattr("audit.judging.labels.answer_with_gold", refusing)
    says = "the database refused: attempt to write a readonly database; what was stored before is kept"
    assert says in mistake("gold", "--db", judged)


def test_stopping_says_that_the_same_command_goes_on(here, capsys, monkeypatch):
    def stop(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("audit.runner.executors.InProcess.submit", stop)
    assert main([*RUN, *GOOD]) == 130
    assert capsys.readouterr().err.splitlines()[-1] == "audit: stopped; the same command goes on from here"


def test_a_next_command_has_the_options_and_plugins_of_this_one(monkeypatch):
    options = PlanOptions(decide="relations", eps=0.01, base={"MR1.1": 40})
    words = options_in_words(options, FRONT, "base", "share", "decide", "eps", "annotators")
    monkeypatch.setattr("audit.cli.console.PLUGINS", ["mine"])
    wanted = "audit --plugin mine sample --base MR1.1=40 --decide relations --eps 0.01"
    assert following("sample", *words) == wanted


# Streams and terminals.


def shell(command, **environment):
    """Status, stdout and stderr of a line of the shell, in which `audit` is the command."""
    line = command.replace("audit ", f"{shlex.quote(sys.executable)} -m audit ")
    done = subprocess.run(["bash", "-c", line], capture_output=True, env={**os.environ, **environment}, timeout=120)
    return done.returncode, done.stdout, done.stderr


@posix
@pytest.mark.slow
def test_any_encoding_of_the_output(here):
    Path("totals.csv").write_text(TOTALS, encoding="utf-8")
    status, out, err = shell("audit rerank totals.csv --full", PYTHONIOENCODING="ascii")
    assert (status, err) == (0, b"")
    assert rb"MR \u75351 \U0001f600" in out


@posix
@pytest.mark.slow
@pytest.mark.parametrize(
    ("command", "status", "says"),
    [
        ("audit systems --json >/dev/full", 2, b"No space left on device"),
        ("audit systems --json | head -c 1 >o.txt; exit ${PIPESTATUS[0]}", 0, b""),
    ],
)
def test_streams_that_are_full_or_unread(here, command, status, says):
    if "/dev/full" in command and not Path("/dev/full").exists():
        pytest.skip("needs /dev/full")
    ended, out, err = shell(command)
    assert (ended, out, says in err, err.count(b"\n")) == (status, b"", True, bool(says))


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain, 中文,　wide\tand\nlines – fine", "plain, 中文,　wide\tand\nlines – fine"),
        ("\x1b[31m\r\x00\x7f\x9b", "\\x1b[31m\\r\\x00\\x7f\\x9b"),
        ("\u202e\u2066", "\\u202e\\u2066"),
    ],
)
def test_what_acts_is_spelled_out(text, shown):
    assert visible(text) == shown


def test_reports_and_errors_of_hostile_names(here, capsys):
    row = {"relation": HOSTILE, "system": HOSTILE, "source": "S.", "follow_ups": ["F."], "verdict": "satisfied"}
    Path("own.jsonl").write_text(json.dumps(row | {"outputs": ["positive", "positive"]}), encoding="utf-8")
    for arguments in ("import-run own.jsonl", "report", "sample --base 5", "agreement", "rerank own.jsonl"):
        main(arguments.split())
    printed = capsys.readouterr()
    assert not set(printed.out + printed.err) & set("\x1b\x07\u202e\x9b")
    assert "\\x1b[2J" in printed.out
