"""Designs: the order in which a cell's groups are drawn, from numbers of sources."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chi2

from audit.errors import AuditError
from audit.keys import uniform, uniforms
from audit.sampling.samples import Numbers, SampleOptions

row_sets = st.sets(st.integers(0, 40), min_size=1, max_size=25).map(lambda some: [str(n) for n in sorted(some)])
populations = st.dictionaries(st.tuples(st.integers(1, 3), st.integers(1, 3)), row_sets, min_size=1, max_size=6)
seeds = st.integers(0, 2**40)


def lists(cells: dict[tuple[int, int], list[str]], seed: int) -> dict[tuple[int, int], list[str]]:
    """The whole list of each cell, (relation, system) -> rows of the sources whose groups are satisfied."""
    rows = sorted({row for cell_rows in cells.values() for row in cell_rows})
    ids = {row: id for id, row in enumerate(rows, start=1)}
    numbers = Numbers({id: row for row, id in ids.items()}, seed)
    lists_of_cell = {}
    for (relation, system), cell_rows in cells.items():
        order = numbers.order(np.array([ids[row] for row in cell_rows]))
        lists_of_cell[relation, system] = [cell_rows[place] for place in order]
    return lists_of_cell


def first(cells: dict[tuple[int, int], list[str]], seed: int, size: int) -> dict:
    return {cell: rows[:size] for cell, rows in lists(cells, seed).items()}


@settings(deadline=None, max_examples=40)
@given(populations, seeds)
def test_numbers_are_the_hashes_of_seed_and_row(cells, seed):
    """What is stored in every database that was drawn from: seed and row."""
    rows = dict(enumerate(sorted({row for cell_rows in cells.values() for row in cell_rows}), start=5))
    numbers = Numbers(rows, seed)
    uniforms = numbers.of(np.array(list(rows)))
    assert uniforms.tolist() == [uniform(seed, row) for row in rows.values()]
    assert ((uniforms >= 0) & (uniforms < 1)).all()


@given(st.lists(st.text()), st.lists(st.one_of(st.text(), st.integers()), max_size=3))
def test_many_numbers_are_those_of_one_at_a_time(names, parts):
    assert list(uniforms(names, *parts)) == [uniform(*parts, name) for name in names]


def test_equal_numbers_are_in_the_order_of_rows(monkeypatch):
    monkeypatch.setattr("audit.sampling.samples.uniforms", lambda rows, *_: [0.5 if row > "a" else 0.9 for row in rows])
    assert lists({(1, 1): ["c", "a", "b"]}, 0) == {(1, 1): ["b", "c", "a"]}


def test_every_group_is_drawn_equally_often():
    """4 of 12 groups by each of 2,000 seeds: chi-square with the correction for draws without replacement."""
    groups, size, draws = 12, 4, 2000
    rows = [f"row {n}" for n in range(groups)]
    drawn = np.zeros((draws, groups), int)
    for seed in range(draws):
        drawn[seed, [rows.index(row) for row in first({(1, 1): rows}, seed, size)[1, 1]]] = 1
    counts = drawn.sum(axis=0)
    expected = draws * size / groups
    assert counts.sum() == draws * size
    statistic = ((counts - expected) ** 2 / expected).sum() * (groups - 1) / (groups - size)
    assert chi2.sf(statistic, groups - 1) > 0.01
    # Pairs too: two groups come together as often as chance has it, so no group hangs on another.
    pairs = (drawn.T @ drawn)[np.triu_indices(groups, 1)]
    assert pairs.mean() == pytest.approx(draws * size * (size - 1) / (groups * (groups - 1)))
    assert pairs.std() < 3 * np.sqrt(pairs.mean())


@given(st.floats(0.0001, 1), st.integers(1, 100_000))
def test_a_share_is_rounded_up_and_never_more_than_there_are(share, satisfied):
    size = SampleOptions(share=share).size(satisfied, "MR1.1")
    assert 1 <= size <= satisfied
    assert share * satisfied - 1e-6 <= size < share * satisfied + 1


@pytest.mark.parametrize(
    ("share", "satisfied", "drawn"),
    [(0.01, 100, 1), (0.01, 101, 2), (0.01, 1, 1), (1.0, 7, 7), (0.1, 30, 3), (0.07, 100, 7), (0.3, 10, 3)],
)
def test_shares_that_are_whole_numbers_do_not_round_up(share, satisfied, drawn):
    # 0.07 * 100 is 7.000000000000001 in binary.
    assert SampleOptions(share=share).size(satisfied, "MR1.1") == drawn


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"base": 1, "share": 0.1}, "not both"),
        ({"base": 0}, "base=0: expected a whole number from 1"),
        ({"base": {"MR1.1": -2}}, "base={.MR1.1.: -2}: expected a whole number from 1"),
        ({"share": 0.0}, "share=0.0: expected a number above 0, to 1"),
        ({"share": 1.01}, "above 0, to 1"),
        ({"share": float("nan")}, "share=nan"),
        ({"most": 0}, "most=0: expected a whole number from 1"),
        ({"annotators": 0}, "annotators=0: expected a whole number from 1"),
        ({"quorum": "half"}, "quorum=.half.: expected one of majority, all"),
    ],
)
def test_options_that_make_no_sense_are_refused(options, says):
    with pytest.raises(AuditError, match=says):
        SampleOptions(**options)
