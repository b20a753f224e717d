"""Loading and preparing systems before a run: what a user's own does then must end in a sentence, whatever it is.

So one of the user's is tried in a process of its own first, where that is allowed (`apart`): it may hang in native
code, end its process or fill the memory, and costs that process. Only then this one loads it, within the same time.
"""

from collections.abc import Iterable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass

from audit.errors import AuditError
from audit.runner.executors.base import Job, Lost
from audit.runner.executors.batch import Identity, ready, same
from audit.runner.executors.processes import Processes
from audit.systems import get_system, is_own, systems_of
from audit.systems.base import System
from audit.systems.foreign import foreign, late

TIME_LIMIT = 300.0
"""Seconds that a system may take to be loaded, to be prepared, and for a batch; most take two."""


@dataclass(frozen=True)
class _Trying:
    """The job of loading a user's system, and of preparing it where that is wanted."""

    spec: str
    prepare: bool
    limit: float | None

    def work(self) -> Identity:
        system = get_system(self.spec)
        if self.prepare:
            system.prepare()
        return Identity.of(system)


def loaded(names: Iterable[str], limit: float | None = TIME_LIMIT, apart: bool = True) -> dict[str, System]:
    """The systems that these names mean, by spec. `limit` is the seconds that each of the user's own may take.

    With `apart`, those are tried in another process first. Raises AuditError, which names the system and what it did,
    or that it is another one each time; UnknownName, and what is wrong with the file of a service.
    """
    specs = [spec for name in names for spec in systems_of(name)]
    tried = {
        spec: _try(_Trying(spec, False, limit), f"system {spec!r} cannot be loaded")
        for spec in dict.fromkeys(filter(is_own, specs))
        if apart
    }
    systems = {spec: get_system(spec, limit) for spec in specs}
    for spec, system in systems.items():
        same(spec, tried.get(spec), Identity.of(system))
    return systems


def prepared(systems: Mapping[str, System], limit: float | None, apart: bool) -> None:
    """Let systems load, train or download what they need, once, before anybody works with them.

    With `apart` the user's own do so in a process that ends then, and again in each worker: what was downloaded is
    there by then, and what is in memory is not held twice. Raises AuditError where that fails.
    """
    for spec, system in systems.items():
        if apart and not is_own(spec):
            system.prepare()
        elif apart:
            same(
                spec, Identity.of(system), _try(_Trying(spec, True, limit), f"prepare() of the system {spec!r} failed")
            )
        else:
            with foreign(f"prepare() of the system {spec!r} failed", limit) if is_own(spec) else nullcontext():
                ready(spec, Identity.of(system))  # the object that the batches of this process use


def _try(job: Job, failed: str) -> Identity:
    """Do a job in a process of its own. Raises AuditError where that is lost, and what the job raises."""
    with Processes(1) as process:
        process.submit(job)
        ((_, result),) = process.finished()
    if isinstance(result, Lost):
        raise AuditError(late(failed, job.limit or 0) if result.late else f"{failed}: {result.reason}")
    return result
