"""Constituency trees by a component of HanLP: one that `audit hanlp train-parser` made, or one that HanLP names."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from audit.errors import AuditError, BadFile, first_line
from audit.files import parse_json
from audit.language.constituency.pieces import clauses_of, is_mark, sentences_of, written
from audit.language.hanlp_models import MISSING, load, model_version, one_thread
from audit.language.text import Token

if TYPE_CHECKING:
    from nltk import Tree

RULES = "1"
"""Which treatment of texts and trees this is; part of the version."""
ABOUT = "parser.json"
"""In a directory made here: the language, and which labels are tags."""
MOST_WORDS = 100
"""Of a piece of text that is parsed at once: time and memory grow with the cube."""
_MARK = "PU"
"""The tag of marks in Chinese, which the Sinica Treebank has none of: the Chinese Treebank's."""


@dataclass(frozen=True)
class About:
    """What a parser needs to know of its model."""

    language: str
    tags: frozenset[str]
    """Labels that name a word's part of speech; none: the model finds no parts of speech."""
    clauses: bool
    """Whether it learned clauses without marks, and is given such."""


class HanlpParser:
    """A parser by `hanlp.load(model)`, whose texts are split into words by the project's own taggers.

    Parts of speech are the model's, or the tagger's where it finds none. Texts of several sentences are parsed
    sentence by sentence, Chinese by a model of the Sinica Treebank clause by clause, since that is how it is cut; all
    of a text stands under one TOP.
    """

    shallow = False

    def __init__(self, model: str):
        self.name = f"hanlp:{model}"
        self._model = model

    @cached_property
    def _about(self) -> About:
        return _about(self._model)

    @property
    def languages(self) -> tuple[str, ...]:
        """The one of its model. Raises BadFile for a directory that does not say which."""
        return (self._about.language,)

    @property
    def version(self) -> str:
        """HanLP's version, the model, and who finds the words. Raises as HanLP's loading does."""
        words = ""
        if self._about.language == "zh":
            from audit.language.chinese import version_of

            words = f", words by {version_of()}"
        return f"{model_version(self._model)}{words}, rules {RULES}"

    def needs(self) -> str | None:
        """The package that is missing, or the directory."""
        if find_spec("hanlp") is None or find_spec("torch") is None:
            return MISSING
        if ("/" in self._model or "." in self._model) and not Path(self._model).is_dir():
            made = f"audit hanlp train-parser --out {self._model}"
            return f"there is no directory {self._model!r}; make a model with: {made}"
        return None

    def parse(self, texts: Sequence[str], language: str) -> list[Tree | None]:
        """One tree for each text, under TOP; None for one with a sentence of more than `MOST_WORDS` words."""
        from nltk import Tree

        pieces = [clauses_of(text) if self._about.clauses else sentences_of(text, language) for text in texts]
        able = [bool(some) and all(len(piece) <= MOST_WORDS for piece in some) for some in pieces]
        asked = [piece for some, can in zip(pieces, able, strict=True) if can for piece in some if not is_mark(piece)]
        found = iter(self.parse_words([written(piece, language) for piece in asked]))
        trees: list[Tree | None] = []
        for some, can in zip(pieces, able, strict=True):
            if not can:
                trees.append(None)
                continue
            parts: list[Tree] = []
            whole = True
            for piece in some:
                if is_mark(piece):
                    parts.append(Tree(_MARK, [piece[0].text]))
                    continue
                tree = next(found)
                whole = whole and tree is not None
                parts += _with_words(tree, piece) if tree is not None else []
            trees.append(Tree("TOP", parts) if whole else None)
        return trees

    def parse_words(self, sentences: Sequence[Sequence[str]]) -> list[Tree | None]:
        """The tree of each sentence, given as words that are written as in the model's treebank; TOP is their root.
        Words whose part of speech the model does not find have the tag `_`. None: the model fails. Raises BadFile for a
        model that fails at any sentence."""
        if not sentences:
            return []
        component = self._component
        one_thread()
        try:
            made = component([list(words) for words in sentences])
        except Exception as problem:
            _check_working(component, self._model, problem)
            made = [_alone(component, words) for words in sentences]
        return [None if tree is None else _mended(tree, self._about.tags) for tree in made]

    @cached_property
    def _component(self) -> Callable[[list[list[str]]], list[Any]]:
        component = load(self._model)
        if hasattr(component, "tasks"):
            return _of_tasks(component, self._model)
        if type(component).__name__ != "CRFConstituencyParser":
            raise AuditError(f"HanLP's model {self._model!r} finds no constituents; name a constituency parser")
        return component


def _about(model: str) -> About:
    """Of a directory by what stands in it, of a name by the name."""
    folder = Path(model)
    if not folder.is_dir():
        return About("en" if model.startswith(("EN_", "PTB")) else "zh", frozenset(), False)
    file = folder / ABOUT
    try:
        if file.exists():
            told = parse_json(file.read_text(encoding="utf-8"))
            return About(str(told["language"]), frozenset(told["tags"]), bool(told["clauses"]))
        labels = set(parse_json((folder / "vocabs.json").read_text(encoding="utf-8"))["chart"]["idx_to_token"])
    except (OSError, ValueError, KeyError, TypeError) as problem:
        raise BadFile(
            f"{folder}: this is no constituency parser of HanLP ({type(problem).__name__} in its files); make one "
            "with: audit hanlp train-parser --out DIRECTORY"
        ) from problem
    # IP and CP are clauses of the Chinese Treebank alone.
    return About("zh" if {"IP", "CP"} & labels else "en", frozenset(), False)


def _with_words(tree: Tree, tokens: Sequence[Token]) -> list[Tree]:
    """What stands under the root, with the text's own words, and the tagger's tags where the model found none."""
    for place, token in zip(tree.treepositions("leaves"), tokens, strict=True):
        if tree[place[:-1]].label() == "_":
            tree[place[:-1]].set_label(token.tag)
        tree[place] = token.text
    return list(tree)


def _mended(tree: Any, tags: frozenset[str]) -> Tree:
    """A tree of HanLP's with each word under one tag.

    HanLP's decoder knows brackets only, so a model made here learns tags as brackets around one word. It chooses each
    label on its own: a tag around several words is taken away, and a word without one has the tag `_`.
    """
    from nltk import Tree

    def mend(node: Any) -> list[Tree]:
        if isinstance(node[0], str):
            return [Tree(node.label(), [node[0]])]
        children = [one for child in node for one in mend(child)]
        if node.label() not in tags:
            return [Tree(node.label(), children)]
        if len(children) == 1 and children[0].label() == "_" and isinstance(children[0][0], str):
            return [Tree(node.label(), [children[0][0]])]
        return children

    return Tree("TOP", [one for child in tree for one in mend(child)])


def _check_working(component: Callable[[list[list[str]]], list[Any]], model: str, problem: Exception) -> None:
    """Raise BadFile where it was not for the sake of a sentence that the model failed."""
    if _alone(component, ["1"]) is None:
        raise BadFile(
            f"{model}: HanLP's model parses no sentence at all ({first_line(problem)}); train or download it again"
        ) from problem


def _alone(component: Callable[[list[list[str]]], list[Any]], words: Sequence[str]) -> Any:
    """What the component makes of one sentence; None where it fails."""
    try:
        return component([list(words)])[0]
    except Exception:  # whatever a model makes of a strange word must not stop the others
        return None


def _of_tasks(component: Any, name: str) -> Callable[[list[list[str]]], list[Any]]:
    """The trees of a model of several tasks, with tags of its own."""
    tasks = list(component.tasks)
    con = next((one for one in tasks if one.startswith("con")), None)
    pos = next((one for one in ("pos/ctb", "pos", *tasks) if one in tasks and "pos" in one), None)
    if con is None:
        raise AuditError(f"HanLP's model {name!r} has the tasks {', '.join(tasks)}; con is needed")
    skipped = [one for one in tasks if one.startswith("tok")]

    def parse(sentences: list[list[str]]) -> list[Any]:
        return list(component(sentences, tasks=[one for one in (pos, con) if one], skip_tasks=skipped)[con])

    return parse
