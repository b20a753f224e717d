"""Tables for those who lead a study: its plan, settings of judging, known answers, causes, work in hand, the log."""

from datetime import datetime
from typing import Any

from sqlalchemy import BigInteger, Column, Index, UniqueConstraint
from sqlmodel import Field, SQLModel

from audit.store.columns import json_column, moment


class Setting(SQLModel, table=True):
    """How judging goes in this database, by name (`audit.annotation.settings`). Each change is in `log`."""

    name: str = Field(primary_key=True)
    value: Any = json_column()


class Known(SQLModel, table=True):
    """A question whose answer is known before: asked in `training` with feedback, or hidden in the queue (`gold`)."""

    __table_args__ = (Index("ix_known_purpose", "purpose"),)
    question_id: int = Field(primary_key=True, foreign_key="question.id")
    purpose: str
    allowed: list[str] = json_column()
    explanation: str = ""
    """What people read after they answered in training."""
    annotator_id: int | None = Field(default=None, foreign_key="annotator.id")
    """Who put it there; null: whoever has the database itself."""
    at: datetime = moment()


class Cause(SQLModel, table=True):
    """Why a satisfaction is false: a word of a list (`audit.annotation.causes`). Append-only; the last one counts."""

    __table_args__ = (Index("ix_cause_group", "group_id", "system_id"),)
    id: int | None = Field(default=None, primary_key=True)
    group_id: int = Field(sa_column=Column(BigInteger, nullable=False))
    system_id: int = Field(foreign_key="system.id")
    annotator_id: int = Field(foreign_key="annotator.id")
    code: str
    comment: str | None = None
    at: datetime = moment()


class Log(SQLModel, table=True):
    """What was done that changes how numbers come about, or shows what is hidden otherwise. Append-only.

    `detail` holds numbers and words of lists, never a person's name or text.
    """

    id: int | None = Field(default=None, primary_key=True)
    annotator_id: int | None = Field(default=None, foreign_key="annotator.id")
    """Who did it; null: whoever has the database itself."""
    action: str
    question_id: int | None = Field(default=None, foreign_key="question.id")
    detail: dict[str, Any] = json_column(default_factory=dict)
    at: datetime = moment()


class Plan(SQLModel, table=True):
    """A version of a study's plan: corpus, systems, relations, sample, judging. Append-only.

    Freezing adds a version with the same content; versions after it are changes to a frozen plan.
    """

    __table_args__ = (UniqueConstraint("name", "version"),)
    id: int | None = Field(default=None, primary_key=True)
    name: str
    version: int
    content: dict[str, Any] = json_column()
    frozen: bool = False
    annotator_id: int | None = Field(default=None, foreign_key="annotator.id")
    at: datetime = moment()


class Job(SQLModel, table=True):
    """Work that the app began and that goes on without it: a run of metamorphic testing."""

    id: int | None = Field(default=None, primary_key=True)
    plan: str
    """Name of the plan that it carries out."""
    state: str
    """waiting, running, stopping (asked to, but still there), done, failed or stopped."""
    annotator_id: int | None = Field(default=None, foreign_key="annotator.id")
    host: str = ""
    pid: int | None = None
    step: str = ""
    done: int = 0
    total: int = 0
    message: str | None = None
    log: str | None = None
    """The end of what its process printed, without passwords."""
    started_at: datetime = moment()
    seen_at: datetime = moment()
    """The last sign of life."""
    ended_at: datetime | None = moment(nullable=True)


class ChunkLease(SQLModel, table=True):
    """A chunk of a run that a process works at, until it is through or the lease expires. Not a part of the history."""

    __tablename__ = "chunk_lease"
    study_id: int = Field(primary_key=True, foreign_key="study.id")
    chunk: int = Field(primary_key=True)
    owner: str
    """Who holds it, as `host:pid:number`: several runs of one process are several owners."""
    until: datetime = moment()
    """Afterwards anybody may take it."""
