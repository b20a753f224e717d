"""A corpus of the task `entailment`: twelve pairs that were written for it."""

import pandas as pd

from audit.corpora.files import FileCorpus

PAIRS = [
    ("A man plays a red guitar.", "A man plays a guitar.", "entailed"),
    ("A man plays a guitar.", "A man does not play a guitar.", "contradicted"),
    ("A man plays a guitar.", "A man plays a red guitar.", "neutral"),
    ("Two dogs run in the snow.", "Two dogs run.", "entailed"),
    ("Two dogs run in the snow.", "Two dogs sleep in the house.", "contradicted"),
    ("Two dogs run in the snow.", "Two dogs are brothers.", "neutral"),
    ("The shop is open today.", "The shop is closed today.", "contradicted"),
    ("The shop is open today.", "The shop is open.", "entailed"),
    ("The shop is open today.", "The shop is open on Sundays.", "neutral"),
    ("No child is in the water.", "A child is in the water.", "contradicted"),
    ("A child is in the cold water.", "A child is in the water.", "entailed"),
    ("A child is in the water.", "A child likes the water.", "neutral"),
]


def tiny_inference():
    """Twelve pairs with gold labels."""
    frame = pd.DataFrame(PAIRS, columns=["text", "text_b", "gold"])
    return FileCorpus("tiny-inference", "entailment", "sentence", "en", content=frame)
