"""Files and folders that a user gets: made aside, in a hidden folder beside their place, and put there whole. Whatever
happens meanwhile (a full disk, a kill), what stood there before stays as it was."""

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory

from audit.errors import BadFile


@contextmanager
def new_file(place: str | Path) -> Iterator[Path]:
    """Yield a path to make a file at, which gets its name when the block ends, and goes where the block fails. It is
    there, empty, when the block begins, and its owner's alone. Raises BadFile where a file is there already, at the
    end, too, and where it cannot be written, also for an OSError of the block."""
    with _aside(Path(place)) as (part, target):
        _refuse_present(target, "file")
        os.close(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        yield part
        _refuse_present(target, "file")
        _put(part, target)


def write_file(place: str | Path, content: str | bytes, *, parents: bool = False) -> None:
    """Write a file whole, text as UTF-8, in the place of one that is there, whose permissions are kept; a link is
    followed. `parents` makes the folders above. Raises BadFile."""
    with _aside(Path(place), parents) as (part, target):
        refuse_special(target)
        part.write_bytes(content.encode() if isinstance(content, str) else content)
        if target.is_file():
            part.chmod(stat.S_IMODE(target.stat().st_mode))
        _put(part, target)


@contextmanager
def new_folder(place: str | Path) -> Iterator[Path]:
    """Yield a folder to fill, its owner's alone, which gets its name when the block ends, and goes where the block
    fails. Folders above it are made. Raises BadFile where the place has something in it or cannot be written, also for
    an OSError of the block."""
    with _aside(Path(place), parents=True) as (part, target):
        if target.exists() and (not target.is_dir() or any(target.iterdir())):
            _refuse_present(target, "folder")
        part.mkdir(mode=0o700)
        yield part
        for file in part.rglob("*"):
            _to_disk(file)
        with suppress(FileNotFoundError):
            target.rmdir()  # it is empty, or is no longer there
        _put(part, target)


def refuse_special(place: Path) -> None:
    """Raise BadFile for the name of a device, pipe or socket: to put a file in its place would destroy it."""
    if os.path.exists(place) and not (os.path.isfile(place) or os.path.isdir(place)):
        raise BadFile(f"cannot write {place}: it is a device, pipe or socket; name a file")


def _refuse_present(target: Path, kind: str) -> None:
    if target.exists():
        raise BadFile(f"{target} is there already{' and not empty' * (kind == 'folder')}; name a new {kind}")


@contextmanager
def _aside(place: Path, parents: bool = False) -> Iterator[tuple[Path, Path]]:
    """Yield a path in a hidden folder of the writer's own, and the one to put it to, on the same disk."""
    try:
        target = Path(os.path.realpath(place))
        if parents:
            target.parent.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(prefix=".audit-part-", dir=target.parent, ignore_cleanup_errors=True) as folder:
            yield Path(folder) / (target.name or "part"), target
    except OSError as problem:
        raise BadFile(f"cannot write {place}: {problem.strerror or problem}") from problem


def _put(part: Path, target: Path) -> None:
    _to_disk(part)
    os.replace(part, target)
    _to_disk(target.parent)


def _to_disk(path: Path) -> None:
    """Wait until a file, or the names in a folder, are on the disk; Windows opens no folder for that."""
    if os.name != "nt":
        handle = os.open(path, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
