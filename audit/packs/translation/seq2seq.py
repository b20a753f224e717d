"""Translation models of Hugging Face's transformers, as `seq2seq:MODEL` or `seq2seq:MODEL#en-es`: Marian (OPUS-MT),
M2M-100, mBART-50, NLLB-200, T5 and what is built like them. Everything but the languages is `audit.systems.models`.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from audit.errors import AuditError, install_line
from audit.systems.base import missing, package_version
from audit.systems.models import Pipeline, model_json
from audit.tasks import Input, Output
from audit.text.languages import TWO_LETTERS, TWO_OF_THREE, language_code

_TOKENS = (
    re.compile(r"__([a-z]{2,3})__"),  # M2M-100, SMaLL-100
    re.compile(r"([a-z]{2})_[A-Z]{2}"),  # mBART-50
    re.compile(r"([a-z]{3})_([A-Z][a-z]{3})"),  # NLLB-200
)
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
        if match := next((match for form in _TOKENS if (match := form.fullmatch(token))), None):
            code = code_of(match[1]) or match[1]
            if by_code.setdefault(code, token) != token and match.re.groups > 1:
                by_code.setdefault(f"{code}-{match[2]}", token)
    return by_code


def pair_of(about: Any) -> Languages | None:
    """Return the pair of languages that the user named (`en-es`), else the one that a Marian model says it has.

    Raises AuditError for a name that is no pair.
    """
    if about.file.pair:
        source, _, target = about.file.pair.partition("-")
        codes = language_code(source), language_code(target)
        if not codes[0] or not codes[1] or codes[0] == codes[1]:
            raise AuditError(f"{about.spec}: {about.file.pair!r} is no pair of languages such as en-es")
    else:
        said = model_json(about.folder, "tokenizer_config.json")
        codes = code_of(said.get("source_lang")), code_of(said.get("target_lang"))
    return (codes[0], codes[1]) if codes[0] and codes[1] else None


@dataclass(frozen=True)
class SpokenLanguages:
    """How a model is told a pair of languages: `tokens` of the tokenizer by our codes, where it translates between all
    of them; `prefixes` of the text by pair, where it has those pairs only."""

    tokens: Mapping[str, str]
    prefixes: Mapping[Languages, str]

    @classmethod
    def of(cls, tokenizer: Any, about: Any) -> "SpokenLanguages":
        """Return the languages of a model. Raises AuditError where neither the model nor the user says them."""
        pair, vocabulary = pair_of(about), set(tokenizer.get_vocab())
        for name in ("all_special_tokens", "lang_token_to_id", "lang_code_to_id"):  # not all are in their vocabulary
            vocabulary |= set(getattr(tokenizer, name, ()))
        tokens = language_tokens(vocabulary) if hasattr(tokenizer, "src_lang") else {}
        prefixes: dict[Languages, str] = {}
        if pair and tokens:
            tokens = {code: tokens[code] for code in pair if code in tokens}
        elif pair:
            marks = (re.fullmatch(r">>([a-z]{2,3})(?:_[A-Za-z_]+)?<<", token) for token in sorted(vocabulary))
            targets = {code_of(match[1]): match[0] for match in marks if match}
            prefixes = {pair: f"{targets[pair[1]]} " if pair[1] in targets else ""}
        else:
            for name, said in (about.config.get("task_specific_params") or {}).items():
                if match := re.fullmatch(r"translation_([a-z]{2})_to_([a-z]{2})", name):
                    prefixes[match[1], match[2]] = str(said.get("prefix", ""))
        if not tokens and not prefixes:
            raise AuditError(f"{about.spec} does not say which languages it translates; add them, as in MODEL#en-es")
        return cls(tokens, prefixes)

    def has(self, pair: Languages) -> bool:
        """Return whether the model translates from the first language into the second."""
        return pair in self.prefixes or (pair[0] != pair[1] and set(pair) <= set(self.tokens))


class Seq2Seq(Pipeline):
    """A translation model as a `System`; `MODEL#en-es` names the pair of one that does not say it.

    By beam search; inputs of other pairs than the model's have no output. What is too long is an error.
    """

    def __init__(self, argument: str):
        super().__init__(argument if "#" in argument or argument.endswith(".toml") else f"{argument}#")
        own, pair, config = model_json(self.folder, "generation_config.json"), pair_of(self), self.config
        self._beams = int(self.file.beams or own.get("num_beams") or config.get("num_beams") or 1)
        # Marian's tokenizer tidies punctuation where sacremoses is there, and leaves it where it is not.
        tidies = {"sacremoses": package_version("sacremoses")} if config.get("model_type") == "marian" else {}
        said = {"too_long": "error", "beams": self._beams, "pair": "-".join(pair) if pair else None}
        self.settings = {**self.settings, **said, **tidies}

    def needs(self) -> str | None:
        return missing("sentencepiece", install_line("translation")) or super().needs()

    def prepare(self) -> None:
        super().prepare()
        self._speaks = SpokenLanguages.of(self._tokenizer, self)

    def run(self, inputs: Sequence[Input]) -> list[Output]:
        self.load()
        outputs, pairs = [Output()] * len(inputs), [(item.languages[0], item.target or "") for item in inputs]
        for pair in filter(self._speaks.has, dict.fromkeys(pairs)):
            places = [place for place, own in enumerate(pairs) if own == pair]
            for place, output in zip(places, self._translated([inputs[at].text for at in places], pair), strict=True):
                outputs[place] = output
        return outputs

    def _translated(self, texts: Sequence[str], pair: Languages) -> list[Output]:
        prefix, forced = self._speaks.prefixes.get(pair, ""), None
        if pair not in self._speaks.prefixes:
            source, target = (self._speaks.tokens[code] for code in pair)
            self._tokenizer.src_lang = source.strip("_")
            forced = self._tokenizer.convert_tokens_to_ids(target)
        tokens = [self._tokenizer(prefix + text, verbose=False)["input_ids"] for text in texts]
        short = [place for place, ids in enumerate(tokens) if len(ids) <= self.longest]
        # The translation of a part would be no output.
        outputs = [
            Output(error=f"the text has {len(ids):,} tokens, the model reads {self.longest:,}") for ids in tokens
        ]
        read = [tokens[at] for at in short]
        translated = self.generated(read, self._beams, self.longest - 1, "translation", forced)
        for place, output in zip(short, translated, strict=True):
            outputs[place] = output
        return outputs
