"""Translation models of Hugging Face's transformers, named `seq2seq:DIRECTORY` or `seq2seq:NAME`: Marian (OPUS-MT),
M2M-100, mBART-50, NLLB-200, T5 and what is built like them.

How their files are read: `audit.systems.model_files`; what generates their texts: `audit.systems.generation`.
Transformers 5 has no pipeline for them any more.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from audit.errors import AuditError, BadFile, NotInstalled, install_line
from audit.systems.base import missing, package_version
from audit.systems.generation import Generation
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
from audit.tasks import Input, Output
from audit.text.languages import TWO_LETTERS, TWO_OF_THREE, language_code

PREFIX = "seq2seq:"
BATCH = 16
"""Texts translated at once, of about the same length."""
LONGEST = 512
"""Tokens that a text and its translation may have, where the model itself takes as many."""
_TOKENS = (
    re.compile(r"__([a-z]{2,3})__"),  # M2M-100, SMaLL-100
    re.compile(r"([a-z]{2})_[A-Z]{2}"),  # mBART-50
    re.compile(r"([a-z]{3})_([A-Z][a-z]{3})"),  # NLLB-200
)
_TARGET = re.compile(r">>([a-z]{2,3})(?:_[A-Za-z_]+)?<<")
_TASK = re.compile(r"translation_([a-z]{2})_to_([a-z]{2})")
Languages = tuple[str, str]
"""Our codes of what is translated and what it is translated into."""


def code_of(written: str | None) -> str | None:
    """Return our code of a language that a model names by two or three letters; None for what is none.

    >>> code_of("eng"), code_of("es"), code_of("roa"), code_of(None)
    ('en', 'es', None, None)
    """
    return TWO_OF_THREE.get(written or "", written if written in TWO_LETTERS else None)


def language_tokens(tokens: Iterable[str]) -> dict[str, str]:
    """Return our codes with the tokens that a multilingual model has for languages, the usual script first.

    >>> language_tokens(["<s>", "eng_Latn", "zho_Hant", "zho_Hans", "__ast__"])
    {'ast': '__ast__', 'en': 'eng_Latn', 'zh': 'zho_Hans', 'zh-Hant': 'zho_Hant'}
    """
    by_code: dict[str, str] = {}
    for token in sorted(tokens):
        match = next((match for form in _TOKENS if (match := form.fullmatch(token))), None)
        if match is None:
            continue
        code = code_of(match[1]) or match[1]
        if by_code.setdefault(code, token) != token and match.re.groups > 1:
            by_code.setdefault(f"{code}-{match[2]}", token)
    return by_code


@dataclass(frozen=True)
class SpokenLanguages:
    """How a model is told a pair of languages: by a prefix of the text, or by a setting of the tokenizer.

    `tokens` are the model's names of languages by our codes, where it translates between all of them; `prefixes` what
    stands before a text, by pair, where it has those pairs only.
    """

    tokens: Mapping[str, str]
    prefixes: Mapping[Languages, str]

    @classmethod
    def of(cls, tokenizer: Any, config: Mapping[str, Any], pair: Languages | None) -> "SpokenLanguages":
        """Return the languages of the model with this tokenizer and configuration; `pair`: where the user named one."""
        vocabulary = set(tokenizer.get_vocab())
        for name in ("all_special_tokens", "lang_token_to_id", "lang_code_to_id"):  # not all are in their vocabulary
            vocabulary |= set(getattr(tokenizer, name, ()))
        tokens = language_tokens(vocabulary) if hasattr(tokenizer, "src_lang") else {}
        if pair is None:
            tasks = (config.get("task_specific_params") or {}).items()
            named = [(match, said) for name, said in tasks if (match := _TASK.fullmatch(name))]
            return cls(tokens, {(match[1], match[2]): str(said.get("prefix", "")) for match, said in named})
        if tokens:
            return cls({code: tokens[code] for code in pair if code in tokens}, {})
        targets = {code_of(match[1]): token for token in sorted(vocabulary) if (match := _TARGET.fullmatch(token))}
        return cls({}, {pair: f"{targets[pair[1]]} " if pair[1] in targets else ""})

    def has(self, pair: Languages) -> bool:
        """Return whether the model translates from the first language into the second."""
        return pair in self.prefixes or (pair[0] != pair[1] and set(pair) <= set(self.tokens))


def read_pair(source: str | None, target: str | None) -> Languages | None:
    """Return the pair of two codes; None where they are not two different languages.

    >>> read_pair("en", "es"), read_pair("en", "")
    (('en', 'es'), None)
    """
    codes = language_code(source or ""), language_code(target or "")
    return (codes[0], codes[1]) if codes[0] and codes[1] and codes[0] != codes[1] else None


class Seq2Seq:
    """A model as a `System`. `seq2seq:MODEL#en-es` names the pair of languages of a model that does not say it.

    Beam search with the number of beams that the model's own settings have (else 1), never sampling. A text of more
    tokens than the model takes is an error, and so is a translation that has not ended after as many: a part of one is
    no output. Other pairs than the model's are absent. Creating it reads small files; raises AuditError for a name that
    is none, and BadFile for a directory without a model.
    """

    tasks: tuple[str, ...] = ("translation",)

    def __init__(self, spec: str):
        model, mark, pair = spec.removeprefix(PREFIX).partition("#")
        if not model:
            raise AuditError(f"{spec!r} does not name a model; write {PREFIX}DIRECTORY, or {PREFIX}DIRECTORY#en-es")
        self._pair = read_pair(*pair.partition("-")[::2]) if mark else None
        if mark and self._pair is None:
            raise AuditError(f"{spec!r}: {pair!r} is no pair of languages such as en-es")
        self._spec, self._model = spec, model
        self._folder = model_folder(model)
        self._config = model_json(self._folder, "config.json") if self._folder else {}
        if self._folder and not self._config.get("is_encoder_decoder"):
            raise BadFile(f"{self._folder}: config.json is absent or of no model that translates (encoder and decoder)")
        if self._folder and self._pair is None:
            said = model_json(self._folder, "tokenizer_config.json")
            self._pair = read_pair(code_of(said.get("source_lang")), code_of(said.get("target_lang")))
        self.name = Path(model).name + (f"#{pair}" if mark else "")
        files = fingerprint_of(self._folder) if self._folder else "absent"
        packages = ["transformers", *(["sacremoses"] if self._config.get("model_type") == "marian" else [])]
        # Marian's tokenizer tidies punctuation where sacremoses is there, and leaves it where it is not.
        self.version = ", ".join([files, *(f"{name} {package_version(name)}" for name in packages)])
        own = model_json(self._folder, "generation_config.json") if self._folder else {}
        beams = own.get("num_beams") or self._config.get("num_beams") or 1
        self.settings: Mapping[str, object] = {
            "beams": int(beams),
            "longest": LONGEST,
            "pair": "-".join(self._pair) if self._pair else None,
        }
        self.languages: tuple[str, ...] = (self._pair[0],) if self._pair else ("*",)
        self.summary = f"translation model {model} (transformers)"
        self._loaded: tuple[Any, Any, SpokenLanguages] | None = None

    def __reduce__(self) -> tuple[type["Seq2Seq"], tuple[str]]:
        return Seq2Seq, (self._spec,)  # a worker loads the model itself

    def needs(self) -> str | None:
        for module in ("torch", "transformers", "sentencepiece"):
            if line := missing(module, install_line("translation")):
                return line
        if self._folder is None:
            return absent_model(self._model)
        return None

    def prepare(self) -> None:
        """Read the tokenizer, so that a model that cannot be asked is found before anything runs; the weights are
        loaded where they are needed."""
        self._speaks(self._tokenizer())

    def run(self, inputs: Sequence[Input]) -> list[Output]:
        if self._loaded is None:
            one_thread()  # before anything is loaded: each of our processes has a core of its own
            tokenizer = self._tokenizer()
            self._loaded = tokenizer, self._weights(), self._speaks(tokenizer)
        tokenizer, model, speaks = self._loaded
        outputs = [Output()] * len(inputs)
        pairs: dict[tuple[str, str], list[int]] = {}
        for place, item in enumerate(inputs):
            pair = (item.languages[0], item.target or "")
            if speaks.has(pair):
                pairs.setdefault(pair, []).append(place)
        for pair, places in pairs.items():
            texts = [inputs[place].text for place in places]
            for place, output in zip(places, self._translate(tokenizer, model, speaks, pair, texts), strict=True):
                outputs[place] = output
        return outputs

    def _tokenizer(self) -> Any:
        if needs := self.needs():
            raise NotInstalled(f"system {self.name} cannot run here; {needs}")
        return load_tokenizer(self._folder)

    def _weights(self) -> Any:
        from transformers import AutoModelForSeq2SeqLM

        return load_part(AutoModelForSeq2SeqLM, self._folder, weights_only=True).float().eval()

    def _speaks(self, tokenizer: Any) -> SpokenLanguages:
        languages = SpokenLanguages.of(tokenizer, self._config, self._pair)
        if not languages.tokens and not languages.prefixes:
            raise AuditError(
                f"{self._spec} does not say which languages it translates; add them, as in {PREFIX}...#en-es"
            )
        return languages

    def _translate(
        self, tokenizer: Any, model: Any, speaks: SpokenLanguages, pair: tuple[str, str], texts: Sequence[str]
    ) -> list[Output]:
        """One output per text, all of one pair of languages; texts of about the same length together."""
        forced = None
        if pair not in speaks.prefixes:
            source, target = (speaks.tokens[code] for code in pair)
            tokenizer.src_lang = source.strip("_")
            forced = tokenizer.convert_tokens_to_ids(target)
        prefix = speaks.prefixes.get(pair, "")
        tokens = [tokenizer(prefix + text).input_ids for text in texts]
        positions = self._config.get("max_position_embeddings") or self._config.get("n_positions") or LONGEST
        limit = int(min(LONGEST, positions, tokenizer.model_max_length))
        outputs = [Output(error=f"the text has {len(ids):,} tokens, the model takes {limit:,}") for ids in tokens]
        fitting = [place for place, ids in enumerate(tokens) if len(ids) <= limit]
        beams = int(str(self.settings["beams"]))
        generation = Generation(tokenizer, model, beams, limit - 1, "translation", forced)
        for batch in by_length((len(tokens[place]) for place in fitting), BATCH):
            places = [fitting[number] for number in batch]
            generated = generation.outputs([tokens[place] for place in places])
            for place, output in zip(places, generated, strict=True):
                outputs[place] = output
        return outputs


def seq2seq(model: str) -> Seq2Seq:
    """The system `seq2seq:MODEL`."""
    return Seq2Seq(f"seq2seq:{model}")
