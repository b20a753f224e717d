"""Named entities of English texts replaced by others of the same kind, alike in all texts of an input.

Places are those of a list (`data/lexicons/places.tsv`); persons are told by first names (`names.tsv`) and titles. Lists
and not a model's entities: what replaces a name has to be of the same kind, gender and country, which no model says.
"""

import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from audit.packs.english.emphasis import article
from audit.packs.english.meaning import SENTIMENT, UNSURE, asks, lexicon_lines, opens_quotation
from audit.packs.english.perturbations import TOOLS
from audit.packs.english.vocabulary import FUNCTION_WORDS
from audit.relations.base import Rewritten, nothing
from audit.relations.perturbations import joint_perturbation, uses
from audit.text import Analysis
from audit.text.tokens import words

_FAMILY = "other names"
_PAIRS = uses("inference", "similarity", "question-answering") | uses("summarization", carry=nothing)
"""A summary names what the text names, so what people say of one holds for no other."""
PLACED = SENTIMENT | UNSURE | _PAIRS

# Names that stand in lists.


@dataclass(frozen=True, slots=True)
class _Gazetteer:
    """Names of several kinds, and how they are found in a text."""

    kinds: Mapping[str, str]
    """Name -> its kind."""
    names: Mapping[str, tuple[str, ...]]
    """Kind -> its names."""
    pattern: re.Pattern[str]
    beginnings: frozenset[str]
    """First words of the names, without which no text is searched: the pattern is slow."""

    def find(self, text: str) -> set[str] | None:
        """The names that a text has, by themselves; None where one is a part of another name, as in "New York Times"
        and "University of California", or of a title."""
        if self.beginnings.isdisjoint(_CAPITALS.findall(text)):
            return set()
        found = list(self.pattern.finditer(text))
        alone = all(_stands_alone(text, *match.span()) and not self._is_titled(text, match.start()) for match in found)
        return {match.group() for match in found} if alone else None

    def _is_titled(self, text: str, start: int) -> bool:
        """Whether a capital that is none of the names' stands near before one: "Lost in New York"."""
        near = _NEAR_BEFORE.search(text[:start])
        return near is not None and not any(name.endswith(near["word"]) for name in self.kinds)


_NEAR_BEFORE = re.compile(
    r"\b(?P<word>[A-Z][a-z][\w'’]*),? (?:in|of|to|from|at|on|for|by|with|and|the|a)(?: the| a)? $"
)
_CAPITALS = re.compile(r"\b(?:St\.|[A-Z][\w-]*|the(?= [A-Z]))")
_OPENERS = words("in at from to for by with on and but or of when where if the as is was since near outside while both")


def _stands_alone(text: str, start: int, end: int) -> bool:
    """Whether a name is no part of a longer one."""
    if re.match(
        r"(?:['’]s)? (?:[A-Z]|of [A-Z])|[-–&/@(]|\.\w| & |['’]s [A-Z]|, [A-Z][a-z]{2,4}\.|, [A-Z]{2}\b|, [A-Z]\.",
        text[end : end + 9],
    ):
        return False
    if re.search(r"[@#/\-–&.]$|& $|[\"“‘']$", text[max(0, start - 2) : start]) or _in_quotation(text, start):
        return False
    if re.search(r"[A-Z]\w*, $", text[:start]):
        return False  # "Reno, Nevada"
    before = re.search(r"([\w.'’]+) (?:of (?:the )?)?$", text[max(0, start - 40) : start])
    if before is None or not before.group(1)[:1].isupper():
        return True
    opens = re.search(r"(?:^|[.!?:]['\"”)]* +|\n)$", text[: max(0, start - 40) + before.start()]) is not None
    return opens and before.group(1).lower() in _OPENERS


def _in_quotation(text: str, start: int) -> bool:
    """Whether a place of a text stands between quotation marks, which are closed on their line."""
    return opens_quotation(text[text.rfind("\n", 0, start) + 1 : start])


@cache
def _places() -> _Gazetteer:
    names = {kind: tuple(entries.split(";")) for kind, entries in lexicon_lines("places", 2)}
    kinds = {name: kind for kind, entries in names.items() for name in entries}
    longest = sorted(kinds, key=lambda name: (-len(name), name))
    pattern = re.compile(rf"(?<![\w'’])(?:{'|'.join(map(re.escape, longest))})(?![\w])")
    return _Gazetteer(kinds, names, pattern, frozenset(re.split(r"[ ']", name)[0] for name in kinds))


def _names_of_all(gazetteer: _Gazetteer, texts: Sequence[Analysis]) -> set[str] | None:
    """The names that the texts have; None where one of them cannot be replaced wherever it stands."""
    found = [gazetteer.find(text.text) for text in texts]
    return None if None in found else {name for names in found for name in names or ()}


def _chosen(gazetteer: _Gazetteer, names: set[str], texts: Sequence[str], choices: random.Random) -> dict[str, str]:
    """Each of the names -> another of its kind that no text has; nothing where one of them has none."""
    joined = "\n".join(texts)
    new: dict[str, str] = {}
    for name in sorted(names):
        others = gazetteer.names[gazetteer.kinds[name]]
        nested = [other for other in others if other in name or name in other]
        free = [other for other in others if other not in joined and other not in new.values() and other not in nested]
        if not free:
            return {}
        new[name] = choices.choice(free)
    return new


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

    def put(match: re.Match[str]) -> str:
        other = new[match["name"]]
        return f"{article(match['article'], other)} {other}" if match["article"] else other

    results = []
    for text in texts:
        if len(loose.findall(text.text)) != len(exact.findall(text.text)):
            return None
        results.append(exact.sub(put, text.text))
    return Rewritten(tuple(results))


def wanted(texts: Sequence[Analysis], names: set[str]) -> set[str]:
    """The names that may be replaced: of a question about a text those that both have, since others may be the answer;
    and none where the question offers a choice."""
    if not asks(texts):
        return names
    context, question = texts
    if re.search(r"\bor\b", question.text):
        return set()
    return {name for name in names if name in question.text and name in context.text}


# Places.

_PEOPLES = words(
    "french german italian spanish portuguese austrian swedish norwegian danish finnish belgian hungarian polish greek "
    "irish swiss romanian bulgarian croatian japanese indian thai vietnamese malaysian indonesian pakistani iraqi "
    "iranian syrian lebanese kuwaiti kenyan nigerian ghanaian ethiopian moroccan tunisian algerian egyptian brazilian "
    "argentine peruvian bolivian venezuelan colombian mexican cuban dutch russian chinese british english scottish "
    "american canadian australian african asian european turkish israeli texan californian parisian londoner "
    "germans italians swedes iraqis mexicans indians russians frenchman germany's nazi nazis nazism"
)
_KNOWN_FOR = re.compile(
    r"\b(?:capital|language|river|Eiffel|Broadway|Hollywood|Manhattan|Brooklyn|Harlem|Thames|Vatican|Kremlin|Olympics?|"
    r"World War|WW|Nazis?|Beatles|born|pope|king|queen|president|north|south|east|west|northern|southern|eastern|"
    r"western|border|war|invasion|revolution|centur\w+|Scots?|miles|kilomet\w+|km|boroughs?|suburbs?|skyline|subway|"
    r"canals?|casinos?|mafia|WW\w+|Vietnam|soldiers?|fighting|archaeolog\w*|pyramids?|samurai|veterans?|leaders?|Hitler|troops|bomb\w*|nuclear|remake|remade|desert|jungle|lakes?|beach(?:es)?|cathedral|\d{4}(?:['’]?s)?)\b",
    re.IGNORECASE,
)
"""Words with which another place would be told false."""
_BESIDE = re.compile(
    r"\b(?:in|from|to|near|at|into|outside|around|across|of|between|and|or|through|via|the) (?:the )?"
    r"(?P<name>[A-Z][\w.'’-]*(?: [A-Z][\w'’-]*)*)|\b(?P<land>USA?|U\.S\.(?:A\.)?|UK|England|Britain|America|Europe|"
    r"Asia|Africa|Scotland|Wales|Russia|China|Canada|Australia|Holland|Israel|Hollywood|Bollywood)\b"
)
"""What may be another place beside those of the list."""


@joint_perturbation("places", family=_FAMILY, tasks=PLACED, version="2")
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
    gazetteer = _places()
    names = _names_of_all(gazetteer, texts)
    if not names or any(_KNOWN_FOR.search(text.text) for text in texts):
        return None
    towns = {name for name in names if gazetteer.kinds[name].startswith("cities")}
    if towns and towns != names:
        return None
    if any(_has_more(text.text, names) for text in texts):
        return None
    if not towns and any(not _PEOPLES.isdisjoint(re.findall(r"[a-z']+", text.text.lower())) for text in texts):
        return None
    return renamed(texts, _chosen(gazetteer, wanted(texts, names), [text.text for text in texts], choices))


def _has_more(text: str, names: set[str]) -> bool:
    """Whether a text may name another place than these, which would be left as it is."""
    return any(match["land"] or not _begins(match["name"], names) for match in _BESIDE.finditer(text))


def _begins(found: str, names: set[str]) -> bool:
    return any(found == name or found.startswith((f"{name}'", f"{name}’", f"{name}.")) for name in names)


# Persons.

TITLES = {"mr": "m", "mr.": "m", "ms": "f", "ms.": "f", "mrs": "f", "mrs.": "f", "miss": "f"}
_NEUTRAL_TITLES = words(
    "dr prof professor doctor judge senator captain sen rep gov gen lt col capt sgt rev president minister director "
    "actor actress inspector detective governor mayor general colonel sergeant officer justice attorney aunt uncle"
)
_NO_SURNAMES = words(
    "University College School Street Road Avenue Hospital Museum Library Park Center Centre Award Awards Show Film "
    "Films Studio Studios Inc Corp Co Brothers House Club Bridge Church Square Prize Lake River Mountain Day Cup "
    "Foundation Institute Hall Island Bay Town City County Group Bank Press Theatre Theater Hotel Court Act Bros "
    "Test Bond Station Airport Stadium Tower Company Movie Story And The Of In I Jr Sr II III"
)


@dataclass(frozen=True, slots=True)
class Person:
    """A person that a text names: first name and surname, either empty where it is not told; m, f, or empty."""

    first: str
    last: str
    gender: str


@cache
def genders() -> Mapping[str, str]:
    """First name -> m or f, of all names that are one of the two."""
    return {name: gender for gender, _, names in lexicon_lines("names", 3) if gender != "-" for name in names.split()}


@cache
def names_of(gender: str) -> tuple[str, ...]:
    """First names of a gender (m, f) that replace others, or surnames (-).

    >>> names_of("f")[:2]
    ('Susan', 'Sarah')
    """
    return tuple(
        name for kind, use, names in lexicon_lines("names", 3) if (kind, use) == (gender, "new")
        for name in names.split()
    )  # fmt: skip


def persons_in(text: Analysis) -> list[Person] | None:
    """The persons that a text names, each mention one; None where a name cannot be read: part of a title, of a firm.

    >>> persons_in(Analysis("Mr. Lee met Alice Smith."))
    [Person(first='', last='Lee', gender='m'), Person(first='Alice', last='Smith', gender='f')]
    """
    capitals = re.findall(r"[A-Z]\w*", text.text)
    if genders().keys().isdisjoint(capitals) and not {"Mr", "Ms", "Mrs", "Miss"} & set(capitals):
        return []
    tokens = text.tokens
    persons, index = [], 0
    while index < len(tokens):
        title = TITLES.get(tokens[index].low, "") if tokens[index].text[0].isupper() else ""
        start = index + bool(title)
        end = start
        while (
            end < len(tokens)
            and _is_name(tokens[end].text)
            and (end == start or tokens[end].start - tokens[end - 1].end <= 1)
        ):
            end += 1
            if end < len(tokens) and tokens[end].text == "." and len(tokens[end - 1].text) == 1 and end - start > 1:
                end += 1  # an initial
        run = [token.text for token in tokens[start:end] if token.text != "."]
        named = bool(title) or any(word in genders() for word in run)
        if named and run:
            opened = index == 0 or tokens[index - 1].text in (".", "!", "?", "...", '"', "“", ":", ";", "-", "--")
            person = _person(run, title, opened and not title, tokens[start].tag)
            if person is None or _goes_on(text, start - bool(title), end) or _quoted(text, start, end):
                return None
            persons += [person] if person.first or person.last else []
        index = max(end, start + 1)
    return persons


def _quoted(text: Analysis, start: int, end: int) -> bool:
    """Whether a name alone stands between quotation marks: a title."""
    tokens = text.tokens
    marks = ('"', "“", "”", "'", "‘", "’")
    return start > 0 and end < len(tokens) and tokens[start - 1].text in marks and tokens[end].text in marks


def _goes_on(text: Analysis, start: int, end: int) -> bool:
    """Whether more of a name stands before or behind: "J. Edgar", "San Francisco", "Billy the Kid"."""
    before = text.text[: text.tokens[start].start].rstrip(" ").rsplit(None, 1)[-1:]
    last = text.tokens[end - 1].end
    after = re.match(
        r"['’]?s?['’]? ?(?:[-&/]|['’]s [A-Z]|the [A-Z]|and (?:[A-Z]\w*)|"
        r"(?:van|von|de|di|la|del|al|bin|da|du|le|der|o['’]) )",
        text.text[last : last + 30],
    )
    if after and after.group().lstrip().startswith("and ") and after.group().split()[1] in genders():
        after = None
    if before and re.fullmatch(r"[\"“(]*(?:[A-Z]\w*(?:-\w+)?|(?:[A-Z]\.)+|St\.)", before[0]):
        word = before[0].strip('"“(').lower()
        return word.rstrip(".") not in _NEUTRAL_TITLES | _OPENERS and (word + " ") != "i "
    return after is not None


def _is_name(word: str) -> bool:
    return word[0].isupper() and (word[1:].islower() or len(word) == 1 or word[1:2] in "'’c") and word.isalpha()


def _person(run: Sequence[str], title: str, opened: bool, tag: str) -> Person | None:
    """What a row of words with capitals names; None where it is more than a person's name."""
    if opened and len(run) > 1 and run[0].lower() in _OPENERS | FUNCTION_WORDS and run[0] not in genders():
        run = run[1:]  # "When Alice left"
    if opened and len(run) == 1 and not tag.startswith("NNP"):
        return Person("", "", "")
    if not _NO_SURNAMES.isdisjoint(run) or len(run) > 3 or (len(run) == 3 and len(run[1]) > 1):
        return None
    first = run[0] if run[0] in genders() else ""
    if len(run) > 1 and not first:
        return None
    last = run[-1] if len(run) > 1 or not first else ""
    if (last in genders() and first) or last in _places().beginnings or len(last) == 1:
        return None
    return Person(first, last, title or genders().get(first, ""))


def shared(texts: Sequence[Analysis], person: Person) -> bool:
    """Whether the surname is also a part of other names: "Raymond Mason of Legg Mason Inc.", "Crane & Co."."""
    if not person.last:
        return False
    last = re.escape(person.last)
    around = re.compile(rf"(?:(?P<before>[A-Z][\w.]*) )?\b{last}(?P<after> &| [A-Z][a-z]| [A-Z]{{2}})?")
    for text in texts:
        for match in around.finditer(text.text):
            before = match["before"] or ""
            known = before in genders() or before.lower() in TITLES or before.rstrip(".").lower() in _NEUTRAL_TITLES
            plain = not before or len(before.rstrip(".")) == 1 or before.lower() in _OPENERS | FUNCTION_WORDS
            if match["after"] or not (known or plain):
                return True
    return False


def people_of(texts: Sequence[Analysis]) -> list[Person] | None:
    """The persons of all texts, each once, a surname or first name alone counted with its full name; None where one of
    the texts cannot be read."""
    mentions: list[Person] = []
    for text in texts:
        persons = persons_in(text)
        if persons is None:
            return None
        mentions += persons
    full = [person for person in dict.fromkeys(mentions) if person.first and person.last]
    for person in dict.fromkeys(mentions):
        alone = person.first or person.last
        if not any(alone in (other.first, other.last) for other in full):
            full.append(person)
    return full


@joint_perturbation(
    "persons",
    family=_FAMILY,
    tasks=SENTIMENT | uses("classification") | _PAIRS,
    needs=TOOLS,
    grammar=True,
)
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
    if not people or any(shared(texts, person) for person in people):
        return None
    joined = "\n".join(text.text for text in texts)
    asked = wanted(texts, {name for person in people for name in (person.first, person.last) if name})
    new: dict[str, str] = {}
    for person in people:
        for name, pool in ((person.first, person.gender), (person.last, "-")):
            if name in asked and name not in new:
                free = [other for other in names_of(pool) if other not in joined and other not in new.values()]
                if not free:
                    return None
                new[name] = choices.choice(free)
    return renamed(texts, new)
