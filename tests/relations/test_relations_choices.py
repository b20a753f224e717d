"""Choices are seeded when something is drawn, and draw what a generator seeded at once draws."""

import copy
import pickle

from hypothesis import given
from hypothesis import strategies as st

from audit.keys import Late, generator
from audit.relations import Source
from audit.tasks import Input
from audit.text import Analysis

DRAWS = {
    "random": lambda choices: choices.random(),
    "choice": lambda choices: choices.choice("abcdefgh"),
    "sample": lambda choices: choices.sample(range(50), 5),
    "shuffle": lambda choices: _shuffled(choices),
}


def _shuffled(choices):
    order = list(range(9))
    choices.shuffle(order)
    return order


@given(st.text(), st.integers(), st.lists(st.sampled_from(sorted(DRAWS)), max_size=6))
def test_draws_are_those_of_a_generator_seeded_at_once(text, number, draws):
    late, now = Late(text, number), generator(text, number)
    assert [DRAWS[name](late) for name in draws] == [DRAWS[name](now) for name in draws]


def test_a_source_gives_each_relation_its_own_draws_from_the_start():
    source = Source(Input.of("It is long."), Analysis("It is long."), "7:row")
    first = source.choices("MR1.1").random()
    assert source.choices("MR1.1").random() == first == generator("7:row", "MR1.1").random()
    assert source.choices("MR1.2").random() != first


def test_choices_go_on_in_a_copy():
    late = Late("a")
    late.random()
    goes_on = late.random
    copies = [copy.deepcopy(late), pickle.loads(pickle.dumps(late))]  # noqa: S301, our own bytes
    assert {one.random() for one in copies} == {goes_on()}
