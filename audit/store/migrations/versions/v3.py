"""Version 2 to 3: protocols, hidden questions, causes, plans, settings, jobs, the log; the queue has an index."""

from alembic import op
from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    Column,
    DateTime,
    ForeignKey,
    Integer,
    String,
    UniqueConstraint,
    false,
    text,
)

from audit.store.migrations.steps import add_column, add_index, add_table, drop_index

revision = "3"
down_revision = "2"

FILLED = """
UPDATE question SET filled = true WHERE annotators <= (
    SELECT count(*) FROM judgement JOIN annotator ON annotator.id = judgement.annotator_id
    WHERE judgement.question_id = question.id AND judgement.round = 1 AND judgement.answer <> 'withdrawn'
    AND annotator.role <> 'gold'
    AND NOT EXISTS (SELECT 1 FROM judgement AS later WHERE later.supersedes = judgement.id)
)
"""
"""The column as the judgements have it; `audit.annotation.answers.settle` keeps it afterwards."""


def upgrade() -> None:
    """Add what version 2 lacks; where nothing is missing, nothing is done."""
    _tables()
    add_column("sample", Column("protocol", String, nullable=False, server_default="blind"))
    add_column("question", Column("protocol", String, nullable=False, server_default="blind"))
    add_column("question", Column("waits", Integer, nullable=False, server_default="0"))
    add_column("judgement", Column("saw", Integer, ForeignKey("judgement.id")))
    add_column("judgement", Column("client", String))
    add_column("judgement", Column("withdrawn_by", Integer, ForeignKey("annotator.id")))
    add_column("adjudication", Column("code", String))
    add_column("adjudication", Column("guideline", Integer))
    add_column("lease", Column("round", Integer, nullable=False, server_default="1"))
    add_column("lease", Column("saw", Integer))
    if add_column("question", Column("filled", Boolean, nullable=False, server_default=false())):
        op.execute(FILLED)
    add_index("ix_question_next", "question", ["filled", "priority", text("waits DESC"), "kind", "id"])
    add_index("ix_lease_annotator", "lease", ["annotator_id"])
    drop_index("ix_question_queue", "question")


def _tables() -> None:
    add_table("setting", Column("name", String, primary_key=True), Column("value", JSON, nullable=False))
    add_table(
        "known",
        Column("question_id", Integer, ForeignKey("question.id"), primary_key=True, autoincrement=False),
        Column("purpose", String, nullable=False),
        Column("allowed", JSON, nullable=False),
        Column("explanation", String, nullable=False),
        Column("annotator_id", Integer, ForeignKey("annotator.id")),
        Column("at", DateTime(timezone=True), nullable=False),
    )
    add_index("ix_known_purpose", "known", ["purpose"])
    add_table(
        "cause",
        Column("id", Integer, primary_key=True),
        Column("group_id", BigInteger, nullable=False),
        Column("system_id", Integer, ForeignKey("system.id"), nullable=False),
        Column("annotator_id", Integer, ForeignKey("annotator.id"), nullable=False),
        Column("code", String, nullable=False),
        Column("comment", String),
        Column("at", DateTime(timezone=True), nullable=False),
    )
    add_index("ix_cause_group", "cause", ["group_id", "system_id"])
    add_table(
        "log",
        Column("id", Integer, primary_key=True),
        Column("annotator_id", Integer, ForeignKey("annotator.id")),
        Column("action", String, nullable=False),
        Column("question_id", Integer, ForeignKey("question.id")),
        Column("detail", JSON, nullable=False),
        Column("at", DateTime(timezone=True), nullable=False),
    )
    add_table(
        "plan",
        Column("id", Integer, primary_key=True),
        Column("name", String, nullable=False),
        Column("version", Integer, nullable=False),
        Column("content", JSON, nullable=False),
        Column("frozen", Boolean, nullable=False),
        Column("annotator_id", Integer, ForeignKey("annotator.id")),
        Column("at", DateTime(timezone=True), nullable=False),
        UniqueConstraint("name", "version"),
    )
    add_table(
        "job",
        Column("id", Integer, primary_key=True),
        Column("plan", String, nullable=False),
        Column("state", String, nullable=False),
        Column("annotator_id", Integer, ForeignKey("annotator.id")),
        Column("host", String, nullable=False),
        Column("pid", Integer),
        Column("step", String, nullable=False),
        Column("done", Integer, nullable=False),
        Column("total", Integer, nullable=False),
        Column("message", String),
        Column("log", String),
        Column("started_at", DateTime(timezone=True), nullable=False),
        Column("seen_at", DateTime(timezone=True), nullable=False),
        Column("ended_at", DateTime(timezone=True)),
    )
    add_column("job", Column("log", String))
