"""The progress bar of a run: sources done, rate, time left."""

from collections.abc import Callable
from time import monotonic
from typing import Any

from audit.runner.coordinator import Watcher

AGAIN = 30.0
"""Seconds after which a run that still waits for the same says so again."""


class Bar(Watcher):
    """A bar of tqdm, on stderr or as a widget of a notebook; sources count as done when they are committed.

    `leave` keeps it when it is done; `say` is told why the run waits, and nobody is without it.
    """

    def __init__(self, name: str, leave: bool = True, say: Callable[[str], object] | None = None):
        self._name = name
        self._leave = leave
        self._say = say
        self._bar: Any = None
        self._outputs = 0
        self._said: dict[str, float] = {}

    def begin(self, sources: int) -> None:
        if not sources:
            return
        from tqdm.auto import tqdm

        self._bar = tqdm(
            total=sources, desc=self._name, unit="source", leave=self._leave, smoothing=0.1, mininterval=0.5
        )

    def executed(self, outputs: int) -> None:
        self._outputs += outputs
        if self._bar is not None:
            self._bar.set_postfix_str(f"{self._outputs:,} outputs", refresh=False)
            self._bar.update(0)

    def finished(self, sources: int) -> None:
        if self._bar is not None:
            self._bar.update(sources)

    def says(self, sentence: str) -> None:
        if self._say is None or monotonic() - self._said.get(sentence, -AGAIN) < AGAIN:
            return
        self._said[sentence] = monotonic()
        if self._bar is not None:
            self._bar.clear()
        self._say(f"audit: {sentence}")

    def __enter__(self) -> "Bar":
        return self

    def __exit__(self, *_: object) -> None:
        """Leave the line as it is; a stopped run shows how far it came."""
        if self._bar is not None:
            self._bar.close()
