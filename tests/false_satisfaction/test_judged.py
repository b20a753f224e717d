"""What a judge makes of groups, and its answers as a proxy."""

import numpy as np
import pytest
from conftest_rows import row
from simulated_judges import Simulated

from audit.errors import AuditError
from audit.false_satisfaction.cells import count
from audit.false_satisfaction.judged import UNKNOWN, predicted
from audit.false_satisfaction.proxies import cell_proxies
from audit.false_satisfaction.resolution import drawn_groups, satisfied_groups
from audit.judging.judges import JudgeRequest, ask_judge
from audit.judging.labels import answer_with_gold
from audit.judging.samples import ask_next
from audit.reports.study import study_report
from audit.sampling.samples import SampleOptions
from audit.store import table_of, tables
from audit.systems.judge import function_judge

GOOD, BAD = "positive", "negative"


def world(build, number=80, size=40, relation="MR1.1", audits=None):
    """Groups of a system that calls every film good; every fourth is bad, says gold."""
    engine = build(
        [
            row(
                f"Film {n}.", f"Film {n}!", [GOOD, GOOD], relation=relation, id=str(n), gold=BAD if n % 4 == 0 else GOOD
            )
            for n in range(number)
        ]
    )
    ask_next(engine, SampleOptions(size, audits=audits or Audits()))
    answer_with_gold(engine)
    return engine


def labels(number=80, wrong=()):
    said = {n: (BAD if n % 4 == 0 else GOOD) for n in range(number)}
    said |= {n: (GOOD if said[n] == BAD else BAD) for n in wrong}
    return {f"Film {n}{end}": label for n, label in said.items() for end in ".!"}


def asked(engine, said, **request):
    simulated = Simulated(said)
    ask_judge(engine, function_judge(simulated, "simulated", None), JudgeRequest(**request))
    return simulated


def proxies(engine, *names):
    return list(cell_proxies(engine, count(engine), names or ["judge:simulated"]))


@pytest.mark.parametrize(
    ("relation", "opinions", "value", "waits"),
    [
        ("MR1.1", {}, None, 1),  # the source is asked first
        ("MR1.1", {"source": GOOD}, 0.0, 0),  # and carried
        ("MR1.1", {"source": BAD}, 1.0, 0),
        ("MR1.1", {"source": ""}, UNKNOWN, 0),
        ("MR1.1", {"source": GOOD, "follow_up": BAD}, 0.0, 0),  # what is carried goes before what happens to be asked
        ("X", {"source": GOOD}, None, 1),
        ("X", {"source": GOOD, "follow_up": BAD}, 1.0, 0),
        ("X", {"source": "", "follow_up": GOOD}, UNKNOWN, 0),
        ("X", {"source": "", "follow_up": BAD}, 1.0, 0),
        ("X", {}, None, 2),
    ],
)
def test_one_wrong_output_makes_a_group_false(build, relation, opinions, value, waits):
    engine = world(build, 1, 1, relation)
    with engine.connect() as connection:
        (group,) = drawn_groups(connection, None)
    about = {step.role: group.subject(step) for step in group.steps}
    found = predicted(group, {about[role]: frozenset([said] if said else []) for role, said in opinions.items()})
    assert (found.value, len(found.waits_for)) == (value, waits)


def test_satisfied_groups_are_all_of_them_as_drawn_ones_are(build):
    engine = world(build, 10, 10)
    with engine.connect() as connection:
        drawn = {group.group_id: group for group in drawn_groups(connection, None)}
        everything = list(satisfied_groups(connection, 1, 1))
    assert [group.group_id for group in everything] == sorted(drawn)
    assert all(group.steps == drawn[group.group_id].steps for group in everything)


def test_a_judge_of_everything_is_a_proxy_of_every_group(build):
    engine = world(build)
    asked(engine, labels(wrong=[1, 8]), everything=True)
    (cell,) = proxies(engine)
    assert (cell.names, cell.size, cell.left_out) == (("judge:simulated",), 80, {})
    assert cell.of_population.shape == (80, 1)
    assert cell.of_population.sum() == 20 + 1 - 1  # film 1 is taken for bad, film 8 for good
    assert cell.of_sample.shape == (40, 1)
    assert np.abs(cell.truth - cell.of_sample[:, 0]).sum() <= 2


def test_a_judge_of_the_first_of_each_list_is_a_proxy_of_these(build):
    engine = world(build)
    asked(engine, labels(), per_cell=60)
    (cell,) = proxies(engine)
    assert (cell.of_population.shape, cell.size) == ((60, 1), 80)
    assert (cell.truth == cell.of_sample[:, 0]).all()


def test_what_was_not_asked_for_as_a_proxy_is_none(build):
    engine = world(build)
    asked(engine, labels())  # the drawn questions alone
    (cell,) = proxies(engine)
    assert cell.names == ()
    assert "was not asked about the groups of this sample" in cell.left_out["judge:simulated"]


def test_a_request_that_was_not_finished_is_none(build):
    engine = world(build)
    asked(engine, labels(), everything=True, most=45)
    (cell,) = proxies(engine)
    assert cell.left_out == {"judge:simulated": "35 groups still wait for the judge's answers; ask it again"}
    asked(engine, labels(), everything=True)
    assert proxies(engine)[0].names == ("judge:simulated",)


def test_people_who_judge_more_than_the_judge_have_no_proxy(build):
    engine = world(build)
    asked(engine, labels(), per_cell=20)
    (cell,) = proxies(engine)
    assert "first 20 groups of the list, and people have judged more" in cell.left_out["judge:simulated"]


def test_refusals_are_a_value_of_their_own(build):
    engine = world(build)
    said = labels()
    for n in range(0, 80, 5):
        said.pop(f"Film {n}.")
    asked(engine, said, everything=True)
    (cell,) = proxies(engine)
    assert (cell.of_population == UNKNOWN).sum() == 16


def test_audits_of_follow_ups_change_nothing(build):
    """Drawn groups have questions about follow-ups that others have not: what they bring must not be in the proxy."""
    engine = world(build, audits=Audits(0.5))
    said = labels() | {f"Film {n}!": BAD for n in range(80)}  # asked about a follow-up it would say something else
    simulated = asked(engine, said, everything=True)
    assert any(call.text.endswith("!") for call in simulated.calls)
    (cell,) = proxies(engine)
    assert cell.of_population.sum() == 20


@pytest.mark.slow
def test_a_report_with_a_judge_is_nearer_and_names_it(build):
    engine = world(build, 400, 60)
    asked(engine, labels(400, wrong=range(1, 400, 9)), everything=True)
    plain, powered = (
        study_report(engine, "gold", target="corpus", proxies=names) for names in ([], ["judge:simulated"])
    )
    (cell,), (alone,) = powered["cells"], plain["cells"]
    assert cell["fs_high"] - cell["fs_low"] < 0.8 * (alone["fs_high"] - alone["fs_low"])
    assert cell["fs_low"] <= 0.25 <= cell["fs_high"]
    assert cell["gain"] > 1.5
    assert powered["signature"]["proxy"]["judges"] == [{"name": "simulated", "version": "1", "settings": {}}]
    assert any("is a model and no person" in note for note in powered["signature"]["notes"])
    (entry,) = plain["judges"]
    assert entry["tasks"][0]["gold"]["questions"] >= 60
    assert (alone["judged"], alone["false"]) == (cell["judged"], cell["false"])


def test_an_unknown_judge_is_told_with_those_that_there_are(build):
    engine = world(build, 4, 4)
    with pytest.raises(AuditError, match="there is no judge 'nobody' in this database; there are none"):
        proxies(engine, "judge:nobody")
    asked(engine, labels(), most=1)
    with pytest.raises(AuditError, match="there are simulated"):
        proxies(engine, "judge:nobody")
    with engine.begin() as connection:
        other = {"name": "simulated", "version": "2", "settings": "{}", "created_at": tables.now()}
        connection.execute(table_of(tables.Judge).insert(), other)
    with pytest.raises(AuditError, match=r"several judges .* #1 \(simulated@1\), #2 \(simulated@2\)"):
        proxies(engine)
    assert len(proxies(engine, "judge:simulated@1")) == 1
