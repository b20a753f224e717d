"""Asking another machine: places, pauses, the rate, tries, patience. No machine is too slow for any time here."""

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from audit.errors import BadOutput, Declined, Unanswered
from audit.systems.endpoint import Asking


@pytest.fixture(autouse=True)
def _no_waits(monkeypatch):
    monkeypatch.setattr("audit.systems.endpoint.FIRST_WAIT", 0)


class Machine:
    """Does what it is told for each call: an exception to raise, or an answer; the rest is `right`."""

    def __init__(self, *script):
        self.script = list(script)
        self.calls = self.at_once = self.most = 0

    async def __call__(self):
        self.calls += 1
        self.at_once += 1
        self.most = max(self.most, self.at_once)
        told = self.script.pop(0) if self.script else "right"
        try:
            await asyncio.sleep(0)
            if isinstance(told, BaseException):
                raise told
            return told
        finally:
            self.at_once -= 1


def answers_of(asking, machine, times=1):
    async def all_of_them():
        return await asyncio.gather(*(asking.ask(machine) for _ in range(times)), return_exceptions=True)

    return asyncio.run(all_of_them())


@pytest.mark.parametrize("problem", [Unanswered("away"), TimeoutError(), ConnectionError("reset")])
def test_what_was_not_answered_is_asked_again(problem):
    machine = Machine(problem, problem)
    assert answers_of(Asking(limit=1), machine) == ["right"]
    assert machine.calls == 3


def test_a_pause_holds_for_all_calls():
    # The first call is told to wait; nine more are waiting for its place. None is made before the pause is over.
    times = []

    async def all_of_them():
        asking = Asking(limit=1)
        loop = asyncio.get_running_loop()

        async def call():
            times.append(loop.time())
            if len(times) == 1:
                raise Unanswered("later", after=0.2)
            return "right"

        return await asyncio.gather(*(asking.ask(call) for _ in range(10)))

    assert asyncio.run(all_of_them()) == ["right"] * 10
    assert all(later - times[0] >= 0.2 for later in times[1:])  # what it asked for, not how fast we are


def test_a_machine_without_answers_is_given_up_and_nothing_more_is_asked():
    machine = Machine(*[Unanswered("away")] * 1000)
    problems = answers_of(Asking(limit=1, tries=2, patience=0), machine, times=100)
    assert all(isinstance(problem, Unanswered | Declined) for problem in problems)
    assert machine.calls == 2
    given_up = [problem for problem in problems if isinstance(problem, Declined)]
    assert str(given_up[0]) == "away; nothing was answered for 0 s, so this run asks it no more"


def test_a_machine_that_asks_for_more_time_than_there_is_is_given_up_at_once():
    machine = Machine(Unanswered("quota", after=86_400))
    first, second = answers_of(Asking(limit=1, patience=300), machine, times=2)
    assert str(first) == str(second) == ("quota; it asks for 86,400 s, patience is 300 s, so this run asks it no more")
    assert machine.calls == 1


@given(
    script=st.lists(st.sampled_from(["right", "away", "declined", "nonsense", "left"]), min_size=0, max_size=60),
    concurrency=st.integers(1, 9),
    times=st.integers(1, 40),
)
def test_whatever_happens_every_call_ends_and_no_place_is_lost(script, concurrency, times):
    kinds = {
        "right": "right",
        "away": Unanswered("away"),
        "declined": Declined("no", inputs=True),
        "nonsense": BadOutput("nonsense"),
        "left": ConnectionError("reset"),
    }
    machine = Machine(*(kinds[kind] for kind in script))
    ends = answers_of(Asking(concurrency, tries=3), machine, times)
    assert len(ends) == times
    assert machine.most <= concurrency
    assert machine.at_once == 0
    assert times <= machine.calls <= 3 * times


def test_calls_keep_to_the_rate():
    times = []

    async def all_of_them():
        asking = Asking(limit=9, rate=50)

        async def call():
            times.append(asyncio.get_running_loop().time())

        await asyncio.gather(*(asking.ask(call) for _ in range(6)))

    asyncio.run(all_of_them())
    assert times[-1] - times[0] >= 5 / 50 - 0.01  # evenly, and never faster
