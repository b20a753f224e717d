"""An export that tests may spoil: a copy of one that is made once."""

import shutil
from pathlib import Path

import pytest

from audit.exchange.export import export
from audit.store import open_store


@pytest.fixture(scope="session")
def _exported(_judged, tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("exported") / "one"
    export(open_store(str(_judged)), folder)
    return folder


@pytest.fixture
def exported(_exported, tmp_path) -> Path:
    """The export of the database `judged`."""
    return Path(shutil.copytree(_exported, tmp_path / "one"))
