"""Metamorphic relations: one file per family, each registering its relations when imported here.

A new family is one new file and one line in the last block.
"""

from audit.relations.base import Chained, Member, Outcome, Plain, Relation, Source, Verdict
from audit.relations.carry import Carry
from audit.relations.registry import all_relations, get_relation, name_order

# isort: split
# One line per family.

__all__ = [
    "Carry",
    "Chained",
    "Member",
    "Outcome",
    "Plain",
    "Relation",
    "Source",
    "Verdict",
    "all_relations",
    "get_relation",
    "name_order",
]
