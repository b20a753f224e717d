"""Fixtures of the API's tests."""

import shutil
from pathlib import Path

import pytest
from api_world import World, make_database, world_of

from audit.store import open_store


@pytest.fixture(scope="session")
def api_database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The database that every test gets a copy of."""
    path = tmp_path_factory.mktemp("api") / "audit.db"
    engine = make_database(str(path))
    with engine.connect() as connection:
        connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)")
    engine.dispose()
    return path


@pytest.fixture
def world(api_database: Path, tmp_path: Path) -> World:
    path = tmp_path / "audit.db"
    shutil.copy(api_database, path)
    return world_of(open_store(str(path)), str(path))
