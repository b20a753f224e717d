"""Language models as judges: which of two answers follows an instruction better, or how many points an answer deserves;
baselines that judge by what says nothing."""

import re
from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass
from functools import partial

from audit import registry
from audit.errors import BadOutput
from audit.systems.base import Ready
from audit.tasks import Input, LabelTask, Output, Wording
from audit.tasks.words import read_guideline

TIE = "tie"
TOLERANCE = 1
"""Points by which a right judge may be off, of 10."""
PLACES = {"one": 1, "two": 2}
"""A preference -> the place of that answer in an input."""
_NAMES = {"one": "Answer 1", "two": "Answer 2", TIE: "Equally good"}
_CHINESE_NAMES = {"one": "回答一", "two": "回答二", TIE: "一样好"}


def _told(task: str, language: str) -> str:
    return read_guideline(task, language).text


def _version(task: str) -> int:
    return read_guideline(task, "en").version


def _preference(name: str, labels: Sequence[str]) -> LabelTask:
    return LabelTask(
        name,
        tuple(labels),
        "Which answer follows the instruction better?",
        texts=3,
        text_names=("instruction", "answer_1", "answer_2"),
        guideline_version=_version("preference"),
        wordings={
            "en": Wording(
                name=name,
                texts=("Instruction", "Answer 1", "Answer 2"),
                labels=_NAMES,
                guideline=_told("preference", "en"),
            ),
            "zh": Wording(
                name="偏好",
                question="哪个回答更符合指令？",
                texts=("指令", "回答一", "回答二"),
                labels=_CHINESE_NAMES,
                guideline=_told("preference", "zh"),
            ),
        },
    )


@dataclass(frozen=True)
class PointsTask(LabelTask):
    """A task whose outputs are whole points, right within `TOLERANCE` of an answer.

    >>> POINTS.is_wrong(Output("7"), {"8"}), POINTS.is_wrong(Output("7"), {"9"})
    (False, True)
    """

    def checked(self, output: Output) -> Output:
        """Return the points as a label. Raises BadOutput for what is no whole number of them."""
        if str(output.label).strip() not in self.labels:
            raise BadOutput(f"points {output.label!r} are no whole number from 1 to {self.labels[-1]}")
        return Output(str(output.label).strip(), output.score)

    def is_wrong(self, output: Output, allowed: Set[str]) -> bool:
        """Return whether the points are further than `TOLERANCE` from each answer."""
        return all(abs(int(str(output.label)) - int(points)) > TOLERANCE for points in allowed)


POINTS = PointsTask(
    "points",
    tuple(map(str, range(1, 11))),
    "How many points of 10 does the answer deserve?",
    texts=2,
    text_names=("instruction", "response"),
    guideline_version=_version("points"),
    wordings={
        "en": Wording(texts=("Instruction", "Answer"), guideline=_told("points", "en")),
        "zh": Wording(
            name="打分",
            question="这个回答值几分（满分 10 分）？",
            texts=("指令", "回答"),
            guideline=_told("points", "zh"),
        ),
    },
)
for _task in (_preference("preference", tuple(PLACES)), _preference("preference-tie", (*PLACES, TIE)), POINTS):
    registry.tasks.register(_task.name, _task)


def _words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.casefold()))


JUDGES: dict[str, tuple[str, Callable[[str, str], int]]] = {
    "first": ("prefers the first answer, whatever it says", lambda instruction, answer: 0),
    "longer": ("prefers the answer with more characters", lambda instruction, answer: len(answer)),
    "overlap": (
        "prefers the answer with more of the instruction's words",
        lambda instruction, answer: len(_words(instruction) & _words(answer)),
    ),
}
"""Rules of judges: what each does, and what makes an answer (behind the instruction) the larger one."""


class Judge(Ready):
    """The system `judge-RULE`: it prefers the answer that is larger by a rule, the first one among equals.

    >>> Judge("longer").run([Input.of("Say hello.", "Hello.", "Hello, hello!")])[0].label
    'two'
    """

    tasks: tuple[str, ...] = ("preference", "preference-tie")
    languages: tuple[str, ...] = ("*",)
    version = "1"
    deterministic = True

    def __init__(self, rule: str):
        self.name, self.settings = f"judge-{rule}", dict[str, object]()
        self.summary, self._size = JUDGES[rule]

    def run(self, inputs: Sequence[Input]) -> list[Output]:
        """Return a preference for each input."""
        sizes = ([self._size(item.text, answer) for answer in item.texts[1:]] for item in inputs)
        return [Output("two" if two > first else "one") for first, two in sizes]


for _rule in JUDGES:
    registry.systems.register(f"judge-{_rule}", partial(Judge, _rule))
