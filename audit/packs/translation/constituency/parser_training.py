"""Training of a small HanLP constituency parser on a treebank of NLTK's, and its scores on a part held out."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from audit.errors import AuditError, NotInstalled, UnknownName
from audit.keys import fingerprint, uniform
from audit.new_files import new_folder
from audit.packs.chinese.hanlp_tagger import hanlp
from audit.packs.chinese.hanlp_training import DEVELOPMENT, SCORES, Part, Score, check, countdown, epoch_logger
from audit.packs.translation.constituency.base import base_label
from audit.packs.translation.constituency.hanlp_parser import ABOUT, HanlpParser, WordsAndLetters, shorten
from audit.systems.model_files import one_thread
from audit.text.tokens import words

if TYPE_CHECKING:
    from nltk import Tree


# How many brackets of a tree a parser finds: what evalb counts, with its usual parameters (COLLINS.prm).

MARKS = words(", : `` '' . PU")
"""Tags of the words that are left out of both trees: Penn's, and the Chinese Treebank's one for all marks."""
_ROOTS = frozenset({"TOP", "ROOT", "S1", ""})
_EQUAL = {"PRT": "ADVP"}


def brackets(tree: Tree, tags: Iterable[str]) -> Counter[tuple[str, int, int]]:
    """(label, first word, word behind the last) of each node above the tags, with how often it is there.

    `tags`: of the words in the gold tree, which say what is a mark; marks have no place. The root does not count, and
    a PRT is an ADVP.

    >>> from nltk import Tree
    >>> tree = Tree.fromstring("(TOP (S (NP (PRP She)) (VP (VBZ knits) (NP (NN lace))) (. .)))")
    >>> sorted(brackets(tree, ["PRP", "VBZ", "NN", "."]))
    [('NP', 0, 1), ('NP', 2, 3), ('S', 0, 3), ('VP', 1, 3)]
    """
    is_counted = [tag not in MARKS for tag in tags]
    counts: Counter[tuple[str, int, int]] = Counter()
    leaf = 0

    def walk(node: Tree, at: int) -> int:
        nonlocal leaf
        end = at
        for child in node:
            if isinstance(child, str):
                end += is_counted[leaf]
                leaf += 1
            else:
                end = walk(child, end)
        if end > at and node.label() not in _ROOTS and not isinstance(node[0], str):
            counts[_EQUAL.get(node.label(), node.label()), at, end] += 1
        return end

    walk(tree, 0)
    return counts


def bracket_score(gold: Iterable[Tree], predicted: Iterable[Tree | None]) -> Score:
    """Brackets that are right, that are there and that were found, of all trees together (evalb's recall, precision
    and F1 are the score's). A tree that is missing has no brackets.

    Each pair of trees has the same words. Raises ValueError where the numbers of trees or of words differ.
    """
    return label_score("", gold, predicted)


def label_score(label: str, gold: Iterable[Tree], predicted: Iterable[Tree | None]) -> Score:
    """As `bracket_score`, for the brackets of one label; an empty label means all brackets."""
    right = there = all_predicted = 0
    for gold_tree, predicted_tree in zip(gold, predicted, strict=True):
        tags = [tag for _, tag in gold_tree.pos()]
        gold_brackets = _of_label(brackets(gold_tree, tags), label)
        there += gold_brackets.total()
        if predicted_tree is None:
            continue
        if len(predicted_tree.leaves()) != len(tags):
            sizes = f"{len(tags)} and {len(predicted_tree.leaves())} words"
            raise ValueError(f"trees of {sizes} cannot be compared: {gold_tree.leaves()}")
        predicted_brackets = _of_label(brackets(predicted_tree, tags), label)
        all_predicted += predicted_brackets.total()
        right += (gold_brackets & predicted_brackets).total()
    return Score(right, there, all_predicted)


def _of_label(counts: Counter[tuple[str, int, int]], label: str) -> Counter[tuple[str, int, int]]:
    return Counter({bracket: times for bracket, times in counts.items() if bracket[0] == label}) if label else counts


# The treebanks that come with NLTK's data, as parsers learn from them: English and Chinese, cleaned, in documents.

TREEBANKS = {"en": "treebank", "zh": "sinica_treebank"}
"""Language -> the corpus of NLTK: 3,914 sentences of the Penn Treebank, 10,000 clauses of the Sinica Treebank."""
PHRASES_OF_SINICA = words("S NP VP PP GP N V A DM ADV")
TOGETHER = 50
"""Clauses of the Sinica Treebank that count as a document: it does not say where one ends."""


def documents(language: str) -> tuple[tuple[Tree, ...], ...]:
    """The cleaned trees of a language, in documents and in order; each has one node under its root TOP.

    English is without traces (-NONE-) and grammatical functions (NP-SBJ). Chinese is in simplified characters, without
    marks, as the Sinica Treebank has none, and with tags as far as `simple_tag` keeps them apart. Raises UnknownName
    for a language without a treebank, NotInstalled where NLTK's data or OpenCC are absent.
    """
    if language not in TREEBANKS:
        raise UnknownName("language with a treebank", language, list(TREEBANKS))
    return _read(language)


def split(
    documents: Sequence[Sequence[Tree]], held_out: float, seed: int
) -> tuple[tuple[tuple[Tree, ...], ...], tuple[tuple[Tree, ...], ...]]:
    """The documents to learn from and those to hold out, in order: at least one each way.

    `held_out` is their share. The same seed holds the same ones out. Raises AuditError for fewer than two documents.
    """
    if len(documents) < 2:
        raise AuditError(f"there are {len(documents)} documents, too few to hold one out; raise the limit")
    order = sorted(range(len(documents)), key=lambda index: (uniform("held out", seed, str(index)), index))
    out = set(order[: min(max(round(held_out * len(documents)), 1), len(documents) - 1)])
    learned = tuple(tuple(document) for index, document in enumerate(documents) if index not in out)
    return learned, tuple(tuple(documents[index]) for index in sorted(out))


def simple_tag(tag: str) -> str:
    """A tag of the Sinica Treebank without its finest distinctions, of which 231 are too many to learn.

    >>> [simple_tag(tag) for tag in ("VH11", "Nab", "Nca", "Neqa", "Caa[P1]", "Dbaa", "DE", "P21", "V_11")]
    ['VH1', 'Na', 'Nca', 'Neqa', 'Caa', 'Db', 'DE', 'P', 'V_1']
    """
    tag = tag.partition("[")[0]
    if tag == "Nca" or tag.startswith("Ne"):
        return tag
    if tag.startswith("V"):
        return tag[:3]
    if tag.startswith("P"):
        return "P"
    return tag[:3] if tag.startswith("C") else tag[:2]


def simple_label(label: str) -> str:
    """A label of the Sinica Treebank without the particle of its phrase; what is named by the tag of its head is named
    by the first letter of it, and the few nodes named by their role are X.

    >>> [simple_label(label) for label in ("VP‧的", "得‧VP", "GP", "Nab", "VH11‧的", "DM", "Dh", "ADV‧地", "goal")]
    ['VP', 'VP', 'GP', 'N', 'V', 'DM', 'ADV', 'ADV', 'X']
    """
    label = next((part for part in label.split("‧") if part.isascii()), "X").partition("[")[0]
    if label in PHRASES_OF_SINICA:
        return label
    return {"N": "N", "V": "V", "D": "ADV", "C": "C"}.get(label[:1], "X")


@cache
def _read(language: str) -> tuple[tuple[Tree, ...], ...]:
    name = TREEBANKS[language]
    try:
        from nltk import corpus

        reader = getattr(corpus, name)
        if language == "en":
            return tuple(tuple(clean_tree(tree) for tree in reader.parsed_sents(file)) for file in reader.fileids())
        trees = [_chinese(tree) for tree in reader.parsed_sents()]
    except LookupError as problem:
        raise NotInstalled(
            f"NLTK's corpus {name!r} is not installed; run: python -m nltk.downloader {name}, or name the directory "
            "that holds it in NLTK_DATA"
        ) from problem
    return tuple(tuple(trees[at : at + TOGETHER]) for at in range(0, len(trees), TOGETHER))


def clean_tree(tree: Tree) -> Tree:
    """A tree of the Penn Treebank under TOP: without traces and what is empty without them, without functions, and
    with no node right under one of its own name.

    >>> from nltk import Tree
    >>> print(clean_tree(Tree.fromstring("(S (NP-SBJ-1 (-NONE- *)) (VP (VB go) (NP (NP (NN home)))))")))
    (TOP (S (VP (VB go) (NP (NN home)))))
    """
    from nltk import Tree

    return Tree("TOP", list(_clean(tree)))


def _clean(node: Tree) -> Iterator[Tree]:
    from nltk import Tree

    if node.label() == "-NONE-":
        return
    if isinstance(node[0], str):
        yield Tree(node.label(), [node[0].replace("\\", "")])  # 1\/2: a slash is escaped, and nothing else has one
        return
    children = [subtree for child in node for subtree in _clean(child)]
    label = base_label(node.label())
    if len(children) == 1 and children[0].label() == label:
        yield children[0]
    elif children:
        yield Tree(label, children)


def _chinese(tree: Tree) -> Tree:
    from audit.packs.chinese.taggers import simplified

    for node in tree.subtrees(lambda node: not isinstance(node[0], str)):
        node.set_label(simple_label(node.label()))
    tree = clean_tree(tree)
    for node in tree.subtrees(lambda node: isinstance(node[0], str)):
        node.set_label(simple_tag(node.label()))
        node[0] = simplified(node[0])
    return tree


LONGEST = 60
"""Words of a sentence that is learned from: the time grows with the cube, and 1 of 100 is longer."""
SCORED = ("S", "NP", "VP", "PP", "ADVP", "ADJP", "SBAR", "GP")
"""Labels that are scored alone."""


@dataclass(frozen=True)
class TrainedParser:
    """Sizes, settings and held-out scores of a trained parser, which is given the words of the treebank."""

    language: str
    corpus: str
    """Fingerprint of the treebank's trees, as they were learned."""
    sentences: int
    held_out_sentences: int
    held_out_words: int
    held_out: float
    seed: int
    epochs: int
    limit: int | None
    seconds: float
    brackets: Part
    """Labelled brackets, without marks, the root and the tags: evalb's scores."""
    complete: float
    """Share of sentences of which every bracket is right and none too many."""
    tags: float
    """Share of words, marks among them, whose tag is right."""
    labels: dict[str, Part]
    """Brackets of one label each."""


def train_parser(
    folder: str | Path,
    *,
    language: str = "en",
    held_out: float = 0.1,
    epochs: int = 12,
    limit: int | None = None,
    seed: int = 0,
    say: Callable[[str], None] = lambda message: None,
) -> TrainedParser:
    """Train a parser of English or Chinese, save it as HanLP does, and score it on the documents held out.

    The parser's name is `hanlp:FOLDER`. `limit`: the first sentences alone; `say` hears of each epoch. The same
    arguments give the same parser on the same machine. Nothing is left where it fails. Raises AuditError for numbers
    that are not allowed and too few sentences, BadFile for a directory that holds something, and what `documents` and
    `hanlp_models.hanlp` raise.
    """
    folder = Path(folder)
    check(folder, held_out, epochs, limit, "sentences")
    treebank = _first_sentences(documents(language), limit)
    learned, out = split(treebank, held_out, seed)
    learned, development = split(learned, DEVELOPMENT, seed)
    hanlp()
    parts = [[tree for document in part for tree in document] for part in (learned, development, out)]
    short = [[tree for tree in part if len(tree.leaves()) <= LONGEST] for part in parts[:2]]
    say(f"{len(short[0]):,} sentences are learned from, {len(parts[2]):,} are held out; {epochs} epochs.")
    started = time.monotonic()
    with new_folder(folder) as target:
        _fit(target, short[0], short[1], epochs, seed, say)
        tags = sorted({tag for tree in short[0] for _, tag in tree.pos()})
        about = {"language": language, "tags": tags, "clauses": language == "zh"}
        (target / ABOUT).write_text(json.dumps(about, ensure_ascii=False) + "\n", encoding="utf-8")
        predicted = HanlpParser(str(target)).parse_words([tree.leaves() for tree in parts[2]])
        trained = TrainedParser(
            language=language,
            corpus=fingerprint(_line(tree) for document in treebank for tree in document),
            sentences=len(short[0]),
            held_out_sentences=len(parts[2]),
            held_out_words=sum(len(tree.leaves()) for tree in parts[2]),
            held_out=held_out,
            seed=seed,
            epochs=epochs,
            limit=limit,
            seconds=round(time.monotonic() - started, 1),
            brackets=Part.of(bracket_score(parts[2], predicted)),
            complete=round(_complete_match_rate(parts[2], predicted), 4),
            tags=round(_tag_accuracy(parts[2], predicted), 4),
            labels=_label_scores(parts[2], predicted),
        )
        (target / SCORES).write_text(json.dumps(asdict(trained), indent=2) + "\n", encoding="utf-8")
    return trained


def _first_sentences(documents: Sequence[Sequence[Tree]], limit: int | None) -> list[Sequence[Tree]]:
    """The documents with the first sentences."""
    selected: list[Sequence[Tree]] = []
    remaining = sum(map(len, documents)) if limit is None else limit
    for document in documents:
        if remaining > 0:
            selected.append(document[:remaining])
            remaining -= len(selected[-1])
    return selected


def _complete_match_rate(gold: Sequence[Tree], predicted: Sequence[Tree | None]) -> float:
    scores = [
        bracket_score([gold_tree], [predicted_tree]) for gold_tree, predicted_tree in zip(gold, predicted, strict=True)
    ]
    return sum(score.right == score.there == score.found for score in scores) / len(scores)


def _tag_accuracy(gold: Sequence[Tree], predicted: Sequence[Tree | None]) -> float:
    words = sum(len(tree.leaves()) for tree in gold)
    pairs = (
        (gold_tree.pos(), predicted_tree.pos())
        for gold_tree, predicted_tree in zip(gold, predicted, strict=True)
        if predicted_tree is not None
    )
    share: float = (
        sum(a == b for gold_tags, predicted_tags in pairs for a, b in zip(gold_tags, predicted_tags, strict=True))
        / words
    )
    return share


def _label_scores(gold: Sequence[Tree], predicted: Sequence[Tree | None]) -> dict[str, Part]:
    scores = {label: Part.of(label_score(label, gold, predicted)) for label in SCORED}
    return {label: part for label, part in scores.items() if part.there}


def _fit(
    folder: Path,
    learned: Sequence[Tree],
    development: Sequence[Tree],
    epochs: int,
    seed: int,
    say: Callable[[str], None],
) -> None:
    """Train by HanLP's own API; a small network, which one processor trains in minutes."""
    from hanlp.common.dataset import SortingSamplerBuilder
    from hanlp.components.parsers.constituency.crf_constituency_parser import CRFConstituencyParser

    if not learned or not development:
        raise AuditError("the sentences are too few, or too long, to train on; raise the limit")
    files = folder / "train.txt", folder / "development.txt"
    for file, part in zip(files, (learned, development), strict=True):
        file.write_text("".join(_line(_without_tags(tree)) + "\n" for tree in part), encoding="utf-8")
    one_thread()
    with countdown(), _adamw():
        CRFConstituencyParser().fit(
            *map(str, files),
            str(folder),
            _encoder(learned),
            epochs=epochs,
            patience=epochs,
            lr=0.003,
            warmup_steps=0.05,
            grad_norm=5.0,
            sampler_builder=SortingSamplerBuilder(batch_max_tokens=1000),
            n_mlp_span=128,
            n_mlp_label=48,
            mbr=False,
            delete=("TOP",),  # of what chooses the best epoch
            no_subcategory=False,
            eval_trn=False,
            devices=-1,
            seed=seed,
            logger=epoch_logger(say),
        )
    for file in files:
        file.unlink()


def _encoder(learned: Sequence[Tree]) -> WordsAndLetters:
    """An encoder for the words that occur at least twice, and for all letters, small and capital."""
    often = Counter(word for tree in learned for word in tree.leaves())
    small = Counter[str]()
    for word, times in often.items():
        small[word.lower()] += times
    letters = {
        letter for word in often for spelling in (word, word.lower(), word.upper()) for letter in shorten(spelling)
    }
    return WordsAndLetters(sorted(word for word, times in small.items() if times > 1), sorted(letters), hidden=160)


def _without_tags(tree: Tree) -> Tree:
    """A tag becomes a bracket around its word, since HanLP's parser finds brackets alone."""
    from nltk import Tree

    copy = tree.copy(deep=True)
    for place in copy.treepositions("leaves"):
        copy[place] = Tree("_", [copy[place]])
    return copy


def _line(tree: Tree) -> str:
    return str(tree.pformat(margin=10**9))


@contextmanager
def _adamw() -> Iterator[None]:
    """The optimizer that HanLP asks transformers for, put back where a new transformers no longer has it."""
    from torch.optim import AdamW as Original
    from transformers import optimization

    class AdamW(Original):  # type: ignore[misc]  # PyTorch is not read by the type checker
        def __init__(self, parameters: Any, no_deprecation_warning: bool = False, **settings: Any):
            super().__init__(parameters, betas=(0.9, 0.95), **settings)

    absent = object()
    before = getattr(optimization, "AdamW", absent)
    setattr(optimization, "AdamW", AdamW)  # noqa: B010  (to mypy it has none)
    try:
        yield
    finally:
        if before is absent:
            delattr(optimization, "AdamW")
        else:
            setattr(optimization, "AdamW", before)  # noqa: B010
