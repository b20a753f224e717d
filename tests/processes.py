"""What runs on this machine, as /proc tells it."""

from pathlib import Path
from typing import NamedTuple


class Process(NamedTuple):
    """A process, the one that began it, and the one that leads its session."""

    id: int
    parent: int
    session: int


def processes() -> list[Process]:
    """All that have not ended; one that has, and that nobody waited for yet, is none of them."""
    running = []
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, parent, _, session, *_ = status.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if state != "Z":
            running.append(Process(int(status.parent.name), int(parent), int(session)))
    return running
