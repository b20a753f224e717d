"""MR1.1 to MR1.4 of the task `sentiment`: words, numbers and the final period are replaced, the meaning is not.

Source: Jiang, Chen, Wang, "On the effectiveness of testing sentiment analysis systems with metamorphic testing"
(Information and Software Technology 150, 2022), section 4.3.1 (1) and table 3.
"""

import random

from audit.language import Analysis
from audit.language.contractions import contract, expand
from audit.language.number import changes
from audit.language.synonyms import replacements
from audit.relations.carry import unchanged
from audit.relations.expect import equivalent, opinionated, stronger
from audit.relations.registry import plain

_FAMILY = "replacing words"
_CLOSERS = "\"”'’)]"


@plain("MR1.1", task="sentiment", family=_FAMILY, unit="sentence", check=equivalent, carry=unchanged)
def contractions(text: Analysis, choices: random.Random) -> str | None:
    """Contractions are written in full, or full forms contracted; the sentiment stays.

    Contractions are expanded where there are any; where there are none, full forms are contracted.

    >>> contractions(Analysis("don't dismiss this film because of its sources."), random.Random(0))
    'do not dismiss this film because of its sources.'
    """
    new = expand(text.tokens) or contract(text.tokens)
    return text.replace(new) if new else None


@plain("MR1.2", task="sentiment", family=_FAMILY, unit="sentence", check=equivalent, carry=unchanged)
def synonyms(text: Analysis, choices: random.Random) -> str | None:
    """One or two nouns are replaced by synonyms; the sentiment stays.

    >>> synonyms(Analysis("I want to buy a bike."), random.Random(0))
    'I want to buy a bicycle.'
    """
    found = replacements(text.tokens)
    if not found:
        return None
    new: dict[int, str] = {}
    for noun in choices.sample(sorted(found), min(2, len(found))):
        new.update(found[noun])
    return text.replace(new)


@plain("MR1.3", task="sentiment", family=_FAMILY, unit="sentence", check=equivalent, carry=unchanged)
def numbers(text: Analysis, choices: random.Random) -> str | None:
    """A singular becomes a plural or a plural a singular, with all that agrees with it; the sentiment stays.

    >>> numbers(Analysis("I made a film."), random.Random(0))
    'I made some films.'
    """
    found = changes(text.tokens)
    return text.replace(choices.choice(found)) if found else None


@plain("MR1.4", task="sentiment", family=_FAMILY, unit="sentence", check=opinionated(stronger), carry=unchanged)
def exclamation(text: Analysis, choices: random.Random) -> str | None:
    """The final period becomes an exclamation mark; the sentiment grows stronger.

    >>> exclamation(Analysis("It's a great day."), random.Random(0))
    "It's a great day!"
    """
    body = text.text.rstrip()
    inner = body.rstrip(_CLOSERS)
    at = len(inner) - 1
    if not inner.endswith(".") or inner[-2:-1] in ("", ".", "?", "!", " "):
        return None
    if not any(token.text == "." and token.start == at for token in text.tokens[-4:]):
        return None  # the full stop of "etc." or "U.S."
    return text.text[:at] + "!" + text.text[at + 1 :]
