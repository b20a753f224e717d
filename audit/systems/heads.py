"""What reads an output off a model of transformers: labels, a similarity, a span of a text, a summary.

Each is one way to use a model; `audit.systems.pipelines` chooses by the task.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from audit.errors import BadFile, BadOutput
from audit.systems.generation import NOT_FINITE, Generation
from audit.systems.model_files import by_length, model_json
from audit.systems.pipeline_file import Described
from audit.tasks import Input, Output, get_task
from audit.tasks.question_answering import UNANSWERABLE

_SUMMARY = 142
"""Tokens of a summary where the model does not say how many it may have."""


@dataclass(frozen=True)
class Loaded:
    """A model that is loaded, with its tokenizer; `longest` is the most tokens of a text, or of a pair, it reads."""

    tokenizer: Any
    model: Any
    longest: int


class Tokens(dict[str, list[int]]):
    """The tokens of an input, with the details of its output (`audit.tasks.Output`) where they fill the model."""

    details: Mapping[str, Any] | None = None


class Head:
    """A way to use a model. A subclass has `outputs` or what is read off one batch (`_batch`)."""

    loader = "AutoModelForSequenceClassification"
    """The class of transformers that reads the weights."""
    spare: tuple[str, ...] = ()
    """Beginnings of names of weights that may be missing, since nothing is read off them."""

    def __init__(self, loaded: Loaded, about: Described):
        self.loaded, self.about, self.said = loaded, about, about.said

    @classmethod
    def settings(cls, about: Described) -> dict[str, object]:
        """What may change an output, beside what all have."""
        return {}

    @classmethod
    def check(cls, about: Described, loading: Mapping[str, Any]) -> None:
        """Raise BadFile where weights are missing: they would be random numbers."""
        absent = sorted(name for name in loading["missing_keys"] if not name.startswith(cls.spare or ("\0",)))
        if absent:
            raise BadFile(f"{about.spec}: weights are missing ({', '.join(absent[:3])}); train or download it again")

    def outputs(self, inputs: Sequence[Input]) -> list[Output]:
        """One output per input, texts of about the same length together."""
        read = [self._tokens(item) for item in inputs]
        outputs = [tokens if isinstance(tokens, Output) else Output() for tokens in read]
        fitting = [(place, tokens) for place, tokens in enumerate(read) if not isinstance(tokens, Output)]
        for batch in by_length((len(tokens["input_ids"]) for _, tokens in fitting), self.said.batch):
            some = [fitting[number] for number in batch]
            made = self._batch([tokens for _, tokens in some])
            for (place, tokens), output in zip(some, made, strict=True):
                outputs[place] = replace(output, details=tokens.details)
        return outputs

    def _batch(self, batch: Sequence[Any]) -> Iterator[Output]:
        """The outputs for inputs that are read already."""
        raise TypeError(f"{type(self).__name__} must define _batch")

    def _tokens(self, item: Input) -> Tokens | Output:
        """The tokens of an input: cut where it is too long, or an error then, as the file says."""
        return self._fitted(item.texts)

    def _fitted(self, texts: Sequence[str]) -> Tokens | Output:
        tokenizer, longest = self.loaded.tokenizer, self.loaded.longest
        tokens = Tokens(tokenizer(*texts, verbose=False))
        number = len(tokens["input_ids"])
        if number > longest:
            if self.said.too_long == "error":
                return Output(error=f"the text has {number:,} tokens, the model reads {longest:,}")
            tokens = Tokens(tokenizer(*texts, truncation=True, max_length=longest))
        if number >= longest:  # what just fits may be the beginning of a follow-up that is cut
            tokens.details = {"read": tokens["input_ids"], "cut": number - longest}
        return tokens

    def _logits(self, batch: Sequence[Any]) -> Any:
        """What the model says of a padded batch. Raises BadOutput where any of it is NaN or infinite: comparisons with
        NaN are false, so that it would become a label or a score like any other."""
        import torch

        padded = self.loaded.tokenizer.pad(list(batch), return_tensors="pt").to(self.loaded.model.device)
        with torch.inference_mode():
            said = self.loaded.model(**padded)
        if not all(part.isfinite().all() for part in said.values() if isinstance(part, torch.Tensor)):
            raise BadOutput(NOT_FINITE)
        return said


class Labels(Head):
    """A label with its probability, of one text or of a pair."""

    def _batch(self, batch: Sequence[Any]) -> Iterator[Output]:
        import torch

        for row in torch.softmax(self._logits(batch).logits.float(), dim=-1).tolist():
            best = max(range(len(row)), key=row.__getitem__)
            yield Output(self.about.labels[best], min(1.0, row[best]))


class SeveralLabels(Head):
    """The set of labels that are more probable than not, each by itself, and the probability of that set."""

    def _batch(self, batch: Sequence[Any]) -> Iterator[Output]:
        import torch

        task: Any = get_task(self.about.task)
        for row in torch.sigmoid(self._logits(batch).logits.float()).tolist():
            chosen = [label for label, value in zip(self.about.labels, row, strict=True) if value > 0.5]
            yield Output(task.together(chosen), math.prod(max(value, 1 - value) for value in row))


class Regression(Head):
    """The similarity that a pair classifier says as one number, from 0 to 1: by the file's scale, else its sigmoid."""

    @classmethod
    def settings(cls, about: Described) -> dict[str, object]:
        return {"scale": list(about.said.scale) if about.said.scale else "sigmoid"}

    def _batch(self, batch: Sequence[Any]) -> Iterator[Output]:
        for (value,) in self._logits(batch).logits.float().tolist():
            if self.said.scale is None:
                yield Output(score=1 / (1 + math.exp(-max(-700.0, value))))
            else:
                least, most = self.said.scale
                yield Output(score=min(1.0, max(0.0, (value - least) / (most - least))))


class Encoder(Head):
    """The cosine of two texts' vectors, 0 where it is negative. A vector is the mean of the tokens' or the first one's.

    Source: Reimers and Gurevych, "Sentence-BERT: sentence embeddings using Siamese BERT-networks" (EMNLP 2019),
    section 3.
    """

    loader = "AutoModel"
    spare = ("pooler.",)

    @classmethod
    def settings(cls, about: Described) -> dict[str, object]:
        return {"pooling": _pooling(about), "score": "cosine"}

    def outputs(self, inputs: Sequence[Input]) -> list[Output]:
        texts = list(dict.fromkeys(text for item in inputs for text in item.texts))
        vectors: dict[str, Any] = {}
        tokens = {text: self._fitted([text]) for text in texts}
        fitting = [text for text in texts if not isinstance(tokens[text], Output)]
        lengths = [len(tokens[text]["input_ids"]) for text in fitting]  # type: ignore[index]
        for batch in by_length(lengths, self.said.batch):
            some = [fitting[number] for number in batch]
            vectors |= zip(some, self._vectors([tokens[text] for text in some]), strict=True)
        return [self._output(item, tokens, vectors) for item in inputs]

    def _output(self, item: Input, tokens: Mapping[str, Any], vectors: Mapping[str, Any]) -> Output:
        read = [tokens[text] for text in item.texts]
        if error := next((part for part in read if isinstance(part, Output)), None):
            return error
        first, second = (vectors[text] for text in item.texts)
        full = [part.details for part in read if part.details]
        details = {"read": [part["input_ids"] for part in read], "cut": sum(part["cut"] for part in full)}
        return Output(score=min(1.0, max(0.0, float(first @ second))), details=details if full else None)

    def _vectors(self, batch: Sequence[Any]) -> Any:
        """Vectors of length 1, one row a text."""
        import torch

        states = self._logits(batch).last_hidden_state.float()
        if _pooling(self.about) == "first":
            vectors = states[:, 0]
        else:
            lengths = torch.tensor([len(tokens["input_ids"]) for tokens in batch], device=states.device)
            inside = (torch.arange(states.shape[1], device=states.device) < lengths[:, None]).unsqueeze(-1)
            vectors = (states * inside).sum(1) / lengths[:, None]
        return torch.nn.functional.normalize(vectors, dim=-1).cpu().numpy()


def _pooling(about: Described) -> str:
    """How an encoder makes one vector of a text: as the file says, else as sentence-transformers wrote beside it, else
    the mean. Raises BadFile for a way that is not known here."""
    if about.said.pooling:
        return about.said.pooling
    kinds = {str(module.get("type", "")).rpartition(".")[2] for module in _modules(about)}
    if other := kinds - {"Transformer", "Pooling", "Normalize"}:
        raise BadFile(f"{about.spec}: a part {', '.join(sorted(other))} of this sentence encoder is not known here")
    pooling = model_json(about.folder / "1_Pooling", "config.json")
    chosen = [name for name, value in pooling.items() if name.startswith("pooling_mode_") and value is True]
    ways = {"pooling_mode_mean_tokens": "mean", "pooling_mode_cls_token": "first"}
    if not chosen:
        return "mean"
    if len(chosen) > 1 or chosen[0] not in ways:
        raise BadFile(f'{about.spec}: {", ".join(chosen)} is not known here; write pooling = "mean" or "first"')
    return ways[chosen[0]]


def _modules(about: Described) -> list[dict[str, Any]]:
    from audit.files import read_json

    file = about.folder / "modules.json"
    modules = read_json(file, "download the model again") if file.is_file() else []
    return [module for module in modules if isinstance(module, dict)] if isinstance(modules, list) else []


@dataclass(frozen=True)
class _Window:
    """A part of a context with its question: tokens, the first and last character of each token of the context (None
    for the others), and the place whose logits say that there is no answer."""

    tokens: dict[str, list[int]]
    characters: list[tuple[int, int] | None]
    null: int


@dataclass(frozen=True)
class _Best:
    """What one window says: the best span (its sum of logits, its characters, its probability) and no answer at all."""

    sum: float
    span: tuple[int, int]
    probability: float
    null_sum: float
    null_probability: float


class Span(Head):
    """The answer to a question as a span of the context, or that it has none.

    A context that is too long is read in windows that overlap. The span with the largest sum of its start's and end's
    logits is the answer, unless the sum at the first token, the least of all windows, is larger by more than the
    threshold: then it is unanswerable.

    Source: Devlin, Chang, Lee, Toutanova, "BERT: pre-training of deep bidirectional transformers for language
    understanding" (NAACL 2019), sections 4.2 and 4.3, and its script for SQuAD.
    """

    loader = "AutoModelForQuestionAnswering"

    @classmethod
    def settings(cls, about: Described) -> dict[str, object]:
        return {"null_threshold": about.said.null_threshold, "longest_answer": about.said.longest_answer}

    def outputs(self, inputs: Sequence[Input]) -> list[Output]:
        windows: list[tuple[int, _Window]] = []
        outputs = [Output()] * len(inputs)
        for place, item in enumerate(inputs):
            read = self._windows(*item.texts)
            if isinstance(read, Output):
                outputs[place] = read
            else:
                windows += [(place, window) for window in read]
        bests: dict[int, list[_Best]] = {}
        for batch in by_length((len(window.tokens["input_ids"]) for _, window in windows), self.said.batch):
            some = [windows[number] for number in batch]
            logits = self._logits([window.tokens for _, window in some])
            starts, ends = logits.start_logits.float().tolist(), logits.end_logits.float().tolist()
            for (place, window), start, end in zip(some, starts, ends, strict=True):
                bests.setdefault(place, []).append(best_span(start, end, window, self.said.longest_answer))
        for place, found in bests.items():
            outputs[place] = self._answer(inputs[place].texts[0], found)
        return outputs

    def _windows(self, context: str, question: str) -> list[_Window] | Output:
        tokenizer, longest = self.loaded.tokenizer, self.loaded.longest
        if not tokenizer.is_fast:
            raise BadFile(f"{self.about.spec}: its tokenizer does not say where tokens stand, which a span needs")
        asked = len(tokenizer(question, "", verbose=False)["input_ids"])
        if longest - asked < 8:
            return Output(error=f"the question has {asked:,} tokens, the model reads {longest:,} with its context")
        read = tokenizer(
            question,
            context,
            truncation="only_second",
            max_length=longest,
            stride=min(128, (longest - asked) // 2),
            return_overflowing_tokens=True,
            return_offsets_mapping=True,
            verbose=False,
        )
        names = [name for name in ("input_ids", "attention_mask", "token_type_ids") if name in read]
        windows = []
        for number, ids in enumerate(read["input_ids"]):
            sides = zip(read.sequence_ids(number), read["offset_mapping"][number], strict=True)
            characters = [(at[0], at[1]) if side == 1 and at[1] > at[0] else None for side, at in sides]
            null = ids.index(tokenizer.cls_token_id) if tokenizer.cls_token_id in ids else 0
            windows.append(_Window({name: read[name][number] for name in names}, characters, null))
        return windows

    def _answer(self, context: str, found: Sequence[_Best]) -> Output:
        best = max(found, key=lambda window: window.sum)
        nothing = min(found, key=lambda window: window.null_sum)
        if best.sum == -math.inf or nothing.null_sum - best.sum > self.said.null_threshold:
            return Output(text=UNANSWERABLE, score=nothing.null_probability)
        start, end = whole_words(context, *best.span)
        return Output(text=context[start:end].strip(), score=best.probability)


def best_span(start: Sequence[float], end: Sequence[float], window: _Window, longest: int) -> _Best:
    """The span of at most `longest` tokens of a window with the largest sum of logits, and what stands for no answer.

    Probabilities are of start and end among the tokens of the context and the null place. The sum is -inf where there
    is no span.
    """
    places = [place for place, at in enumerate(window.characters) if at is not None]
    start_total = _log_sum([start[place] for place in (*places, window.null)])
    end_total = _log_sum([end[place] for place in (*places, window.null)])
    null = start[window.null] + end[window.null]
    null_probability = math.exp(min(0.0, null - start_total - end_total))
    best, span = -math.inf, (0, 0)
    for number, first in enumerate(places):
        for last in places[number : number + longest]:
            if last - first < longest and start[first] + end[last] > best:
                best, span = start[first] + end[last], (first, last)
    if best == -math.inf:
        return _Best(best, (0, 0), 0.0, null, null_probability)
    characters = (window.characters[span[0]] or (0, 0))[0], (window.characters[span[1]] or (0, 0))[1]
    return _Best(best, characters, math.exp(min(0.0, best - start_total - end_total)), null, null_probability)


def _log_sum(values: Sequence[float]) -> float:
    most = max(values)
    return most + math.log(math.fsum(math.exp(value - most) for value in values))


def whole_words(text: str, start: int, end: int) -> tuple[int, int]:
    """The span with the rest of the words that it begins or ends in. Writing without capitals has no words to complete.

    >>> whole_words("In Paris, 1889.", 5, 12)
    (3, 14)
    """
    while 0 < start < len(text) and _in_word(text[start - 1]) and _in_word(text[start]):
        start -= 1
    while 0 < end < len(text) and _in_word(text[end - 1]) and _in_word(text[end]):
        end += 1
    return start, end


def _in_word(letter: str) -> bool:
    return letter.isdigit() or letter.lower() != letter.upper()


class Summary(Head):
    """A summary, generated by a model of encoder and decoder."""

    loader = "AutoModelForSeq2SeqLM"

    def __init__(self, loaded: Loaded, about: Described):
        super().__init__(loaded, about)
        values = self.settings(about)
        self._prefix = str(values["prefix"])
        beams, longest = (int(str(values[name])) for name in ("beams", "longest_summary"))
        self._generation = Generation(loaded.tokenizer, loaded.model, beams, longest - 1, "summary")

    @classmethod
    def settings(cls, about: Described) -> dict[str, object]:
        own = model_json(about.folder, "generation_config.json")
        task = (about.config.get("task_specific_params") or {}).get("summarization") or {}

        def first(*values: Any) -> Any:
            return next((value for value in values if value is not None), None)

        said = about.said
        longest = first(task.get("max_length"), own.get("max_length"), own.get("max_new_tokens"), _SUMMARY)
        return {
            "beams": int(first(said.beams, task.get("num_beams"), own.get("num_beams"), 1)),
            "longest_summary": int(first(said.longest_summary, longest)),
            "prefix": first(said.prefix, task.get("prefix"), ""),
        }

    def _tokens(self, item: Input) -> Tokens | Output:
        return self._fitted([self._prefix + item.text])

    def _batch(self, batch: Sequence[Any]) -> Iterator[Output]:
        for output in self._generation.outputs([tokens["input_ids"] for tokens in batch]):
            yield output if output.error or output.text else Output(error="the summary is empty")


HEADS: Mapping[str, type[Head]] = {
    "labels": Labels,
    "several labels": SeveralLabels,
    "regression": Regression,
    "encoder": Encoder,
    "question-answering": Span,
    "summarization": Summary,
}
"""Ways to use a model, by task or by what it is."""
