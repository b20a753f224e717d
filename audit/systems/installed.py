"""Which packages are there, and in which version, without importing them."""

from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec


def package_version(distribution: str) -> str:
    """The installed version of a distribution, or "absent"."""
    try:
        return version(distribution)
    except PackageNotFoundError:
        return "absent"


def missing(module: str, install: str) -> str | None:
    """None when the module can be imported, else the line that installs it."""
    return None if find_spec(module) else install
