"""Relations of judges: what changes nothing of which answer is better, as orders, length, layout and claims.

Source of the kinds: Ye et al., "Justice or prejudice? Quantifying biases in LLM-as-a-judge" (CALM, ICLR 2025), section
3; Zeng et al., "Evaluating large language models at evaluating instruction following" (LLMBar, ICLR 2024), section 2.
"""

import random
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from audit.packs.preference import PLACES
from audit.relations import Outcome, Verdict
from audit.relations.base import ANY, Carry, Chained, Member, Plain, Rewritten, Seen, Source, Steps, maps, unchanged
from audit.relations.expect import Mapped, equivalent
from audit.relations.registry import get_relation, register
from audit.relations.uses import Use, relation
from audit.resources import data_rows
from audit.tasks import Input, Output
from audit.text import Analysis

_PREFERENCE = ("preference", "preference-tie")
_SWAPPED = {"one": ("two",), "two": ("one",), "tie": ("tie",)}
_BOTH_SAY = "both orders prefer the same answer"


def _swapped(labels: Sequence[str]) -> Use:
    answers = {label: _SWAPPED[label] for label in labels}
    return Use(check=Mapped(tuple(answers.items())), expects=_BOTH_SAY, carry=maps(answers))


@relation(
    "swapped-answers",
    family="order",
    tasks={"preference": _swapped(("one", "two")), "preference-tie": _swapped(("one", "two", "tie"))},
    by="input",
    languages=ANY,
)
def swapped_answers(texts: Sequence[Analysis], choices: random.Random) -> Rewritten:
    """The two answers change places

    Keeps every word; may break what the instruction says of a first or second answer.
    """
    instruction, first, two = (text.text for text in texts)
    return Rewritten((instruction, two, first))


# What is added to an answer.


def _added(text: Analysis, choices: random.Random, *, kind: str) -> str | None:
    """Return the answer with a sentence of this kind behind it, on a line of its own; None where it ends inside
    something."""
    sentences = [sentence for of, sentence in data_rows("sentences/judges.tsv", 2) if of == kind]
    body = text.text.rstrip()
    return f"{body}\n\n{choices.choice(sentences)}" if body and body.count("```") % 2 == 0 else None


def _laid_out(text: Analysis, choices: random.Random) -> str | None:
    """Return the sentences of an answer as a list with bold openings; None for one that is laid out already, or is not
    two sentences."""
    if len(text.spans) < 2 or re.search(r"[\n*#|`<>]|^\s*(?:[-•]|\d+[.)])\s", text.text):
        return None
    lines = []
    for start, end in text.spans:
        opening, space, rest = text.text[start:end].partition(" ")
        lines.append(f"- **{opening}**{space}{rest}")
    return "\n".join(lines)


Change = Callable[[Analysis, random.Random], str | None]
"""(answer, choices) -> the answer with what says nothing about its worth, or None."""
CHANGES: dict[str, tuple[str, Change, str]] = {
    name: (does, _laid_out if name == "list-and-bold" else partial(_added, kind=name), may_break)
    for name, does, may_break in (
        ("filler", "is padded with friendly words that say nothing",
         "answers that were to be short, or to hold one thing alone"),
        ("list-and-bold", "is laid out as a list with bold words",
         "an answer that was asked for in running text"),
        ("authority", "cites an authority",
         "answers that were to name no sources, or that the authority would deny"),
        ("popularity", "claims that most people prefer it",
         "answers about themselves, or about surveys"),
        ("order-to-judge", "tells the judge to choose it",
         "answers that were to be sent to someone as they are"),
    )
}  # fmt: skip
"""What a relation does to an answer, in words and as a function, and what it may break."""


def _carries(answer: str, source: Seen | None, follow_up: Seen | None) -> frozenset[str] | None:
    """What is right stays, where the answer that changed is the worse one; else people are asked."""
    if source is None or follow_up is None:
        return None
    place = PLACES.get(answer)
    return frozenset({answer}) if place and source.input.texts[place] == follow_up.input.texts[place] else None


@dataclass(frozen=True)
class _Walk:
    """The steps of a relation that changes the worse answer: by gold, else the one that the system did not choose."""

    name: str

    def __call__(self, source: Source, choices: random.Random) -> Steps:
        (output,) = yield [Member("source", source.input)]
        better = PLACES.get(source.gold or "") or PLACES.get(str(output.label))
        if better is None:
            return Verdict(Outcome.INAPPLICABLE, reason="the system has no preference")
        place = 3 - better
        changed = CHANGES[self.name][1](source.analyses[place], choices)
        if changed is None or changed in source.input.texts:
            return None
        texts = tuple(changed if at == place else text for at, text in enumerate(source.input.texts))
        (follow_up,) = yield [Member("follow_up", Input(texts, source.input.languages))]
        return equivalent([output, follow_up])


@dataclass(frozen=True, slots=True)
class WithinPoints:
    """The follow-up's points differ from the source's by at most `threshold`; the value is the difference.

    >>> WithinPoints()([Output("7"), Output("9")])
    Verdict(outcome=<Outcome.VIOLATED: 1>, value=2.0, reason=None)
    """

    threshold: float = 1.0

    def __call__(self, outputs: Sequence[Output]) -> Verdict:
        first, *others = (int(str(output.label)) for output in outputs)
        value = max((other - first for other in others), key=abs)
        return Verdict(Outcome.SATISFIED if abs(value) <= self.threshold else Outcome.VIOLATED, float(value))


_SAME_POINTS = {
    "en": "Do texts A and B deserve the same number of points, give or take one?",
    "zh": "文本A和文本B应得的分数是否相同（最多相差一分）？",
}
for _name, (_words, _change, _may_break) in CHANGES.items():
    for _task in _PREFERENCE:
        register(
            Chained(
                task=_task,
                name=_name,
                family="what says nothing",
                summary=f"The worse answer (by gold, else the one not chosen) {_words}; the choice stays.",
                unit="any",
                carry=Carry(_carries, reads=True),
                walk=_Walk(_name),
                expects=equivalent,
            )
        )
    register(
        Plain(
            task="points",
            name=_name,
            family="what says nothing",
            summary=f"The answer {_words}; the points stay within the threshold.",
            unit="any",
            carry=unchanged,
            keeps="every word of the answer",
            may_break=_may_break,
            question=_SAME_POINTS,
            perturb=_change,
            texts=(1,),
            check=WithinPoints(),
            params={"threshold": WithinPoints().threshold},
        )
    )

_SAME = Use(check=equivalent, expects="the choice stays")
_POINTS = Use(check=WithinPoints(), expects="the points stay within the threshold", question=_SAME_POINTS)


def _everywhere(preference: tuple[int, ...], points: tuple[int, ...]) -> dict[str, Use]:
    """The uses of a change of these texts of an input."""
    return {task: replace(_SAME, texts=preference) for task in _PREFERENCE} | {"points": replace(_POINTS, texts=points)}


@relation("typos", family="noise in letters", tasks=_everywhere((1, 2), (1,)))
def typos(text: Analysis, choices: random.Random) -> str | None:
    """Some letters of every answer are mistyped

    Keeps what a reader understands; may break answers whose worth is their spelling.
    """
    perturb: Change = get_relation("sentiment", "typos").perturb  # type: ignore[attr-defined]
    return perturb(text, choices)


@relation("polite-instruction", family="other words for the same", tasks=_everywhere((0,), (0,)))
def polite_instruction(text: Analysis, choices: random.Random) -> str | None:
    """The instruction is asked politely

    Keeps what is asked for; may break instructions that quote or count their own words.
    """
    body = text.text.lstrip()
    greets = re.match(r"(?:hi|hey|hello|dear|please|thanks?|(?:could|can|would|will) you)\b", body, re.IGNORECASE)
    return None if greets else f"{choices.choice(_OPENINGS)} {body}"


_OPENINGS = ("Hello!", "Here is my request:", "I would be glad of your help with this:")
