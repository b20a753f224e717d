"""Metamorphic relations: the protocol, checks, and the registry. The relations themselves are in the packs."""

from audit.relations.base import (
    ANY,
    COUNTED,
    Carry,
    Chained,
    Fixed,
    Joint,
    Member,
    Outcome,
    Plain,
    Relation,
    Rewriting,
    Source,
    Verdict,
)
from audit.relations.composition import Composed, compose
from audit.relations.registry import all_relations, find_relation, get_relation, name_order, relations_named

__all__ = [
    "ANY",
    "COUNTED",
    "Carry",
    "Chained",
    "Composed",
    "Fixed",
    "Joint",
    "Member",
    "Outcome",
    "Plain",
    "Relation",
    "Rewriting",
    "Source",
    "Verdict",
    "all_relations",
    "compose",
    "find_relation",
    "get_relation",
    "name_order",
    "relations_named",
]
