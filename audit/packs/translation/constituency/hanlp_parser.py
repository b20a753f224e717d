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
from audit.packs.chinese.hanlp_tagger import MISSING, load, model_version
from audit.packs.translation.constituency.base import clauses_of, is_mark, sentences_of, treebank_words
from audit.systems.model_files import one_thread
from audit.text.tokens import Token

if TYPE_CHECKING:
    from nltk import Tree


RULES = "1"
"""Version of the treatment of texts and trees; part of the parser's version."""
ABOUT = "parser.json"
"""In a directory made here: the language, and which labels are tags."""
MOST_WORDS = 100
"""Words of a piece of text that is parsed at once, at most: time and memory grow with the cube."""
_MARK = "PU"
"""The tag of marks in Chinese, which the Sinica Treebank has none of: the Chinese Treebank's."""


@dataclass(frozen=True)
class About:
    """A model's language, tags and units, as the parser needs them."""

    language: str
    tags: frozenset[str]
    """Labels that name a word's part of speech; none: the model finds no parts of speech."""
    clauses: bool
    """Whether the model was trained on clauses without punctuation, and must be given such clauses."""


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
            from audit.packs.chinese.taggers import DEFAULT
            from audit.text.tools import version_of

            words = f", words by {version_of(DEFAULT)}"
        return f"{model_version(self._model)}{words}, rules {RULES}"

    def needs(self) -> str | None:
        """The package that is missing, or the directory."""
        if find_spec("hanlp") is None or find_spec("torch") is None:
            return MISSING
        if ("/" in self._model or "." in self._model) and not Path(self._model).is_dir():
            return f"there is no directory {self._model!r}; make a model with `audit hanlp train-parser`"
        return None

    def parse(self, texts: Sequence[str], language: str) -> list[Tree | None]:
        """One tree for each text, under TOP; None for one with a sentence of more than `MOST_WORDS` words."""
        from nltk import Tree

        pieces_by_text = [clauses_of(text) if self._about.clauses else sentences_of(text, language) for text in texts]
        parsable = [
            bool(text_pieces) and all(len(piece) <= MOST_WORDS for piece in text_pieces)
            for text_pieces in pieces_by_text
        ]
        to_parse = [
            piece
            for text_pieces, is_parsable in zip(pieces_by_text, parsable, strict=True)
            if is_parsable
            for piece in text_pieces
            if not is_mark(piece)
        ]
        parsed = iter(self.parse_words([treebank_words(piece, language) for piece in to_parse]))
        trees: list[Tree | None] = []
        for text_pieces, is_parsable in zip(pieces_by_text, parsable, strict=True):
            if not is_parsable:
                trees.append(None)
                continue
            parts: list[Tree] = []
            complete = True
            for piece in text_pieces:
                if is_mark(piece):
                    parts.append(Tree(_MARK, [piece[0].text]))
                    continue
                tree = next(parsed)
                complete = complete and tree is not None
                parts += _with_words(tree, piece) if tree is not None else []
            trees.append(Tree("TOP", parts) if complete else None)
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
            trees = component([list(words) for words in sentences])
        except Exception as problem:
            _check_working(component, self._model, problem)
            trees = [_parse_alone(component, words) for words in sentences]
        return [None if tree is None else _with_single_tags(tree, self._about.tags) for tree in trees]

    @cached_property
    def _component(self) -> Callable[[list[list[str]]], list[Any]]:
        component = load(self._model)
        if hasattr(component, "tasks"):
            return _multitask_parser(component, self._model)
        if type(component).__name__ != "CRFConstituencyParser":
            raise AuditError(f"HanLP's model {self._model!r} finds no constituents; name a constituency parser")
        parse: Callable[[list[list[str]]], list[Any]] = component
        return parse


def _about(model: str) -> About:
    """Read a model's directory, or guess from the name of a model that HanLP downloads. Raises BadFile."""
    folder = Path(model)
    if not folder.is_dir():
        return About("en" if model.startswith(("EN_", "PTB")) else "zh", frozenset(), False)
    file = folder / ABOUT
    try:
        if file.exists():
            about = parse_json(file.read_text(encoding="utf-8"))
            return About(str(about["language"]), frozenset(about["tags"]), bool(about["clauses"]))
        labels = set(parse_json((folder / "vocabs.json").read_text(encoding="utf-8"))["chart"]["idx_to_token"])
    except (OSError, ValueError, KeyError, TypeError) as problem:
        raise BadFile(
            f"{folder}: this is no constituency parser of HanLP ({type(problem).__name__} in its files); make one "
            "with `audit hanlp train-parser`"
        ) from problem
    # IP and CP are clauses of the Chinese Treebank alone.
    return About("zh" if {"IP", "CP"} & labels else "en", frozenset(), False)


def _with_words(tree: Tree, tokens: Sequence[Token]) -> list[Tree]:
    """The subtrees under the root, with the text's own words, and the tagger's tags where the model found none."""
    for place, token in zip(tree.treepositions("leaves"), tokens, strict=True):
        if tree[place[:-1]].label() == "_":
            tree[place[:-1]].set_label(token.tag)
        tree[place] = token.text
    return list(tree)


def _with_single_tags(tree: Any, tags: frozenset[str]) -> Tree:
    """A tree of HanLP's with each word under one tag.

    HanLP's decoder knows brackets only, so a model made here learns tags as brackets around one word. It chooses each
    label on its own: a tag around several words is taken away, and a word without one has the tag `_`.
    """
    from nltk import Tree

    def mend(node: Any) -> list[Tree]:
        if isinstance(node[0], str):
            return [Tree(node.label(), [node[0]])]
        children = [subtree for child in node for subtree in mend(child)]
        if node.label() not in tags:
            return [Tree(node.label(), children)]
        if len(children) == 1 and children[0].label() == "_" and isinstance(children[0][0], str):
            return [Tree(node.label(), [children[0][0]])]
        return children

    return Tree("TOP", [subtree for child in tree for subtree in mend(child)])


def _check_working(component: Callable[[list[list[str]]], list[Any]], model: str, problem: Exception) -> None:
    """Raise BadFile where it was not for the sake of a sentence that the model failed."""
    if _parse_alone(component, ["1"]) is None:
        raise BadFile(
            f"{model}: HanLP's model parses no sentence at all ({first_line(problem)}); train or download it again"
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


# The encoder of the small parsers that are trained here: words, their letters, and what stands around them.
#
# HanLP's parser brings a decoder, but as encoders only transformers, which want a model that was trained elsewhere.
# This
# is the classic one in their place (Stern et al. 2017): embeddings of words and of letters, an LSTM in each direction.
# HanLP's loader makes it by its class path, so it has what an embedding of HanLP has: `config`, `transform`, `module`.

CLASSPATH = f"{__name__}.WordsAndLetters"
LONGEST_WORD = 20
"""Letters of a word that are looked at: its first and last ten."""
_PADDING, _UNKNOWN, _KNOWN = 0, 1, 2
"""Indices of padding and of unknown words or letters, and the first index of known ones."""


class WordsAndLetters:
    """Makes the network and what it is fed. `words` and `letters` are those that were learned; the rest are sizes."""

    def __init__(
        self,
        words: Sequence[str],
        letters: Sequence[str],
        word_size: int = 100,
        letter_size: int = 32,
        filters: int = 64,
        hidden: int = 200,
        layers: int = 2,
        dropout: float = 0.33,
        unknown: float = 0.15,
    ):
        self.words = list(words)
        self.letters = list(letters)
        self.word_size = word_size
        self.letter_size = letter_size
        self.filters = filters
        self.hidden = hidden
        self.layers = layers
        self.dropout = dropout
        self.unknown = unknown
        """Share of known words that are hidden while it learns, so that it learns of unknown ones as well."""

    @property
    def config(self) -> dict[str, Any]:
        """The arguments that make an equal encoder; stored in the model's config.json."""
        return {"classpath": CLASSPATH, **vars(self)}

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> WordsAndLetters:
        """The encoder that `config` describes."""
        return cls(**{name: value for name, value in config.items() if name != "classpath"})

    def transform(self, **_: Any) -> Callable[[dict[str, Any]], dict[str, Any]]:
        """Numbers for the words of a sample; the names end as HanLP's tensors do."""
        words = {word: index for index, word in enumerate(self.words, _KNOWN)}
        letters = {letter: index for index, letter in enumerate(self.letters, _KNOWN)}

        def number(sample: dict[str, Any]) -> dict[str, Any]:
            tokens = sample["token"]
            sample["token_input_ids"] = [words.get(token.lower(), _UNKNOWN) for token in tokens]
            sample["token_letter_ids"] = [
                [letters.get(letter, _UNKNOWN) for letter in shorten(token)] for token in tokens
            ]
            return sample

        return number

    def get_output_dim(self) -> int:
        """Numbers that the network returns for each word, of both directions."""
        return 2 * self.hidden

    def module(self, **_: Any) -> Any:
        """The network."""
        import torch
        from torch import nn
        from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

        sizes = self

        class Network(nn.Module):  # type: ignore[misc]  # PyTorch is not read by the type checker
            def __init__(self) -> None:
                super().__init__()
                self.word = nn.Embedding(len(sizes.words) + _KNOWN, sizes.word_size, padding_idx=_PADDING)
                self.letter = nn.Embedding(len(sizes.letters) + _KNOWN, sizes.letter_size, padding_idx=_PADDING)
                self.convolution = nn.Conv1d(sizes.letter_size, sizes.filters, 3, padding=1)
                self.lstm = nn.LSTM(
                    sizes.word_size + sizes.filters,
                    sizes.hidden,
                    sizes.layers,
                    batch_first=True,
                    bidirectional=True,
                    dropout=sizes.dropout if sizes.layers > 1 else 0.0,
                )
                self.dropout = nn.Dropout(sizes.dropout)
                self.transformer = nn.Module()  # HanLP's optimizer asks for one, to let it learn at its own rate

            def forward(self, batch: dict[str, Any]) -> Any:
                words, letters = batch["token_input_ids"], batch["token_letter_ids"]
                if self.training:
                    hidden = (torch.rand(words.shape) < sizes.unknown) & (words >= _KNOWN)
                    words = words.masked_fill(hidden, _UNKNOWN)
                spelled = self.letter(letters.flatten(0, 1)).transpose(1, 2)
                spelled = self.convolution(spelled).max(-1).values.relu().view(*words.shape, -1)
                x = self.dropout(torch.cat((self.word(words), spelled), -1))
                packed = pack_padded_sequence(x, batch["token_length"], batch_first=True, enforce_sorted=False)
                x, _ = pad_packed_sequence(self.lstm(packed)[0], batch_first=True, total_length=words.shape[1])
                return self.dropout(x)

        return Network()


def shorten(word: str) -> str:
    """A long word's first and last letters.

    >>> shorten("supercalifragilisticexpialidocious")
    'supercalifalidocious'
    """
    half = LONGEST_WORD // 2
    return word if len(word) <= LONGEST_WORD else word[:half] + word[-half:]
