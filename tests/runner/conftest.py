import pytest

from audit.store import open_store


@pytest.fixture
def small_chunks(monkeypatch):
    """Thirty sources are then four chunks, of a few batches each."""
    monkeypatch.setattr("audit.runner.studies.CHUNK", {"sentence": 8, "document": 2})
    monkeypatch.setattr("audit.runner.run.TOGETHER", 2)
    for name in ("FEW", "MOST"):
        monkeypatch.setattr(f"audit.runner.dispatch.{name}", 10)


@pytest.fixture
def engine():
    return open_store("sqlite://", create=True)
