"""Counts of corpora that took long, kept between runs."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from types import MappingProxyType

from audit.errors import BadFile
from audit.new_files import write_file
from audit.resources import cache_folder as folder

__all__ = ["counted", "folder"]


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
    with suppress(BadFile):
        write_file(kept, str(number), parents=True)
    return number
