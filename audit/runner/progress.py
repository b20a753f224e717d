"""How far a run is: what is told, and the bar that shows it."""

from collections.abc import Callable
from time import monotonic
from typing import Any

AGAIN = 30.0  # Seconds after which a run that still waits for the same says so again


class Watcher:
    """Is told how far a run is; this one stays silent. `begin`: so many sources are left to do; `executed`: systems
    returned this many more outputs; `finished`: this many more sources are committed; `says`: a remark on the run."""

    def begin(self, sources: int) -> None: ...

    def executed(self, outputs: int) -> None: ...

    def finished(self, sources: int) -> None: ...

    def says(self, sentence: str) -> None: ...


class Bar(Watcher):
    """A bar of tqdm, on stderr or as a widget of a notebook: what is committed, the rate, and the time left. `leave`
    keeps it when it is done; `say` gets the remarks."""

    def __init__(
        self, name: str, leave: bool = True, say: Callable[[str], object] = lambda said: None, unit: str = "source"
    ) -> None:
        self._how: dict[str, Any] = {"desc": name, "unit": unit, "leave": leave, "smoothing": 0.1, "mininterval": 0.5}
        self._say, self._outputs, self._said = say, 0, dict[str, float]()
        self._bar: Any = None

    def begin(self, sources: int) -> None:
        if sources:
            from tqdm.auto import tqdm

            self._bar = tqdm(total=sources, **self._how)

    def executed(self, outputs: int) -> None:
        self._outputs += outputs
        if self._bar is not None:
            self._bar.set_postfix_str(f"{self._outputs:,} outputs", refresh=False)
            self._bar.update(0)

    def finished(self, sources: int) -> None:
        if self._bar is not None:
            self._bar.update(sources)

    def says(self, sentence: str) -> None:
        if monotonic() - self._said.get(sentence, -AGAIN) >= AGAIN:
            self._said[sentence] = monotonic()
            if self._bar is not None:
                self._bar.clear()
            self._say(f"audit: {sentence}")

    def __enter__(self) -> "Bar":
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.close()
