"""Models of Hugging Face's transformers as systems: `transformers:DIRECTORY`, `transformers:NAME` of a model in the
Hugging Face cache, `transformers:FILE.toml`.

The tasks are those whose outputs are labels (one text, or a pair, as in inference), similarity, question answering,
summarization, and translation (`audit.packs.translation.seq2seq`). What reads an output off a model is in
`audit.systems.heads`, since transformers 5 has no pipelines for the last four any more.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from audit import registry
from audit.errors import AuditError, NotInstalled, first_line
from audit.systems.base import System, missing, package_version
from audit.systems.heads import HEADS, Head, Loaded
from audit.systems.model_files import fingerprint_of, load_part, load_tokenizer, model_json, one_thread
from audit.systems.pipeline_file import Described, described, labels_line, names_of, parts_of
from audit.tasks import Input, Output, base_of, get_task

PREFIX = "transformers:"
INSTALL = "pip install 'audit[transformers]'"
_LENGTH = 512
"""Tokens of a text where neither the model nor its tokenizer says how many it takes."""


class Pipeline:
    """A model as a `System`, one task of its own. Creating it reads small files; raises what `described` raises."""

    def __init__(self, argument: str):
        self._described = about = described(argument)
        self._argument = argument
        self.name = about.said.name or Path(about.said.model).name
        self.version = f"{fingerprint_of(about.folder)}, transformers {package_version('transformers')}"
        self.tasks: tuple[str, ...] = (about.task,)
        self.languages: tuple[str, ...] = about.said.languages or ("*",)
        self._kind = _kind_of(about)
        self.settings: Mapping[str, object] = {
            "task": about.task,
            "dtype": about.said.dtype,
            "max_length": _length_of(about),
            "too_long": about.said.too_long,
            **({"labels": list(about.labels)} if about.labels else {}),
            **self._kind.settings(about),
        }
        self.summary = f"model {about.said.model} (transformers)"
        self._head: Head | None = None

    def __reduce__(self) -> tuple[type["Pipeline"], tuple[str]]:
        return Pipeline, (self._argument,)  # a worker loads the model itself

    def needs(self) -> str | None:
        """None when the packages are there, else the line that installs them."""
        return missing("torch", INSTALL) or missing("transformers", INSTALL)

    def written_for(self, task: str) -> str | None:
        """What a file says to make this model do another task, where its labels read like those of the task."""
        line = labels_line(names_of(self._described.config), get_task(task).labels)
        return f'task = "{task}" and {line}' if line else None

    def prepare(self) -> None:
        """Read the tokenizer, so that a model that cannot be asked is found before anything runs; the weights are
        loaded where they are needed. Raises NotInstalled and BadFile."""
        self._tokenizer()

    def run(self, inputs: Sequence[Input]) -> list[Output]:
        """One output per input."""
        if self._head is None:
            self._head = self._kind(self._load(), self._described)
        return self._head.outputs(inputs)

    def _tokenizer(self) -> Any:
        if needs := self.needs():
            raise NotInstalled(f"system {self.name} cannot run here; {needs}")
        return load_tokenizer(self._described.folder)

    def _load(self) -> Loaded:
        tokenizer = self._tokenizer()
        one_thread()  # before anything is loaded: each of our processes has a core of its own
        import torch
        import transformers

        about = self._described
        model, loading = load_part(
            getattr(transformers, self._kind.loader),
            about.folder,
            weights_only=True,
            output_loading_info=True,
            dtype=getattr(torch, about.said.dtype),
        )
        self._kind.check(about, loading)
        try:
            model = model.to(about.said.device).eval()
        except (RuntimeError, AssertionError, NotImplementedError) as problem:  # whatever a device makes torch raise
            raise AuditError(
                f"{about.spec}, device: {about.said.device!r} cannot be used here ({first_line(problem)}); "
                "cpu always can"
            ) from problem
        return Loaded(tokenizer, model, _length_of(about))


def _kind_of(about: Described) -> type[Head]:
    task = base_of(about.task)
    if task == "similarity":
        classifies = "".join(about.config.get("architectures") or []).endswith("ForSequenceClassification")
        return HEADS["regression" if classifies else "encoder"]
    if parts_of(about.task):
        return HEADS["several labels"]
    return HEADS.get(task, HEADS["labels"])


def _length_of(about: Described) -> int:
    """Tokens of a text, or of a pair, that are read."""
    config, tokenizer = about.config, model_json(about.folder, "tokenizer_config.json")
    positions = config.get("max_position_embeddings") or config.get("n_positions") or _LENGTH
    if positions > 0 and "roberta" in str(config.get("model_type")):
        positions -= int(config.get("pad_token_id") or 1) + 1  # its first positions are never used
    said = about.said.max_length or positions
    return int(min(said, positions, tokenizer.get("model_max_length") or positions))


def transformers(argument: str) -> System:
    """The system `transformers:ARGUMENT`; of a model that translates the one that `seq2seq:` names, which knows how
    models are told languages."""
    about = described(argument)
    if about.task != "translation":
        return Pipeline(argument)
    pair = f"#{about.said.pair}" if about.said.pair else ""
    system: System = registry.systems.get("seq2seq")(f"{about.folder}{pair}")
    return system
