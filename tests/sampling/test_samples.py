"""The random numbers of sources, and how many groups of a cell come first."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chi2
from sqlalchemy import select

import audit
from audit.errors import AuditError
from audit.false_satisfaction.resolution import carrying
from audit.keys import uniform, uniforms
from audit.sampling.options import SampleOptions
from audit.sampling.samples import Terms, drawn_pairs, give_up, has_clear_gold, keep_sample, terms_of
from audit.store.bulk import LIMIT
from audit.store.core import draw, source


@given(st.lists(st.text()), st.lists(st.one_of(st.text(), st.integers()), max_size=3))
def test_many_numbers_are_those_of_one_at_a_time(names, parts):
    assert list(uniforms(names, *parts)) == [uniform(*parts, name) for name in names]


def test_every_source_is_first_equally_often():
    """4 of 12 sources by each of 2,000 seeds: chi-square with the correction for draws without replacement."""
    sources, size, draws = 12, 4, 2000
    rows = [f"row {n}" for n in range(sources)]
    drawn = np.zeros((draws, sources), int)
    for seed in range(draws):
        drawn[seed, np.argsort(list(uniforms(rows, seed)))[:size]] = 1
    counts, expected = drawn.sum(axis=0), draws * size / sources
    statistic = ((counts - expected) ** 2 / expected).sum() * (sources - 1) / (sources - size)
    assert chi2.sf(statistic, sources - 1) > 0.01
    # Pairs too: two sources come together as often as chance has it, so no source hangs on another.
    pairs = (drawn.T @ drawn)[np.triu_indices(sources, 1)]
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


@pytest.fixture(scope="module")
def study():
    """20 texts, of which one has two gold labels; a quarter of each cell is drawn."""
    rows = [
        (f"Day {number}: it isn't {word}.", gold)
        for number in range(10)
        for word, gold in (("good", "negative"), ("bad", "positive"))
    ]
    rows += [("Day 3: it isn't good.", "positive")]
    with audit.run(rows, systems=["vader"], relations=["MR3.1", "MR1.1"], store=None) as study:
        study.sample(share=0.25)
        yield study


def test_satisfied_groups_of_drawn_sources_and_of_no_others(study):
    with study.engine.connect() as connection:
        drawn = set(connection.execute(select(draw.c.source_id)).scalars())
        pairs = connection.execute(select(drawn_pairs(carrying(connection)).c.group_id)).scalars().all()
        sources = connection.execute(select(source.c.id)).scalars().all()
    assert {group // LIMIT**2 for group in pairs} == drawn
    assert 0 < len(drawn) < len(sources)


def test_a_text_with_two_gold_labels_has_no_clear_one(study):
    with study.engine.connect() as connection:
        clear = connection.execute(select(source.c.row).where(has_clear_gold(1))).scalars().all()
        assert len(clear) == 19
        assert connection.execute(select(source.c.id).where(has_clear_gold(2))).all() == []


def test_terms_stand_until_others_are_named_and_the_share_of_follow_ups_never_shrinks(study):
    with study.engine.begin() as connection:
        assert terms_of(connection) == {1: Terms(2, 1, 0.1)}
        keep_sample(connection, 1, SampleOptions(annotators=3, follow_ups=0.2, quorum="all"))
        assert keep_sample(connection, 1, SampleOptions()) == Terms(3, 1, 0.2)
        assert keep_sample(connection, 1, SampleOptions(annotators=1, follow_ups=0.1)) == Terms(1, 1, 0.2)
        assert terms_of(connection) == {1: Terms(1, 1, 0.2)}
        assert (give_up(connection, 1) > 0, give_up(connection, 1)) == (True, 0)
