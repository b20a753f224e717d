"""Constituency trees of sentences: parsers behind one protocol, how alike two trees are, and words chosen by a tree."""

from audit.packs.translation.constituency.base import (
    PARSERS,
    Parser,
    deep_phrase,
    deep_select,
    get_parser,
    kind_of,
    label_paths,
    leaf_spans,
    modifiers,
    parser_of,
    parsers_in,
    structure_similarity,
    tags_of,
)

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
