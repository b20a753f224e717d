"""Version 5 to 6: repeated calls of systems, and models that judge."""

from typing import Any

from sqlalchemy import Column, DateTime, Float, ForeignKey, Integer, SmallInteger, String, UniqueConstraint

from audit.store.migrations.steps import add_table

revision = "6"
down_revision = "5"


def upgrade() -> None:
    """Make the tables."""
    clustered: dict[str, Any] = {"sqlite_with_rowid": False}
    add_table(
        "repeat",
        Column("input_id", Integer, ForeignKey("input.id"), primary_key=True),
        Column("system_id", Integer, ForeignKey("system.id"), primary_key=True),
        Column("number", SmallInteger, primary_key=True, autoincrement=False),
        Column("label", String),
        Column("score", Float),
        Column("text", String),
        Column("error", String),
        **clustered,
    )
    add_table(
        "judge",
        Column("id", Integer, primary_key=True),
        Column("name", String, nullable=False),
        Column("version", String, nullable=False),
        Column("settings", String, nullable=False),
        Column("created_at", DateTime(timezone=True), nullable=False),
        UniqueConstraint("name", "version", "settings"),
    )
    add_table(
        "judge_answer",
        Column("question_id", Integer, ForeignKey("question.id"), primary_key=True),
        Column("judge_id", Integer, ForeignKey("judge.id"), primary_key=True),
        Column("variant", SmallInteger, primary_key=True, autoincrement=False),
        Column("attempt", SmallInteger, primary_key=True, autoincrement=False),
        Column("answer", String),
        Column("error", String),
        Column("text", String),
        Column("decided_at", DateTime(timezone=True), nullable=False),
        **clustered,
    )
