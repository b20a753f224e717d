"""What a judge makes of groups, and its answers as a proxy."""

import numpy as np
import pytest
from conftest_rows import row
from simulated_judges import Simulated

from audit.errors import AuditError
from audit.false_satisfaction.cells import count
from audit.false_satisfaction.judged import UNKNOWN, predicted
from audit.false_satisfaction.resolution import drawn_groups, satisfied_groups
from audit.judging.judges import JudgeRequest, ask_judge
from audit.judging.labels import answer_with_gold
from audit.judging.samples import ask_next
from audit.sampling.samples import SampleOptions
from audit.store import table_of, tables
from audit.systems.judge import function_judge

GOOD, BAD = "positive", "negative"


def world(build, number=80, size=40, relation="MR1.1", follow_ups=0.0, gold=True):
    """Groups of a system that calls every film good; every fourth is bad, says gold."""
    engine = build(
        [
            row(
                f"Film {n}.", f"Film {n}!", [GOOD, GOOD], relation=relation, id=str(n), gold=BAD if n % 4 == 0 else GOOD
            )
            for n in range(number)
        ]
    )
    ask_next(engine, SampleOptions(size, follow_ups=follow_ups, annotators=1))
    if gold:
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


def proxies(engine, name="judge:simulated"):
    """What a judge says of the satisfied groups, and why cells lack it."""
    counted = count(engine, proxies=[name])
    return counted.checked.proxy[counted.checked.satisfied == 1, 0], list(counted.left_out.values())


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
    found, waits_for = predicted(
        group, {about[role]: frozenset([said] if said else []) for role, said in opinions.items()}
    )
    assert (None if np.isnan(found) else found, len(waits_for)) == (value, waits)


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
    values, left_out = proxies(engine)
    assert (len(values), left_out) == (80, [])
    assert values.sum() == 20 + 1 - 1  # film 1 is taken for bad, film 8 for good


def test_a_judge_that_was_not_asked_about_everything_is_none(build):
    engine = world(build)
    asked(engine, labels(), everything=True, max_calls=45)
    assert proxies(engine)[1] == ["35 groups still wait for the judge's answers; ask it again"]
    asked(engine, labels(), everything=True)
    assert proxies(engine)[1] == []


def test_audits_of_follow_ups_change_nothing(build):
    """Drawn groups have questions about follow-ups that others have not: what they bring must not be in the proxy."""
    engine = world(build, follow_ups=0.5)
    said = labels() | {f"Film {n}!": BAD for n in range(80)}  # asked about a follow-up it would say something else
    simulated = asked(engine, said, everything=True)
    assert any(call.text.endswith("!") for call in simulated.calls)
    assert proxies(engine)[0].sum() == 20


def test_an_unknown_judge_is_told_with_those_that_there_are(build):
    engine = world(build, 4, 4)
    with pytest.raises(AuditError, match="there is no judge 'nobody' in this database; there are none"):
        proxies(engine, "judge:nobody")
    asked(engine, labels(), max_calls=1)
    with pytest.raises(AuditError, match="there are simulated"):
        proxies(engine, "judge:nobody")
    with engine.begin() as connection:
        other = {"name": "simulated", "version": "2", "settings": "{}", "created_at": tables.now()}
        connection.execute(table_of(tables.Judge).insert(), other)
    with pytest.raises(AuditError, match=r"several judges .* #1 \(simulated@1\), #2 \(simulated@2\)"):
        proxies(engine)
    assert proxies(engine, "judge:simulated@1")[1]
