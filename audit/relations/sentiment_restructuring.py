"""MR4.1 to MR4.5 of the task `sentiment`: the sentence is built anew from its own parts.

Source: Jiang, Chen, Wang, "On the effectiveness of testing sentiment analysis systems with metamorphic testing"
(Information and Software Technology 150, 2022), section 4.3.1 (4) and table 3.
"""

import random

from audit.language import Analysis
from audit.language.clauses import switch
from audit.language.comparatives import exchange, rephrase
from audit.language.coordination import swap, swappable
from audit.language.tense import change_tense
from audit.relations.carry import nothing, unchanged
from audit.relations.expect import different, equivalent, opinionated
from audit.relations.registry import plain

_FAMILY = "restructuring the sentence"


@plain("MR4.1", task="sentiment", family=_FAMILY, unit="sentence", check=equivalent, carry=unchanged)
def changed_tense(text: Analysis, choices: random.Random) -> str | None:
    """All finite verbs change from the present to the past, or from the past to the present; the sentiment stays.

    >>> changed_tense(Analysis("The storyline is as cliched as they come."), random.Random(0))
    'The storyline was as cliched as they come.'
    """
    return change_tense(text)


@plain("MR4.2", task="sentiment", family=_FAMILY, unit="sentence", check=equivalent, carry=unchanged)
def swapped_conjuncts(text: Analysis, choices: random.Random) -> str | None:
    """Words or phrases joined by "and", "or", "either ... or" or "be different from" swap places; the sentiment stays.

    One of the sentence's coordinations is swapped, drawn at random.

    >>> swapped_conjuncts(Analysis("The film is wonderful and exciting."), random.Random(0))
    'The film is exciting and wonderful.'
    """
    pairs = swappable(text.tokens)
    if pairs:
        return swap(text, choices.choice(pairs))
    return exchange(text, "from")


@plain("MR4.3", task="sentiment", family=_FAMILY, unit="sentence", check=equivalent, carry=unchanged)
def switched_conjunction(text: Analysis, choices: random.Random) -> str | None:
    """Two clauses joined by "but" are joined by "although" instead, or the other way round; the sentiment stays.

    >>> switched_conjunction(Analysis("Although I like it, I will not buy it."), random.Random(0))
    'I like it, but I will not buy it.'
    """
    return switch(text)


@plain("MR4.4", task="sentiment", family=_FAMILY, unit="sentence", check=equivalent, carry=unchanged)
def rephrased_comparison(text: Analysis, choices: random.Random) -> str | None:
    """A comparison is turned round and said with the antonym; the sentiment stays.

    >>> rephrased_comparison(Analysis("The car is faster than the bicycle."), random.Random(0))
    'The bicycle is slower than the car.'
    """
    return rephrase(text)


@plain("MR4.5", task="sentiment", family=_FAMILY, unit="sentence", check=opinionated(different), carry=nothing)
def swapped_comparison(text: Analysis, choices: random.Random) -> str | None:
    """The two sides of a comparison swap places, which says the opposite; the label becomes another one.

    >>> swapped_comparison(Analysis("The car is faster than the bicycle."), random.Random(0))
    'The bicycle is faster than the car.'
    """
    return exchange(text)
