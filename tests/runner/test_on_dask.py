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
from executor_jobs import Double, Hold, Kill, Note, Raise, Where
from processes import processes

from audit.cli import main
from audit.errors import AuditError, NotInstalled, UnknownName
from audit.relations import get_relation
from audit.runner.executors import Batch, Dask, InProcess, Lost, on_dask
from audit.runner.executors.base import too_long
from audit.runner.executors.batch import Identity
from audit.runner.run import run
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


def test_finished_waits_no_longer_than_it_is_told(executor):
    assert executor.finished(0) == []
    executor.submit(Double(2, seconds=1))
    assert executor.finished(0) == []
    assert executor.finished(60) == [(Double(2, seconds=1), 4)]
    assert executor.finished() == []


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


def test_what_a_job_raises_is_raised_and_a_mistake_names_the_worker(executor):
    with pytest.raises(ValueError, match="seven"):
        results(executor, Raise(ValueError, ("seven",)))
    with pytest.raises(AuditError, match=r"unknown system 'x'; known are: y \(worker tcp://"):
        results(executor, Raise(UnknownName, ("system", "x", ["y"])))
    assert results(executor, Double(1)) == {Double(1): 2}


def test_a_system_in_the_current_directory_is_found_and_read_anew_by_each_run(cluster, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    batch = Batch("own_on_dask:classify", "sentiment", (Input.of("A film."),))
    # Of different lengths: Python takes compiled code for that of a file of the same second and the same length.
    for label in ("positive", "neutral"):
        Path("own_on_dask.py").write_text(f"def classify(text):\n    return {label!r}\n", encoding="utf-8")
        monkeypatch.delitem(__import__("sys").modules, "own_on_dask", raising=False)
        with Dask(cluster.address) as executor:
            assert results(executor, batch)[batch].labels == (label,)


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


def test_a_module_that_a_worker_lacks_is_one_sentence(cluster, executor):
    with pytest.raises(AuditError, match=r"no module 'nowhere' for the system.*\(worker tcp://"):
        results(executor, Batch("nowhere:classify", "sentiment", (Input.of("A film."),)))


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


def test_two_runs_share_a_cluster(cluster):
    with Dask(cluster.address) as first, Dask(cluster.address) as second:
        jobs = [Double(number, seconds=0.05) for number in range(6)]
        for job in jobs:
            first.submit(job)
        assert len(results(second, *jobs)) == 6
        assert len(results(first)) == 0
        pairs = []
        while len(pairs) < 6:
            pairs += first.finished()


def test_nobody_listens_at_the_address(monkeypatch):
    monkeypatch.setattr(on_dask, "_CONNECT", 0.5)
    address = f"tcp://127.0.0.1:{_free_port()}"
    with pytest.raises(AuditError, match=f"no Dask scheduler answers at {address} within 0.5 s"), Dask(address):
        pass


def test_something_else_listens_at_the_address(monkeypatch):
    monkeypatch.setattr(on_dask, "_CONNECT", 0.5)
    with socket.create_server(("127.0.0.1", 0)) as other:
        address = f"tcp://127.0.0.1:{other.getsockname()[1]}"
        with pytest.raises(AuditError, match=f"no Dask scheduler answers at {address}"), Dask(address):
            pass


@pytest.mark.parametrize("address", ["", "tcp://", "nonsense://x:1", "127.0.0.1:notaport"])
def test_what_is_no_address(address, monkeypatch):
    monkeypatch.setattr(on_dask, "_CONNECT", 0.5)
    with pytest.raises(AuditError, match="no Dask scheduler answers at"), Dask(address):
        pass


def test_dask_is_not_installed(monkeypatch):
    monkeypatch.setattr(on_dask, "find_spec", lambda name: None)
    with pytest.raises(NotInstalled, match=r"pip install 'audit\[dask\]'"):
        Dask()


def test_a_run_stores_what_one_process_stores(cluster, own, tmp_path, toy_corpus, content):
    relations = [get_relation("sentiment", name) for name in ("MR1.4", "MR3.1")]
    alone, beside = (open_store(str(tmp_path / f"{name}.db"), create=True) for name in ("alone", "beside"))
    expected = run(alone, toy_corpus(12), own.specs("calm", "failing"), relations, InProcess())
    with Dask(cluster.address) as executor:
        ran = run(beside, toy_corpus(12), own.specs("calm", "failing"), relations, executor)
    assert content(beside) == content(alone)
    assert ran.as_json() | {"first_error": None} == expected.as_json() | {"first_error": None}


def test_places_follow_the_workers(cluster, executor, monkeypatch):
    monkeypatch.setattr(on_dask, "_FRESH", 0.0)
    before = executor.places
    cluster.scale(3)
    assert until(lambda: executor.places == before + 1)


def test_a_thread_whose_job_is_ended_takes_nothing_from_its_neighbours(tmp_path):
    with started(workers=1, threads=3) as cluster, Dask(cluster.address) as executor:
        log = tmp_path / "log"
        others = [Note(log, str(number), 0.3) for number in range(12)]
        returned = results(executor, Kill(), Hold(limit=0.5), *others, Kill(limit=60), Hold(limit=0.6))
        assert sorted(
            reason for result in returned.values() if isinstance(result, Lost) for reason in [result.reason]
        ) == [
            "its process ended with signal SIGKILL",
            "its process ended with signal SIGKILL",
            "no answer within 0.5 s",
            "no answer within 0.6 s",
        ]
        assert all(returned[job] == job.name for job in others)
        assert len(log.read_text().splitlines()) == len(others), "a neighbour's job was done twice"


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


def test_a_scheduler_that_does_not_come_back_ends_the_run(monkeypatch):
    monkeypatch.setattr(on_dask, "_CONNECT", 1)
    monkeypatch.setattr(on_dask, "_RECONNECT", 3)
    with started() as cluster, Dask(cluster.address) as executor:
        executor.submit(Double(1, seconds=5))
        cluster.kill()
        with pytest.raises(AuditError, match="went away and did not come back within 3 s; everything finished"):
            executor.finished()


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


def test_a_worker_without_audit_that_comes_later_is_refused(tmp_path):
    (tmp_path / "audit").mkdir()
    (tmp_path / "audit" / "__init__.py").write_text("raise ImportError('no')", encoding="utf-8")
    with started(0, 1, path=(tmp_path,)) as cluster, Dask(cluster.address) as executor:
        assert executor.places == 1
        executor.submit(Double(1))
        cluster.scale(1)
        with pytest.raises(
            AuditError, match=r"a Dask worker cannot do a job .*; install the same audit on every worker"
        ):
            executor.finished()


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
