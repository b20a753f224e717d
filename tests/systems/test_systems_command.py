"""Programs that speak JSON lines: what they are sent, what they answer, and every way to end without an answer."""

import json
import pickle
import re
import sys
import time
from pathlib import Path

import pytest

from audit.errors import AuditError
from audit.systems import get_system
from audit.tasks import Input, Output

ECHO = """import json, os, subprocess, sys, time
for line in sys.stdin:
    text = json.loads(line)["texts"][0]
    {more}
    print(json.dumps({{"label": "NEGATIVE" if "boring" in text else "positive", "score": 0.75}}), flush=True)
"""


def program(folder, more="pass", file="", code=ECHO):
    """The spec of a file that describes a program in Python."""
    (folder / "program.py").write_text(code.replace("{more}", more).replace("{{", "{").replace("}}", "}"))
    command = json.dumps([sys.executable, str(folder / "program.py")])
    (folder / "program.toml").write_text(f'name = "mine"\nversion = "1"\ncommand = {command}\n{file}')
    return get_system(f"command:{folder / 'program.toml'}")


def test_it_is_sent_lines_and_leaves_no_orphan(tmp_path):
    log, child = str(tmp_path / "log"), str(tmp_path / "child")
    started = f'open({child!r}, "w").write(str(subprocess.Popen(["sleep", "60"]).pid))'
    system = program(tmp_path, f'print(line, file=open({log!r}, "a"), end=""); {started}')
    system.prepare()
    asked = [Input.of('So boring.\n"Äh"', language="de"), Input.of("Fine.")]
    assert system.run(asked) == [Output("negative", 0.75), Output("positive", 0.75)]
    sent = json.loads((tmp_path / "log").read_text().splitlines()[0])
    assert sent == {"texts": ['So boring.\n"Äh"'], "languages": ["de"], "task": "sentiment"}
    assert pickle.loads(pickle.dumps(system)).run(asked[1:]) == [Output("positive", 0.75)]  # noqa: S301
    status = Path(f"/proc/{(tmp_path / 'child').read_text()}/status")  # what it started is ended, too
    until = time.monotonic() + 5
    while status.exists() and "\tZ" not in status.read_text():
        assert time.monotonic() < until


@pytest.mark.parametrize(
    ("more", "error"),
    [
        ('sys.exit("seven is out of order")', "ended with status 1; seven is out of order"),
        ("os._exit(0)", "it wrote 0 lines for 1 input"),
        ("time.sleep(9)", "no line within 1 s; does it flush its output"),
        ('print("Loading ...", flush=True)', "it wrote 2 lines for 1 input; Loading"),
        ('print(json.dumps({{"label": "neutral"}}), flush=True)', "it wrote 2 lines for 1 input"),
        ('print("?"); continue', r"it wrote a line that is no JSON: \?"),
        ('print(json.dumps({{"label": "odd"}}), flush=True); continue', "label 'odd' is not one of"),
        ('print(json.dumps({{"lable": "x"}}), flush=True); continue', "an answer has label, score, text or error"),
    ],
)
def test_the_input_at_fault_is_the_error(tmp_path, more, error):
    system = program(tmp_path, f'if "7" in text: {more}', file="timeout = 1")
    outputs = system.run([Input.of(str(number)) for number in range(20)])
    assert [place for place, output in enumerate(outputs) if output.error] == [7, 17]
    assert re.search(error, outputs[7].error)
    assert {output.label for output in outputs if not output.error} == {"positive"}


@pytest.mark.parametrize(
    ("task", "answer", "output"),
    [
        ("similarity", '{"score": 0.5}', Output("regulated", 0.5)),
        ("question-answering", '{"text": null}', Output(text="unanswerable")),
    ],
)
def test_other_kinds_of_output(tmp_path, task, answer, output):
    system = program(
        tmp_path, code=f"import sys\nfor line in sys.stdin: print({answer!r}, flush=True)", file=f'task = "{task}"'
    )
    assert system.run([Input.of("It rains.", "Where?")]) == [output]


def test_no_program(tmp_path):
    (tmp_path / "absent.toml").write_text('name = "a"\nversion = "1"\ncommand = ["no-such-program", "--fast"]')
    system = get_system(f"command:{tmp_path / 'absent.toml'}")
    with pytest.raises(AuditError, match="cannot run here; there is no program 'no-such-program' here; install it"):
        system.prepare()
