"""Nothing is paid for twice: refusals, a kill in the middle, several corpora. A small version of
`tests/benchmarks/remote_run.py`."""

import sys
from pathlib import Path

import pytest

pytest.importorskip("httpx", reason="pip install 'audit[http]'")
sys.path.append(str(Path(__file__).parents[1] / "benchmarks"))

import remote_run

pytestmark = pytest.mark.usefixtures("asked_once")


@pytest.mark.slow
def test_with_a_tenth_of_the_requests_refused_every_input_is_answered_and_none_twice(tmp_path):
    with remote_run.Service(tmp_path, 0.002, 16, refused=0.1) as service:
        ran, _, _ = remote_run.run(tmp_path, service, 150)
        record = service.record()
    assert record["refusals"] > 10
    assert set(record["answered"].values()) == {1}
    assert len(record["answered"]) == 300 == ran["executed"]
    assert ran["failed"] == 0


@pytest.mark.slow
def test_killed_in_the_middle_no_stored_input_is_sent_again(tmp_path):
    with remote_run.Service(tmp_path, 0.02, 4) as service:
        answered, kept = remote_run.kill_in_the_middle(tmp_path, service, 200, 0.5)
        assert 0 < len(kept) <= len(answered) < 400
        ran, _, _ = remote_run.run(tmp_path, service, 200)
        record = service.record()
    assert ran["executed"] == 400 - len(kept)
    twice = {text for text, times in record["answered"].items() if times > 1}
    assert len(twice & kept) <= 3  # asked again, to see whether the service is still the same
    assert twice >= set(answered) - kept  # answered before the kill and not stored: the window of loss
