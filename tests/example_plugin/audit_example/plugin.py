"""Everything that this package registers."""

from audit import registry
from audit_example import relations  # noqa: F401  (registers its relation when it is imported)
from audit_example.corpora import tiny_inference
from audit_example.systems import Overlap
from audit_example.task import ENTAILMENT

registry.tasks.register(ENTAILMENT.name, ENTAILMENT)
registry.systems.register("overlap", Overlap)
registry.corpora.register("tiny-inference", tiny_inference)
