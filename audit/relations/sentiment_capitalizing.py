"""MR3.1 and MR3.2 of the task `sentiment`: letters change their case, the words stay.

Source: Jiang, Chen, Wang, "On the effectiveness of testing sentiment analysis systems with metamorphic testing"
(Information and Software Technology 150, 2022), section 4.3.1 (3) and table 3.
"""

import random

from audit.language import Analysis
from audit.language.wordsets import words
from audit.relations.carry import unchanged
from audit.relations.expect import equivalent, opinionated, stronger
from audit.relations.registry import plain

_FAMILY = "capitalizing words"
# Tagged as nouns or adjectives, but they stand for a pronoun or determiner: nobody shouts them for emphasis.
_PLAIN = words(
    "i such many much few own same several certain other another more most less least nothing anything something "
    "everything everyone someone anyone nobody none one ones lot lots bit kind sort due"
)


@plain("MR3.1", task="sentiment", family=_FAMILY, unit="sentence", check=equivalent, carry=unchanged)
def reversed_case(text: Analysis, choices: random.Random) -> str | None:
    """All characters change to upper case, or to lower case where they are upper; the sentiment stays.

    As in the study's "The dvd is ..." -> "THE DVD IS ...", a text in ordinary case becomes upper-case throughout (the
    literal swap, "tHE", is what nobody writes); a text that is mostly upper-case becomes lower-case.

    >>> reversed_case(Analysis("it'll make sense when you see it."), random.Random(0))
    "IT'LL MAKE SENSE WHEN YOU SEE IT."
    """
    if text.text.islower():
        return text.text.upper()  # the usual case, without counting
    upper = sum(map(str.isupper, text.text))
    lower = sum(map(str.islower, text.text))
    made = text.text.lower() if upper > lower else text.text.upper()
    return made if made != text.text else None


@plain("MR3.2", task="sentiment", family=_FAMILY, unit="sentence", check=opinionated(stronger), carry=unchanged)
def capitalized_words(text: Analysis, choices: random.Random) -> str | None:
    """Nouns and adjectives are written in upper case; the sentiment grows stronger.

    >>> capitalized_words(Analysis("The flower is beautiful."), random.Random(0))
    'The FLOWER is BEAUTIFUL.'
    """
    new: dict[int, str] = {}
    for index, token in enumerate(text.tokens):
        if token.tag[:2] in ("NN", "JJ") and len(token.text) > 1 and token.lower not in _PLAIN:
            upper = token.text.upper()
            if upper != token.text:
                new[index] = upper
        elif index - 1 in new and token.lower in ("'s", "’s") and token.start == text.tokens[index - 1].end:
            new[index] = token.text.upper()
    return text.replace(new) if new else None
