"""Systems that begin slowly are given the inputs of many chunks together, and are not asked for what they lack."""

from types import SimpleNamespace

import pytest
import toy_translator
from test_run_translation import NAMES, PAIRS, stored

from audit.corpora import get_corpus
from audit.relations import get_relation
from audit.runner.coordinator import AIM, HASTE, MOST_GATHERED, BoundSystem
from audit.runner.executors import InProcess, Processes
from audit.runner.run import run
from audit.store import open_store


def test_the_pace_is_the_systems_own_but_never_too_near_to_the_limit_of_time():
    slow = BoundSystem(1, "slow", SimpleNamespace(batch_seconds=20.0))
    pace = slow.pace(None)
    sizes = []
    for _ in range(3):
        sizes.append(pace.size)
        pace.learn(pace.size, 0.3 + pace.size / 200)  # seconds to begin, sentences a second
    # Sixteen times as many, then what 20 seconds are enough for: 512 * 20 / 2.86.
    assert (pace.aim, sizes) == (20.0, [32, 512, 3580])
    pace.learn(3580, 1.0)
    assert pace.size == MOST_GATHERED
    assert slow.pace(40.0).aim == 40.0 / HASTE
    assert BoundSystem(2, "quick", SimpleNamespace()).pace(None).aim == AIM


@pytest.fixture
def study(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("audit.runner.studies.CHUNK", {"sentence": 10, "document": 2})
    rows = [f"Day {number} brought {'rain' if number % 3 else 'wind'} and news to us." for number in range(100)]
    (tmp_path / "days.csv").write_text("\n".join(["text", *rows]), encoding="utf-8")
    return get_corpus("days.csv@es", "translation", "sentence")


def ran(study, spec, where, executor=None):
    engine = open_store(str(where), create=True)
    executor = executor or InProcess()
    with executor:
        result = run(engine, study, [spec], [get_relation("translation", name) for name in NAMES], executor)
    return engine, result.counts


@pytest.mark.slow
def test_it_begins_seldom_and_what_is_stored_is_the_same(study, tmp_path, content):
    quick = toy_translator.write(tmp_path, "toy_quick", pairs=PAIRS, spoils=0.1)
    toy_translator.write(tmp_path, "toy_slow", pairs=PAIRS, spoils=0.1)
    expected, _ = ran(study, quick, tmp_path / "quick.db")
    engine, counts = ran(study, "toy_slow:Slow", tmp_path / "slow.db")
    assert stored(engine) == stored(expected)
    held, wanted = content(engine), content(expected)
    assert held == wanted  # the absent outputs among them
    # Sources of ten chunks; the first batches are small, then each round is one batch.
    assert len(toy_translator.batches(tmp_path, "toy_slow")) <= 8
    assert len(toy_translator.batches(tmp_path, "toy_quick")) > 20
    calls = toy_translator.calls(tmp_path, "toy_slow")
    assert len(calls) == len(set(calls)) == counts.executed
    assert {call.split("\t")[0] for call in calls} <= {">".join(pair) for pair in PAIRS}


@pytest.mark.slow
def test_workers_and_a_second_run_find_the_same(study, tmp_path, content, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    toy_translator.write(tmp_path, "toy_both", pairs=PAIRS, spoils=0.1)
    alone, _ = ran(study, "toy_both:Slow", tmp_path / "alone.db")
    both, _ = ran(study, "toy_both:Slow", tmp_path / "both.db", Processes(2))
    assert content(alone) == content(both)
    _, again = ran(study, "toy_both:Slow", tmp_path / "alone.db")
    assert (again.executed, again.checks) == (0, 0)
