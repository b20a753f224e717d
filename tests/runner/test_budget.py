"""Limits of requests and of money: what is answered is stored, and the same run goes on."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from service import serving

from audit.cli import main
from audit.errors import AuditError
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


def test_what_asking_takes():
    price = Price(call=0.01, input_tokens=1_000, answers=2_000, output_tokens=5)
    # 60 characters are 15 tokens; two requests of three inputs at most: 2 * .01 + 15 * .001 + 2 * 5 * .002 = .055.
    sending = Meter(Paid(3, price)).of(INPUTS)
    assert (sending.calls, sending.characters, sending.tokens) == (2, 60, 15)
    assert sending.cost == pytest.approx(0.055)


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


@pytest.mark.parametrize(
    ("limits", "systems", "sentence"),
    [
        ({"max_calls": 0}, [], "max_calls=0: expected a whole number from 1"),
        ({"max_cost": -1.0}, [], "max_cost=-1.0: expected a number above 0"),
        ({"max_calls": 5}, [object()], "no system here asks another machine"),
        ({"max_cost": 5}, [Paid(name="acme")], "the file of the system acme has no price"),
        ({"max_cost": 5.0}, [object()], "no system here has a price"),
        (
            {"max_cost": 5},
            [Paid(price=Price(currency="EUR")), Paid(price=Price())],
            "the systems' prices are in EUR and USD",
        ),
    ],
)
def test_limits_that_say_nothing_are_refused(limits, systems, sentence):
    with pytest.raises(AuditError, match=sentence) as raised:
        Budget(RunOptions(**limits)).check(systems)
    assert raised.value.parameters


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


@pytest.mark.slow
def test_by_the_command_line(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "films.csv").write_text("text\n" + "".join(f"Film {number} was fine.\n" for number in range(30)))
    command = ["run", "--corpus", "films.csv", "--relations", "MR3.1", "--workers", "1", "--db", "films.db"]
    command += ["--systems", "http:service.toml"]
    with serving() as server:
        server.file(tmp_path, "batch = 1\nprice = { call = 0.01 }")
        assert main([*command, "--max-calls", "2"]) == 2
        assert not (tmp_path / "films.db").exists()
        assert main([*command, "--max-cost", "0.2"]) == 3
        assert len(server.bodies) == 20
        shown = capsys.readouterr()
        assert "audit: --max-cost 0.2 is reached after 20 requests, about 0.2 USD; what was answered is" in shown.err
        assert main([*command, "--dry-run", "--json"]) == 0
        (forecast,) = json.loads(capsys.readouterr().out)
        assert (forecast["inputs"], forecast["stored"], forecast["calls"]) == (60, 20, 40 + 3)  # three asked again
        assert main([*command, "--max-calls", "2"]) == 2
        assert len(server.bodies) == 20
        assert main([*command, "--max-calls", "43"]) == 0
        assert len(server.texts) == len(set(server.texts)) + 3 == 63
