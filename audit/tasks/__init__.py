"""What a system does. A new task is one object that is registered."""

# ruff: noqa: I001 (several names a line)
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from string import ascii_lowercase
from typing import TypeGuard

from audit import registry
from audit.errors import AuditError, BadOutput
from audit.registry import Registry
from audit.tasks.base import GradedTask as GradedTask, Input as Input, LabelTask as LabelTask, Output as Output
from audit.tasks.base import Task as Task, Wording as Wording, check_task, wording_of as wording_of
from audit.tasks.classification import NONE_OF_THEM, PLUS, Classification
from audit.tasks.entities import EntityTask
from audit.tasks.question_answering import read_answer
from audit.tasks.similarity import LEVELS, read_similarity
from audit.tasks.words import NO_WORDS, OwnWords as OwnWords, label_words as label_words, wording as wording

TASKS: Registry[Task] = registry.tasks  # Tasks by name, those whose labels come with the corpus without labels
registry.tasks.check = lambda name, task: None if isinstance(task, Classification) else check_task(name, task)
for _task in (
    # Jiang, Chen, Wang, "On the effectiveness of testing sentiment analysis systems with metamorphic testing"
    # (Information and Software Technology 150, 2022), section 4.2.
    LabelTask(
        "sentiment", ("positive", "neutral", "negative"), "Is what this text says positive, negative, or neither?"
    ),
    Classification(),
    EntityTask(),
    LabelTask("similarity", LEVELS, "How similar in meaning are the two texts?", texts=2, read=read_similarity),
    # Bowman, Angeli, Potts, Manning, "A large annotated corpus for learning natural language inference" (EMNLP 2015),
    # section 2.
    LabelTask(
        "inference",
        ("entailment", "neutral", "contradiction"),
        "If the premise is true, is the hypothesis true, too?",
        texts=2,
        text_names=("premise", "hypothesis"),
    ),
    GradedTask(
        "question-answering",
        ("right", "wrong"),
        "Is this the right answer to the question, going by the text alone?",
        texts=2,
        text_names=("context", "question"),
        read=read_answer,
    ),
    GradedTask(
        "summarization",
        ("good", "minor_gaps", "misses_point", "unfaithful", "unreadable"),
        "Is this summary acceptable: faithful to the text, with its main point?",
        acceptable=2,
        noun="summary",
    ),
    # Grades of accuracy and fluency, and the major errors by type, after Lommel, Uszkoreit, Burchardt,
    # "Multidimensional Quality Metrics (MQM)" (Tradumatica 12, 2014): a minor error misleads nobody. An output may be
    # absent, where the system does not have the pair of languages or nobody recorded it.
    GradedTask(
        "translation",
        ("accurate", "not_fluent", "minor_error", "mistranslated", "omitted_or_added", "untranslated", "unreadable"),
        "Is this translation right: does it say what the text says?",
        acceptable=3,
        may_be_absent=True,
    ),
):
    TASKS.register(_task.name, _task)


def get_task(name: str) -> Task:
    """Return the task of this name; `classification/SCHEME` is classification with the labels of a scheme. Raises
    UnknownName, and AuditError for a scheme that there is not.

    >>> get_task("classification/finance,sports").labels
    ('finance', 'sports')
    """
    base, slash, scheme = name.partition("/")
    if base not in TASKS:
        raise TASKS.unknown(name)
    task = TASKS.get(base)
    if not slash:
        return task
    if not hasattr(task, "with_scheme"):
        raise AuditError(f"task {base} has labels of its own, it takes no scheme ({scheme!r}); say {base}")
    return _with_scheme(base, scheme)


@cache
def _with_scheme(base: str, scheme: str) -> Task:
    task: Task = TASKS.get(base).with_scheme(scheme)  # type: ignore[attr-defined]
    return task


def base_of(task: str) -> str:
    """Return the name of a task without its label scheme (`classification`): relations are written for that."""
    return task.partition("/")[0]


def text_columns(number: int) -> tuple[str, ...]:
    """Return what the texts of an input are called in files and frames, as many as an input has: text, text_b."""
    return ("text", *(f"text_{letter}" for letter in ascii_lowercase[1:number]))


def text_names(task: Task) -> tuple[str, ...]:
    """Return what the texts of a task are called in files, beside `text` and `text_b`: ("premise", "hypothesis")."""
    return tuple(getattr(task, "text_names", ()))


def matches(task: str, wanted: str | None) -> bool:
    """Return whether a task is the wanted one (None: any): `classification` wants every scheme."""
    return wanted in (None, task, base_of(task))


def spellings(tasks: Iterable[str]) -> dict[str, str]:
    """Return the labels of these tasks by how they read without capitals: systems write them as they like."""
    return {label.casefold(): label for task in tasks for label in get_task(task).labels}


def in_text(label: str, task: str, texts: Sequence[str], language: str = "en", own: OwnWords = NO_WORDS) -> str:
    """Return a label as people read it beside its texts, as `label_words`: of spans the words that they mark."""
    said = getattr(TASKS.get(base_of(task)), "said", None) if base_of(task) in TASKS else None
    if said is None or not texts:
        return label_words(label, task, language, own)
    words = str(said(label, texts[0], wording(task, language, own).labels))
    return label_words(label, task, language, own) if words == label else words


def label_reader(task: Task) -> Callable[[str], str | None]:
    """Return a function that reads a label in any case, and several in any order; None for what is none of the
    task's."""
    if takes_sets(task):
        return task.together
    if hasattr(task, "read_label"):
        read: Callable[[str], str | None] = task.read_label
        return read
    spelling = {label.casefold(): label for label in task.labels}
    return lambda written: spelling.get(written.strip().casefold())


def takes_sets(task: object) -> TypeGuard[Classification]:
    """Return whether a text may have several labels in this task."""
    return isinstance(task, Classification) and task.multiple


def lists_answers(task: Task) -> bool:
    """Return whether all answers to a task's question can be listed; else its `labels` contain them."""
    return not hasattr(task, "read_label")


def labels_to_write(task: Task) -> tuple[str, ...]:
    """Return the labels as a message lists them: where there are sets of labels "none", the single ones, and all
    together."""
    if takes_sets(task):
        return (NONE_OF_THEM, *task.parts, PLUS.join(task.parts))
    return tuple(getattr(task, "examples", task.labels))


def takes_several(tasks: Iterable[str]) -> bool:
    """Return whether a text may have several labels in one of these tasks, or might, by a scheme to come."""
    classifications = [task for task in map(get_task, tasks) if isinstance(task, Classification)]
    return any(task.multiple or not task.scheme for task in classifications)


def labels_together(labels: Iterable[str], tasks: Iterable[str]) -> str:
    """Return labels that a system gave to one text as the label of a task in which a text may have several. Raises
    BadOutput where the tasks have none, or have none that these make."""
    names, tasks = list(labels), list(tasks)
    several = [task for task in map(get_task, tasks) if takes_sets(task)]
    for task in several:
        if (label := task.together(names)) is not None:
            return label
    if several:
        raise BadOutput(f"labels {', '.join(map(repr, names))[:200]}: allowed are {', '.join(several[0].parts)}")
    if "classification" not in tasks:
        raise BadOutput(
            f"{len(names)} labels for one text; only a task named with +, as classification/a+b, takes several"
        )
    return PLUS.join(names) or NONE_OF_THEM  # of any scheme: the study's task looks at the labels
