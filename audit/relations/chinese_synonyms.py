"""MR5 and MR6 of the study of Chinese systems: nouns and verbs become synonyms; the meaning stays."""

import random
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Literal

from audit.language import Analysis
from audit.language.chinese import chinese as tokens_of
from audit.language.chinese_characters import is_traditional
from audit.language.chinese_interchange import bounds, fits, pairs, replaceable
from audit.language.chinese_synonyms import THESAURI, best, thesaurus
from audit.language.text import Token
from audit.relations.base import Rewritten
from audit.relations.chinese import chinese, wrong_count
from audit.relations.substituting import substituted

_FAMILY = "synonym substitution"
_PARAMS: Mapping[str, object] = {"thesaurus": "cilin", "tagger": "jieba", "words": 1}


def _wrong(params: Mapping[str, object]) -> str | None:
    if params["thesaurus"] not in THESAURI:
        return f"thesaurus is {params['thesaurus']!r}; allowed are {', '.join(THESAURI)}"
    return wrong_count(params, "words")


@chinese(5, family=_FAMILY, params=_PARAMS, check_params=_wrong)
def nouns(
    texts: Sequence[Analysis],
    choices: random.Random,
    *,
    thesaurus: str = "cilin",
    tagger: str = "jieba",
    words: int = 1,
) -> Rewritten | None:
    """A noun is replaced by a synonym, wherever it stands; the output stays.

    >>> nouns([Analysis("他去看了医生。", "zh")], random.Random(0)).texts
    ('他去看了大夫。',)
    """
    return _exchanged("n", texts, choices, thesaurus, tagger, words)


@chinese(6, family=_FAMILY, params=_PARAMS, check_params=_wrong)
def verbs(
    texts: Sequence[Analysis],
    choices: random.Random,
    *,
    thesaurus: str = "cilin",
    tagger: str = "jieba",
    words: int = 1,
) -> Rewritten | None:
    """A verb is replaced by a synonym, wherever it stands; the output stays.

    >>> verbs([Analysis("老师称赞了小明。", "zh")], random.Random(0)).texts
    ('老师夸赞了小明。',)
    """
    return _exchanged("v", texts, choices, thesaurus, tagger, words)


def _exchanged(
    kind: Literal["n", "v"], texts: Sequence[Analysis], choices: random.Random, name: str, tagger: str, words: int
) -> Rewritten | None:
    """The follow-up with words of this kind replaced; none for texts in traditional characters, which the thesauri
    do not have."""
    if any(is_traditional(text.text) for text in texts):
        return None
    tagged = [text.tagged_by(tagger) for text in texts]
    found = _candidates(kind, tagged, name, tagger)
    new: dict[str, str] = {}
    made: Rewritten | None = None
    for word in choices.sample(sorted(found), len(found)):
        free = [other for other in found[word] if other not in new.values()]
        if not free:
            continue
        more = substituted(tagged, {**new, word: choices.choice(free)})
        if more is None:
            continue
        made, new = more, dict(more.words)
        if len(new) >= words:
            break
    return made


def _candidates(
    kind: Literal["n", "v"], texts: Sequence[Analysis], name: str, tagger: str
) -> dict[str, tuple[str, ...]]:
    """Words of the texts -> their best synonyms that fit at all of their places, and that no text has yet."""
    known = pairs()
    standing = [frozenset(token.text for token in text.tokens) for text in texts]
    places = [replaceable(text.tokens, kind) for text in texts]
    found: dict[str, tuple[str, ...]] = {}
    for word in sorted({word for one in places for word in one if (kind, word) in known}):
        if any(word in there and word not in one for one, there in zip(places, standing, strict=True)):
            continue
        spots = [(text.tokens, at) for one, text in zip(places, texts, strict=True) for at in one.get(word, [])]
        scored = best(thesaurus(name).synonyms(word))
        fitting = tuple(
            pair.new
            for pair in known[kind, word]
            if pair.new in scored
            and not any(pair.new in text.text for text in texts)
            and all(fits(tokens, at, pair) and _stays(tokens, at, pair.new, tagger) for tokens, at in spots)
        )
        if fitting:
            found[word] = fitting
    return found


def _stays(tokens: Sequence[Token], at: int, new: str, tagger: str) -> bool:
    """Whether the tagger still finds the same words around the new one, which it takes for one word: that no part of
    it makes a word with its neighbours."""
    start, end = bounds(tokens, at)
    around = tokens[start:end]
    expected = [new if start + index == at else token.text for index, token in enumerate(around)]
    gaps = [around[index + 1].start - token.end for index, token in enumerate(around[:-1])]
    text = "".join(word + " " * gap for word, gap in zip(expected, [*gaps, 0], strict=True))
    return _words(text, tagger) == tuple(expected)


@lru_cache(maxsize=1024)  # a long text says the same more than once, and each candidate is asked for
def _words(text: str, tagger: str) -> tuple[str, ...]:
    return tuple(token.text for token in tokens_of(text, tagger))
