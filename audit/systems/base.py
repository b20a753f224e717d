"""Anything that maps inputs to outputs."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from typing import Protocol, runtime_checkable

from audit.tasks import Input, Output


class System(Protocol):
    """A system under test, identified by name, version and settings: change one, and its outputs are stored anew.

    Creating a system is cheap; models load in the first `run` (or in `prepare`).

    A system may also have `call_size`, the most inputs of one `run` (else 256 sentences or 32 documents), and
    `batch_seconds`, how long a batch of it should take (else 2): one that begins anew with each call, or for each pair
    of languages, says a longer time. It is then given the inputs of many chunks together, those with the same languages
    beside each other, and begins seldom; and it has to isolate an input that fails itself, or the whole call is made
    again, one by one. With `may_fork` true it says that a process in which it has run may be forked: it has no threads,
    as libraries for linear algebra and neural networks do. With `lacks(input) -> bool` it says at no cost that it has
    no output for an input (a translator: not that pair of languages), and is not asked then. One of audit's own says
    with `trained_on(input) -> bool` that it learnt from that input: a run on a corpus that has one is refused. With
    `deterministic = True` it says that it gives the same output whenever it is asked the same, and is not asked again
    where a run asks systems several times.
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

    `concurrency` is the most calls at once, `batch` the most inputs of one call. Where it has them, `tries` and
    `patience` are those of `audit.systems.asking.Asking`, `rate` the most calls a second, `price` what it takes
    (`audit.systems.remote_file.Price`), and `close_async()` lets go of what it holds at the end.
    """

    concurrency: int
    batch: int

    async def run_async(self, inputs: Sequence[Input]) -> list[Output]:
        """As `run`, for at most `batch` inputs.

        Raises Unanswered for what may be answered when it is asked again, Declined for what will not, anything else for
        an answer that cannot be used. All calls are made on one event loop.
        """
        ...


# Which packages are there, and in which version, without importing them.


def package_version(distribution: str) -> str:
    """The installed version of a distribution, or "absent"."""
    try:
        return version(distribution)
    except PackageNotFoundError:
        return "absent"


def missing(module: str, install: str) -> str | None:
    """None when the module can be imported, else the line that installs it."""
    return None if find_spec(module) else install


# Which pairs of languages a system that translates has.


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
    """A system that can say which pairs it has."""

    def pairs(self) -> Iterable[Pair]:
        """Every pair, sorted by languages."""
        ...
