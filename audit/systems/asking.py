"""Ask another machine: at most so many calls at once, again where it gave no answer, and not for ever."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Any, TypeVar

from audit.errors import Declined, Unanswered, installed_extras

TRIES = 6
"""Times that a call is made; with the waits between, about 8 s where the machine refuses at once."""
PATIENCE = 300.0
"""Seconds without any answer, or that a machine may ask for, after which a run asks it no more."""
FIRST_WAIT, LONGEST_WAIT = 0.5, 30.0
"""Bounds of the random wait after the first try, which double, and of any wait, in seconds."""
SILENCE = (Unanswered, TimeoutError, ConnectionError)
"""What a call raises that may be answered when it is made again."""

Answer = TypeVar("Answer")
Item = TypeVar("Item")


class Asking:
    """The way to one machine, shared by all calls to it; it belongs to one event loop.

    `limit` is the most calls at once, `tries` the most times that a call is made, `patience` the seconds without any
    answer after which the machine is given up: later calls are declined at once, so that a run comes to an end. `rate`
    is the most calls a second, evenly spaced, retries among them. A pause, the rate and giving up are the machine's,
    not a call's, which is why they stand here and not in tenacity's waits.

    >>> async def answer():
    ...     return await Asking(limit=2).ask(lambda: asyncio.sleep(0, 42))
    >>> asyncio.run(answer())
    42
    """

    def __init__(self, limit: int, tries: int = TRIES, patience: float = PATIENCE, rate: float | None = None):
        with installed_extras():
            import tenacity

        self.limit, self.tries, self.patience = limit, tries, patience
        self._places = asyncio.Semaphore(limit)
        self._apart = 1 / rate if rate else 0.0
        self._next = 0.0
        """When the next call may begin."""
        self._retrying = partial(
            tenacity.AsyncRetrying,
            retry=tenacity.retry_if_exception_type(SILENCE),
            stop=tenacity.stop_after_attempt(tries),
            wait=tenacity.wait_random_exponential(FIRST_WAIT, max=LONGEST_WAIT),
            reraise=True,
        )
        self._paused_until = 0.0
        self._failing_since: float | None = None
        self._given_up: str | None = None

    async def ask(self, call: Callable[[], Awaitable[Answer]]) -> Answer:
        """Return what the call returns, made when there is a place for it and again when it gave no answer.

        Raises what the call raises, Unanswered after the last try, and Declined once the machine is given up.
        """
        async with self._places:  # held between tries: what was begun ends first, and who is in trouble is asked less
            try:
                answer: Answer = await self._retrying()(self._once, call)
                return answer
            except SILENCE as problem:
                self._lose_patience(_words(problem))
                times = "once" if self.tries == 1 else f"{self.tries} times"
                inputs = isinstance(problem, Unanswered) and problem.inputs
                raise Unanswered(f"{_words(problem)} (asked {times})", inputs=inputs) from None

    async def _once(self, call: Callable[[], Awaitable[Answer]]) -> Answer:
        await self._wait_turn()
        if self._given_up is not None:
            raise Declined(self._given_up)
        began = _now()
        try:
            answer = await call()
        except SILENCE as problem:
            self._note_silence(problem, began)
            raise
        except Declined as problem:
            self._note_refusal(problem, began)
            raise
        except Exception:
            self._failing_since = None  # it is there, whatever its answer was worth
            raise
        self._failing_since = None
        return answer

    async def _wait_turn(self) -> None:
        if self._apart:
            begin = max(self._next, _now())
            self._next = begin + self._apart
            await asyncio.sleep(begin - _now())
        while self._given_up is None and (wait := self._paused_until - _now()) > 0:
            await asyncio.sleep(wait)

    def _note_silence(self, problem: Exception, began: float) -> None:
        self._failing_since = began if self._failing_since is None else self._failing_since
        after = problem.after if isinstance(problem, Unanswered) else None
        if after is not None and after > self.patience:
            waits = f"it asks for {after:,.0f} s, patience is {self.patience:,.0f} s"
            self._given_up = f"{_words(problem)}; {waits}, so this run asks it no more"
        elif after:
            self._paused_until = max(self._paused_until, _now() + after)

    def _note_refusal(self, problem: Declined, began: float) -> None:
        if problem.final:
            self._given_up = f"{problem}; this run asks it no more"
        elif problem.inputs:
            self._failing_since = None
        else:
            self._failing_since = began if self._failing_since is None else self._failing_since
            self._lose_patience(str(problem))

    def _lose_patience(self, words: str) -> None:
        failing = 0.0 if self._failing_since is None else _now() - self._failing_since
        if failing >= self.patience and self._given_up is None:
            self._given_up = f"{words}; nothing was answered for {failing:,.0f} s, so this run asks it no more"


def asking_of(asked: Any) -> Asking:
    """Return the way to the machine of a system, or of a file that describes one, with the `concurrency` (else one),
    `tries`, `patience` and `rate` that it has."""
    return Asking(
        getattr(asked, "concurrency", 1),
        getattr(asked, "tries", TRIES),
        getattr(asked, "patience", PATIENCE),
        getattr(asked, "rate", None),
    )


async def asked_in_pieces(
    asked: Any, inputs: Sequence[Item], call: Callable[[Sequence[Item]], Awaitable[Sequence[Answer]]]
) -> list[Answer]:
    """Return what `call` answers to inputs, in their order: at most the `batch` of a system in each call, asked as
    `asking_of` says. Raises what the first call raised that had no answer in the end."""
    asking = asking_of(asked)
    pieces = [inputs[start : start + asked.batch] for start in range(0, len(inputs), asked.batch)]
    try:
        async with asyncio.TaskGroup() as group:
            calls = [group.create_task(asking.ask(partial(call, piece))) for piece in pieces]
    except BaseExceptionGroup as problems:
        raise problems.exceptions[0] from None
    return [answer for done in calls for answer in done.result()]


def _words(problem: BaseException) -> str:
    return str(problem) if isinstance(problem, Unanswered) else f"{type(problem).__name__}: {problem}".rstrip(": ")


def _now() -> float:
    return asyncio.get_running_loop().time()
