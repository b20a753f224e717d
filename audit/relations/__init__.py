"""Metamorphic relations: the protocol, checks, and the registry. The relations themselves are in the packs."""

from audit.relations.base import ANY as ANY
from audit.relations.base import COUNTED as COUNTED
from audit.relations.base import Carry as Carry
from audit.relations.base import Chained as Chained
from audit.relations.base import Fixed as Fixed
from audit.relations.base import Joint as Joint
from audit.relations.base import Member as Member
from audit.relations.base import Outcome as Outcome
from audit.relations.base import Plain as Plain
from audit.relations.base import Relation as Relation
from audit.relations.base import Rewriting as Rewriting
from audit.relations.base import Source as Source
from audit.relations.base import Verdict as Verdict
from audit.relations.composition import Composed as Composed
from audit.relations.composition import compose as compose
from audit.relations.registry import all_relations as all_relations
from audit.relations.registry import find_relation as find_relation
from audit.relations.registry import get_relation as get_relation
from audit.relations.registry import name_order as name_order
from audit.relations.registry import relations_named as relations_named
