"""Whether a process of this machine goes on: leases and jobs of one that is gone are free."""

import os
from pathlib import Path


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
