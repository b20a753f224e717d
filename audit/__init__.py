"""Audit metamorphic testing of NLP systems for false satisfactions.

The library is at this front door; `docs/tutorial/notebook.md` has an audit from beginning to end.

>>> import audit
>>> study = audit.run(
...     [("A good film.", "positive"), ("A bad film.", "negative")], systems=["vader"], relations=["MR3.1"]
... )
>>> study.sample(2).answer_with_gold().report().relations["MR3.1"].order_observed
('vader',)
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.2.0"

_FROM = {
    "audit.library.study": ("Study", "compare", "open", "run", "search"),
    "audit.library.results": ("Agreement", "Comparison", "Estimate", "Report", "agreement", "rerank"),
    "audit.library.components": ("relation",),
    "audit.library.metamorphic": ("metamorphic",),
    "audit.relations": ("Outcome", "Verdict", "all_relations"),
    "audit.relations.expect": ("different", "equivalent", "opinionated", "stronger"),
    "audit.systems": ("all_systems",),
    "audit.corpora": ("all_corpora",),
    "audit.tasks": ("Input", "Output"),
    "audit.errors": ("AuditError",),
    "audit.registry": ("load_plugin",),
}
_MODULES = {name: module for module, names in _FROM.items() for name in names}
__all__ = ["__version__", *_MODULES]

# ruff: noqa: I001 (several names a line)
if TYPE_CHECKING:
    from audit.corpora import all_corpora as all_corpora
    from audit.errors import AuditError as AuditError
    from audit.library.components import relation as relation
    from audit.library.metamorphic import metamorphic as metamorphic
    from audit.library.results import Agreement as Agreement, Comparison as Comparison, Report as Report
    from audit.library.results import agreement as agreement, rerank as rerank
    from audit.library.study import Study as Study, compare as compare, open as open, run as run, search as search
    from audit.registry import load_plugin as load_plugin
    from audit.relations import Outcome as Outcome, Verdict as Verdict, all_relations as all_relations
    from audit.relations.expect import different as different, equivalent as equivalent
    from audit.relations.expect import opinionated as opinionated, stronger as stronger
    from audit.reports.words import Estimate as Estimate
    from audit.systems import all_systems as all_systems
    from audit.tasks import Input as Input, Output as Output


def __getattr__(name: str) -> Any:
    """Names are loaded when they are first used, so that `import audit` costs nothing."""
    if name not in _MODULES:
        raise AttributeError(f"module 'audit' has no attribute {name!r}; it has {', '.join(sorted(_MODULES))}")
    return getattr(import_module(_MODULES[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
