"""A real tiny language model behind a chat endpoint: it learnt the moods of some texts, and babbles about others."""

import math
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from chatting import reply
from tiny_models import learn, save_tokenizer

END = "[SEP]"


class TinyChat:
    """A GPT-2 of two layers that was shown texts with their answers until it knew them by heart."""

    def __init__(self, folder: Path, answers: Mapping[str, str]):
        import torch
        import transformers

        torch.set_num_threads(1)
        torch.manual_seed(0)
        self.tokenizer = save_tokenizer(folder)
        config = transformers.GPT2Config(
            vocab_size=len(self.tokenizer),
            n_positions=64,
            n_embd=32,
            n_layer=2,
            n_head=2,
            resid_pdrop=0.0,
            embd_pdrop=0.0,
            attn_pdrop=0.0,
            initializer_range=0.1,
            bos_token_id=2,
            eos_token_id=3,
        )
        self.model = transformers.GPT2LMHeadModel(config)
        self._lock = threading.Lock()
        ids = [self._asked(text) + self._ids(answer) + [3] for text, answer in answers.items()]
        width = max(map(len, ids))
        batch = torch.tensor([row + [0] * (width - len(row)) for row in ids])
        labels = torch.full_like(batch, -100)
        for row, (text, content) in enumerate(zip(answers, ids, strict=True)):
            start = len(self._asked(text))
            labels[row, start : len(content)] = batch[row, start : len(content)]
        learn(self.model, {"input_ids": batch, "attention_mask": (batch != 0).long(), "labels": labels})

    def _ids(self, text: str) -> list[int]:
        return list(self.tokenizer(text, add_special_tokens=False)["input_ids"])

    def _asked(self, text: str) -> list[int]:
        return [2, *self._ids(text)[:40], *self._ids("answer")]

    def answer(self, body: Mapping[str, Any], number: int) -> dict[str, Any]:
        """The reply to a request: what the model generates after the last user's words, token by token, greedily."""
        import torch

        ids = self._asked(body["messages"][-1]["content"])
        listed: list[dict[str, Any]] = []
        most = body.get("max_tokens") or 8
        with self._lock, torch.inference_mode():
            while len(listed) < most:
                row = torch.log_softmax(self.model(torch.tensor([ids])).logits[0, -1], dim=-1)
                best = int(row.argmax())
                if best == 3:
                    break
                ids.append(best)
                token = self.tokenizer.convert_ids_to_tokens(best)
                piece = token.removeprefix("##") if token.startswith("##") or not listed else f" {token}"
                listed.append({"token": piece, "logprob": float(row[best])})
        text = "".join(entry["token"] for entry in listed)
        logprobs = {"content": listed} if body.get("logprobs") else None
        return reply(text, "length" if len(listed) >= most else "stop", logprobs)


def probabilities(chat: TinyChat, text: str) -> Callable[[str], float]:
    """The probability of a one-word answer to a text, as the model itself says."""
    import torch

    with torch.inference_mode():
        row = torch.softmax(chat.model(torch.tensor([chat._asked(text)])).logits[0, -1], dim=-1)
    return lambda word: math.fsum([float(row[chat._ids(word)[0]])])
