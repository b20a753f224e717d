"""Natural language inference: does a premise entail a hypothesis, contradict it, or neither?

Source of the labels: Bowman, Angeli, Potts, Manning, "A large annotated corpus for learning natural language inference"
(EMNLP 2015), section 2.
"""

from audit.tasks.base import LabelTask

INFERENCE = LabelTask(
    "inference",
    ("entailment", "neutral", "contradiction"),
    "If the premise is true, is the hypothesis true, too?",
    texts=2,
    text_names=("premise", "hypothesis"),
)
"""The task `inference`: an input is a premise and a hypothesis, in that order."""
