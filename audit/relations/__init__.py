"""Metamorphic relations: one file per family, each registering its relations when imported here.

A new family is one new file and one line in the last block.
"""

from audit.relations.base import (
    ANY,
    COUNTED,
    Carry,
    Chained,
    Fixed,
    Member,
    Outcome,
    Plain,
    Relation,
    Rewriting,
    Source,
    Verdict,
)
from audit.relations.registry import all_relations, find_relation, get_relation, name_order

# isort: split
# One line per family.
from audit.relations import chinese as _chinese_countries  # noqa: F401
from audit.relations import chinese as _chinese_names  # noqa: F401
from audit.relations import chinese as _chinese_occupations  # noqa: F401
from audit.relations import chinese as _chinese_punctuation  # noqa: F401
from audit.relations import chinese as _chinese_reordering  # noqa: F401
from audit.relations import chinese as _chinese_synonyms  # noqa: F401
from audit.relations import sentiment as _sentiment_adding  # noqa: F401
from audit.relations import sentiment as _sentiment_capitalizing  # noqa: F401
from audit.relations import sentiment as _sentiment_extending  # noqa: F401
from audit.relations import sentiment as _sentiment_permuting  # noqa: F401
from audit.relations import sentiment as _sentiment_removing  # noqa: F401
from audit.relations import sentiment as _sentiment_replacing  # noqa: F401
from audit.relations import sentiment as _sentiment_restructuring  # noqa: F401
from audit.relations import translation as _monte_carlo  # noqa: F401
from audit.relations import translation as _multi_granularity  # noqa: F401
from audit.relations import translation as _multi_granularity_sentence  # noqa: F401
from audit.relations import translation as _round_trip  # noqa: F401

__all__ = [
    "ANY",
    "COUNTED",
    "Carry",
    "Chained",
    "Fixed",
    "Member",
    "Outcome",
    "Plain",
    "Relation",
    "Rewriting",
    "Source",
    "Verdict",
    "all_relations",
    "find_relation",
    "get_relation",
    "name_order",
]
