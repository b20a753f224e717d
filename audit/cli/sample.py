"""`audit sample`: draw satisfied groups of every cell for judging."""

import argparse
from collections import Counter
from dataclasses import asdict
from typing import Any

from audit.cli.options import AUDITED_FOLLOW_UPS, add_database, add_json, add_study, answer, fraction, names, whole

WORDS = {
    "shown": "whoever is asked second sees what was answered before, and an adjudicator inspects what people agree on.",
    "random": "half of the sources, at random, are judged blind; of the others the second sees the first's answer.",
}
"""Protocols other than the usual one, in words."""


def add(commands: Any) -> None:
    """Register the command."""
    parser = commands.add_parser("sample", help="draw satisfied groups for judging; drawing more keeps what was drawn")
    add_database(parser)
    size = parser.add_mutually_exclusive_group(required=True)
    size.add_argument(
        "--per-relation",
        type=sizes,
        metavar="N",
        help="the first N groups of each list, or MR1.1=40,MR2.1=300: of the lists of these relations",
    )
    size.add_argument("--share", type=fraction, metavar="0.01", help="this share of each list")
    parser.add_argument(
        "--design", default="shared", help="shared (default), simple, or informative (to compare systems only)"
    )
    parser.add_argument(
        "--domain", help="all (default), or gold: sources with a gold label only, for work with gold alone"
    )
    parser.add_argument("--seed", type=whole, metavar="S", help="default: the study's")
    parser.add_argument("--annotators", type=whole, default=2, metavar="N", help="people per question (default: 2)")
    parser.add_argument(
        "--protocol", help="blind (default), shown (the next one sees what was answered before), or random by source"
    )
    parser.add_argument(
        "--audit-groups", type=whole, default=0, metavar="N", help="ask of N groups a cell and outcome: does it hold?"
    )
    parser.add_argument(
        "--audit-follow-ups",
        type=fraction,
        default=AUDITED_FOLLOW_UPS,
        metavar="SHARE",
        help="ask anyway where answers carry (0.1)",
    )
    parser.add_argument(
        "--audit-answers", type=fraction, default=0.0, metavar="SHARE", help="let an adjudicator check agreed answers"
    )
    parser.add_argument(
        "--primary", type=names, metavar="SYSTEM,OTHER", help="name the comparison that reports test by itself"
    )
    parser.add_argument("--primary-relation", metavar="NAME", help="under this relation (default: over all together)")
    add_study(parser)
    add_json(parser)
    parser.set_defaults(run=run)


def sizes(text: str) -> int | dict[str, int]:
    """A number of groups, or one for each relation named.

    >>> sizes("60"), sizes("MR1.1=40, MR2.1=300")
    (60, {'MR1.1': 40, 'MR2.1': 300})
    """
    if "=" not in text:
        return whole(text)
    named = [one.rpartition("=") for one in names(text)]
    twice = [name for name, count in Counter(name.strip() for name, _, _ in named).items() if count > 1 or not name]
    if twice:
        raise argparse.ArgumentTypeError(f"{text[:40]!r} names no relation or one twice; write MR1.1=40,MR2.1=300")
    return {name.strip(): whole(number) for name, _, number in named}


def run(arguments: argparse.Namespace) -> None:
    """Run the command."""
    from audit.false_satisfaction.questions import queue_length
    from audit.judging.samples import draw_all
    from audit.sampling.audits import Audits
    from audit.sampling.designs import GOLD
    from audit.sampling.draw import Size
    from audit.store import open_store
    from audit.studies.deviations import name_primary, primary_named, resolve

    size = Size(arguments.per_relation, arguments.share)
    audits = Audits(arguments.audit_groups, arguments.audit_follow_ups, arguments.audit_answers)
    engine = open_store(arguments.db)
    how = (
        arguments.design,
        arguments.seed,
        arguments.annotators,
        arguments.study,
        audits,
        arguments.protocol,
        arguments.domain,
    )
    primary = primary_named(arguments.primary, arguments.primary_relation)
    resolved = resolve(engine, primary, arguments.study) if primary else {}
    drawn = draw_all(engine, size, *how)
    named = {study: name_primary(engine, study, ids) for study, ids in resolved.items()}
    waiting, behind = queue_length(engine)
    lines = [
        f"Study {one.study}: {one.drawn:,} groups of {one.cells} cells drawn ({one.design}, seed {one.seed}; "
        f"{one.added:,} new), {one.distinct_groups:,} different groups of {one.distinct_sources:,} sources."
        for one in drawn
    ]
    lines += [
        f"Nothing to compare in study {one.study} under {', '.join(one.not_compared)}: one system alone was checked."
        for one in drawn
        if one.not_compared
    ]
    lines += [
        f"Study {one.study}: people are asked of {one.audited_groups:,} different groups whether the relation holds."
        for one in drawn
        if one.audited_groups
    ]
    lines += [
        f"Study {one.study}: drawn from the sources with a gold label; what is estimated is about these."
        for one in drawn
        if one.domain == GOLD
    ]
    lines += [f"Study {one.study}: {WORDS[one.protocol]}" for one in drawn if one.protocol in WORDS]
    lines += [
        f"Study {study}: {primary} is the primary comparison, "
        + (
            "named before the first answer."
            if not one.answers
            else f"named after {one.answers:,} answers; see reports."
        )
        for study, one in named.items()
    ]
    unfinished = [one.study for one in drawn if one.unfinished]
    if unfinished:
        lines.append(
            f"The run of study {', '.join(map(str, unfinished))} is not finished: repeat `audit run`, then this."
        )
    more = f" {behind:,} more audit what relations carry, and come after these." if behind else ""
    lines += [f"{waiting:,} questions wait for an answer.{more}", f"Next: audit gold --db {arguments.db}"]
    document = {
        "design": arguments.design,
        "drawn": sum(one.drawn for one in drawn),
        "added": sum(one.added for one in drawn),
        "cells": sum(one.cells for one in drawn),
        "waiting": waiting,
        "audits": behind,
        "primary": [
            {"study": study, "named_at": one.at.isoformat(timespec="seconds"), "answers_before": one.answers}
            for study, one in named.items()
        ],
        "studies": [asdict(one) for one in drawn],
    }
    answer(arguments.json, document, lines)
