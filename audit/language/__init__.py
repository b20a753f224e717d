"""What we know of a language: tokens, tags, sentences, inflection, synonyms. Nothing heavy loads at import time."""

from audit.language.text import Analysis, Token

__all__ = ["Analysis", "Token"]
