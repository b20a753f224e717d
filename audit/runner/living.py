"""Processes of this machine: how another Python is begun, and whether a process goes on.

Leases and jobs of one that is gone are free.
"""

import os
import sys
import sysconfig
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import audit

_SAFE_PATH = "PYTHONSAFEPATH"


def another_python(*arguments: str) -> list[str]:
    """The command of another Python like this one.

    -P: a file of the folder where the user is, called statistics.py or queue.py, must not stand in for Python's own.

    >>> another_python("-m", "audit")[1:]
    ['-P', '-m', 'audit']
    """
    return [sys.executable, "-P", *arguments]


def its_environment() -> dict[str, str]:
    """The environment of `another_python`: it finds this package where it is not installed, as in a checkout."""
    package = str(Path(audit.__file__).resolve().parents[1])
    installed = package in (sysconfig.get_path("purelib"), sysconfig.get_path("platlib"))
    paths = [*([] if installed else [package]), *os.environ.get("PYTHONPATH", "").split(os.pathsep)]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))}


@contextmanager
def safe_path() -> Iterator[None]:
    """Every Python that somebody else's code begins meanwhile is begun as with -P."""
    before = os.environ.get(_SAFE_PATH)
    os.environ[_SAFE_PATH] = "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ[_SAFE_PATH]
        else:
            os.environ[_SAFE_PATH] = before


def began(pid: int) -> str | None:
    """When a process began, as the machine counts; empty where the machine does not say; None: it is no more.

    Another process may have its number by now, and one that was killed is there until its parent has looked.

    >>> began(os.getpid()) == began(os.getpid()) is not None
    True
    """
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return None
    except OSError:
        pass  # somebody else's
    try:
        status = Path(f"/proc/{pid}/stat").read_text(encoding="ascii", errors="replace")
    except OSError:
        return ""
    state, *others = status.rpartition(")")[2].split()
    return None if state == "Z" else others[18]
