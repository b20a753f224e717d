"""What a run may spend: requests to other machines, and money.

A request counts when it is sent, an answer that was refused or of no use too, since services take money for those; one
that had no answer and is made again (too many at once, a connection that broke) counts once. Money is an estimate, by
the price in a system's file. A batch that does not fit any more is cut to what fits.
"""

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from operator import add
from typing import NamedTuple

from audit.errors import AuditError
from audit.messages import counted
from audit.runner.options import ONCE, CommonOptions
from audit.systems.base import System
from audit.systems.endpoint import CHARACTERS_OF_TOKEN, Price
from audit.tasks import Input


class Sending(NamedTuple):
    """What is sent to other machines. `cost` is in the currency of the price, where there is one."""

    calls: int = 0
    characters: int = 0
    tokens: float = 0.0
    cost: float = 0.0

    def __add__(self, other: "Sending") -> "Sending":  # type: ignore[override]
        return Sending(*map(add, self, other))


class Meter:
    """What asking a system takes: requests of `batch` inputs, and money where its file has a price. A system may count
    itself: `count_characters(inputs)`, where it sends more than the texts (a prompt), and `count_tokens(inputs)`, where
    it has a tokenizer."""

    def __init__(self, system: System) -> None:
        self.name = system.name
        # Services take money for each request of a batch of theirs.
        self.batch: int = 1 if getattr(system, "batched", False) else getattr(system, "batch", None) or 1
        self.price: Price | None = getattr(system, "price", None)
        self._characters = getattr(
            system, "count_characters", lambda inputs: sum(len(t) for i in inputs for t in i.texts)
        )
        self._tokens = getattr(system, "count_tokens", None)
        self.counts_tokens = self._tokens is not None

    def of(self, inputs: Sequence[Input], times: int = 1) -> Sending:
        """Return what asking for these inputs takes, each so many times."""
        characters, calls = times * int(self._characters(inputs)), times * -(-len(inputs) // self.batch)
        tokens = times * float(self._tokens(inputs)) if self._tokens else characters / CHARACTERS_OF_TOKEN
        return Sending(calls, characters, tokens, self.price.of(calls, characters, tokens) if self.price else 0.0)


def meter_of(system: System) -> Meter | None:
    """Return the meter of a system that asks another machine or has a price; None of any other."""
    asks = callable(getattr(system, "run_async", None)) or getattr(system, "price", None) is not None
    return Meter(system) if asks else None


class Budget:
    """The limits of a run, over all its systems and corpora, and what it has spent of them."""

    def __init__(self, options: CommonOptions = ONCE) -> None:
        self.max_calls, self.max_cost = options.max_calls, options.max_cost
        self.spent = Sending()  # What was sent, and what is on its way
        self.currency = ""
        self.reached = False  # Whether something was not sent because of a limit
        self.asked: set[str] = set()  # The specs of the systems that have answered their first inputs

    def check(self, systems: Iterable[System]) -> None:
        """Raise AuditError where a limit says nothing of these systems: none asks another machine, one has no price, or
        their prices are in several currencies."""
        meters = [meter for system in systems if (meter := meter_of(system))]
        prices = sorted({meter.price.currency for meter in meters if meter.price})
        self.currency = prices[0] if len(prices) == 1 else self.currency
        if self.max_calls is not None and not meters:
            raise AuditError(
                f"max_calls {self.max_calls}: no system here asks another machine; leave it out", parameter="max_calls"
            )
        free = [meter.name for meter in meters if meter.price is None]
        if self.max_cost is not None and (free or len(prices) != 1):
            whose = f"the file of the system {free[0]} has no price" if free else "no system here has a price"
            problem = f"{whose}; add price = {{...}} to it, or limit max_calls"
            if len(prices) > 1:
                problem = f"the systems' prices are in {' and '.join(prices)}; run those of one currency at a time"
            raise AuditError(f"max_cost {self.max_cost:g}: {problem}", parameter=("max_cost", "max_calls"))

    def fits(self, meter: Meter, inputs: Sequence[Input], times: int = 1) -> int:
        """Return how many of these inputs, from the first on, may be sent so many times; notes where none may."""
        if self._holds(meter.of(inputs, times)):
            return len(inputs)
        numbers = range(1, len(inputs) + 1)  # what more inputs take is never less
        fitting = bisect_right(numbers, False, key=lambda n: not self._holds(meter.of(inputs[:n], times)))
        self.reached = self.reached or fitting == 0
        return fitting

    def _holds(self, sending: Sending) -> bool:
        total = self.spent + sending
        within = self.max_calls is None or total.calls <= self.max_calls
        return within and (self.max_cost is None or total.cost <= self.max_cost * (1 + 1e-9))

    def spend(self, sending: Sending) -> None:
        self.spent += sending

    def spend_more(self, meter: Meter, calls: int) -> None:
        """Note requests that were made beside those that were planned, since an answer was of no use."""
        if calls > 0:
            self.spend(Sending(calls, cost=meter.price.of(calls, 0) if meter.price else 0.0))

    def spend_first(self, sending: Sending) -> None:
        """Note what is asked of the systems before a run. Raises AuditError where not even that fits."""
        if not self._holds(sending):
            raise AuditError(
                f"{self._limits()}: {self._said(self.spent)} are spent, and the first inputs of each system and those "
                f"that are asked again take {self._said(sending)}; allow more",
                parameter=("max_calls", "max_cost"),
            )
        self.spend(sending)

    def stopped(self) -> str:
        """Return which limit is reached, as a part of a sentence."""
        return f"{self._limits()} is reached after {self._said(self.spent)}"

    def _limits(self) -> str:
        limits = {"max_calls": self.max_calls, "max_cost": self.max_cost}
        return " or ".join(f"{name} {limit:,g}" for name, limit in limits.items() if limit is not None)

    def _said(self, sending: Sending) -> str:
        cost = f", about {sending.cost:,.4g} {self.currency}" if self.currency else ""
        return f"{counted(sending.calls, 'request')}{cost}"
