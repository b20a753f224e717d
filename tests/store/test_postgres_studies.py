"""Plans, their jobs and what reports say of them, on a real PostgreSQL."""

import threading
import time

import pytest

from audit.annotation.accounts import add_account
from audit.errors import AuditError
from audit.reports.study import study_report
from audit.runner.executors import InProcess
from audit.store import open_store
from audit.studies import jobs as module
from audit.studies.jobs import begin_job, carry_out, jobs
from audit.studies.plan import read_plan
from audit.studies.versions import freeze, set_plan, versions

pytestmark = pytest.mark.postgres

PLAN = {
    "name": "films",
    "study": {"corpus": "rotten-tomatoes", "systems": ["vader"], "relations": ["MR1.4"], "limit": 30},
    "sample": {"per_relation": 4},
    "judging": {"gold": True},
}


def test_a_plan_is_run_by_its_job_and_reported_as_on_sqlite(postgres_url, tmp_path, monkeypatch):
    def planned(engine):
        boss = add_account(engine, "boss", "manager", "long enough").id
        set_plan(engine, read_plan(PLAN), by=boss)
        freeze(engine, "films", by=boss)
        return boss

    def told(engine):
        set_plan(engine, read_plan(PLAN | {"sample": {"per_relation": 6}}))
        report = study_report(engine)
        (entry,) = report["plan"]
        for name in ("frozen_at", "run_began"):
            assert entry.pop(name)
        assert entry["changed"][0].pop("at")
        return report

    engine, lite = open_store(postgres_url, create=True), open_store(str(tmp_path / "audit.db"), create=True)
    boss = planned(engine)
    planned(lite)
    begin_job(engine, "films", postgres_url, by=boss)
    end = time.monotonic() + 90
    while jobs(engine)[0].live:
        assert time.monotonic() < end
        time.sleep(0.1)
    assert jobs(engine)[0].state == "done", jobs(engine)[0].log
    with InProcess() as executor:
        carry_out(lite, versions(lite, "films")[-1].plan(), executor)
    assert told(engine) == told(lite)

    # Sixteen tabs begin it at once: one job more.
    begun, refused = [], []
    monkeypatch.setattr(module, "_begin_process", lambda name, id, where: 1)

    def begin():
        try:
            begun.append(begin_job(engine, "films", postgres_url, by=boss))
        except AuditError as problem:
            refused.append(str(problem))

    threads = [threading.Thread(target=begin) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (len(begun), len(refused)) == (1, 15)
    assert all("this study is being run already" in message for message in refused)
    assert len(jobs(engine)) == 2
    freeze(engine, "films", by=boss)
    with pytest.raises(AuditError, match="is frozen already"):
        freeze(engine, "films", by=boss)
