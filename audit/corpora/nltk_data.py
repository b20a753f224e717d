"""NLTK's data, zipped or unpacked, on NLTK's data path; read without NLTK's readers, which refuse other places."""

import zipfile
from pathlib import Path

from audit.errors import BadFile


def install_line(name: str) -> str:
    """The line that installs a corpus of NLTK's.

    >>> install_line("treebank")
    'python -m nltk.downloader treebank'
    """
    return f"python -m nltk.downloader {name}"


def find(name: str) -> Path | None:
    """The zip file or folder of a corpus, the first on NLTK's data path; None where there is none."""
    import nltk.data

    for folder in nltk.data.path:
        for spelled in (f"{name}.zip", name):
            found = Path(folder) / "corpora" / spelled
            if found.exists():
                return found
    return None


def contents(found: Path, name: str) -> dict[str, bytes]:
    """The files of a corpus by their path below its folder, sorted. Raises BadFile for what cannot be read."""
    try:
        if found.is_dir():
            files = {file.relative_to(found).as_posix(): file for file in found.rglob("*") if file.is_file()}
            return {path: files[path].read_bytes() for path in sorted(files)}
        with zipfile.ZipFile(found) as archive:
            inside = sorted(path for path in archive.namelist() if path.startswith(f"{name}/") and path[-1] != "/")
            return {path.removeprefix(f"{name}/"): archive.read(path) for path in inside}
    except (OSError, zipfile.BadZipFile) as problem:
        raise BadFile(f"{found} cannot be read ({problem}); delete it and run: {install_line(name)}") from problem
