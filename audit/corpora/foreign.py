"""Texts that are in another language than a file is taken to be in."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import import_module

from audit.errors import BadFile
from audit.messages import message, with_commas

_SCRIPTS = {
    "Arabic": "\u0600-\u06ff",
    "Russian": "\u0400-\u04ff",
    "Greek": "\u0370-\u03ff",
    "Hebrew": "\u0590-\u05ff",
    "Hindi": "\u0900-\u097f",
    "Thai": "\u0e00-\u0e7f",
    "Korean": "\uac00-\ud7af",
    "Japanese": "\u3040-\u30ff",
    "Chinese": "\u4e00-\u9fff",
}  # Language -> the letters that are its alone, or of few others; Japanese before Chinese, whose signs it has, too
_OF_LATIN = {"Spanish": "es", "French": "fr", "German": "de", "Italian": "it", "Portuguese": "pt", "Dutch": "nl"}
_SHARE = 0.1  # Share of texts in other languages above which a file is refused: a few among many are told, and run
_LEAST = 4  # Usual words of a language from which on a text is in it


@cache
def _usual_words() -> Mapping[str, set[str]]:
    """Return the usual words of English ("") and of other languages, of spaCy; none where it is not installed."""
    try:
        codes = {"": "en", **_OF_LATIN}
        return {name: import_module(f"spacy.lang.{code}.stop_words").STOP_WORDS for name, code in codes.items()}
    except ImportError:
        return {}


def other_language(text: str) -> str:
    """Return which language a text is in that cannot be English; empty where it may be.

    >>> other_language("La comida estaba fría y el camarero no era muy amable."), other_language("It was dolce vita.")
    ('Spanish', '')
    """
    letters = re.findall(r"[^\W\d_]", text)
    for language, script in _SCRIPTS.items():
        if 2 * len(re.findall(f"[{script}]", text)) > max(len(letters), _LEAST):
            return language
    words = re.findall(r"[^\W\d_]+", text.lower())
    counts = {language: sum(word in usual for word in words) for language, usual in _usual_words().items()}
    best = max(counts, key=lambda language: counts[language], default="")
    return best if best and counts[best] >= max(_LEAST, 3 * counts[""], len(words) / 5) else ""


def refuse_other_languages(file: object, texts: Sequence[str]) -> None:
    """Raise BadFile where more than a tenth of the texts of a file that says no language cannot be in English."""
    counts = Counter(filter(None, map(other_language, texts)))
    if counts.total() > _SHARE * len(texts):
        named = with_commas([language for language, _ in counts.most_common()])
        values = {"file": file, "number": counts.total(), "texts": len(texts), "language": named}
        raise BadFile(message("corpus_file.other_language", **values), parameter="language")
