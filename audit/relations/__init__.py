"""Metamorphic relations: the protocol, checks, and the registry. The relations themselves are in the packs."""

# ruff: noqa: I001 (several names a line)
from audit.relations.base import ANY as ANY, COUNTED as COUNTED, Carry as Carry, Chained as Chained, Fixed as Fixed
from audit.relations.base import Joint as Joint, Member as Member, Outcome as Outcome, Plain as Plain
from audit.relations.base import Relation as Relation, Rewriting as Rewriting, Source as Source, Verdict as Verdict
from audit.relations.composition import Composed as Composed, compose as compose
from audit.relations.registry import all_relations as all_relations, find_relation as find_relation
from audit.relations.registry import get_relation as get_relation, name_order as name_order
from audit.relations.registry import relations_named as relations_named
