"""Relations of tasks on two English texts: a premise and its hypothesis, the two texts of a pair, a context and a
question.

Sources: the numbers 77 to 80 and 152 of LLMorph's list (Cho, Ruberto, Terragni, "Metamorphic testing of large language
models for natural language processing", ICSME 2025), written from their definitions with what follows from the premise
by logic alone; TextFlint's NumWord, Overlap, PerturbQuestion, AddSent and PerturbAnswer (Wang et al. 2021, section 3)
with what makes their labels sure; the symmetry of similarity and of contradiction.
"""

import random
import re
from collections.abc import Sequence

from audit.packs.english.emphasis import negate
from audit.packs.english.guard import inside_sentence, is_statement, passages
from audit.packs.english.perturbations import (
    SENTENCES,
    appended,
    content_stems,
    ends,
    irrelevant_to,
    parsed,
    perturbation,
)
from audit.packs.english.vocabulary import FINITE, MODALS, NEGATIONS, Lists, lines
from audit.relations.base import Carry, Outcome, Rewritten, Seen, Verdict, always
from audit.relations.expect import Labelled, regardless, same_interval
from audit.relations.uses import SECOND, Use, leading, uses
from audit.tasks import Output
from audit.tasks.question_answering import UNANSWERABLE, normalised
from audit.tasks.similarity import LEVELS
from audit.text import Analysis

_LISTS = Lists("pairs")

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


def _always(label: str) -> dict[str, Use]:
    return {"inference": Use(check=Labelled(label), expects=f"the label is {label}", carry=always(label))}


def _statement(text: Analysis) -> bool:
    """Return whether a text is one plain sentence that says something: no question, no call, no list."""
    body = text.text.strip()
    plain = re.fullmatch(r"""[^?!:;"“()]*[.a-z]""", body, re.DOTALL) is not None
    return plain and len(text.spans) == 1 and len(body.split()) > 2


@perturbation("hypothesis-from-premise", family=_FOLLOWING, tasks=_always("entailment"), by="input")
def hypothesis_from_premise(texts: Sequence[Analysis], choices: random.Random) -> Rewritten | None:
    """The hypothesis becomes the premise, or a sentence of it."""
    said = _said(*texts)
    return Rewritten((texts[0].text, choices.choice(said))) if said else None


def _said(premise: Analysis, hypothesis: Analysis) -> list[str]:
    """Return the sentences of a premise that say something, other than the hypothesis."""
    sentences = [sentence for sentence in passages(premise).sentences if _statement(sentence)]
    return [sentence.text for sentence in sentences if normalised(sentence.text) != normalised(hypothesis.text)]


@perturbation("hypothesis-with-premise", family=_FOLLOWING, tasks=uses("inference"), by="input")
def hypothesis_with_premise(texts: Sequence[Analysis], choices: random.Random) -> Rewritten | None:
    """The premise, or a sentence of it, is added to the hypothesis."""
    premise, hypothesis = texts
    said = _said(premise, hypothesis)
    if not said or not _statement(hypothesis):
        return None
    first = choices.choice(said).rstrip()
    return Rewritten((premise.text, f"{first}{'.' if first[-1:].isalnum() else ''} {hypothesis.text}"))


@perturbation(
    "swapped-contradiction",
    family="the texts swapped",
    tasks={"inference": leading({"contradiction": ("contradiction",)}, "contradiction stays")},
    by="input",
)
def swapped_contradiction(texts: Sequence[Analysis], choices: random.Random) -> Rewritten | None:
    """Premise and hypothesis change places."""
    return Rewritten((texts[1].text, texts[0].text))


def deniable(text: Analysis) -> bool:
    """Return whether a negation of a text's main verb denies what it says: one statement on a known subject, unhedged
    ("a man is not here" does not deny "a man is here")."""
    if not _statement(text) or not (MODALS | _LISTS.hedged).isdisjoint(text.low) or not is_statement(text):
        return False
    first = text.tokens[0]
    return first.low in _LISTS.definite or first.tag.startswith("NNP")


@parsed("negated-hypothesis", family=DENYING, tasks=OPPOSITE)
def negated_hypothesis(text: Analysis, choices: random.Random) -> str | None:
    """The main verb of the hypothesis is negated."""
    return negate(text, strict=False) if deniable(text) else None


@parsed("denied-hypothesis", family=DENYING, tasks=OPPOSITE)
def denied_hypothesis(text: Analysis, choices: random.Random) -> str | None:
    """The hypothesis is denied: "It is not true that ..."."""
    return framed("It is not true that", text)


@parsed("affirmed-hypothesis", family="other words for the same", tasks=uses("inference", texts=SECOND))
def affirmed_hypothesis(text: Analysis, choices: random.Random) -> str | None:
    """The hypothesis is affirmed: "It is true that ..."."""
    return framed("It is true that", text)


def framed(frame: str, text: Analysis) -> str | None:
    """Return a statement behind words such as "It is true that"; None where it is none."""
    follows = inside_sentence(text) if _statement(text) else None
    return None if follows is None else f"{frame.lower() if text.text.islower() else frame} {follows}"


# A number of the hypothesis.

_SPELT = {
    "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10, "eleven": 11,
    "twelve": 12, "fifteen": 15, "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "eighty": 80,
}  # fmt: skip
_NUMBER = re.compile(rf"(?<![\w.,:/$€£-])(?:\d+(?:,\d{{3}})*|{'|'.join(_SPELT)})(?![\w:/%-]|[.,]\d)", re.IGNORECASE)
_VAGUE = NEGATIONS | _LISTS.vague
"""Words by which a text with one number may be true with another, too: "at least two", "open from nine"."""


@perturbation("changed-number", family=_TURNED, tasks={"inference": CONTRARY}, by="input")
def changed_number(texts: Sequence[Analysis], choices: random.Random) -> Rewritten | None:
    """A number of the hypothesis that the premise has, too, becomes a larger one."""
    premise, hypothesis = (text.text for text in texts)
    stated = [(_value(match.group()), match.start()) for match in _NUMBER.finditer(premise)]
    values = {value for value, _ in stated}
    shared = [match for match in _NUMBER.finditer(hypothesis) if _value(match.group()) in values]
    if not shared or not _VAGUE.isdisjoint(_words(hypothesis)):
        return None
    number = choices.choice(shared)
    if any(not _VAGUE.isdisjoint(_words(premise[:at])[-3:]) for value, at in stated if value == _value(number.group())):
        return None
    new = _larger(number.group(), values, choices)
    return Rewritten((premise, hypothesis[: number.start()] + new + hypothesis[number.end() :])) if new else None


def _words(text: str) -> list[str]:
    return re.findall("[a-z']+", text.lower())


def _value(number: str) -> int:
    return _SPELT.get(number.lower()) or int(number.replace(",", ""))


def _larger(number: str, stated: set[int], choices: random.Random) -> str | None:
    """Return a larger number that a text does not state, written as this one is."""
    old = _value(number)
    if number.isalpha():
        larger = [word for word, value in _SPELT.items() if value > old and value not in stated][:5]
        new = choices.choice(larger) if larger else None
        return new.capitalize() if new and number[0].isupper() else new
    step = choices.randrange(3, 30) if 1000 < old < 2100 else choices.randrange(1, 10) * 10 ** (len(str(old)) - 1)
    return None if old + step in stated else f"{old + step:,}" if "," in number else str(old + step)


# The hypothesis stands, word for word, in a premise that leaves it open, states it or denies it.


def _embedded(frames: str, texts: Sequence[Analysis], choices: random.Random) -> Rewritten | None:
    """Return the hypothesis in one of the frames as the premise."""
    hypothesis = texts[1]
    premise, low = framed(choices.choice(lines(f"pairs.{frames}")), hypothesis), hypothesis.low
    if premise is None or len(content_stems(hypothesis.text)) < 2 or not _LISTS.breaks.isdisjoint(low):
        return None
    fronted = hypothesis.tokens[0].tag == "IN" and low[0] not in ("all", "both")
    clauses = sum(word.tag in FINITE for word in hypothesis.tokens)
    if fronted or (clauses > 1 and not _LISTS.beside.isdisjoint(low[3:])):
        return None
    return Rewritten((premise, hypothesis.text))


@parsed("overlap-open", family=_EMBEDDED, tasks=_always("neutral"), by="input", version="2")
def overlap_open(texts: Sequence[Analysis], choices: random.Random) -> Rewritten | None:
    """The premise becomes the hypothesis as an open question: "Nobody knows whether ..."."""
    negated = not (NEGATIONS | _LISTS.negative).isdisjoint(texts[1].low)
    return None if negated else _embedded("open", texts, choices)


@parsed("overlap-stated", family=_EMBEDDED, tasks=_always("entailment"), by="input", version="2")
def overlap_stated(texts: Sequence[Analysis], choices: random.Random) -> Rewritten | None:
    """The premise becomes the hypothesis as a known fact: "Everybody knows that ..."."""
    return _embedded("facts", texts, choices)


@parsed("overlap-denied", family=_EMBEDDED, tasks=_always("contradiction"), by="input", version="2")
def overlap_denied(texts: Sequence[Analysis], choices: random.Random) -> Rewritten | None:
    """The premise becomes the denied hypothesis: "It is false that ..."."""
    return _embedded("false", texts, choices)


# Similarity.

_PAIR = "the pair arranged otherwise"
_HIGHEST = LEVELS[-1]


@perturbation("swapped-pair", family=_PAIR, tasks=uses("similarity", check=same_interval), by="input")
def swapped_pair(texts: Sequence[Analysis], choices: random.Random) -> Rewritten | None:
    """The two texts change places."""
    return Rewritten((texts[1].text, texts[0].text))


@perturbation(
    "text-with-itself",
    family=_PAIR,
    by="input",
    tasks={"similarity": Use(check=Labelled(_HIGHEST), expects="the interval is the highest", carry=always(_HIGHEST))},
)
def text_with_itself(texts: Sequence[Analysis], choices: random.Random) -> Rewritten | None:
    """One of the texts stands in the place of both."""
    text = choices.choice(texts).text
    return Rewritten((text, text))


# Questions: the answer stays, or there is none any more. TextFlint's ModifyPos is `irrelevant-opening`.

_ASKING = "the question put otherwise"
_ANSWERED = uses("question-answering")
_FRAMES = ("Can you tell me:", "I would like to know:", "Please answer this:", "My question is:", "Please tell me:")


@perturbation("polite-question", family=_ASKING, tasks=_ANSWERED)
def polite_question(text: Analysis, choices: random.Random) -> str | None:
    """The question stands in a polite frame: "Can you tell me: ...?"."""
    if not text.text.rstrip().endswith("?"):
        return None
    frame = choices.choice(_FRAMES)
    return f"{frame.lower() if text.text.islower() else frame} {text.text}"


@perturbation("distractor-sentence", family=SENTENCES, tasks=_ANSWERED, by="input")
def distractor_sentence(texts: Sequence[Analysis], choices: random.Random) -> Rewritten | None:
    """A sentence with the question's own words, a name, a place and a year stands at the end of the context."""
    context, question = texts
    sentence = question.text.strip()
    if (
        not ends(context.text)
        or not sentence.endswith("?")
        or '"' in sentence
        or re.search(r"\bask|question", sentence.lower())
    ):
        return None
    person, place = choices.choice(lines("pairs.people")), choices.choice(lines("pairs.places"))
    year = choices.randrange(1950, 1999)
    if any(name in f"{context.text} {sentence}" for name in (person.split()[0], place.split()[0], str(year))):
        return None
    return Rewritten((appended(context, f'In {year} {person} of {place} asked: "{sentence}"'), question.text))


@regardless
def _unanswered(outputs: Sequence[Output]) -> Verdict:
    """Check that the follow-up's answer is that there is none."""
    none = all(normalised(str(output.text)) == UNANSWERABLE for output in outputs[1:])
    return Verdict(Outcome.SATISFIED if none else Outcome.VIOLATED)


def _only_unanswerable(answer: str, source: Seen | None, follow_up: Seen | None) -> frozenset[str] | None:
    """Carry right to the answer that there is none, whatever is right of the source."""
    if follow_up is None or follow_up.output.text is None:
        return None
    return frozenset({"right" if normalised(follow_up.output.text) == UNANSWERABLE else "wrong"})


@perturbation(
    "other-context",
    family="the answer taken away",
    tasks={
        "question-answering": Use(
            check=_unanswered, expects="the question cannot be answered", carry=Carry(_only_unanswerable, reads=True)
        )
    },
    by="input",
)
def other_context(texts: Sequence[Analysis], choices: random.Random) -> Rewritten | None:
    """The context becomes four sentences about something else."""
    _, question = texts
    candidates = irrelevant_to(texts)
    if len(candidates) < 4 or len(content_stems(question.text)) < 2:
        return None
    return Rewritten((" ".join(choices.sample(candidates, 4)), question.text))
