"""Metamorphic relations: one file per family, each registering its relations when imported here."""

from audit.relations.base import Chained, Member, Outcome, Plain, Relation, Source, Verdict
from audit.relations.carry import Carry
from audit.relations.registry import all_relations, get_relation, name_order

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
