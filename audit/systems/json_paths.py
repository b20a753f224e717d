"""Paths into a JSON document, such as `results[*].label`: where a service's outputs stand in its answer."""

import re
from dataclasses import dataclass

from audit.errors import AuditError, BadOutput

_PART = re.compile(r'\.?(?P<name>[^.\[\]"*\s]+)|\[(?P<place>\d+)\]|(?P<each>\[\*\])|\["(?P<quoted>[^"]*)"\]')
_GRAMMAR = 'names with dots between them, [0], ["a name"], and [*] once for "one for each input"'


class _Each:
    """The part `[*]`."""


EACH = _Each()


@dataclass(frozen=True)
class Path:
    """A path as it was written, and its parts: names, places in lists, and at most one `EACH`."""

    written: str
    parts: tuple[str | int | _Each, ...]

    @classmethod
    def read(cls, written: str) -> "Path":
        """The path that is spelled so. Raises AuditError, which says what is allowed.

        >>> Path.read("results[*].label").many
        True
        >>> Path.read('[0]["the label"]').parts
        (0, 'the label')
        """
        parts: list[str | int | _Each] = []
        at = 0
        while at < len(written):
            found = _PART.match(written, at)
            if found is None or (at == 0 and written.startswith(".")):
                raise AuditError(f"{written!r} is no path, from {written[at:][:20]!r} on; allowed are {_GRAMMAR}")
            if found["place"] is not None:
                parts.append(int(found["place"]))
            elif found["each"] is not None:
                parts.append(EACH)
            else:
                parts.append(found["name"] if found["name"] is not None else found["quoted"])
            at = found.end()
        if parts.count(EACH) > 1:
            raise AuditError(f"{written!r} is no path: [*] may stand in it once")
        return cls(written, tuple(parts))

    @property
    def many(self) -> bool:
        """Whether it leads to one value for each input."""
        return EACH in self.parts

    def values(self, document: object, needed: bool = True) -> list[object]:
        """What the path leads to: one value for each entry of the list at `[*]`, else one value.

        Where it ends early: None if not `needed`, else raises BadOutput, which says where and what is there.

        >>> Path.read("results[*].label").values({"results": [{"label": "POS"}, {"label": "NEG"}]})
        ['POS', 'NEG']
        """
        if not self.many:
            return [self._follow(document, self.parts, needed)]
        at = self.parts.index(EACH)
        listed = self._follow(document, self.parts[:at], needed=True)
        if not isinstance(listed, list):
            raise BadOutput(f"the answer has no list where {self.written!r} has [*], but {kind(listed)}")
        return [self._follow(entry, self.parts[at + 1 :], needed) for entry in listed]

    def _follow(self, value: object, parts: tuple[str | int | _Each, ...], needed: bool) -> object:
        for part in parts:
            inside = isinstance(part, str) and isinstance(value, dict) and part in value
            if inside or (isinstance(part, int) and isinstance(value, list) and part < len(value)):
                value = value[part]  # type: ignore[index]
            elif needed:
                spelled = repr(part) if isinstance(part, str) else f"place {part}"
                raise BadOutput(f"the answer has no {spelled}, which {self.written!r} leads to, but {kind(value)}")
            else:
                return None
        return value


def kind(value: object) -> str:
    """What a JSON value is, in words, with the names that an object has.

    >>> kind({"outputs": []}), kind([1, 2])
    ("an object with 'outputs'", 'a list of 2')
    """
    if isinstance(value, dict):
        return f"an object with {', '.join(map(repr, list(value)[:5])) or 'nothing'}"
    if isinstance(value, list):
        return f"a list of {len(value)}"
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    return f"the {'text' if isinstance(value, str) else 'number'} {value!r}"
