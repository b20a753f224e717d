"""`audit pivots`: recorded translations beside those that went over another language."""

import argparse
from collections.abc import Iterable
from typing import Any

from audit.cli.options import add_json, answer, fraction, names, reads

_LONG = 20_000
"""Pairs from which scoring them takes long enough for a progress bar."""


def add(commands: Any) -> None:
    """Register the command."""
    parser = commands.add_parser("pivots", help="recorded pivot chains of machine translation: scores, means, tests")
    parser.add_argument(
        "file", type=reads, metavar="FILE", help="a CSV: system,target,direct,alternate and wanted source,pivot"
    )
    parser.add_argument(
        "--by", choices=("target", "pivot"), default="target", help="languages of the model: target (default) or pivot"
    )
    parser.add_argument(
        "--score",
        choices=("consistency", "levenshtein", "bleu", "cosine"),
        default="consistency",
        help="what is analysed (default: consistency, the mean of the others)",
    )
    parser.add_argument(
        "--threshold",
        type=fraction,
        default=0.8,
        metavar="S",
        help="a pair with at least S is satisfied (default: 0.8)",
    )
    parser.add_argument("--systems", type=names, metavar="A,B", help="only these systems (default: all)")
    parser.add_argument("--targets", type=names, metavar="zh,ja", help="only these target languages (default: all)")
    parser.add_argument(
        "--exclude-target", type=names, default=[], metavar="en", help="target languages to leave out, round trips too"
    )
    parser.add_argument(
        "--source-language", default="en", metavar="CODE", help="of the sources: pairs toward it are round trips (en)"
    )
    parser.add_argument("--additive", action="store_true", help="a model without the interaction")
    parser.add_argument(
        "--errors",
        choices=("sentence", "independent"),
        help="pairs of one sentence go together (default, where the file has the column source), or are independent",
    )
    parser.add_argument("--distinct", action="store_true", help="leave out rows that repeat another")
    add_json(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> None:
    """Run the command."""
    from audit.corpora.recordings import read_chains
    from audit.reports.pivots import pivot_lines, pivots_report

    report = pivots_report(
        read_chains(arguments.file, arguments.distinct),
        by=arguments.by,
        score=arguments.score,
        threshold=arguments.threshold,
        source_language=arguments.source_language,
        targets=arguments.targets,
        systems=arguments.systems,
        exclude=arguments.exclude_target,
        interaction=not arguments.additive,
        errors=arguments.errors,
        watch=_bar,
    )
    answer(arguments.json, report, [] if arguments.json else pivot_lines(report))


def _bar(pairs: Iterable[Any], number: int) -> Iterable[Any]:
    from tqdm import tqdm

    return tqdm(pairs, total=number, desc="scoring", unit="pair", disable=number < _LONG)
