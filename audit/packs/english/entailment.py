"""Perturbations of a premise and a hypothesis by which the label becomes another known one, or is known by the form.

After TextFlint's NumWord, SwapAnt and Overlap (Wang et al. 2021, section 3), with what makes their labels sure.
"""

import random
import re
from collections.abc import Mapping, Sequence
from functools import cache

from audit.packs.english.pairs import deniable, framed
from audit.packs.english.parser import Parse, Word, tree_of
from audit.packs.english.perturbations import TOOLS, content_stems
from audit.packs.english.tagging import base, forms
from audit.packs.english.vocabulary import NEGATIONS
from audit.relations.base import Rewritten, always, maps
from audit.relations.expect import Labelled, Mapped
from audit.relations.perturbations import Use, joint_perturbation
from audit.resources import data_file
from audit.text import Analysis
from audit.text.tokens import words

_TURNED = "entailment turned into contradiction"
_EMBEDDED = "the hypothesis inside the premise"
_CONTRADICTED = {"entailment": ("contradiction",)}
_TURNS = {
    "inference": Use(
        check=Mapped(tuple(_CONTRADICTED.items())),
        expects="entailment becomes contradiction",
        carry=maps(_CONTRADICTED),
    )
}


def _always(label: str) -> dict[str, Use]:
    return {"inference": Use(check=Labelled(label), expects=f"the label is {label}", carry=always(label))}


# A number of the hypothesis.

_SPELT: Mapping[str, int] = {
    "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10, "eleven": 11,
    "twelve": 12, "fifteen": 15, "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "eighty": 80,
}  # fmt: skip
_NUMBER = re.compile(rf"(?<![\w.,:/$€£-])(?:\d+(?:,\d{{3}})*|{'|'.join(_SPELT)})(?![\w:/%-]|[.,]\d)", re.IGNORECASE)
_VAGUE = NEGATIONS | words(
    "at more over under above below about around almost nearly roughly some between from until till since before after "
    "within by if unless may might could would should half twice or most every each either any per than exceed up only "
    "another other others least during"
)
"""Words by which a text with one number may be true with another, too: "at least two", "open from nine"."""


@joint_perturbation("changed-number", family=_TURNED, tasks=_TURNS)
def changed_number(texts: Sequence[Analysis], choices: random.Random) -> Rewritten | None:
    """A number of the hypothesis that the premise has, too, becomes a larger one.

    Keeps the premise and what is counted; may break the contradiction where the premise leaves room for more, and how
    likely the number is.

    Carries contradiction for entailment alone. No group where a word leaves room ("at least", "from").

    >>> texts = Analysis("Anna sold Tom two bicycles."), Analysis("Tom bought two bicycles.")
    >>> changed_number(texts, random.Random(0)).texts[1]
    'Tom bought six bicycles.'
    """
    premise, hypothesis = texts
    found = list(_NUMBER.finditer(hypothesis.text))
    stated = {_value(match.group()) for match in _NUMBER.finditer(premise.text)}
    shared = [match for match in found if _value(match.group()) in stated]
    if not shared or not _VAGUE.isdisjoint(re.findall(r"[a-z']+", hypothesis.text.lower())):
        return None
    number = choices.choice(shared)
    old = _value(number.group())
    if not _VAGUE.isdisjoint(_beside(premise.text, old)):
        return None
    if number.group().isalpha():
        larger = [word for word, value in _SPELT.items() if value > old and value not in stated][:5]
        new = choices.choice(larger) if larger else None
        new = new.capitalize() if new and number.group()[0].isupper() else new
    else:
        step = choices.randrange(3, 30) if 1000 < old < 2100 else choices.randrange(1, 10) * 10 ** (len(str(old)) - 1)
        new = f"{old + step:,}" if "," in number.group() else str(old + step)
        new = None if old + step in stated else new
    if new is None:
        return None
    start, end = number.span()
    return Rewritten((premise.text, hypothesis.text[:start] + new + hypothesis.text[end:]))


def _value(number: str) -> int:
    return _SPELT.get(number.lower()) or int(number.replace(",", ""))


def _beside(text: str, value: int) -> list[str]:
    """The three words before each place of a number in a text."""
    before = (text[: match.start()] for match in _NUMBER.finditer(text) if _value(match.group()) == value)
    return [word for part in before for word in re.findall(r"[a-z']+", part.lower())[-3:]]


# A word of the hypothesis.


@joint_perturbation("swapped-antonym", family=_TURNED, tasks=_TURNS, version="2", needs=TOOLS, grammar=True)
def swapped_antonym(texts: Sequence[Analysis], choices: random.Random) -> Rewritten | None:
    """What the hypothesis says of its subject becomes the opposite: "open", "closed".

    Keeps the premise and the subject; may break the contradiction where both words may be true at other times, or of
    other parts.

    Carries contradiction for entailment alone. The pairs are those of `data/lexicons/opposites.tsv`; the subject is a
    known one ("the", a name), nothing is negated or hedged.

    >>> texts = Analysis("The bank opens at nine and shuts at five."), Analysis("The bank is open at ten.")
    >>> swapped_antonym(texts, random.Random(0)).texts[1]
    'The bank is closed at ten.'
    """
    premise, hypothesis = texts
    tree = tree_of(hypothesis.tokens)
    if tree is None or not deniable(hypothesis) or not NEGATIONS.isdisjoint(hypothesis.low):
        return None
    new = {word.index: opposite for word in tree.words if (opposite := _opposite(tree, word))}
    if not new:
        return None
    at = choices.choice(sorted(new))
    return Rewritten((premise.text, hypothesis.replace({at: new[at]})))


_LASTING = words("minute minutes hour hours day days week weeks month months year years while moment all")


def _opposite(tree: Parse, word: Word) -> str | None:
    """What takes a word's place, where it is what the sentence says of its subject."""
    head = tree.words[word.head]
    own = {child.relation for child in tree.children(word.index)}
    if word.text != word.low or word.index == 0:
        return None
    if word.relation == "acomp" and head.relation == "ROOT" and base(head.low) == "be":
        alone = not own & {"conj", "advmod", "npadvmod"} and all(
            child.low != "of" for child in tree.children(word.index)
        )
        return _opposites().get(("ADJ", word.low)) if alone else None
    if word.relation == "prep" and head.relation == "ROOT":
        if _LASTING.isdisjoint(child.low for child in tree.under(word.index)):
            return _opposites().get(("ADP", word.low))
        return None
    if word.relation != "ROOT" or own & {"conj", "xcomp", "ccomp", "prt", "auxpass", "advmod", "acomp"}:
        return None
    opposite = _opposites().get(("VERB", base(word.low) or ""))
    if opposite is None or word.tag in ("VB", "VBP"):
        return opposite
    return next(iter(forms(opposite, word.tag)), None)


@cache
def _opposites() -> Mapping[tuple[str, str], str]:
    pairs: dict[tuple[str, str], str] = {}
    for line in data_file("lexicons/opposites.tsv").read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            part, word, opposite, *once = line.split("\t")
            pairs[part, word] = opposite
            if not once:
                pairs[part, opposite] = word
    return pairs


# The hypothesis stands, word for word, in a premise that leaves it open, states it or denies it.

_OPEN = (
    "Nobody knows whether", "It is not known whether", "A neighbour asked whether", "They will find out soon whether",
    "He would like to know whether", "Nothing in the letter says whether",
)  # fmt: skip
_FACTS = (
    "Everybody knows that", "It is a fact that", "It is well known that", "She was right when she said that",
    "He has just noticed that", "We were glad to find out that",
)  # fmt: skip
_FALSE = (
    "It is false that", "It is not the case that", "It is a lie that", "They were wrong to say that",
    "It is simply not true that", "He was mistaken when he said that",
)  # fmt: skip


_BESIDE = words("since because as if unless though although while whereas so for and but or nor yet even just")
"""Words by which a second clause may fall out of a frame: "nobody knows whether he left, since it rained"."""


def _embedded(frames: Sequence[str], texts: Sequence[Analysis], choices: random.Random) -> Rewritten | None:
    hypothesis = texts[1]
    premise = framed(choices.choice(frames), hypothesis)
    if premise is None or len(content_stems(hypothesis.text)) < 2 or _falls_apart(hypothesis):
        return None
    return Rewritten((premise, hypothesis.text))


def _falls_apart(text: Analysis) -> bool:
    """Whether a part of a statement stands outside a frame or jars with it: behind a comma or dash, before the subject,
    or as its reason."""
    low = text.low
    late = [at for at, word in enumerate(low) if word in _BESIDE and at > 2]
    clauses = [word for word in text.tokens if word.tag in ("VBZ", "VBP", "VBD", "MD")]
    fronted = text.tokens[0].tag == "IN" and low[0] not in ("all", "both")  # "whether on Sundays it opens"
    return fronted or not _BREAKS.isdisjoint(low) or (bool(late) and len(clauses) > 1)


_BREAKS = words(", - -- – — ...")


@joint_perturbation("overlap-open", family=_EMBEDDED, tasks=_always("neutral"), needs=TOOLS, grammar=True, version="2")
def overlap_open(texts: Sequence[Analysis], choices: random.Random) -> Rewritten | None:
    """The premise becomes the hypothesis as an open question: "Nobody knows whether ...".

    Keeps the hypothesis; may break all that the premise told, and the neutral label where common knowledge answers the
    question.

    All words are shared, and the label is neutral, whatever that of the source is. No group where the hypothesis is
    negated, which makes a clumsy question, or has a part that may be read outside the question.

    >>> overlap_open((Analysis("A cat eats."), Analysis("The dog is asleep.")), random.Random(0)).texts
    ('They will find out soon whether the dog is asleep.', 'The dog is asleep.')
    """
    return None if not _NEGATIVE.isdisjoint(texts[1].low) else _embedded(_OPEN, texts, choices)


_NEGATIVE = NEGATIONS | words("nobody nothing none neither nowhere any anything anybody anyone already still")


@joint_perturbation(
    "overlap-stated", family=_EMBEDDED, tasks=_always("entailment"), needs=TOOLS, grammar=True, version="2"
)
def overlap_stated(texts: Sequence[Analysis], choices: random.Random) -> Rewritten | None:
    """The premise becomes the hypothesis as a known fact: "Everybody knows that ...".

    Keeps the hypothesis; may break all that the premise told, and sense where the hypothesis is nothing that everybody
    could know.

    All words are shared, and the label is entailment, whatever that of the source is.

    >>> overlap_stated((Analysis("A cat eats."), Analysis("The dog is asleep.")), random.Random(0)).texts
    ('She was right when she said that the dog is asleep.', 'The dog is asleep.')
    """
    return _embedded(_FACTS, texts, choices)


@joint_perturbation(
    "overlap-denied", family=_EMBEDDED, tasks=_always("contradiction"), needs=TOOLS, grammar=True, version="2"
)
def overlap_denied(texts: Sequence[Analysis], choices: random.Random) -> Rewritten | None:
    """The premise becomes the denied hypothesis: "It is false that ...".

    Keeps the hypothesis; may break all that the premise told, and what is true of the world where a fact is called a
    lie.

    All words are shared, and the label is contradiction, whatever that of the source is.

    >>> overlap_denied((Analysis("A cat eats."), Analysis("The dog is asleep.")), random.Random(0)).texts
    ('They were wrong to say that the dog is asleep.', 'The dog is asleep.')
    """
    return _embedded(_FALSE, texts, choices)
