"""Relations of tasks on two English texts: what a premise and its hypothesis, a context and its question, or the two
texts of a pair are to each other.

Sources: the numbers 77 to 80 and 152 of LLMorph's list (Cho, Ruberto, Terragni, "Metamorphic testing of large language
models for natural language processing", ICSME 2025), written from their definitions with what follows from the premise
by logic alone; the symmetry of similarity and of contradiction.
"""

import random
from collections.abc import Sequence

from audit.packs.english.capitals import inside_sentence, is_statement
from audit.packs.english.negation import negate
from audit.packs.english.passages import passages
from audit.packs.english.perturbations import TOOLS, content_stems, irrelevant_to
from audit.packs.english.vocabulary import MODALS
from audit.relations.base import Carry, Outcome, Rewritten, Seen, Verdict, always, maps, stays
from audit.relations.expect import Labelled, Mapped, regardless, same_interval
from audit.relations.perturbations import SECOND, Use, joint_perturbation, perturbation, uses
from audit.tasks import Output
from audit.tasks.question_answering import UNANSWERABLE, normalised
from audit.tasks.similarity import LEVELS
from audit.text import Analysis
from audit.text.tokens import words

# Inference: what logic says of a premise and a hypothesis.

_FOLLOWING = "what follows from the premise"
DENYING = "denial"
_ENTAILED = Use(check=Labelled("entailment"), expects="the label is entailment", carry=always("entailment"))
_DENIED = {
    "entailment": ("contradiction",),
    "neutral": ("neutral",),
    "contradiction": ("entailment", "neutral"),
}
"""A premise that contradicts a sentence need not entail its denial: both may be beside the point of a picture."""
OPPOSITE = {
    "inference": Use(
        check=Mapped(tuple(_DENIED.items())),
        expects="entailment becomes contradiction, contradiction does not stay, neutral stays",
        texts=SECOND,
        carry=maps(_DENIED),
    )
}
_DEFINITE = words("the this that these those he she it they we i you his her its their our my your there")
"""Words with which a subject begins whose denial is that of the sentence: "a man is not here" says something else."""


_HEDGED = words("sort kind only most all every each any some few many no")
"""Words that a negation jars with, or denies alone: "not all came" leaves open whether some did."""


def _statement(text: Analysis) -> bool:
    """Whether a text is one plain sentence that says something: no question, no call, no list."""
    body = text.text.strip()
    return (
        len(text.spans) == 1
        and body[-1:] in (".", *"abcdefghijklmnopqrstuvwxyz")
        and not any(mark in body for mark in '?!:;"“()')
        and len(body.split()) > 2
    )


@joint_perturbation("hypothesis-from-premise", family=_FOLLOWING, tasks={"inference": _ENTAILED})
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


@joint_perturbation("hypothesis-with-premise", family=_FOLLOWING, tasks=uses("inference"))
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
    return Rewritten((premise.text, _joined(choices.choice(said), hypothesis.text)))


def _joined(first: str, second: str) -> str:
    first = first.rstrip()
    return f"{first}{'.' if first[-1:].isalnum() else ''} {second}"


@joint_perturbation(
    "swapped-contradiction",
    family="the texts swapped",
    tasks={
        "inference": Use(
            check=Mapped((("contradiction", ("contradiction",)),)),
            expects="contradiction stays",
            carry=stays("contradiction"),
        )
    },
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
    if not _statement(text) or not MODALS.isdisjoint(text.low):
        return False
    first = text.tokens[0]
    if not is_statement(text) or not _HEDGED.isdisjoint(text.low):
        return False
    return first.low in _DEFINITE or first.tag.startswith("NNP")


@perturbation("negated-hypothesis", family=DENYING, tasks=OPPOSITE, needs=TOOLS, grammar=True)
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


@perturbation("denied-hypothesis", family=DENYING, tasks=OPPOSITE, needs=TOOLS, grammar=True)
def denied_hypothesis(text: Analysis, choices: random.Random) -> str | None:
    """The hypothesis is denied: "It is not true that ...".

    Keeps the premise; may break how natural the hypothesis reads, and which part of a long one is denied.

    >>> denied_hypothesis(Analysis("A man is sleeping."), random.Random(0))
    'It is not true that a man is sleeping.'
    """
    return framed("It is not true that", text)


@perturbation(
    "affirmed-hypothesis",
    family="other words for the same",
    tasks=uses("inference", texts=SECOND),
    needs=TOOLS,
    grammar=True,
)
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


# Question answering.

_ASKING = "the question put otherwise"
_FRAMES = ("Can you tell me:", "I would like to know:", "Please answer this:", "My question is:", "Please tell me:")


@perturbation("polite-question", family=_ASKING, tasks=uses("question-answering"))
def polite_question(text: Analysis, choices: random.Random) -> str | None:
    """The question stands in a polite frame: "Can you tell me: ...?".

    Keeps the question, word for word; may break labels of politeness, and the answer of whoever replies to the request
    first.

    >>> polite_question(Analysis("Where does Ann live?"), random.Random(0))
    'My question is: Where does Ann live?'
    """
    if not text.text.rstrip().endswith("?"):
        return None
    frame = choices.choice(_FRAMES)
    return f"{frame.lower() if text.text.islower() else frame} {text.text}"


@regardless
def _unanswered(outputs: Sequence[Output]) -> Verdict:
    """The follow-up's answer is that there is none."""
    none = all(normalised(str(output.text)) == UNANSWERABLE for output in outputs[1:])
    return Verdict(Outcome.SATISFIED if none else Outcome.VIOLATED)


def _only_unanswerable(answer: str, source: Seen | None, follow_up: Seen | None) -> frozenset[str] | None:
    """Whatever is right of the source: no answer but that there is none is right of a context on something else."""
    if follow_up is None or follow_up.output.text is None:
        return None
    return frozenset({"right" if normalised(follow_up.output.text) == UNANSWERABLE else "wrong"})


@joint_perturbation(
    "other-context",
    family="the answer taken away",
    tasks={
        "question-answering": Use(
            check=_unanswered, expects="the question cannot be answered", carry=Carry(_only_unanswerable, reads=True)
        )
    },
)
def other_context(texts: Sequence[Analysis], choices: random.Random) -> Rewritten | None:
    """The context becomes four sentences about something else.

    Keeps the question; may break the label "unanswerable" for whoever answers from what everybody knows.

    They are of `data/sentences/irrelevant.txt` and share no word with the context or the question, of which at least
    two name something: "What is he?" may be answered by anything.

    >>> texts = Analysis("Ann Lee lives in Oslo."), Analysis("Where does Ann Lee live?")
    >>> other_context(texts, random.Random(0)).texts[1]
    'Where does Ann Lee live?'
    """
    _, question = texts
    candidates = irrelevant_to(texts)
    if len(candidates) < 4 or len(content_stems(question.text)) < 2:
        return None
    return Rewritten((" ".join(choices.sample(candidates, 4)), question.text))


# Similarity.

_PAIR = "the pair arranged otherwise"
_HIGHEST = LEVELS[-1]


@joint_perturbation("swapped-pair", family=_PAIR, tasks=uses("similarity", check=same_interval))
def swapped_pair(texts: Sequence[Analysis], choices: random.Random) -> Rewritten | None:
    """The two texts change places.

    Keeps both texts; may break the order of a pair in which one text answers, corrects or quotes the other.

    >>> swapped_pair((Analysis("It rains."), Analysis("It snows.")), random.Random(0)).texts
    ('It snows.', 'It rains.')
    """
    return Rewritten((texts[1].text, texts[0].text))


@joint_perturbation(
    "text-with-itself",
    family=_PAIR,
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
