"""`--repeats` on the command line, in plans and in the library: what they do, say and refuse."""

import hashlib
import json
from pathlib import Path

import pytest

from audit.cli import main

SWAYING = '''
ASKED = {}


def swaying(text):
    """Says something else in the second call."""
    ASKED[text] = ASKED.get(text, 0) + 1
    return ("negative" if ASKED[text] == 2 else "positive"), (0.9 if text.endswith("!") else 0.5)
'''


@pytest.fixture
def swaying(tmp_path, monkeypatch):
    """The name of a system that contradicts itself, in a folder with ten films."""
    monkeypatch.chdir(tmp_path)
    module = "swaying_" + hashlib.md5(str(tmp_path).encode()).hexdigest()
    (tmp_path / f"{module}.py").write_text(SWAYING, encoding="utf-8")
    (tmp_path / "films.csv").write_text("text\n" + "".join(f"Film {number} was good.\n" for number in range(10)))
    return f"{module}:swaying"


def run(capsys, *more, status=0):
    command = ["run", "--db", "films.db", "--corpus", "films.csv", "--relations", "MR1.4", "--workers", "0", *more]
    assert main(command) == status
    return capsys.readouterr()


@pytest.mark.slow
def test_from_the_run_to_the_report(swaying, capsys, asked_once):
    first = json.loads(run(capsys, "--systems", swaying, "--json").out)
    assert (first["executed"], first["repeated"]) == (20, 0)
    more = json.loads(run(capsys, "--systems", swaying, "--repeats", "3", "--json").out)
    assert (more["executed"], more["repeated"]) == (40, 40)
    again = run(capsys, "--systems", swaying, "--repeats", "3").out
    assert "nothing was left to do" in again
    assert main(["report", "--db", "films.db", "--full"]) == 0
    assert "100.0 [" in capsys.readouterr().out.partition("Contradictions on the same input")[2]
    assert main(["report", "--db", "films.db", "--html", "films.html"]) == 0
    assert "Contradictions on the same input" in Path("films.html").read_text(encoding="utf-8")
