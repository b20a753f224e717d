"""The drawn groups with what is observed of their cells, read once for all sessions."""

from typing import Any

import streamlit as st
from sqlalchemy import Engine, func, select

from audit.false_satisfaction.consequences import Stakes, read_stakes
from audit.store import table_of, tables
from audit.ui import database


def state(engine: Engine) -> tuple[Any, ...]:
    """What changes whenever something was run or drawn."""
    draw, verdict, sample = (table_of(model) for model in (tables.Draw, tables.Verdict, tables.Sample))
    with engine.connect() as connection:
        drawn, checked = (
            int(connection.execute(select(func.count()).select_from(table)).scalar() or 0) for table in (draw, verdict)
        )
        last = str(connection.execute(select(func.max(sample.c.drawn_at))).scalar())
    return database.where(), drawn, checked, last


def stakes(engine: Engine, account_id: int) -> Stakes:
    """As `read_stakes`, which also says what it raises; read anew after something was run or drawn."""
    return _stakes(engine, account_id, state(engine))


# A resource: shared by all sessions, never copied, and nobody writes to it.
@st.cache_resource(max_entries=2, show_spinner=False)
def _stakes(_engine: Engine, _account_id: int, state: tuple[Any, ...]) -> Stakes:
    return read_stakes(_engine, _account_id)
