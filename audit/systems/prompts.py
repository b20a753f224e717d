"""Prompts: templates of what a language model is asked, with fields such as {text} where an input's parts go.

A field is a name of small letters in braces; `{{text}}` is `{text}` as it is. Other braces are nothing special, so that
a prompt may show JSON.
"""

import re
import tomllib
from collections.abc import Collection, Iterator, Mapping
from functools import cache
from typing import Any

from audit.errors import AuditError
from audit.resources import data_file
from audit.tasks import Input, Task, base_of

_FIELD = re.compile(r"\{\{([^{}]*)\}\}|\{([a-z][a-z_]*)\}")
FILE = "prompts/en.toml"
_NAMES = {"question-answering": ("context", "question")}
"""What the texts of a task are called besides {text_a} and {text_b}."""


@cache
def wordings() -> Mapping[str, Mapping[str, str]]:
    """What comes with audit: prompts by task, what {answer} says, names of languages."""
    return tomllib.loads(data_file(FILE).read_text("utf-8"))


def names_in(template: str) -> Iterator[str]:
    """The fields of a template, in their order.

    >>> list(names_in('{text}, {"label": 1}, {{text}}, {labels}'))
    ['text', 'labels']
    """
    return (match[2] for match in _FIELD.finditer(template) if match[2])


def check_template(template: str, allowed: Collection[str]) -> None:
    """Raise AuditError where a template has another field than these.

    >>> check_template("Is {txt} good?", ["text", "labels"])
    Traceback (most recent call last):
    audit.errors.AuditError: {txt} is no field here; allowed are {text}, {labels}
    """
    if unknown := next((name for name in names_in(template) if name not in allowed), None):
        fields = ", ".join(f"{{{name}}}" for name in allowed)
        raise AuditError(f"{{{unknown}}} is no field here; allowed are {fields}")


def filled(template: str, values: Mapping[str, str]) -> str:
    """A template with its fields in it, all at once: a text that spells a field stays as it is.

    >>> filled('Is "{text}" good? As {{"label": ...}}.', {"text": "{labels}"})
    'Is "{labels}" good? As {"label": ...}.'
    """
    return _FIELD.sub(lambda match: values[match[2]] if match[2] else f"{{{match[1]}}}", template)


def fields_of(task: Task) -> tuple[str, ...]:
    """The fields of a prompt for a task."""
    texts = ("text",) if task.texts == 1 else ("text_a", "text_b", *_NAMES.get(base_of(task.name), ()))
    languages = ("source_language", "target_language") if task.name == "translation" else ("language",)
    labels = ("labels",) if task.question_kind == "input" and task.name != "similarity" else ()
    return (*texts, *labels, *languages, "task_question", "answer")


def missing_text(task: Task, template: str) -> str | None:
    """What a prompt must have of an input and has not, as fields in words; None where it has all texts."""
    fields = set(names_in(template))
    if task.texts == 1:
        return None if "text" in fields else "{text}"
    ways = [("text_a", "text_b"), *([names] if (names := _NAMES.get(base_of(task.name))) else [])]
    if any(set(way) <= fields for way in ways):
        return None
    return " or ".join(" and ".join(f"{{{name}}}" for name in way) for way in ways)


def values_of(task: Task, item: Input) -> dict[str, str]:
    """What the fields stand for that come from an input."""
    values = {"language": language_name(item.languages[0]), "source_language": language_name(item.languages[0])}
    if item.target is not None:
        values["target_language"] = language_name(item.target)
    if task.texts == 1:
        return {**values, "text": item.text}
    names = _NAMES.get(base_of(task.name), ())
    return {**values, "text_a": item.texts[0], "text_b": item.texts[1], **dict(zip(names, item.texts, strict=False))}


def labels_together(task: Task) -> tuple[str, ...]:
    """The labels of which an input of the task may have any number; empty where it has one of the task's labels."""
    parts: tuple[str, ...] = getattr(task, "parts", ())
    return parts


def language_name(code: str) -> str:
    """The English name of a language, or its code where nobody wrote it down.

    >>> language_name("es"), language_name("es-MX"), language_name("oc")
    ('Spanish', 'Spanish (es-MX)', 'oc')
    """
    names = wordings()["languages"]
    if code in names:
        return names[code]
    base = code.partition("-")[0]
    return f"{names[base]} ({code})" if base in names else code


def prompt_of(task: Task) -> Mapping[str, str]:
    """The prompt that comes with audit for a task: `system` and `user`. Raises AuditError where there is none."""
    base = base_of(task.name)
    if labels_together(task):
        return wordings()["several"]
    of_task: Mapping[str, Any] | None = wordings().get(base)
    if of_task is not None:
        return of_task
    if task.question_kind == "pair" or task.texts > 2:
        raise AuditError(f"the task {base!r} has no prompt yet; write [prompt] with system and user")
    return wordings()["single" if task.texts == 1 else "pair"]
