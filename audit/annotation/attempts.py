"""How often passwords may be tried: wrong ones make the account and the address wait, at most a minute each time.

The counts are kept in the process, not in the database: strangers can then neither fill a table nor hold its lock, and
Streamlit serves an app from one process anyway. A restart forgets them, which gives away a few tries.
"""

import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from hashlib import sha256
from ipaddress import IPv6Address, ip_address

BY_ACCOUNT = 5
"""Wrong passwords for one name before the next has to wait."""
BY_ADDRESS = 50
"""Wrong passwords from one address: a whole team may share one."""
LONGEST_WAIT = 60
"""Seconds between two tries, at most: nobody is shut out of an account for good because others guess at it."""
FORGET = 900
"""Seconds after the last wrong password, after which a count begins anew."""
_MOST = 20_000


class Attempts:
    """Tries by name and by address. Safe among threads.

    `clock` gives seconds. A try counts from its beginning, so that many at once are not all the first.

    >>> attempts = Attempts(clock=lambda: 0.0)
    >>> [attempts.begin("ann", "192.0.2.1") for _ in range(7)]
    [0, 0, 0, 0, 0, 2, 2]
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic):
        self._clock = clock
        self._lock = threading.Lock()
        self._counts: OrderedDict[bytes, tuple[int, float, float]] = OrderedDict()
        """(number, when the next may begin, when the last began) by key; the one longest unused first."""

    def begin(self, name: str, address: str) -> int:
        """Count a try and return 0, or return the whole seconds that are left to wait and count nothing."""
        moment = self._clock()
        limits = {_key("account", name): BY_ACCOUNT, _key("address", _network(address)): BY_ADDRESS}
        with self._lock:
            wait = max(self._counts.get(key, (0, 0.0, 0.0))[1] for key in limits) - moment
            if wait > 0:
                return int(wait + 0.999)
            for key, free in limits.items():
                number, _, last = self._counts.pop(key, (0, 0.0, moment))
                number = 1 if moment - last > FORGET else number + 1
                pause = min(LONGEST_WAIT, 2 ** min(number - free + 1, 10)) if number >= free else 0
                self._counts[key] = (number, moment + pause, moment)
            while len(self._counts) > _MOST:
                self._counts.popitem(last=False)
        return 0

    def succeed(self, name: str, address: str) -> None:
        """The password was right: the name begins anew, the address gets its try back."""
        with self._lock:
            self._counts.pop(_key("account", name), None)
            key = _key("address", _network(address))
            number, until, last = self._counts.get(key, (0, 0.0, 0.0))
            if number:
                self._counts[key] = (number - 1, until if number > BY_ADDRESS else 0.0, last)


def _key(kind: str, value: str) -> bytes:
    """As long for a name of a megabyte as for any other."""
    return sha256(f"{kind}:{value}".encode("utf-8", "replace")).digest()


def _network(address: str) -> str:
    """The address itself, or of an IPv6 address the 64 bits that one customer has to themselves."""
    try:
        found = ip_address(address)
    except ValueError:
        return address
    return str(int(found) >> 64) if isinstance(found, IPv6Address) else str(found)
