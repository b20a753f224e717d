"""The executors: this process, processes, and a Dask cluster, with real deaths; what a job costs is itself alone."""

import json
import os
import subprocess
import sys
import time

import pytest
from dask_cluster import started
from executor_jobs import Double, Hold, Kill, Leave, Where
from processes import processes

from audit.cli import main
from audit.runner.batch import Batch
from audit.runner.executors import Dask, InProcess, Lost, Processes, outcome
from audit.store import open_store
from audit.tasks import Input

LATE = Lost("no answer within 1 s", late=True)
ENDED = Lost("its process ended with each of the workers that had it")


def results(executor, *jobs):
    """What became of each job."""
    futures = [(job, executor.submit(job)) for job in jobs]
    return {job: outcome(future) for job, future in futures}


def until(condition, seconds=30):
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        time.sleep(0.05)
    return condition()


def below(pid):
    """Processes that a process began, and those that they began."""
    everything = processes()
    pids = [pid]
    for parent in pids:
        pids += [other.id for other in everything if other.parent == parent]
    return pids[1:]


@pytest.mark.slow
def test_a_job_that_ends_its_process_or_is_late_is_lost_and_the_others_are_not():
    others = [Double(number, seconds=0.02) for number in range(8)]
    with Processes(2) as executor:
        returned = results(executor, *others[:4], Kill(), Leave(0), Hold(), *others[4:6], Leave(3), *others[6:])
        where = results(executor, *[Where(limit=100 + number) for number in range(4)]).values()
    assert returned.pop(Kill()) == Lost("its process ended with signal SIGKILL")
    assert returned.pop(Leave(3)) == Lost("its process ended with status 3")
    assert returned.pop(Leave(0)) == Lost("its process ended with status 0")
    assert returned.pop(Hold()) == LATE  # in native code
    assert returned == {job: 2 * job.number for job in others}
    assert not {process.id for process in processes()} & {process for process, _, _ in where}
    assert results(InProcess(), Double(1, seconds=60, limit=1.0)) == {Double(1, 60, 1.0): LATE}


@pytest.mark.slow
def test_a_run_that_is_killed_leaves_no_process(tmp_path):
    script = (
        "import time\n"
        "from audit.runner.executors import Processes\n"
        "from executor_jobs import Double\n"
        "if __name__ == '__main__':\n"
        "    executor = Processes(2).__enter__()\n"
        "    futures = [executor.submit(Double(number, seconds=300)) for number in range(2)]\n"
        "    print('at work', flush=True)\n"
        "    time.sleep(300)\n"
    )
    (tmp_path / "mine.py").write_text(script, encoding="utf-8")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    process = subprocess.Popen([sys.executable, str(tmp_path / "mine.py")], stdout=subprocess.PIPE, env=environment)
    process.stdout.readline()
    assert until(lambda: len(below(process.pid)) >= 2)
    pids = {*below(process.pid)}
    process.kill()
    process.wait()
    assert until(lambda: not pids & {one.id for one in processes()}, 60), pids


@pytest.fixture(scope="module")
def cluster():
    pytest.importorskip("distributed", reason="pip install 'audit[dask]'")
    with started() as local:
        yield local


@pytest.mark.slow
def test_dask_loses_what_processes_lose_and_is_left_running(cluster):
    batch = Batch("vader", "sentiment", tuple(Input.of(f"Film {n} was good.") for n in range(50)))
    others = [Double(number, seconds=0.1) for number in range(6)]
    with Dask(cluster.address) as executor:
        assert executor.places == 2
        returned = results(executor, *others[:3], Kill(), Hold(), *others[3:], batch)
        neighbours = [job for job, result in returned.items() if result == ENDED and job not in (Kill(), Hold())]
        returned |= results(executor, *neighbours)  # Dask gives up those that waited where a worker ended, too
        waiting = [executor.submit(Double(number, seconds=3)) for number in range(20)]
    assert returned.pop(Kill()) == returned.pop(Hold()) == ENDED
    assert returned.pop(batch).outputs == batch.work().outputs
    assert returned == {job: 2 * job.number for job in others}
    assert until(lambda: sum(future.cancelled() for future in waiting) > 10)
    with Dask(cluster.address) as again:
        assert results(again, Double(4)) == {Double(4): 8}


@pytest.mark.slow
def test_a_whole_run_on_two_dask_workers_ends_with_what_one_process_ends_with(own, tmp_path, capsys, content, cluster):
    """Three chunks, and a system that fails on some inputs; byte for byte the same report."""
    lines = ["text,gold", *(f"The film number {n} is good.,{('positive', 'negative')[n % 2]}" for n in range(600))]
    (tmp_path / "reviews.csv").write_text("\n".join(lines), encoding="utf-8")
    command = ["run", "--corpus", "reviews.csv", "--systems", ",".join(["vader", *own.specs("calm", "failing")])]
    command += ["--relations", "MR1.4,MR3.1", "--json"]
    stored, printed = {}, {}
    for name, options in (("alone", ["--workers", "0"]), ("dask", ["--dask", cluster.address])):
        database = str(tmp_path / f"{name}.db")
        assert main([*command, "--db", database, *options]) == 0
        counts = json.loads(capsys.readouterr().out) | {"first_error": None}
        stored[name] = content(
            open_store(database), "source", "input", "output", "group", "member", "verdict", "progress"
        )
        assert main(["sample", "--db", database, "--base", "20"]) == main(["gold", "--db", database]) == 0
        capsys.readouterr()
        assert main(["report", "--db", database, "--json"]) == 0
        printed[name] = counts, capsys.readouterr().out
    assert printed["alone"][0]["failed"] > 0
    assert stored["dask"] == stored["alone"]
    assert printed["dask"] == printed["alone"]
