"""MR7 of the study of Chinese systems: the order of two texts, or of a text's sentences, is changed."""

import random
from collections.abc import Sequence

from audit.language import Analysis
from audit.relations.base import Rewritten
from audit.relations.chinese import chinese

_FAMILY = "reordering"


@chinese(7, family=_FAMILY, tasks=("similarity",))
def swapped(texts: Sequence[Analysis], choices: random.Random) -> Rewritten | None:
    """The two texts change places; the similarity stays.

    >>> swapped([Analysis("一", "zh"), Analysis("二", "zh")], random.Random(0)).texts
    ('二', '一')
    """
    return Rewritten(tuple(text.text for text in reversed(texts))) if len(texts) == 2 else None
