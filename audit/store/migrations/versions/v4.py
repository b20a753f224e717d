"""Version 3 to 4: compact tables of what a run makes, and leases of its chunks.

On SQLite a table whose rows are found by its primary key is kept in that key's index, and a group's id is its row
number: 0.6 of the space. Outputs are keyed by input first, so that no second index finds them by it.
"""

from typing import Any

from alembic import op
from sqlalchemy import BigInteger, Column, DateTime, Float, ForeignKey, Integer, SmallInteger, String

from audit.store.migrations.steps import add_index, add_table, drop_index, on_sqlite, rebuild_table
from audit.store.migrations.versions import v2, v3

revision = "4"
down_revision = "3"


def upgrade() -> None:
    """Make the tables anew on SQLite, and change their keys and indexes on PostgreSQL."""
    # Databases of version 3 from other checkouts lack what version 3 gained on the way.
    v2.upgrade()
    v3.upgrade()
    drop_index("ix_output_input", "output")
    drop_index("ix_group_source", "group")
    if on_sqlite():
        _compact()
    else:
        op.drop_constraint("output_pkey", "output", type_="primary")
        op.create_primary_key("output_pkey", "output", ["input_id", "system_id", "attempt"])
    add_table(
        "chunk_lease",
        Column("study_id", Integer, ForeignKey("study.id"), primary_key=True),
        Column("chunk", Integer, primary_key=True),
        Column("owner", String, nullable=False),
        Column("until", DateTime(timezone=True), nullable=False),
    )


def _compact() -> None:
    clustered: dict[str, Any] = {"sqlite_with_rowid": False}
    rebuild_table(
        "output",
        Column("input_id", Integer, ForeignKey("input.id"), primary_key=True),
        Column("system_id", Integer, ForeignKey("system.id"), primary_key=True),
        Column("attempt", SmallInteger, primary_key=True),
        Column("label", String),
        Column("score", Float),
        Column("text", String),
        Column("error", String),
        **clustered,
    )
    rebuild_table(
        "group",
        Column("id", Integer, primary_key=True, autoincrement=False),
        Column("study_id", Integer, ForeignKey("study.id"), nullable=False),
        Column("relation_id", Integer, ForeignKey("relation.id"), nullable=False),
        Column("source_id", Integer, ForeignKey("source.id"), nullable=False),
        Column("system_id", Integer, ForeignKey("system.id")),
    )
    rebuild_table(
        "member",
        Column("group_id", BigInteger, primary_key=True, autoincrement=False),
        Column("step", SmallInteger, primary_key=True, autoincrement=False),
        Column("input_id", Integer, ForeignKey("input.id"), nullable=False),
        Column("role", String, nullable=False),
        **clustered,
    )
    add_index("ix_member_input", "member", ["input_id"])
    rebuild_table(
        "verdict",
        Column("group_id", BigInteger, primary_key=True, autoincrement=False),
        Column("system_id", Integer, ForeignKey("system.id"), primary_key=True),
        Column("outcome", SmallInteger, nullable=False),
        Column("value", Float),
        Column("reason", String),
        **clustered,
    )
    rebuild_table(
        "progress",
        Column("study_id", Integer, ForeignKey("study.id"), primary_key=True),
        Column("relation_id", Integer, ForeignKey("relation.id"), primary_key=True),
        Column("system_id", Integer, ForeignKey("system.id"), primary_key=True),
        Column("chunk", Integer, primary_key=True),
        **clustered,
    )
    rebuild_table(
        "draw",
        Column("sample_id", Integer, ForeignKey("sample.id"), primary_key=True),
        Column("relation_id", Integer, ForeignKey("relation.id"), primary_key=True),
        Column("system_id", Integer, ForeignKey("system.id"), primary_key=True),
        Column("rank", Integer, primary_key=True, autoincrement=False),
        Column("group_id", BigInteger, nullable=False),
        Column("pi", Float, nullable=False),
        **clustered,
    )
    add_index("ix_draw_group", "draw", ["group_id"])
