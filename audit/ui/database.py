"""The database of this server: one engine for all sessions."""

import os

import streamlit as st
from sqlalchemy import Engine

from audit.store import open_store

VARIABLE = "AUDIT_DB"
DEFAULT = "audit.db"


def where() -> str:
    """Path or URL of the database."""
    return os.environ.get(VARIABLE) or DEFAULT


def engine() -> Engine:
    """The engine of the database. Raises what `audit.store.open_store` raises; a failure is not remembered."""
    return _engine(where())


@st.cache_resource(show_spinner=False)
def _engine(where: str) -> Engine:
    return open_store(where)
