"""What limits are chosen by: measures of follow-ups by relation, and the groups that limits rejected."""

import pytest

import audit
from audit import registry
from audit.errors import AuditError, UnknownName
from audit.exchange.follow_ups import follow_ups_report, made_of, stored_rows
from audit.relations import get_relation
from audit.store import open_store

TEXTS = ["A good film.", "A bad film, though."]


def louder(text: str) -> str:
    return f"{text} LOUD" if "though" in text else text


@pytest.fixture
def study(tmp_path):
    def made(**options):
        return audit.run(TEXTS, ["vader"], ["louder"], progress=False, store=str(tmp_path / "own.db"), **options)

    with registry.relations.restored():
        audit.relation("louder", task="sentiment", check=audit.equivalent, preserves="label")(louder)
        yield made


def test_measures_and_limits_to_try(study):
    frame = study().follow_ups(measures=["replaced"], valid=["replaced<=0.1"])
    (row,) = frame.to_dict("records")
    # One text gets a fifth word: 1 of 5 is new.
    assert (row["groups"], row["rejected"], row["measured"], row["would_reject"]) == (1, 0, 1, 1)
    assert (row["least"], row["median"], row["most"], row["unknown"]) == (0.2, 0.2, 0.2, 0)
    with pytest.raises(UnknownName, match="louder"):
        study().follow_ups(["quieter"])
    with pytest.raises(AuditError, match="most=0: expected a whole number from 1"):
        study().follow_ups(most=0)


def test_rejected_groups_are_counted(study):
    engine = study(valid=["replaced<=0.1"]).engine
    (note,) = follow_ups_report(engine, measures=["replaced"]).notes
    assert note == "louder: 1 of 1 groups rejected by replaced<=0.1."


def test_what_a_relation_makes_of_stored_texts_with_gold_in_place_of_outputs(tmp_path):
    films = [(f"We saw film {n} twice. The plot is dull. The music is fine, {n} times.", "positive") for n in range(9)]
    audit.run(films, ["vader"], ["MR5.1"], unit="document", progress=False, store=tmp_path / "a.db")
    task, rows = stored_rows(open_store(str(tmp_path / "a.db")))
    groups, tried = made_of(get_relation(task, "MR7.1"), rows, 9)
    assert 0 < len(groups) < tried == 9
    for made in groups:
        ((follow_up,),) = made["follow_ups"]
        assert len(follow_up) < len(made["source"][0])
