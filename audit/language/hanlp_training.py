"""Training of a small HanLP tagger of characters on the People's Daily corpus, and its scores on a part held out."""

import json
import time
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from itertools import accumulate
from pathlib import Path

from audit.errors import AuditError
from audit.keys import fingerprint
from audit.language.hanlp_making import DEVELOPMENT, SCORES, Part, check, countdown, told
from audit.language.hanlp_models import hanlp, one_thread
from audit.language.hanlp_tagger import HanlpTagger
from audit.language.peoples_daily import Paragraph, Span, Tagged, placed, read_corpus, score, sentences, split
from audit.language.text import Token
from audit.new_files import new_folder

_TOGETHER = 200
LEARNED = ("nr", "ns", "nt", "r", "n", "v", "w")
"""Tags that are scored alone."""


@dataclass(frozen=True)
class Trained:
    """What was trained on how much, and how well it does on what it never saw."""

    corpus: str
    """Fingerprint of the corpus's words and tags."""
    sentences: int
    held_out_sentences: int
    held_out_characters: int
    held_out: float
    seed: int
    epochs: int
    limit: int | None
    seconds: float
    segmentation: Part
    tags: dict[str, Part]


def train(
    folder: str | Path,
    *,
    corpus: str | Path | None = None,
    held_out: float = 0.1,
    epochs: int = 4,
    limit: int | None = None,
    seed: int = 0,
    say: Callable[[str], None] = lambda message: None,
) -> Trained:
    """Train a tagger, save it as HanLP does, and score it on the documents held out.

    `hanlp.load(folder)` loads it, and the tagger's name is `hanlp:FOLDER`. `limit`: the first paragraphs alone; `say`
    hears of each epoch. The same arguments give the same tagger on the same machine. Nothing is left where it fails.
    Raises AuditError for numbers that are not allowed and a corpus that is too small, BadFile for a directory that
    holds something, and what `read_corpus` and `hanlp_models.hanlp` raise.
    """
    folder = Path(folder)
    check(folder, held_out, epochs, limit, "paragraphs")
    paragraphs = read_corpus(corpus)[:limit]
    learned, out = split(paragraphs, held_out, seed)
    learned, development = split(learned, DEVELOPMENT, seed)
    hanlp()
    parts = [sentences(part) for part in (learned, development, out)]
    say(f"{len(parts[0]):,} sentences are learned from, {len(parts[2]):,} are held out; {epochs} epochs.")
    begun = time.monotonic()
    with new_folder(folder) as made:
        _fit(made, parts[0], parts[1], epochs, seed, say)
        segmentation, tags = scores(HanlpTagger(str(made)), parts[2])
        trained = Trained(
            corpus=_fingerprint(paragraphs),
            sentences=len(parts[0]),
            held_out_sentences=len(parts[2]),
            held_out_characters=sum(len(word) for one in parts[2] for word, _ in one),
            held_out=held_out,
            seed=seed,
            epochs=epochs,
            limit=limit,
            seconds=round(time.monotonic() - begun, 1),
            segmentation=segmentation,
            tags=tags,
        )
        (made / SCORES).write_text(json.dumps(asdict(trained), indent=2) + "\n", encoding="utf-8")
    return trained


def scores(
    tagger: Callable[[str], Sequence[Token]], held_out: Sequence[Sequence[Tagged]]
) -> tuple[Part, dict[str, Part]]:
    """How well a tagger finds the words of these sentences: words alone, and the words of each tag of `LEARNED`."""
    gold = [placed(one) for one in held_out]
    found: list[list[Span]] = []
    for first in range(0, len(held_out), _TOGETHER):
        found += _by_lines(tagger, ["".join(word for word, _ in one) for one in held_out[first : first + _TOGETHER]])
    return _part(gold, found, ""), {tag: _part(gold, found, tag) for tag in LEARNED}


def _by_lines(tagger: Callable[[str], Sequence[Token]], lines: Sequence[str]) -> list[list[Span]]:
    """The words of each line, all tagged at once: a model takes as long for one line as for some dozens."""
    starts = list(accumulate((len(line) + 1 for line in lines), initial=0))
    found: list[list[Span]] = [[] for _ in lines]
    for token in tagger("\n".join(lines)):
        line = bisect_right(starts, token.start) - 1
        found[line].append((token.start - starts[line], token.end - starts[line], token.tag))
    return found


def _part(gold: Sequence[Sequence[Span]], found: Sequence[Sequence[Span]], tag: str) -> Part:
    return Part.of(score(gold, found, tag))


def _fingerprint(paragraphs: Sequence[Paragraph]) -> str:
    return fingerprint(" ".join(f"{word}/{tag}" for word, tag in one.words) for one in paragraphs)


def _fit(
    folder: Path,
    learned: Sequence[Sequence[Tagged]],
    development: Sequence[Sequence[Tagged]],
    epochs: int,
    seed: int,
    say: Callable[[str], None],
) -> None:
    """Train by HanLP's own API; a small network, which one processor trains in minutes and asks in milliseconds."""
    from hanlp.components.taggers.rnn_tagger import RNNTagger

    known = {label for one in learned for _, label in characters(one)}
    # HanLP cannot read a label that it has not learned.
    readable = [one for one in development if all(label in known for _, label in characters(one))]
    if not readable:
        raise AuditError("the corpus is too small to train on; name a larger one, or raise --limit")
    files = folder / "train.tsv", folder / "development.tsv"
    for file, part in zip(files, (learned, readable), strict=True):
        file.write_text("\n".join(map(_lines, part)), encoding="utf-8")
    one_thread()
    with countdown():
        RNNTagger().fit(
            *map(str, files),
            str(folder),
            epochs=epochs,
            embed=96,
            rnn_hidden=128,
            crf=False,
            batch_size=32,
            lr=0.004,
            drop=0.3,
            devices=-1,
            seed=seed,
            logger=told(say),
        )
    for file in files:
        file.unlink()


def characters(words: Sequence[Tagged]) -> list[tuple[str, str]]:
    """Each character with the label that is learned: where in its word it is, and the word's tag.

    >>> characters([("江泽民", "nr"), ("说", "v")])
    [('江', 'B-nr'), ('泽', 'I-nr'), ('民', 'E-nr'), ('说', 'S-v')]
    """
    labelled: list[tuple[str, str]] = []
    for word, tag in words:
        places = ["S"] if len(word) == 1 else ["B", *("I" for _ in word[2:]), "E"]
        labelled += [(sign, f"{place}-{tag}") for sign, place in zip(word, places, strict=True)]
    return labelled


def _lines(words: Sequence[Tagged]) -> str:
    return "".join(f"{sign}\t{label}\n" for sign, label in characters(words))
