"""Routes for adjudicators: disputes, flagged questions, and spot checks; groups with what is known of them.

What people said is shown of a question that waits for a decision only: whoever makes a spot check may not have seen it.
"""

from collections.abc import Collection

from fastapi import APIRouter

from audit.annotation.queue import show
from audit.api.judging import Id, as_answer
from audit.api.models import Dispute, Ids, OpinionAnswer, SendingBack, Settling
from audit.api.models import Stored as StoredId
from audit.api.problems import Problem
from audit.api.service import Adjudicating, Visit
from audit.judging.adjudications import (
    adjudicate,
    change_adjudication,
    disputes,
    opinions,
)
from audit.judging.deferral import flagged_ids, send_back
from audit.messages import message
from audit.store import reading

router = APIRouter(tags=["adjudicating"])


@router.get("/disputes")
def list_disputes(visit: Adjudicating) -> Ids:
    """Questions on which people disagree."""
    return Ids(questions=disputes(visit.engine, visit.id))


@router.get("/disputes/{id:int}")
def read_dispute(visit: Adjudicating, id: Id) -> Dispute:
    """A question on which people disagree, with what they said, without names."""
    return _with_opinions(visit, id, disputes(visit.engine, visit.id))


@router.get("/flagged")
def list_flagged(visit: Adjudicating) -> Ids:
    """Questions that annotators sent to the adjudicators."""
    return Ids(questions=flagged_ids(visit.engine, visit.id))


@router.get("/flagged/{id:int}")
def read_flagged(visit: Adjudicating, id: Id) -> Dispute:
    """A question that annotators sent, with what they wrote, without names."""
    return _with_opinions(visit, id, flagged_ids(visit.engine, visit.id))


@router.post("/questions/{id:int}/adjudication", status_code=201)
def settle(visit: Adjudicating, id: Id, body: Settling) -> StoredId:
    """Decide a question: its right labels, and why. One that is decided is refused, unless `instead_of` names one of
    this account's own decisions, which is changed; the same decision sent again is stored once."""
    if body.instead_of is not None:
        changed = change_adjudication(visit.engine, visit.id, body.instead_of, body.allowed, body.reason, body.code, id)
        return StoredId(id=changed)
    return StoredId(id=adjudicate(visit.engine, visit.id, id, body.allowed, body.reason, body.code, only_open=True))


@router.post("/flagged/{id:int}/back", status_code=204)
def give_back(visit: Adjudicating, id: Id, body: SendingBack) -> None:
    """Send a flagged question back to those who flagged it, with a remark that they read."""
    send_back(visit.engine, visit.id, id, body.remark)


def _with_opinions(visit: Visit, id: int, waiting: Collection[int]) -> Dispute:
    if id not in waiting:
        raise Problem(404, message("api.not_asked", id=id))
    with reading(visit.engine) as connection:
        shown = show(connection, id)
    said = [
        OpinionAnswer(
            number=opinion.number,
            answer=opinion.answer,
            comment=opinion.comment,
            flags=list(opinion.flags),
        )
        for opinion in opinions(visit.engine, visit.id, id)
    ]
    return Dispute(question=as_answer(visit, shown), opinions=said)
