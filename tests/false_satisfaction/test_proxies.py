"""Proxies of satisfied groups, on imported runs that can be worked out by hand."""

import numpy as np
import pytest
from conftest_rows import row

from audit.errors import AuditError, UnknownName
from audit.false_satisfaction.cells import count
from audit.judging.labels import answer_with_gold

LABELS = {"+": "positive", "-": "negative", "0": "neutral"}


def lines(groups, systems="abc", **options):
    """Rows of an import: by group, each system's labels of source and follow-up, such as "+-"; x: not checked."""
    for number, outputs in enumerate(groups):
        for system, said in zip(systems, outputs, strict=True):
            if said != "x":
                scores = options.get("scores", {}).get(system, [1.0] * len(groups))
                system_outputs = [{"label": LABELS[label], "score": scores[number]} for label in said]
                extra = {"gold": "positive"}
                if "column" in options:
                    extra["attributes"] = {"length": options["column"][number]}
                yield row(f"text {number}", f"text {number}!", system_outputs, system=system, id=str(number), **extra)


def prepared(build, *groups, **options):
    engine = build(list(lines(groups, **options)))
    answer_with_gold(engine)
    return engine


def of(engine, *names):
    """By system's name: the proxies of its satisfied groups (groups, proxies), and why it lacks some."""
    counted = count(engine, proxies=names)
    found = {}
    for place, cell in counted.cells.iterrows():
        rows = (counted.checked.cell == place) & (counted.checked.satisfied == 1)
        left_out = {
            name: reason
            for (relation, system, name), reason in counted.left_out.items()
            if (relation, system) == (cell["relation_id"], cell["system_id"])
        }
        found[cell["system"]] = counted.checked.proxy[rows], left_out
    return found


def test_disagreement_is_the_mean_over_members_of_the_share_of_others(build):
    engine = prepared(build, ("++", "++", "--"), ("++", "--", "-0"), ("++", "++", "++"))
    cells = of(engine, "disagreement")
    # Source and follow-up of each group; a: 1/2, 1, 0 on both.
    assert sorted(cells["a"][0][:, 0]) == [0, 0.5, 1]
    # b: a and c both differ in group 0? a agrees, c differs: 1/2; group 1: source 1/2 (a), follow-up 1 (a and c): 3/4.
    assert sorted(cells["b"][0][:, 0]) == [0, 0.5, 0.75]
    # c: group 0: 1; group 1: source 1/2, follow-up 1: 3/4.
    assert sorted(cells["c"][0][:, 0]) == [0, 0.75, 1]
    assert not cells["a"][1]


def test_systems_without_an_output_do_not_vote(build):
    engine = prepared(build, ("++", "--", "x"), ("++", "x", "x"))
    cells = of(engine, "disagreement")
    assert sorted(cells["a"][0][:, 0]) == [0.5, 1]  # nobody votes on group 1: one half
    assert cells["b"][0].tolist() == [[1.0]]


def test_low_confidence_is_one_less_the_least_score(build):
    engine = prepared(build, ("++", "--"), ("++", "--"), systems="ab", scores={"a": [0.9, 0.75], "b": [0.5, 0.5]})
    cells = of(engine, "low_confidence", "disagreement")
    assert sorted(cells["a"][0][:, 0]) == pytest.approx([0.1, 0.25])
    assert cells["a"][0].shape == (2, 2)
    assert cells["b"][1] == {"low_confidence": "the system gives every output the same score"}


def test_a_column_goes_with_its_source(build):
    groups = [("++" if n % 3 else "--",) for n in range(12)]
    engine = prepared(build, *groups, systems="a", column=[n % 3 for n in range(12)])
    counted = count(engine, proxies=["length"])
    # Gold is positive everywhere: exactly the groups whose column is 0 are false.
    assert (counted.judged.false == (counted.judged.proxy[:, 0] == 0)).all()
    assert sorted(counted.judged.proxy[:, 0]) == sorted(n % 3 for n in range(12))


@pytest.mark.slow
@pytest.mark.parametrize("value", ["long", "nan", "", "1_000", None, True, [1]])
def test_a_value_that_is_no_number_is_named(build, value):
    engine = prepared(build, ("++",), ("++",), systems="a", column=[1.5, value])
    with pytest.raises(AuditError, match=r"the proxy 'length' is .* in row '1' of run.jsonl \(study 1\); .* finite"):
        of(engine, "length")


def test_an_unknown_proxy_lists_the_columns(build):
    engine = prepared(build, ("++",), systems="a", column=[1])
    with pytest.raises(UnknownName, match="unknown proxy 'size'; known are: disagreement, length, low_confidence"):
        of(engine, "size")


def test_a_study_without_the_column_leaves_it_out(build):
    engine = prepared(build, ("++",), ("--",), systems="a", column=[1, 2])
    build([row("another", "another!", ["positive", "positive"], gold="positive")], "other.jsonl")
    counted = count(engine, proxies=["length"])
    assert list(counted.left_out.values()) == ["the corpus has no such column"]


def test_systems_may_have_groups_of_their_own(build):
    rows = [
        row("text", "text one", ["positive", "positive"], system="a", gold="positive"),
        row("text", "text two", ["negative", "negative"], system="b", gold="positive"),
    ]
    engine = build(rows)
    cells = of(engine, "disagreement")
    # The source differs (1); on its own follow-up nobody else votes (1/2).
    assert np.concatenate([values for values, _ in cells.values()]).tolist() == [[0.75], [0.75]]
