"""Asking another machine: as many calls at once as it bears, again where it gave no answer, and not for ever.

The limit of calls at once goes up by one a round of answers and is halved when the machine is crowded (additive
increase, multiplicative decrease: Chiu and Jain, "Analysis of the increase and decrease algorithms for congestion
avoidance in computer networks", Computer Networks and ISDN Systems 17, 1989). Waits between tries are drawn from zero
to a bound that doubles ("full jitter": Brooker, "Exponential backoff and jitter", AWS Architecture Blog, 2015).
Libraries for retrying look at one call; here a pause, the limit and giving up are the machine's: its calls share them.
"""

import asyncio
import math
import random
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Any, TypeVar

from audit.errors import Declined, Unanswered

TRIES = 6
"""Times that a call is made; with the waits between, about 8 s where the machine refuses at once."""
PATIENCE = 300.0
"""Seconds without any answer, or that a machine may ask for, after which a run asks it no more."""
_FIRST, _LONGEST = 0.5, 30.0
"""Bounds of the wait after the first try, and of any wait, in seconds."""

_LATE = 0.01
"""Seconds that a call may make good of the one before that was late: clocks that wake are no finer."""

Answer = TypeVar("Answer")
Item = TypeVar("Item")


class Spacing:
    """Keeps calls apart so that at most `rate` a second begin, evenly: no burst follows a pause.

    In any second there are at most `rate` + 1 of them, and those that `_LATE` makes good. Times are those of an event
    loop, in seconds; all loops of a process have the same clock, so one object may serve several, one after the other.

    >>> spacing = Spacing(rate=4)
    >>> [spacing.wait(now=10.0), spacing.take(10.0), spacing.wait(now=10.0), spacing.wait(now=10.25)]
    [0.0, None, 0.25, 0.0]
    """

    def __init__(self, rate: float) -> None:
        self._apart = 1 / rate
        self._next = -math.inf
        """When the next call may begin."""

    def wait(self, now: float) -> float:
        """Seconds until a call may begin; 0 where one may now."""
        return max(0.0, self._next - now)

    def take(self, now: float) -> None:
        """A call begins."""
        self._next = (self._next if now - self._next <= _LATE else now) + self._apart


class Asking:
    """The way to one machine, shared by all calls to it; it belongs to one event loop.

    `concurrency` is the most calls at once, `tries` the most times that a call is made, `patience` the seconds without
    any answer after which the machine is given up: what is asked from then on is declined at once, so that a run comes
    to an end. `first` bounds the wait after the first try, in seconds. `spacing` keeps all calls apart, those that are
    made again among them.

    >>> async def answer():
    ...     return 42
    >>> asyncio.run(Asking(concurrency=2).ask(answer))
    42
    """

    def __init__(
        self,
        concurrency: int,
        tries: int = TRIES,
        patience: float = PATIENCE,
        first: float = _FIRST,
        spacing: Spacing | None = None,
    ) -> None:
        self.concurrency, self.tries, self.patience, self.first = concurrency, tries, patience, first
        self._limit = float(concurrency)
        self._spacing = spacing
        self._timer: asyncio.TimerHandle | None = None
        """Wakes when the next call may begin."""
        self._under_way = 0
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._paused_until = 0.0
        self._halved = -1.0
        """When the limit was last halved: calls that began before then say nothing new."""
        self._failing_since: float | None = None
        self._given_up: str | None = None
        # Waits are the one thing here that chance decides; no answer hangs on them.
        self._chance = random.Random()

    @property
    def limit(self) -> int:
        """The most calls at once, for now."""
        return int(self._limit)

    async def ask(self, call: Callable[[], Awaitable[Answer]]) -> Answer:
        """What the call returns, made when there is a place for it and again when it gave no answer.

        A call raises Unanswered (TimeoutError and ConnectionError count as such) to be made again. Raises what the call
        raises else, Unanswered after the last try, and Declined once the machine is given up.
        """
        for number in range(1, self.tries + 1):
            await self._enter(again=number > 1)
            began = _now()
            try:
                answer = await call()
            except (Unanswered, TimeoutError, ConnectionError) as problem:
                unanswered = _as_unanswered(problem)
                self._note_unanswered(unanswered, began, last=number == self.tries)
            except Declined as declined:
                self._note_declined(declined)
                raise
            except BaseException as problem:
                if not isinstance(problem, asyncio.CancelledError):
                    self._note_answer()  # it is there, whatever its answer was worth
                raise
            else:
                self._note_answer()
                return answer
            finally:
                self._under_way -= 1
                self._wake()
            if number < self.tries:
                await asyncio.sleep(self._chance.uniform(0, min(_LONGEST, self.first * 2 ** (number - 1))))
        times = "once" if self.tries == 1 else f"{self.tries} times"
        raise Unanswered(f"{unanswered} (asked {times})", inputs=unanswered.inputs) from None

    async def _enter(self, again: bool) -> None:
        """Wait for a place; calls that are made again come first, so that what was begun comes to an end."""
        place: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        if again:
            self._waiting.appendleft(place)
        else:
            self._waiting.append(place)
        self._wake()
        try:
            await place
        except asyncio.CancelledError:
            if place.done() and not place.cancelled() and place.exception() is None:
                self._under_way -= 1  # the place was given at the moment when it was no longer wanted
                self._wake()
            raise

    def _wake(self) -> None:
        """Give the free places to those who wait, unless the machine is to be left alone."""
        if self._given_up is not None:
            while self._waiting:
                if not (place := self._waiting.popleft()).done():
                    place.set_exception(Declined(self._given_up))
            return
        if _now() < self._paused_until:
            return  # the end of the pause wakes
        while self._waiting and self._under_way < self.limit:
            if self._waiting[0].done():
                self._waiting.popleft()
                continue
            if self._spacing is not None:
                now = _now()
                if wait := self._spacing.wait(now):
                    self._wake_in(wait)
                    return
                self._spacing.take(now)
            self._under_way += 1
            self._waiting.popleft().set_result(None)

    def _wake_in(self, seconds: float) -> None:
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(seconds, self._wake_now)

    def _wake_now(self) -> None:
        self._timer = None
        self._wake()

    def _note_answer(self) -> None:
        self._failing_since = None
        self._limit = min(self.concurrency, self._limit + 1 / self._limit)

    def _note_unanswered(self, problem: Unanswered, began: float, last: bool) -> None:
        now = _now()
        if self._failing_since is None:
            self._failing_since = began
        if problem.crowded and began > self._halved:
            self._limit = max(1.0, self._limit / 2)
            self._halved = now
        if problem.after is not None and problem.after > self.patience:
            self._given_up = (
                f"{problem}; it asks for {problem.after:,.0f} s, patience is {self.patience:,.0f} s, "
                "so this run asks it no more"
            )
        elif problem.after:
            self._pause(now + problem.after)
        elif last:
            self._lose_patience(problem)

    def _note_declined(self, problem: Declined) -> None:
        if problem.inputs:
            self._note_answer()
            return
        if problem.final:
            self._given_up = f"{problem}; this run asks it no more"
            return
        if self._failing_since is None:
            self._failing_since = _now()
        self._lose_patience(problem)

    def _lose_patience(self, problem: Exception) -> None:
        failing = 0.0 if self._failing_since is None else _now() - self._failing_since
        if failing >= self.patience:
            self._given_up = f"{problem}; nothing was answered for {failing:,.0f} s, so this run asks it no more"

    def _pause(self, until: float) -> None:
        if until > self._paused_until:
            self._paused_until = until
            # A little late rather than early: the clock that wakes is coarser than the one that is compared.
            asyncio.get_running_loop().call_at(until + 0.001, self._wake)


def asking_of(asked: Any) -> Asking:
    """The way to the machine of a system, or of a file that describes one, as these say: at most `concurrency` calls at
    once (else one), `tries`, `patience`, and `rate` calls a second.

    >>> from types import SimpleNamespace
    >>> asking_of(SimpleNamespace(concurrency=4, tries=2)).tries
    2
    """
    rate = getattr(asked, "rate", None)
    return Asking(
        getattr(asked, "concurrency", 1),
        getattr(asked, "tries", TRIES),
        getattr(asked, "patience", PATIENCE),
        spacing=Spacing(rate) if rate else None,
    )


async def asked_in_pieces(
    asked: Any, inputs: Sequence[Item], call: Callable[[Sequence[Item]], Awaitable[Sequence[Answer]]]
) -> list[Answer]:
    """What `call` answers to inputs, in their order: at most the `batch` of a system in each call, asked as `asking_of`
    says. Raises what the first call raised that had no answer in the end."""
    asking = asking_of(asked)
    pieces = [inputs[start : start + asked.batch] for start in range(0, len(inputs), asked.batch)]
    try:
        async with asyncio.TaskGroup() as group:
            calls = [group.create_task(asking.ask(partial(call, piece))) for piece in pieces]
    except BaseExceptionGroup as problems:
        raise problems.exceptions[0] from None
    return [answer for done in calls for answer in done.result()]


def _as_unanswered(problem: Exception) -> Unanswered:
    if isinstance(problem, Unanswered):
        return problem
    return Unanswered(f"{type(problem).__name__}: {problem}".rstrip(": "), crowded=isinstance(problem, TimeoutError))


def _now() -> float:
    return asyncio.get_running_loop().time()
