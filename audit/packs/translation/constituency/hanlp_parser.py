"""Constituency trees by a component of HanLP: in a directory, or one that HanLP downloads by its name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from audit.errors import AuditError, BadFile, first_line
from audit.files import parse_json
from audit.packs.chinese.taggers import MISSING, load, model_version
from audit.packs.translation.constituency.base import sentences_of, treebank_words
from audit.systems.model_files import one_thread
from audit.text.tokens import Token

if TYPE_CHECKING:
    from nltk import Tree


RULES = "1"
"""Version of the treatment of texts and trees; part of the parser's version."""
MOST_WORDS = 100
"""Words of a piece of text that is parsed at once, at most: time and memory grow with the cube."""


class HanlpParser:
    """A parser by `hanlp.load(model)`, whose texts are split into words by the project's own taggers.

    Parts of speech are the model's, or the tagger's where it finds none. Texts of several sentences are parsed
    sentence by sentence; all of a text stands under one TOP.
    """

    shallow = False

    def __init__(self, model: str):
        self.name = f"hanlp:{model}"
        self._model = model

    @cached_property
    def languages(self) -> tuple[str, ...]:
        """The one of its model. Raises BadFile for a directory that does not say which."""
        return (_language(self._model),)

    @property
    def version(self) -> str:
        """HanLP's version, the model, and who finds the words. Raises as HanLP's loading does."""
        words = ""
        if self.languages == ("zh",):
            from audit.packs.chinese.taggers import DEFAULT
            from audit.text.tools import version_of

            words = f", words by {version_of(DEFAULT)}"
        return f"{model_version(self._model)}{words}, rules {RULES}"

    def needs(self) -> str | None:
        """The package that is missing, or the directory."""
        if find_spec("hanlp") is None or find_spec("torch") is None:
            return MISSING
        if ("/" in self._model or "." in self._model) and not Path(self._model).is_dir():
            return f"there is no directory {self._model!r}"
        return None

    def parse(self, texts: Sequence[str], language: str) -> list[Tree | None]:
        """One tree for each text, under TOP; None for one with a sentence of more than `MOST_WORDS` words."""
        from nltk import Tree

        sentences_by_text = [sentences_of(text, language) for text in texts]
        parsable = [
            bool(sentences) and all(len(sentence) <= MOST_WORDS for sentence in sentences)
            for sentences in sentences_by_text
        ]
        to_parse = [
            treebank_words(sentence, language)
            for sentences, is_parsable in zip(sentences_by_text, parsable, strict=True)
            if is_parsable
            for sentence in sentences
        ]
        parsed = iter(self._parse_words(to_parse))
        trees: list[Tree | None] = []
        for sentences, is_parsable in zip(sentences_by_text, parsable, strict=True):
            parts = [(next(parsed), sentence) for sentence in sentences] if is_parsable else []
            if not parts or any(tree is None for tree, _ in parts):
                trees.append(None)
            else:
                trees.append(Tree("TOP", [child for tree, sentence in parts for child in _with_words(tree, sentence)]))
        return trees

    def _parse_words(self, sentences: Sequence[Sequence[str]]) -> list[Tree | None]:
        """The tree of each sentence, given as words that are written as in the model's treebank. Words whose part of
        speech the model does not find have the tag `_`. None: the model fails. Raises BadFile for a model that fails at
        any sentence."""
        if not sentences:
            return []
        component = self._component
        one_thread()
        try:
            return component([list(words) for words in sentences])
        except Exception as problem:
            _check_working(component, self._model, problem)
            return [_parse_alone(component, words) for words in sentences]

    @cached_property
    def _component(self) -> Callable[[list[list[str]]], list[Any]]:
        component = load(self._model)
        if hasattr(component, "tasks"):
            return _multitask_parser(component, self._model)
        if type(component).__name__ != "CRFConstituencyParser":
            raise AuditError(f"HanLP's model {self._model!r} finds no constituents; name a constituency parser")
        parse: Callable[[list[list[str]]], list[Any]] = component
        return parse


def _language(model: str) -> str:
    """Read the language of a model's directory, or guess it from the name of a model that HanLP downloads. Raises
    BadFile."""
    folder = Path(model)
    if not folder.is_dir():
        return "en" if model.startswith(("EN_", "PTB")) else "zh"
    try:
        labels = set(parse_json((folder / "vocabs.json").read_text(encoding="utf-8"))["chart"]["idx_to_token"])
    except (OSError, ValueError, KeyError, TypeError) as problem:
        raise BadFile(
            f"{folder}: this is no constituency parser of HanLP ({type(problem).__name__} in its files)"
        ) from problem
    # IP and CP are clauses of the Chinese Treebank alone.
    return "zh" if {"IP", "CP"} & labels else "en"


def _with_words(tree: Any, tokens: Sequence[Token]) -> list[Tree]:
    """The subtrees under the root, with the text's own words, and the tagger's tags where the model found none."""
    for place, token in zip(tree.treepositions("leaves"), tokens, strict=True):
        if tree[place[:-1]].label() == "_":
            tree[place[:-1]].set_label(token.tag)
        tree[place] = token.text
    return list(tree)


def _check_working(component: Callable[[list[list[str]]], list[Any]], model: str, problem: Exception) -> None:
    """Raise BadFile where it was not for the sake of a sentence that the model failed."""
    if _parse_alone(component, ["1"]) is None:
        raise BadFile(
            f"{model}: HanLP's model parses no sentence at all ({first_line(problem)}); download it again"
        ) from problem


def _parse_alone(component: Callable[[list[list[str]]], list[Any]], words: Sequence[str]) -> Any:
    """The component's tree of one sentence; None where it fails."""
    try:
        return component([list(words)])[0]
    except Exception:  # whatever a model makes of a strange word must not stop the others
        return None


def _multitask_parser(component: Any, name: str) -> Callable[[list[list[str]]], list[Any]]:
    """The trees of a model of several tasks, with tags of its own."""
    tasks = list(component.tasks)
    con = next((task for task in tasks if task.startswith("con")), None)
    pos = next((task for task in ("pos/ctb", "pos", *tasks) if task in tasks and "pos" in task), None)
    if con is None:
        raise AuditError(f"HanLP's model {name!r} has the tasks {', '.join(tasks)}; con is needed")
    skipped = [task for task in tasks if task.startswith("tok")]

    def parse(sentences: list[list[str]]) -> list[Any]:
        return list(component(sentences, tasks=[task for task in (pos, con) if task], skip_tasks=skipped)[con])

    return parse
