"""Version 7 to 8: tokens, secrets whose bearer may do one thing, such as asking the API or making an account."""

from sqlalchemy import Column, DateTime, ForeignKey, Integer, LargeBinary, String

from audit.store.migrations.steps import add_index, add_table

revision = "8"
down_revision = "7"


def upgrade() -> None:
    """Make the table."""
    add_table(
        "token",
        Column("key", LargeBinary(32), primary_key=True),
        Column("purpose", String, nullable=False),
        Column("annotator_id", Integer, ForeignKey("annotator.id")),
        Column("name", String, nullable=False),
        Column("role", String),
        Column("languages", String),
        Column("code", String),
        Column("uses_left", Integer),
        Column("created_at", DateTime(timezone=True), nullable=False),
        Column("seen_at", DateTime(timezone=True)),
        Column("expires_at", DateTime(timezone=True)),
        Column("ended_at", DateTime(timezone=True)),
    )
    add_index("ix_token_annotator", "token", ["annotator_id"])
