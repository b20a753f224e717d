"""Routes for adjudicators: disputes, flagged questions, and spot checks; groups with what is known of them.

What people said is shown of a question that waits for a decision only: whoever makes a spot check may not have seen it.
"""

from collections.abc import Collection
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query

from audit.annotation.queue import show
from audit.api.judging import Id, as_answer
from audit.api.models import Check, Checking, Dispute, GroupAnswer, GroupPage, Ids, OpinionAnswer, SendingBack, Settling
from audit.api.models import Stored as StoredId
from audit.api.problems import Problem
from audit.api.service import Adjudicating, Visit
from audit.false_satisfaction.browse import STATES, GroupFilter, browse, detail
from audit.judging.adjudications import (
    adjudicate,
    change_adjudication,
    check,
    checks_left,
    disputes,
    next_check,
    opinions,
)
from audit.judging.deferral import flagged_ids, send_back
from audit.messages import message
from audit.store import reading
from audit.user_models import Allowed

router = APIRouter(tags=["adjudicating"])
Number = Annotated[int | None, Query(ge=1, le=(1 << 31) - 1)]


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


@router.get("/checks/next")
def next_spot_check(visit: Adjudicating) -> Check:
    """A question on which people agree, as they saw it: what they answered is not shown."""
    shown = next_check(visit.engine, visit.id)
    left = checks_left(visit.engine, visit.id)
    return Check(question=None if shown is None else as_answer(visit, shown), left=left)


@router.post("/checks/{id:int}", status_code=204)
def make_spot_check(visit: Adjudicating, id: Id, body: Checking) -> None:
    """Answer a spot check. It counts at once."""
    check(visit.engine, visit.id, id, body.allowed, body.remark)


@router.get("/groups")
def list_groups(
    visit: Adjudicating,
    study: Number = None,
    relation: Number = None,
    system: Number = None,
    state: Annotated[str | None, Query(json_schema_extra={"enum": list(STATES)})] = None,
    after: Annotated[
        str | None,
        Query(pattern=r"^[0-9]{1,18}-[0-9]{1,9}$", description="`next` of the page before."),
        Allowed(lambda: message("api.next_of_page")),
    ] = None,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
) -> GroupPage:
    """Groups and what is known of each: satisfied ones that were drawn are true, false or waiting; others violated,
    inapplicable or undrawn. `study`, `relation` and `system` are numbers."""
    group_id, system_id = (after or "0-0").split("-")
    cursor = (int(group_id), int(system_id)) if after else None
    page = browse(visit.engine, visit.id, GroupFilter(study, relation, system, state), cursor, limit)
    lines = [
        GroupAnswer(
            group=line.group_id,
            system_number=line.system_id,
            **{name: getattr(line, name) for name in ("corpus", "relation", "system", "row", "state", "text")},
        )
        for line in page.lines
    ]
    return GroupPage(groups=lines, next="-".join(map(str, page.next)) if page.next else None)


@router.get("/groups/{group:int}/{system:int}")
def read_group(
    visit: Adjudicating,
    group: Annotated[int, Path(ge=-(1 << 63), lt=1 << 63)],
    system: Id,
) -> dict[str, Any]:
    """One group of one system in full: texts, outputs, answers and where each comes from."""
    found = detail(visit.engine, visit.id, group, system)
    names = ("corpus", "task", "relation", "system", "version", "row", "state", "value", "reason", "holds")
    parts = [
        {
            "role": part.role,
            "texts": list(part.input.texts),
            "languages": list(part.input.languages),
            "output": None if part.output is None else part.output.text or part.output.label,
            "score": None if part.output is None else part.output.score,
            "allowed": list(part.allowed),
            "origin": part.origin or None,
            "wrong": part.wrong,
        }
        for part in found.parts
    ]
    return {name: getattr(found, name) for name in names} | {"parts": parts}


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
