"""Version 6 to 7: the validity study, in which people rate how plausible and grammatical texts are."""

from sqlalchemy import BigInteger, Boolean, Column, DateTime, ForeignKey, Integer, SmallInteger

from audit.store.migrations.steps import add_table

revision = "7"
down_revision = "6"


def upgrade() -> None:
    """Make the tables."""
    add_table(
        "validity_study",
        Column("study_id", Integer, ForeignKey("study.id"), primary_key=True),
        Column("seed", Integer, nullable=False),
        Column("annotators", Integer, nullable=False),
        Column("first", Boolean, nullable=False),
        Column("drawn_at", DateTime(timezone=True), nullable=False),
        Column("ended_at", DateTime(timezone=True)),
    )
    add_table(
        "validity_draw",
        Column("study_id", Integer, ForeignKey("study.id"), primary_key=True),
        Column("relation_id", Integer, ForeignKey("relation.id"), primary_key=True),
        Column("rank", Integer, primary_key=True, autoincrement=False),
        Column("group_id", BigInteger, nullable=False),
        Column("step", SmallInteger, nullable=False),
    )
