"""Models of Hugging Face's transformers as systems: `transformers:DIRECTORY`, `transformers:NAME` of a model in the
Hugging Face cache, `transformers:FILE.toml`; and what other rooms load of such models.

The tasks are those whose outputs are labels (one text, or a pair, as in inference), similarity, summarization, and
translation (`audit.packs.translation.seq2seq`). transformers 5 has a pipeline for the first only, which cuts long texts
off. Nothing is downloaded, no code of a model is executed, and weights are safetensors or read by torch's restricted
unpickler.

A text that is longer than the model reads is read in windows of as many tokens as it takes, each beginning with the
last quarter of the one before (of a pair, the first text; the second is in each). The output is the mean of the
windows' probabilities, numbers or vectors, weighted by their tokens. A summary is of the beginning, which is told
(`Output.details`).
"""

import hashlib
import math
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, Strict

from audit import registry
from audit.errors import BadFile, BadOutput, NotInstalled, first_line
from audit.files import parse_json
from audit.systems.base import System, missing, package_version
from audit.systems.endpoint import HELP, Languages, Spelled, TaskName, Text, Words, read_system_file
from audit.tasks import Input, Output, get_task
from audit.user_models import UserModel

INSTALL = "pip install 'audit[transformers]'"
NOT_FINITE = "the model's numbers are not finite (NaN or infinity); its weights are broken, or its dtype is too small"
_LENGTH, _SUMMARY = 512, 142  # Tokens of a text and of a summary where the model does not say how many
_TRANSLATORS = ("marian", "m2m_100", "nllb-moe", "fsmt")  # Kinds of models that do nothing but translate
_CLASSIFIES, _GENERATES = "ForSequenceClassification", "ForConditionalGeneration"
"""What architectures end with."""
_GENERATED = ("summarization", "translation")
_MODEL_FILES = frozenset({".json", ".txt", ".model", ".spm", ".safetensors", ".bin"})
_PIECES, _PIECE = 256, 4096

# Files of a model


def model_folder(model: str, revision: str | None = None) -> Path | None:
    """Return the directory of a model: the named one, or that of the Hugging Face cache; None where there is none."""
    if Path(model).is_dir():
        return Path(model)
    with suppress(ImportError, OSError, ValueError):
        from huggingface_hub import snapshot_download

        return Path(snapshot_download(model, revision=revision, local_files_only=True))
    return None


def absent_model(model: str) -> str:
    """Return the sentence about a model that is nowhere."""
    return (
        f"there is no directory {model!r} and no model of this name in the Hugging Face cache; download it once with "
        f"`hf download {model}`, or name the directory that it is in"
    )


def model_json(folder: Path, name: str) -> dict[str, Any]:
    """Return the object in a file of a model; empty where it is absent. Raises BadFile."""
    try:
        content = parse_json((folder / name).read_text("utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as problem:
        raise BadFile(f"{folder / name}: cannot be read ({problem})") from problem
    return content if isinstance(content, dict) else {}


def fingerprint_of(folder: Path) -> str:
    """Return twelve hexadecimal digits that name a model by what its files hold: small ones as a whole, of others the
    size and 256 pieces, since whatever is trained further changes nearly all of its weights."""
    state = hashlib.blake2b(digest_size=6)
    for file in sorted(file for file in folder.iterdir() if file.suffix in _MODEL_FILES and file.is_file()):
        size = file.stat().st_size
        state.update(f"{file.name}\0{size}\0".encode())
        pieces, length = (1, size) if size <= _PIECES * _PIECE else (_PIECES, _PIECE)
        with file.open("rb") as opened:
            for number in range(pieces):
                opened.seek((size - length) * number // max(1, pieces - 1))
                state.update(opened.read(length))
    return state.hexdigest()


def load_part(kind: Any, folder: Path | None, **options: object) -> Any:
    """Return a part of a model (a tokenizer, the weights), which a class of transformers reads from its directory.
    Raises BadFile."""
    try:
        return kind.from_pretrained(str(folder), local_files_only=True, trust_remote_code=False, **options)
    except (Exception, SystemExit) as problem:  # whatever a file or a version of it makes transformers raise
        raise BadFile(f"{folder}: transformers cannot load this model ({first_line(problem)})") from problem


def load_tokenizer(folder: Path | None) -> Any:
    """Return the tokenizer of a model. Raises BadFile, also where its files are absent: transformers then makes one
    that knows no word."""
    from transformers import AutoTokenizer

    tokenizer = load_part(AutoTokenizer, folder)
    names = {"tokenizer.json", *tokenizer.vocab_files_names.values()}
    if folder is not None and tokenizer.vocab_files_names and not any((folder / name).is_file() for name in names):
        raise BadFile(f"{folder}: the tokenizer is missing ({' or '.join(sorted(names))}); download the whole model")
    return tokenizer


def one_thread() -> None:
    """Give torch one thread, in this process from now on: sentences are too short for more to gain anything, and the
    order of sums stays the same. It is not put back: OpenMP would start threads again, which a process that is forked
    from this one would wait for for ever."""
    import torch

    if torch.get_num_threads() != 1:
        torch.set_num_threads(1)


# The system

Window = dict[str, list[int]]
"""What a model reads at once: the tokens of an input, or of a part of it."""


def by_length(tokens: Sequence[Sequence[int]], size: int) -> list[list[int]]:
    """Return places of texts in batches of about the same length, the shortest first: less is padded."""
    order = sorted(range(len(tokens)), key=lambda place: len(tokens[place]))
    return [order[start : start + size] for start in range(0, len(order), size)]


class PipelineFile(UserModel):
    """The content of a file; docs/reference/systems.md says what its keys are."""

    model: Text = Field(description="it is the directory of the model, or its name in the Hugging Face cache")
    name: Spelled | None = None
    revision: Text | None = None
    task: TaskName | None = None
    labels: Words = Field({}, repr=False)  # The model's own words for labels -> ours
    languages: Languages | None = None
    device: Text = "cpu"
    dtype: Literal["float32", "float16", "bfloat16"] = "float32"
    batch: int = Field(16, ge=1, le=10_000)
    max_length: Annotated[int, Field(ge=4, le=1_000_000)] | None = None
    pooling: Literal["mean", "first"] | None = None
    scale: Annotated[tuple[float, float], Strict(False)] | None = None
    beams: Annotated[int, Field(ge=1, le=64)] | None = None
    pair: Text | None = None


def transformers(argument: str) -> System:
    """Return the system `transformers:ARGUMENT`; of a model that translates the one that `seq2seq:` names, which knows
    how models are told languages."""
    pipeline = Pipeline(argument)
    if pipeline.tasks != ("translation",):
        return pipeline
    system: System = registry.systems.get("seq2seq")(argument)
    return system


class Pipeline:
    """A model as a `System`, one task of its own; behind `#` a model that translates may have its pair of languages.

    Creating it reads small files. Raises AuditError where nothing is named, NotInstalled where there is no such model,
    BadFile for what is wrong with the file or does not fit the model: what it lacks would be filled with random
    numbers.
    """

    def __init__(self, argument: str):
        self.spec = argument
        if argument.endswith(".toml") or not argument.strip():
            self.file = read_system_file(PipelineFile, argument.strip(), "transformers")
        else:
            model, mark, pair = argument.partition("#")
            named = {"name": f"{Path(model).name}#{pair}", "pair": pair} if pair else {}
            translates = {"task": "translation"} if mark else {}
            self.file = PipelineFile.model_validate({"model": model, **translates, **named})
        folder = model_folder(self.file.model, self.file.revision)
        if folder is None:
            raise NotInstalled(f"{argument.rstrip('#')}: {absent_model(self.file.model)}")
        self.folder, self.config = folder, model_json(folder, "config.json")
        if not self.config:
            raise BadFile(f"{folder}: config.json is absent, so this is no model of transformers")
        numbered = self.config.get("id2label") or {
            at: f"LABEL_{at}" for at in range(self.config.get("num_labels") or 2)
        }
        self.names = [str(name) for _, name in sorted(numbered.items(), key=lambda item: int(item[0]))]
        self.head = "".join(self.config.get("architectures") or [])
        self.task = self.file.task or self._said_task()
        self.kind = self._kind()
        self.name = self.file.name or Path(self.file.model).name
        self.version = f"{fingerprint_of(folder)}, transformers {package_version('transformers')}"
        self.tasks: tuple[str, ...] = (self.task,)
        self.languages: tuple[str, ...] = self.file.languages or ("*",)
        self.summary = f"model {self.file.model} (transformers)"
        self.labels, self.longest = self._label_names(), self._longest()
        self._own = self._own_settings()
        shared = {"task": self.task, "dtype": self.file.dtype, "max_length": self.longest}
        self.settings: Mapping[str, object] = {**shared, **self._own}
        self._model: Any = None

    def __reduce__(self) -> tuple[type["Pipeline"], tuple[str]]:
        return type(self), (self.spec,)  # a worker loads the model itself

    def _said_task(self) -> str:
        """Return the task that the model's configuration says it is for. Raises BadFile where it does not."""
        head, names = self.head, self.names
        if self.config.get("model_type") in _TRANSLATORS:
            return "translation"
        if (self.folder / "modules.json").is_file() or (head.endswith(_CLASSIFIES) and len(names) == 1):
            return "similarity"
        if head.endswith(_CLASSIFIES) and not all(re.fullmatch(r"(LABEL_)?\d+", name) for name in names):
            for task in ("sentiment", "inference"):
                if {name.casefold() for name in names} <= set(get_task(task).labels):
                    return task
            mark = "+" if self.config.get("problem_type") == "multi_label_classification" else ","
            if not any(mark in name for name in names):
                return f"classification/{mark.join(names)}"
        raise BadFile(
            f"{self.spec}: the model ({head or 'no architecture'}; labels {', '.join(names[:6]) or 'none'}) does not "
            f"say its task; write a file with model = {str(self.folder)!r}, task and labels, and name that ({HELP})"
        )

    def _kind(self) -> str:
        """Return the kind of outputs: label, labels, number, encoder, or the task. Raises BadFile where the model is
        not made for the task."""
        head, task, several = self.head, self.task, self.config.get("problem_type") == "multi_label_classification"
        if task in _GENERATED:
            kind, wanted = task, _GENERATES
            fits = head.endswith(wanted) or bool(self.config.get("is_encoder_decoder"))
        elif task == "similarity":
            kind, wanted = "encoder", f"an encoder, or {_CLASSIFIES} with one number"
            fits = not head.endswith(_GENERATES)
            if head.endswith(_CLASSIFIES):
                kind, fits = "number", len(self.names) == 1
        else:
            kind, wanted = "labels" if several else "label", _CLASSIFIES
            fits = head.endswith(wanted) and get_task(task).question_kind == "input"
        if not fits:
            raise BadFile(f"{self.spec}: the model is {head or 'of no architecture'}; for {task} it must be {wanted}")
        if kind in ("label", "labels") and bool(getattr(get_task(task), "parts", ())) != several:
            number = "any number of labels" if several else "one label"
            raise BadFile(f"{self.spec}: the model gives a text {number}; {task} is not made for that")
        return kind

    def _label_names(self) -> tuple[str, ...]:
        """Return our label for each of the model's numbers; nothing where an output is no label. Raises BadFile for a
        map that misses a label, or has a wrong one."""
        if self.kind not in ("label", "labels"):
            return ()
        task, written, names = get_task(self.task), self.file.labels, self.names
        allowed = getattr(task, "parts", ()) or task.labels
        spelling = {label.casefold(): label for label in allowed}
        ours = [written.get(name) or spelling.get(name.casefold()) or "" for name in names]
        if not {*ours} <= {*allowed} or not {*written} <= {*names}:
            raise BadFile(
                f"{self.spec}, labels: for each of {', '.join(names)} write which of {', '.join(allowed)} it is, as in "
                f'labels = {{ "{names[0]}" = "{allowed[0] if allowed else "..."}" }}'
            )
        return tuple(ours)

    def _longest(self) -> int:
        """Return the tokens of a text, or of a pair, that are read at once."""
        positions = self.config.get("max_position_embeddings") or self.config.get("n_positions") or _LENGTH
        if positions > 0 and "roberta" in str(self.config.get("model_type")):
            positions -= int(self.config.get("pad_token_id") or 1) + 1  # its first positions are never used
        of_tokenizer = model_json(self.folder, "tokenizer_config.json").get("model_max_length")
        return int(min(self.file.max_length or positions, positions, of_tokenizer or positions))

    def _own_settings(self) -> dict[str, Any]:
        """Return what may change an output of a model of this kind, beside what may change those of all."""
        if self.kind == "number":
            return {"scale": list(self.file.scale) if self.file.scale else "sigmoid"}
        if self.kind == "encoder":  # as the file says, else as sentence-transformers wrote beside it, else the mean
            pooling = model_json(self.folder / "1_Pooling", "config.json")
            ways = {"pooling_mode_mean_tokens": "mean", "pooling_mode_cls_token": "first"}
            chosen = [name for name, value in pooling.items() if name.startswith("pooling_mode_") and value is True]
            if not self.file.pooling and (len(chosen) > 1 or not set(chosen) <= set(ways)):
                raise BadFile(f'{self.spec}: {", ".join(chosen)} is not known; write pooling = "mean" or "first"')
            return {"pooling": self.file.pooling or (ways[chosen[0]] if chosen else "mean"), "score": "cosine"}
        if self.kind == "summarization":
            own = model_json(self.folder, "generation_config.json")
            own |= (self.config.get("task_specific_params") or {}).get("summarization") or {}
            longest = own.get("max_length") or own.get("max_new_tokens") or _SUMMARY
            beams = self.file.beams or own.get("num_beams") or 1
            return {"beams": beams, "longest_summary": longest, "prefix": own.get("prefix", "")}
        return {"labels": list(self.labels)} if self.labels else {}

    def needs(self) -> str | None:
        return missing("torch", INSTALL) or missing("transformers", INSTALL)

    def prepare(self) -> None:
        """Read the tokenizer, so that a model that cannot be asked is found before anything runs; the weights are
        loaded where they are needed. Raises NotInstalled and BadFile."""
        if needs := self.needs():
            raise NotInstalled(f"system {self.name} cannot run here; {needs}")
        self._tokenizer = load_tokenizer(self.folder)

    def load(self) -> None:
        """Load the model where it is not yet. Raises BadFile where its weights are not all there."""
        if self._model is not None:
            return
        import torch
        import transformers

        self.prepare()
        one_thread()  # before anything is loaded: each of our processes has a core of its own
        generates = "AutoModelForSeq2SeqLM" if self.task in _GENERATED else f"AutoModel{_CLASSIFIES}"
        loader = "AutoModel" if self.kind == "encoder" else generates
        options = {"weights_only": True, "output_loading_info": True, "dtype": getattr(torch, self.file.dtype)}
        model, loading = load_part(getattr(transformers, loader), self.folder, **options)
        spare = "pooler." if self.kind == "encoder" else "\0"  # nothing is read off it
        if absent := sorted(name for name in loading["missing_keys"] if not name.startswith(spare)):
            # They would be random numbers.
            raise BadFile(f"{self.spec}: weights are missing ({', '.join(absent[:3])}); train or download it again")
        self._model = model.to(self.file.device).eval()

    def run(self, inputs: Sequence[Input]) -> list[Output]:
        self.load()
        runs = {"summarization": self._summaries, "encoder": self._similarities}
        return runs.get(self.kind, self._classes)(inputs)

    def _windows(self, texts: Sequence[str]) -> list[Window]:
        """Return the windows of an input, those of its first text where it is too long; none: it cannot be read."""
        whole = self._tokenizer(*texts, verbose=False)
        if len(whole["input_ids"]) <= self.longest:
            return [dict(whole)]
        room = self.longest - len(self._tokenizer("", *texts[1:], verbose=False)["input_ids"])
        if room < 8:
            return []
        cut = {"truncation": "only_first", "max_length": self.longest, "stride": room // 4}
        read = self._tokenizer(*texts, **cut, return_overflowing_tokens=True, verbose=False)
        names = [name for name in ("input_ids", "attention_mask", "token_type_ids") if name in read]
        return [{name: read[name][place] for name in names} for place in range(len(read["input_ids"]))]

    def _averages(self, read: Sequence[Sequence[Window]], value: Any) -> list[Any]:
        """Return for each input the mean of what `value(said, length)` makes of what the model says of its windows, by
        their tokens.

        Raises BadOutput where any of it is NaN or infinite: comparisons with NaN are false, so that it would become a
        label or a score like any other.
        """
        import torch

        flat = [(place, window) for place, windows in enumerate(read) for window in windows]
        totals: list[Any] = [0] * len(read)
        for batch in by_length([window["input_ids"] for _, window in flat], self.file.batch):
            chosen = [flat[number] for number in batch]
            padded = self._tokenizer.pad([window for _, window in chosen], return_tensors="pt")
            with torch.inference_mode():
                said = self._model(**padded.to(self._model.device))
            parts = {name: part.float().cpu() for name, part in said.items() if isinstance(part, torch.Tensor)}
            if not all(part.isfinite().all() for part in parts.values()):
                raise BadOutput(NOT_FINITE)
            for row, (place, window) in enumerate(chosen):
                length = len(window["input_ids"])
                totals[place] = totals[place] + length * value(
                    {name: part[row] for name, part in parts.items()}, length
                )
        lengths = [sum(len(window["input_ids"]) for window in windows) for windows in read]
        return [total / max(1, length) for total, length in zip(totals, lengths, strict=True)]

    def _classes(self, inputs: Sequence[Input]) -> list[Output]:
        """Return a label with its probability, the set of labels that are more probable than not, with that of the set,
        or the similarity that a pair classifier says as one number."""
        read = [self._windows(item.texts) for item in inputs]
        averages = self._averages(read, lambda said, _: self._shares(said["logits"]))
        return [
            self._class(row.tolist()) if windows else self._too_long(item)
            for item, windows, row in zip(inputs, read, averages, strict=True)
        ]

    def _shares(self, logits: Any) -> Any:
        if self.kind == "number" and (scale := self.file.scale):
            return ((logits - scale[0]) / (scale[1] - scale[0])).clamp(0, 1)
        return logits.softmax(-1) if self.kind == "label" else logits.sigmoid()

    def _class(self, values: Sequence[float]) -> Output:
        if self.kind == "number":
            return Output(score=min(1.0, values[0]))
        if self.kind == "label":
            best = max(range(len(values)), key=values.__getitem__)
            return Output(self.labels[best], min(1.0, values[best]))
        task: Any = get_task(self.task)
        chosen = [label for label, value in zip(self.labels, values, strict=True) if value > 0.5]
        return Output(task.together(chosen), math.prod(max(value, 1 - value) for value in values))

    def _too_long(self, item: Input) -> Output:
        tokens = len(self._tokenizer(item.texts[-1], "", verbose=False)["input_ids"])
        return Output(error=f"the second text has {tokens:,} tokens, the model reads {self.longest:,} with the first")

    def _similarities(self, inputs: Sequence[Input]) -> list[Output]:
        """Return the cosine of two texts' vectors (the mean of the tokens' or the first one's), 0 where it is negative.

        Source: Reimers and Gurevych, "Sentence-BERT" (EMNLP 2019), section 3."""
        import torch

        read = [self._windows([text]) for item in inputs for text in item.texts]

        def vector(said: Any, length: int) -> Any:
            states = said["last_hidden_state"]
            return states[0] if self._own["pooling"] == "first" else states[:length].mean(0)

        vectors = self._averages(read, vector)
        pairs = zip(vectors[::2], vectors[1::2], strict=True)
        cosines = (torch.nn.functional.cosine_similarity(first, second, dim=0).item() for first, second in pairs)
        return [Output(score=min(1.0, max(0.0, cosine))) for cosine in cosines]

    def _summaries(self, inputs: Sequence[Input]) -> list[Output]:
        texts = [self._own["prefix"] + item.text for item in inputs]
        whole = self._tokenizer(texts, verbose=False)["input_ids"]
        read = self._tokenizer(texts, truncation=True, max_length=self.longest)["input_ids"]
        outputs = self.generated(read, self._own["beams"], self._own["longest_summary"] - 1, "summary")
        # One that just fits says what was read, too, as the beginning of a follow-up that is cut may be the same.
        return [
            replace(output, details={"read": tokens, "cut": len(every) - len(tokens)})
            if len(every) >= self.longest
            else output
            for output, tokens, every in zip(outputs, read, whole, strict=True)
        ]

    def generated(
        self, tokens: Sequence[Sequence[int]], beams: int, longest: int, what: str, forced: int | None = None
    ) -> list[Output]:
        """Return what is generated for each list of tokens, in batches of about the same length: by beam search, never
        sampling, at most `longest` tokens behind the first one; `forced` is the second where the model is told a
        language so. A text that has not ended is an error: a part of one is no output."""
        import torch

        outputs = [Output()] * len(tokens)
        ends = self._model.generation_config.eos_token_id
        ends = ends if isinstance(ends, list) else [ends]
        for batch in by_length(tokens, self.file.batch):
            padded = self._tokenizer.pad({"input_ids": [tokens[at] for at in batch]}, return_tensors="pt")
            padded = padded.to(self._model.device)
            with torch.inference_mode():
                generated = self._model.generate(
                    input_ids=padded["input_ids"],
                    attention_mask=padded["attention_mask"],
                    do_sample=False,
                    num_beams=beams,
                    max_new_tokens=longest,
                    logits_processor=[_finite],
                    forced_eos_token_id=None,  # else what is cut off looks as if it had ended
                    **({} if forced is None else {"forced_bos_token_id": forced}),
                )
            for place, (start, *ids) in zip(batch, generated.tolist(), strict=True):
                outputs[place] = Output(error=f"the {what} did not end within {longest + 1:,} tokens")
                if any(end in ids for end in ends):
                    said = ids[1:] if ids[:1] == [forced] else ids  # it is no special token of every tokenizer
                    text = self._tokenizer.decode([start, *said], skip_special_tokens=True).strip()
                    outputs[place] = Output(text=text) if text else Output(error=f"the {what} is empty")
        return outputs


def _finite(ids: Any, scores: Any) -> Any:
    """The scores of the next token. Raises BadOutput where one is NaN or infinite; minus infinity excludes a token."""
    if scores.isnan().any() or scores.isposinf().any():
        raise BadOutput(NOT_FINITE)
    return scores
