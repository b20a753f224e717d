"""The examples in the docstrings of audit.reports are true."""

import doctest
import importlib
import subprocess
import sys

import pytest


@pytest.mark.parametrize(
    "name",
    [
        "accuracy",
        "audit_words",
        "build",
        "words",
        "terminal",
        "terminal_tables",
        "html",
        "progress",
        "sheet",
        "violation_charts",
        "violation_words",
        "violations",
        "worker",
    ],
)
def test_examples(name):
    found = doctest.testmod(importlib.import_module(f"audit.reports.{name}"))
    assert found.attempted > 0
    assert found.failed == 0


def test_reports_load_nothing_heavy_before_they_are_used():
    heavy = "('altair', 'jinja2', 'vl_convert')"
    code = f"import sys, audit.reports.html; print([name for name in {heavy} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
