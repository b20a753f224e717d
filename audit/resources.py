"""Where the files of `data/` are, in a checkout and in an installed package."""

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
