"""What `transformers:` is told of a model: by its own configuration, and by a TOML file where that is not enough."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, Strict, model_validator

from audit.errors import AuditError, BadFile, NotInstalled
from audit.files import read_text, toml_of
from audit.systems.model_files import absent_model, model_folder, model_json
from audit.systems.remote_file import Labels, Names, Spelled, Text
from audit.tasks import base_of, get_task
from audit.user_models import Allowed, Mistake, UserModel, read_as, sure

HELP = "see docs/reference/systems.md"
_UNNAMED = re.compile(r"(LABEL_)?\d+")
_TRANSLATORS = ("marian", "m2m_100", "nllb-moe", "fsmt")
"""Kinds of models that do nothing but translate."""
_HEADS = {
    "question-answering": "ForQuestionAnswering",
    "summarization": "ForConditionalGeneration",
    "translation": "ForConditionalGeneration",
}
"""What the architecture of a model for a task ends with; for other tasks it classifies texts."""
_CLASSIFIES = "ForSequenceClassification"
_SEVERAL = "multi_label_classification"
"""The kind of problem of a model that gives a text any number of labels."""


def _checked_task(name: str) -> str:
    task = sure(lambda: get_task(name))
    if base_of(name) == "classification" and not task.labels:
        raise Mistake('does not say the labels; write them, as in "classification/finance,sports"')
    if name not in _HEADS and name != "similarity" and task.question_kind == "pair":
        raise Mistake(f"{name!r} is no task that a model of transformers is asked about here")
    return name


Scale = Annotated[
    tuple[float, ...],
    Strict(False),
    Allowed(
        "two numbers, the least and the most that the model says, for example [0, 5]",
        lambda scale: len(scale) == 2 and scale[0] < scale[1],
    ),
]


class PipelineFile(UserModel):
    """The content of a file."""

    model: Text = Field(description="it is the directory of the model, or its name in the Hugging Face cache")
    name: Spelled | None = None
    revision: Text | None = None
    task: Text | None = None
    labels: Labels = Field({}, repr=False)
    """The model's own words for labels -> ours."""
    languages: Names | None = None
    device: Text = "cpu"
    dtype: Literal["float32", "float16", "bfloat16"] = "float32"
    batch: int = Field(16, ge=1, le=10_000)
    max_length: Annotated[int, Field(ge=4, le=1_000_000)] | None = None
    """Tokens of a text that are read; None: as many as the model takes."""
    too_long: Literal["cut", "error"] = "cut"
    """What happens to a text that has more."""
    pooling: Literal["mean", "first"] | None = None
    """Of an encoder: its vector of a text is the mean of its tokens', or the first one's."""
    scale: Scale | None = None
    """Of a pair classifier with one number: what stands for 0 and for 1; None: its sigmoid."""
    null_threshold: float = 0.0
    longest_answer: int = Field(30, ge=1, le=1_000)
    """Tokens of an answer to a question."""
    beams: Annotated[int, Field(ge=1, le=64)] | None = None
    longest_summary: Annotated[int, Field(ge=4, le=100_000)] | None = None
    prefix: str | None = None
    """What stands before each text that is summarized, as T5 wants it."""
    pair: Text | None = None
    """Of a model that translates and does not say which languages: "en-es"."""

    @model_validator(mode="after")
    def _check_task(self) -> "PipelineFile":
        if self.task is not None:
            try:
                _checked_task(self.task)
            except Mistake as mistake:
                raise Mistake(mistake.args[0], "task") from None
        return self


@dataclass(frozen=True)
class Described:
    """A model: its file (or what was written in place of one), its directory, its configuration, its task, and our
    labels in the order of its numbers, empty where it has none."""

    spec: str
    said: PipelineFile
    folder: Path
    config: Mapping[str, Any]
    task: str
    labels: tuple[str, ...]


def parts_of(task: str) -> tuple[str, ...]:
    """Return the labels of which a text may have any number in a task; none where it has one."""
    parts: tuple[str, ...] = getattr(get_task(task), "parts", ())
    return parts


def described(argument: str) -> Described:
    """What `transformers:ARGUMENT` means: a TOML file, a directory, or a name in the Hugging Face cache.

    Reads small files only. Raises AuditError where nothing is named, NotInstalled where there is no such model, BadFile
    for what is wrong with the file or does not fit the model.
    """
    if not argument.strip():
        raise AuditError(
            "'transformers:' does not name a model; write transformers:DIRECTORY, transformers:NAME or "
            f"transformers:FILE.toml ({HELP})"
        )
    if argument.endswith(".toml"):
        said = read_as(PipelineFile, toml_of(argument, read_text(argument), HELP), argument, HELP)
    else:
        said = PipelineFile.model_validate({"model": argument})
    folder = model_folder(said.model, said.revision)
    if folder is None:
        raise NotInstalled(
            f"{argument}: {absent_model(said.model)}" if said.model != argument else absent_model(argument)
        )
    config = model_json(folder, "config.json")
    if not config:
        raise BadFile(f"{folder}: config.json is absent, so this is no model of transformers")
    task = said.task or _task_of(argument, folder, config)
    _check_head(argument, config, task)
    labels: tuple[str, ...] = ()
    if get_task(task).question_kind == "input" and task != "similarity":
        labels = _labels_of(argument, said, config, task)
    elif said.labels:
        raise BadFile(f"{argument}, labels: an output of {task} is no label; leave them out")
    return Described(argument, said, folder, config, task, labels)


def _task_of(spec: str, folder: Path, config: Mapping[str, Any]) -> str:
    """The task that a model's configuration says it is for. Raises BadFile where it does not."""
    head = "".join(config.get("architectures") or [])
    names = names_of(config)
    spelled_names = {name.casefold() for name in names}
    if config.get("model_type") in _TRANSLATORS:
        return "translation"
    if head.endswith(_HEADS["question-answering"]):
        return "question-answering"
    if (folder / "modules.json").is_file() or (head.endswith(_CLASSIFIES) and len(names) == 1):
        return "similarity"
    if head.endswith(_CLASSIFIES) and not all(map(_UNNAMED.fullmatch, names)):
        for task in ("sentiment", "inference"):
            if spelled_names <= set(get_task(task).labels):
                return task
        if config.get("problem_type") == _SEVERAL and not any("+" in name for name in names):
            return f"classification/{'+'.join(names)}"
        if not any("," in name for name in names):
            return f"classification/{','.join(names)}"
    raise BadFile(
        f"{spec}: the model ({head or 'no architecture'}; labels {', '.join(names[:6]) or 'none'}) does not say its "
        f"task; write a file with model = {str(folder)!r}, task and labels, and name that ({HELP})"
    )


def _check_head(spec: str, config: Mapping[str, Any], task: str) -> None:
    """Refuse a model that is made for something else: what it lacks would be filled with random numbers."""
    head = "".join(config.get("architectures") or [])
    if task == "similarity":
        fits = len(names_of(config)) == 1 if head.endswith(_CLASSIFIES) else not head.endswith(tuple(_HEADS.values()))
        wanted = f"an encoder, or {_CLASSIFIES} with one number"
    elif task in ("summarization", "translation"):
        fits, wanted = bool(config.get("is_encoder_decoder")), "an encoder and a decoder"
    else:
        wanted = _HEADS.get(task, _CLASSIFIES)
        fits = head.endswith(wanted)
    if not fits:
        raise BadFile(f"{spec}: the model is {head or 'of no architecture'}; for {task} it must be {wanted}")
    several = bool(parts_of(task))
    if wanted == _CLASSIFIES and several != (config.get("problem_type") == _SEVERAL):
        number = "one label" if several else "any number of labels"
        raise BadFile(f"{spec}: the model gives a text {number}; {task} is not made for that")


def names_of(config: Mapping[str, Any]) -> list[str]:
    """The model's own words for its labels, in the order of their numbers."""
    names = config.get("id2label")
    if isinstance(names, dict) and all(str(number).isdigit() for number in names):
        return [str(name) for _, name in sorted(names.items(), key=lambda item: int(item[0]))]
    return [f"LABEL_{number}" for number in range(int(config.get("num_labels") or 2))]


def labels_line(names: Sequence[str], labels: Sequence[str]) -> str | None:
    """The line of a file that says which of our labels a model's own are, as far as one begins like the other; None
    where none does.

    >>> labels_line(["NEG", "POS"], ["positive", "neutral", "negative"])
    'labels = { NEG = "negative", POS = "positive" }'
    >>> labels_line(["joy"], ["positive", "neutral", "negative"]) is None
    True
    """
    meant = {}
    for name in names:
        spelled_name = name.casefold()
        alike = [label for label in labels if label.startswith(spelled_name) or spelled_name.startswith(label)]
        meant[name] = alike[0] if len(alike) == 1 else "..."
    if set(meant.values()) <= {"..."}:
        return None
    keys = {name: name if re.fullmatch(r"[\w-]+", name, re.ASCII) else json.dumps(name) for name in names}
    return f"labels = {{ {', '.join(f'{keys[name]} = {json.dumps(label)}' for name, label in meant.items())} }}"


def _labels_of(spec: str, said: PipelineFile, config: Mapping[str, Any], task: str) -> tuple[str, ...]:
    """Our label for each of the model's numbers. Raises BadFile for a map that misses a label, or has a wrong one."""
    allowed, names = parts_of(task) or get_task(task).labels, names_of(config)
    by_spelling = {label.casefold(): label for label in allowed}
    if unknown := next((name for name in said.labels if name not in names), None):
        raise BadFile(f"{spec}, labels: the model has no label {unknown!r}; it has {', '.join(names)}")
    if wrong := next((label for label in said.labels.values() if label not in allowed), None):
        raise BadFile(f"{spec}, labels: {wrong!r} is no label of {task}; allowed are {', '.join(allowed)}")
    ours = [said.labels.get(name) or (None if said.labels else by_spelling.get(name.casefold())) for name in names]
    if missing := [name for name, label in zip(names, ours, strict=True) if label is None]:
        example = labels_line(names, allowed) or f'labels = {{ {missing[0]} = "{allowed[0]}" }}'
        raise BadFile(
            f"{spec}, labels: {'the map misses' if said.labels else 'nothing says what is meant by'} "
            f"{', '.join(missing)}; write for each of the model's labels which of {', '.join(allowed)} it is, as in "
            f"{example}"
        )
    return tuple(label for label in ours if label is not None)
