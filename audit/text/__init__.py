"""Texts, whatever their language: tokens, sentences, codes of languages, how alike two texts are.

What analyses a language is in its pack (`audit.packs`); `audit.text.tools.LANGUAGES` has it.
"""

from audit.text.analysis import Analysis
from audit.text.tokens import Token

__all__ = ["Analysis", "Token"]
