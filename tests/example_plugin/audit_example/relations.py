"""A relation of the task `entailment`: a sentence that says nothing changes nothing."""

from audit.relations import ANY, Rewriting
from audit.relations.base import Rewritten, unchanged
from audit.relations.expect import equivalent
from audit.relations.registry import register


def add_sentence(texts, choices):
    """The pair with a sentence behind the premise; None would say that the relation does not apply."""
    premise, hypothesis = (analysis.text for analysis in texts)
    return Rewritten((f"{premise} That is what was said.", hypothesis), ())


def same_label(outputs, replaced):
    """Satisfied where source and follow-up have the same label; no words were replaced."""
    return equivalent(outputs)


register(
    Rewriting(
        task="entailment",
        name="NLI1.1",
        family="NLI1",
        summary="A sentence that says nothing is added to the premise; the label stays.",
        unit="any",
        rewrite=add_sentence,
        check=same_label,
        carry=unchanged,  # what is right about the source is right about the follow-up
        languages=ANY,
    )
)
