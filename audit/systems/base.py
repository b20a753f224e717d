"""Anything that maps inputs to outputs."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from typing import Protocol, runtime_checkable

from audit.tasks import Input, Output


class System(Protocol):
    """A system under test, identified by name, version and settings: change one, and its outputs are stored anew.

    Creating a system is cheap; models load in the first `run` (or in `prepare`). A system may also have:

    - `lacks(input) -> bool`: it has no output for an input (a translator: not that pair of languages), known at no
      cost; it is not asked then.
    - `deterministic`: True where it always gives the same output, and need not be asked again.
    - `batch_seconds`, how long a batch should take (else 2): one that begins anew with each call, or for each pair of
      languages, says a longer time, and is given the inputs of many chunks together, those of the same languages beside
      each other. `call_size`, the most inputs of one `run` (else 256 sentences or 32 documents).
    - `may_fork`: True where a process in which it has run may be forked, since it has no threads.
    - `trained_on(input) -> bool`: it learnt from that input; a run on a corpus that has one is refused.
    - `remark`: a sentence that is printed when a run starts.
    """

    name: str
    version: str
    settings: Mapping[str, object]
    tasks: tuple[str, ...]
    languages: tuple[str, ...]
    summary: str

    def needs(self) -> str | None:
        """None when it can run now; else the line that installs what is missing."""
        ...

    def prepare(self) -> None:
        """Load, train or download what `run` needs, once, before workers start. Says on stderr when it takes long."""
        ...

    def run(self, inputs: Sequence[Input]) -> list[Output]:
        """One output per input, in order. May raise: the runner then isolates the inputs that fail."""
        ...


class AsynchronousSystem(System, Protocol):
    """A system that mostly waits for another machine: it is asked many times at once, from one process.

    `concurrency` is the most calls at once, `batch` the most inputs of one call. Where it has them, `tries`, `patience`
    and `rate` are those of `audit.systems.endpoint.Asking`, `price` what it takes (`audit.systems.endpoint.Price`),
    `advice(error)` says what to change where every call fails, and `close_async()` lets go of what it holds.
    """

    concurrency: int
    batch: int

    async def run_async(self, inputs: Sequence[Input]) -> list[Output]:
        """As `run`, for at most `batch` inputs. All calls are made on one event loop.

        Raises Unanswered for what may be answered when it is asked again, Declined for what will not, anything else for
        an answer that cannot be used.
        """
        ...


class Ready:
    """A system that needs no package and has nothing to load: what most small ones are."""

    def needs(self) -> str | None:
        return None

    def prepare(self) -> None:
        pass


def package_version(distribution: str) -> str:
    """Return the installed version of a distribution, or "absent"."""
    try:
        return version(distribution)
    except PackageNotFoundError:
        return "absent"


def missing(module: str, install: str) -> str | None:
    """Return None when the module can be imported, else the line that installs it."""
    return None if find_spec(module) else install


@dataclass(frozen=True)
class Pair:
    """A system translates from `source` to `target` (codes of ISO 639-1 where there are such) by these `steps`, each
    named as the system names it; more than one go `through` other languages."""

    source: str
    target: str
    steps: tuple[str, ...]
    through: tuple[str, ...] = ()


@runtime_checkable
class HasPairs(Protocol):
    """A system that can say which pairs of languages it has, sorted by languages."""

    def pairs(self) -> Iterable[Pair]: ...
