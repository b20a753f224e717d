"""`audit values bounds|means|correlate|contribute|levels`: what the values say that relations compared."""

import argparse
from typing import Any

from audit.cli.options import add_database, add_json, add_study, answer, fraction, names, reads


def add(commands: Any) -> None:
    """Register the commands."""
    parser = commands.add_parser("values", help="what relations compared: other bounds, means, references, levels")
    actions = parser.add_subparsers(
        dest="action",
        required=True,
        metavar="bounds|means|correlate|contribute|levels",
        parser_class=type(parser),
    )
    bounds = actions.add_parser("bounds", help="observed rates at other bounds, without running again")
    add_database(bounds)
    add_study(bounds)
    _add_relations(bounds, "all with a bound")
    bounds.add_argument("--at", type=_bounds, metavar="0.5,0.6", help="the bounds (default: 0, 0.1, ... 1)")
    add_json(bounds)
    bounds.set_defaults(run=_show_bounds)

    means = actions.add_parser("means", help="least-squares means by target language and system, and which differ")
    add_database(means)
    add_study(means)
    means.add_argument("--relation", required=True, metavar="MCMT", help="whose values")
    means.add_argument("--independent", action="store_true", help="as if values of one text were independent")
    add_json(means)
    means.set_defaults(run=_show_means)

    correlate = actions.add_parser("correlate", help="do values go with BLEU, METEOR and WER against references?")
    add_database(correlate)
    add_study(correlate)
    _add_references(correlate, required=True)
    _add_relations(correlate, "all with values, and the MGMT score")
    add_json(correlate)
    correlate.set_defaults(run=_show_correlations)

    contribute = actions.add_parser("contribute", help="what each relation adds to the others")
    add_database(contribute)
    add_study(contribute)
    _add_references(contribute, required=False)
    _add_relations(contribute, "the levels of MGMT")
    add_json(contribute)
    contribute.set_defaults(run=_show_contributions)

    levels = actions.add_parser("levels", help="the MGMT score of each system: the mean share of satisfied levels")
    add_database(levels)
    add_study(levels)
    levels.add_argument("--domain", metavar="ATTRIBUTE", help="a column of the corpus (default: each corpus is one)")
    _add_relations(levels, "the levels of MGMT")
    add_json(levels)
    levels.set_defaults(run=_show_levels)


def _add_relations(parser: argparse.ArgumentParser, default: str) -> None:
    parser.add_argument("--relations", type=names, default=[], metavar="A,B", help=f"of these (default: {default})")


def _add_references(parser: argparse.ArgumentParser, required: bool) -> None:
    what = "a CSV of reference translations: source,reference,target_language"
    parser.add_argument("--reference", required=required, type=reads, metavar="FILE", help=what)
    without = "METEOR by words and stems alone: English needs no WordNet then"
    parser.add_argument("--no-synonyms", dest="synonyms", action="store_false", help=without)


def _bounds(text: str) -> list[float]:
    return [fraction(part) for part in names(text)]


def _show_bounds(arguments: argparse.Namespace) -> None:
    from audit.reports.values import STEPS, bounds_lines, bounds_report
    from audit.store import open_store

    report = bounds_report(open_store(arguments.db), arguments.study, arguments.relations, arguments.at or STEPS)
    answer(arguments.json, report, [] if arguments.json else bounds_lines(report))


def _show_means(arguments: argparse.Namespace) -> None:
    from audit.reports.values import means_lines, means_report
    from audit.store import open_store

    engine = open_store(arguments.db)
    report = means_report(engine, arguments.relation, arguments.study, independent=arguments.independent)
    answer(arguments.json, report, [] if arguments.json else means_lines(report))


def _show_correlations(arguments: argparse.Namespace) -> None:
    from audit.reports.values import correlation_lines, correlation_report, read_references
    from audit.store import open_store

    references = read_references(arguments.reference, synonyms=arguments.synonyms)
    report = correlation_report(open_store(arguments.db), references, arguments.study, arguments.relations)
    answer(arguments.json, report, [] if arguments.json else correlation_lines(report))


def _show_contributions(arguments: argparse.Namespace) -> None:
    from audit.reports.values import contribution_lines, contribution_report, read_references
    from audit.store import open_store

    file, synonyms = arguments.reference, arguments.synonyms
    references = read_references(file, synonyms=synonyms) if file else None
    engine = open_store(arguments.db)
    report = contribution_report(engine, arguments.study, arguments.relations, references)
    answer(arguments.json, report, [] if arguments.json else contribution_lines(report))


def _show_levels(arguments: argparse.Namespace) -> None:
    from audit.reports.values import levels_lines, levels_report
    from audit.store import open_store

    report = levels_report(open_store(arguments.db), arguments.study, arguments.relations, arguments.domain)
    answer(arguments.json, report, [] if arguments.json else levels_lines(report))
