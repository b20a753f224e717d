"""What a run would ask: exact for groups that are the same for every system, bounds for others; nothing is stored."""

import pytest
from service import serving

from audit.relations import get_relation
from audit.runner.executors import InProcess, Processes
from audit.runner.forecast import forecasts
from audit.runner.run import run
from audit.runner.studies import Sampled
from audit.store import open_store

pytestmark = pytest.mark.usefixtures("asked_once")

pytest.importorskip("httpx", reason="pip install 'audit[http]'")
PRICE = "batch = 4\nconcurrency = 3\nrate = 1000\nprice = { call = 0.25, currency = 'EUR' }"


@pytest.fixture(autouse=True)
def small_chunks(monkeypatch):
    """Thirty sources are then four chunks."""
    monkeypatch.setattr("audit.runner.studies.CHUNK", {"sentence": 8, "document": 2})
    monkeypatch.setattr("audit.runner.forecast.CHUNK", {"sentence": 8, "document": 2})


@pytest.mark.slow
@pytest.mark.parametrize("workers", [InProcess, lambda: Processes(2)])
def test_a_forecast_of_fixed_relations_is_what_the_run_then_asks(tmp_path, toy_corpus, workers):
    engine, corpus = open_store("sqlite://", create=True), toy_corpus()
    fixed = [get_relation("sentiment", name) for name in ("MR2.1", "MR3.1")]
    with serving() as server, workers() as executor:
        specs = [server.file(tmp_path, PRICE), "vader"]
        local, vader = forecasts([(Sampled(corpus, 0), fixed)], specs, executor, engine)
        assert server.bodies == []
        assert (local["exact"], local["stored"], local["to_ask"]) == (True, 0, local["inputs"])
        assert (vader["inputs"], vader["calls"], vader["cost"], vader["seconds"]) == (local["inputs"], None, None, None)
        ran = run(engine, corpus, specs, fixed, executor)
        assert len(server.texts) == local["inputs"] == ran.counts.executed / 2
        # Of several inputs a request, those at the ends of the four chunks may not be full, and may go with the next.
        assert -(-local["inputs"] // 4) <= len(server.bodies) <= local["calls"] + 4
        assert sum(map(len, server.texts)) == local["characters"]
        assert (local["cost"], local["currency"]) == (pytest.approx(local["calls"] * 0.25), "EUR")
        assert local["seconds"] == pytest.approx(local["calls"] / 1000)
        again, _ = forecasts([(Sampled(corpus, 0), fixed)], specs, executor, engine)
        assert (again["inputs"], again["stored"]) == (local["inputs"], local["inputs"])
        assert (again["to_ask"], again["calls"]) == (0, 0)


def test_groups_that_hang_on_outputs_make_it_at_least_and_what_is_stored_makes_it_exact(
    tmp_path, toy_corpus, toy_relations
):
    engine, corpus = open_store("sqlite://", create=True), toy_corpus()
    with serving() as server, InProcess() as executor:
        specs = [server.file(tmp_path, PRICE)]
        (before,) = forecasts([(Sampled(corpus, 0), toy_relations)], specs, executor, None)
        assert before["hanging"] == {"T3": 30}
        assert not before["exact"]
        asked = run(engine, corpus, specs, toy_relations, executor).counts.executed
        assert before["to_ask"] < asked
        (after,) = forecasts([(Sampled(corpus, 0), toy_relations)], specs, executor, engine)
        assert (after["exact"], after["inputs"], after["to_ask"]) == (True, asked, 0)
