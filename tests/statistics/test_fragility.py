"""How many answers hold a winner up: worked examples, and every small case against all there are to try."""

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from audit.statistics.fragility import OPEN, RIGHT, WRONG, JudgedGroup, Part, fragility
from audit.statistics.orders import TIED


def group(system, *parts):
    return JudgedGroup(system, tuple(Part(question, effects) for question, effects in parts))


def true(system, question):
    """A group that its only question makes true, and false were the answer the other one."""
    return group(system, (question, (RIGHT, WRONG)))


def false(system, question):
    return group(system, (question, (WRONG, RIGHT)))


def test_a_gap_of_two_groups_needs_two_questions():
    # SR_g of 0: 0.8 * 9/10 = 0.72, of 1: 0.8 * 7/10 = 0.56. One group moves 0.08, and 0.16 must be passed: three. With
    # the question of a false group of 1 that is a true group of 0 too, one answer moves 0.16: two.
    apart = [true(0, n) for n in range(9)] + [false(0, 9)] + [true(1, 10 + n) for n in range(7)]
    assert (lambda fragile: (fragile.least, fragile.most))(
        of_cells([0.8, 0.8], [*apart, *(false(1, 20 + n) for n in range(3))])
    ) == (3, 3)
    joint = [*apart, false(1, 0), false(1, 21), false(1, 22)]
    fragile = of_cells([0.8, 0.8], joint)
    assert (fragile.best, fragile.challenger, fragile.most, fragile.exact) == ((0,), 1, 2, True)
    assert (0, 1) in fragile.changes


def test_a_tie_is_broken_by_one_and_nobody_beats_a_system_that_cannot_lose():
    fragile = of_cells([0.5, 0.5, 0.2], [true(0, 0), true(1, 1), true(2, 2)])
    # 2 beats 0 and 1 only where both are false: 0.2 against 0 and 0.
    assert (fragile.best, fragile.challenger, fragile.most) == ((0, 1), 2, 2)
    # Half of 0's groups are always right: 0.45 or more, against 0.4 at most.
    certain = group(0, (0, (RIGHT, RIGHT)))
    assert of_cells([0.9, 0.4], [certain, true(0, 1), true(1, 2)]).least is None


def test_two_wrong_parts_of_one_group_are_mended_together():
    both = group(1, (0, (WRONG, RIGHT)), (1, (WRONG, RIGHT)))
    fragile = of_cells([0.5, 0.9], [true(0, 2), both])
    # One answer, of question 2, makes a tie at 0; it takes both parts to get 1 to 0.9 > 0.5.
    assert (fragile.most, fragile.challenger, fragile.changes) == (2, 1, ((0, 1), (1, 1)))


def test_a_change_that_leaves_a_group_open_does_not_count():
    fragile = of_cells([0.9, 0.5], [group(0, (0, (RIGHT, OPEN))), true(1, 1)])
    assert fragile.most is None


def test_systems_without_groups_and_relations_without_systems():
    assert fragility([], [], []).best == ()
    fragile = of_cells([0.0, 0.7], [true(1, 0)])
    assert (fragile.best, fragile.challenger, fragile.most) == ((1,), None, None)  # 0 has nothing that could be genuine


def of_cells(rates, groups):
    """As of cells with these SR_o, all of whose groups are judged: SR_g = SR_o (1 - false / judged)."""
    judged = [sum(judged_group.system == at for judged_group in groups) for at in range(len(rates))]
    return fragility(
        rates, [rate / number if number else 0.0 for rate, number in zip(rates, judged, strict=True)], groups
    )


def tried(rates, groups):
    """The least number of questions by trying every answer to every question; None: it cannot be done."""
    answers = {part.question: len(part.effects) for judged_group in groups for part in judged_group.parts}
    judged = [sum(judged_group.system == at for judged_group in groups) for at in range(len(rates))]

    def genuine(chosen):
        false = [0] * len(rates)
        for judged_group in groups:
            effects = [part.effects[chosen[part.question]] for part in judged_group.parts]
            if WRONG not in effects and OPEN in effects:
                return None
            false[judged_group.system] += WRONG in effects
        return [rate * (1 - f / n) if n else rate for rate, f, n in zip(rates, false, judged, strict=True)]

    before = genuine(dict.fromkeys(answers, 0))
    best = [at for at, rate in enumerate(before) if max(before) - rate <= TIED]
    least = None
    for choice in product(*(range(number) for number in answers.values())):
        after = genuine(dict(zip(answers, choice, strict=True)))
        number = sum(map(bool, choice))
        if after is None or (least is not None and number >= least):
            continue
        others = [after[at] for at in range(len(rates)) if at not in best]
        if others and max(others) > max(after[at] for at in best) + TIED:
            least = number
    return least


EFFECTS = st.tuples(st.sampled_from([RIGHT, WRONG]), *[st.sampled_from([RIGHT, WRONG, OPEN])] * 2)


@st.composite
def worlds(draw, parts):
    systems = draw(st.integers(2, 3))
    rates = [draw(st.sampled_from([0.4, 0.5, 0.7, 0.9, 1.0])) for _ in range(systems)]
    part = st.builds(Part, st.integers(0, 4), EFFECTS)
    judged_group = st.builds(
        JudgedGroup, st.integers(0, systems - 1), st.lists(part, min_size=1, max_size=parts).map(tuple)
    )
    groups = draw(st.lists(judged_group, min_size=systems, max_size=9))
    # A system with SR_o above 0 has judged groups.
    return rates, [*groups, *(true(at, 5) for at in range(systems))]


@given(worlds(3))
def test_never_more_than_most_and_never_less_than_least(world):
    truth, fragile = tried(*world), of_cells(*world)
    if fragile.most is not None:
        assert truth is not None
        assert fragile.least <= truth <= fragile.most
    elif fragile.least is None:
        assert truth is None
    else:
        assert truth is None or truth >= fragile.least


@given(worlds(1))
def test_one_question_a_group_and_one_best_system_is_exact(world):
    rates, groups = world
    fragile = of_cells(rates, groups)
    if len(fragile.best) == 1:
        assert fragile.most == fragile.least == tried(rates, groups)


def test_the_challenger_is_who_wins_then():
    # 1 has .5, 2 has .4 and 0 .27. With question 5 answered otherwise all lose a group: 0, .2 and .13. 0 beats 1, but
    # 2 is best.
    groups = [true(0, 0), false(0, 0), true(0, 5), true(1, 5), true(2, 0), true(2, 5)]
    fragile = of_cells([0.4, 0.5, 0.4], groups)
    assert (fragile.best, fragile.challenger, fragile.changes) == ((1,), 2, ((5, 1),))


@given(worlds(3))
def test_the_changes_do_it(world):
    rates, groups = world
    fragile = of_cells(rates, groups)
    if fragile.most is not None:
        changed = dict(fragile.changes)
        fixed = [
            JudgedGroup(
                judged_group.system,
                tuple(Part(p.question, (p.effects[changed.get(p.question, 0)],)) for p in judged_group.parts),
            )
            for judged_group in groups
        ]
        assert fragile.challenger in of_cells(rates, fixed).best
        assert not set(fragile.best) & set(of_cells(rates, fixed).best)
        assert len(changed) == fragile.most


@pytest.mark.parametrize("size", [2_000])
def test_a_large_relation(size):
    # 0 has no false group and 1 has all false: 1 passes 0 when more than half of the groups of both have changed.
    groups = [true(0, n) for n in range(size)] + [false(1, size + n) for n in range(size)]
    assert of_cells([0.5, 0.5], groups).most == size + 1
