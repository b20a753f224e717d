"""RTT of the task `translation`: into the target language and back.

Source: the baseline that both studies of translation compare with (Pesu et al., "A Monte-Carlo approach to automatic
metamorphic testing of machine translation software", 2017, section II; Milam et al. as cited by the study of MGMT).
Somers ("Round-trip translation: what's it good for?", 2005) found it a poor sign of quality: the way back is a
translation of its own, which may err where the way out did not, or mend what it spoilt.
"""

import random

from audit.relations.agreeing import THRESHOLD, agreement, wrong_score
from audit.relations.base import ANY, Member, Source, Steps
from audit.relations.carry import nothing
from audit.relations.registry import chained
from audit.tasks import Input


@chained(
    "RTT",
    task="translation",
    family="round trip",
    unit="any",
    carry=nothing,
    languages=ANY,
    params={"score": "consistency", "threshold": THRESHOLD},
    check_params=wrong_score,
)
def round_trip(
    source: Source, choices: random.Random, *, score: str = "consistency", threshold: float = THRESHOLD
) -> Steps:
    """Translate into the target language and back; the text that comes back resembles the source.

    The value is the score of source and what came back (`audit.relations.agreeing.SCORES`). The translation back is a
    link: where it is wrong, a satisfaction is false. No group where the source says no target language.
    """
    given = source.input
    if given.target is None:
        return None
    (there,) = yield [Member("source", given)]
    (back,) = yield [Member("link", turned(given, str(there.text)))]
    return agreement(given.text, str(back.text), score, threshold)


def turned(given: Input, text: str) -> Input:
    """A translation of the input's text, to be translated back.

    >>> turned(Input.of("It rains.", target="es"), "Llueve.").languages
    ('es', 'en')
    """
    return Input.of(text, language=given.output_language, target=given.languages[0])
