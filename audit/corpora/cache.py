"""Where what took long (models, counts) is kept between runs, written so that no reader ever sees half a file."""

import os
import tempfile
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from types import MappingProxyType


def folder() -> Path:
    """The folder of the environment variable AUDIT_CACHE, or the user's cache folder for `audit`."""
    chosen = os.environ.get("AUDIT_CACHE")
    if chosen:
        return Path(chosen).expanduser()
    from platformdirs import user_cache_dir

    return Path(user_cache_dir("audit"))


def write_whole(path: Path, content: bytes) -> None:
    """Write a file at once: under another name in the same folder, then renamed. Raises OSError."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=path.name, suffix=".tmp")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def counted(
    name: str,
    fingerprint: str,
    count: Callable[[], int],
    measured: Mapping[tuple[str, str], int] = MappingProxyType({}),
) -> int:
    """A number that depends on nothing but what `fingerprint` names, counted once per machine.

    `measured` has numbers by name and fingerprint that need no counting. A cache that cannot be read or written is no
    mistake of the user's: then it is counted again.
    """
    if known := measured.get((name, fingerprint)):
        return known
    kept = folder() / f"size-{name}-{fingerprint}.txt"
    try:
        return int(kept.read_text("ascii"))
    except (OSError, ValueError):
        number = count()
    with suppress(OSError):
        write_whole(kept, str(number).encode("ascii"))
    return number
