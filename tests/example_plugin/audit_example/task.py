"""A task on pairs of texts: does the second follow from the first?"""

from audit.tasks import LabelTask, Wording

GUIDELINE = """
**Read the premise, then the hypothesis.** Suppose that the premise is true. Is the hypothesis true then?

{labels}

**Use only the premise** and what everybody knows.
"""

ENTAILMENT = LabelTask(
    name="entailment",
    labels=("entailed", "neutral", "contradicted"),
    question="Does the hypothesis follow from the premise?",
    texts=2,
    wordings={
        "en": Wording(
            name="entailment",
            texts=("Premise", "Hypothesis"),
            labels={"entailed": "It follows", "neutral": "Neither", "contradicted": "It is ruled out"},
            guideline=GUIDELINE,
        ),
        "zh": Wording(name="推理", question="能否从前提推出假设？", texts=("前提", "假设")),
    },
)
