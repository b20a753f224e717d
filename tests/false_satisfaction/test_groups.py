"""The groups behind the counts, on an imported run that can be worked out by hand."""

import numpy as np
from conftest_rows import row

from audit.false_satisfaction.cells import count
from audit.false_satisfaction.groups import checked_groups, comparisons, judged_groups, shared_groups
from audit.judging.labels import answer_with_gold
from audit.judging.samples import draw_all
from audit.sampling.draw import SampleRequest, Size
from audit.statistics.comparison import paired_differences

GROUPS = [  # gold, a's outputs, b's outputs, a's verdict, b's verdict
    ("positive", ("positive", "positive"), ("positive", "positive"), "satisfied", "satisfied"),
    ("negative", ("positive", "positive"), ("positive", "positive"), "satisfied", "satisfied"),
    ("negative", ("positive", "positive"), ("negative", "negative"), "satisfied", "satisfied"),
    ("negative", ("negative", "negative"), ("negative", "positive"), "satisfied", "violated"),
    ("negative", ("negative", "positive"), ("negative", "positive"), "violated", "violated"),
    ("negative", ("negative", "negative"), ("neutral", "neutral"), "satisfied", "inapplicable"),
]


def prepared(build, gold=True, per_relation=10, design="shared"):
    rows = []
    for number, (truth, *outputs, a, b) in enumerate(GROUPS):
        for system, labels, verdict in zip("ab", outputs, (a, b), strict=True):
            rows.append(row(f"text {number}", f"text {number}!", list(labels), verdict, system=system, gold=truth))
    engine = build(rows)
    draw_all(engine, SampleRequest(Size(per_relation=per_relation), design))
    if gold:
        answer_with_gold(engine)
    return engine, count(engine)


def test_judged_groups_have_their_sources_and_what_is_false(build):
    _, counted = prepared(build)
    groups = judged_groups(counted)
    assert list(groups) == ["study", "task", "relation", "system", "source", "cluster", "false"]
    # a: groups 0 to 3 and 5 are satisfied, 1 and 2 are wrong; b: 0 to 2, of which 1 is wrong.
    assert groups.groupby("system")["false"].agg(["size", "sum"]).to_numpy().tolist() == [[5, 2], [3, 1]]
    assert groups["source"].nunique() == 5
    assert groups.groupby("system").size().to_dict() == counted.cells.set_index("system")["judged"].to_dict()


def test_checked_groups_are_those_in_a_rate(build):
    _, counted = prepared(build)
    groups = checked_groups(counted)
    assert groups.groupby("system")["satisfied"].agg(["size", "sum"]).to_numpy().tolist() == [[6, 5], [5, 3]]


def test_shared_groups_that_decide(build):
    engine, counted = prepared(build)
    (shared,) = shared_groups(counted, comparisons(engine, counted))
    assert (shared.relation, shared.common.systems) == ("MR1.1", ("a", "b"))
    # Groups 0 and 1 are satisfied with identical outputs, 4 by nobody; 5 does not apply to b.
    assert shared.common.decides.sum() == 2
    assert len(shared.common.decides) == 5
    assert sorted(shared.common.genuine[shared.common.decides].tolist()) == [[0.0, 1.0], [1.0, 0.0]]
    difference = paired_differences(shared.common.genuine, shared.common.decides)[0]
    assert (difference.difference, difference.judged, difference.informative) == (0.0, 2, 2)


def test_groups_that_are_not_settled_end_the_beginning(build):
    engine, counted = prepared(build, gold=False)
    assert judged_groups(counted).empty
    (shared,) = shared_groups(counted, comparisons(engine, counted))
    assert np.isnan(shared.common.genuine[shared.common.decides]).any(axis=1).all()
    assert paired_differences(shared.common.genuine, shared.common.decides)[0].difference is None


def test_what_was_not_drawn_is_not_judged(build):
    engine, counted = prepared(build, per_relation=1)
    (shared,) = shared_groups(counted, comparisons(engine, counted))
    judged = ~np.isnan(shared.common.genuine[shared.common.decides]).any(axis=1)
    assert judged.sum() <= 1
    # A beginning: nothing behind a gap counts.
    assert (np.diff(judged.astype(int)) <= 0).all()


def test_before_anything_is_drawn_there_are_no_groups(build):
    engine = build([row("text", "text!", ["positive", "positive"])])
    counted = count(engine)
    assert judged_groups(counted).empty
    assert len(checked_groups(counted)) == 1
    assert shared_groups(counted, comparisons(engine, counted)) == []
