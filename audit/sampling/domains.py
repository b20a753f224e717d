"""Domains: which sources a sample is drawn from, when answers can be had for some of them only."""

import numpy as np
from sqlalchemy import ColumnElement, Connection, and_, func, select

from audit.errors import UnknownName
from audit.store import Checked, integers, table_of, tables

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
