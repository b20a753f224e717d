"""What a run may spend: requests to other machines, and money.

A request counts when it is sent, an answer that was refused or of no use too, since services take money for those; one
that had no answer and is made again (too many at once, a connection that broke) counts once. Money is an estimate, by
the price in a system's file. A batch that does not fit any more is cut to what fits.
"""

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from audit.errors import AuditError
from audit.messages import counted
from audit.systems.base import System
from audit.systems.remote_file import CHARACTERS_OF_TOKEN, Price
from audit.tasks import Input


@dataclass(frozen=True)
class Sending:
    """What is sent to other machines. `cost` is in the currency of the price, where there is one."""

    calls: int = 0
    characters: int = 0
    tokens: float = 0.0
    cost: float = 0.0

    def __add__(self, other: "Sending") -> "Sending":
        return Sending(
            self.calls + other.calls,
            self.characters + other.characters,
            self.tokens + other.tokens,
            self.cost + other.cost,
        )


class Meter:
    """What asking a system takes: requests of `batch` inputs, and money where its file has a price.

    A system may count what it sends itself: `count_characters(inputs)`, where it sends more than the texts (a prompt),
    and `count_tokens(inputs)`, where it has a tokenizer.
    """

    def __init__(self, system: System) -> None:
        self.name, self._system = system.name, system
        self.batch: int = getattr(system, "batch", None) or 1
        self.price: Price | None = getattr(system, "price", None)
        self.counts_tokens = callable(getattr(system, "count_tokens", None))

    def of(self, inputs: Sequence[Input], times: int = 1) -> Sending:
        """Return what sending these inputs takes, so many times."""
        count_characters = getattr(self._system, "count_characters", _characters)
        count_tokens = getattr(self._system, "count_tokens", None)
        characters = times * int(count_characters(inputs))
        tokens = times * float(count_tokens(inputs)) if count_tokens else characters / CHARACTERS_OF_TOKEN
        calls = times * -(-len(inputs) // self.batch)
        return Sending(calls, characters, tokens, self.price.of(calls, characters, tokens) if self.price else 0.0)


def _characters(inputs: Sequence[Input]) -> int:
    return sum(len(text) for item in inputs for text in item.texts)


def meter_of(system: System) -> Meter | None:
    """The meter of a system that asks another machine or has a price; None of any other."""
    if callable(getattr(system, "run_async", None)) or getattr(system, "price", None) is not None:
        return Meter(system)
    return None


class Budget:
    """The limits of a run, over all its systems and corpora, and what it has spent of them.

    `max_calls` are requests, `max_cost` is money; None: no limit. Raises AuditError for limits that are none.
    """

    def __init__(self, max_calls: int | None = None, max_cost: float | None = None) -> None:
        if max_calls is not None and max_calls < 1:
            raise AuditError(f"max_calls {max_calls}: must be at least 1", parameter="max_calls")
        if max_cost is not None and not 0 < max_cost < float("inf"):
            raise AuditError(f"max_cost {max_cost:g}: must be above 0", parameter="max_cost")
        self.max_calls, self.max_cost = max_calls, max_cost
        self.spent = Sending()
        """What was sent, and what is on its way."""
        self.currency = ""
        self.reached = False
        """Whether something was not sent because of a limit."""
        self.asked: set[str] = set()
        """The specs of the systems that have answered their first inputs, or stored ones again."""

    @property
    def is_limited(self) -> bool:
        """Whether there is any limit."""
        return self.max_calls is not None or self.max_cost is not None

    def check(self, systems: Iterable[System]) -> None:
        """Raise AuditError where a limit says nothing of these systems: none asks another machine, none has a price, or
        their prices are in several currencies."""
        meters = [meter for system in systems if (meter := meter_of(system))]
        prices = {meter.price.currency for meter in meters if meter.price}
        if len(prices) == 1:
            (self.currency,) = prices
        if self.max_calls is not None and not meters:
            raise AuditError(
                f"max_calls {self.max_calls}: no system here asks another machine; leave it out", parameter="max_calls"
            )
        if self.max_cost is None:
            return
        if len(prices) > 1:
            raise AuditError(
                f"max_cost {self.max_cost:g}: the systems' prices are in {' and '.join(sorted(prices))}; run those of "
                "one currency at a time",
                parameter="max_cost",
            )
        if free := [meter.name for meter in meters if meter.price is None]:
            raise AuditError(
                f"max_cost {self.max_cost:g}: the file of the system {free[0]} has no price, so nobody knows what it "
                "costs; add price = {...}, or limit max_calls",
                parameter=("max_cost", "max_calls"),
            )
        if not prices:
            raise AuditError(
                f"max_cost {self.max_cost:g}: no system here has a price; leave it out", parameter="max_cost"
            )

    def fits(self, meter: Meter, inputs: Sequence[Input], times: int = 1) -> int:
        """Return how many of these inputs, from the first on, may be sent so many times; notes that a limit is reached
        where not all may."""
        if not self.is_limited or self._holds(meter.of(inputs, times)):
            return len(inputs)
        # What more inputs take is never less.
        fitting = bisect_right(
            range(1, len(inputs) + 1), False, key=lambda n: not self._holds(meter.of(inputs[:n], times))
        )
        self.reached = self.reached or fitting == 0
        return fitting

    def _holds(self, sending: Sending) -> bool:
        total = self.spent + sending
        return not (
            (self.max_calls is not None and total.calls > self.max_calls)
            or (self.max_cost is not None and total.cost > self.max_cost * (1 + 1e-9))
        )

    def spend(self, sending: Sending) -> None:
        """Note what is sent."""
        self.spent += sending

    def spend_more(self, meter: Meter, calls: int) -> None:
        """Note requests that were made beside those that were planned, since an answer was of no use."""
        if calls > 0:
            self.spent += Sending(calls, cost=meter.price.of(calls, 0) if meter.price else 0.0)

    def stopped(self) -> str:
        """Which limit was reached, and what was spent."""
        limits = [
            *([f"max_calls {self.max_calls:,}"] if self.max_calls is not None else []),
            *([f"max_cost {self.max_cost:g}"] if self.max_cost is not None else []),
        ]
        cost = f", about {self.spent.cost:,.4g} {self.currency}" if self.currency else ""
        return f"{' or '.join(limits)} is reached after {counted(self.spent.calls, 'request')}{cost}"


def check_first(budget: Budget, firsts: Iterable[tuple[Meter, Sequence[Input]]]) -> None:
    """Raise AuditError where not even what is asked of the systems before a run fits."""
    sending = sum((meter.of(inputs) for meter, inputs in firsts), Sending())
    if budget.max_calls is not None and budget.spent.calls + sending.calls > budget.max_calls:
        raise AuditError(
            f"max_calls {budget.max_calls}: {budget.spent.calls} are made, and the first inputs of each system and "
            f"those that are asked again to see whether it is still the same take {sending.calls}; allow more",
            parameter="max_calls",
        )
    if budget.max_cost is not None and budget.spent.cost + sending.cost > budget.max_cost:
        raise AuditError(
            f"max_cost {budget.max_cost:g}: about {budget.spent.cost:,.4g} are spent, and the first inputs of each "
            f"system and those that are asked again take about {sending.cost:,.4g} {budget.currency}; allow more",
            parameter="max_cost",
        )
    budget.spend(sending)
