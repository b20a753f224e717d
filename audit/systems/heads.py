"""What reads an output off a model of transformers: labels, a similarity, a span of a text, a summary.

Each is one way to use a model; `audit.systems.pipelines` chooses by the task. transformers 5 has pipelines for the
first only, and none says which part of a text was read.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from audit.errors import BadFile, BadOutput
from audit.systems.generation import NOT_FINITE, Generation
from audit.systems.model_files import by_length, model_json
from audit.tasks import Input, Output, get_task
from audit.tasks.question_answering import UNANSWERABLE

_SUMMARY = 142
"""Tokens of a summary where the model does not say how many it may have."""


@dataclass(frozen=True)
class Loaded:
    """A model that is loaded, with its tokenizer; `about` is its `audit.systems.pipelines.Described`."""

    tokenizer: Any
    model: Any
    about: Any


class Head:
    """A way to use a model: a subclass says what is read off one batch (`read_batch`)."""

    loader = "AutoModelForSequenceClassification"
    """The class of transformers that reads the weights."""
    spare: tuple[str, ...] = ("\0",)
    """Beginnings of names of weights that may be missing, since nothing is read off them."""

    def __init__(self, loaded: Loaded):
        self.tokenizer, self.model, self.about = loaded.tokenizer, loaded.model, loaded.about
        self.file = self.about.file

    @classmethod
    def settings(cls, about: Any) -> dict[str, object]:
        """Return what may change an output, beside what all have."""
        return {}

    def outputs(self, inputs: Sequence[Input]) -> list[Output]:
        """Return one output per input, texts of about the same length together."""
        outputs = [self.tokens(self.texts(item)) for item in inputs]
        fitting = [place for place, tokens in enumerate(outputs) if isinstance(tokens, dict)]
        for batch in by_length((len(outputs[place]["input_ids"]) for place in fitting), self.file.batch):
            places = [fitting[number] for number in batch]
            details = [outputs[place].pop("details") for place in places]
            made = self.read_batch([outputs[place] for place in places])
            for place, output, part in zip(places, made, details, strict=True):
                outputs[place] = replace(output, details=part)
        return outputs

    def texts(self, item: Input) -> Sequence[str]:
        """Return the texts of an input as the model is given them."""
        return item.texts

    def read_batch(self, batch: Sequence[Any]) -> list[Output]:
        """Return the outputs for inputs that are read already."""
        raise NotImplementedError

    def tokens(self, texts: Sequence[str]) -> Any:
        """Return the tokens of texts, with the `details` of their output (`audit.tasks.Output`) where they fill the
        model: cut where they are too long, or an error in their place, as the file says."""
        longest = self.about.longest
        tokens = dict(self.tokenizer(*texts, verbose=False))
        number = len(tokens["input_ids"])
        if number > longest:
            if self.file.too_long == "error":
                return Output(error=f"the text has {number:,} tokens, the model reads {longest:,}")
            tokens = dict(self.tokenizer(*texts, truncation=True, max_length=longest))
        full = number >= longest  # what just fits may be the beginning of a follow-up that is cut
        return {**tokens, "details": {"read": tokens["input_ids"], "cut": number - longest} if full else None}

    def logits(self, batch: Sequence[Any]) -> Any:
        """Return what the model says of a padded batch. Raises BadOutput where any of it is NaN or infinite:
        comparisons with NaN are false, so that it would become a label or a score like any other."""
        import torch

        padded = self.tokenizer.pad(list(batch), return_tensors="pt").to(self.model.device)
        with torch.inference_mode():
            said = self.model(**padded)
        if not all(part.isfinite().all() for part in said.values() if isinstance(part, torch.Tensor)):
            raise BadOutput(NOT_FINITE)
        return said


class Labels(Head):
    """A label with its probability, of one text or of a pair."""

    def read_batch(self, batch: Sequence[Any]) -> list[Output]:
        best = self.logits(batch).logits.float().softmax(-1).max(-1)
        pairs = zip(best.indices.tolist(), best.values.tolist(), strict=True)
        return [Output(self.about.labels[place], min(1.0, value)) for place, value in pairs]


class SeveralLabels(Head):
    """The set of labels that are more probable than not, each by itself, and the probability of that set."""

    def read_batch(self, batch: Sequence[Any]) -> list[Output]:
        task: Any = get_task(self.about.task)
        outputs = []
        for row in self.logits(batch).logits.float().sigmoid().tolist():
            chosen = [label for label, value in zip(self.about.labels, row, strict=True) if value > 0.5]
            outputs.append(Output(task.together(chosen), math.prod(max(value, 1 - value) for value in row)))
        return outputs


class Regression(Head):
    """The similarity that a pair classifier says as one number, from 0 to 1: by the file's scale, else its sigmoid."""

    @classmethod
    def settings(cls, about: Any) -> dict[str, object]:
        return {"scale": list(about.file.scale) if about.file.scale else "sigmoid"}

    def read_batch(self, batch: Sequence[Any]) -> list[Output]:
        said = self.logits(batch).logits.float()[:, 0]
        if self.file.scale is None:
            said = said.sigmoid()
        else:
            least, most = self.file.scale
            said = ((said - least) / (most - least)).clamp(0, 1)
        return [Output(score=score) for score in said.tolist()]


class Encoder(Head):
    """The cosine of two texts' vectors, 0 where it is negative. A vector is the mean of the tokens' or the first one's.

    Source: Reimers and Gurevych, "Sentence-BERT: sentence embeddings using Siamese BERT-networks" (EMNLP 2019),
    section 3.
    """

    loader = "AutoModel"
    spare = ("pooler.",)

    @classmethod
    def settings(cls, about: Any) -> dict[str, object]:
        return {"pooling": about.pooling, "score": "cosine"}

    def tokens(self, texts: Sequence[str]) -> Any:
        sides = [super(Encoder, self).tokens([text]) for text in texts]
        if error := next((side for side in sides if isinstance(side, Output)), None):
            return error
        full = [part for side in sides if (part := side.pop("details"))]
        ids = [side["input_ids"] for side in sides]
        details = {"read": ids, "cut": sum(part["cut"] for part in full)} if full else None
        return {"sides": sides, "input_ids": max(ids, key=len), "details": details}

    def read_batch(self, batch: Sequence[Any]) -> list[Output]:
        first, second = (self._vectors([pair["sides"][side] for pair in batch]) for side in (0, 1))
        return [Output(score=score) for score in (first * second).sum(-1).clip(0, 1).tolist()]

    def _vectors(self, batch: Sequence[Any]) -> Any:
        """Return vectors of length 1, one row a text."""
        import torch

        states = self.logits(batch).last_hidden_state.float()
        if self.about.pooling == "first":
            vectors = states[:, 0]
        else:
            lengths = torch.tensor([len(tokens["input_ids"]) for tokens in batch], device=states.device)
            inside = (torch.arange(states.shape[1], device=states.device) < lengths[:, None]).unsqueeze(-1)
            vectors = (states * inside).sum(1) / lengths[:, None]
        return torch.nn.functional.normalize(vectors, dim=-1).cpu().numpy()


@dataclass(frozen=True)
class Window:
    """A part of a context with its question: tokens, the first and last character of each token of the context (None
    for the others), and the place whose logits say that there is no answer."""

    tokens: dict[str, list[int]]
    characters: list[tuple[int, int] | None]
    null: int


@dataclass(frozen=True)
class Best:
    """What one window says: the best span (its sum of logits, -inf where there is none, its characters, its
    probability) and no answer at all."""

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
    def settings(cls, about: Any) -> dict[str, object]:
        return {"null_threshold": about.file.null_threshold, "longest_answer": about.file.longest_answer}

    def outputs(self, inputs: Sequence[Input]) -> list[Output]:
        read = [self.windows(*item.texts) for item in inputs]
        windows = [(place, window) for place, part in enumerate(read) if isinstance(part, list) for window in part]
        bests: dict[int, list[Best]] = {}
        for batch in by_length((len(window.tokens["input_ids"]) for _, window in windows), self.file.batch):
            chosen = [windows[number] for number in batch]
            said = self.logits([window.tokens for _, window in chosen])
            starts, ends = said.start_logits.float().cpu(), said.end_logits.float().cpu()
            for (place, window), start, end in zip(chosen, starts, ends, strict=True):
                bests.setdefault(place, []).append(best_span(start, end, window, self.file.longest_answer))
        answers = zip(inputs, read, strict=True)
        return [
            part if isinstance(part, Output) else self._answer(item.texts[0], bests[place])
            for place, (item, part) in enumerate(answers)
        ]

    def windows(self, context: str, question: str) -> list[Window] | Output:
        """Return the windows of a context, or why there is none."""
        tokenizer, longest = self.tokenizer, self.about.longest
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
            windows.append(Window({name: read[name][number] for name in names}, characters, null))
        return windows

    def _answer(self, context: str, bests: Sequence[Best]) -> Output:
        best = max(bests, key=lambda window: window.sum)
        nothing = min(bests, key=lambda window: window.null_sum)
        if best.sum == -math.inf or nothing.null_sum - best.sum > self.file.null_threshold:
            return Output(text=UNANSWERABLE, score=nothing.null_probability)
        start, end = whole_words(context, *best.span)
        return Output(text=context[start:end].strip(), score=best.probability)


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

    def __init__(self, loaded: Loaded):
        super().__init__(loaded)
        values = self.settings(self.about)
        self._prefix = str(values["prefix"])
        beams, longest = (int(str(values[name])) for name in ("beams", "longest_summary"))
        self._generation = Generation(self.tokenizer, self.model, beams, longest - 1, "summary")

    @classmethod
    def settings(cls, about: Any) -> dict[str, object]:
        own = model_json(about.folder, "generation_config.json")
        task = (about.config.get("task_specific_params") or {}).get("summarization") or {}

        def first(*values: Any) -> Any:
            return next((value for value in values if value is not None), None)

        longest = first(task.get("max_length"), own.get("max_length"), own.get("max_new_tokens"), _SUMMARY)
        return {
            "beams": int(first(about.file.beams, task.get("num_beams"), own.get("num_beams"), 1)),
            "longest_summary": int(first(about.file.longest_summary, longest)),
            "prefix": first(about.file.prefix, task.get("prefix"), ""),
        }

    def texts(self, item: Input) -> Sequence[str]:
        return [self._prefix + item.text]

    def read_batch(self, batch: Sequence[Any]) -> list[Output]:
        outputs = self._generation.outputs([tokens["input_ids"] for tokens in batch])
        return [output if output.error or output.text else Output(error="the summary is empty") for output in outputs]


HEADS: dict[str, type[Head]] = {
    "labels": Labels,
    "several labels": SeveralLabels,
    "regression": Regression,
    "encoder": Encoder,
    "question-answering": Span,
    "summarization": Summary,
}
"""Ways to use a model, by task or by what it is; the translation pack adds its own."""
