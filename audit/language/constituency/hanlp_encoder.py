"""The encoder of the small parsers that are trained here: words, their letters, and what stands around them.

HanLP's parser brings a decoder, but as encoders only transformers, which want a model that was trained elsewhere. This
is the classic one in their place (Stern et al. 2017): embeddings of words and of letters, an LSTM in each direction.
HanLP's loader makes it by its class path, so it has what an embedding of HanLP has: `config`, `transform`, `module`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

CLASSPATH = f"{__name__}.WordsAndLetters"
LONGEST_WORD = 20
"""Letters of a word that are looked at: its first and last ten."""
_PADDING, _UNKNOWN, _KNOWN = 0, 1, 2
"""Indices of nothing and of what was not learned, and the first of what was."""


class WordsAndLetters:
    """Makes the network and what it is fed. `words` and `letters` are those that were learned; the rest are sizes."""

    def __init__(
        self,
        words: Sequence[str],
        letters: Sequence[str],
        word_size: int = 100,
        letter_size: int = 32,
        filters: int = 64,
        hidden: int = 200,
        layers: int = 2,
        dropout: float = 0.33,
        unknown: float = 0.15,
    ):
        self.words = list(words)
        self.letters = list(letters)
        self.word_size = word_size
        self.letter_size = letter_size
        self.filters = filters
        self.hidden = hidden
        self.layers = layers
        self.dropout = dropout
        self.unknown = unknown
        """Share of known words that are hidden while it learns, so that it learns of unknown ones as well."""

    @property
    def config(self) -> dict[str, Any]:
        """What makes it again; it stands in the model's config.json."""
        return {"classpath": CLASSPATH, **vars(self)}

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> WordsAndLetters:
        """As `config` says."""
        return cls(**{name: value for name, value in config.items() if name != "classpath"})

    def transform(self, **_: Any) -> Callable[[dict[str, Any]], dict[str, Any]]:
        """Numbers for the words of a sample; the names end as HanLP's tensors do."""
        words = {word: index for index, word in enumerate(self.words, _KNOWN)}
        letters = {letter: index for index, letter in enumerate(self.letters, _KNOWN)}

        def number(sample: dict[str, Any]) -> dict[str, Any]:
            tokens = sample["token"]
            sample["token_input_ids"] = [words.get(token.lower(), _UNKNOWN) for token in tokens]
            sample["token_letter_ids"] = [[letters.get(one, _UNKNOWN) for one in shortened(token)] for token in tokens]
            return sample

        return number

    def get_output_dim(self) -> int:
        """What the network gives for each word: both directions."""
        return 2 * self.hidden

    def module(self, **_: Any) -> Any:
        """The network."""
        import torch
        from torch import nn
        from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

        sizes = self

        class Network(nn.Module):
            def __init__(self) -> None:
                super().__init__()
                self.word = nn.Embedding(len(sizes.words) + _KNOWN, sizes.word_size, padding_idx=_PADDING)
                self.letter = nn.Embedding(len(sizes.letters) + _KNOWN, sizes.letter_size, padding_idx=_PADDING)
                self.convolution = nn.Conv1d(sizes.letter_size, sizes.filters, 3, padding=1)
                self.lstm = nn.LSTM(
                    sizes.word_size + sizes.filters,
                    sizes.hidden,
                    sizes.layers,
                    batch_first=True,
                    bidirectional=True,
                    dropout=sizes.dropout if sizes.layers > 1 else 0.0,
                )
                self.dropout = nn.Dropout(sizes.dropout)
                self.transformer = nn.Module()  # HanLP's optimizer asks for one, to let it learn at its own rate

            def forward(self, batch: dict[str, Any]) -> Any:
                words, letters = batch["token_input_ids"], batch["token_letter_ids"]
                if self.training:
                    hidden = (torch.rand(words.shape) < sizes.unknown) & (words >= _KNOWN)
                    words = words.masked_fill(hidden, _UNKNOWN)
                spelled = self.letter(letters.flatten(0, 1)).transpose(1, 2)
                spelled = self.convolution(spelled).max(-1).values.relu().view(*words.shape, -1)
                x = self.dropout(torch.cat((self.word(words), spelled), -1))
                packed = pack_padded_sequence(x, batch["token_length"], batch_first=True, enforce_sorted=False)
                x, _ = pad_packed_sequence(self.lstm(packed)[0], batch_first=True, total_length=words.shape[1])
                return self.dropout(x)

        return Network()


def shortened(word: str) -> str:
    """A long word's first and last letters.

    >>> shortened("supercalifragilisticexpialidocious")
    'supercalifalidocious'
    """
    half = LONGEST_WORD // 2
    return word if len(word) <= LONGEST_WORD else word[:half] + word[-half:]
