"""Limits of requests and of money: what is answered is stored, and the same run goes on."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from service import serving

from audit.relations import get_relation
from audit.runner.budget import Budget, Meter, Sending
from audit.runner.executors import InProcess, Processes
from audit.runner.options import RunOptions
from audit.runner.run import LimitReached, run
from audit.store import open_store
from audit.systems.remote_file import Price
from audit.tasks import Input

pytest.importorskip("httpx", reason="pip install 'audit[http]'")


class Paid:
    """A system as a meter sees it."""

    def __init__(self, batch=1, price=None, name="paid"):
        self.name, self.batch, self.price = name, batch, price

    async def run_async(self, inputs):
        raise AssertionError("nobody asks it")


INPUTS = [Input.of("x" * length) for length in (4, 8, 12, 16, 20)]


@given(limit=st.integers(1, 30), batch=st.integers(1, 6), number=st.integers(1, 60), spent=st.integers(0, 30))
def test_as_many_fit_as_the_limit_of_requests_allows(limit, batch, number, spent):
    budget = Budget(RunOptions(max_calls=limit))
    budget.spend(Sending(spent))
    inputs = [Input.of(f"{at}") for at in range(number)]
    room = max(0, limit - spent) * batch
    assert budget.fits(Meter(Paid(batch)), inputs) == min(number, room)
    assert budget.reached == (room == 0)


@given(cost=st.floats(0.01, 5), price=st.floats(0.01, 1))
def test_as_many_fit_as_the_limit_of_money_allows(cost, price):
    fits = Budget(RunOptions(max_cost=cost)).fits(Meter(Paid(1, Price(call=price))), INPUTS)
    assert fits * price <= cost * (1 + 1e-6)
    assert fits == len(INPUTS) or (fits + 1) * price > cost * (1 - 1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("workers", [InProcess, lambda: Processes(2)])
def test_a_run_stops_at_its_limit_and_the_same_again_pays_nothing_twice(
    tmp_path, monkeypatch, toy_corpus, content, workers, asked_once
):
    relations = [get_relation("sentiment", "MR3.1")]
    monkeypatch.setattr("audit.runner.studies.CHUNK", {"sentence": 8, "document": 2})
    engine, undisturbed = open_store("sqlite://", create=True), open_store("sqlite://", create=True)
    with serving() as server, workers() as executor:
        specs = [server.file(tmp_path, "batch = 2\nprice = { call = 0.5 }"), "vader"]
        for limits in ({"max_cost": 5.1}, {"max_calls": 10}):
            before = len(server.bodies)
            with pytest.raises(LimitReached) as reached:
                run(engine, toy_corpus(), specs, relations, executor, options=RunOptions(**limits))
            assert reached.value.status == 3
            assert reached.value.ran.left > 0
            assert len(server.bodies) - before == 10  # all that it was allowed, and no more
        ran = run(engine, toy_corpus(), specs, relations, executor, options=RunOptions(max_calls=100))
        assert ran.left == 0
        assert len(server.texts) == len(set(server.texts))
        run(undisturbed, toy_corpus(), specs, relations, executor)
    assert content(engine) == content(undisturbed)
