"""Training of a small HanLP constituency parser on a treebank of NLTK's, and its scores on a part held out."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from audit.errors import AuditError
from audit.keys import fingerprint
from audit.language.constituency.brackets import bracket_score, of_label
from audit.language.constituency.hanlp_encoder import WordsAndLetters, shortened
from audit.language.constituency.hanlp_parser import ABOUT, HanlpParser
from audit.language.constituency.treebanks import documents, split
from audit.language.hanlp_making import DEVELOPMENT, SCORES, Part, check, countdown, told
from audit.language.hanlp_models import hanlp, one_thread
from audit.new_files import new_folder

if TYPE_CHECKING:
    from nltk import Tree

LONGEST = 60
"""Words of a sentence that is learned from: the time grows with the cube, and 1 of 100 is longer."""
SCORED = ("S", "NP", "VP", "PP", "ADVP", "ADJP", "SBAR", "GP")
"""Labels that are scored alone."""


@dataclass(frozen=True)
class TrainedParser:
    """What was trained on how much, and how well it does on what it never saw, given the words of the treebank."""

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
    given = _first(documents(language), limit)
    learned, out = split(given, held_out, seed)
    learned, development = split(learned, DEVELOPMENT, seed)
    hanlp()
    parts = [[tree for document in part for tree in document] for part in (learned, development, out)]
    short = [[tree for tree in part if len(tree.leaves()) <= LONGEST] for part in parts[:2]]
    say(f"{len(short[0]):,} sentences are learned from, {len(parts[2]):,} are held out; {epochs} epochs.")
    begun = time.monotonic()
    with new_folder(folder) as made:
        _fit(made, short[0], short[1], epochs, seed, say)
        tags = sorted({tag for tree in short[0] for _, tag in tree.pos()})
        about = {"language": language, "tags": tags, "clauses": language == "zh"}
        (made / ABOUT).write_text(json.dumps(about, ensure_ascii=False) + "\n", encoding="utf-8")
        found = HanlpParser(str(made)).parse_words([tree.leaves() for tree in parts[2]])
        trained = TrainedParser(
            language=language,
            corpus=fingerprint(_line(tree) for document in given for tree in document),
            sentences=len(short[0]),
            held_out_sentences=len(parts[2]),
            held_out_words=sum(len(tree.leaves()) for tree in parts[2]),
            held_out=held_out,
            seed=seed,
            epochs=epochs,
            limit=limit,
            seconds=round(time.monotonic() - begun, 1),
            brackets=Part.of(bracket_score(parts[2], found)),
            complete=round(_complete(parts[2], found), 4),
            tags=round(_tagged(parts[2], found), 4),
            labels=_by_label(parts[2], found),
        )
        (made / SCORES).write_text(json.dumps(asdict(trained), indent=2) + "\n", encoding="utf-8")
    return trained


def _first(given: Sequence[Sequence[Tree]], limit: int | None) -> list[Sequence[Tree]]:
    """The documents with the first sentences."""
    kept: list[Sequence[Tree]] = []
    left = sum(map(len, given)) if limit is None else limit
    for document in given:
        if left > 0:
            kept.append(document[:left])
            left -= len(kept[-1])
    return kept


def _complete(gold: Sequence[Tree], found: Sequence[Tree | None]) -> float:
    scores = [bracket_score([one], [other]) for one, other in zip(gold, found, strict=True)]
    return sum(score.right == score.there == score.found for score in scores) / len(scores)


def _tagged(gold: Sequence[Tree], found: Sequence[Tree | None]) -> float:
    words = sum(len(tree.leaves()) for tree in gold)
    pairs = ((one.pos(), other.pos()) for one, other in zip(gold, found, strict=True) if other is not None)
    return sum(a == b for one, other in pairs for a, b in zip(one, other, strict=True)) / words


def _by_label(gold: Sequence[Tree], found: Sequence[Tree | None]) -> dict[str, Part]:
    scores = {label: Part.of(of_label(label, gold, found)) for label in SCORED}
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
            logger=told(say),
        )
    for file in files:
        file.unlink()


def _encoder(learned: Sequence[Tree]) -> WordsAndLetters:
    """Of the words that are there twice or more, and of all letters, small and capital."""
    often = Counter(word for tree in learned for word in tree.leaves())
    small = Counter[str]()
    for word, times in often.items():
        small[word.lower()] += times
    letters = {letter for word in often for one in (word, word.lower(), word.upper()) for letter in shortened(one)}
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

    class AdamW(Original):
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
