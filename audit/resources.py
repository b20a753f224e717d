"""Where files are that are not the user's: those of `data/`, those of installed packages, and the cache."""

import os
from pathlib import Path

from audit.errors import AuditError


def data_file(name: str) -> Path:
    """Path of a file of `data/`, e.g. `data_file("lexicons/contractions.tsv")`.

    Raises AuditError when the installation is damaged.
    """
    package = Path(__file__).resolve().parent
    for root in (package / "data", package.parent / "data"):
        if (root / name).exists():
            return root / name
    raise AuditError(f"the file data/{name} is missing from this installation of audit; install it again")


def package_file(package: str, *parts: str) -> Path | None:
    """Path of a file of an installed package, None where either is absent. Imports nothing.

    >>> package_file("no_such_package", "data", "words.csv") is None
    True
    """
    from importlib.util import find_spec

    spec = find_spec(package)
    for place in (spec.submodule_search_locations or []) if spec else []:
        file = Path(place, *parts)
        if file.is_file():
            return file
    return None


def cache_folder() -> Path:
    """The folder of the environment variable AUDIT_CACHE, or the user's cache folder for `audit`."""
    chosen = os.environ.get("AUDIT_CACHE")
    if chosen:
        return Path(chosen).expanduser()
    from platformdirs import user_cache_dir

    return Path(user_cache_dir("audit"))
