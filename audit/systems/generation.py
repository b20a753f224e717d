"""Texts that a model of encoder and decoder generates: translations and summaries."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from audit.errors import BadOutput
from audit.tasks import Output

NOT_FINITE = "the model's numbers are not finite (NaN or infinity); its weights are broken, or its dtype is too small"
"""The error of an output that a model made of such numbers."""


@dataclass(frozen=True)
class Generation:
    """How a model generates: beam search, never sampling, at most `longest` tokens behind the first one; `forced` is
    the second where the model is told a language so. `what` a text is called in errors."""

    tokenizer: Any
    model: Any
    beams: int
    longest: int
    what: str
    forced: int | None = None

    def outputs(self, tokens: Sequence[Sequence[int]]) -> Iterator[Output]:
        """One output for each list of tokens, generated together. A text that has not ended is an error: a part of one
        is no output."""
        import torch

        padded = self.tokenizer.pad({"input_ids": list(tokens)}, return_tensors="pt").to(self.model.device)
        with torch.inference_mode():
            generated = self.model.generate(
                input_ids=padded["input_ids"],
                attention_mask=padded["attention_mask"],
                do_sample=False,
                num_beams=self.beams,
                max_new_tokens=self.longest,
                logits_processor=[_finite],
                # Else what is cut off looks as if it had ended.
                forced_eos_token_id=None,
                **({} if self.forced is None else {"forced_bos_token_id": self.forced}),
            )
        ends = self.model.generation_config.eos_token_id
        ends = ends if isinstance(ends, list) else [ends]
        for start, *ids in generated.tolist():
            if any(end in ids for end in ends):
                # The name of the language is no special token of every tokenizer.
                text = ids[1:] if ids[:1] == [self.forced] else ids
                yield Output(text=self.tokenizer.decode([start, *text], skip_special_tokens=True).strip())
            else:
                yield Output(error=f"the {self.what} did not end within {self.longest + 1:,} tokens")


def _finite(ids: Any, scores: Any) -> Any:
    """The scores of the next token. Raises BadOutput where one is NaN or infinite; minus infinity excludes a token."""
    if scores.isnan().any() or scores.isposinf().any():
        raise BadOutput(NOT_FINITE)
    return scores
