"""Proxies of satisfied groups, on imported runs that can be worked out by hand."""

import numpy as np
import pytest
from conftest_rows import row

from audit.errors import AuditError, UnknownName
from audit.false_satisfaction.cells import count
from audit.false_satisfaction.proxies import cell_proxies
from audit.judging.labels import answer_with_gold
from audit.judging.samples import ask_next
from audit.sampling.samples import SampleOptions

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


def prepared(build, *groups, size=10, **options):
    engine = build(list(lines(groups, **options)))
    ask_next(engine, SampleOptions(size))
    answer_with_gold(engine)
    return engine, count(engine)


def of(engine, counted, *names):
    """By system's name: its proxies."""
    systems = counted.keys.set_index("system_id")["system"]
    return {systems[cell.system]: cell for cell in cell_proxies(engine, counted, names)}


def test_disagreement_is_the_mean_over_members_of_the_share_of_others(build):
    engine, counted = prepared(build, ("++", "++", "--"), ("++", "--", "-0"), ("++", "++", "++"))
    cells = of(engine, counted, "disagreement")
    # Source and follow-up of each group; a: 1/2, 1, 0 on both.
    assert sorted(cells["a"].of_population[:, 0]) == [0, 0.5, 1]
    # b: a and c both differ in group 0? a agrees, c differs: 1/2; group 1: source 1/2 (a), follow-up 1 (a and c): 3/4.
    assert sorted(cells["b"].of_population[:, 0]) == [0, 0.5, 0.75]
    # c: group 0: 1; group 1: source 1/2, follow-up 1: 3/4.
    assert sorted(cells["c"].of_population[:, 0]) == [0, 0.75, 1]
    assert cells["a"].names == ("disagreement",)
    assert not cells["a"].left_out


def test_systems_without_an_output_do_not_vote(build):
    engine, counted = prepared(build, ("++", "--", "x"), ("++", "x", "x"))
    cells = of(engine, counted, "disagreement")
    assert sorted(cells["a"].of_population[:, 0]) == [0.5, 1]  # nobody votes on group 1: one half
    assert cells["b"].of_population.tolist() == [[1.0]]


def test_low_confidence_is_one_less_the_least_score(build):
    engine, counted = prepared(
        build, ("++", "--"), ("++", "--"), systems="ab", scores={"a": [0.9, 0.75], "b": [0.5, 0.5]}
    )
    cells = of(engine, counted, "low_confidence", "disagreement")
    assert sorted(cells["a"].of_population[:, 0]) == pytest.approx([0.1, 0.25])
    assert cells["a"].of_population.shape == (2, 2)
    assert cells["b"].names == ("disagreement",)
    assert cells["b"].left_out == {"low_confidence": "the system gives every output the same score"}


def test_outputs_without_a_score_have_no_confidence(build):
    rows = [row(f"text {n}", f"text {n}!", ["positive", "positive"], gold="positive") for n in range(3)]
    engine = build(rows)
    ask_next(engine, SampleOptions(3))
    answer_with_gold(engine)
    (cell,) = cell_proxies(engine, count(engine), ["low_confidence"])
    assert (cell.names, cell.of_population.shape) == ((), (3, 0))
    assert cell.left_out == {"low_confidence": "the system has outputs without a score"}


def test_a_column_goes_with_its_source_and_the_sample_with_its_draw(build):
    groups = [("++" if n % 3 else "--",) for n in range(12)]
    engine, counted = prepared(build, *groups, systems="a", size=5, column=[n % 3 for n in range(12)])
    (cell,) = cell_proxies(engine, counted, ["length"])
    # Gold is positive everywhere: exactly the groups whose column is 0 are false.
    assert cell.of_population.shape == (12, 1)
    assert sorted(cell.of_population[:, 0]) == sorted(n % 3 for n in range(12))
    assert cell.of_sample.shape == (5, 1)
    assert (cell.truth == (cell.of_sample[:, 0] == 0)).all()


def test_only_the_settled_beginning_is_a_sample(build):
    rows = list(lines([("++",)] * 6, systems="a"))
    rows[3].pop("gold")
    engine = build(rows)
    ask_next(engine, SampleOptions(6))
    answer_with_gold(engine)
    counted = count(engine)
    judged = int(counted.cells["judged"].iloc[0])
    cells = list(cell_proxies(engine, counted, ["disagreement"]))
    assert [len(cell.truth) for cell in cells] == ([judged] if judged else [])
    assert judged < 6
    assert all(len(cell.of_population) == 6 for cell in cells)


@pytest.mark.slow
@pytest.mark.parametrize("value", ["long", "nan", "", "1_000", None, True, [1]])
def test_a_value_that_is_no_number_is_named(build, value):
    engine, counted = prepared(build, ("++",), ("++",), systems="a", column=[1.5, value])
    with pytest.raises(AuditError, match=r"the proxy 'length' is .* in row '1' of run.jsonl \(study 1\); .* finite"):
        list(cell_proxies(engine, counted, ["length"]))


def test_an_unknown_proxy_lists_the_columns(build):
    engine, counted = prepared(build, ("++",), systems="a", column=[1])
    with pytest.raises(UnknownName, match="unknown proxy 'size'; known are: disagreement, length, low_confidence"):
        list(cell_proxies(engine, counted, ["size"]))


def test_a_study_without_the_column_leaves_it_out(build):
    engine, _ = prepared(build, ("++",), ("--",), systems="a", column=[1, 2])
    build([row("another", "another!", ["positive", "positive"], gold="positive")], "other.jsonl")
    ask_next(engine, SampleOptions(5))
    answer_with_gold(engine)
    first, second = cell_proxies(engine, count(engine), ["length"])
    assert (first.names, second.names) == (("length",), ())
    assert second.left_out == {"length": "the corpus has no such column"}


def test_nothing_judged_has_no_proxies_and_costs_no_reading(build):
    engine = build(list(lines([("++",)], systems="a")))
    counted = count(engine)
    assert list(cell_proxies(engine, counted, ["disagreement"])) == []
    with pytest.raises(UnknownName):  # a mistake in the name is found anyway
        list(cell_proxies(engine, counted, ["size"]))


def test_systems_may_have_groups_of_their_own(build):
    rows = [
        row("text", "text one", ["positive", "positive"], system="a", gold="positive"),
        row("text", "text two", ["negative", "negative"], system="b", gold="positive"),
    ]
    engine = build(rows)
    ask_next(engine, SampleOptions(5))
    answer_with_gold(engine)
    cells = of(engine, count(engine), "disagreement")
    # The source differs (1); on its own follow-up nobody else votes (1/2).
    assert np.concatenate([cell.of_population for cell in cells.values()]).tolist() == [[0.75], [0.75]]
