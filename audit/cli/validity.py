"""The validity study: drawing pairs that people rate, ratings from elsewhere, and what they say of each relation."""

from dataclasses import asdict
from typing import Annotated, Literal

from audit.cli.console import Reply
from audit.cli.options import (
    DATABASE,
    JUDGE,
    NONE,
    Database,
    Names,
    Study,
    chosen,
    command,
    flag,
    group,
    listed,
    new_place,
    open_database,
    place,
    text,
    whole_number,
)
from audit.messages import counted

group(
    "validity",
    JUDGE,
    "people say whether follow-ups are sound",
    "The validity study (docs/how-to/validity-study.md): people rate sources and follow-ups, mixed and blind, from 1 "
    "to 5 for plausibility and grammaticality, and say of groups whether their relation holds. The report says which "
    "relations make texts that nobody would write, or expect what is wrong, and what violations are then worth.",
)


@command(
    "validity draw",
    JUDGE,
    "draw pairs of each relation whose texts people rate",
    "audit validity draw --db mine.db",
    "audit validity draw --per-relation 40 --relations MR1.1,MR2.1 --ask both --first",
)
def draw(
    db: Database = DATABASE,
    per_relation: Annotated[int, whole_number("pairs of a source and a follow-up of each relation", "N")] = 25,
    relations: Annotated[Names, listed("of these relations alone (default: all)", "MR1.1,MR2.1")] = NONE,
    annotators: Annotated[int, whole_number("how many people answer each question", "N")] = 3,
    seed: Annotated[int | None, whole_number("of the order of sources (default: the study's)", "S")] = None,
    ask: Annotated[
        Literal["texts", "groups", "both"],
        chosen("rate the texts, say of the groups whether the relation holds there, or both"),
    ] = "texts",
    first: Annotated[bool, flag("--first", "ask before all other questions; else ratings come after them")] = False,
    study: Study = None,
) -> Reply:
    """Draws pairs of each relation at random, from all of its groups that some system satisfies or violates, and asks
    people to rate their texts, or whether the relation holds there. Drawing more later keeps what was drawn.
    """
    from audit.judging.validity import draw_validity
    from audit.sampling.validity import ValidityRequest

    request = ValidityRequest(per_relation, tuple(relations), annotators, seed, first, ask)
    drawn = draw_validity(open_database(db), request, study)
    pairs, added = (sum(getattr(part, name) for part in drawn) for name in ("pairs", "added"))
    lines = [f"{counted(pairs, 'pair')} of {counted(len(drawn), 'relation')} drawn ({added:,} new)."]
    lines += [
        f"Study {part.study}, {part.relation}: all {counted(part.pairs, 'pair')} that there are, not {per_relation:,}."
        for part in drawn
        if part.pairs < per_relation
    ]
    if none := [name for name in relations if name not in {part.relation for part in drawn}]:
        lines.append(f"Nothing to draw of {', '.join(none)}: no checked group with a follow-up.")
    lines.append(f"Next: audit app --db {db}, or audit validity export texts.csv --db {db}")
    document = {"pairs": pairs, "added": added, "without_pairs": none, "relations": [asdict(part) for part in drawn]}
    return Reply(document, lines)


@command("validity end", JUDGE, "ask for no more ratings", "audit validity end --db mine.db")
def end(db: Database = DATABASE, study: Study = None) -> Reply:
    """Takes the texts that wait for ratings out of the queue. Ratings stay; drawing again goes on."""
    from audit.judging.validity import end_validity

    ended = end_validity(open_database(db), study)
    said = "1 study" if ended == 1 else f"{ended:,} studies"
    return Reply(
        {"ended": ended},
        [f"Nobody is asked for ratings of {said} any more." if ended else "No study asks for ratings."],
    )


@command(
    "validity export",
    JUDGE,
    "write the drawn texts for whoever rates them elsewhere",
    "audit validity export texts.csv --db mine.db",
)
def export(
    file: Annotated[str, new_place("FILE", "the CSV to write")],
    db: Database = DATABASE,
) -> Reply:
    """Writes a CSV with the columns id, text, language, and two empty ones for ratings: each text once, in random
    order, without its relation and without saying whether it is an original.
    """
    from audit.judging.validity import write_texts

    texts = write_texts(open_database(db), file)
    return Reply(
        {"texts": texts, "file": str(file)},
        [
            f"{counted(texts, 'text')} written to {file}.",
            f"Next: audit validity import {file} --annotator NAME --db {db}",
        ],
    )


@command(
    "validity import",
    JUDGE,
    "ratings from a file, of a person or a model",
    "audit validity import texts.csv --annotator carla",
    "audit validity import rated.csv --annotator reader-1 --model",
)
def import_ratings(
    file: Annotated[str, place("FILE", "the CSV with the columns id, plausibility and grammaticality")],
    annotator: Annotated[str, text("who gave the ratings", "NAME")],
    db: Database = DATABASE,
    model: Annotated[bool, flag("--model", "a model gave them, no person: kept apart and said in reports")] = False,
) -> Reply:
    """Brings ratings that were given elsewhere, from 1 to 5 or unsure; an empty field is none. The same file again adds
    nothing; another rating of the same text supersedes the one before.
    """
    from audit.judging.validity import import_ratings, read_ratings_given

    imported = import_ratings(open_database(db), read_ratings_given(file), annotator, model=model)
    kind = "model" if model else "person"
    lines = [
        f"{counted(imported.ratings, 'rating')} of {counted(imported.texts, 'text')} by {annotator} (a {kind}): "
        f"{imported.added:,} new, {imported.changed:,} changed, {imported.known:,} known before.",
    ]
    if imported.empty:
        lines.append(f"{imported.empty:,} fields are empty.")
    lines.append(f"Next: audit validity report --db {db}")
    return Reply(asdict(imported), lines)


@command(
    "validity report",
    JUDGE,
    "how plausible and grammatical follow-ups are, by relation",
    "audit validity report --db mine.db",
    "audit validity report --by models --json",
)
def report(
    db: Database = DATABASE,
    by: Annotated[
        Literal["people", "models", "all"] | None,
        chosen("whose ratings count (default: people's, or models' where no person has rated)"),
    ] = None,
    study: Study = None,
) -> Reply:
    """Mean ratings of originals and follow-ups by relation, the difference and the share of valid follow-ups with 95 %
    intervals, what violations are worth, and how far raters agree (docs/reference/validity.md).
    """
    from audit.reports.tables import printed
    from audit.reports.validity_study import validity_report, validity_sections

    return Reply(validity_report(open_database(db), study, by), printed(validity_sections))
