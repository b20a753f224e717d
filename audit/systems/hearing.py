"""What a system said, word for word, before it became an output: for whoever checks a system, and nobody else."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_HEARD: ContextVar[list[object] | None] = ContextVar("heard", default=None)


@contextmanager
def hearing() -> Iterator[list[object]]:
    """What systems say in this block, as a list that grows: labels as their services spell them, what a function
    returned.

    >>> with hearing() as heard:
    ...     tell_heard("POS")
    >>> tell_heard("nobody listens"), heard
    (None, ['POS'])
    """
    heard: list[object] = []
    token = _HEARD.set(heard)
    try:
        yield heard
    finally:
        _HEARD.reset(token)


def tell_heard(value: object) -> None:
    """Tell who listens what a system said; costs nothing where nobody does."""
    heard = _HEARD.get()
    if heard is not None:
        heard.append(value)
