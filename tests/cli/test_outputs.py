"""What a command writes is nothing that it reads and no database, and what it says goes out, or it says why not."""

import json
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


@pytest.mark.parametrize(
    ("command", "says"),
    [
        ("report --db judged.db --html judged.db", "is a database"),
        ("report --db judged.db --html ./judged.db", "is a database"),
        ("report --db link.db --html judged.db", "is a database"),
        ("report --db judged.db --html link.db", "is a database"),
        ("report --db sqlite:///judged.db --html second.html", "is a database"),
        ("report --db absent.db --html absent.db", "is a database"),
        ("report --db absent.db --html absent.db-journal", "is a database"),
        ("report --db judged.db --html judged.db-wal", "is a database"),
        ("backup --db judged.db --out judged.db-wal", "is a database"),
        ("export --db judged.db --out judged.db-shm", "is a database"),
        ("demo --no-serve --db new.db --html new.db", "is a database"),
        ("rerank totals.csv --html judged.db", "is a database"),
        ("rerank totals.csv --html judged.db-wal", "is a database"),
        ("rerank totals.csv --html ./totals.csv", "is read by this command"),
        ("rerank totals.csv --weights weights.csv --html weights.csv", "is read by this command"),
        ("report --db judged.db --weights weights.csv --html weights.csv", "is read by this command"),
        ("export --db judged.db --out new --pseudonymise --salt-file new", "is read by this command"),
        ("restore second.html --db judged.db-wal", "belongs to the database beside it"),
        ("rerank totals.csv --html ''", "the name is empty"),
        ("export --db judged.db --out ''", "the name is empty"),
        ("backup --db judged.db --out ' '", "the name is empty"),
        ("rerank ''", "the name is empty"),
        ("rerank totals.csv --weights ''", "the name is empty"),
        ("rerank totals.csv --html /dev/null", "it is a device"),
        ("rerank totals.csv --html /dev/full", "it is a device"),
        ("rerank caf\udce9.csv", r"argument 2 (caf\udce9.csv) has bytes that are no UTF-8"),
        ("report --db caf\udce9.db", "bytes that are no UTF-8"),
        ("user add \udce9", "bytes that are no UTF-8"),
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


def test_an_older_report_is_replaced(here):
    Path("r.html").write_text("old", encoding="utf-8")
    assert main(["rerank", "totals.csv", "--html", "r.html"]) == 0
    assert Path("r.html").read_text(encoding="utf-8").lower().startswith("<!doctype html>")


def shell(command, **environment):
    """Status, stdout and stderr of a line of the shell, in which `audit` is the command."""
    line = command.replace("audit ", f"{shlex.quote(sys.executable)} -m audit ")
    done = subprocess.run(["bash", "-c", line], capture_output=True, env={**os.environ, **environment}, timeout=120)
    return done.returncode, done.stdout, done.stderr


@posix
@pytest.mark.slow
@pytest.mark.parametrize("encoding", ["cp1252", "ascii"])
def test_any_encoding_of_the_output(here, encoding):
    status, out, err = shell("audit rerank totals.csv --full", PYTHONIOENCODING=encoding)
    assert (status, err) == (0, b"")
    shown = r"MR \u75351 \U0001f600"
    assert shown in out.decode(encoding)
    status, out, err = shell("audit systems --task 电", PYTHONIOENCODING=encoding)
    assert (status, out, err.count(b"\n")) == (2, b"", 1)
    assert rb"unknown task '\u7535'" in err


@posix
def test_json_in_any_encoding(here):
    _, out, _ = shell("audit rerank totals.csv --json", PYTHONIOENCODING="ascii")
    assert json.loads(out.decode("ascii"))["cells"][0]["relation"] == "MR 电1 😀"


def slow(*values):
    return pytest.param(*values, marks=pytest.mark.slow)


@posix
@pytest.mark.parametrize(
    ("command", "status", "says"),
    [
        ("audit systems >&-", 2, b"cannot be written to stdout"),
        slow("audit rerank totals.csv --html r.html >&-", 0, b"report: r.html"),
        slow("audit rerank absent.csv >&-", 2, b"there is no such file"),
        slow("audit systems 2>&- >o.txt", 0, b""),
        slow("audit systems --task no 2>&-", 2, b""),
        slow("audit doctor --db judged.db <&- >&- 2>&-", 2, b""),
        slow("audit rerank totals.csv >/dev/full", 2, b"No space left on device"),
        ("audit systems --json >/dev/full", 2, b"No space left on device"),
        slow("audit --help >/dev/full", 2, b"No space left on device"),
        slow("audit systems --task no 2>/dev/full", 2, b""),
        slow("audit rerank totals.csv --html r.html 2>/dev/full", 0, b""),
        slow("audit systems >/dev/full 2>&1", 2, b""),
        ("audit systems --json | head -c 1 >o.txt; exit ${PIPESTATUS[0]}", 0, b""),
    ],
)
def test_streams_that_are_closed_full_or_unread(here, command, status, says):
    if "/dev/full" in command and not Path("/dev/full").exists():
        pytest.skip("needs /dev/full")
    ended, out, err = shell(command)
    assert (ended, out) == (status, b"")
    assert says in err
    assert err.count(b"\n") == bool(says)
    assert b"Traceback" not in err


@posix
def test_no_database_gets_the_number_of_a_closed_stream(here):
    """What a system prints would be written into the database."""
    Path("mine.py").write_text("def it(text):\n    print('noise' * 1000)\n    return 'positive', 0.5\n", "utf-8")
    Path("films.csv").write_text("text,gold\nThe film is good.,positive\n", "utf-8")
    run = "audit run --db n.db --corpus films.csv --systems mine:it --relations MR3.1 --workers 0"
    assert shell(f"{run} >&- 2>&- <&-", PYTHONPATH=os.environ.get("PYTHONPATH", "") + os.pathsep + ".")[0] == 2
    assert main(["doctor", "--db", "n.db"]) == 0
    assert b"noise" not in Path("n.db").read_bytes()


@pytest.mark.parametrize(
    ("command", "says"),
    [
        ("rerank totals.csv --weights long.csv", "long.csv"),
        ("study check digits.toml", "digits.toml: there is a whole number of more than 308 digits"),
        ("replay no --report deep.json", "deep.json: the lists or objects of this JSON are nested too deeply"),
        ("import-labels deep.json --db judged.db", "nested too deeply"),
        ("run --db n.db --corpus deep.jsonl --systems vader", "nested too deeply"),
        ("run --db n.db --corpus pipe.csv --systems vader", "it is a named pipe"),
        ("rerank pipe.csv", "it is a named pipe"),
        ("study check pipe.csv", "it is a named pipe"),
        ("recorded pipe.csv", "it is a named pipe"),
        ("agreement --ratings /dev/zero", "it is a device"),
        ("report --db pipe.csv", "it is a named pipe"),
        ("export --db judged.db --out new --pseudonymise --salt-file /dev/zero", "it is a device"),
    ],
)
@posix
def test_files_without_end_or_depth(here, capsys, command, says):
    Path("long.csv").write_text("relation,weight\n" + "x" * 10_000_000 + ",1\n")
    Path("digits.toml").write_text('name = "p"\n[study]\nlimit = ' + "9" * 10_000 + "\n")
    Path("deep.json").write_text("[" * 200_000)
    Path("deep.jsonl").write_text('{"text": ' + "[" * 200_000)
    os.mkfifo("pipe.csv")
    names = sorted(os.listdir())
    assert main(shlex.split(command)) == 2
    said = capsys.readouterr()
    assert says in said.err
    assert said.err.count("\n") == 1
    assert [name for name in sorted(os.listdir()) if not name.startswith("judged.db-")] == names


@pytest.mark.parametrize("value", ["[" * 100_000, "9" * 5_000, "1e400", "NaN", '{"a":' * 50_000])
def test_options_that_are_json_without_end(here, capsys, value):
    Path("films.csv").write_text("text,gold\nThe film is good.,positive\n", "utf-8")
    given = ["run", "--db", "n.db", "--corpus", "films.csv", "--systems", "vader", "--set", f"MR6.1.sentences={value}"]
    assert main(given) == 2
    said = capsys.readouterr()
    assert said.err.startswith(f"audit: --set MR6.1.sentences={value[:40]}: ")
    assert len(said.err) < 200
    assert main(["settings", "--db", "judged.db", "--set", f"pass_mark={value}"]) == 2
    assert "the value must be a number" in capsys.readouterr().err
    assert not Path("n.db").exists()
