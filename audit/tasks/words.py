"""The words of tasks: one function says what people read about a task, whoever brings it, in one language.

Words of audit's own tasks stand in data/messages (`[task.NAME]`, `[label.NAME]`) and data/guidelines; the task of a
plug-in has them itself (`wordings`). A database may have words of its own in place of either (`OwnWords`), which
`audit.judging.words` reads. The app, reports and exports ask `wording`, and look nothing up themselves.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from typing import NamedTuple

from audit.errors import AuditError, UnknownName
from audit.messages import ENGLISH, catalogue
from audit.resources import data_file
from audit.tasks.base import Task, Wording, wording_of
from audit.tasks.classification import NONE_OF_THEM, Classification

FILM = "film"  # What all texts of a task are about, where its words may speak of it
ANY = ""  # In place of a language's code: words for every language
GUIDELINES = ("classification-inews", "classification-multiple", f"sentiment-{FILM}")
"""Guidelines that are for a part of a task's texts or schemes, as their files are named."""


@dataclass(frozen=True)
class OwnWords:
    """What a database says of one task: words of its users in place of audit's, and what all its texts are about."""

    wordings: Mapping[str, Wording] = field(default_factory=dict)
    """By the code of a language, or `ANY`; what is empty in them is said in the task's own words."""
    version: int = 0  # How often the words were changed; 0: they never were
    subject: str = ""  # What all texts of the task are about (`FILM`); empty: this and that


NO_WORDS = OwnWords()


class ShippedGuideline(NamedTuple):
    """A guideline that comes with audit or a plug-in."""

    version: int
    text: str


def wording(task: str, language: str = ENGLISH, own: OwnWords = NO_WORDS) -> Wording:
    """Return what people read about a task in a language: nothing in it is empty, and every label has its words, as
    have "unsure" and what is answered about groups. A task whose plug-in is not there has its name, and no labels.

    >>> wording("inference").labels["neutral"], wording("inference", "zh").texts
    ('Neither follows nor is ruled out', ('前提', '假设'))
    """
    words = _shipped(task, language, own.subject, id(_task(task)))
    for code in (ANY, language):
        if code in own.wordings:
            words = _over(words, own.wordings[code])
    return words


def label_words(label: str, task: str, language: str = ENGLISH, own: OwnWords = NO_WORDS) -> str:
    """Return how a label of a task reads; one that the task does not have, as it is."""
    return wording(task, language, own).labels.get(label, label)


def shipped_guideline(task: str, language: str = ENGLISH, subject: str = "") -> ShippedGuideline:
    """Return the guideline of questions about texts or outputs of a task, as audit or a plug-in brings it. Those of one
    task never share a version, whatever the texts are about. Raises AuditError for a plug-in's version that is no
    number."""
    registered, (base, _, scheme) = _task(task), task.partition("/")
    if registered is None or f"task.{base}.name" in catalogue(ENGLISH):
        narrow = f"{base}-multiple" if _is_multiple(registered) else f"{base}-{subject or scheme}"
        return read_guideline(narrow if narrow in GUIDELINES else base, language)
    version = getattr(registered, "guideline_version", 1)
    if type(version) is not int or version < 1:
        raise AuditError(
            f"task {registered.name} has guideline_version = {version!r}; it must be a whole number from 1"
        )
    text = wording_of(registered, language).guideline.strip()
    return ShippedGuideline(version, text or read_guideline("general", language).text)


@cache
def read_guideline(stem: str, language: str) -> ShippedGuideline:
    """Return the guideline in a file of data/guidelines, whose first line is `version: N`."""
    first, _, text = data_file(f"guidelines/{stem}.{language}.md").read_text(encoding="utf-8").partition("\n")
    return ShippedGuideline(int(first.removeprefix("version: ")), text.strip())


@cache
def _shipped(task: str, language: str, subject: str, _registered: int) -> Wording:
    """Return the words without a database's own, from plug-in, catalogue and guideline; what these lack is said in
    general words. `_registered` tells a task from another one that is registered in its place."""
    texts = catalogue(language)
    registered, (base, _, scheme) = _task(task), task.partition("/")
    common = {label: texts[f"label.{label}"] for label in ("unsure", "holds", "broken")}
    if registered is None:
        return Wording(base, labels=common, texts=_texts(base, 2, language), output=texts["column.output"])
    labels = {
        label: texts.get(f"label.{base}-{scheme}.{label}") or texts.get(f"label.{base}.{label}", label)
        for label in registered.labels
    }
    question = texts.get(f"task.{base}.question_{subject}") or texts.get(f"task.{base}.question", registered.question)
    if _is_multiple(registered):
        labels = {label: " + ".join(label.split("+")) for label in labels} | {NONE_OF_THEM: texts["label.none"]}
        question = texts[f"task.{base}.question_multiple"]
    unanswerable = texts.get(f"task.{base}.unanswerable", "")
    words = wording_of(registered, language).over(
        Wording(
            texts.get(f"task.{base}.name", base),
            question,
            labels,
            output=texts.get(f"task.{base}.output", texts["column.output"]),
            outputs={"unanswerable": unanswerable} if unanswerable else {},
        )
    )
    return replace(
        words,
        labels=common | {label: words.labels[label] for label in registered.labels},
        texts=words.texts if len(words.texts) == registered.texts else _texts(base, registered.texts, language),
        guideline=shipped_guideline(task, language, subject).text,
    )


def _over(words: Wording, own: Wording) -> Wording:
    """Return the words, with what stands in `own` in their place. A combination of labels is made of their words."""
    both = own.over(words)
    together = {
        label: " + ".join(both.labels.get(part, part) for part in label.split("+"))
        for label in (words.labels if own.labels else ())
        if "+" in label and label not in own.labels
    }
    return replace(both, labels={**both.labels, **together})


def _texts(base: str, number: int, language: str) -> tuple[str, ...]:
    """Return what the texts of an input are called: by name, or one "Text", or numbered."""
    texts = catalogue(language)
    if number == 1:
        return (texts.get(f"task.{base}.text_1", texts["asked.text"]),)
    return tuple(
        texts.get(f"task.{base}.text_{at}") or texts.get(f"asked.text_{at}") or f"{texts['asked.text']} {at}"
        for at in range(1, number + 1)
    )


def _task(task: str) -> Task | None:
    """Return the task of this name; None where its plug-in is not there."""
    from audit.tasks import get_task

    try:
        return get_task(task)
    except UnknownName:
        return None


def _is_multiple(task: Task | None) -> bool:
    return isinstance(task, Classification) and task.multiple
