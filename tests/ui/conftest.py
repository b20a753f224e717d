"""Fixtures of the app's tests."""

from pathlib import Path

import pytest
from app_driver import Prepared, prepare


@pytest.fixture
def prepared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Prepared:
    """A database of its own for each test, which the app opens."""
    made = prepare(tmp_path / "audit.db")
    monkeypatch.setenv("AUDIT_DB", str(made.path))
    return made
