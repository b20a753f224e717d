"""What is audited of a sample is kept with it."""

import pytest

from audit.errors import AuditError
from audit.judging.samples import draw
from audit.sampling.audits import Audits, audits_of, keep_audits
from audit.sampling.draw import SampleRequest, Size
from audit.store import insert_new, open_store, tables


@pytest.mark.parametrize(
    ("bad", "names"),
    [
        ({"follow_ups": 1.5}, "audit_follow_ups 1.5"),
        ({"answers": -0.1}, "audit_answers -0.1"),
    ],
)
def test_impossible_audits_are_refused(bad, names):
    with pytest.raises(AuditError, match=names):
        Audits(**bad)


def test_asking_for_less_later_takes_nothing_back():
    engine = open_store("sqlite://", create=True)
    with engine.begin() as connection:
        study = {
            "id": 1, "key": b"k" * 16, "task": "sentiment", "corpus": "made", "fingerprint": "f", "unit": "sentence",
            "has_gold": False, "seed": 3, "limit": None, "chunk": 10, "created_at": tables.now(),
        }  # fmt: skip
        insert_new(connection, tables.Study, [study])
        sample = {"id": 1, "study_id": 1, "design": "shared", "seed": 3, "annotators": 2, "drawn_at": tables.now()}
        insert_new(connection, tables.Sample, [sample])
        assert audits_of(connection, 1) == Audits()
        assert keep_audits(connection, 1, Audits(follow_ups=0.2)) == Audits(0.2, 0.0)
        assert keep_audits(connection, 1, Audits(answers=0.5)) == Audits(0.2, 0.5)
        assert audits_of(connection, 1) == Audits(0.2, 0.5)


def test_a_sample_that_only_compares_systems_has_no_audits():
    engine = open_store("sqlite://", create=True)
    with pytest.raises(AuditError, match="draw with the design shared"):
        draw(engine, 1, SampleRequest(Size(per_relation=5), "informative", audits=Audits(answers=0.3)))
