"""Protocols: whether people answer each alone, or see what was answered before; and which sources get which.

In the study that named false satisfactions one student identified them, the other three validated what that one had
found, and a co-author inspected the results (Jiang, Chen and Wang 2022, section 6.1.2): the protocol `shown`. With
`random` half of the sources are judged so and half blind, at random, so that the difference between the two halves is
what seeing an earlier answer does.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from sqlalchemy import Connection, select

from audit.errors import UnknownName
from audit.keys import uniform
from audit.store import pieces, table_of, tables
from audit.store.ids import LIMIT

BLIND, SHOWN, RANDOM = "blind", "shown", "random"
PROTOCOLS = (BLIND, SHOWN, RANDOM)
"""What a sample may have; a question has `blind` or `shown`."""


@dataclass(frozen=True)
class Terms:
    """How a sample's questions are answered: by how many people, under which protocol; `seed` is the sample's."""

    annotators: int = 2
    protocol: str = BLIND
    seed: int = 0


def check_protocol(name: str) -> str:
    """The name, if a sample may have this protocol. Raises UnknownName, which lists all."""
    if name not in PROTOCOLS:
        raise UnknownName("protocol", name, list(PROTOCOLS))
    return name


def arm_of(protocol: str, seed: int, row: str) -> str:
    """`blind` or `shown`: how questions of this source (its row in the corpus) are answered in a sample of this seed.

    With `random` a hash decides, which is no part of the random number that draws the source: the same source is in
    the same arm for every relation and system, and drawing more moves nobody to the other one.

    >>> arm_of("random", 0, "1"), arm_of("random", 0, "2"), arm_of("shown", 0, "2")
    ('shown', 'blind', 'shown')
    """
    if protocol != RANDOM:
        return protocol
    return BLIND if uniform("protocol", seed, row) < 0.5 else SHOWN


def terms_of(connection: Connection) -> dict[int, Terms]:
    """The terms of every sample, by its id."""
    table = table_of(tables.Sample)
    query = select(table.c.id, table.c.annotators, table.c.protocol, table.c.seed).order_by(table.c.id)
    return {int(row[0]): Terms(int(row[1]), str(row[2]), int(row[3])) for row in connection.execute(query)}


def arms_of(
    connection: Connection, terms: Mapping[int, Terms], groups: Collection[tuple[int, int]]
) -> dict[tuple[int, int], str]:
    """The arm of each (sample, group): that of the group's source."""
    drawn_at_random = {group // LIMIT**2 for sample, group in groups if terms[sample].protocol == RANDOM}
    source = table_of(tables.Source)
    rows: dict[int, str] = {}
    for piece in pieces(sorted(drawn_at_random)):
        query = select(source.c.id, source.c.row).where(source.c.id.in_(piece))
        rows.update((int(row[0]), str(row[1])) for row in connection.execute(query))
    return {
        (sample, group): arm_of(terms[sample].protocol, terms[sample].seed, rows.get(group // LIMIT**2, ""))
        for sample, group in groups
    }
