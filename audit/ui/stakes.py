"""The drawn groups with what is observed of their cells, read once for all sessions."""

from typing import Any

import streamlit as st
from sqlalchemy import Engine, func, select

from audit.false_satisfaction.consequences import Stakes, read_stakes
from audit.store import table_of, tables
from audit.ui import database


def state(engine: Engine) -> tuple[Any, ...]:
    """What changes whenever something was run or drawn; cheap, since every click of an adjudicator asks it."""
    draw, ran, verdict, sample = (
        table_of(model) for model in (tables.Draw, tables.Progress, tables.Verdict, tables.Sample)
    )
    queries = [
        *(select(func.count()).select_from(table) for table in (draw, ran)),
        select(func.max(verdict.c.group_id)),
        select(func.max(sample.c.drawn_at)),
    ]
    with engine.connect() as connection:
        return database.where(), *(str(connection.execute(query).scalar()) for query in queries)


def stakes(engine: Engine, account_id: int, now: tuple[Any, ...]) -> Stakes:
    """As `read_stakes`, which also says what it raises; read anew where `state` is another than `now`."""
    return _stakes(engine, account_id, now)


# A resource: shared by all sessions, never copied, and nobody writes to it.
@st.cache_resource(max_entries=2, show_spinner=False)
def _stakes(_engine: Engine, _account_id: int, state: tuple[Any, ...]) -> Stakes:
    return read_stakes(_engine, _account_id)
