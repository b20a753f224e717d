"""Files and folders that a user gets: made aside, in a hidden folder beside their place, and put there whole.

Whatever happens meanwhile (a full disk, a kill), what stood there before stays as it was.
"""

import json
import os
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from audit.errors import AuditError, BadFile
from audit.files import kind_of

if TYPE_CHECKING:
    import pandas as pd

try:
    import fcntl
except ImportError:  # Windows has no such locks: what a killed writer leaves stays there
    fcntl = None  # type: ignore[assignment]

_LONGEST = 150
"""Bytes of a name that its hidden folder's has: a file system allows about 255 in all."""


@contextmanager
def new_file(place: str | Path, *, private: bool = False, new: bool = False, parents: bool = False) -> Iterator[Path]:
    """A path to make a file at, which gets its name when the block ends, and goes where the block fails.

    A file that is there is replaced, and its permissions are kept; with `new` it is refused, at the end, too. A new
    file has the permissions that the umask says; a `private` one is its owner's alone, and is there, empty, when the
    block begins. `parents` makes the folders above. A link is followed. Raises BadFile where it cannot be written, also
    for an OSError of the block.
    """
    place = Path(place)
    with _explained(place), _aside(place, parents) as (part, target):
        before = _ordinary(target)
        if new and before is not None:
            raise BadFile(f"{place} is there already; name a new file")
        if private:
            os.close(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        yield part
        if before is not None and not private:
            part.chmod(stat.S_IMODE(before.st_mode))
        _to_disk(part)
        if new and target.exists():
            raise BadFile(f"{place} is there already; name a new file")
        os.replace(part, target)
        _to_disk(target.parent)


def write_file(place: str | Path, content: str | bytes, *, private: bool = False, parents: bool = False) -> None:
    """Write a file whole: text as UTF-8. Raises BadFile, as `new_file` does."""
    with new_file(place, private=private, parents=parents) as part:
        part.write_bytes(content.encode() if isinstance(content, str) else content)


def kind_of_rows(place: str | Path, parameter: str = "out") -> str:
    """The end of the name of a file of rows. Raises AuditError, which names the parameter, unless it is .csv or .jsonl.

    >>> kind_of_rows("found.jsonl")
    '.jsonl'
    """
    kind = Path(place).suffix
    if kind not in (".csv", ".jsonl"):
        raise AuditError(
            f"{place}: the name ends with .csv or .jsonl, which says how it is written", parameter=parameter
        )
    return kind


def write_rows(
    place: str | Path,
    frame: Callable[[], "pd.DataFrame"],
    entries: Iterable[Mapping[str, object]],
    parameter: str = "out",
) -> None:
    """Write a table as CSV, or entries as JSONL, by the end of the file's name. Raises what `kind_of_rows` and
    `write_file` raise."""
    if kind_of_rows(place, parameter) == ".csv":
        write_file(place, frame().to_csv(index=False, lineterminator="\r\n"))
    else:
        write_file(place, "".join(f"{json.dumps(entry, ensure_ascii=False)}\n" for entry in entries))


@contextmanager
def new_folder(place: str | Path, *, private: bool = False) -> Iterator[Path]:
    """A folder to fill, which gets its name when the block ends, and goes with all in it where the block fails.

    Folders above it are made. Permissions as in `new_file`. Raises BadFile where the place has something in it or
    cannot be written, also for an OSError of the block.
    """
    place = Path(place)
    with _explained(place):
        refuse_filled(place)
        with _aside(place, parents=True) as (part, target):
            part.mkdir(mode=0o700 if private else 0o777)
            yield part
            for file in part.rglob("*"):
                _to_disk(file)
            with suppress(FileNotFoundError):
                target.rmdir()  # it is empty, or is no longer there
            os.replace(part, target)
            _to_disk(target.parent)


@contextmanager
def alone(place: Path) -> Iterator[None]:
    """Wait until no other process is in such a block for the same place, where the file system has locks.

    The lock is a hidden file beside the place, empty, which stays; a kill ends a lock.
    """
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        lock = os.open(place.with_name(f".{place.name}.lock"), os.O_RDWR | os.O_CREAT, 0o600)
    except OSError:
        yield  # who makes the file says what is wrong with the place
        return
    try:
        if fcntl is not None:
            with suppress(OSError):
                fcntl.flock(lock, fcntl.LOCK_EX)
        yield
    finally:
        os.close(lock)


def refuse_filled(place: Path) -> None:
    """Raise BadFile for a folder that has something in it, and for what is no folder."""
    with _explained(place):
        if place.exists() and (not place.is_dir() or any(place.iterdir())):
            raise BadFile(f"{place} is there already and not empty; name a new folder")


def refuse_special(place: Path) -> None:
    """Raise BadFile for the name of a device, pipe or socket: to put a file in its place would destroy it."""
    with _explained(place), suppress(FileNotFoundError, NotADirectoryError):
        mode = place.stat().st_mode
        if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
            raise BadFile(f"cannot write {place}: it is {kind_of(mode)}; name a file")


def _ordinary(target: Path) -> os.stat_result | None:
    """What the file system says of a file that will be replaced; None: there is none. Raises BadFile or OSError."""
    refuse_special(target)
    try:
        status = target.stat()
    except FileNotFoundError:
        return None
    if stat.S_ISDIR(status.st_mode):
        raise IsADirectoryError(None, "Is a directory")
    return status


@contextmanager
def _explained(place: Path) -> Iterator[None]:
    try:
        yield
    except OSError as problem:
        raise BadFile(f"cannot write {place}: {problem.strerror or problem}") from problem
    except ValueError as problem:
        if "null byte" not in str(problem):
            raise
        raise BadFile(f"cannot write {str(place)!r}: a name has no NUL byte") from None


@contextmanager
def _aside(place: Path, parents: bool) -> Iterator[tuple[Path, Path]]:
    """Yield a path in a hidden folder of the writer's own, and the one to put it to, on the same disk."""
    target = Path(os.path.realpath(place))
    if parents:
        target.parent.mkdir(parents=True, exist_ok=True)
    name = target.name.encode("utf-8", "surrogateescape")[:_LONGEST].decode("utf-8", "ignore")
    with TemporaryDirectory(prefix=f".{name}.audit-part-", dir=target.parent, ignore_cleanup_errors=True) as folder:
        yield Path(folder) / (target.name or "part"), target


def _to_disk(path: Path) -> None:
    """Wait until a file, or the names in a folder, are on the disk; Windows does not let anybody open a folder."""
    if path.is_dir():
        with suppress(OSError):
            _synchronised(path, os.O_RDONLY)
    else:
        _synchronised(path, os.O_RDWR if os.name == "nt" else os.O_RDONLY)


def _synchronised(path: Path, how: int) -> None:
    handle = os.open(path, how)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
