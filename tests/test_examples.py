"""The examples in the docstrings of all modules are true."""

import doctest
import importlib
from pathlib import Path

import pytest

import audit
from audit.relations import registry

ROOT = Path(audit.__file__).parent
FILES = sorted(path for path in ROOT.rglob("*.py") if ">>>" in path.read_text(encoding="utf-8"))


def name_of(file):
    parts = file.relative_to(ROOT.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@pytest.mark.parametrize("name", [name_of(file) for file in FILES])
def test_examples(name):
    with registry.RELATIONS.restored():  # an example registers one of its own
        result = doctest.testmod(importlib.import_module(name))
    assert result.attempted > 0
    assert result.failed == 0
