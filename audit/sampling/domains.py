"""Domains: which sources a sample is drawn from, when answers can be had for some of them only."""

import numpy as np
from sqlalchemy import Connection, func, select

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
    source, of = table_of(tables.Source), table_of(tables.Study)
    task = select(of.c.task).where(of.c.id == study).scalar_subquery()
    clear = (
        select(source.c.input_id)
        .join(of, of.c.id == source.c.study_id)
        .where(of.c.task == task, source.c.gold.is_not(None))
        .group_by(source.c.input_id)
        .having(func.count(source.c.gold.distinct()) == 1)
    )
    query = select(source.c.id).where(
        source.c.study_id == study, source.c.gold.is_not(None), source.c.input_id.in_(clear)
    )
    return checks.from_sources(np.unique(integers(connection, query)[:, 0]), study)
