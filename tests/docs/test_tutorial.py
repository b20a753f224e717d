"""The tutorial works as it is written: its files, its commands, and the lines that they print."""

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "tutorial" / "index.md"


def test_the_tutorial_runs_and_prints_what_it_shows(tmp_path):
    printed: list[str] = []
    environment = os.environ | {"PYTHONPATH": str(ROOT), "COLUMNS": "100"}
    for language, block in re.findall(r"```(\w+)\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL):
        if language == "python":
            (tmp_path / block.split("\n")[0].removeprefix("# ")).write_text(block, encoding="utf-8")
        elif language == "sh":
            for line in block.splitlines():
                program, _, rest = line.partition(" ")
                module = {"audit": ["-m", "audit"], "python": []}[program]
                command = [sys.executable, *module, *rest.split()]
                done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
                assert done.returncode == 0, done.stderr
                printed += done.stdout.splitlines()
        else:
            assert [line for line in block.splitlines() if line not in printed] == []
    assert any("51.4" in line and "of the reported satisfaction is false" in line for line in printed)
    assert (tmp_path / "report.html").stat().st_size > 10_000
