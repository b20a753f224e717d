"""How far two texts agree, as relations of translations check it: a score by name, and a bound that it must reach."""

import math
from collections.abc import Callable, Mapping

from audit.language import text_similarity
from audit.relations.base import Outcome, Verdict

Score = Callable[[str, str], float]

SCORES: Mapping[str, Score] = {
    "consistency": text_similarity.consistency,
    "levenshtein": text_similarity.levenshtein_similarity,
    "normalised": text_similarity.normalised_similarity,
    "bleu": text_similarity.bleu,
    "cosine": text_similarity.cosine,
}
"""Scores by name, of (what was there first, what is compared with it). All are from 0 to 1, but `normalised` may be
below 0."""

THRESHOLD = 0.6
"""Of the MCMT study's 956 recorded round trips 71 % reach it, of its 2,796 pairs through a pivot 33 %. The study itself
compares mean scores and sets no bound; `audit values bounds` shows the rates at others without another run."""


def agreement(one: str, other: str, score: str, threshold: float, reason: str | None = None) -> Verdict:
    """Satisfied where the score of two texts is at least the threshold; the score is the value.

    Equal texts have the value 1 under every score: they are what the relation asks for, though BLEU gives them less
    where they are shorter than four words (and a Chinese sentence is one word to it).

    >>> agreement("Llueve.", "Llueve.", "levenshtein", 0.6)
    Verdict(outcome=<Outcome.SATISFIED: 0>, value=1.0, reason=None)
    """
    return at_least(1.0 if one == other else SCORES[score](one, other), threshold, reason)


def at_least(value: float, bound: float, reason: str | None = None) -> Verdict:
    """Satisfied where the value is at least the bound.

    >>> at_least(0.5, 0.6).outcome.name
    'VIOLATED'
    """
    return Verdict(Outcome.SATISFIED if value >= bound else Outcome.VIOLATED, value, reason)


def wrong_score(params: Mapping[str, object]) -> str | None:
    """What is wrong with the parameters `score` and `threshold`; None: nothing.

    >>> wrong_score({"score": "bleu", "threshold": 1.5})
    'threshold is 1.5; allowed are numbers from 0 to 1'
    """
    if params["score"] not in SCORES:
        return f"score is {params['score']!r}; allowed are {', '.join(SCORES)}"
    threshold = float(str(params["threshold"]))
    if math.isfinite(threshold) and 0 <= threshold <= 1:
        return None
    return f"threshold is {threshold:g}; allowed are numbers from 0 to 1"
