"""Designs: the order in which a cell's groups are drawn, as pure functions of a frame."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chi2

from audit.errors import AuditError, UnknownName
from audit.sampling.designs import DESIGNS, first, get_design
from audit.sampling.draw import Size

CELL = ["relation_id", "system_id"]


def frame(cells: dict[tuple[int, int], list[str]]) -> pd.DataFrame:
    """Candidates from (relation, system) -> rows of the sources whose groups are satisfied."""
    rows = [
        {
            "relation_id": r,
            "system_id": s,
            "relation": f"MR{r}",
            "system": f"S{s}",
            "row": row,
            "group_id": hash((r, row)),
        }
        for (r, s), some in cells.items()
        for row in some
    ]
    return pd.DataFrame(rows, columns=["relation_id", "system_id", "relation", "system", "row", "group_id"])


row_sets = st.sets(st.integers(0, 40), min_size=1, max_size=25).map(lambda some: [str(n) for n in sorted(some)])
populations = st.dictionaries(st.tuples(st.integers(1, 3), st.integers(1, 3)), row_sets, min_size=1, max_size=6)
designs = st.sampled_from(sorted(DESIGNS))
seeds = st.integers(0, 2**40)


def drawn(candidates: pd.DataFrame, design: str, seed: int, size: int) -> pd.DataFrame:
    return first(candidates, get_design(design)(candidates, seed), lambda n: size)


def lists(chosen: pd.DataFrame) -> dict[tuple[int, int], list[str]]:
    return {cell: list(some["row"]) for cell, some in chosen.groupby(CELL)}


@settings(deadline=None, max_examples=40)
@given(populations, designs, seeds, st.integers(1, 30), st.integers(0, 20))
def test_a_larger_sample_begins_with_the_smaller_one(cells, design, seed, size, more):
    candidates = frame(cells)
    smaller, larger = drawn(candidates, design, seed, size), drawn(candidates, design, seed, size + more)
    for cell, rows in lists(smaller).items():
        assert lists(larger)[cell][: len(rows)] == rows
        assert len(rows) == min(size, len(cells[cell]))


@settings(deadline=None, max_examples=40)
@given(populations, designs, seeds, st.integers(1, 30))
def test_ranks_count_from_one_and_pi_is_the_share_drawn(cells, design, seed, size):
    chosen = drawn(frame(cells), design, seed, size)
    for cell, some in chosen.groupby(CELL):
        assert list(some["rank"]) == list(range(1, len(some) + 1))
        assert some["row"].is_unique
        assert set(some["row"]) <= set(cells[cell])
        assert np.allclose(some["pi"], len(some) / len(cells[cell]))


@settings(deadline=None, max_examples=40)
@given(populations, designs, seeds, st.integers(1, 30), st.randoms(use_true_random=False))
def test_the_order_of_the_candidates_does_not_matter(cells, design, seed, size, shuffler):
    candidates = frame(cells)
    order = list(range(len(candidates)))
    shuffler.shuffle(order)
    shuffled = candidates.iloc[order].reset_index(drop=True)
    pd.testing.assert_frame_equal(drawn(candidates, design, seed, size), drawn(shuffled, design, seed, size))


@settings(deadline=None, max_examples=40)
@given(populations, seeds)
def test_shared_numbers_belong_to_the_source(cells, seed):
    candidates = frame(cells)
    numbers = candidates.assign(u=get_design("shared")(candidates, seed)).groupby("row")["u"]
    assert (numbers.nunique() == 1).all()
    assert candidates.assign(u=get_design("shared")(candidates, seed))["u"].between(0, 1, inclusive="left").all()


def test_shared_draws_the_same_sources_everywhere_and_simple_does_not():
    everything = [str(n) for n in range(200)]
    candidates = frame({(r, s): everything for r in (1, 2) for s in (1, 2, 3)})
    assert drawn(candidates, "shared", 5, 20)["row"].nunique() == 20
    # Six independent draws of 20 out of 200 leave a source out with probability 0.9^6: 94 are expected.
    assert drawn(candidates, "simple", 5, 20)["row"].nunique() == pytest.approx(200 * (1 - 0.9**6), abs=15)
    # Cells that share only a part of their sources still overlap as much as they can.
    halves = frame({(1, 1): everything[:150], (1, 2): everything[50:]})
    overlap = {}
    for design in DESIGNS:
        one, other = lists(drawn(halves, design, 5, 30)).values()
        overlap[design] = len(set(one) & set(other))
    assert overlap["shared"] > 2 * overlap["simple"]


@pytest.mark.parametrize("design", sorted(DESIGNS))
def test_every_group_is_drawn_equally_often(design):
    """4 of 12 groups by each of 2,000 seeds: chi-square with the correction for draws without replacement."""
    groups, size, draws = 12, 4, 2000
    candidates = frame({(1, 1): [f"row {n}" for n in range(groups)]})
    numbers = [get_design(design)(candidates, seed) for seed in range(draws)]
    # Each seed as a cell of its own: one call draws them all.
    repeated = pd.concat([candidates.assign(relation_id=seed) for seed in range(draws)], ignore_index=True)
    chosen = first(repeated, np.concatenate(numbers), lambda n: size)
    counts = chosen["row"].value_counts()
    expected = draws * size / groups
    assert counts.sum() == draws * size
    statistic = ((counts - expected) ** 2 / expected).sum() * (groups - 1) / (groups - size)
    assert chi2.sf(statistic, groups - 1) > 0.01
    # Pairs too: two groups come together as often as chance has it, so no group hangs on another.
    together = chosen.assign(one=1).pivot_table(index="relation_id", columns="row", values="one", fill_value=0)
    pairs = (together.T @ together).to_numpy()[np.triu_indices(groups, 1)]
    assert pairs.mean() == pytest.approx(draws * size * (size - 1) / (groups * (groups - 1)))
    assert pairs.std() < 3 * np.sqrt(pairs.mean())


def test_simple_is_independent_between_cells():
    """The correlation of two cells' numbers over 2,000 sources is small; between seeds likewise, in both designs."""
    rows = [str(n) for n in range(2000)]
    one, other = np.split(get_design("simple")(frame({(1, 1): rows, (1, 2): rows}), 0), 2)
    assert abs(np.corrcoef(one, other)[0, 1]) < 0.06
    alone = frame({(1, 1): rows})
    for design in DESIGNS.values():
        assert abs(np.corrcoef(design(alone, 0), design(alone, 1))[0, 1]) < 0.06


def test_an_unknown_design_is_refused():
    with pytest.raises(UnknownName, match="unknown design 'clever'; known are: informative, shared, simple"):
        get_design("clever")


@given(st.floats(0.0001, 1), st.integers(1, 100_000))
def test_a_share_is_rounded_up_and_never_more_than_there_are(share, satisfied):
    size = Size(share=share).of(satisfied)
    assert 1 <= size <= satisfied
    assert share * satisfied - 1e-6 <= size < share * satisfied + 1


@pytest.mark.parametrize(
    ("share", "satisfied", "drawn"),
    [(0.01, 100, 1), (0.01, 101, 2), (0.01, 1, 1), (1.0, 7, 7), (0.1, 30, 3), (0.07, 100, 7), (0.3, 10, 3)],
)
def test_shares_that_are_whole_numbers_do_not_round_up(share, satisfied, drawn):
    # 0.07 * 100 is 7.000000000000001 in binary.
    assert Size(share=share).of(satisfied) == drawn


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({}, "either --per-relation N or --share"),
        ({"per_relation": 1, "share": 0.1}, "not both"),
        ({"per_relation": 0}, "--per-relation 0: must be at least 1"),
        ({"per_relation": -2}, "--per-relation -2: must be at least 1"),
        ({"share": 0.0}, r"--share 0.0: must be above 0 and at most 1"),
        ({"share": 1.01}, "must be above 0 and at most 1"),
        ({"share": float("nan")}, "must be above 0 and at most 1"),
    ],
)
def test_sizes_that_make_no_sense_are_refused(options, says):
    with pytest.raises(AuditError, match=says):
        Size(**options)
