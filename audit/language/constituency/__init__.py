"""Constituency trees of sentences: parsers behind one protocol, how alike two trees are, and words chosen by a tree."""

from audit.language.constituency.base import PARSERS, Parser, get_parser, leaf_spans, parser_of, parsers_in
from audit.language.constituency.selecting import deep_phrase, deep_select, modifiers
from audit.language.constituency.structure import label_paths, structure_similarity
from audit.language.constituency.tags import kind_of, tags_of

__all__ = [
    "PARSERS",
    "Parser",
    "deep_phrase",
    "deep_select",
    "get_parser",
    "kind_of",
    "label_paths",
    "leaf_spans",
    "modifiers",
    "parser_of",
    "parsers_in",
    "structure_similarity",
    "tags_of",
]
