"""How often passwords may be tried: wrong ones make whoever tries wait, at most a minute each time.

A browser that has logged in to an account before waits for its own wrong passwords alone, so that nobody who guesses
at an account keeps its owner out. All others wait by name and address together, by address, and, so that guesses from
many addresses are slow as well, by name. Source: OWASP, Slow Down Online Guessing Attacks with Device Cookies.

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
"""Wrong passwords for one name, from one address or one browser, before the next has to wait."""
BY_ADDRESS = 50
"""Wrong passwords from one address: a whole team may share one."""
BY_NAME = 50
"""Wrong passwords for one name, from all addresses together."""
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

    def begin(self, name: str, address: str, browser: bytes | None = None) -> int:
        """Count a try and return 0, or return the whole seconds that are left to wait and count nothing.

        `browser`: the key of a login to this very account that the browser had before; None for one that had none.
        """
        moment = self._clock()
        limits = _limits(name, address, browser)
        with self._lock:
            # A wrong password of a known browser counts everywhere, but the browser waits for its own alone.
            waits = list(limits)[: 1 if browser is not None else None]
            wait = max(self._counts.get(key, (0, 0.0, 0.0))[1] for key in waits) - moment
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

    def succeed(self, name: str, address: str, browser: bytes | None = None) -> None:
        """The password was right: this browser, or this name from this address, begins anew; what others share with it,
        the address and the name, gets its try back."""
        first, *shared = _limits(name, address, browser).items()
        with self._lock:
            self._counts.pop(first[0], None)
            for key, free in shared:
                number, until, last = self._counts.get(key, (0, 0.0, 0.0))
                if number:
                    self._counts[key] = (number - 1, until if number > free else 0.0, last)


def network(address: str) -> str:
    """The address itself, or of an IPv6 address the 64 bits that one customer has to themselves.

    >>> network("2001:db8::1") == network("2001:db8::2"), network("192.0.2.1")
    (True, '192.0.2.1')
    """
    try:
        parsed = ip_address(address)
    except ValueError:
        return address
    return str(int(parsed) >> 64) if isinstance(parsed, IPv6Address) else str(parsed)


def _limits(name: str, address: str, browser: bytes | None) -> dict[bytes, int]:
    """The free tries by key; whose own they are comes first."""
    place = network(address)
    own = {} if browser is None else {_key("browser", browser.hex()): BY_ACCOUNT}
    return {
        **own,
        _key("name and address", f"{place} {name}"): BY_ACCOUNT,
        _key("address", place): BY_ADDRESS,
        _key("name", name): BY_NAME,
    }


def _key(kind: str, value: str) -> bytes:
    """As long for a name of a megabyte as for any other."""
    return sha256(f"{kind}:{value}".encode("utf-8", "replace")).digest()
