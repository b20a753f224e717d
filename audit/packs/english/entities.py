"""Names in English texts replaced by others of the same kind, and persons of the other gender.

The parser's model says what is a name, lists of ours what may take its place: places of `data/lexicons/places.tsv`,
first names of `names.tsv`, which know a gender, and words that agree with one of `gendered.tsv`. A text in which the
two disagree, or that names more, makes no group.
"""

import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from audit.packs.english.emphasis import article
from audit.packs.english.meaning import asks, opens_quotation, put
from audit.packs.english.parser import names_in
from audit.packs.english.perturbations import SENTIMENT, UNSURE, parsed
from audit.packs.english.tagging import plural
from audit.relations.base import Rewritten, nothing
from audit.relations.uses import uses
from audit.resources import data_rows
from audit.text import Analysis
from audit.text.tokens import Token, words

_OTHER_NAMES = "other names"
_PAIRS = uses("inference", "similarity", "question-answering") | uses("summarization", carry=nothing)
"""A summary names what the text names, so what people say of one holds for no other."""
_PLACES, _PEOPLES = ("GPE", "LOC", "FAC"), ("NORP", "LANGUAGE")
"""Kinds of names that tell where something is, or whose it is."""


def renamed(texts: Sequence[Analysis], new: Mapping[str, str]) -> Rewritten | None:
    """All texts with each name replaced by its new one wherever it stands, "a" or "an" before it mended; None where
    there is none, or a name is also written in other capitals.

    >>> renamed([Analysis("An Ohio bank left Ohio.")], {"Ohio": "Texas"}).texts
    ('A Texas bank left Texas.',)
    """
    if not new:
        return None
    old = "|".join(re.escape(name) for name in sorted(new, key=len, reverse=True))
    exact = re.compile(rf"(?:(?P<article>\b[Aa]n?)(?P<gap> ))?(?<![\w])(?P<name>{old})(?![\w])")
    loose = re.compile(rf"(?<![\w])(?:{old})(?![\w])", re.IGNORECASE)

    def changed(match: re.Match[str]) -> str:
        other = new[match["name"]]
        return f"{article(match['article'], other)} {other}" if match["article"] else other

    if any(len(loose.findall(text.text)) != len(exact.findall(text.text)) for text in texts):
        return None
    return Rewritten(tuple(exact.sub(changed, text.text) for text in texts))


def _wanted(texts: Sequence[Analysis], names: set[str]) -> set[str]:
    """The names that may be replaced: of a question about a text those that both have, since others may be the answer;
    and none where the question offers a choice."""
    if not asks(texts):
        return names
    if re.search(r"\bor\b", texts[1].text):
        return set()
    return {name for name in names if all(name in text.text for text in texts)}


def _other(pool: Sequence[str], texts: Sequence[Analysis], new: Mapping[str, str]) -> list[str]:
    """Names that no text has and that nothing has become yet."""
    joined = "\n".join(text.text for text in texts)
    return [name for name in pool if name not in joined and name not in new.values()]


# Places.

_KNOWN_FOR = re.compile(
    r"\b(?:capital|language|river|Eiffel|Broadway|Manhattan|Brooklyn|Thames|Vatican|Kremlin|Olympics?|World War|"
    r"WW\w*|Nazis?|born|pope|king|queen|president|\w*(?:north|south|east|west)(?:ern)?|border|war|invasion|revolution|"
    r"centur\w+|miles|kilomet\w+|km|boroughs?|suburbs?|skyline|subway|canals?|casinos?|mafia|soldiers?|fighting|"
    r"archaeolog\w*|pyramids?|samurai|veterans?|leaders?|troops|bomb\w*|nuclear|remake|remade|desert|jungle|lakes?|"
    r"beach(?:es)?|cathedral|\d{4}(?:['’]?s)?)\b",
    re.IGNORECASE,
)
"""Words with which another place would be told false."""
_BEFORE, _BEHIND = re.compile(r"[@#/\-–&]$|[A-Z]\w*, $"), re.compile(r"['’]s [A-Z]|[-–&/@(]| & |, [A-Z]")
"""What beside a name makes it a part of a longer one: "Reno, Nevada"."""


@cache
def _places() -> tuple[Mapping[str, str], Mapping[str, tuple[str, ...]], re.Pattern[str]]:
    """Place -> its kind; kind -> its places; and how they are found."""
    by_kind = {kind: tuple(entries.split(";")) for kind, entries in data_rows("lexicons/places.tsv", 2)}
    kinds = {name: kind for kind, entries in by_kind.items() for name in entries}
    longest = sorted(kinds, key=lambda name: (-len(name), name))
    return kinds, by_kind, re.compile(rf"(?<![\w'’])(?:{'|'.join(map(re.escape, longest))})(?![\w])")


def _places_of(text: Analysis) -> set[str] | None:
    """The places of the lists that a text has; None where it may name others, or one of them is a part of a title or of
    a longer name."""
    found = list(_places()[2].finditer(text.text)) if _CAPITAL.search(text.text) else []
    if not found:
        return set()
    tokens, named = text.tokens, set()
    for first, last, kind in names_in(text):
        if kind in _PLACES:
            first += last - first > 1 and tokens[first].low == "the"
            named.add((tokens[first].start, tokens[last - 1].end))
    if named != {match.span() for match in found}:
        return None
    for match in found:
        before, after = text.text[: match.start()], text.text[match.end() :]
        if _BEFORE.search(before[-40:]) or _BEHIND.match(after) or opens_quotation(before):
            return None
    return {match.group() for match in found}


_CAPITAL = re.compile("[A-Z]")


@parsed("places", family=_OTHER_NAMES, tasks=SENTIMENT | UNSURE | _PAIRS, by="input", version="3")
def places(texts: Sequence[Analysis], choices: random.Random) -> Rewritten | None:
    """Places are replaced by others of the same kind: cities by cities of the same country, countries by their likes.

    Keeps who did what; may break facts that people know of a place (distances, weather, sights), and classes or
    summaries that name it.

    Alike in all texts, so that what followed still follows and what was similar is. No group where a text tells what a
    place is known for (its capital, language, war), names its people, sets a country or state beside a town of it, or
    may name a place that is none of the lists. Of a question only its own places, in the context too. Nothing is
    carried for a class, which may be about a place, and a summary, which names it.

    >>> places([Analysis("She flew from Oslo to Munich.")], random.Random(1)).texts
    ('She flew from Stavanger to Cologne.',)
    """
    kinds, by_kind, _ = _places()
    found = [_places_of(text) for text in texts]
    names = {name for own in found for name in own or ()}
    if None in found or not names or any(_KNOWN_FOR.search(text.text) for text in texts):
        return None
    towns = {name for name in names if kinds[name].startswith("cities")}
    peoples = any(kind in _PEOPLES for text in texts for *_, kind in names_in(text))
    if towns != names and (towns or peoples):
        return None
    new: dict[str, str] = {}
    for name in sorted(_wanted(texts, names)):
        free = [other for other in _other(by_kind[kinds[name]], texts, new) if other not in name and name not in other]
        if not free:
            return None
        new[name] = choices.choice(free)
    return renamed(texts, new)


# Persons.

TITLES = {"mr": "m", "mr.": "m", "ms": "f", "ms.": "f", "mrs": "f", "mrs.": "f", "miss": "f"}


@dataclass(frozen=True, slots=True)
class Person:
    """A person that a text names: first name and surname, either empty where it is not told; m, f, or empty."""

    first: str
    last: str
    gender: str


@cache
def genders() -> Mapping[str, str]:
    """First name -> m or f, of all names that are one of the two."""
    return {
        name: gender
        for gender, _, names in data_rows("lexicons/names.tsv", 3)
        if gender != "-"
        for name in names.split()
    }


@cache
def names_of(gender: str) -> tuple[str, ...]:
    """First names of a gender (m, f) that replace others, or surnames (-).

    >>> names_of("f")[:2]
    ('Susan', 'Sarah')
    """
    rows = [names for kind, use, names in data_rows("lexicons/names.tsv", 3) if (kind, use) == (gender, "new")]
    return tuple(" ".join(rows).split())


def persons_in(text: Analysis) -> list[Person] | None:
    """The persons that a text names, each mention one; None where a name cannot be read: part of a title, of a firm.

    >>> persons_in(Analysis("Mr. Lee met Alice Smith."))
    [Person(first='', last='Lee', gender='m'), Person(first='Alice', last='Smith', gender='f')]
    """
    capitals = re.findall(r"[A-Z]\w*", text.text)
    if genders().keys().isdisjoint(capitals) and not {"Mr", "Ms", "Mrs", "Miss"} & set(capitals):
        return []
    names = [(*_bare(text.tokens, first, last), kind) for first, last, kind in names_in(text)]
    inside = {at for first, last, _ in names for at in range(first, last)}
    # The model takes some first names for firms ("Helen has more books").
    names = [(first, last, "PERSON" if kind == "ORG" and last - first < 3 and _is_first(text.tokens[first]) else kind)
             for first, last, kind in names]  # fmt: skip
    alone = [(at, at + 1, "PERSON") for at, token in enumerate(text.tokens) if at not in inside and _is_first(token)]
    persons = [_person(text, first, last) for first, last, kind in sorted([*names, *alone]) if kind == "PERSON"]
    known = {name for person in persons if person for name in (person.first, person.last)} | genders().keys()
    others = [(first, last) for first, last, kind in names if kind != "PERSON"]
    shared = any(token.text in known for first, last in others for token in text.tokens[first:last])
    return None if None in persons or shared else [person for person in persons if person]


def _bare(tokens: Sequence[Token], first: int, last: int) -> tuple[int, int]:
    """A name without signs and "'s" around it."""
    while first < last - 1 and not tokens[last - 1].text[0].isalnum():
        last -= 1
    while first < last - 1 and not tokens[first].text[0].isalnum():
        first += 1
    return first, last


def _is_first(token: Token) -> bool:
    return token.text in genders() and token.tag.startswith("NNP")


def _person(text: Analysis, first: int, last: int) -> Person | None:
    """What a name says of a person, nothing where that is no first name and no title; None where it says more than a
    first name and a surname, or is a part of something: a handle, a title in a quotation."""
    tokens = text.tokens
    run = [token.text for token in tokens[first:last]]
    before = tokens[first - 1].text if first else ""
    title = TITLES.get(run[0].lower()) or (TITLES.get(before.lower(), "") if before[:1].isupper() else "")
    run = run[run[0].lower() in TITLES :]
    own = genders().get(run[0], "") if run else ""
    if not title and genders().keys().isdisjoint(run):
        return Person("", run[0], "") if len(run) == 1 else Person("", "", "")
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
    """The persons of all texts, each once, a surname or first name alone counted with its full name; None where one of
    the texts cannot be read."""
    by_text = [persons_in(text) for text in texts]
    if None in by_text:
        return None
    mentions = list(dict.fromkeys(person for persons in by_text for person in persons or ()))
    full = [person for person in mentions if person.first and person.last]
    known = {name for person in full for name in (person.first, person.last)}
    alone = {name: one for one in reversed(mentions) if one.gender and (name := one.first or one.last) not in known}
    return full + list(alone.values())[::-1]


@parsed("persons", family=_OTHER_NAMES, tasks=SENTIMENT | uses("classification") | _PAIRS, by="input", version="2")
def persons(texts: Sequence[Analysis], choices: random.Random) -> Rewritten | None:
    """Persons are named otherwise, by usual English names of the same gender.

    Keeps gender, and what is said of each person; may break what everybody knows of a famous one, and a class or
    summary that hangs on who it is.

    Alike in all texts, of a question only its own. Labels stay; a summary names the person, so nothing is carried
    there.

    >>> persons([Analysis("Alice Smith likes her job.")], random.Random(1)).texts
    ('Helen Bennett likes her job.',)
    """
    people = people_of(texts)
    if not people:
        return None
    asked = _wanted(texts, {name for person in people for name in (person.first, person.last) if name})
    new: dict[str, str] = {}
    for person in people:
        for name, pool in ((person.first, person.gender), (person.last, "-")):
            if name in asked and name not in new:
                free = _other(names_of(pool), texts, new)
                if not free:
                    return None
                new[name] = choices.choice(free)
    return renamed(texts, new)


# Fairness: nothing that a text says changes but of which gender a person is, so every label stays. All that agrees with
# the gender has to be told: pronouns, and nouns that have a pair.

_FAIRNESS = "fairness"
_LABELS = SENTIMENT | uses("classification", "inference", "similarity")
"""Tasks of labels. A gender may be the answer to a question, or stand in a summary."""
_EXCHANGED = {"he": "she", "him": "her", "himself": "herself", "she": "he", "herself": "himself"}
_PRONOUNS = _EXCHANGED.keys() | {"his", "her", "hers"}
_BODILY = words(
    "pregnant pregnancy birth beard moustache mustache breast breasts boobs tits womb uterus prostate penis vagina "
    "bra dick balls testicles menstruation menopause period lesbian lesbians gay gays transgender feminine masculine "
    "feminist feminism manly womanly nun nuns monk monks priest priests pope bishop bishops lord lords sir madam "
    "ma'am dude bro mankind womanizer mistress macho diva bitch bitches bastard nanny maid maiden virgin rape raped "
    "rapist mama's ladies' maternal paternal fatherhood motherhood brotherhood sisterhood masters guys guy gals "
    "chick chicks lad lads lass bachelor bachelorette prom husbandry cowboy cowboys fisherman fishermen surrogate "
    "fellow fellows breastfeeding breast-feeding fireman mailman postman mailbox witch wizard"
)
"""Words that go with one gender only, or have no pair."""
_FIXED = re.compile(
    r"\b(?:(?:he|she|his|hers?|him)(?:(?:/| or | and )(?:he|she|his|hers?|him)\b|/)|(?:himself or|s/he)\b|"
    r"mother(?:'s)? (?:tongue|nature|board|earth|day)|big brothers?|sister (?:compan|paper|ship)\w*|father time|"
    r"sons? of (?:a|bitch\w*)|grandfather cl\w+|oh,? (?:boy|man|brother)|soul sister|man up|wise man|the man|"
    r"dad jokes?|mommy issues|his holiness|god\b|father figure|blood brothers?|brothers? in arms)",
    re.IGNORECASE,
)
"""Both genders at once, and phrases that have one gender alone."""


@cache
def _pairs() -> Mapping[str, tuple[str, str]]:
    """Lower-cased noun -> the other gender's, and its kind: kin or role."""
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
    """All pronouns and nouns of a gender exchanged in all texts; None where there are none, one has no pair, or a text
    names a person, whose gender would stay. `kin`: only where a word for a relative is told; else only pronouns."""
    found = [
        [at for at, token in enumerate(text.tokens) if token.low in _PRONOUNS or token.low in _pairs()]
        for text in texts
        if not _FIXED.search(text.text) and _BODILY.isdisjoint(_WORD.findall(text.text.lower()))
    ]
    told = {text.tokens[at].low for text, places in zip(texts, found, strict=False) for at in places}
    relatives = {low for low in told if low in _pairs() and _pairs()[low][1] == "kin"}
    if len(found) < len(texts) or not told or (not relatives if kin else not told <= _PRONOUNS):
        return None
    if any(text.text == text.text.lower() or _names_more(text) for text in texts):
        return None
    new = []
    for text, places in zip(texts, found, strict=True):
        if any(_describes(text.tokens, at) for at in places):
            return None
        new.append(text.replace(put(text.tokens, {at: _exchanged(text.tokens, at) for at in places})))
    return Rewritten(tuple(new))


_WORD = re.compile(r"[a-z'-]+")


def _names_more(text: Analysis) -> bool:
    """Whether a text has a name that may be a person's, or a noun of a gender in a title: "The Godfather"."""
    harmless = (*_PLACES, *_PEOPLES, "DATE", "TIME")
    known = {at for first, last, kind in names_in(text) if kind in harmless for at in range(first, last)}
    return any(
        (token.tag.startswith("NNP") and token.text[0].isupper() and at not in known)
        or (token.low in _pairs() and token.text[0].isupper() and at and text.tokens[at - 1].text[0].isalnum())
        for at, token in enumerate(text.tokens)
    )  # fmt: skip


def _describes(tokens: Sequence[Token], at: int) -> bool:
    """Whether a noun stands before another one: "a woman senator"."""
    return tokens[at].low not in _PRONOUNS and at + 1 < len(tokens) and tokens[at + 1].tag[:2] == "NN"


def _exchanged(tokens: Sequence[Token], at: int) -> str:
    """The word of the other gender for a pronoun or noun."""
    token = tokens[at]
    if token.low == "her":
        new = "his" if token.tag == "PRP$" else "him"
    elif token.low in ("his", "hers"):
        owns = at + 1 < len(tokens) and tokens[at + 1].text[0] not in ".,;:!?)"
        new = "his" if token.low == "hers" else "her" if token.tag == "PRP$" and owns else "hers"
    else:
        new = _EXCHANGED.get(token.low) or _pairs()[token.low][0]
    if token.text.isupper() and len(token.text) > 1:
        return new.upper()
    return new[0].upper() + new[1:] if token.text[0].isupper() else new


@parsed("pronouns", family=_FAIRNESS, tasks=_LABELS, by="input", version="2")
def pronouns(texts: Sequence[Analysis], choices: random.Random) -> Rewritten | None:
    """A person who is "he" becomes "she" or the other way round, with "him", "his", "himself".

    Keeps what is said of the person; may break a hint at gender that no list of ours has, and facts of a known person
    whom nothing names.

    Only where no name and no noun tells the gender of anybody, so that nothing disagrees. Every label stays; a system
    whose output changes judges by gender.

    >>> pronouns([Analysis("He lost his key, so I gave him mine.")], random.Random(0)).texts
    ('She lost her key, so I gave her mine.',)
    """
    return _of_other_gender(texts, kin=False)


@parsed("kin-words", family=_FAIRNESS, tasks=_LABELS, by="input", version="2")
def kin_words(texts: Sequence[Analysis], choices: random.Random) -> Rewritten | None:
    """Relatives become those of the other gender: "brother" becomes "sister", with all other words of gender.

    Keeps how people are related; may break what goes with one gender alone without a word that says so, and the facts
    of a known family.

    Men and women change places in the whole text, pronouns among them, so that all agrees. No group where a name may
    tell a gender beside them. Every label stays.

    >>> kin_words([Analysis("My brother says he likes it.")], random.Random(0)).texts
    ('My sister says she likes it.',)
    """
    return _of_other_gender(texts, kin=True)
