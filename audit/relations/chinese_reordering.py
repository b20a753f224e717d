"""MR7 of the study of Chinese systems: the order of two texts, or of a text's sentences, is changed."""

import random
from collections.abc import Mapping, Sequence
from functools import partial

from audit.language import Analysis
from audit.language.chinese_characters import is_traditional
from audit.language.chinese_coherence import exchangeable
from audit.relations.base import Rewritten
from audit.relations.chinese import chinese, wrong_count
from audit.relations.documents import rearranged

_FAMILY = "reordering"
_PARAMS: Mapping[str, object] = {"tagger": "jieba", "coherent": False, "exchanges": 1}
_wrong = partial(wrong_count, name="exchanges")


@chinese(7, family=_FAMILY, tasks=("similarity",))
def swapped(texts: Sequence[Analysis], choices: random.Random) -> Rewritten | None:
    """The two texts change places; the similarity stays.

    >>> swapped([Analysis("一", "zh"), Analysis("二", "zh")], random.Random(0)).texts
    ('二', '一')
    """
    return Rewritten(tuple(text.text for text in reversed(texts))) if len(texts) == 2 else None


@chinese(7, family=_FAMILY, tasks=("summarization", "classification"), params=_PARAMS, check_params=_wrong)
def reordered(
    texts: Sequence[Analysis],
    choices: random.Random,
    *,
    tagger: str = "jieba",
    coherent: bool = False,
    exchanges: int = 1,
) -> Rewritten | None:
    """All sentences but the first are put in random order; the output stays.

    The first one says what the text is about, with the dateline of news before it; that it stays is ours, as in the
    study's one example (table 4), where its text says no more than "change the order of sentences". A text loses its
    thread: many a 但是 or 他 then stands before what it refers to. `coherent`: at most `exchanges` sentences change
    places with the next one, only where both say side by side what they say, which few texts do. A text of fewer than
    three sentences makes no group; nor does a coherent one in traditional characters, whose words the taggers do not
    know.

    >>> text = Analysis("会议开始。要把安全放在第一的位置。要把质量放在第二的位置。", "zh")
    >>> reordered([text], random.Random(0)).texts
    ('会议开始。要把质量放在第二的位置。要把安全放在第一的位置。',)
    """
    if len(texts) != 1 or len(texts[0].spans) < 3:
        return None
    order = list(range(len(texts[0].spans)))
    if not coherent:
        while order == sorted(order):  # a shuffle may change nothing; there are two to change at least
            order[1:] = choices.sample(order[1:], len(order) - 1)
    elif is_traditional(texts[0].text):
        return None
    else:
        _exchange(order, exchangeable(texts[0].tagged_by(tagger)), choices, exchanges)
    return Rewritten((rearranged(texts[0], order),)) if order != sorted(order) else None


def _exchange(order: list[int], possible: Sequence[int], choices: random.Random, exchanges: int) -> None:
    """Let some sentences change places with the next one; the ones before and behind them stay, as was asked."""
    left = exchanges
    for at in choices.sample(possible, len(possible)):
        if left and order[at - 1 : at + 3] == list(range(at - 1, min(at + 3, len(order)))):
            order[at], order[at + 1] = at + 1, at
            left -= 1
