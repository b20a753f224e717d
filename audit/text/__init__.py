"""Texts, whatever their language: tokens, sentences, codes of languages, how alike two texts are.

What analyses a language is registered by its pack (`audit.packs`) or a plug-in, in `audit.registry.languages`.
"""

from audit.text.analysis import Analysis
from audit.text.tokens import Token

__all__ = ["Analysis", "Token"]
