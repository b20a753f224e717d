"""Prompts: templates of what a language model is asked, with fields such as {text} where an input's parts go.

A field is a name of small letters in braces; `{{text}}` is `{text}` as it is. Other braces are nothing special, so that
a prompt may show JSON.
"""

import re
import tomllib
from collections.abc import Mapping
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
    """Return what comes with audit: prompts by task, what {answer} says, names of languages."""
    return tomllib.loads(data_file(FILE).read_text("utf-8"))


def filled(template: str, values: Mapping[str, str]) -> str:
    """Return a template with its fields in it, all at once: a text that spells a field stays as it is. Raises
    AuditError for another field.

    >>> filled('Is "{text}" good? As {{"label": ...}}.', {"text": "{labels}"})
    'Is "{labels}" good? As {"label": ...}.'
    """
    for match in _FIELD.finditer(template):
        if match[2] and match[2] not in values:
            fields = ", ".join(f"{{{name}}}" for name in values)
            raise AuditError(f"{{{match[2]}}} is no field here; allowed are {fields}")
    return _FIELD.sub(lambda match: values[match[2]] if match[2] else f"{{{match[1]}}}", template)


def values_of(task: Task, item: Input) -> dict[str, str]:
    """Return what the fields stand for that come from an input.

    >>> from audit.tasks import get_task
    >>> values_of(get_task("translation"), Input.of("It rains.", target="es"))
    {'text': 'It rains.', 'source_language': 'English', 'target_language': 'Spanish'}
    """
    names = ("text",) if task.texts == 1 else ("text_a", "text_b")
    also = _NAMES.get(base_of(task.name), ())
    sides = ("source_language", "target_language") if item.target is not None else ("language",)
    codes = (item.languages[0], item.languages[-1])
    texts = dict(zip(names, item.texts, strict=True)) | dict(zip(also, item.texts, strict=False))
    return texts | {side: language_name(code) for side, code in zip(sides, codes, strict=False)}


def language_name(code: str) -> str:
    """Return the English name of a language, or its code where nobody wrote it down.

    >>> language_name("es"), language_name("es-MX"), language_name("oc")
    ('Spanish', 'Spanish (es-MX)', 'oc')
    """
    names, base = wordings()["languages"], code.partition("-")[0]
    if code in names:
        return names[code]
    return f"{names[base]} ({code})" if base in names else code


def prompt_of(task: Task) -> Mapping[str, str]:
    """Return the prompt that comes with audit for a task: `system` and `user`. Raises AuditError where there is
    none."""
    base = base_of(task.name)
    if getattr(task, "parts", ()):
        return wordings()["several"]
    of_task: Mapping[str, Any] | None = wordings().get(base)
    if of_task is not None:
        return of_task
    if task.question_kind == "pair" or task.texts > 2:
        raise AuditError(f"the task {base!r} has no prompt yet; write [prompt] with system and user")
    return wordings()["single" if task.texts == 1 else "pair"]
