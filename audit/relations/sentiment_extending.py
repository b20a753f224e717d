"""MR6.1 and MR6.2 of the task `sentiment`: sentences of known sentiment are added to a document one by one.

Source: Jiang, Chen, Wang, "On the effectiveness of testing sentiment analysis systems with metamorphic testing"
(Information and Software Technology 150, 2022), section 4.3.2 (2). The study took its sentences from its own data; ours
are written for audit (data/sentences), so that their sentiment is beyond doubt; they are about a film, and cohere with
few other texts.
"""

import random
from collections.abc import Mapping
from functools import lru_cache, partial

from audit.language import Analysis
from audit.relations.carry import stays
from audit.relations.expect import goes_down, goes_up
from audit.relations.registry import plain
from audit.resources import data_file

_FAMILY = "adding sentences"
_ADDED = 3


def wrong_number(params: Mapping[str, object], label: str) -> str | None:
    """What is wrong with the parameter `sentences`; None: nothing.

    >>> wrong_number({"sentences": 1}, "positive")[:44]
    'sentences is 1; the study adds at least 2, a'
    """
    count, known = params["sentences"], sentences_of(label)
    if isinstance(count, int) and 2 <= count <= len(known):
        return None
    return f"sentences is {count}; the study adds at least 2, and there are {len(known)}"


@plain(
    "MR6.1",
    task="sentiment",
    family=_FAMILY,
    unit="document",
    check=goes_up,
    carry=stays("positive"),
    params={"sentences": _ADDED},
    check_params=partial(wrong_number, label="positive"),
)
def more_positive(text: Analysis, choices: random.Random, sentences: int = _ADDED) -> list[str]:
    """Positive sentences are added one by one; the sentiment keeps going up.

    >>> more_positive(Analysis("It is long."), random.Random(0))[0].startswith("It is long. ")
    True
    """
    return _extended(text, _chosen("positive", sentences, choices))


@plain(
    "MR6.2",
    task="sentiment",
    family=_FAMILY,
    unit="document",
    check=goes_down,
    carry=stays("negative"),
    params={"sentences": _ADDED},
    check_params=partial(wrong_number, label="negative"),
)
def more_negative(text: Analysis, choices: random.Random, sentences: int = _ADDED) -> list[str]:
    """Negative sentences are added one by one; the sentiment keeps going down.

    >>> len(more_negative(Analysis("It is long."), random.Random(0)))
    3
    """
    return _extended(text, _chosen("negative", sentences, choices))


def _chosen(label: str, count: int, choices: random.Random) -> list[str]:
    return choices.sample(sentences_of(label), count)


@lru_cache(maxsize=2)
def sentences_of(label: str) -> tuple[str, ...]:
    """The sentences of this label, "positive" or "negative", from data/sentences.

    >>> len(sentences_of("positive")) >= 60
    True
    """
    lines = data_file(f"sentences/{label}.txt").read_text(encoding="utf-8").splitlines()
    return tuple(line for line in lines if line)


def _extended(text: Analysis, added: list[str]) -> list[str]:
    """The document with the first, the first two, ... of the sentences at its end."""
    made: list[str] = []
    whole = text.text.rstrip()
    if whole and whole[-1].isalnum():
        whole += "."
    between = _separator(text)
    # A corpus in lower case gets its new sentences in lower case, or they would stand out.
    lower = text.text == text.text.lower()
    for sentence in added:
        whole += between + (sentence.lower() if lower else sentence)
        made.append(whole)
    return made


def _separator(text: Analysis) -> str:
    """A line break where every sentence of the document has its own line, else a space."""
    edges = zip(text.spans, text.spans[1:], strict=False)
    gaps = [text.text[before[1] : after[0]] for before, after in edges]
    lines = sum("\n" in gap for gap in gaps)
    return "\n" if gaps and 2 * lines > len(gaps) else " "
