"""Fairness of systems on English texts: persons are of the other gender.

Nothing that a text says changes but who it is about, so every label stays. Groups are made only where all that agrees
with the person's gender is told: pronouns, titles, words for relatives (`data/lexicons/gendered.tsv`).
"""

import random
import re
from collections.abc import Container, Mapping, Sequence
from functools import cache

from audit.packs.english.entities import TITLES, genders, people_of
from audit.packs.english.meaning import SENTIMENT, lexicon_lines, put
from audit.packs.english.perturbations import TOOLS
from audit.packs.english.tagging import is_word, plural
from audit.relations.base import Rewritten
from audit.relations.perturbations import joint_perturbation, uses
from audit.text import Analysis
from audit.text.tokens import Token, words

_FAMILY = "fairness"
_LABELS = SENTIMENT | uses("classification", "inference", "similarity")
"""Tasks of labels. A gender may be the answer to a question, or stand in a summary."""
_PRONOUNS = {"he": "m", "him": "m", "his": "m", "himself": "m", "she": "f", "her": "f", "hers": "f", "herself": "f"}
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


@cache
def _pairs() -> Mapping[str, tuple[str, str, str]]:
    """Lower-cased noun -> (the other gender's, its own gender, kind)."""
    entries: dict[str, tuple[str, str, str]] = {}
    for his, hers, kind in lexicon_lines("gendered", 3):
        if kind == "title":
            continue
        for mine, theirs, gender in ((his, hers, "m"), (hers, his, "f")):
            entries[mine] = (theirs, gender, kind)
            several, others = _several(mine), _several(theirs)
            if mine not in ("male", "female") or several:
                entries[several] = (others, gender, kind)
    return entries


def _several(noun: str) -> str:
    head, dash, rest = noun.partition("-in-law")
    return f"{plural(head) or head + 's'}{dash}{rest}" if not noun.endswith("man") else f"{noun[:-3]}men"


def _exchanged(tokens: Sequence[Token], index: int) -> str | None:
    """The word of the other gender for a pronoun, title or noun; None where there is none."""
    token = tokens[index]
    low = token.low
    if low in ("his", "her", "hers"):
        owns = token.tag == "PRP$" and index + 1 < len(tokens) and tokens[index + 1].text[0] not in ".,;:!?)"
        new = {"his": "her" if owns else "hers", "her": "his" if token.tag == "PRP$" else "him", "hers": "his"}[low]
    elif low in _PRONOUNS:
        new = {"he": "she", "she": "he", "him": "her", "himself": "herself", "herself": "himself"}[low]
    elif low in TITLES and token.text[0].isupper():
        new = ("Ms" if TITLES[low] == "m" else "Mr") + ("." if low.endswith(".") else "")
    elif low in _pairs():
        new = _pairs()[low][0]
    else:
        return None
    if token.text.isupper() and len(token.text) > 1:
        return new.upper()
    return new[0].upper() + new[1:] if token.text[0].isupper() else new


def _gendered(text: Analysis) -> dict[int, str]:
    """Index of each pronoun and noun with a gender -> what it is: m, f."""
    pairs = _pairs()
    return {
        index: _PRONOUNS.get(token.low) or pairs[token.low][1]
        for index, token in enumerate(text.tokens)
        if token.low in _PRONOUNS or token.low in pairs
    }


def _plain(texts: Sequence[Analysis]) -> bool:
    """Whether no text has a word that goes with one gender only, and names can be told by their capitals."""
    return all(
        _BODILY.isdisjoint(re.findall(r"[a-z']+", text.text.lower())) and text.text.lower() != text.text
        for text in texts
    )


def _has_names(text: Analysis, besides: Container[str] = ()) -> bool:
    """Whether a text names anything: a word with a capital that opens no sentence, but "I", days and months."""
    for index, token in enumerate(text.tokens):
        word = token.text
        if not word[0].isupper() or word == "I" or word.startswith("I'") or token.lower in _CALENDAR:
            continue
        if token.low in _pairs() or token.low in _PRONOUNS or word in besides or (besides and token.low in TITLES):
            continue
        opens = index == 0 or text.tokens[index - 1].text in (".", "!", "?", "...", '"', "“", ":", "-", "(")
        if not opens or token.tag.startswith("NNP") or not is_word(token.lower) or (besides and word in genders()):
            return True
    return False


_CALENDAR = words(
    "monday tuesday wednesday thursday friday saturday sunday january february march april may june july august "
    "september october november december english french german italian spanish american british tv dvd christmas easter"
)


def _swapped(texts: Sequence[Analysis], places: Sequence[Mapping[int, str]]) -> tuple[str, ...]:
    return tuple(
        text.replace(put(text.tokens, {at: new for at in found if (new := _exchanged(text.tokens, at))}))
        for text, found in zip(texts, places, strict=True)
    )


@joint_perturbation("pronouns", family=_FAMILY, tasks=_LABELS, needs=TOOLS, grammar=True)
def pronouns(texts: Sequence[Analysis], choices: random.Random) -> Rewritten | None:
    """A person who is "he" becomes "she" or the other way round, with "him", "his", "himself".

    Keeps what is said of the person; may break a hint at gender that no list of ours has, and facts of a known person
    whom nothing names.

    Only where no name and no noun tells the gender of anybody, so that nothing disagrees. Every label stays; a system
    whose output changes judges by gender.

    >>> pronouns([Analysis("He lost his key, so I gave him mine.")], random.Random(0)).texts
    ('She lost her key, so I gave her mine.',)
    """
    if not any(_THEIRS.search(text.text) for text in texts) or not _plain(texts):
        return None
    found = [_gendered(text) for text in texts]
    told = {text.tokens[at].low for text, places in zip(texts, found, strict=True) for at in places}
    if any(_EITHER.search(text.text) for text in texts):
        return None
    if not told or not told <= _PRONOUNS.keys() or any(map(_has_names, texts)):
        return None
    return Rewritten(_swapped(texts, found))


_THEIRS = re.compile(r"\b(?:he|she|him|her|his|hers|himself|herself)\b", re.IGNORECASE)
_EITHER = re.compile(
    r"\b(?:he|she|his|hers?|him)(?:(?:/| or | and )(?:he|she|his|hers?|him)\b|/)|\b(?:himself or|s/he)", re.I
)
_FIXED = re.compile(
    r"\b(?:mother(?:'s)? (?:tongue|nature|board|earth|day)|big brothers?|sister (?:compan|paper|ship)\w*|father "
    r"time|son of a|sons? of bitch\w*|grandfather cl(?:ause|ock)s?|oh,? (?:boy|man|brother)|soul sister|"
    r"man up|wise man|the man|"
    r"dad jokes?|mommy issues|his holiness|god\b|father figure|blood brothers?|brothers? in arms)",
    re.IGNORECASE,
)


@joint_perturbation("kin-words", family=_FAMILY, tasks=_LABELS, needs=TOOLS, grammar=True)
def kin_words(texts: Sequence[Analysis], choices: random.Random) -> Rewritten | None:
    """Relatives become those of the other gender: "brother" becomes "sister", with all other words of gender.

    Keeps how people are related; may break what goes with one gender alone without a word that says so, and the facts
    of a known family.

    Men and women change places in the whole text, pronouns among them, so that all agrees. No group where a name with a
    capital may tell a gender beside them. Every label stays.

    >>> kin_words([Analysis("My brother says he likes it.")], random.Random(0)).texts
    ('My sister says she likes it.',)
    """
    kin = {word for word, (_, _, kind) in _pairs().items() if kind == "kin"}
    if not any(not kin.isdisjoint(re.findall(r"[a-z]+(?:-[a-z]+)*", text.text.lower())) for text in texts):
        return None
    if not _plain(texts) or any(_FIXED.search(text.text) or _EITHER.search(text.text) for text in texts):
        return None
    if people_of(texts) != []:
        return None
    found = [_gendered(text) for text in texts]
    low = {text.tokens[at].low for text, places in zip(texts, found, strict=True) for at in places}
    if any(_describes(text.tokens, at) for text, places in zip(texts, found, strict=True) for at in places):
        return None
    if any(map(_has_names, texts)) and (low & _PRONOUNS.keys() or not low <= kin or not _apart(texts, found)):
        return None
    return Rewritten(_swapped(texts, found))


def _describes(tokens: Sequence[Token], at: int) -> bool:
    """Whether a noun stands before another one: "a woman senator"."""
    return tokens[at].low not in _PRONOUNS and at + 1 < len(tokens) and tokens[at + 1].tag[:2] == "NN"


def _apart(texts: Sequence[Analysis], found: Sequence[Mapping[int, str]]) -> bool:
    """Whether no name stands near a word for a relative: "his brother John", "John is my brother"."""
    return not any(
        text.tokens[near].text[0].isupper() and text.tokens[near].text != "I"
        for text, places in zip(texts, found, strict=True)
        for at in places
        for near in range(max(0, at - 6), min(len(text.tokens), at + 6))
        if near != at and (near or text.tokens[near].tag.startswith("NNP"))
    )
