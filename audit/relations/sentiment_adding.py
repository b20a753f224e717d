"""MR2.1 and MR2.2 of the task `sentiment`: a word is added that strengthens or reverses what the sentence says.

Source: Jiang, Chen, Wang, "On the effectiveness of testing sentiment analysis systems with metamorphic testing"
(Information and Software Technology 150, 2022), section 4.3.1 (2) and table 3.
"""

import random

from audit.language import Analysis
from audit.language.emphasis import ADVERBS, article, places
from audit.language.negation import negate
from audit.relations.carry import nothing, stays
from audit.relations.expect import different, opinionated, stronger
from audit.relations.registry import plain

_FAMILY = "adding words"


@plain(
    "MR2.1",
    task="sentiment",
    family=_FAMILY,
    unit="sentence",
    check=opinionated(stronger),
    carry=stays("positive", "negative"),
)
def emphasizing_adverbs(text: Analysis, choices: random.Random) -> str | None:
    """An emphasizing adverb is put before an adjective or a verb of liking; the sentiment grows stronger.

    >>> emphasizing_adverbs(Analysis("The apple is sweet."), random.Random(2))
    'The apple is very sweet.'
    """
    found = places(text.tokens)
    if not found:
        return None
    place = choices.choice(found)
    adverb = choices.choice(ADVERBS[place.degree])
    token = text.tokens[place.index]
    if token.text.isupper() and len(token.text) > 1:
        adverb = adverb.upper()
    word = token.text
    if place.index == 0 and word[0].isupper() and not word.isupper():
        adverb, word = adverb.capitalize(), word.lower()
    new = {place.index: f"{adverb} {word}"}
    if place.index:
        before = text.tokens[place.index - 1]
        if before.lower in ("a", "an"):
            new[place.index - 1] = article(before.text, adverb)
    return text.replace(new)


@plain("MR2.2", task="sentiment", family=_FAMILY, unit="sentence", check=opinionated(different), carry=nothing)
def negation_words(text: Analysis, choices: random.Random) -> str | None:
    """The verb of the main clause is negated; the sentiment is a different one.

    >>> negation_words(Analysis("The weather is bad."), random.Random(0))
    'The weather is not bad.'
    """
    new = negate(text.tokens)
    return text.replace(new) if new else None
