"""Version 7 to 8: tokens, secrets whose bearer may do one thing, such as asking the API or making an account; who works
on which studies; the source of each question, around which the queue goes, and with which text a judgement was
compared; details of outputs; how many votes settle a question."""

from typing import Any

from alembic import op
from sqlalchemy import JSON, Column, DateTime, ForeignKey, Integer, LargeBinary, String, text

from audit.store.migrations.steps import add_column, add_index, add_table

revision = "8"
down_revision = "7"


SOURCES = """
UPDATE question SET source_input_id = CASE kind WHEN 'group' THEN input_id ELSE (
    SELECT source.input_id FROM member
    JOIN draw ON draw.group_id = member.group_id
    JOIN member AS source ON source.group_id = member.group_id AND source.role = 'source'
    WHERE member.input_id = question.input_id AND member.role <> 'probe'
    ORDER BY draw.rank, draw.sample_id, draw.group_id LIMIT 1
) END WHERE kind IN ('input', 'pair', 'group')
"""
"""The column as the draws have it; `audit.false_satisfaction.questions` keeps it afterwards."""


ASKED = """
SELECT DISTINCT question.id, sample.study_id FROM question
JOIN member ON member.input_id = question.input_id JOIN draw ON draw.group_id = member.group_id
JOIN sample ON sample.id = draw.sample_id WHERE question.priority IS NOT NULL
UNION SELECT question.id, sample.study_id FROM question JOIN audit_draw ON audit_draw.group_id = question.group_id
JOIN sample ON sample.id = audit_draw.sample_id WHERE question.priority IS NOT NULL
UNION SELECT question.id, validity_draw.study_id FROM question JOIN member ON member.input_id = question.input_id
JOIN validity_draw ON validity_draw.group_id = member.group_id WHERE question.priority IS NOT NULL
ORDER BY 1, 2
"""
"""(open question, study that has drawn what it is about); `audit.false_satisfaction.questions` keeps it afterwards."""


def upgrade() -> None:
    """Make the tables and the columns."""
    add_table(
        "token",
        Column("key", LargeBinary(32), primary_key=True),
        Column("purpose", String, nullable=False),
        Column("annotator_id", Integer, ForeignKey("annotator.id")),
        Column("name", String, nullable=False),
        Column("role", String),
        Column("languages", String),
        Column("studies", String),
        Column("code", String),
        Column("uses_left", Integer),
        Column("created_at", DateTime(timezone=True), nullable=False),
        Column("seen_at", DateTime(timezone=True)),
        Column("expires_at", DateTime(timezone=True)),
        Column("ended_at", DateTime(timezone=True)),
    )
    add_index("ix_token_annotator", "token", ["annotator_id"])
    add_column("judgement", Column("compared", Integer, ForeignKey("judgement.id")))
    add_column("lease", Column("compared", Integer))
    add_column("output", Column("details", JSON))
    add_column("repeat", Column("details", JSON))
    add_column("sample", Column("quorum", String, nullable=False, server_default="majority"))
    if add_column("question", Column("source_input_id", Integer)):
        op.execute(SOURCES)
    add_index("ix_question_block", "question", ["filled", "task", "kind", "priority", text("waits DESC"), "id"])
    add_index("ix_question_source", "question", ["source_input_id", "filled", "priority"])
    add_table(
        "assignment",
        Column("annotator_id", Integer, ForeignKey("annotator.id"), primary_key=True),
        Column("study_id", Integer, ForeignKey("study.id"), primary_key=True),
        sqlite_with_rowid=False,
    )
    if add_column("question", Column("studies", String, nullable=False, server_default="")):
        _note_studies()


def _note_studies() -> None:
    """The new column as the samples have it."""
    studies: dict[int, str] = {}
    for question, study in op.get_bind().execute(text(ASKED)):
        studies[question] = f"{studies.get(question, ',')}{study},"
    rows: list[dict[str, Any]] = [{"question": question, "studies": ids} for question, ids in studies.items()]
    if rows:
        op.get_bind().execute(text("UPDATE question SET studies = :studies WHERE id = :question"), rows)
