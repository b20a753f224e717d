"""The examples in the docstrings of audit.statistics are true."""

import doctest
import importlib
import pkgutil

import pytest

import audit.statistics


@pytest.mark.parametrize("name", [module.name for module in pkgutil.iter_modules(audit.statistics.__path__)])
def test_examples(name):
    found = doctest.testmod(importlib.import_module(f"audit.statistics.{name}"))
    assert found.attempted > 0
    assert found.failed == 0
