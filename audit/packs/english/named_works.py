"""Perturbations of opinions on films: what they name is explained.

The sentences and names are ours, in `data/sentences`; they stand in for the encyclopaedia that TextFlint's AddSum takes
its summaries from (Wang et al. 2021, section 3).
"""

import random
import re
from collections.abc import Mapping
from functools import cache

from audit.packs.english.perturbations import appended, ends
from audit.relations.perturbations import perturbation, uses
from audit.resources import data_file
from audit.text import Analysis

_NAMED = "facts about what is named"
_NOT_THE_FILM = re.compile(
    r"""["']?\s+(?:\d|[IVX]+\b|(?:part|trilogy|series|films|movies|saga|episode|and the)\b)""", re.IGNORECASE
)
"""What follows a title where another film, or several, are meant."""


_NOT_ONLY_FILMS = frozenset(
    {"scary movie", "sin city", "friday the 13th", "american beauty", "home alone", "super size me"}
)
"""Titles that are common words as well."""


@cache
def sentences_about(kind: str) -> Mapping[str, str]:
    """Name -> a plain sentence about it, of a file of data/sentences.

    >>> sentences_about("people")["Tom Hanks"]
    'Tom Hanks is an American actor who was born in California in 1956.'
    >>> len(sentences_about("people")) >= 40, len(sentences_about("films")) >= 40
    (True, True)
    """
    lines = data_file(f"sentences/{kind}.tsv").read_text(encoding="utf-8").splitlines()
    name_and_sentence = (line.split("\t") for line in lines if line and not line.startswith("#"))
    return dict(name_and_sentence)


@cache
def _names(kind: str) -> re.Pattern[str]:
    names = sorted(sentences_about(kind), key=len, reverse=True)
    return re.compile(r"(?<![\w-])(?:" + "|".join(map(re.escape, names)) + r")(?![\w-])", re.IGNORECASE)


def _mentions(kind: str, text: str) -> list[re.Match[str]]:
    """Where a text names one of a file, spelt as there, or all in small letters in a text that is."""
    low = text.islower()
    own = {name.lower(): name for name in sentences_about(kind)}
    return [
        match
        for match in _names(kind).finditer(text)
        if (low and " " in match.group()) or match.group() == own[match.group().lower()]
    ]


def _explained(kind: str, text: Analysis, choices: random.Random) -> str | None:
    named = sorted({match.group().lower() for match in _mentions(kind, text.text)})
    if not named or not ends(text.text):
        return None
    by_name = {name.lower(): sentence for name, sentence in sentences_about(kind).items()}
    return appended(text, by_name[choices.choice(named)])


@perturbation("person-summary-added", family=_NAMED, tasks=uses("sentiment"))
def person_summary_added(text: Analysis, choices: random.Random) -> str | None:
    """A plain fact about a person whom the text names stands at its end.

    Keeps every sentence of the review; may break its thread, and the reference where somebody else of that name is
    meant.

    The facts are those of `data/sentences/people.tsv`: where and when somebody was born. They praise and blame nothing,
    so the label stays.

    >>> person_summary_added(Analysis("Tom Hanks is wonderful here."), random.Random(0))
    'Tom Hanks is wonderful here. Tom Hanks is an American actor who was born in California in 1956.'
    """
    return _explained("people", text, choices)


@perturbation("film-summary-added", family=_NAMED, tasks=uses("sentiment"), version="2")
def film_summary_added(text: Analysis, choices: random.Random) -> str | None:
    """A plain fact about a film that the text names stands at its end.

    Keeps every sentence of the review; may break its thread, and the reference where another film of the title or of
    its series is meant.

    The facts are those of `data/sentences/films.tsv`: who directed it, and when it came out. The label stays. Not of
    sequels, nor of titles that are common words as well.

    >>> film_summary_added(Analysis("It is no Blade Runner, but I liked it."), random.Random(0)).partition(". ")[2]
    '"Blade Runner" is an American film that was released in 1982 and directed by Ridley Scott.'
    """
    mentions = _mentions("films", text.text)
    if any(m.group().lower() in _NOT_ONLY_FILMS or _NOT_THE_FILM.match(text.text, m.end()) for m in mentions):
        return None
    return _explained("films", text, choices)
