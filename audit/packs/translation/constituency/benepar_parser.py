"""Trees by the Berkeley Neural Parser (Kitaev et al. 2019), where the package benepar and a model of it are there."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from audit.errors import BadFile, NotInstalled, first_line
from audit.keys import fingerprint
from audit.packs.translation.constituency.base import sentences_of, treebank_words
from audit.systems.model_files import one_thread
from audit.text.tokens import Token

if TYPE_CHECKING:
    from nltk import Tree

MISSING = "this needs the package benepar; run: pip install benepar"
RULES = "1"
"""Version of the treatment of texts and trees; part of the parser's version."""
LANGUAGES = ("ar", "de", "en", "eu", "fr", "he", "hu", "ko", "pl", "sv", "zh")
"""Languages that benepar has models of."""
_NAME = re.compile(r"(?:.*[/\\])?benepar_([a-z]{2})[^/\\]*")


class BeneparParser:
    """A parser by `benepar.Parser(MODEL)`: a model's name, as benepar_en3, or the path of one that is named so.

    Words are found as in the rest of the project; parts of speech are the model's. The sentences of a text stand under
    one TOP.
    """

    shallow = False

    def __init__(self, model: str):
        self.name = f"benepar:{model}"
        self._model = model

    @property
    def languages(self) -> tuple[str, ...]:
        """The one of its name. Raises BadFile for a name that has none."""
        match = _NAME.fullmatch(self._model)
        if not match or match.group(1) not in LANGUAGES:
            raise BadFile(
                f"{self._model}: the name of a model of benepar begins with benepar_ and a language, one of "
                f"{', '.join(LANGUAGES)}"
            )
        return (match.group(1),)

    @property
    def version(self) -> str:
        """The package's version and the model: of a file by what it holds. Raises NotInstalled."""
        try:
            package = version("benepar")
        except PackageNotFoundError as problem:
            raise NotInstalled(MISSING) from problem
        path = Path(self._model)
        files = sorted(path.iterdir()) if path.is_dir() else [path] if path.is_file() else []
        digest = f" ({fingerprint(file.read_bytes().hex() for file in files if file.is_file())})" if files else ""
        return f"benepar {package}, model {path.name}{digest}, rules {RULES}"

    def needs(self) -> str | None:
        """The package, where it is absent; a model is looked for when it is loaded."""
        return None if find_spec("benepar") else MISSING

    def parse(self, texts: Sequence[str], language: str) -> list[Tree | None]:
        """One tree for each text, under TOP; None where the model fails. Raises BadFile where it fails at any text."""
        from nltk import Tree

        sentences_by_text = [sentences_of(text, language) for text in texts]
        sentences = [sentence for text_sentences in sentences_by_text for sentence in text_sentences]
        parser = self._parser
        one_thread()
        try:
            parsed = list(parser.parse_sents([_sentence(sentence, language) for sentence in sentences]))
        except Exception as problem:
            self._check_working(problem)
            parsed = [_parse_alone(parser, sentence, language) for sentence in sentences]
        remaining = iter(parsed)
        trees: list[Tree | None] = []
        for text_sentences in sentences_by_text:
            parts = [_with_words(tree, sentence) for sentence, tree in zip(text_sentences, remaining, strict=False)]
            trees.append(Tree("TOP", parts) if parts and None not in parts else None)
        return trees

    def _check_working(self, problem: Exception) -> None:
        """Raise BadFile where it was not for the sake of a sentence that the model failed."""
        if _parse_alone(self._parser, [Token("1", "CD", 0, 1)], "en") is None:
            raise BadFile(
                f"{self._model}: benepar's model parses no sentence at all ({first_line(problem)})"
            ) from problem

    @cached_property
    def _parser(self) -> Any:
        if not find_spec("benepar"):
            raise NotInstalled(MISSING)
        import benepar

        try:
            return benepar.Parser(self._model)
        except LookupError as problem:
            raise NotInstalled(
                f"benepar's model {self._model!r} is not there; run: python -c \"import benepar; "
                f"benepar.download('{self._model}')\", or name the file or directory that holds it"
            ) from problem
        except Exception as problem:  # whatever a damaged file makes it raise
            raise BadFile(
                f"{self._model}: benepar cannot load this model ({first_line(problem)}); download it again"
            ) from problem


def _sentence(tokens: Sequence[Token], language: str) -> Any:
    from benepar import InputSentence

    ends = [*(token.start for token in tokens[1:]), None]
    return InputSentence(
        words=[token.text for token in tokens],
        space_after=[after is not None and after > token.end for token, after in zip(tokens, ends, strict=True)],
        escaped_words=treebank_words(tokens, language),
    )


def _parse_alone(parser: Any, tokens: Sequence[Token], language: str) -> Any:
    """The model's tree of one sentence; None where it fails."""
    try:
        return parser.parse(_sentence(tokens, language))
    except Exception:  # whatever a model makes of a strange word must not stop the others
        return None


def _with_words(tree: Tree | None, tokens: Sequence[Token]) -> Tree | None:
    """The tree with the text's own words, without a root of its own; the tagger's tags where the model has none."""
    if tree is None or len(tree.leaves()) != len(tokens):
        return None
    for place, token in zip(tree.treepositions("leaves"), tokens, strict=True):
        if tree[place[:-1]].label() == "UNK":
            tree[place[:-1]].set_label(token.tag)
        tree[place] = token.text
    return tree[0] if tree.label() in ("TOP", "ROOT", "") and len(tree) == 1 and tree.height() > 2 else tree
