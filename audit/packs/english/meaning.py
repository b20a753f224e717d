"""Perturbations of English texts that change what is said a little: opposite words, other numbers.

What each task may conclude is decided by logic, and only what is sure is carried: a hypothesis that says the opposite
of what follows is contradicted. docs/reference/relations.md lists them by task.
"""

import random
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cache

from audit.errors import AuditError
from audit.packs.english.emphasis import article
from audit.packs.english.negation import negate
from audit.packs.english.parser import Parse, Word, tree_of
from audit.packs.english.perturbations import TOOLS
from audit.packs.english.polarity import polar_words
from audit.packs.english.tagging import forms
from audit.packs.english.vocabulary import BE_FINITE, NEGATIONS
from audit.relations.base import Rewritten, maps, nothing
from audit.relations.expect import Mapped, different, equivalent, opinionated
from audit.relations.perturbations import BOTH, SECOND, Use, joint_perturbation, perturbation, uses
from audit.resources import data_file
from audit.tasks.similarity import LEVELS
from audit.text import Analysis
from audit.text.tokens import Token, words

SENTIMENT = uses("sentiment", check=equivalent, expects="the label stays")
"""What sentiment makes of a perturbation that keeps what is felt."""
UNSURE = uses("classification", carry=nothing)
"""Labels may be about what changes: when, how many, where."""
_WORD = re.compile(r"[a-z]+(?:-[a-z]+)*")


def lexicon_lines(name: str, columns: int) -> Iterator[list[str]]:
    """The lines of a file of data/lexicons, in columns. Raises AuditError naming a line of another shape."""
    path = data_file(f"lexicons/{name}.tsv")
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if line and not line.startswith("#"):
            row = line.split("\t")
            if len(row) < columns:
                raise AuditError(f"{path.name}, line {number}: it has {len(row)} columns; it needs {columns}")
            yield row


def put(tokens: Sequence[Token], new: Mapping[int, str]) -> dict[int, str]:
    """Tokens to replace, and with them each "a" or "an" right before that becomes the other.

    >>> put(Analysis("I saw a dog.").tokens, {3: "animal"})
    {3: 'animal', 2: 'an'}
    """
    mended = dict(new)
    for index, word in new.items():
        if index and tokens[index - 1].lower in ("a", "an") and index - 1 not in new:
            old = tokens[index - 1].text
            if (other := article(old, word)) != old:
                mended[index - 1] = other
    return mended


# A word by its opposite.

_OPPOSITE = "the opposite said"
_TAGS = {"ADJ": ("JJ", "JJR", "JJS"), "ADV": ("RB", "RBR"), "VERB": ("VB", "VBP", "VBZ", "VBD", "VBN", "VBG")}
_CONTRARY = {"entailment": ("contradiction",)}
_LOWER = {LEVELS[-1]: LEVELS[:-1]}
_DEGREES = words(
    "perfectly politically deadly more most as how least less equally partly partially sometimes often usually "
    "mostly once twice enough"
)
"""Words with which both opposites may be true."""
_IDIOMS = {
    "high": words("school schools level levels quality profile tech definition street hopes"),
    "long": words("night as time run way gone ago term"),
    "big": words("deal fan fans screen time name names apple brother city bang"),
    "short": words("story stories film films of cut term order subject subjects film"),
    "good": words("luck morning night evening deal old idea guy guys friend friends day bye"),
    "great": words(
        "power charisma number amount detail interest importance effort care pleasure extent deal "
        "britain lengths grandfather war depression majority"
    ),
    "best": words("friend friends known seller man actor actress director picture wishes way supporting"),
    "better": words("off half"),
    "full": words(
        "price range report name amount extent potential week day degrees version of time length "
        "circle house on frontal moon"
    ),
    "new": words("york year age zealand wave england jersey mexico orleans world"),
    "old": words("school man woman lady guy friend testament fashioned"),
    "low": words("budget key profile"),
    "open": words("up mind minded heart letter"),
    "dark": words("comedy side ages"),
    "cold": words("war blood"),
    "hot": words("dog dogs"),
    "true": words("to story stories love life"),
    "dead": words("end line on serious"),
    "early": words("on"),
    "fast": words("food forward paced"),
    "light": words("hearted"),
    "happy": words("new birthday to ending endings hour"),
    "bad": words("guy guys ass luck"),
    "fair": words("amount share enough"),
    "easy": words("going"),
    "wide": words("awake open"),
    "deep": words("down fried"),
    "dry": words("wit humor humour"),
    "worst": words("case"),
    "late": words("night"),
    "tight": words("knit"),
    "sick": words("of"),
    "forget": words("about it"),
    "fall": words("in into apart for asleep back off out short under"),
    "rise": words("to above"),
    "win": words("over"),
    "original": words("series film movie version book score story"),
}
"""Word -> words after it with which it says something else."""


@cache
def _antonyms() -> Mapping[str, Mapping[str, str]]:
    """Form of a word -> tag -> the form of its antonym."""
    entries: dict[str, dict[str, str]] = {}
    for word, other, part, *both in lexicon_lines("antonyms", 3):
        for old, new in [(word, other)] + ([(other, word)] if "both" in both else []):
            if part != "VERB":
                entries.setdefault(old, {}).update(dict.fromkeys(_TAGS[part], new))
                continue
            for tag in _TAGS[part]:
                form = "VB" if tag == "VBP" else tag
                for old_form in forms(old, form) if form != "VB" else (old,):
                    entries.setdefault(old_form, {})[tag] = forms(new, form)[0] if form != "VB" else new
    return entries


def opposites(text: Analysis) -> dict[int, str]:
    """Index of each word that has an antonym and reads well with it -> the antonym.

    >>> opposites(Analysis("The door is open."))
    {3: 'closed'}
    """
    entries = _antonyms()
    if entries.keys().isdisjoint(_WORD.findall(text.text.lower())):
        return {}
    return {
        index: _cased(new, token.text)
        for index, token in enumerate(text.tokens)
        if (new := entries.get(token.lower, {}).get(token.tag)) and _stands_free(text.tokens, index)
    }


def _cased(new: str, old: str) -> str:
    if old.isupper() and len(old) > 1:
        return new.upper()
    return new.capitalize() if old[0].isupper() and old[1:].islower() else new


def _stands_free(tokens: Sequence[Token], index: int) -> bool:
    """Whether a word is no part of a name, a turn of phrase or a compound with a hyphen."""
    token = tokens[index]
    after = tokens[index + 1] if index + 1 < len(tokens) else None
    before = tokens[index - 1] if index else None
    if not (token.text.islower() or (index == 0 and token.text[1:].islower())):
        return False
    if after is not None and (after.lower in _IDIOMS.get(token.lower, ()) or after.text[0] in "-–/"):
        return False
    if after is not None and after.text[0].isupper() and after.tag.startswith("NNP"):
        return False
    if before is None:
        return True
    if index > 1 and tokens[index - 2].tag == "CD":
        return False  # "1.6 m long"
    if token.lower in ("good", "bad") and before.lower in ("too", "half", "for", "any"):
        return False
    return before.text[-1] not in "-–/" and before.lower not in _DEGREES and before.tag not in ("NNS", "CD")


def _picked(new: Mapping[int, str], choices: random.Random) -> dict[int, str]:
    place = choices.choice(sorted(new))
    return {place: new[place]}


@perturbation(
    "antonyms",
    family=_OPPOSITE,
    tasks=uses("sentiment", check=opinionated(different), expects="another label", carry=nothing),
    version="2",
    needs=TOOLS,
    grammar=True,
)
def polar_antonyms(text: Analysis, choices: random.Random) -> str | None:
    """Every word that praises or blames is replaced by its antonym.

    Keeps what is judged; may break the turn of the label where other words decide, and sense where an antonym does not
    fit its noun.

    Only where each of them has one, and belongs to what one plain statement says; what other words say may still
    decide, so nothing is carried.

    >>> polar_antonyms(Analysis("It is a good film."), random.Random(0))
    'It is a bad film.'
    """
    new, poles = opposites(text), polar_words(text) if text.text else {}
    if not new or not poles or not poles.keys() <= new.keys() or len(set(poles.values())) > 1:
        return None
    tree = tree_of(text.tokens) if len(text.low) <= _PLAIN_WORDS and negate(text) is not None else None
    if tree is None or not all(_is_judged(tree, tree.words[place]) for place in poles):
        return None
    return text.replace(put(text.tokens, {place: new[place] for place in poles}))


@perturbation(
    "antonyms",
    family=_OPPOSITE,
    tasks={
        "inference": Use(
            check=Mapped(tuple(_CONTRARY.items())),
            expects="entailment becomes contradiction",
            texts=SECOND,
            carry=maps(_CONTRARY),
        ),
        "similarity": Use(
            check=Mapped(tuple(_LOWER.items())), expects="the highest interval does not stay", texts=SECOND,
            carry=maps(_LOWER),
        ),
    },
    needs=TOOLS,
    grammar=True,
)  # fmt: skip
def denying_antonyms(text: Analysis, choices: random.Random) -> str | None:
    """What the second text says of a definite subject is replaced by its antonym.

    Keeps the subject; may break the contradiction where both words may be true, of other parts or in another sense.

    Both cannot be true of the same subject, so what was entailed is contradicted, and two sentences that meant the same
    do not. Nothing is known where the source is neutral: neither may follow; or contradicted: both may be wrong.

    >>> denying_antonyms(Analysis("The door is open."), random.Random(0))
    'The door is closed.'
    >>> denying_antonyms(Analysis("A door is open."), random.Random(0)) is None
    True
    """
    if len(text.spans) != 1 or not text.text.rstrip().endswith(".") or not text.words.isdisjoint(_HEDGES):
        return None
    new, tree = opposites(text), tree_of(text.tokens)
    ready = {place: word for place, word in new.items() if tree is not None and _is_said(tree, tree.words[place])}
    return text.replace(put(text.tokens, _picked(ready, choices))) if ready else None


def _is_judged(tree: Parse, word: Word) -> bool:
    """Whether a word is the main clause's verdict: "It is good", "It is a good film", "I love it"."""
    head = tree.words[word.head]
    if word.relation == "amod" and head.relation == "attr":
        return tree.words[head.head].relation == "ROOT"
    return word.relation == "ROOT" or (word.relation == "acomp" and head.relation == "ROOT")


_PLAIN_WORDS = 20
"""Words of a sentence beyond which more than its words of praise and blame says what it feels."""
_HEDGES = NEGATIONS | words(
    "as how equally sometimes often usually mostly partly once twice if when while unless or every each all most many "
    "some any few several only may might could would should can seem seems probably perhaps maybe and but to be been"
)
"""Words with which the opposite of a sentence may be true as well."""
_DEFINITE = words("the this that these those he she it they we i you my your his her its our their")
_STATES = words("love hate adore detest increase decrease rise fall strengthen weaken remember forget")


def _is_said(tree: Parse, word: Word) -> bool:
    """Whether a word is what the main clause says of a definite subject: "The door is open." """
    head = tree.words[word.head]
    root = word if word.relation == "ROOT" else head
    if root.relation != "ROOT" or not tree.is_finite(root.index):
        return False
    if word is not root and not (
        (word.relation == "acomp" and root.lower in BE_FINITE) or (word.relation == "advmod" and word.tag[:2] == "RB")
    ):
        return False
    if word is root and not any(word.lower in (verb, *forms(verb, "VBZ"), *forms(verb, "VBD")) for verb in _STATES):
        return False
    subject = tree.subject(root.index)
    if subject is None or subject.index > root.index:
        return False
    first = tree.under(subject.index)[0]
    return first.lower in _DEFINITE or (subject.tag == "NNP" and first is subject)


# Numbers.

_COUNTING = "other numbers"
_NUMBER = re.compile(r"(?<![\w.,:/#@%+–—'’-])(?P<digits>\d{1,4})(?![\w/%:+°′″–—-]|[.,]\d|\.\w|['’]s\b| \d| ?\(\w\)|\))")
_SPELLED = {
    word: value
    for value, word in enumerate(
        re.findall(
            r"\w+",
            "two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
            "eighteen nineteen twenty",
        ),
        2,
    )
}
_NAMED = {value: word for word, value in _SPELLED.items()}
_FEW = "|".join(_SPELLED)
_PLURALS = (
    r"(?:(?!on|of|in|at|to|or|and|by|for|per|the|an?|his|her|is|was|as)[a-z]+ )?"
    r"(?:[a-z]+s|people|men|women|children|feet|fish|sheep|teeth)\b"
)
_NOUNS = (
    r"(?!(?:is|was|has|this|as|us|its|his|does|yes|plus|thus|always|perhaps|less|unless|across|ours|times)\b)"
    r"(?:[a-z]{2,}s|people|men|women|children|feet|fish|sheep|teeth)"
)
_COUNTED = re.compile(rf"(?<![\w-])(?P<word>{_FEW})(?= {_PLURALS})")
_MONTHS = words(
    "jan jan. feb feb. mar. apr. jun. jul. aug aug. sept sept. sep. oct oct. nov nov. dec dec. january february march "
    "april may june july august september october november december"
)
_DRAWS = 30
_OPENING = words("in by since from over about of the at after before until around nearly almost some only between on")
_FIGURES = re.compile(rf"\d+|\b(?:one|{_FEW})\b")
_QUANTITIES = re.compile(
    r"\b(?:half|quarter|third|dozens?|hundreds?|thousands?|millions?|couple|pair|double|twice|decades?|century|once)\b",
    re.IGNORECASE,
)
"""Words that may say the same as a figure."""
_GRADED = re.compile(
    r"\b(?:stars?|rat(?:e|es|ed|ing)|scores?|scored|grade|points?|thumbs|out of|marks?|/ ?10|both|pair|twins?|"
    r"percent|per cent|degrees?|o'clock|half|squared?|24|total|sum|altogether|together|plus|minus|times)\b",
    re.IGNORECASE,
)
"""Words of judgements by number, and of sums, which another number would make wrong."""


def _numbers_in(text: str) -> list[tuple[int, int, str]]:
    """(start, end, what stands there) of the numbers of a text that may be others: no grades, names, parts of sums."""
    low = text.lower()
    places = []
    for match in _NUMBER.finditer(text):
        before = re.search(r"(\S+) $", text[: match.start()])
        previous = before.group(1) if before else ""
        previous = previous.lstrip("\"'“‘(*$£€")
        plain = previous.lower().strip("(,") in _MONTHS | _OPENING or not previous[:1].isupper()
        titled = re.match(r" [A-Z]", text[match.end() :]) and previous[:1].isupper()
        listed = not text[: match.start()].strip() and text[match.end() : match.end() + 1] in (".", ")")
        listed |= len(match["digits"]) == 1 and not re.search(r"[a-z]", text[match.end() :])  # a grade at the end
        listed |= previous.lower() in ("a", "an") and not re.match(r"[ -][a-z]", text[match.end() :])  # "a 10"
        if plain and not titled and not listed and int(match["digits"]) > 2 and not match["digits"].startswith("0"):
            places.append((match.start(), match.end(), match["digits"]))
    places += [
        (*match.span(), match["word"])
        for match in _COUNTED.finditer(low)
        if match["word"] != "two" and not re.match(r"[A-Z][a-z]+ [A-Z]", text[match.start() :])
    ]
    shown = Counter(_FIGURES.findall(low))
    for number, count in Counter(number for _, _, number in places).items():
        if shown[number] > count:  # it stands somewhere else as well, where it may not be replaced
            places = [place for place in places if place[2] != number]
    spans = [(start, end) for start, end, _ in places]
    if any(
        _GRADED.search(text[max(0, start - 40) : end + 25]) or not _counts(text, start, end) for start, end in spans
    ):
        return []
    others = [match.start() for match in _ANY_NUMBER.finditer(low)]
    return sorted(places) if all(any(start <= at < end for start, end in spans) for at in others) else []


_ANY_NUMBER = re.compile(
    rf"\d+|\b(?:{_FEW}|thirty|forty|fifty|sixty|seventy|eighty|ninety|\w*(?:hundred|thousand|million|billion)s?)\b"
)
_KNOWN_COUNT = re.compile(
    r"\b(?:the|these|those|this|that|all|any|both|other|every|each|my|your|his|her|its|our|their|'s|no|next|of) $"
)
"""What stands before the number of things that are known: "the four brothers"."""
_NUMBERED = re.compile(
    r"\b(?:studio|plan|room|area|district|apollo|route|channel|section|day|page|chapter|part|volume|season|episode|agent|"
    r"flight|highway|class|level|number|no|version|windows|theat(?:re|er)|team|group|act|article|line|step|war)\.? $"
)
"""A noun behind which a number is a name: "studio 54"."""
_SET_PHRASES = re.compile(
    r" (?:[\w-]+ )?(?:minutes? of fame|lives|letter|dwar\w+|musketeers|stooges|amigos|feathers|seas|wonders|sins|"
    r"corners|commandments|samurai|monkeys|weddings|queens|kings|brothers|sisters|dimensions|star|stars|"
    r"steps|senses|eyes|seasons|states|wheels|walls|feet|words|letters|things)\b|"
    r" (?:days? a week|hours? a day|weeks? a year| minutes news)"
)
_LISTED_THINGS = re.compile(r"[^.!?\n]{0,40}?(?:[:(–—]|, (?:[A-Z]|(?:the|a|an|one) ))")
_TIMES = words("minutes hours days weeks months years seconds dollars bucks euros pounds people kids laughs scenes")
"""What is counted in a text of small letters, where titles cannot be told from other words."""


def opens_quotation(before: str) -> bool:
    """Whether a text opens a quotation that it does not close: what follows stands between quotation marks.

    >>> opens_quotation('in "2001'), opens_quotation('in "2001"')
    (True, False)
    """
    return before.count('"') % 2 == 1 or before.count("“") > before.count("”")


def _counts(text: str, start: int, end: int) -> bool:
    """Whether a number says how many of some things there are, or a year: no title, name, hour, number of a thing."""
    before, after = text[:start].lower(), text[end:]
    if opens_quotation(before) or _KNOWN_COUNT.search(before):
        return False
    if _NUMBERED.search(before):
        return False
    if text[start:end].isdigit() and 1900 <= int(text[start:end]) <= 2100:
        return re.search(r"\b(?:in|since|until) $", before) is not None and not re.match(r" [A-Za-z]+s\b|['-]", after)
    if re.search(rf"\b(?:{'|'.join(map(re.escape, _MONTHS))}) $", before):
        return True
    counted = re.match(rf" (?:more |other |long |whole |full )?(?P<noun>{_NOUNS})\b", after)
    if re.search(r"\bhours?,? (?:and )?$", before):
        return False  # "one hour, 59 minutes"
    if counted is None or _SET_PHRASES.match(after) or _LISTED_THINGS.match(after):
        return False
    return not text.islower() or (counted["noun"] in _TIMES and text[start:end] not in ("24", "48", "60"))


def _near(number: str, taken: set[str], choices: random.Random, month: bool) -> str | None:
    """Another number about as large: at most a fifth away, a year within nine years, a day within its month."""
    value = _value(number)
    reach = 9 if 1500 <= value <= 2100 else max(2, value // 5)
    top = 28 if month else max(_SPELLED.values()) if number in _SPELLED else 2025 if 1500 <= value <= 2025 else 9999
    options = [other for other in range(max(3, value - reach), min(top, value + reach) + 1) if other != value]
    shown = [_NAMED[other] if number in _SPELLED else str(other) for other in options]
    free = [new for new in shown if new not in taken and (len(new) == len(number) or number in _SPELLED)]
    if value % 10 == 0 and value >= 20 and number not in _SPELLED and not 1500 <= value <= 2100:
        free = [new for new in free if int(new) % (100 if value % 100 == 0 else 10) == 0] or free
    return choices.choice(free) if free else None


@joint_perturbation(
    "numbers",
    family=_COUNTING,
    version="2",
    tasks=SENTIMENT | UNSURE | uses("similarity", "question-answering", texts=BOTH),
)
def numbers(texts: Sequence[Analysis], choices: random.Random) -> Rewritten | None:
    """Numerals are replaced by others about as large, the same ones alike in all texts.

    Keeps what is counted, and about how much there is; may break facts of the world, dates and limits that other words
    imply, and classes about amounts.

    All numbers of a text or none: no group where one is a grade ("8 out of 10"), a percentage, a time of day, part of a
    name, a title ("Windows 7", "the four feathers") or a sum, or counts things that are known or listed. So what is
    felt stays. Of a pair, only numbers that both texts have, or where one text has none: the pair is as similar as it
    was. Of a question, only its own numbers, in the context as well, since others may be the answer. A class may be
    about how many, so nothing is carried there; in inference a number may follow from another one, so it is left out.

    >>> numbers([Analysis("We waited 18 minutes.")], random.Random(1)).texts
    ('We waited 16 minutes.',)
    """
    found = [_numbers_in(text.text) for text in texts]
    every = [{number for _, _, number in places} for places in found]
    chosen = set().union(*every)
    if len(texts) == 2 and not asks(texts):
        first, second = map(_figures, texts)
        if (first and second and first != second) or any(_QUANTITIES.search(text.text) for text in texts):
            return None
    elif len(texts) == 2:
        chosen = every[0] & every[1]
        if chosen != every[0]:
            return None
        if re.search(r"\b(?:when|year|old|many|much|long|later|ago|date)\b", texts[1].text.lower()):
            return None
    shown = [_figures(text) for text in texts]
    if any(number in words and number not in own for number in chosen for words, own in zip(shown, every, strict=True)):
        return None
    dated = {number for number in chosen if any(_day(number).search(text.text.lower()) for text in texts)}
    new = _others(sorted(chosen), dated, set().union(*every, *shown), choices)
    if not new:
        return None
    rewritten = []
    for text, places in zip(texts, found, strict=True):
        parts, at = [], 0
        for start, end, number in places:
            if number in new:
                parts += [text.text[at:start], _cased(new[number], text.text[start:end])]
                at = end
        rewritten.append("".join([*parts, text.text[at:]]))
    return Rewritten(tuple(rewritten))


def _day(number: str) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{'|'.join(map(re.escape, _MONTHS))}) {number}\b")


def _others(numbers: Sequence[str], dated: set[str], taken: set[str], choices: random.Random) -> dict[str, str] | None:
    """Another number for each, in the same order by size; None where none was found."""
    for _ in range(_DRAWS):
        new: dict[str, str] = {}
        for number in numbers:
            other = _near(number, taken | set(new.values()), choices, number in dated)
            if other is None:
                return None
            new[number] = other
        if sorted(new, key=_value) == sorted(new, key=lambda number: _value(new[number])):
            return new
    return None


def _value(number: str) -> int:
    return _SPELLED.get(number) or int(number)


def _figures(text: Analysis) -> set[str]:
    """All that may be a number in a text."""
    return set(_FIGURES.findall(text.text.lower()))


def asks(texts: Sequence[Analysis]) -> bool:
    """Whether the second of two texts is a question about the first.

    >>> asks([Analysis("Ann left."), Analysis("Who left?")]), asks([Analysis("Who left?"), Analysis("Who went?")])
    (True, False)
    """
    return len(texts) == 2 and texts[1].text.rstrip().endswith("?") and not texts[0].text.rstrip().endswith("?")
