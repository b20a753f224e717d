"""Words by a masked language model (BERT and its relatives), as the multi-granularity study has them.

The model is a directory, or a name that was downloaded before; nothing is downloaded here, no code of a model is run,
and weights are read as numbers only.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from audit.errors import BadFile, NotInstalled
from audit.packs.translation.masked import ANY, RULES, UNSPACED, Masked, first_fitting, free_words
from audit.systems.model_files import absent_model, fingerprint_of, load_part, load_tokenizer, model_folder, one_thread

if TYPE_CHECKING:
    import numpy as np


MISSING = 'masked language models need transformers and torch; run: pip install "audit[translation]"'
_AT_ONCE = 32
_SHOWN = 100
"""Words to each side that the model is shown, at most."""
_BEST = 50
_BEGINNINGS = 5
"""How many first characters of a word of several are tried; each goes on with what is most probable."""


@dataclass(frozen=True, slots=True)
class _Query:
    """A sentence with as many masks as the word in question has parts, and how much of it is filled in."""

    question: int
    before: str
    after: str
    masks: int
    filled: tuple[str, ...] = ()
    log: float = 0.0


class FillMask:
    """Proposes the words that a masked language model finds most probable, of those that are one piece of its
    vocabulary and so a whole word; where words have no white space between them, as many characters as the old word
    has, filled in from left to right.
    """

    languages: tuple[str, ...] = ANY

    def __init__(self, model: str):
        self.model = model
        self.name = f"fill-mask:{model}"

    def needs(self) -> str | None:
        from importlib.util import find_spec

        return None if find_spec("transformers") and find_spec("torch") else MISSING

    @cached_property
    def version(self) -> str:
        """`fill-mask(transformers VERSION, model DIGEST, rules VERSION)`, the digest that of the model's files."""
        digest = fingerprint_of(self._folder)
        return f"fill-mask(transformers {_transformers().__version__}, model {digest}, rules {RULES})"

    def propose(self, masked: Sequence[Masked], language: str) -> list[str | None]:
        ranked: list[list[tuple[float, str]]] = [[] for _ in masked]
        waiting = [
            self._query(number, tokens, at, language)
            for number, (tokens, at) in enumerate(masked)
            if at in free_words(tokens, language) and not any(self._mask in token for token in tokens)
        ]
        while waiting:
            waiting = [
                pending for query in self._fill_next(waiting, language) for pending in self._unfinished(query, ranked)
            ]
        return [
            first_fitting(
                tokens, at, (word for _, word in sorted(candidates, key=lambda candidate: -candidate[0])), language
            )
            for (tokens, at), candidates in zip(masked, ranked, strict=True)
        ]

    def _query(self, number: int, tokens: tuple[str, ...], at: int, language: str) -> _Query:
        gap = "" if language in UNSPACED else " "
        before, after = tokens[max(0, at - _SHOWN) : at], tokens[at + 1 : at + 1 + _SHOWN]
        # Models read these languages by character, so a word gets a mask for each.
        masks = len(tokens[at]) if language in UNSPACED else 1
        return _Query(number, "".join(token + gap for token in before), "".join(gap + token for token in after), masks)

    def _unfinished(self, query: _Query, ranked: list[list[tuple[float, str]]]) -> Iterator[_Query]:
        """Yield the query where masks are left to fill; else add its finished word to the ranking."""
        if len(query.filled) < query.masks:
            yield query
        else:
            ranked[query.question].append((query.log, "".join(query.filled)))

    def _fill_next(self, queries: Sequence[_Query], language: str) -> Iterator[_Query]:
        """Each sentence with its next mask filled in, in the most probable ways."""
        texts = [
            query.before + "".join(query.filled) + self._mask * (query.masks - len(query.filled)) + query.after
            for query in queries
        ]
        pieces = [self._tokenizer(text)["input_ids"] for text in texts]
        # Sentences of about the same length together: less padding. The same question makes the same batches.
        order = sorted(range(len(queries)), key=lambda number: (len(pieces[number]), number))
        order = [number for number in order if self._readable(pieces[number], queries[number])]
        for start in range(0, len(order), _AT_ONCE):
            batch = order[start : start + _AT_ONCE]
            rows = self._probable([pieces[number] for number in batch], language in UNSPACED)
            for number, row in zip(batch, rows, strict=True):
                query = queries[number]
                wide = _BEST if query.masks == 1 else 1 if query.filled else _BEGINNINGS
                # A character twice is hardly ever a word, but what weak models like best.
                fresh = [candidate for candidate in row if candidate[0] not in query.filled]
                for word, log in fresh[:wide]:
                    yield _Query(
                        query.question, query.before, query.after, query.masks, (*query.filled, word), query.log + log
                    )

    def _readable(self, pieces: Sequence[int], query: _Query) -> bool:
        """Whether the text is short enough for the model, and every mask was read as one token."""
        longest = getattr(self._network.config, "max_position_embeddings", 512) - 2
        masks = sum(piece == self._tokenizer.mask_token_id for piece in pieces)
        return len(pieces) <= longest and masks == query.masks - len(query.filled)

    def _probable(self, batch: Sequence[Sequence[int]], characters: bool) -> list[list[tuple[str, float]]]:
        """For each sentence (its pieces) the best words at its first mask, with their log probabilities."""
        import numpy as np
        import torch

        ids, words = self._characters if characters else self._words
        width = max(map(len, batch))
        padding = self._tokenizer.pad_token_id
        input_ids = torch.tensor([[*pieces, *[padding] * (width - len(pieces))] for pieces in batch])
        attention = torch.tensor([[1] * len(pieces) + [0] * (width - len(pieces)) for pieces in batch])
        at = [list(pieces).index(self._tokenizer.mask_token_id) for pieces in batch]
        one_thread()
        with torch.inference_mode():
            logits = self._network(input_ids=input_ids, attention_mask=attention).logits[range(len(batch)), at]
            logs = torch.log_softmax(logits.float(), dim=-1).numpy()[:, ids]
        best_words = []
        for row in logs:
            best = np.lexsort((np.arange(len(row)), -row))[:_BEST]
            best_words.append([(words[place], float(row[place])) for place in best])
        return best_words

    @cached_property
    def _words(self) -> tuple["np.ndarray", list[str]]:
        """Ids of the vocabulary's pieces that are whole words of letters, and the words."""
        pieces = self._vocabulary
        marks = [mark for mark in ("▁", "Ġ") if sum(piece.startswith(mark) for piece in pieces) > 1]
        mark = "" if any(piece.startswith("##") for piece in pieces) or not marks else marks[0]
        return self._those(
            [piece.removeprefix(mark) if piece.startswith(mark) else "" for piece in pieces],
            lambda word: word.isalpha(),
        )

    @cached_property
    def _characters(self) -> tuple["np.ndarray", list[str]]:
        """As `_words`, for single characters of Chinese and the like: no Latin letters."""
        return self._those(self._vocabulary, lambda word: len(word) == 1 and word.isalpha() and word > "\u0e00")

    def _those(self, words: Sequence[str], fits: Any) -> tuple["np.ndarray", list[str]]:
        import numpy as np

        special = set(self._tokenizer.all_special_ids)
        ids = [number for number, word in enumerate(words) if number not in special and fits(word)]
        return np.array(ids, dtype=np.int64), [words[number] for number in ids]

    @cached_property
    def _vocabulary(self) -> list[str]:
        size = min(len(self._tokenizer), self._network.config.vocab_size)
        return [piece or "" for piece in self._tokenizer.convert_ids_to_tokens(list(range(size)))]

    @property
    def _mask(self) -> str:
        return str(self._tokenizer.mask_token)

    @cached_property
    def _tokenizer(self) -> Any:
        tokenizer = load_tokenizer(self._folder)
        if tokenizer.mask_token_id is None or tokenizer.pad_token_id is None:
            raise BadFile(f"{self._folder}: its tokenizer has no mask or no padding, so it is no masked language model")
        return tokenizer

    @cached_property
    def _network(self) -> Any:
        kind = _transformers().AutoModelForMaskedLM
        one_thread()
        network, about = load_part(kind, self._folder, weights_only=True, output_loading_info=True)
        if about["missing_keys"]:
            missing = ", ".join(sorted(about["missing_keys"])[:3])
            raise BadFile(f"{self._folder}: weights are missing ({missing}), so it is no masked language model")
        return network.eval()

    @cached_property
    def _folder(self) -> Path:
        """Where the model's files are. Raises NotInstalled where there are none."""
        _transformers()
        folder = model_folder(self.model)
        if folder is None:
            raise NotInstalled(absent_model(self.model))
        return folder


def _transformers() -> Any:
    """The package; raises NotInstalled where it, or torch, is absent."""
    try:
        import torch  # noqa: F401
        import transformers
    except ImportError as problem:
        raise NotInstalled(MISSING) from problem
    return transformers
