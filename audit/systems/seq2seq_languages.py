"""Which languages a translation model has, and how it is told them: each family of models says so in its own way."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from audit.language.iso639 import TWO_LETTERS, TWO_OF_THREE, language_code

_TOKENS = (
    re.compile(r"__([a-z]{2,3})__"),  # M2M-100, SMaLL-100
    re.compile(r"([a-z]{2})_[A-Z]{2}"),  # mBART-50
    re.compile(r"([a-z]{3})_([A-Z][a-z]{3})"),  # NLLB-200
)
_TARGET = re.compile(r">>([a-z]{2,3})(?:_[A-Za-z_]+)?<<")
_TASK = re.compile(r"translation_([a-z]{2})_to_([a-z]{2})")


@dataclass(frozen=True)
class Spoken:
    """What a text is preceded by, or the tokenizer is set to, for a pair of languages.

    `tokens` are the model's names of languages by our codes, where it translates between all of them; `prefixes` what
    stands before a text, by pair, where it has those pairs only.
    """

    tokens: Mapping[str, str]
    prefixes: Mapping[tuple[str, str], str]

    def has(self, pair: tuple[str, str]) -> bool:
        """Whether the model translates from the first language into the second."""
        return pair in self.prefixes or (pair[0] != pair[1] and set(pair) <= set(self.tokens))


def code_of(written: str | None) -> str | None:
    """Our code of a language that a model names by two or three letters; None for what is none.

    >>> code_of("eng"), code_of("es"), code_of("roa"), code_of(None)
    ('en', 'es', None, None)
    """
    if not written:
        return None
    return TWO_OF_THREE.get(written, written if written in TWO_LETTERS else None)


def language_tokens(tokens: Iterable[str]) -> dict[str, str]:
    """Our codes with the tokens that a multilingual model has for languages, the usual script first.

    >>> language_tokens(["<s>", "eng_Latn", "zho_Hant", "zho_Hans"])
    {'en': 'eng_Latn', 'zh': 'zho_Hans', 'zh-Hant': 'zho_Hant'}
    >>> language_tokens(["__en__", "__ast__", "good"])
    {'ast': '__ast__', 'en': '__en__'}
    """
    found: dict[str, str] = {}
    for token in sorted(tokens):
        match = next((match for form in _TOKENS if (match := form.fullmatch(token))), None)
        if match is None:
            continue
        code = code_of(match[1]) or match[1]
        script = match[2] if match.re.groups > 1 else None
        if found.setdefault(code, token) != token and script:
            found.setdefault(f"{code}-{script}", token)
    return found


def spoken(tokenizer: Any, config: Mapping[str, Any], pair: tuple[str, str] | None) -> Spoken:
    """What the model of this tokenizer and configuration can be asked; `pair` where the user named it."""
    vocabulary = set(tokenizer.get_vocab())
    for name in ("all_special_tokens", "lang_token_to_id", "lang_code_to_id"):  # not all have them in their vocabulary
        vocabulary |= set(getattr(tokenizer, name, ()))
    tokens = language_tokens(vocabulary) if hasattr(tokenizer, "src_lang") else {}
    if pair is None:
        tasks = config.get("task_specific_params") or {}
        named = {match.groups(): task for name, task in tasks.items() if (match := _TASK.fullmatch(name))}
        prefixes = {(source, target): str(task.get("prefix", "")) for (source, target), task in named.items()}
        return Spoken(tokens, prefixes)
    if tokens:
        return Spoken({code: tokens[code] for code in pair if code in tokens}, {})
    targets = {code_of(match[1]): token for token in sorted(vocabulary) if (match := _TARGET.fullmatch(token))}
    return Spoken({}, {pair: f"{targets[pair[1]]} " if pair[1] in targets else ""})


def pair_of(settings: Mapping[str, Any]) -> tuple[str, str] | None:
    """The pair of languages that a tokenizer's settings name, as those of Marian's models do; None where they do not.

    >>> pair_of({"source_lang": "eng", "target_lang": "spa"}), pair_of({"target_lang": "roa"})
    (('en', 'es'), None)
    """
    source, target = (code_of(settings.get(name)) for name in ("source_lang", "target_lang"))
    return (source, target) if source and target else None


def read_pair(written: str) -> tuple[str, str] | None:
    """The pair that is written `en-es`; None for what is none.

    >>> read_pair("en-es"), read_pair("en")
    (('en', 'es'), None)
    """
    source, _, target = written.partition("-")
    codes = language_code(source), language_code(target)
    return (codes[0], codes[1]) if codes[0] and codes[1] and codes[0] != codes[1] else None
