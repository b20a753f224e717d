"""Disputes with their questions and votes, as tests read them."""

from typing import NamedTuple

from sqlalchemy import Engine

from audit.judging.accounts import ROLES
from audit.judging.adjudications import disputes
from audit.judging.answers import Vote, counting_votes
from audit.judging.queue import Shown, show


class Disputed(NamedTuple):
    """A question whose votes do not agree, with the votes."""

    shown: Shown
    votes: list[Vote]


def disputed(engine: Engine, account_id: int) -> list[Disputed]:
    """Questions whose votes do not agree and that nobody has adjudicated, most wanted first."""
    ids = disputes(engine, account_id)
    with engine.connect() as connection:
        votes = [vote for vote in counting_votes(connection, ids) if vote.role in ROLES]
        return [Disputed(show(connection, id), [vote for vote in votes if vote.question_id == id]) for id in ids]
