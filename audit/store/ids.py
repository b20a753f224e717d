"""Numbers computed from keys, so that writers need not ask the database for them."""

from audit.errors import AuditError

_BITS = 10
LIMIT = 1 << _BITS


def group_id(source_id: int, relation_id: int, system_id: int | None) -> int:
    """The id of a group: its source, relation and system (0 for every system) side by side in 63 bits.

    Groups of neighbouring sources get neighbouring ids, and planning a group again finds the row that is there.
    Raises AuditError past 1,023 relations or systems in one database.

    >>> group_id(3, 2, None) == (3 << 20) + (2 << 10)
    True
    """
    if relation_id >= LIMIT or (system_id or 0) >= LIMIT:
        raise AuditError(f"a database holds at most {LIMIT - 1} relations and systems; begin another with --db")
    return (source_id << 2 * _BITS) | (relation_id << _BITS) | (system_id or 0)


def group_ids(least: int, most: int) -> tuple[int, int]:
    """The least and the greatest id that a group of the sources from `least` to `most` can have, for SQL's BETWEEN.

    Between them lie groups of every source in between, of other studies, too.

    >>> first, last = group_ids(3, 4)
    >>> first <= group_id(3, 1, None) < group_id(4, 1023, 1023) == last < group_id(5, 1, None)
    True
    """
    return int(least) * LIMIT**2, (int(most) + 1) * LIMIT**2 - 1
