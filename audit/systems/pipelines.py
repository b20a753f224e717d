"""Models of Hugging Face's transformers as systems: `transformers:DIRECTORY`, `transformers:NAME` of a model in the
Hugging Face cache, `transformers:FILE.toml`.

The tasks are those whose outputs are labels (one text, or a pair, as in inference), similarity, question answering,
summarization, and translation (`audit.packs.translation.seq2seq`). What reads an output off a model is in
`audit.systems.heads`.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, Strict

from audit import registry
from audit.errors import AuditError, BadFile, NotInstalled, first_line
from audit.files import read_json
from audit.systems.base import System, missing, package_version
from audit.systems.heads import HEADS, Head, Loaded
from audit.systems.model_files import (
    absent_model,
    fingerprint_of,
    load_part,
    load_tokenizer,
    model_folder,
    model_json,
    one_thread,
)
from audit.systems.remote_file import HELP, Labels, Names, Spelled, Text, read_system_file
from audit.tasks import Input, Output, base_of, get_task
from audit.user_models import Allowed, Mistake, UserModel, sure

INSTALL = "pip install 'audit[transformers]'"
_LENGTH = 512
"""Tokens of a text where neither the model nor its tokenizer says how many it takes."""
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
    task: Annotated[Text, AfterValidator(_checked_task)] | None = None
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


@dataclass(frozen=True)
class Described:
    """A model: its file (or what was written in place of one), its directory, its configuration, its task, and our
    labels in the order of its numbers, empty where it has none."""

    spec: str
    file: PipelineFile
    folder: Path
    config: Mapping[str, Any]
    task: str
    labels: tuple[str, ...]

    @property
    def architecture(self) -> str:
        """The class of transformers that the model is."""
        return architecture_of(self.config)

    @property
    def parts(self) -> tuple[str, ...]:
        """The labels of which a text may have any number; empty where it has one."""
        return tuple(getattr(get_task(self.task), "parts", ()))

    @property
    def head(self) -> type[Head]:
        """The way to use the model."""
        if self.task == "similarity":
            return HEADS["regression" if self.architecture.endswith(_CLASSIFIES) else "encoder"]
        return HEADS["several labels"] if self.parts else HEADS.get(base_of(self.task), HEADS["labels"])

    @property
    def longest(self) -> int:
        """Tokens of a text, or of a pair, that are read."""
        config, tokenizer = self.config, model_json(self.folder, "tokenizer_config.json")
        positions = config.get("max_position_embeddings") or config.get("n_positions") or _LENGTH
        if positions > 0 and "roberta" in str(config.get("model_type")):
            positions -= int(config.get("pad_token_id") or 1) + 1  # its first positions are never used
        said = self.file.max_length or positions
        return int(min(said, positions, tokenizer.get("model_max_length") or positions))

    @property
    def pooling(self) -> str:
        """How an encoder makes one vector of a text: as the file says, else as sentence-transformers wrote beside it,
        else the mean. Raises BadFile for a way that is not known here."""
        if self.file.pooling:
            return self.file.pooling
        file = self.folder / "modules.json"
        modules = read_json(file, "download the model again") if file.is_file() else []
        kinds = {str(module.get("type", "")).rpartition(".")[2] for module in modules if isinstance(module, dict)}
        if other := kinds - {"Transformer", "Pooling", "Normalize"}:
            raise BadFile(f"{self.spec}: a part {', '.join(sorted(other))} of this sentence encoder is not known here")
        pooling = model_json(self.folder / "1_Pooling", "config.json")
        ways = {"pooling_mode_mean_tokens": "mean", "pooling_mode_cls_token": "first"}
        chosen = [name for name, value in pooling.items() if name.startswith("pooling_mode_") and value is True]
        if len(chosen) > 1 or set(chosen) - set(ways):
            raise BadFile(f'{self.spec}: {", ".join(chosen)} is not known here; write pooling = "mean" or "first"')
        return ways[chosen[0]] if chosen else "mean"


def described(argument: str) -> Described:
    """Return what `transformers:ARGUMENT` means: a TOML file, a directory, or a name in the Hugging Face cache; behind
    `#` a model that translates may have its pair of languages.

    Reads small files only. Raises AuditError where nothing is named, NotInstalled where there is no such model, BadFile
    for what is wrong with the file or does not fit the model.
    """
    if argument.endswith(".toml") or not argument.strip():
        file = read_system_file(PipelineFile, argument.strip(), "transformers")
    else:
        model, mark, pair = argument.partition("#")
        named = {"name": f"{Path(model).name}#{pair}", "pair": pair} if pair else {}
        file = PipelineFile.model_validate({"model": model, **({"task": "translation"} if mark else {}), **named})
    folder = model_folder(file.model, file.revision)
    if folder is None:
        raise NotInstalled(f"{argument.rstrip('#')}: {absent_model(file.model)}")
    config = model_json(folder, "config.json")
    if not config:
        raise BadFile(f"{folder}: config.json is absent, so this is no model of transformers")
    about = Described(argument, file, folder, config, file.task or _task_of(argument, folder, config), ())
    _check_head(about)
    task = get_task(about.task)
    if task.question_kind == "input" and about.task != "similarity":
        labels = _labels_of(about, about.parts or task.labels)
        return Described(argument, file, folder, config, about.task, labels)
    if file.labels:
        raise BadFile(f"{argument}, labels: an output of {about.task} is no label; leave them out")
    return about


def _task_of(spec: str, folder: Path, config: Mapping[str, Any]) -> str:
    """Return the task that a model's configuration says it is for. Raises BadFile where it does not."""
    head, names = architecture_of(config), names_of(config)
    if config.get("model_type") in _TRANSLATORS:
        return "translation"
    if head.endswith(_HEADS["question-answering"]):
        return "question-answering"
    if (folder / "modules.json").is_file() or (head.endswith(_CLASSIFIES) and len(names) == 1):
        return "similarity"
    if head.endswith(_CLASSIFIES) and not all(map(_UNNAMED.fullmatch, names)):
        for task in ("sentiment", "inference"):
            if {name.casefold() for name in names} <= set(get_task(task).labels):
                return task
        mark = "+" if config.get("problem_type") == _SEVERAL else ","
        if not any(mark in name for name in names):
            return f"classification/{mark.join(names)}"
    raise BadFile(
        f"{spec}: the model ({head or 'no architecture'}; labels {', '.join(names[:6]) or 'none'}) does not say its "
        f"task; write a file with model = {str(folder)!r}, task and labels, and name that ({HELP})"
    )


def _check_head(about: Described) -> None:
    """Raise BadFile for a model that is made for something else: what it lacks would be filled with random numbers."""
    head, task, config = about.architecture, about.task, about.config
    if task == "similarity":
        fits = len(names_of(config)) == 1 if head.endswith(_CLASSIFIES) else not head.endswith(tuple(_HEADS.values()))
        wanted = f"an encoder, or {_CLASSIFIES} with one number"
    elif task in ("summarization", "translation"):
        fits, wanted = bool(config.get("is_encoder_decoder")), "an encoder and a decoder"
    else:
        wanted = _HEADS.get(task, _CLASSIFIES)
        fits = head.endswith(wanted)
    if not fits:
        raise BadFile(f"{about.spec}: the model is {head or 'of no architecture'}; for {task} it must be {wanted}")
    if wanted == _CLASSIFIES and bool(about.parts) != (config.get("problem_type") == _SEVERAL):
        number = "one label" if about.parts else "any number of labels"
        raise BadFile(f"{about.spec}: the model gives a text {number}; {task} is not made for that")


def _labels_of(about: Described, allowed: Sequence[str]) -> tuple[str, ...]:
    """Return our label for each of the model's numbers. Raises BadFile for a map that misses a label, or has a wrong
    one."""
    written, names, where = about.file.labels, names_of(about.config), f"{about.spec}, labels"
    if unknown := next((name for name in written if name not in names), None):
        raise BadFile(f"{where}: the model has no label {unknown!r}; it has {', '.join(names)}")
    if wrong := next((label for label in written.values() if label not in allowed), None):
        raise BadFile(f"{where}: {wrong!r} is no label of {about.task}; allowed are {', '.join(allowed)}")
    spelling = {label.casefold(): label for label in allowed}
    ours = [written[name] if name in written else spelling.get(name.casefold()) for name in names]
    if missing_names := [name for name, label in zip(names, ours, strict=True) if label is None]:
        raise BadFile(
            f"{where}: nothing says what is meant by {', '.join(missing_names)}; write for each of them which of "
            f'{", ".join(allowed)} it is, as in labels = {{ "{missing_names[0]}" = "{allowed[0]}" }}'
        )
    return tuple(label for label in ours if label is not None)


def architecture_of(config: Mapping[str, Any]) -> str:
    """Return the class of transformers that a model is."""
    return "".join(config.get("architectures") or [])


def names_of(config: Mapping[str, Any]) -> list[str]:
    """Return the model's own words for its labels, in the order of their numbers."""
    names = config.get("id2label")
    if isinstance(names, dict) and all(str(number).isdigit() for number in names):
        return [str(name) for _, name in sorted(names.items(), key=lambda item: int(item[0]))]
    return [f"LABEL_{number}" for number in range(int(config.get("num_labels") or 2))]


class Pipeline:
    """A model as a `System`, one task of its own. Creating it reads small files; raises what `described` raises."""

    def __init__(self, argument: str):
        self.about = about = described(argument)
        self._argument = argument
        self.name = about.file.name or Path(about.file.model).name
        self.version = f"{fingerprint_of(about.folder)}, transformers {package_version('transformers')}"
        self.tasks: tuple[str, ...] = (about.task,)
        self.languages: tuple[str, ...] = about.file.languages or ("*",)
        self.settings: Mapping[str, object] = {
            "task": about.task,
            "dtype": about.file.dtype,
            "max_length": about.longest,
            "too_long": about.file.too_long,
            **({"labels": list(about.labels)} if about.labels else {}),
            **about.head.settings(about),
        }
        self.summary = f"model {about.file.model} (transformers)"
        self._head: Head | None = None

    def __reduce__(self) -> tuple[type["Pipeline"], tuple[str]]:
        return type(self), (self._argument,)  # a worker loads the model itself

    def needs(self) -> str | None:
        """Return the line that installs what is missing; None when the packages are there."""
        return missing("torch", INSTALL) or missing("transformers", INSTALL)

    def prepare(self) -> None:
        """Read the tokenizer, so that a model that cannot be asked is found before anything runs; the weights are
        loaded where they are needed. Raises NotInstalled and BadFile."""
        self._tokenizer()

    def run(self, inputs: Sequence[Input]) -> list[Output]:
        """Return one output per input."""
        self._head = self._head or self._loaded()
        return self._head.outputs(inputs)

    def _tokenizer(self) -> Any:
        if needs := self.needs():
            raise NotInstalled(f"system {self.name} cannot run here; {needs}")
        return load_tokenizer(self.about.folder)

    def _loaded(self) -> Head:
        about, tokenizer = self.about, self._tokenizer()
        one_thread()  # before anything is loaded: each of our processes has a core of its own
        import torch
        import transformers

        kind, dtype = getattr(transformers, about.head.loader), getattr(torch, about.file.dtype)
        model, loading = load_part(kind, about.folder, weights_only=True, output_loading_info=True, dtype=dtype)
        if absent := sorted(name for name in loading["missing_keys"] if not name.startswith(about.head.spare)):
            # They would be random numbers.
            named = ", ".join(absent[:3])
            raise BadFile(f"{about.spec}: weights are missing ({named}); train or download it again")
        try:
            model = model.to(about.file.device).eval()
        except (RuntimeError, AssertionError, NotImplementedError) as problem:  # whatever a device makes torch raise
            device = f"{about.file.device!r} cannot be used here ({first_line(problem)})"
            raise AuditError(f"{about.spec}, device: {device}; cpu always can") from problem
        return about.head(Loaded(tokenizer, model, about))


def transformers(argument: str) -> System:
    """Return the system `transformers:ARGUMENT`; of a model that translates the one that `seq2seq:` names, which knows
    how models are told languages."""
    if described(argument).task != "translation":
        return Pipeline(argument)
    system: System = registry.systems.get("seq2seq")(argument)
    return system
