"""Programs that speak JSON lines: what they are sent, what they answer, and every way to end without an answer."""

import json
import os
import pickle
import sys
import textwrap
import time

import pytest

from audit.errors import AuditError, BadFile
from audit.systems import get_system
from audit.tasks import Input, Output

ECHO = """
    import json, os, sys
    for line in sys.stdin:
        asked = json.loads(line)
        text = asked["texts"][0]
        {more}
        print(json.dumps({{"label": "NEGATIVE" if "boring" in text else "positive", "score": 0.75}}), flush=True)
"""


def program(folder, more="pass", file="", code=ECHO):
    """The spec of a file that describes a program in Python."""
    body = textwrap.dedent(code).format(more=more)
    (folder / "program.py").write_text(body, encoding="utf-8")
    command = json.dumps([sys.executable, str(folder / "program.py")])
    text = f'name = "mine"\nversion = "1"\ncommand = {command}\n{file}'
    (folder / "program.toml").write_text(text, encoding="utf-8")
    return get_system(f"command:{folder / 'program.toml'}")


def texts(*of):
    return [Input.of(text) for text in of]


def is_running(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    with open(f"/proc/{pid}/stat", encoding="utf-8") as status:
        return status.read().rpartition(")")[2].split()[0] != "Z"


def wait_for(condition, seconds=5.0):
    until = time.monotonic() + seconds
    while not condition() and time.monotonic() < until:
        time.sleep(0.02)
    return condition()


def test_it_is_asked_in_lines_and_started_once(tmp_path):
    more = f'print(line, file=open({str(tmp_path / "log")!r}, "a"), end="")'
    system = program(tmp_path, more)
    system.prepare()
    asked = [Input.of('So boring.\n"Äh"', language="de"), Input.of("Fine.")]
    assert system.run(asked) == [Output("negative", 0.75), Output("positive", 0.75)]
    pid = system.program.process.pid
    assert system.run(texts("Fine.")) == [Output("positive", 0.75)]
    assert system.program.process.pid == pid
    sent = [json.loads(line) for line in (tmp_path / "log").read_text().splitlines()]
    assert sent[0] == {"texts": ['So boring.\n"Äh"'], "languages": ["de"], "task": "sentiment"}
    assert (system.name, system.version, system.tasks, system.needs()) == ("mine", "1", ("sentiment",), None)
    again = pickle.loads(pickle.dumps(system))  # noqa: S301
    assert (again.settings, again.program) == (system.settings, None)
    del system
    assert wait_for(lambda: not is_running(pid))  # no orphan


@pytest.mark.parametrize(
    ("more", "error"),
    [
        (
            'if "7" in text: sys.exit("seven is out of order")',
            "ended with status 1 without an answer; on stderr: seven",
        ),
        ('if "7" in text: import time; time.sleep(9)', "no answer within 0.5 s; does it flush its output"),
        ('if "7" in text: print("Loading ...", flush=True)', "more lines than it was asked|no JSON: Loading"),
        ('if "7" in text: print(json.dumps({{"label": "odd"}}), flush=True); continue', "label 'odd' is not one of"),
        (
            'if "7" in text: print(json.dumps({{"lable": "x"}}), flush=True); continue',
            "an answer has label, score, text, error, of which .* not {'lable': 'x'}",
        ),
    ],
)
def test_the_input_that_ends_it_is_the_error(tmp_path, more, error):
    import re

    system = program(tmp_path, more.replace("{{", "{").replace("}}", "}"), file="timeout = 0.5")
    outputs = system.run(texts(*map(str, range(20))))
    assert [place for place, output in enumerate(outputs) if output.error] == [7, 17]
    assert re.search(error, outputs[7].error)
    assert {output.label for output in outputs if not output.error} == {"positive"}


def test_a_line_too_many_is_no_answer_to_another_input(tmp_path):
    more = 'if text == "7": print(json.dumps({"label": "neutral"}), flush=True)'
    outputs = program(tmp_path, more).run(texts(*map(str, range(12))))
    assert [output.label for output in outputs] == [*["positive"] * 7, None, *["positive"] * 4]
    assert "it wrote more lines than it was asked for" in outputs[7].error


def test_what_it_started_ends_with_it(tmp_path):
    more = (
        f'import subprocess; child = subprocess.Popen(["sleep", "60"]); '
        f'open({str(tmp_path / "child")!r}, "w").write(str(child.pid))'
    )
    system = program(tmp_path, more)
    system.run(texts("a"))
    child = int((tmp_path / "child").read_text())
    assert is_running(child)
    system.program.end()
    assert wait_for(lambda: not is_running(child))


@pytest.mark.parametrize(
    ("task", "answer", "output"),
    [
        ("similarity", '{"score": 0.5}', Output("regulated", 0.5)),
        ("question-answering", '{"text": null}', Output(text="unanswerable")),
    ],
)
def test_every_kind_of_output(tmp_path, task, answer, output):
    code = f"import sys\nfor line in sys.stdin: print({answer!r}, flush=True)".replace("{", "{{").replace("}", "}}")
    system = program(tmp_path, code=code, file=f'task = "{task}"')
    assert system.run([Input.of("It rains.", "Where?")]) == [output]


def test_no_program(tmp_path):
    (tmp_path / "bad.toml").write_text('name = "a"\nversion = "1"')
    with pytest.raises(BadFile, match="command: is missing"):
        get_system(f"command:{tmp_path / 'bad.toml'}")
    with pytest.raises(AuditError, match="names nothing; write command:FILE"):
        get_system("command:")
    (tmp_path / "absent.toml").write_text('name = "a"\nversion = "1"\ncommand = ["no-such-program", "--fast"]')
    system = get_system(f"command:{tmp_path / 'absent.toml'}")
    assert system.needs() == "there is no program 'no-such-program' here; install it, or name it with its folder"
    with pytest.raises(AuditError, match="cannot run here; there is no program"):
        system.prepare()
    with pytest.raises(AuditError, match="'no-such-program' cannot be started"):
        system.run(texts("a"))
