"""Comparisons of two noun phrases: "[one] is [faster] than [two]", "[one] is [different] from [two]"."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from audit.text.analysis import Analysis
from audit.text.tokens import Token, words

_VERBS = {
    "is": ("is", "are"), "are": ("is", "are"), "was": ("was", "were"), "were": ("was", "were"),
    "'s": (" is", " are"), "'re": (" is", " are"), "seems": ("seems", "seem"), "seem": ("seems", "seem"),
    "looks": ("looks", "look"), "look": ("looks", "look"), "feels": ("feels", "feel"), "sounds": ("sounds", "sound"),
    "seemed": ("seemed", "seemed"), "looked": ("looked", "looked"), "felt": ("felt", "felt"),
}  # fmt: skip
_DEGREES = words(
    "much far way slightly somewhat significantly considerably infinitely definitely certainly clearly actually "
    "probably really vastly so no not n't a lot bit little ten hundred thousand times miles considerably obviously "
    "truly generally usually ultimately easily"
)
_SHIFTING = words("even still also")
_TO_SUBJECT = {"me": "I", "him": "he", "her": "she", "us": "we", "them": "they"}
# "The book is worse than it" reads badly; a review that says "it" of its film may as well say "this".
_TO_OBJECT = {**{subject.lower(): obj for obj, subject in _TO_SUBJECT.items()}, "it": "this"}
_PRONOUNS = {
    "i": "first", "he": "singular", "she": "singular", "this": "singular", "that": "singular", "you": "plural",
    "we": "plural", "it": "singular", "they": "plural", "these": "plural", "those": "plural",
}  # fmt: skip
_BARRED = words(
    "opinion any anything anyone most nothing ever average usual expected what everything none some other others many "
    "all nowho which there ones its his their themself nobody everyone everybody before normal each every either "
    "neither few several more half rest bunch lot much such itself himself herself themselves another something "
    "someone same part how when where why if expectations hell heck shit crap dirt gold ice"
)
_NOUNLESS = words("first second third fourth original former latter previous sequel prequel remake")
_POINTING = words("it its he she they them his her him their this that which who")
_LINKS = words("of in from by with on at for about")
_INSIDE = words("DT JJ NN NNS NNP NNPS CD PRP$ VBN VBG POS HYPH")
_CLAUSE_OPENERS = words("and but so")
_BEFORE_OPINION = words("i we think believe feel say")
_OPINIONS = words("think thought believe feel guess say know that")


@dataclass(frozen=True, slots=True)
class Comparison:
    """Token ranges of one comparison: subject [start, verb), degree words [verb + 1, quality), quality, object."""

    start: int
    verb: int
    quality: int
    joint: int
    """Index of "than" or "from"."""
    stop: int
    subject_number: str
    object_number: str
    """Grammatical numbers of the two phrases: first (person), singular, plural."""


@lru_cache(maxsize=1)
def antonyms() -> Mapping[str, str]:
    """Comparative -> comparative of its antonym, from data/lexicons/comparatives.tsv.

    >>> antonyms()["faster"]
    'slower'
    """
    from audit.resources import data_file

    lines = data_file("lexicons/comparatives.tsv").read_text(encoding="utf-8").splitlines()
    table = dict(line.split("\t") for line in lines if line and not line.startswith("#"))
    back = {opposite: word for word, opposite in table.items() if " " in opposite and opposite not in table}
    return {**back, **table}


def find(analysis: Analysis, joint: str = "than") -> Comparison | None:
    """The comparison of two noun phrases that ends this sentence, or None.

    >>> find(Analysis("The car is faster than the bicycle.")) is None
    False
    >>> find(Analysis("It is better than I thought.")) is None
    True
    """
    if joint not in analysis.words:
        return None
    tokens, low = analysis.tokens, list(analysis.low)
    if low.count(joint) > 1 or len(low) > 45:
        return None
    at = low.index(joint)
    quality = at - 1
    if joint == "than":
        if quality > 0 and low[quality - 1] in ("more", "less"):
            if tokens[quality].tag not in ("JJ", "VBG", "VBN"):
                return None
            quality -= 1
        elif not (tokens[quality].tag in ("JJR", "RBR") or low[quality] in antonyms()) or low[quality] in (
            "more",
            "less",
        ):
            return None
    elif low[quality] != "different":
        return None
    verb = quality - 1
    while verb > 0 and low[verb] in _DEGREES | _SHIFTING:
        verb -= 1
    if verb < 1 or low[verb] not in _VERBS:
        return None
    stop = _phrase_stop(tokens, low, at)
    while stop > at and low[stop - 1] in (".", "!"):
        stop -= 1
    start = _subject_start(low, verb)
    subject_number, object_number = phrase_number(tokens, low, start, verb), phrase_number(tokens, low, at + 1, stop)
    if subject_number is None or object_number is None or (low[verb] in ("'s", "'re") and tokens[verb].tag == "POS"):
        return None
    if low[start:verb] == low[at + 1 : stop] or (low[start - 1 : start] == ["that"] and low[at + 1] == "that"):
        return None
    if "it" in (*low[start:verb], *low[at + 1 : stop]) and (start > 1 or {"this", "that"} & set(low)):
        return None  # "it" is something named before, and "this" would be something else
    if low[start] in ("this", "that") and verb == start + 1 and low[verb] in ("are", "were", "'re", "seem", "look"):
        return None
    return Comparison(start, verb, quality, at, stop, subject_number, object_number)


def _phrase_stop(tokens: Sequence[Token], low: Sequence[str], at: int) -> int:
    """Where the second phrase ends: at the end, or before ", and ..." with nothing in it that points back."""
    for index in range(at, len(low) - 2):
        if low[index] in (",", ";") and low[index + 1] in ("and", "but", "so", "because"):
            back = _POINTING.intersection(low[index:]) or not any(
                token.tag in ("VBZ", "VBP", "VBD", "MD") for token in tokens[index + 3 :]
            )
            return len(low) if back else index
    return len(low)


def _subject_start(low: Sequence[str], verb: int) -> int:
    """Where the clause of this verb begins: at the sentence's start, after its last comma, or after "I think"."""
    start = 0
    for index in range(verb):
        opens = low[index] in (",", ";", ":") or (index == 0 and low[index] in _CLAUSE_OPENERS)
        opinion = index > 0 and low[index] in _OPINIONS and low[index - 1] in _BEFORE_OPINION
        if opens or opinion:
            start = index + 1
    return start


def phrase_number(tokens: Sequence[Token], low: Sequence[str], start: int, stop: int) -> str | None:
    """first, singular or plural when the tokens are one noun phrase from end to end; None when they are not, or when
    the phrase would not read well on the other side."""
    if stop <= start or _BARRED.intersection(low[start:stop]):
        return None
    if (stop - start > 1 and "her" in low[start:stop]) or tokens[stop - 1].text in (".", "!"):
        return None
    if stop - start == 1 and low[start] in {**_PRONOUNS, **_TO_SUBJECT}:
        return _PRONOUNS[_TO_SUBJECT.get(low[start], low[start]).lower()]
    if tokens[start].text in ('"', "“", "'"):
        closed = low[start + 1 : stop - 1]
        if closed[-1:] in (["."], [","], ["!"]):
            return None
        return "singular" if tokens[stop - 1].text in ('"', "”", "'") and not {'"', "'", "than"} & set(closed) else None
    gerund = tokens[start].tag == "VBG" and stop - start > 1
    number: str | None = None
    for index in range(start, stop):
        mark, word = tokens[index].tag, low[index]
        if word in _LINKS and index > start and mark in ("IN", "TO"):
            if not gerund and (number is None or index + 1 == stop):
                return None
            gerund = gerund or word != "of"
            continue
        if mark not in _INSIDE and not (gerund and mark in ("PRP", "RB")) and word not in ("'s", "-"):
            return None
        if number is None and mark.startswith("NN") and not (index + 1 < stop and _goes_on(tokens[index + 1])):
            if tokens[index].text.isupper() and mark in ("NNS", "NNPS"):
                return None  # CATS, a title
            number = "plural" if mark in ("NNS", "NNPS") else "singular"
    last = tokens[stop - 1]
    if tokens[start].tag == "VBG" and stop - start > 1:
        return "singular" if last.tag.startswith(("NN", "CD", "PRP", "RB")) else None
    if last.tag == "CD" and number is not None:
        return number
    if number is None and stop - start == 2 and low[stop - 1] in _NOUNLESS and low[start] in ("the", "this", "that"):
        return "singular"
    return number if last.tag.startswith("NN") else None


def _goes_on(token: Token) -> bool:
    return token.tag.startswith("NN") or token.tag in ("POS", "CD") or token.lower == "'s"


def rephrase(analysis: Analysis) -> str | None:
    """ "[one] is [c1] than [two]" as "[two] is [c2] than [one]" with the antonym c2, or None.

    >>> rephrase(Analysis("The car is faster than the bicycle."))
    'The bicycle is slower than the car.'
    >>> rephrase(Analysis("These films are more subtle than this book."))
    'This book is less subtle than these films.'
    """
    comparison = find(analysis)
    if comparison is None:
        return None
    low = [token.lower for token in analysis.tokens]
    # "even better" says that the other is good too; turned round it would say that the other is bad.
    if _SHIFTING.intersection(low[comparison.verb : comparison.quality]):
        return None
    quality = " ".join(low[comparison.quality : comparison.joint])
    opposite = antonyms().get(quality)
    if opposite is None and quality.startswith(("more ", "less ")):
        opposite = {"more": "less", "less": "more"}[quality[:4]] + quality[4:]
    return _exchange(analysis, comparison, opposite) if opposite else None


def exchange(analysis: Analysis, joint: str = "than") -> str | None:
    """The two phrases of a comparison exchanged, everything else kept, or None.

    >>> exchange(Analysis("The car is faster than the bicycle."))
    'The bicycle is faster than the car.'
    >>> exchange(Analysis("His films are different from this one."), "from") is None
    True
    """
    comparison = find(analysis, joint)
    if comparison is None:
        return None
    quality_words = [token.text for token in analysis.tokens[comparison.quality : comparison.joint]]
    return _exchange(analysis, comparison, " ".join(quality_words))


def _keeps_capital(phrase: Sequence[Token]) -> bool:
    """Whether a phrase at the start of a sentence has its capital for itself: a name or a title."""
    first, rest = phrase[0], phrase[1:]
    if first.text == "I" or (len(first.text) > 1 and first.text.isupper()):
        return True
    if first.tag in ("DT", "PRP$"):
        return bool(rest) and rest[-1].text[0].isupper() and rest[0].text[0].isupper() and not rest[0].text.isupper()
    return first.tag.startswith("NNP") or any(token.text[0].isupper() for token in rest)


def _exchange(analysis: Analysis, comparison: Comparison, quality: str) -> str | None:
    tokens, text = analysis.tokens, analysis.text
    forms = _VERBS[tokens[comparison.verb].lower.replace("’", "'")]
    verb = forms[comparison.object_number == "plural"]
    if comparison.object_number == "first":
        verb = {"is": "am", " is": " am", "was": "was"}.get(forms[0], forms[1])
    between = text[tokens[comparison.verb].end : tokens[comparison.quality].start]
    if verb.strip() == "am" and between.startswith(("n't", "n’t")):
        between = " not" + between[3:]
    first_phrase = text[tokens[comparison.start].start : tokens[comparison.verb - 1].end]
    second_phrase = text[tokens[comparison.joint + 1].start : tokens[comparison.stop - 1].end]
    capital = comparison.start == 0 and first_phrase[0].isupper()
    first_phrase = _TO_OBJECT.get(first_phrase.lower(), first_phrase)
    second_phrase = _TO_SUBJECT.get(second_phrase.lower(), second_phrase)
    if capital:
        first_phrase = (
            first_phrase
            if _keeps_capital(tokens[comparison.start : comparison.verb])
            else first_phrase[0].lower() + first_phrase[1:]
        )
        second_phrase = second_phrase[0].upper() + second_phrase[1:]
    gap = text[tokens[comparison.verb - 1].end : tokens[comparison.verb].start] if not verb.startswith(" ") else ""
    link = text[tokens[comparison.joint - 1].end : tokens[comparison.joint + 1].start]
    head, tail = text[: tokens[comparison.start].start], text[tokens[comparison.stop - 1].end :]
    return f"{head}{second_phrase}{gap}{verb}{between}{quality}{link}{first_phrase}{tail}"
