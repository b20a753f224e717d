"""Every perturbation of our packs says what it keeps of a text, and what it may break."""

import pytest

from audit.relations import Joint, Plain, Relation, all_relations
from audit.relations.expect import Spread


def function_of(relation: Relation) -> object:
    function = relation.rewrite if isinstance(relation, Joint) else relation.perturb
    return function.perturb if isinstance(function, Spread) else function


PERTURBATIONS = [
    relation
    for relation in all_relations()
    if isinstance(relation, Plain | Joint) and not relation.name.startswith("MR") and relation.task != "translation"
]
FUNCTIONS = {function_of(relation): relation for relation in PERTURBATIONS}


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: FUNCTIONS[function].name)
def test_each_says_what_it_keeps_and_may_break(function):
    relation = FUNCTIONS[function]
    assert relation.keeps
    assert 10 < len(relation.may_break) < 160
    assert not relation.may_break.endswith(".")
    assert (function.__doc__ or "").lower().count("may break") <= 1  # else its registration says it
