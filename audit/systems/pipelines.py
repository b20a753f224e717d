"""Models of Hugging Face's transformers as systems: `transformers:DIRECTORY`, `transformers:NAME` of a model in the
Hugging Face cache, `transformers:FILE.toml`.

The tasks are those whose outputs are labels (one text, or a pair, as in inference), similarity, question answering,
summarization, and translation (`audit.packs.translation.seq2seq`). transformers 5 has a pipeline for the first only.

A text that is longer than the model reads is read in windows of as many tokens as it takes, each beginning with the
last quarter of the one before (of a pair, the first text; the second is in each). The output is the mean of the
windows' probabilities, numbers or vectors, weighted by their tokens; an answer to a question is the best of all
windows. A summary is of the beginning, which is told (`Output.details`), as every output is with `too_long = "cut"`.
"""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import Field, Strict

from audit import registry
from audit.errors import AuditError, BadFile, BadOutput, NotInstalled, first_line
from audit.files import read_json
from audit.systems.base import System, missing, package_version
from audit.systems.generation import NOT_FINITE, Generation
from audit.systems.model_files import (
    absent_model,
    by_length,
    fingerprint_of,
    load_part,
    load_tokenizer,
    model_folder,
    model_json,
    one_thread,
)
from audit.systems.remote_file import HELP, Names, Spelled, TaskName, Text, Words, read_system_file
from audit.tasks import Input, Output, get_task
from audit.tasks.question_answering import UNANSWERABLE
from audit.user_models import UserModel

INSTALL = "pip install 'audit[transformers]'"
_LENGTH, _SUMMARY = 512, 142
"""Tokens of a text and of a summary where the model does not say how many it takes and makes."""
_TRANSLATORS = ("marian", "m2m_100", "nllb-moe", "fsmt")
"""Kinds of models that do nothing but translate."""
_HEADS = {
    "question-answering": "ForQuestionAnswering",
    "summarization": "ForConditionalGeneration",
    "translation": "ForConditionalGeneration",
}
"""What the architecture of a model for a task ends with; for other tasks it classifies texts."""
_CLASSIFIES, _SEVERAL = "ForSequenceClassification", "multi_label_classification"
_LOADERS = {
    "question-answering": "AutoModelForQuestionAnswering",
    "summarization": "AutoModelForSeq2SeqLM",
    "encoder": "AutoModel",
}
"""The class of transformers that reads the weights, where it is not that of classifiers."""


class PipelineFile(UserModel):
    """The content of a file."""

    model: Text = Field(description="it is the directory of the model, or its name in the Hugging Face cache")
    name: Spelled | None = None
    revision: Text | None = None
    task: TaskName | None = None
    labels: Words = Field({}, repr=False)
    """The model's own words for labels -> ours."""
    languages: Names | None = None
    device: Text = "cpu"
    dtype: Literal["float32", "float16", "bfloat16"] = "float32"
    batch: int = Field(16, ge=1, le=10_000)
    max_length: Annotated[int, Field(ge=4, le=1_000_000)] | None = None
    """Tokens of a text, or of a window; None: as many as the model takes."""
    too_long: Literal["windows", "cut"] = "windows"
    pooling: Literal["mean", "first"] | None = None
    """Of an encoder: its vector of a text is the mean of its tokens', or the first one's."""
    scale: Annotated[tuple[float, float], Strict(False)] | None = None
    """Of a pair classifier with one number: what it says for 0 and for 1, [0, 5]; None: its sigmoid."""
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
    """A model: its file (or what was written in place of one), its directory, its configuration and architecture, its
    own words for its labels in the order of their numbers, its task, and the kind of its outputs: label, labels,
    number, encoder, or its task."""

    spec: str
    file: PipelineFile
    folder: Path
    config: Mapping[str, Any]
    architecture: str
    names: Sequence[str]
    task: str = ""
    kind: str = ""


def described(argument: str) -> Described:
    """Return what `transformers:ARGUMENT` means: a TOML file, a directory, or a name in the Hugging Face cache.

    Reads small files only. Raises AuditError where nothing is named, NotInstalled where there is no such model, BadFile
    for what is wrong with the file or does not fit the model: what it lacks would be filled with random numbers.
    """
    if argument.endswith(".toml") or not argument.strip():
        file = read_system_file(PipelineFile, argument.strip(), "transformers")
    else:
        file = PipelineFile.model_validate({"model": argument})
    folder = model_folder(file.model, file.revision)
    if folder is None:
        raise NotInstalled(f"{argument}: {absent_model(file.model)}")
    config = model_json(folder, "config.json")
    if not config:
        raise BadFile(f"{folder}: config.json is absent, so this is no model of transformers")
    names = config.get("id2label") or {str(place): f"LABEL_{place}" for place in range(config.get("num_labels") or 2)}
    ordered = [str(name) for _, name in sorted(names.items(), key=lambda item: int(item[0]))]
    about = Described(argument, file, folder, config, "".join(config.get("architectures") or []), ordered)
    task, head = file.task or _task_of(about), about.architecture
    several = config.get("problem_type") == _SEVERAL
    if task in _HEADS:
        kind, wanted = task, _HEADS[task]
        fits = head.endswith(wanted) or (kind != "question-answering" and bool(config.get("is_encoder_decoder")))
    elif task == "similarity":
        kind, wanted = (
            "number" if head.endswith(_CLASSIFIES) else "encoder",
            f"an encoder, or {_CLASSIFIES} with one number",
        )
        fits = len(ordered) == 1 if kind == "number" else not head.endswith(tuple(_HEADS.values()))
    else:
        kind, wanted = "labels" if several else "label", _CLASSIFIES
        fits = head.endswith(wanted) and get_task(task).question_kind == "input"
    if not fits:
        raise BadFile(f"{argument}: the model is {head or 'of no architecture'}; for {task} it must be {wanted}")
    if kind in ("label", "labels") and bool(getattr(get_task(task), "parts", ())) != several:
        number = "any number of labels" if several else "one label"
        raise BadFile(f"{argument}: the model gives a text {number}; {task} is not made for that")
    return replace(about, task=task, kind=kind)


def _task_of(about: Described) -> str:
    """Return the task that a model's configuration says it is for. Raises BadFile where it does not."""
    config, head, names = about.config, about.architecture, about.names
    if config.get("model_type") in _TRANSLATORS:
        return "translation"
    if head.endswith(_HEADS["question-answering"]):
        return "question-answering"
    if (about.folder / "modules.json").is_file() or (head.endswith(_CLASSIFIES) and len(names) == 1):
        return "similarity"
    if head.endswith(_CLASSIFIES) and not all(re.fullmatch(r"(LABEL_)?\d+", name) for name in names):
        for task in ("sentiment", "inference"):
            if {name.casefold() for name in names} <= set(get_task(task).labels):
                return task
        mark = "+" if config.get("problem_type") == _SEVERAL else ","
        if not any(mark in name for name in names):
            return f"classification/{mark.join(names)}"
    raise BadFile(
        f"{about.spec}: the model ({head or 'no architecture'}; labels {', '.join(names[:6]) or 'none'}) does not say "
        f"its task; write a file with model = {str(about.folder)!r}, task and labels, and name that ({HELP})"
    )


def _labels_of(about: Described) -> tuple[str, ...]:
    """Return our label for each of the model's numbers; nothing where an output is no label. Raises BadFile for a map
    that misses a label, or has a wrong one."""
    task, written, names, where = get_task(about.task), about.file.labels, about.names, f"{about.spec}, labels"
    if about.kind not in ("label", "labels"):
        if written:
            raise BadFile(f"{where}: an output of {about.task} is no label; leave them out")
        return ()
    allowed = getattr(task, "parts", ()) or task.labels
    spelling = {label.casefold(): label for label in allowed}
    ours = [written.get(name) or spelling.get(name.casefold()) or "" for name in names]
    wrong = [name for name in written if name not in names] + [label for label in ours if label not in (*allowed, "")]
    unsaid = [name for name, label in zip(names, ours, strict=True) if not label]
    if wrong or unsaid:
        problem = f"{wrong[0]!r} is none here" if wrong else f"nothing says what is meant by {', '.join(unsaid)}"
        raise BadFile(
            f"{where}: {problem}; for each of {', '.join(names)} write which of {', '.join(allowed)} it is, "
            f'as in labels = {{ "{names[0]}" = "{allowed[0] if allowed else "..."}" }}'
        )
    return tuple(ours)


def _pooling_of(about: Described) -> str:
    """Return how an encoder makes one vector of a text: as the file says, else as sentence-transformers wrote beside
    it, else the mean. Raises BadFile for a way that is not known here."""
    if about.file.pooling:
        return about.file.pooling
    modules = about.folder / "modules.json"
    listed = read_json(modules, "download the model again") if modules.is_file() else []
    parts = {str(module.get("type", "")).rpartition(".")[2] for module in listed if isinstance(module, dict)}
    pooling = model_json(about.folder / "1_Pooling", "config.json")
    ways = {"pooling_mode_mean_tokens": "mean", "pooling_mode_cls_token": "first"}
    chosen = [name for name, value in pooling.items() if name.startswith("pooling_mode_") and value is True]
    if unknown := parts - {"Transformer", "Pooling", "Normalize"} or set(chosen) - set(ways) or set(chosen[1:]):
        raise BadFile(f'{about.spec}: {", ".join(unknown)} is not known here; write pooling = "mean" or "first"')
    return ways[chosen[0]] if chosen else "mean"


def _longest_of(about: Described) -> int:
    """Return the tokens of a text, or of a pair, that are read at once."""
    config, tokenizer = about.config, model_json(about.folder, "tokenizer_config.json")
    positions = config.get("max_position_embeddings") or config.get("n_positions") or _LENGTH
    if positions > 0 and "roberta" in str(config.get("model_type")):
        positions -= int(config.get("pad_token_id") or 1) + 1  # its first positions are never used
    said = about.file.max_length or positions
    return int(min(said, positions, tokenizer.get("model_max_length") or positions))


def _own_settings(about: Described, labels: Sequence[str]) -> dict[str, Any]:
    """Return what may change an output of a model of this kind, beside what may change those of all."""
    file = about.file
    if about.kind == "number":
        return {"scale": list(file.scale) if file.scale else "sigmoid"}
    if about.kind == "encoder":
        return {"pooling": _pooling_of(about), "score": "cosine"}
    if about.kind == "question-answering":
        return {"null_threshold": file.null_threshold, "longest_answer": file.longest_answer}
    if about.kind != "summarization":
        return {"labels": list(labels)}
    own = model_json(about.folder, "generation_config.json")
    task = (about.config.get("task_specific_params") or {}).get("summarization") or {}
    longest = task.get("max_length") or own.get("max_length") or own.get("max_new_tokens") or _SUMMARY
    return {
        "beams": int(file.beams or task.get("num_beams") or own.get("num_beams") or 1),
        "longest_summary": int(file.longest_summary or longest),
        "prefix": task.get("prefix", "") if file.prefix is None else file.prefix,
    }


Details = Mapping[str, Any] | None


@dataclass(frozen=True)
class Window:
    """A part of an input: tokens, the first and last character of each token of the text that is cut (None for others),
    and the place whose logits say that there is no answer."""

    tokens: dict[str, list[int]]
    characters: Sequence[tuple[int, int] | None] = ()
    null: int = 0

    def __len__(self) -> int:
        return len(self.tokens["input_ids"])


class Best(NamedTuple):
    """What one window says: the best span (its sum of logits, -inf where there is none, its characters, its
    probability) and no answer at all."""

    sum: float
    span: tuple[int, int]
    probability: float
    null_sum: float
    null_probability: float


def best_span(start: Any, end: Any, window: Window, longest: int) -> Best:
    """Return the span of at most `longest` tokens of a window with the largest sum of logits, and what stands for no
    answer. Probabilities are of start and end among the tokens of the context and the null place."""
    import torch

    places = [place for place, at in enumerate(window.characters) if at is not None]
    known = [*places, window.null]
    total = start[known].logsumexp(0) + end[known].logsumexp(0)
    null = start[window.null] + end[window.null]
    null_probability = (null - total).exp().clamp(max=1).item()
    if not places:
        return Best(-math.inf, (0, 0), 0.0, null.item(), null_probability)
    at = torch.tensor(places)
    apart = at[None, :] - at[:, None]
    sums = (start[at][:, None] + end[at][None, :]).masked_fill((apart < 0) | (apart >= longest), -math.inf)
    first, last = divmod(int(sums.argmax()), len(places))
    best = sums[first, last]
    span = (window.characters[places[first]] or (0, 0))[0], (window.characters[places[last]] or (0, 0))[1]
    return Best(best.item(), span, (best - total).exp().clamp(max=1).item(), null.item(), null_probability)


def whole_words(text: str, start: int, end: int) -> tuple[int, int]:
    """Return the span with the rest of the words that it begins or ends in. Writing without capitals has no words to
    complete.

    >>> whole_words("In Paris, 1889.", 5, 12)
    (3, 14)
    """

    def in_word(at: int) -> bool:
        return text[at].isdigit() or text[at].lower() != text[at].upper()

    while 0 < start < len(text) and in_word(start - 1) and in_word(start):
        start -= 1
    while 0 < end < len(text) and in_word(end - 1) and in_word(end):
        end += 1
    return start, end


def transformers(argument: str) -> System:
    """Return the system `transformers:ARGUMENT`; of a model that translates the one that `seq2seq:` names, which knows
    how models are told languages."""
    about = described(argument)
    if about.task != "translation":
        return Pipeline(argument)
    pair = f"#{about.file.pair}" if about.file.pair else ""
    system: System = registry.systems.get("seq2seq")(f"{about.folder}{pair}")
    return system


class Pipeline:
    """A model as a `System`, one task of its own. Creating it reads small files; raises what `described` raises."""

    def __init__(self, argument: str):
        self.about = about = described(argument)
        self._argument, self.file = argument, about.file
        self.name = self.file.name or Path(self.file.model).name
        self.version = f"{fingerprint_of(about.folder)}, transformers {package_version('transformers')}"
        self.tasks: tuple[str, ...] = (about.task,)
        self.languages: tuple[str, ...] = self.file.languages or ("*",)
        self.summary = f"model {self.file.model} (transformers)"
        self.labels, self.longest = _labels_of(about), _longest_of(about)
        self._own = _own_settings(about, self.labels)
        shared = {"task": about.task, "dtype": self.file.dtype, "max_length": self.longest}
        self.settings: Mapping[str, object] = {**shared, "too_long": self.file.too_long, **self._own}
        self._model: Any = None

    def __reduce__(self) -> tuple[type["Pipeline"], tuple[str]]:
        return Pipeline, (self._argument,)  # a worker loads the model itself

    def needs(self) -> str | None:
        return missing("torch", INSTALL) or missing("transformers", INSTALL)

    def prepare(self) -> None:
        """Read the tokenizer, so that a model that cannot be asked is found before anything runs; the weights are
        loaded where they are needed. Raises NotInstalled and BadFile."""
        if needs := self.needs():
            raise NotInstalled(f"system {self.name} cannot run here; {needs}")
        self._tokenizer = load_tokenizer(self.about.folder)

    def run(self, inputs: Sequence[Input]) -> list[Output]:
        if self._model is None:
            self.prepare()
            one_thread()  # before anything is loaded: each of our processes has a core of its own
            self._model = self._loaded()
        if self.about.kind == "question-answering":
            return self._answers(inputs)
        if self.about.kind == "summarization":
            return self._summaries(inputs)
        return self._similarities(inputs) if self.about.kind == "encoder" else self._classes(inputs)

    def _loaded(self) -> Any:
        import torch
        import transformers

        about = self.about
        kind = getattr(transformers, _LOADERS.get(about.kind, "AutoModelForSequenceClassification"))
        dtype = getattr(torch, self.file.dtype)
        model, loading = load_part(kind, about.folder, weights_only=True, output_loading_info=True, dtype=dtype)
        spare = "pooler." if about.kind == "encoder" else "\0"  # nothing is read off it
        if absent := sorted(name for name in loading["missing_keys"] if not name.startswith(spare)):
            # They would be random numbers.
            raise BadFile(f"{about.spec}: weights are missing ({', '.join(absent[:3])}); train or download it again")
        try:
            return model.to(self.file.device).eval()
        except (RuntimeError, AssertionError, NotImplementedError) as problem:  # whatever a device makes torch raise
            device = f"{self.file.device!r} cannot be used here ({first_line(problem)})"
            raise AuditError(f"{about.spec}, device: {device}; cpu always can") from problem

    def _windows(self, texts: Sequence[str], part: int = 0, cut: bool = False) -> tuple[list[Window], Details]:
        """Return the windows of an input, that of its texts in which `part` is too long, and the details of its output
        where it is cut or just fits, as the beginning of a follow-up that is cut may. No window: it cannot be read."""
        cut = cut or self.file.too_long == "cut"
        whole = self._tokenizer(*texts, verbose=False)
        number, beside = len(whole["input_ids"]), ["" if place == part else text for place, text in enumerate(texts)]
        details = {"read": whole["input_ids"], "cut": 0} if cut and number == self.longest else None
        room = self.longest - len(self._tokenizer(*beside, verbose=False)["input_ids"])
        if self.about.kind != "question-answering":
            if number <= self.longest:
                return [Window(dict(whole))], details
            if cut:
                read = self._tokenizer(*texts, truncation=True, max_length=self.longest)
                return [Window(dict(read))], {"read": read["input_ids"], "cut": number - self.longest}
        if room < 8:
            return [], None
        read = self._tokenizer(
            *texts,
            truncation=("only_first", "only_second")[part],
            max_length=self.longest,
            stride=room // 4,
            return_overflowing_tokens=True,
            return_offsets_mapping=True,
            verbose=False,
        )
        names = [name for name in ("input_ids", "attention_mask", "token_type_ids") if name in read]
        windows = []
        for place, ids in enumerate(read["input_ids"]):
            sides = zip(read.sequence_ids(place), read["offset_mapping"][place], strict=True)
            characters = [(at[0], at[1]) if side == part and at[1] > at[0] else None for side, at in sides]
            null = ids.index(self._tokenizer.cls_token_id) if self._tokenizer.cls_token_id in ids else 0
            windows.append(Window({name: read[name][place] for name in names}, characters, null))
        return windows, None

    def _asked(self, read: Sequence[Sequence[Window]]) -> Iterator[tuple[int, Window, Any]]:
        """Yield each window of each input, with the input's place and what the model says of it, a row of its output.
        Raises BadOutput where any of it is NaN or infinite: comparisons with NaN are false, so that it would become a
        label or a score like any other."""
        import torch

        flat = [(place, window) for place, windows in enumerate(read) for window in windows]
        for batch in by_length((len(window) for _, window in flat), self.file.batch):
            chosen = [flat[number] for number in batch]
            padded = self._tokenizer.pad([window.tokens for _, window in chosen], return_tensors="pt")
            with torch.inference_mode():
                said = self._model(**padded.to(self._model.device))
            parts = {name: part.float().cpu() for name, part in said.items() if isinstance(part, torch.Tensor)}
            if not all(part.isfinite().all() for part in parts.values()):
                raise BadOutput(NOT_FINITE)
            for row, (place, window) in enumerate(chosen):
                yield place, window, {name: part[row] for name, part in parts.items()}

    def _averages(self, read: Sequence[Sequence[Window]], value: Any) -> list[Any]:
        """Return for each input the mean of what `value(said, window)` makes of its windows, by their tokens."""
        means: list[Any] = [0] * len(read)
        for place, window, said in self._asked(read):
            means[place] = means[place] + value(said, window) * (len(window) / sum(map(len, read[place])))
        return means

    def _classes(self, inputs: Sequence[Input]) -> list[Output]:
        """Return a label with its probability, the set of labels that are more probable than not, with that of the set,
        or the similarity that a pair classifier says as one number."""
        read, details = zip(*(self._windows(item.texts) for item in inputs), strict=True)
        least, most = self.file.scale or (0.0, 1.0)
        kinds = {
            "label": lambda logits: logits.softmax(-1),
            "labels": lambda logits: logits.sigmoid(),
            "number": lambda logits: (
                ((logits - least) / (most - least)).clamp(0, 1) if self.file.scale else logits.sigmoid()
            ),
        }
        values = self._averages(read, lambda said, window: kinds[self.about.kind](said["logits"]))
        return [
            self._class(row.tolist(), part) if windows else Output(error=self._too_long(item))
            for item, windows, row, part in zip(inputs, read, values, details, strict=True)
        ]

    def _class(self, values: Sequence[float], details: Details) -> Output:
        if self.about.kind == "number":
            return Output(score=min(1.0, values[0]), details=details)
        if self.about.kind == "label":
            best = max(range(len(values)), key=values.__getitem__)
            return Output(self.labels[best], min(1.0, values[best]), details=details)
        task: Any = get_task(self.about.task)
        chosen = [label for label, value in zip(self.labels, values, strict=True) if value > 0.5]
        return Output(task.together(chosen), math.prod(max(value, 1 - value) for value in values), details=details)

    def _too_long(self, item: Input) -> str:
        asked = len(self._tokenizer(item.texts[-1], "", verbose=False)["input_ids"])
        return f"the second text has {asked:,} tokens, the model reads {self.longest:,} with the first"

    def _similarities(self, inputs: Sequence[Input]) -> list[Output]:
        """Return the cosine of two texts' vectors, 0 where it is negative. A vector is the mean of the tokens' or the
        first one's.

        Source: Reimers and Gurevych, "Sentence-BERT: sentence embeddings using Siamese BERT-networks" (EMNLP 2019),
        section 3.
        """
        import torch

        read = [self._windows([text]) for item in inputs for text in item.texts]
        first = self._own["pooling"] == "first"

        def vector(said: Any, window: Window) -> Any:
            states = said["last_hidden_state"]
            return states[0] if first else states[: len(window)].mean(0)

        vectors = self._averages([windows for windows, _ in read], vector)
        outputs = []
        for at in range(0, len(read), 2):
            cosine = torch.nn.functional.cosine_similarity(vectors[at], vectors[at + 1], dim=0).item()
            parts = [part for _, part in read[at : at + 2] if part]
            tokens = [window.tokens["input_ids"] for windows, _ in read[at : at + 2] for window in windows]
            details = {"read": tokens, "cut": sum(part["cut"] for part in parts)} if parts else None
            outputs.append(Output(score=min(1.0, max(0.0, cosine)), details=details))
        return outputs

    def _answers(self, inputs: Sequence[Input]) -> list[Output]:
        """Return the answer to each question as a span of its context, or that it has none.

        The span with the largest sum of its start's and end's logits is the answer, unless the sum at the first token,
        the least of all windows, is larger by more than the threshold: then it is unanswerable.

        Source: Devlin, Chang, Lee, Toutanova, "BERT: pre-training of deep bidirectional transformers for language
        understanding" (NAACL 2019), sections 4.2 and 4.3, and its script for SQuAD.
        """
        read = [self._windows((question, context), part=1)[0] for context, question in (item.texts for item in inputs)]
        bests: dict[int, list[Best]] = {}
        for place, window, said in self._asked(read):
            best = best_span(said["start_logits"], said["end_logits"], window, self.file.longest_answer)
            bests.setdefault(place, []).append(best)
        outputs = []
        for place, item in enumerate(inputs):
            if place not in bests:
                outputs.append(Output(error=self._too_long(item)))
                continue
            best = max(bests[place], key=lambda window: window.sum)
            nothing = min(bests[place], key=lambda window: window.null_sum)
            if best.sum == -math.inf or nothing.null_sum - best.sum > self.file.null_threshold:
                outputs.append(Output(text=UNANSWERABLE, score=nothing.null_probability))
            else:
                start, end = whole_words(item.text, *best.span)
                outputs.append(Output(text=item.text[start:end].strip(), score=best.probability))
        return outputs

    def _summaries(self, inputs: Sequence[Input]) -> list[Output]:
        read = [self._windows([self._own["prefix"] + item.text], cut=True) for item in inputs]
        tokens = [window.tokens["input_ids"] for (window,), _ in read]
        longest = self._own["longest_summary"] - 1
        generation = Generation(self._tokenizer, self._model, self._own["beams"], longest, "summary")
        outputs = [Output()] * len(inputs)
        for batch in by_length(map(len, tokens), self.file.batch):
            for place, output in zip(batch, generation.outputs([tokens[at] for at in batch]), strict=True):
                output = output if output.error or output.text else Output(error="the summary is empty")
                outputs[place] = replace(output, details=read[place][1])
        return outputs
