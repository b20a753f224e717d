"""Kinds of columns that the tables share."""

from datetime import UTC, datetime
from typing import Any

from sqlalchemy import JSON, Column, DateTime, LargeBinary
from sqlmodel import Field


def now() -> datetime:
    """The present moment in UTC."""
    return datetime.now(UTC)


def json_column(**options: Any) -> Any:
    """A list or an object."""
    return Field(sa_column=Column(JSON, nullable=False), **options)


def moment(nullable: bool = False) -> Any:
    """A time in UTC."""
    return Field(default=None if nullable else ..., sa_column=Column(DateTime(timezone=True), nullable=nullable))


def content_key() -> Any:
    """16 bytes from `audit.keys.digest`, each content once."""
    return Field(sa_column=Column(LargeBinary(16), nullable=False, unique=True))
