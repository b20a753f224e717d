"""Answers that cannot all be true if a relation carries truth: the source's and a follow-up's.

Where a relation carries an answer ("positive with positive sentences added stays positive") and people answered about
the follow-up too, the two must fit. Where they do not, one of the answers is wrong, or the relation does not carry
truth there: a carry error, whose rate audits of follow-ups measure (`audit.statistics.carry_error`).
"""

from collections.abc import Iterable
from dataclasses import dataclass

from sqlalchemy import Connection, Engine, select

from audit.annotation.accounts import require_manager
from audit.annotation.deferral import is_flagged
from audit.annotation.questions import Asked, question_ids
from audit.false_satisfaction.settling import (
    Known,
    Whose,
    carried_to,
    drawn_groups,
    known_answers,
    source_of,
)
from audit.store import pieces, table_of, tables

Pair = tuple[str, bool, Asked, Asked]
"""Relation, whether it carries every answer, and what is asked of source and follow-up."""


@dataclass(frozen=True)
class Side:
    """A question of a contradiction with its answer."""

    question: int
    texts: tuple[str, ...]
    languages: tuple[str, ...]
    output: str | None
    """The output that was judged with the texts; None where the answer is about the texts alone."""
    answer: tuple[str, ...]
    origin: str
    """adjudicated, people or gold."""
    waits: bool
    """Whether it is flagged, and an adjudicator has not replied."""


@dataclass(frozen=True)
class Contradiction:
    """Two answers that do not fit, and the relation by which they should."""

    task: str
    relation: str
    preserves_truth: bool
    """Whether the relation carries every answer, or some only."""
    source: Side
    follow_up: Side
    carried: tuple[str, ...]
    """What the source's answer allows for the follow-up."""
    groups: int
    """Drawn (group, system) pairs that have both."""


def contradictions(engine: Engine, whose: Whose = "people", *, by: int | None = None) -> list[Contradiction]:
    """All contradictions in the drawn groups, those of the most groups first, then by relation and question.

    `whose` answers are compared: those of people and adjudicators, of gold, or both; of several about one text the one
    that counts. For a manager (`by`, an account id; else NotAllowed) or for whoever has the database itself (None).
    """
    with engine.connect() as connection:
        require_manager(connection, by)
        known = known_answers(connection, whose)
        found: dict[Pair, tuple[frozenset[str], set[tuple[int, int]]]] = {}
        for drawn in drawn_groups(connection, None, _both_answered(connection, known)):
            source = source_of(drawn)
            about = known.get(drawn.asked(source)) if source else None
            if source is None or about is None:
                continue
            for step in drawn.steps:
                direct = known.get(drawn.asked(step))
                carried = carried_to(drawn, step, source, about)
                if direct is None or carried is None or direct.allowed & carried.allowed:
                    continue
                key = (drawn.relation, drawn.carry.preserves_truth, drawn.asked(source), drawn.asked(step))
                found.setdefault(key, (carried.allowed, set()))[1].add((drawn.group_id, drawn.system_id))
        return _listed(connection, found, known)


def _both_answered(connection: Connection, known: Iterable[Asked]) -> set[int]:
    """Drawn groups of which the source and another member have an answer; the others need not be read."""
    member, draw = table_of(tables.Member), table_of(tables.Draw)
    drawn = select(draw.c.group_id)
    sources: set[int] = set()
    others: set[int] = set()
    for piece in pieces(sorted({given for _, given, _ in known})):
        query = select(member.c.group_id, member.c.role).where(
            member.c.input_id.in_(piece), member.c.role != "probe", member.c.group_id.in_(drawn)
        )
        for id, role in connection.execute(query):
            (sources if role == "source" else others).add(int(id))
    return sources & others


def _listed(
    connection: Connection,
    found: dict[Pair, tuple[frozenset[str], set[tuple[int, int]]]],
    known: dict[Asked, Known],
) -> list[Contradiction]:
    question, given = table_of(tables.Question), table_of(tables.Input)
    inputs = {asked[1] for _, _, *both in found for asked in both}
    texts: dict[int, tuple[tuple[str, ...], tuple[str, ...]]] = {}
    ids: dict[Asked, int] = {}
    waiting: set[int] = set()
    for piece in pieces(sorted(inputs)):
        query = select(given.c.id, given.c.texts, given.c.languages).where(given.c.id.in_(piece))
        for id, some, languages in connection.execute(query):
            texts[int(id)] = (tuple(some), tuple(languages.split(",")))
        flagged = select(question.c.id).where(question.c.input_id.in_(piece), is_flagged())
        waiting |= {int(row[0]) for row in connection.execute(flagged)}
    for task in {source[0] for _, _, source, _ in found}:
        ids |= question_ids(connection, task, inputs)

    def side(asked: Asked) -> Side:
        answer, id = known[asked], ids[asked]
        return Side(id, *texts[asked[1]], asked[2], tuple(sorted(answer.allowed)), answer.origin, id in waiting)

    listed = [
        Contradiction(
            source[0],
            relation,
            preserves_truth,
            side(source),
            side(other),
            tuple(sorted(carried)),
            len(groups),
        )
        for (relation, preserves_truth, source, other), (carried, groups) in found.items()
    ]
    return sorted(listed, key=lambda one: (-one.groups, one.relation, one.source.question, one.follow_up.question))
