"""What we know of a language: tokens, tags, sentences, inflection, synonyms. Nothing heavy loads at import time."""

from audit.language.analysis import Analysis
from audit.language.text import Token

__all__ = ["Analysis", "Token"]
