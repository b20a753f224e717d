"""The examples in the docstrings of the packages under audit.statistics are true."""

import doctest
import importlib
import pkgutil

import pytest

import audit.statistics.agreement
import audit.statistics.annotators

PACKAGES = (audit.statistics.agreement, audit.statistics.annotators)


@pytest.mark.parametrize(
    "name",
    [f"{package.__name__}.{one.name}" for package in PACKAGES for one in pkgutil.iter_modules(package.__path__)],
)
def test_examples(name):
    found = doctest.testmod(importlib.import_module(name))
    assert found.attempted > 0
    assert found.failed == 0
