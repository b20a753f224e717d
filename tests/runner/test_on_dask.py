"""The executor on a cluster of another process: real workers, real deaths."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest
from dask_cluster import started
from executor_jobs import Double, Hold, Kill, Note, Where
from processes import processes

from audit.cli import main
from audit.errors import AuditError
from audit.runner.executors import Batch, Dask, InProcess, Lost, on_dask
from audit.runner.executors.base import too_long
from audit.runner.executors.batch import Identity
from audit.store import open_store
from audit.systems import get_system
from audit.tasks import Input

pytest.importorskip("distributed", reason="pip install 'audit[dask]'")
pytestmark = pytest.mark.slow  # a cluster, and processes that are killed


@pytest.fixture(scope="module")
def cluster():
    with started() as local:
        yield local


@pytest.fixture
def executor(cluster):
    with Dask(cluster.address) as dask:
        yield dask


def results(executor, *jobs):
    """Result by job, of as many as there are."""
    for job in jobs:
        executor.submit(job)
    pairs = []
    while len(pairs) < len(jobs):
        pairs += executor.finished()
    return dict(pairs)


def until(condition, seconds=20):
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        time.sleep(0.05)
    return condition()


def alive(pid):
    return any(process.id == pid for process in processes())


def test_results_are_those_of_this_process(executor):
    batches = [
        Batch("vader", "sentiment", tuple(Input.of(f"Film {n} was good.") for n in range(first, first + 50)))
        for first in (0, 50, 100)
    ]
    here = InProcess()
    expected, returned = results(here, *batches), results(executor, *batches)
    assert {job: result.outputs(50) for job, result in returned.items()} == {
        job: result.outputs(50) for job, result in expected.items()
    }


def test_a_job_that_ends_its_process_is_lost_and_the_others_are_not(executor):
    others = [Double(number, seconds=0.1) for number in range(8)]
    returned = results(executor, *others[:4], Kill(), *others[4:])
    assert returned.pop(Kill()) == Lost("its process ended with signal SIGKILL")
    assert returned == {job: 2 * job.number for job in others}


def test_a_job_that_hangs_in_native_code_is_ended_and_its_place_is_free(executor):
    others = [Double(number, seconds=0.1, limit=60) for number in range(8)]
    hanging = [Hold(limit=0.5 + number / 100) for number in range(executor.places)]
    returned = results(executor, *others[:4], *hanging, *others[4:])
    assert [returned.pop(job) for job in hanging] == [too_long(job.limit) for job in hanging]
    assert returned == {job: 2 * job.number for job in others}


def test_the_jobs_of_a_worker_that_is_killed_are_done_elsewhere(executor, tmp_path):
    log = tmp_path / "log"
    jobs = [Note(log, str(number), 0.4) for number in range(6)]
    for job in jobs:
        executor.submit(job)
    assert until(lambda: log.exists() and len(log.read_text().split("\n")) > executor.places)
    _, process, worker = log.read_text().splitlines()[0].split()
    os.kill(int(worker), signal.SIGKILL)
    assert results(executor) == {}
    pairs = []
    while len(pairs) < len(jobs):
        pairs += executor.finished()
    assert dict(pairs) == {job: job.name for job in jobs}
    begun = log.read_text().splitlines()
    assert len(begun) > len(jobs), "nothing was under way when the worker was killed"
    assert until(lambda: not alive(int(process))), "the process that did the killed worker's job goes on"


def test_a_worker_with_another_version_of_a_system_is_refused(executor, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with Dask(executor.address) as executor:
        own = Path("own_changed.py")
        own.write_text("def classify(text):\n    return 'positive'\n", encoding="utf-8")
        first = Batch("own_changed:classify", "sentiment", (Input.of("A film."),))
        identity = Identity.of(get_system("own_changed:classify"))
        assert results(executor, first)[first].labels == ("positive",)
        # Edited in the middle of a run: a process that starts now reads another file than the run began with.
        own.write_text("def classify(text):\n    return 'neutral'\n", encoding="utf-8")
        results(executor, *[Kill(limit=100 + number) for number in range(executor.places)])
        with pytest.raises(
            AuditError, match=r"system own_changed:classify had version .* at first, and version .* loaded once more"
        ):
            results(
                executor, Batch("own_changed:classify", "sentiment", (Input.of("Another film."),), identity=identity)
            )


def test_the_cluster_is_left_running_and_nothing_of_the_run_is_left(cluster):
    with suppress(KeyboardInterrupt), Dask(cluster.address) as executor:
        where = results(executor, *[Where(limit=100 + number) for number in range(4)]).values()
        executor.submit(Double(1, seconds=300))
        executor.submit(Hold(limit=None))
        executor.finished(0.3)
        raise KeyboardInterrupt
    assert until(lambda: not any(alive(process) for process, _, _ in where))
    assert all(alive(worker) for _, worker, _ in where)
    workers = {worker for _, worker, _ in where}
    assert until(lambda: not [child for child in processes() if child.parent in workers])
    with Dask(cluster.address) as again:
        assert results(again, Double(4)) == {Double(4): 8}


def test_nobody_listens_at_the_address(monkeypatch):
    monkeypatch.setattr(on_dask, "_CONNECT", 0.5)
    address = f"tcp://127.0.0.1:{_free_port()}"
    with pytest.raises(AuditError, match=f"no Dask scheduler answers at {address} within 0.5 s"), Dask(address):
        pass


def test_a_scheduler_that_comes_back_is_sent_the_jobs_again(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(on_dask, "_CONNECT", 2)
    port = _free_port()
    with started(port=port) as cluster:
        executor = Dask(cluster.address).__enter__()
        jobs = [Note(tmp_path / "log", str(number), 1.0) for number in range(6)]
        for job in jobs:
            executor.submit(job)
        assert until(lambda: (tmp_path / "log").exists())
        cluster.kill()
    with started(port=port), executor:
        pairs = []
        while len(pairs) < len(jobs):
            pairs += executor.finished()
        assert dict(pairs) == {job: job.name for job in jobs}
        assert executor.places == 2
    assert "went away" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("theirs", "said"),
    [
        ("__version__ = '0.0.1'", "has audit 0.0.1, and this run is of"),
        ("raise ImportError('no')", "has no audit, and"),
    ],
)
def test_a_worker_with_another_audit_or_none_is_refused(theirs, said, tmp_path):
    (tmp_path / "audit").mkdir()
    (tmp_path / "audit" / "__init__.py").write_text(theirs, encoding="utf-8")
    with (
        started(1, 1, path=(tmp_path,)) as cluster,
        pytest.raises(AuditError, match=f"{said}.*pip install"),
        Dask(cluster.address),
    ):
        pass


def test_a_cluster_of_its_own_starts_with_the_first_job_and_ends_with_the_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with Dask(workers=2) as executor:
        assert executor._cluster is None
        where = results(executor, *[Where(limit=100 + number) for number in range(6)]).values()
        assert executor.places == 2
        assert {folder for _, _, folder in where} == {str(tmp_path)}
        assert {len({worker for _, worker, _ in where}), len({process for process, _, _ in where})} == {2}
        executor.submit(Double(1, seconds=300))
        executor.finished(0.5)
    assert until(lambda: not any(alive(pid) for process, worker, _ in where for pid in (process, worker)))


def test_a_whole_run_ends_with_what_one_process_ends_with(own, tmp_path, capsys, content):
    """Three chunks, a system that fails on some inputs, a cluster of the run's own; byte for byte the same report."""
    lines = ["text,gold", *(f"The film number {n} is good.,{('positive', 'negative')[n % 2]}" for n in range(600))]
    (tmp_path / "reviews.csv").write_text("\n".join(lines), encoding="utf-8")
    command = ["run", "--corpus", "reviews.csv", "--systems", ",".join(["vader", *own.specs("calm", "failing")])]
    command += ["--relations", "MR1.4,MR3.1", "--json"]
    stored, printed = {}, {}
    for name, options in (
        ("alone", ["--workers", "0"]),
        ("dask", ["--executor", "dask", "--workers", "2"]),
    ):
        database = str(tmp_path / f"{name}.db")
        assert main([*command, "--db", database, *options]) == 0
        counts = json.loads(capsys.readouterr().out) | {"first_error": None}
        stored[name] = content(
            open_store(database), "source", "input", "output", "group", "member", "verdict", "progress"
        )
        assert main(["sample", "--db", database, "--per-relation", "20"]) == main(["gold", "--db", database]) == 0
        capsys.readouterr()
        assert main(["report", "--db", database, "--json"]) == 0
        printed[name] = counts, capsys.readouterr().out
    assert printed["alone"][0]["failed"] > 0
    assert stored["dask"] == stored["alone"]
    assert printed["dask"] == printed["alone"]


def test_a_run_that_is_killed_leaves_no_process(tmp_path):
    """kill -9 of the process that has a cluster of its own, while its jobs are at work."""
    script = (
        "from audit.runner.executors import Dask\n"
        "from executor_jobs import Double\n"
        "if __name__ == '__main__':\n"
        "    executor = Dask(workers=2).__enter__()\n"
        "    for job in (Double(1, seconds=300), Double(2, seconds=300)):\n"
        "        executor.submit(job)\n"
        "    while not executor.finished(0.5):\n"
        "        print('at work', flush=True)\n"
    )
    (tmp_path / "mine.py").write_text(script, encoding="utf-8")
    process = subprocess.Popen(
        [sys.executable, str(tmp_path / "mine.py")],
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
    )
    process.stdout.readline()
    assert until(lambda: len(_below(process.pid)) >= 4)
    below = _below(process.pid)
    process.kill()
    process.wait()
    assert until(lambda: not any(alive(pid) for pid in below), 40), below


def _below(pid):
    """Processes that a process began, and those that they began."""
    everything = processes()
    pids = [pid]
    for parent in pids:
        pids += [other.id for other in everything if other.parent == parent]
    return pids[1:]


def _free_port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]
