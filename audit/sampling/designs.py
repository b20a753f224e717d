"""Designs: in which order the satisfied groups of a cell are drawn.

Every source has one permanent random number u, drawn from the seed and its row in the corpus, the same in every cell; a
cell's sample is its satisfied groups whose sources have the smallest ones, so that samples overlap as much as they can
(Ohlsson, "Coordination of samples using permanent random numbers", Business Survey Methods, 1995). As there is one
group per (relation, source, system), each cell's sample is a simple random sample without replacement, and drawing more
goes on down the same list.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from sqlalchemy import ColumnElement, Connection, and_, func, select

from audit.errors import UnknownName
from audit.keys import uniforms
from audit.store import Checked, integers, table_of, tables
from audit.tasks import get_task

SHARED = "shared"
"""The design that lists the satisfied groups of each cell."""
INFORMATIVE = "informative"
"""The design that lists the groups of a relation, not of a cell (`audit.sampling.draw`), for comparisons."""
DESIGNS = (SHARED, INFORMATIVE)
CHANGED = "changed"
"""The design `informative` for two versions of a system alone: `audit compare` counts its sample, no report does."""
COMPARING = (INFORMATIVE, CHANGED)
"""The designs whose samples compare systems, and tell no rate of a cell."""


def check_design(name: str) -> str:
    """The name, if a sample may have this design. Raises UnknownName, which lists all."""
    if name not in DESIGNS:
        raise UnknownName("design", name, list(DESIGNS))
    return name


class Numbers:
    """Random numbers of a study's sources under a seed, and the sources in their order.

    `rows` has the row in the corpus of each source (its id). Sources with equal numbers are in the order of their rows.

    >>> numbers = Numbers({1: "a", 2: "b"}, seed=0)
    >>> numbers.of(np.array([2, 1])).round(3).tolist()
    [0.487, 0.761]
    """

    def __init__(self, rows: Mapping[int, str], seed: int):
        self._ids = np.array(sorted(rows), np.int64)
        self._rows = [rows[id] for id in self._ids.tolist()]
        self._numbers = np.fromiter(uniforms(self._rows, seed), float, len(self._rows))

    @classmethod
    def of_study(cls, connection: Connection, study: int, seed: int) -> "Numbers":
        """The numbers of the sources of a study."""
        source = table_of(tables.Source)
        rows = connection.execute(select(source.c.id, source.c.row).where(source.c.study_id == study))
        return cls(dict(rows.all()), seed)

    def of(self, sources: np.ndarray) -> np.ndarray:
        """The number of each of these sources (ids)."""
        return np.asarray(self._numbers[np.searchsorted(self._ids, sources)])

    def order(self, sources: np.ndarray) -> np.ndarray:
        """Places of these sources (ids) in the order of their numbers.

        >>> Numbers({1: "a", 2: "b"}, seed=0).order(np.array([1, 2]))
        array([1, 0])
        """
        places = np.searchsorted(self._ids, sources)
        numbers = self._numbers[places]
        order = np.argsort(numbers, kind="stable")
        if (np.diff(numbers[order]) == 0).any():
            rows = [self._rows[place] for place in places.tolist()]
            order = np.array(sorted(range(len(rows)), key=lambda at: (numbers[at], rows[at])), np.int64)
        return order


# Domains: which sources a sample is drawn from, when answers can be had for some of them only.

ALL, GOLD = "all", "gold"
DOMAINS = (ALL, GOLD)


def check_domain(name: str) -> str:
    """The name, if a sample may be drawn from this domain. Raises UnknownName, which lists all."""
    if name not in DOMAINS:
        raise UnknownName("domain", name, list(DOMAINS))
    return name


def within(connection: Connection, checks: Checked, study: int, domain: str) -> Checked:
    """The checks of a study whose sources are in the domain; those of other studies stay.

    Of `gold` are the sources whose text has one gold label, and not several in different rows. Which texts have a label
    was settled before anybody judged, so a random sample of them is one of the domain, and says nothing of the rest.
    """
    if domain == ALL:
        return checks
    query = select(table_of(tables.Source).c.id).where(has_clear_gold(study))
    return checks.from_sources(np.unique(integers(connection, query)[:, 0]), study)


def has_clear_gold(study: int) -> ColumnElement[bool]:
    """Condition on a source: it is one of this study with gold, and no row of its task gives its text another label."""
    source, other, of = table_of(tables.Source), table_of(tables.Source).alias(), table_of(tables.Study)
    task = select(of.c.task).where(of.c.id == study).scalar_subquery()
    clear = (
        select(other.c.input_id)
        .join(of, of.c.id == other.c.study_id)
        .where(of.c.task == task, other.c.gold.is_not(None))
        .group_by(other.c.input_id)
        .having(func.count(other.c.gold.distinct()) == 1)
    )
    return and_(source.c.study_id == study, source.c.gold.is_not(None), source.c.input_id.in_(clear))


def has_gold_in_part(connection: Connection, study: int) -> bool:
    """Whether gold answers what is asked about some sources of a study, and not about others."""
    source, of = table_of(tables.Source), table_of(tables.Study)
    task = connection.execute(select(of.c.task).where(of.c.id == study)).scalar_one()
    if get_task(task).question_kind == "pair":
        return False
    sources = select(func.count()).select_from(source)
    clear = int(connection.execute(sources.where(has_clear_gold(study))).scalar_one())
    return 0 < clear < int(connection.execute(sources.where(source.c.study_id == study)).scalar_one())


# How questions are answered: by how many people, and how many of their votes settle one.


@dataclass(frozen=True)
class Terms:
    """How many people answer each of a sample's questions, and the id of its study."""

    annotators: int = 2
    study: int = 0


MAJORITY, UNANIMOUS = QUORUMS = ("majority", "all")
"""How many of a question's votes settle it: more than half of them, or all. Questions are shared by the studies of a
database, so all its samples have the same quorum."""


def check_quorum(name: str) -> str:
    """The name, if a sample may have this quorum. Raises UnknownName, which lists all."""
    if name not in QUORUMS:
        raise UnknownName("quorum", name, list(QUORUMS))
    return name


def quorum_of(connection: Connection) -> str:
    """The quorum of the samples; `majority` where nothing was drawn yet."""
    return str(connection.execute(select(stored_quorum())).scalar_one())


def stored_quorum() -> ColumnElement[str]:
    """`quorum_of` as a column of a query."""
    sample = table_of(tables.Sample)
    return func.coalesce(select(sample.c.quorum).limit(1).scalar_subquery(), MAJORITY)


def terms_of(connection: Connection) -> dict[int, Terms]:
    """The terms of every sample, by its id."""
    table = table_of(tables.Sample)
    columns = (table.c.annotators, table.c.study_id)
    return {id: Terms(*terms) for id, *terms in connection.execute(select(table.c.id, *columns).order_by(table.c.id))}
