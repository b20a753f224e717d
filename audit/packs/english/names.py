"""Names in English texts replaced by others of the same kind, and persons of the other gender.

The parser's model says what is a name, lists of ours what may take its place: places of `data/lexicons/places.tsv`,
first names of `names.tsv`, which know a gender, and words that agree with one of `gendered.tsv`. A text in which the
two disagree, or that names more, makes no group.
"""

import random
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import NamedTuple

from audit.packs.english.guard import article, in_case_of, put
from audit.packs.english.meaning import asks, opens_quotation
from audit.packs.english.parser import Word, names_in
from audit.packs.english.perturbations import SENTIMENT, UNSURE, parsed
from audit.packs.english.tagging import plural
from audit.packs.english.vocabulary import Lists, phrases
from audit.relations.base import Rewritten, nothing
from audit.relations.uses import uses
from audit.resources import data_rows
from audit.text import Analysis
from audit.text.tokens import Token

_OTHER_NAMES = "other names"
_PAIRS = uses("inference", "similarity", "question-answering") | uses("summarization", carry=nothing)
"""A summary names what the text names, so what people say of one holds for no other."""
_PLACES, _PEOPLES = ("GPE", "LOC", "FAC"), ("NORP", "LANGUAGE")
"""Kinds of names that tell where something is, or whose it is."""


def _any_of(names: Iterable[str]) -> str:
    return "|".join(re.escape(name) for name in sorted(names, key=lambda name: (-len(name), name)))


def renamed(texts: Sequence[Analysis], new: Mapping[str, str]) -> Rewritten | None:
    """Return all texts with each name replaced by its new one wherever it stands, "a" or "an" before it mended; None
    where there is none, or a name is also written in other capitals."""
    exact = re.compile(rf"(?:(?P<article>\b[Aa]n?)(?P<gap> ))?(?<![\w])(?P<name>{_any_of(new)})(?![\w])")
    loose = re.compile(rf"(?<![\w])(?:{_any_of(new)})(?![\w])", re.IGNORECASE)

    def changed(match: re.Match[str]) -> str:
        other = new[match["name"]]
        return f"{article(match['article'], other)} {other}" if match["article"] else other

    if not new or any(len(loose.findall(text.text)) != len(exact.findall(text.text)) for text in texts):
        return None
    return Rewritten(tuple(exact.sub(changed, text.text) for text in texts))


def _drawn(
    texts: Sequence[Analysis], pools: Mapping[str, Sequence[str]], choices: random.Random
) -> dict[str, str] | None:
    """Return a new name for each that may be replaced, of its pool and in none of the texts; None where one has none.

    Of a question about a text those may be replaced that both have, since others may be the answer; and none where the
    question offers a choice.
    """
    sought, joined = asks(texts), "\n".join(text.text for text in texts)
    new: dict[str, str] = {}
    for name, pool in pools.items():
        if sought and (re.search(r"\bor\b", texts[1].text) or not all(name in text.text for text in texts)):
            continue
        free = [other for other in pool if other not in joined and other not in new.values()]
        if not free:
            return None
        new[name] = choices.choice(free)
    return new


# Places.

_KNOWN_FOR = phrases("names.known_for")
"""Words with which another place would be told false."""
_BEFORE, _BEHIND = re.compile(r"[@#/\-–&]$|[A-Z]\w*, $"), re.compile(r"['’]s [A-Z]|[-–&/@(]| & |, [A-Z]")
"""What beside a name makes it a part of a longer one: "Reno, Nevada"."""


@cache
def _places() -> tuple[Mapping[str, str], Mapping[str, tuple[str, ...]], re.Pattern[str]]:
    """Return place -> its kind; kind -> its places; and how they are found."""
    by_kind = {kind: tuple(entries.split(";")) for kind, entries in data_rows("lexicons/places.tsv", 2)}
    kinds = {name: kind for kind, entries in by_kind.items() for name in entries}
    return kinds, by_kind, re.compile(rf"(?<![\w'’])(?:{_any_of(kinds)})(?![\w])")


def _places_of(text: Analysis) -> set[str] | None:
    """Return the places of the lists that a text has."""
    matches = list(_places()[2].finditer(text.text)) if re.search("[A-Z]", text.text) else []
    tokens, named = text.tokens if matches else (), set()
    for first, last, kind in names_in(text) if matches else ():
        if kind in _PLACES:
            first += last - first > 1 and tokens[first].low == "the"
            named.add((tokens[first].start, tokens[last - 1].end))
    if named != {match.span() for match in matches}:
        return None
    for match in matches:
        before, after = text.text[: match.start()], text.text[match.end() :]
        if _BEFORE.search(before[-40:]) or _BEHIND.match(after) or opens_quotation(before):
            return None
    return {match.group() for match in matches}


@parsed("places", family=_OTHER_NAMES, tasks=SENTIMENT | UNSURE | _PAIRS, by="input", version="3")
def places(texts: Sequence[Analysis], choices: random.Random) -> Rewritten | None:
    """Places are replaced by others of the same kind: cities by cities of a country, countries by their likes."""
    kinds, by_kind, pattern = _places()
    if not any(pattern.search(text.text) for text in texts) or any(
        _KNOWN_FOR.search(text.text.lower()) for text in texts
    ):
        return None
    of_texts = [_places_of(text) for text in texts]
    names = {name for own in of_texts for name in own or ()}
    towns = {name for name in names if kinds[name].startswith("cities")}
    if None in of_texts or not names or (towns and towns != names):
        return None
    if not towns and any(kind in _PEOPLES for text in texts for *_, kind in names_in(text)):
        return None
    pools = {
        name: [other for other in by_kind[kinds[name]] if other not in name and name not in other]
        for name in sorted(names)
    }
    return renamed(texts, _drawn(texts, pools, choices) or {})


# Persons.

_TITLES = {"mr": "m", "mr.": "m", "ms": "f", "ms.": "f", "mrs": "f", "mrs.": "f", "miss": "f"}


class Person(NamedTuple):
    """A person that a text names: first name and surname, either empty where it is not told; m, f, or empty."""

    first: str
    last: str
    gender: str


@cache
def _genders() -> Mapping[str, str]:
    """Return first name -> m or f, of all names that are one of the two."""
    rows = (row for row in data_rows("lexicons/names.tsv", 3) if row[0] != "-")
    return {name: gender for gender, _, names in rows for name in names.split()}


@cache
def names_of(gender: str) -> tuple[str, ...]:
    """Return the first names of a gender (m, f) that replace others, or surnames (-)."""
    rows = [names for kind, use, names in data_rows("lexicons/names.tsv", 3) if (kind, use) == (gender, "new")]
    return tuple(" ".join(rows).split())


def persons_in(text: Analysis) -> list[Person] | None:
    """Return the persons that a text names, each mention one; None where a name cannot be read: part of a title, of a
    firm."""
    if (_genders().keys() | {"Mr", "Ms", "Mrs", "Miss"}).isdisjoint(re.findall(r"[A-Z]\w*", text.text)):
        return []
    names = []
    for first, last, kind in names_in(text):  # without signs and "'s" around it
        inner = [at for at in range(first, last) if text.tokens[at].text[0].isalnum()] or [first]
        names.append((inner[0], inner[-1] + 1, kind))
    inside = {at for first, last, _ in names for at in range(first, last)}
    # The model takes some first names for firms ("Helen has more books").
    names = [(first, last, "PERSON" if kind == "ORG" and last - first < 3 and _is_first(text.tokens[first]) else kind)
             for first, last, kind in names]  # fmt: skip
    alone = [(at, at + 1, "PERSON") for at, token in enumerate(text.tokens) if at not in inside and _is_first(token)]
    persons = [_person(text, first, last) for first, last, kind in sorted([*names, *alone]) if kind == "PERSON"]
    if any(_is_first(token) and _describes_things(text.tokens, token) for token in text.tokens):
        return None
    name_words = {name for person in persons if person for name in (person.first, person.last)} | _genders().keys()
    others = [(first, last) for first, last, kind in names if kind != "PERSON"]
    shared = any(token.text in name_words for first, last in others for token in text.tokens[first:last])
    return None if None in persons or shared else [person for person in persons if person]


def _is_first(token: Token) -> bool:
    return token.text in _genders() and token.tag.startswith("NNP")


def _describes_things(tokens: Sequence[Token], name: Token) -> bool:
    """Return whether a name stands before what it describes: "Norman families"."""
    if not isinstance(name, Word) or name.relation not in ("compound", "amod", "nmod") or name.head != name.index + 1:
        return False
    return tokens[name.head].tag in ("NN", "NNS") and tokens[name.head].text.islower()


def _person(text: Analysis, first: int, last: int) -> Person | None:
    """Return what a name says of a person, nothing where that is no first name and no title."""
    tokens = text.tokens
    run = [token.text for token in tokens[first:last]]
    before = tokens[first - 1].text if first else ""
    title = _TITLES.get(run[0].lower()) or (_TITLES.get(before.lower(), "") if before[:1].isupper() else "")
    run = run[run[0].lower() in _TITLES :]
    own = _genders().get(run[0], "") if run else ""
    if not title and _genders().keys().isdisjoint(run):
        return Person("", run[0] if len(run) == 1 else "", "")
    start, end = tokens[first].start, tokens[last - 1].end
    joined = re.search(r"[-@#/.&]$|& $", text.text[:start]) or re.match(r"[-&/]| &", text.text[end:])
    longer = not title and re.search(r"\b[A-Z]\. $", text.text[:start]) is not None  # "Samuel L. Jackson"
    longer |= not title and before[:1].isupper() and first > 1 and tokens[first - 1].tag.startswith("NNP")
    quoted = before in ('"', "“") and text.text[end : end + 1] in ('"', "”")
    plain = all(re.fullmatch(r"[A-Z][a-z]+(?:['’-]?[A-Z][a-z]+)?|[A-Z]", word) for word in run)
    if not run or len(run) > 2 or not plain or joined or longer or quoted:
        return None
    if len(run) == 2:
        return Person(run[0], run[1], title or own) if own and len(run[1]) > 1 else None
    return Person(run[0], "", own) if own and not title else Person("", run[0], title)


def people_of(texts: Sequence[Analysis]) -> list[Person] | None:
    """Return the persons of all texts, each once, a surname or first name alone counted with its full name; None where
    one of the texts cannot be read."""
    by_text = [persons_in(text) for text in texts]
    if None in by_text:
        return None
    mentions = list(dict.fromkeys(person for persons in by_text for person in persons or ()))
    full = [person for person in mentions if person.first and person.last]
    name_words = {name for person in full for name in (person.first, person.last)}
    named = ((person.first or person.last, person) for person in reversed(mentions) if person.gender)
    alone = {name: person for name, person in named if name not in name_words}
    return full + list(alone.values())[::-1]


@parsed("persons", family=_OTHER_NAMES, tasks=SENTIMENT | uses("classification") | _PAIRS, by="input", version="3")
def persons(texts: Sequence[Analysis], choices: random.Random) -> Rewritten | None:
    """Persons are named otherwise, by usual English names of the same gender."""
    pools: dict[str, tuple[str, ...]] = {}
    for person in people_of(texts) or ():
        for name, pool in ((person.first, person.gender), (person.last, "-")):
            if name:
                pools.setdefault(name, names_of(pool))
    return renamed(texts, _drawn(texts, pools, choices) or {})


# Fairness: nothing that a text says changes but of which gender a person is, so every label stays. All that agrees with
# the gender has to be told: pronouns, and nouns that have a pair.

_FAIRNESS = "fairness"
_LABELS = SENTIMENT | uses("classification", "inference", "similarity")
"""Tasks of labels. A gender may be the answer to a question, or stand in a summary."""
_EXCHANGED = {"he": "she", "him": "her", "himself": "herself", "she": "he", "herself": "himself"}
_PRONOUNS = _EXCHANGED.keys() | {"his", "her", "hers"}
_FIXED = re.compile(
    r"\b(?:(?:he|she|his|hers?|him)(?:(?:/| or | and )(?:he|she|his|hers?|him)\b|/)|"
    rf"{phrases('names.of_a_gender').pattern})"
)
"""Both genders at once, and phrases that have one gender alone."""


@cache
def _gendered() -> Mapping[str, tuple[str, str]]:
    """Return lower-cased noun -> the other gender's, and its kind: kin or role."""
    entries: dict[str, tuple[str, str]] = {}
    for his, hers, kind in data_rows("lexicons/gendered.tsv", 3):
        for mine, theirs in ((his, hers), (hers, his)) if kind != "title" else ():
            entries[mine] = (theirs, kind)
            if mine not in ("male", "female"):
                entries[_several(mine)] = (_several(theirs), kind)
    return entries


def _several(noun: str) -> str:
    head, dash, rest = noun.partition("-in-law")
    return f"{noun[:-3]}men" if noun.endswith("man") else f"{plural(head) or head + 's'}{dash}{rest}"


def _of_other_gender(texts: Sequence[Analysis], kin: bool) -> Rewritten | None:
    """Return the texts with all pronouns and nouns of a gender exchanged."""
    pairs, low = _gendered(), [text.text.lower() for text in texts]
    told = [set(re.findall(r"[a-z'-]+", text)) for text in low]
    nouns = {word for words in told for word in words if word in pairs}
    pronouns = any(words & _PRONOUNS for words in told)
    fits = any(pairs[word][1] == "kin" for word in nouns) if kin else pronouns and not nouns
    bodily = any(words & Lists("names").bodily or _FIXED.search(text) for words, text in zip(told, low, strict=True))
    if (
        not fits
        or bodily
        or any(text.text == small or _names_more(text) for text, small in zip(texts, low, strict=True))
    ):
        return None
    new = []
    for text in texts:
        gendered = [at for at, token in enumerate(text.tokens) if token.low in _PRONOUNS or token.low in pairs]
        after = [
            text.tokens[at + 1].tag[:2] for at in gendered if text.tokens[at].low in pairs and text.tokens[at + 1 :]
        ]
        if "NN" in after:  # "a woman senator"
            return None
        new.append(text.replace(put(text.tokens, {at: _exchanged(text.tokens, at) for at in gendered})))
    return Rewritten(tuple(new))


def _names_more(text: Analysis) -> bool:
    """Return whether a text has a name that may be a person's, or a noun of a gender in a title: "The Godfather"."""
    harmless = (*_PLACES, *_PEOPLES, "DATE", "TIME")
    harmless_places = {at for first, last, kind in names_in(text) if kind in harmless for at in range(first, last)}
    return any(
        token.text[0].isupper()
        and ((token.tag.startswith("NNP") and at not in harmless_places)
             or (token.low in _gendered() and at > 0 and text.tokens[at - 1].text[0].isalnum()))
        for at, token in enumerate(text.tokens)
    )  # fmt: skip


def _exchanged(tokens: Sequence[Token], at: int) -> str:
    """Return the word of the other gender for a pronoun or noun."""
    token = tokens[at]
    if token.low == "her":
        very = at + 1 < len(tokens) and tokens[at + 1].low in ("very", "own")  # "did her very best"
        new = "his" if very or token.tag == "PRP$" else "him"
    elif token.low in ("his", "hers"):
        owns = at + 1 < len(tokens) and tokens[at + 1].text[0] not in ".,;:!?)"
        new = "his" if token.low == "hers" else "her" if token.tag == "PRP$" and owns else "hers"
    else:
        new = _EXCHANGED.get(token.low) or _gendered()[token.low][0]
    return in_case_of(token.text, new)


@parsed("pronouns", family=_FAIRNESS, tasks=_LABELS, by="input", version="2")
def pronouns(texts: Sequence[Analysis], choices: random.Random) -> Rewritten | None:
    """A person who is "he" becomes "she" or the other way round, with "him", "his", "himself"."""
    return _of_other_gender(texts, kin=False)


@parsed("kin-words", family=_FAIRNESS, tasks=_LABELS, by="input", version="2")
def kin_words(texts: Sequence[Analysis], choices: random.Random) -> Rewritten | None:
    """Relatives become those of the other gender: "brother" becomes "sister", with all other words of gender."""
    return _of_other_gender(texts, kin=True)
