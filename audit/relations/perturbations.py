"""Former names, until every pack registers by `uses.relation`."""

from functools import partial

from audit.relations.uses import BOTH, EVERY, FIRST, SECOND, SIMILAR, Use, kept_and_broken, relation, uses

perturbation = relation
joint_perturbation = partial(relation, by="input")
__all__ = [
    "BOTH",
    "EVERY",
    "FIRST",
    "SECOND",
    "SIMILAR",
    "Use",
    "joint_perturbation",
    "kept_and_broken",
    "perturbation",
    "relation",
    "uses",
]
