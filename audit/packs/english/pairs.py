"""Relations of tasks on two English texts: what a premise and its hypothesis, or the two texts of a pair, are to each
other.

Sources: the numbers 77 to 80 and 152 of LLMorph's list (Cho, Ruberto, Terragni, "Metamorphic testing of large language
models for natural language processing", ICSME 2025), written from their definitions with what follows from the premise
by logic alone; TextFlint's NumWord and Overlap (Wang et al. 2021, section 3) with what makes their labels sure; the
symmetry of similarity and of contradiction.
"""

import random
import re
from collections.abc import Sequence

from audit.packs.english.capitals import inside_sentence, is_statement
from audit.packs.english.negation import negate
from audit.packs.english.passages import passages
from audit.packs.english.perturbations import content_stems, parsed
from audit.packs.english.vocabulary import FINITE, MODALS, NEGATIONS
from audit.relations.base import Rewritten, always
from audit.relations.expect import Labelled, same_interval
from audit.relations.uses import SECOND, Use, leading, relation, uses
from audit.tasks.question_answering import normalised
from audit.tasks.similarity import LEVELS
from audit.text import Analysis
from audit.text.tokens import words

# Inference: what logic says of a premise and a hypothesis.

_FOLLOWING = "what follows from the premise"
_TURNED = "entailment turned into contradiction"
_EMBEDDED = "the hypothesis inside the premise"
DENYING = "denial"
# A premise that contradicts a sentence need not entail its denial: both may be beside the point of a picture.
_DENIED = {"entailment": ("contradiction",), "neutral": ("neutral",), "contradiction": ("entailment", "neutral")}
_DENIES = "entailment becomes contradiction, contradiction does not stay, neutral stays"
OPPOSITE = {"inference": leading(_DENIED, _DENIES, texts=SECOND)}
CONTRARY = leading({"entailment": ("contradiction",)}, "entailment becomes contradiction", texts=SECOND)
_DEFINITE = words("the this that these those he she it they we i you his her its our their my your there")
"""Words with which a subject begins whose denial is that of the sentence: "a man is not here" says something else."""
_HEDGED = words("sort kind only most all every each any some few many no")
"""Words that a negation jars with, or denies alone: "not all came" leaves open whether some did."""


def _always(label: str) -> dict[str, Use]:
    return {"inference": Use(check=Labelled(label), expects=f"the label is {label}", carry=always(label))}


def _statement(text: Analysis) -> bool:
    """Whether a text is one plain sentence that says something: no question, no call, no list."""
    body = text.text.strip()
    return (
        len(text.spans) == 1
        and body[-1:] in (".", *"abcdefghijklmnopqrstuvwxyz")
        and not any(mark in body for mark in '?!:;"“()')
        and len(body.split()) > 2
    )


@relation("hypothesis-from-premise", family=_FOLLOWING, tasks=_always("entailment"), by="input")
def hypothesis_from_premise(texts: Sequence[Analysis], choices: random.Random) -> Rewritten | None:
    """The hypothesis becomes the premise, or a sentence of it.

    Keeps the premise; may break all that the old hypothesis said, and a pronoun in a sentence that is taken out of its
    premise.

    >>> texts = Analysis("Two dogs run."), Analysis("A cat sleeps.")
    >>> hypothesis_from_premise(texts, random.Random(0)).texts
    ('Two dogs run.', 'Two dogs run.')
    """
    premise, hypothesis = texts
    said = _said(premise, hypothesis)
    return Rewritten((premise.text, choices.choice(said))) if said else None


def _said(premise: Analysis, hypothesis: Analysis) -> list[str]:
    """Sentences of a premise that say something, other than the hypothesis."""
    sentences = [sentence for sentence in passages(premise).sentences if _statement(sentence)]
    return [sentence.text for sentence in sentences if normalised(sentence.text) != normalised(hypothesis.text)]


@relation("hypothesis-with-premise", family=_FOLLOWING, tasks=uses("inference"), by="input")
def hypothesis_with_premise(texts: Sequence[Analysis], choices: random.Random) -> Rewritten | None:
    """The premise, or a sentence of it, is added to the hypothesis.

    Keeps both texts; may break the thread of the hypothesis, and whom or what its pronouns mean.

    >>> hypothesis_with_premise((Analysis("Two dogs run."), Analysis("They are brown.")), random.Random(0)).texts[1]
    'Two dogs run. They are brown.'
    """
    premise, hypothesis = texts
    said = _said(premise, hypothesis)
    if not said or not _statement(hypothesis):
        return None
    first = choices.choice(said).rstrip()
    return Rewritten((premise.text, f"{first}{'.' if first[-1:].isalnum() else ''} {hypothesis.text}"))


@relation(
    "swapped-contradiction",
    family="the texts swapped",
    tasks={"inference": leading({"contradiction": ("contradiction",)}, "contradiction stays")},
    by="input",
)
def swapped_contradiction(texts: Sequence[Analysis], choices: random.Random) -> Rewritten | None:
    """Premise and hypothesis change places.

    Keeps both texts; may break entailment and neutral, and what "the" or a pronoun in the later text pointed back to.

    >>> swapped_contradiction((Analysis("A dog runs."), Analysis("The dog sleeps.")), random.Random(0)).texts
    ('The dog sleeps.', 'A dog runs.')
    """
    return Rewritten((texts[1].text, texts[0].text))


def deniable(text: Analysis) -> bool:
    """Whether a negation of a text's main verb denies what it says: one statement on a known subject, unhedged.

    >>> deniable(Analysis("The man is here.")), deniable(Analysis("A man is here."))
    (True, False)
    """
    if not _statement(text) or not (MODALS | _HEDGED).isdisjoint(text.low) or not is_statement(text):
        return False
    first = text.tokens[0]
    return first.low in _DEFINITE or first.tag.startswith("NNP")


@parsed("negated-hypothesis", family=DENYING, tasks=OPPOSITE)
def negated_hypothesis(text: Analysis, choices: random.Random) -> str | None:
    """The main verb of the hypothesis is negated.

    Keeps the premise and the subject; may break the scope: "did not leave on Monday" may deny the day alone.

    Only where the subject is a known one, so that the negation denies the sentence: "a man is not here" does not deny
    "a man is here"; and no "may" or "should".

    >>> negated_hypothesis(Analysis("The man is sleeping."), random.Random(0))
    'The man is not sleeping.'
    >>> negated_hypothesis(Analysis("A man is sleeping."), random.Random(0)) is None
    True
    """
    return negate(text, strict=False) if deniable(text) else None


@parsed("denied-hypothesis", family=DENYING, tasks=OPPOSITE)
def denied_hypothesis(text: Analysis, choices: random.Random) -> str | None:
    """The hypothesis is denied: "It is not true that ...".

    Keeps the premise; may break how natural the hypothesis reads, and which part of a long one is denied.

    >>> denied_hypothesis(Analysis("A man is sleeping."), random.Random(0))
    'It is not true that a man is sleeping.'
    """
    return framed("It is not true that", text)


@parsed("affirmed-hypothesis", family="other words for the same", tasks=uses("inference", texts=SECOND))
def affirmed_hypothesis(text: Analysis, choices: random.Random) -> str | None:
    """The hypothesis is affirmed: "It is true that ...".

    Keeps what the hypothesis says; may break its tone: "It is true that" concedes something, and lets readers wait for
    a "but".

    >>> affirmed_hypothesis(Analysis("A man is sleeping."), random.Random(0))
    'It is true that a man is sleeping.'
    """
    return framed("It is true that", text)


def framed(frame: str, text: Analysis) -> str | None:
    """A statement behind words such as "It is true that"; None where it is none.

    >>> framed("It is true that", Analysis("The man is here."))
    'It is true that the man is here.'
    """
    follows = inside_sentence(text) if _statement(text) else None
    return None if follows is None else f"{frame.lower() if text.text.islower() else frame} {follows}"


# A number of the hypothesis.

_SPELT = {
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


@relation("changed-number", family=_TURNED, tasks={"inference": CONTRARY}, by="input")
def changed_number(texts: Sequence[Analysis], choices: random.Random) -> Rewritten | None:
    """A number of the hypothesis that the premise has, too, becomes a larger one.

    Keeps the premise and what is counted; may break the contradiction where the premise leaves room for more, and how
    likely the number is.

    Carries contradiction for entailment alone. No group where a word leaves room ("at least", "from").

    >>> texts = Analysis("Anna sold Tom two bicycles."), Analysis("Tom bought two bicycles.")
    >>> changed_number(texts, random.Random(0)).texts[1]
    'Tom bought six bicycles.'
    """
    premise, hypothesis = (text.text for text in texts)
    stated = {_value(match.group()) for match in _NUMBER.finditer(premise)}
    shared = [match for match in _NUMBER.finditer(hypothesis) if _value(match.group()) in stated]
    if not shared or not _VAGUE.isdisjoint(_WORD.findall(hypothesis.lower())):
        return None
    number = choices.choice(shared)
    before = [
        premise[: match.start()]
        for match in _NUMBER.finditer(premise)
        if _value(match.group()) == _value(number.group())
    ]
    if any(not _VAGUE.isdisjoint(_WORD.findall(part.lower())[-3:]) for part in before):
        return None
    new = _larger(number.group(), stated, choices)
    return Rewritten((premise, hypothesis[: number.start()] + new + hypothesis[number.end() :])) if new else None


_WORD = re.compile("[a-z']+")


def _value(number: str) -> int:
    return _SPELT.get(number.lower()) or int(number.replace(",", ""))


def _larger(number: str, stated: set[int], choices: random.Random) -> str | None:
    """A larger number that a text does not state, written as this one is."""
    old = _value(number)
    if number.isalpha():
        larger = [word for word, value in _SPELT.items() if value > old and value not in stated][:5]
        new = choices.choice(larger) if larger else None
        return new.capitalize() if new and number[0].isupper() else new
    step = choices.randrange(3, 30) if 1000 < old < 2100 else choices.randrange(1, 10) * 10 ** (len(str(old)) - 1)
    return None if old + step in stated else f"{old + step:,}" if "," in number else str(old + step)


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
_BREAKS = words(", - -- – — ...")
_NEGATIVE = NEGATIONS | words("nobody nothing none neither nowhere any anything anybody anyone already still")


def _embedded(frames: Sequence[str], texts: Sequence[Analysis], choices: random.Random) -> Rewritten | None:
    """The hypothesis in one of the frames as the premise; None where a part of it would stand outside the frame or jar
    with it: behind a comma or dash, before the subject ("whether on Sundays it opens"), or as its reason."""
    hypothesis = texts[1]
    premise, low = framed(choices.choice(frames), hypothesis), hypothesis.low
    if premise is None or len(content_stems(hypothesis.text)) < 2 or not _BREAKS.isdisjoint(low):
        return None
    fronted = hypothesis.tokens[0].tag == "IN" and low[0] not in ("all", "both")
    clauses = sum(word.tag in FINITE for word in hypothesis.tokens)
    if fronted or (clauses > 1 and not _BESIDE.isdisjoint(low[3:])):
        return None
    return Rewritten((premise, hypothesis.text))


@parsed("overlap-open", family=_EMBEDDED, tasks=_always("neutral"), by="input", version="2")
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


@parsed("overlap-stated", family=_EMBEDDED, tasks=_always("entailment"), by="input", version="2")
def overlap_stated(texts: Sequence[Analysis], choices: random.Random) -> Rewritten | None:
    """The premise becomes the hypothesis as a known fact: "Everybody knows that ...".

    Keeps the hypothesis; may break all that the premise told, and sense where the hypothesis is nothing that everybody
    could know.

    All words are shared, and the label is entailment, whatever that of the source is.

    >>> overlap_stated((Analysis("A cat eats."), Analysis("The dog is asleep.")), random.Random(0)).texts
    ('She was right when she said that the dog is asleep.', 'The dog is asleep.')
    """
    return _embedded(_FACTS, texts, choices)


@parsed("overlap-denied", family=_EMBEDDED, tasks=_always("contradiction"), by="input", version="2")
def overlap_denied(texts: Sequence[Analysis], choices: random.Random) -> Rewritten | None:
    """The premise becomes the denied hypothesis: "It is false that ...".

    Keeps the hypothesis; may break all that the premise told, and what is true of the world where a fact is called a
    lie.

    All words are shared, and the label is contradiction, whatever that of the source is.

    >>> overlap_denied((Analysis("A cat eats."), Analysis("The dog is asleep.")), random.Random(0)).texts
    ('They were wrong to say that the dog is asleep.', 'The dog is asleep.')
    """
    return _embedded(_FALSE, texts, choices)


# Similarity.

_PAIR = "the pair arranged otherwise"
_HIGHEST = LEVELS[-1]


@relation("swapped-pair", family=_PAIR, tasks=uses("similarity", check=same_interval), by="input")
def swapped_pair(texts: Sequence[Analysis], choices: random.Random) -> Rewritten | None:
    """The two texts change places.

    Keeps both texts; may break the order of a pair in which one text answers, corrects or quotes the other.

    >>> swapped_pair((Analysis("It rains."), Analysis("It snows.")), random.Random(0)).texts
    ('It snows.', 'It rains.')
    """
    return Rewritten((texts[1].text, texts[0].text))


@relation(
    "text-with-itself",
    family=_PAIR,
    by="input",
    tasks={"similarity": Use(check=Labelled(_HIGHEST), expects="the interval is the highest", carry=always(_HIGHEST))},
)
def text_with_itself(texts: Sequence[Analysis], choices: random.Random) -> Rewritten | None:
    """One of the texts stands in the place of both.

    Keeps one of the texts; may break the other, which is gone, and the sense of asking: nobody needs to compare a text
    with itself.

    >>> text_with_itself((Analysis("It rains."), Analysis("It snows.")), random.Random(1)).texts
    ('It rains.', 'It rains.')
    """
    text = choices.choice(texts).text
    return Rewritten((text, text))
