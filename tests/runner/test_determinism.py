"""The same seed makes the same groups and the same report, whoever does the work and in whatever order it is done."""

import json
import random
import threading
from concurrent.futures import Future

import pytest

from audit.judging.labels import answer_with_gold
from audit.judging.samples import ask_next
from audit.relations import get_relation
from audit.reports.study import study_report
from audit.runner.executors import InProcess, Processes
from audit.runner.options import RunOptions
from audit.runner.run import run
from audit.sampling.samples import SampleOptions
from audit.store import open_store


class Shuffled(InProcess):
    """Takes many jobs and hands them back in a random order."""

    places = 5

    def __init__(self, seed):
        self._chance = random.Random(seed)

    def submit(self, job):
        future = Future()
        done = super().submit(job).result()
        threading.Timer(self._chance.random() / 50, future.set_result, [done]).start()
        return future


def content_of_run(executor, where, corpus, specs, relations, content, seed=0):
    """What a run leaves in a database, and the bytes of its report after a draw and gold's answers."""
    engine = open_store(where, create=True)
    with executor:
        run(engine, corpus, specs, relations, executor, RunOptions(seed=seed))
    held = content(engine)
    ask_next(engine, SampleOptions(10))
    answer_with_gold(engine)
    report = json.dumps(study_report(engine), ensure_ascii=False)
    engine.dispose()
    return held, report


@pytest.mark.slow
def test_the_executor_and_the_order_of_completion_change_nothing(
    own, tmp_path, toy_corpus, toy_relations, content, monkeypatch
):
    monkeypatch.setattr("audit.runner.studies.CHUNK", {"sentence": 7, "document": 2})
    # Plain ones that workers know, and one that asks the systems on its way, which the run itself walks.
    relations = [get_relation("sentiment", name) for name in ("MR1.4", "MR3.1")] + toy_relations[2:]
    specs = own.specs("calm", "failing", "nervous")

    def with_(executor, name, seed=0):
        return content_of_run(executor, str(tmp_path / f"{name}.db"), toy_corpus(), specs, relations, content, seed)

    expected, report = with_(InProcess(), "alone")
    assert len(expected["group"]) > 60
    for name, executor in (
        [(f"processes{number}", Processes(number)) for number in (1, 2, 3)]
        + [(f"shuffled{seed}", Shuffled(seed)) for seed in range(5)]
    ):  # fmt: skip
        stored, again = with_(executor, name)
        assert stored == expected, name
        assert again == report, name
    # And the test can tell one seed from another.
    assert with_(InProcess(), "other", seed=1)[0]["source"] != expected["source"]
