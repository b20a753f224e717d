"""The plug-in of pytest: its option, its fixtures and its mark. pytest loads this module in every project, and nothing
else of audit with it; the tests are those of `audit.library.metamorphic`."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from audit.library.study import Study

ACTIVE = pytest.StashKey[bool]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """The option --audit-db."""
    parser.getgroup("audit").addoption(
        "--audit-db",
        metavar="PATH",
        help="keep outputs and judgements of metamorphic tests in this database; only what is new is executed",
    )


def pytest_configure(config: pytest.Config) -> None:
    """The marker, and that the plug-in is there."""
    config.addinivalue_line("markers", "metamorphic: a relation that a system must not violate too often (audit)")
    config.stash[ACTIVE] = True


def pytest_itemcollected(item: pytest.Item) -> None:
    """Mark the tests of relations, for `-m metamorphic`. Here, since a mark in the test would be unknown, and with
    --strict-markers a mistake, where the plug-in is switched off."""
    if getattr(getattr(item, "function", None), "metamorphic", False):
        item.add_marker("metamorphic")


@pytest.fixture(scope="session")
def audit_store(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The database of this session: that of --audit-db, or one that goes with it."""
    named = request.config.getoption("--audit-db")
    return str(named) if named else str(tmp_path_factory.mktemp("audit") / "audit.db")


@pytest.fixture(scope="session")
def audit_study(request: pytest.FixtureRequest) -> "Callable[..., Study]":
    """`audit.run` without a bar, each call in a database of its own, so that its report is of this run alone; with
    --audit-db in that one. Call it with a corpus, systems and relations."""
    named = request.config.getoption("--audit-db")

    def run(*arguments: Any, **options: Any) -> "Study":
        from audit.library.metamorphic import run_in_turn

        return run_in_turn(*arguments, **{"store": named, "progress": False, **options})

    return run
