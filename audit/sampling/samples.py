"""What is asked of a study's texts: random numbers, how rounds of questions are stored, and how they are answered.

Every source has one permanent random number u, drawn from the study's seed and its row in the corpus. A round asks the
sources with the smallest ones (over what they are worth), one list for all cells, so that samples overlap as much as
they can (Ohlsson, "Coordination of samples using permanent random numbers", Business Survey Methods, 1995), and drawing
more goes on down the same list. What is stored of a source is q, the largest threshold up to which it would have been
asked: it has been asked exactly when u <= q, and q is its inclusion probability (`audit.statistics.rates`).
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from sqlalchemy import BigInteger, ColumnElement, Connection, Subquery, and_, cast, func, or_, select

from audit.relations import Outcome
from audit.sampling.options import MAJORITY, OF_ROUNDS, SampleOptions
from audit.store import insert_new, tables
from audit.store.bulk import LIMIT
from audit.store.core import draw, group, round_table, sample, source, verdict
from audit.store.core import study as study_table

# Rounds and draws as they are stored.


@dataclass(frozen=True)
class StoredRound:
    """A round of a study: its number, the contests that it asks for, and whether what is open was given up."""

    number: int
    contests: tuple[dict[str, Any], ...]
    given_up: bool


def stored_rounds(connection: Connection, study: int) -> list[StoredRound]:
    """Return the rounds of a study, the first first."""
    columns = (round_table.c.number, round_table.c.contests, round_table.c.given_up_at)
    query = select(*columns).where(round_table.c.study_id == study)
    rows = connection.execute(query.order_by(round_table.c.number))
    return [StoredRound(number, tuple(contests), given_up is not None) for number, contests, given_up in rows]


def stored_draws(connection: Connection, study: int) -> pd.DataFrame:
    """Return the draws of a study: round, source_id, relation_id (0: the source itself), rank and q, by rank."""
    columns = ["round", "source_id", "relation_id", "rank", "q"]
    query = select(*(draw.c[name] for name in columns)).where(draw.c.study_id == study)
    return pd.DataFrame(connection.execute(query.order_by(draw.c.rank)).all(), columns=columns)


def store_round(connection: Connection, study: int, contests: Sequence[Mapping[str, Any]], draws: pd.DataFrame) -> int:
    """Store the next round of a study; returns its number. `draws` has the columns source_id, relation_id, q, in the
    order in which they are asked."""
    number = len(stored_rounds(connection, study)) + 1
    last = connection.execute(select(func.max(draw.c.rank)).where(draw.c.study_id == study)).scalar() or 0
    row = {"study_id": study, "number": number, "contests": list(contests), "drawn_at": tables.now()}
    insert_new(connection, tables.Round, [row])
    values = {name: draws[name].to_numpy() for name in ("source_id", "relation_id", "q")}
    size = len(draws)
    columns = {"study_id": [study] * size, "round": [number] * size, "rank": np.arange(size) + last + 1, **values}
    insert_new(connection, tables.Draw, columns)
    return number


def give_up(connection: Connection, study: int) -> int:
    """Let all rounds of a study count with what is open in them; returns for how many that is new."""
    ended = round_table.update().where(round_table.c.study_id == study, round_table.c.given_up_at.is_(None))
    return int(connection.execute(ended.values(given_up_at=tables.now())).rowcount)


def drawn_pairs(carrying: Collection[int]) -> Subquery:
    """Return the satisfied groups of drawn sources: sample_id (their study), relation_id, system_id, rank, group_id.

    A source that is drawn for itself has its groups under the relations that carry (`carrying`, ids); one that is drawn
    under a relation those of that relation. Systems that were run later are in it.
    """
    units = (
        select(draw.c.study_id, draw.c.source_id, draw.c.relation_id, func.min(draw.c.rank).label("rank"))
        .group_by(draw.c.study_id, draw.c.source_id, draw.c.relation_id)
        .subquery("unit")
    )
    first = cast(units.c.source_id, BigInteger) * LIMIT**2  # as ids of groups are
    inside = group.c.id.between(first, first + LIMIT**2 - 1)
    of_unit = or_(
        group.c.relation_id == units.c.relation_id,
        and_(units.c.relation_id == 0, group.c.relation_id.in_(sorted(carrying))),
    )
    return (
        select(
            units.c.study_id.label("sample_id"), group.c.relation_id, verdict.c.system_id, units.c.rank,
            group.c.id.label("group_id"),
        )
        .join(group, and_(inside, of_unit))
        .join(verdict, and_(verdict.c.group_id == group.c.id, verdict.c.outcome == int(Outcome.SATISFIED)))
        .subquery("drawn")
    )  # fmt: skip


# How questions are answered: by how many people, and how many of their votes settle one.


@dataclass(frozen=True)
class Terms:
    """How many people answer each of a sample's questions, the study, and the share of drawn sources whose follow-ups
    are asked about although answers are carried to them."""

    annotators: int
    study: int
    follow_ups: float


def keep_sample(connection: Connection, study: int, options: SampleOptions) -> Terms:
    """Store how a study's questions are answered, and return it. What is asked for once is not taken back: the share of
    follow-ups never shrinks."""
    before = connection.execute(select(sample).where(sample.c.study_id == study)).mappings().first()
    quorum = options.quorum or quorum_of(connection)
    values: dict[str, Any] = {
        "annotators": options.annotators or (before["annotators"] if before else 2),
        "quorum": quorum,
        "follow_ups": max(options.follow_ups or 0.0, before["follow_ups"] if before else 0.0),
        "options": {name: getattr(options, name) for name in OF_ROUNDS},
    }
    insert_new(connection, tables.Sample, [{"study_id": study, "drawn_at": tables.now()} | values])
    connection.execute(sample.update().where(sample.c.study_id == study).values(**values))
    connection.execute(sample.update().values(quorum=quorum))
    return Terms(values["annotators"], study, values["follow_ups"])


def quorum_of(connection: Connection) -> str:
    """The quorum of the samples; `majority` where nothing was drawn yet."""
    return str(connection.execute(select(stored_quorum())).scalar_one())


def stored_quorum() -> ColumnElement[str]:
    """`quorum_of` as a column of a query."""
    return func.coalesce(select(sample.c.quorum).limit(1).scalar_subquery(), MAJORITY)


def terms_of(connection: Connection) -> dict[int, Terms]:
    """The terms of every sample, by its study."""
    rows = connection.execute(select(sample.c.annotators, sample.c.study_id, sample.c.follow_ups))
    return {study: Terms(annotators, study, share) for annotators, study, share in rows}


def has_clear_gold(study: int) -> ColumnElement[bool]:
    """Condition on a source: it is one of this study with gold, and no row of its task gives its text another label."""
    other, of = source.alias(), study_table
    task = select(of.c.task).where(of.c.id == study).scalar_subquery()
    clear = (
        select(other.c.input_id)
        .join(of, of.c.id == other.c.study_id)
        .where(of.c.task == task, other.c.gold.is_not(None))
        .group_by(other.c.input_id)
        .having(func.count(other.c.gold.distinct()) == 1)
    )
    return and_(source.c.study_id == study, source.c.gold.is_not(None), source.c.input_id.in_(clear))
