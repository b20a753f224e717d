"""Stable keys: the same content gives the same key on every machine, in every process, for ever."""

import hashlib
import json
import random
from collections.abc import Iterable, Iterator
from typing import Any


def digest(*parts: str) -> bytes:
    """16 bytes that name an ordered list of strings; no two lists share a spelling."""
    return _state(parts).digest()


def _state(parts: Iterable[str]) -> hashlib.blake2b:
    state = hashlib.blake2b(digest_size=16)
    for part in parts:
        encoded = part.encode("utf-8", "surrogatepass")
        state.update(len(encoded).to_bytes(8, "big"))
        state.update(encoded)
    return state


def normal_text(text: str) -> str:
    r"""Return the form of a text by which what was written elsewhere is matched, and in which texts of files are taken:
    no blanks at its ends, and lines that end in `\n`. Nothing else changes, since a system may see it."""
    return text.replace("\r\n", "\n").replace("\r", "\n").strip()


def uniform(*parts: object) -> float:
    """A permanent random number in [0, 1), drawn from the parts' content (53 bits)."""
    return (int.from_bytes(digest(*map(str, parts))[:8], "big") >> 11) / (1 << 53)


def uniforms(names: Iterable[str], *parts: object) -> Iterator[float]:
    """Return `uniform(*parts, name)` of each name; what they have in common is hashed once."""
    before = _state(map(str, parts))
    for name in names:
        state, encoded = before.copy(), name.encode("utf-8", "surrogatepass")
        state.update(len(encoded).to_bytes(8, "big") + encoded)
        yield (int.from_bytes(state.digest()[:8], "big") >> 11) / (1 << 53)


def generator(*parts: object) -> random.Random:
    """A random generator seeded by the parts' content, for choices inside a relation."""
    return random.Random(int.from_bytes(digest(*map(str, parts)), "big"))


class Late:
    """`generator` of the parts, seeded when something is first drawn from it: seeding costs 9 microseconds, as much as
    most relations need to find that a sentence has nothing for them."""

    __slots__ = ("_made", "_parts")

    def __init__(self, *parts: object):
        self._parts = parts
        self._made: random.Random | None = None

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)  # copying and pickling ask an object that has no fields yet
        if self._made is None:
            self._made = generator(*self._parts)
        return getattr(self._made, name)


def canonical(value: object) -> str:
    """Return JSON with sorted keys and no spaces: equal settings are spelled equally."""
    return _CANONICAL.encode(value)


_CANONICAL = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def fingerprint(rows: Iterable[str]) -> str:
    """Twelve hexadecimal digits that name a list of strings."""
    return _state(rows).hexdigest()[:12]
