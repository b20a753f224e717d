"""Version 1 to 2: audits, spot checks, logins, what people put aside; a study says whether it was imported."""

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    DateTime,
    Float,
    ForeignKey,
    Integer,
    LargeBinary,
    SmallInteger,
    String,
    UniqueConstraint,
    text,
)

from audit.store.migrations.steps import add_index, add_table, columns_of, on_sqlite, rebuild_table

revision = "2"
down_revision = None


def upgrade() -> None:
    """Add what version 1 lacks; where nothing is missing, nothing is done."""
    if "imported" not in columns_of("study"):
        _imported()
    add_table(
        "audit",
        Column("sample_id", Integer, ForeignKey("sample.id"), primary_key=True, autoincrement=False),
        Column("groups", Integer, nullable=False),
        Column("follow_ups", Float, nullable=False),
        Column("answers", Float, nullable=False),
    )
    add_table(
        "audit_draw",
        Column("sample_id", Integer, ForeignKey("sample.id"), primary_key=True),
        Column("relation_id", Integer, ForeignKey("relation.id"), primary_key=True),
        Column("system_id", Integer, ForeignKey("system.id"), primary_key=True),
        Column("outcome", SmallInteger, primary_key=True, autoincrement=False),
        Column("rank", Integer, primary_key=True, autoincrement=False),
        Column("group_id", BigInteger, nullable=False),
    )
    add_index("ix_audit_draw_group", "audit_draw", ["group_id"])
    add_table(
        "spot_check",
        Column("question_id", Integer, ForeignKey("question.id"), primary_key=True, autoincrement=False),
        Column("priority", Integer, nullable=False),
    )
    add_table(
        "login",
        Column("key", LargeBinary(32), primary_key=True),
        Column("annotator_id", Integer, ForeignKey("annotator.id"), nullable=False),
        Column("created_at", DateTime(timezone=True), nullable=False),
        Column("seen_at", DateTime(timezone=True), nullable=False),
        Column("expires_at", DateTime(timezone=True), nullable=False),
        Column("ended_at", DateTime(timezone=True)),
    )
    add_index("ix_login_annotator", "login", ["annotator_id"])
    add_table(
        "aside",
        Column("id", Integer, primary_key=True),
        Column("question_id", Integer, ForeignKey("question.id"), nullable=False),
        Column("annotator_id", Integer, ForeignKey("annotator.id"), nullable=False),
        Column("kind", String, nullable=False),
        Column("comment", String),
        Column("at", DateTime(timezone=True), nullable=False),
    )
    add_index("ix_aside_question", "aside", ["question_id"])
    add_index("ix_aside_annotator", "aside", ["annotator_id"])


def _imported() -> None:
    """The first databases had a study's options as JSON; nothing but `imported` is read of them since."""
    from alembic import op

    if not on_sqlite():
        op.add_column("study", Column("imported", Boolean))
        op.execute("UPDATE study SET imported = COALESCE((options ->> 'imported')::boolean, false)")
        op.alter_column("study", "imported", nullable=False)
        op.drop_column("study", "options")
        return
    rebuild_table(
        "study",
        Column("id", Integer, primary_key=True),
        Column("key", LargeBinary(16), nullable=False),
        Column("task", String, nullable=False),
        Column("corpus", String, nullable=False),
        Column("fingerprint", String, nullable=False),
        Column("unit", String, nullable=False),
        Column("has_gold", Boolean, nullable=False),
        Column("seed", Integer, nullable=False),
        Column("limit", Integer),
        Column("imported", Boolean, nullable=False),
        Column("chunk", Integer, nullable=False),
        Column("created_at", DateTime(timezone=True), nullable=False),
        UniqueConstraint("key"),
        read={"imported": text("COALESCE(json_extract(options, '$.imported'), 0)")},
    )
