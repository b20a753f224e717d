"""What a command writes is nothing that it reads and no database, and what it says goes out, or it says why not."""

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from audit.cli import main

TOTALS = "relation,system,sr_observed,fs_rate\nMR 电1 😀,á,0.9,0.2\nMR 电1 😀,b,0.8,0.1\n"
posix = pytest.mark.skipif(os.name == "nt", reason="a shell of POSIX")


@pytest.fixture
def here(judged, tmp_path, monkeypatch):
    """The current directory, with judged.db, totals.csv, weights.csv and several names of the database."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "totals.csv").write_text(TOTALS, encoding="utf-8")
    (tmp_path / "weights.csv").write_text("relation,weight\nMR 电1 😀,1\n", encoding="utf-8")
    (tmp_path / "link.db").symlink_to("judged.db")
    os.link("judged.db", "second.html")
    return tmp_path


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("command", "says"),
    [
        ("report --db judged.db --html judged.db", "is a database"),
        ("report --db sqlite:///judged.db --html second.html", "is a database"),
        ("report --db absent.db --html absent.db", "is a database"),
        ("rerank totals.csv --html ./totals.csv", "is read by this command"),
        ("export --db judged.db --out new --pseudonymise --salt-file new", "is read by this command"),
        ("rerank totals.csv --html ''", "is empty; give it a value"),
        ("rerank totals.csv --html /dev/null", "it is a device, pipe or socket"),
    ],
)
def test_what_would_be_destroyed_is_refused_before_any_work(here, capsys, command, says):
    before = contents(here)
    status = main(shlex.split(command))
    said = capsys.readouterr()
    assert (status, said.out) == (2, "")
    assert says in said.err
    assert said.err.count("\n") == 1
    assert contents(here) == before


def shell(command, **environment):
    """Status, stdout and stderr of a line of the shell, in which `audit` is the command."""
    line = command.replace("audit ", f"{shlex.quote(sys.executable)} -m audit ")
    done = subprocess.run(["bash", "-c", line], capture_output=True, env={**os.environ, **environment}, timeout=120)
    return done.returncode, done.stdout, done.stderr


@posix
@pytest.mark.slow
def test_any_encoding_of_the_output(here):
    encoding = "ascii"
    status, out, err = shell("audit rerank totals.csv --full", PYTHONIOENCODING=encoding)
    assert (status, err) == (0, b"")
    shown = r"MR \u75351 \U0001f600"
    assert shown in out.decode(encoding)
    status, out, err = shell("audit systems --task 电", PYTHONIOENCODING=encoding)
    assert (status, out, err.count(b"\n")) == (2, b"", 1)
    assert rb"unknown task '\u7535'" in err


@pytest.mark.slow
@posix
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
    assert (ended, out) == (status, b"")
    assert says in err
    assert err.count(b"\n") == bool(says)
    assert b"Traceback" not in err
