"""Fixtures of the tests of judging."""

import pytest
from question_world import add_people


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.postgres)])
def where(request, tmp_path) -> str:
    """Where an empty database is to be, of either kind."""
    return str(tmp_path / "audit.db") if request.param == "sqlite" else request.getfixturevalue("postgres_url")


@pytest.fixture
def who(engine) -> dict[str, int]:
    """Account ids by name, in the module's database `engine`."""
    roles = {"ann": "annotator", "bob": "annotator", "cy": "annotator", "ada": "adjudicator", "mia": "manager"}
    return add_people(engine, roles)
