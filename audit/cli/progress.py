"""The progress bar of a run: sources done, rate, time left."""

from time import monotonic

from audit.cli.options import say
from audit.runner.coordinator import Watcher

AGAIN = 30.0
"""Seconds after which a run that still waits for the same says so again."""


class Bar(Watcher):
    """A tqdm bar on stderr; sources count as done when they are committed."""

    def __init__(self, name: str):
        self._name = name
        self._bar = None
        self._outputs = 0
        self._said: dict[str, float] = {}

    def begin(self, sources: int) -> None:
        if not sources:
            return
        from tqdm import tqdm

        self._bar = tqdm(total=sources, desc=self._name, unit="source", smoothing=0.1, mininterval=0.5)

    def executed(self, outputs: int) -> None:
        self._outputs += outputs
        if self._bar is not None:
            self._bar.set_postfix_str(f"{self._outputs:,} outputs", refresh=False)
            self._bar.update(0)

    def finished(self, sources: int) -> None:
        if self._bar is not None:
            self._bar.update(sources)

    def says(self, sentence: str) -> None:
        if monotonic() - self._said.get(sentence, -AGAIN) < AGAIN:
            return
        self._said[sentence] = monotonic()
        if self._bar is not None:
            self._bar.clear()
        say(f"audit: {sentence}")

    def close(self) -> None:
        """Leave the line as it is; a stopped run shows how far it came."""
        if self._bar is not None:
            self._bar.close()
