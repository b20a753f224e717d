"""Ask another machine: a limited number of calls at once, again where it gave no answer, and not for ever."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager, nullcontext
from functools import partial
from typing import Any, TypeVar

from audit.errors import Declined, Unanswered, installed_extras

TRIES = 6  # Times that a call is made; with the waits between, about 8 s where the machine refuses at once
PATIENCE = 300.0  # Seconds without any answer, or that a machine may ask for, after which a run asks it no more
FIRST_WAIT, LONGEST_WAIT = 0.5, 30.0  # Bounds of the random wait after the first try, which doubles, and of any wait
SILENCE = (Unanswered, TimeoutError, ConnectionError)
"""What a call raises that may be answered when it is made again."""
Answer = TypeVar("Answer")


class Asking:
    """The way to one machine, shared by all calls to it; it belongs to one event loop.

    `limit` is the most calls at once, `tries` the most times that a call is made, `patience` the seconds without any
    answer after which later calls are declined at once, so that a run ends. `rate` is the most calls a second, evenly
    spaced. A pause and giving up are the machine's, not a call's, which is why tenacity does not hold them.
    """

    def __init__(self, limit: int, tries: int = TRIES, patience: float = PATIENCE, rate: float | None = None):
        with installed_extras():
            import tenacity
            from aiolimiter import AsyncLimiter

        self.limit, self.tries, self.patience = limit, tries, patience
        self._places = asyncio.Semaphore(limit)
        self._pace: AbstractAsyncContextManager[Any] = AsyncLimiter(1, 1 / rate) if rate else nullcontext()
        self._paused_until = 0.0
        self._failing_since: float | None = None
        self._given_up = ""
        self._retrying = partial(
            tenacity.AsyncRetrying,
            retry=tenacity.retry_if_exception_type(SILENCE),
            stop=tenacity.stop_after_attempt(tries),
            wait=tenacity.wait_random_exponential(FIRST_WAIT, max=LONGEST_WAIT),
            reraise=True,
        )

    async def ask(self, call: Callable[[], Awaitable[Answer]]) -> Answer:
        """Return what the call returns, made when there is a place for it and again when it gave no answer.

        Raises what the call raises, Unanswered after the last try, and Declined once the machine is given up.
        """
        async with self._places:  # held between tries: a machine in trouble is asked less
            try:
                answer: Answer = await self._retrying()(self._once, call)
                return answer
            except SILENCE as problem:
                self._lose_patience(_words(problem))
                times = "once" if self.tries == 1 else f"{self.tries} times"
                reason = f"{_words(problem)} (asked {times})"
                raise Unanswered(reason, inputs=getattr(problem, "inputs", False)) from None
            except Declined as problem:
                if not problem.inputs:
                    self._lose_patience(str(problem))
                raise

    async def _once(self, call: Callable[[], Awaitable[Answer]]) -> Answer:
        now = asyncio.get_running_loop().time
        async with self._pace:
            pass
        while not self._given_up and (wait := self._paused_until - now()) > 0:
            await asyncio.sleep(wait)
        if self._given_up:
            raise Declined(self._given_up)
        began, reached = now(), True
        try:
            return await call()
        except SILENCE as problem:
            reached = False
            after = getattr(problem, "after", None) or 0.0
            self._paused_until = max(self._paused_until, now() + after)
            if after > self.patience:
                self._given_up = _gone(
                    f"{_words(problem)}; it asks for {after:,.0f} s, patience is {self.patience:,.0f} s, so"
                )
            raise
        except Declined as problem:
            reached = problem.inputs
            if problem.final:
                self._given_up = _gone(f"{problem};")
            raise
        finally:  # a machine is there whatever its answer was worth
            self._failing_since = None if reached else began if self._failing_since is None else self._failing_since

    def _lose_patience(self, words: str) -> None:
        now = asyncio.get_running_loop().time()
        failing = 0.0 if self._failing_since is None else now - self._failing_since
        if failing >= self.patience and not self._given_up:
            self._given_up = _gone(f"{words}; nothing was answered for {failing:,.0f} s, so")


def asking_of(asked: Any) -> Asking:
    """Return the way to the machine of a system, or of a file that describes one, with the `concurrency` (else one),
    `tries`, `patience` and `rate` that it has."""
    pace: dict[str, Any] = {"tries": TRIES, "patience": PATIENCE, "rate": None}
    said = {name: getattr(asked, name, usual) for name, usual in pace.items()}
    return Asking(getattr(asked, "concurrency", 1), **said)


def _gone(why: str) -> str:
    return f"{why} this run asks it no more"


def _words(problem: BaseException) -> str:
    return str(problem) if isinstance(problem, Unanswered) else f"{type(problem).__name__}: {problem}".rstrip(": ")
