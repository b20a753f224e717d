"""Routes for annotators: the next question, own answers and what becomes of them; and the training round."""

from typing import Annotated

from fastapi import APIRouter, Path, Query

from audit.annotation.accounts import own_account
from audit.annotation.own_answers import LONGEST, MOST, OwnFilter, own_answers
from audit.annotation.queue import Shown, next_question, queue_of
from audit.annotation.words import words_of
from audit.api.models import (
    Answering,
    Changed,
    Changing,
    FeedbackAnswer,
    Flagging,
    Left,
    Me,
    Next,
    OwnAnswerEntry,
    OwnAnswers,
    QuestionAnswer,
    Returned,
    Stored,
    TokenAnswer,
    Training,
    TrainingAnswer,
    Undoing,
)
from audit.api.service import Annotating, Visit
from audit.judging.deferral import flag, flag_answer, skip, unflag
from audit.judging.judgements import change, judge, undo
from audit.judging.training import judging_mode, train
from audit.store import reading

router = APIRouter(tags=["judging"])
Id = Annotated[int, Path(ge=1, le=(1 << 31) - 1, description="The number of a question.")]


def as_answer(visit: Visit, shown: Shown) -> QuestionAnswer:
    """A question in the language of the request, and in the database's own words."""
    with reading(visit.engine) as connection:
        words = words_of(connection)
    return QuestionAnswer.of(shown, words, visit.language)


@router.get("/me", tags=["account"])
def me(visit: Annotating) -> Me:
    """Whose token this is."""
    account = own_account(visit.engine, visit.id)
    own = TokenAnswer(name="", role=visit.bearer.role, expires_at=visit.bearer.expires_at)
    return Me(name=account.name, role=visit.bearer.role, languages=list(account.languages), token=own)


@router.get("/queue")
def queue(visit: Annotating) -> Left:
    """How much is left for this account."""
    left = queue_of(visit.engine, visit.id)
    return Left(
        today=left.mine_today, judged=left.mine, left=left.left_for_me, in_other_languages=left.in_other_languages
    )


@router.post("/questions/next")
def take_next(visit: Annotating) -> Next:
    """The next question, held for this account for 15 minutes. Asked again, the same one comes until it is answered,
    skipped or flagged."""
    shown = next_question(visit.engine, visit.id)
    if shown is None:
        return Next(question=None, training=judging_mode(visit.engine, visit.id).training is not None)
    return Next(question=as_answer(visit, shown), training=False)


@router.post("/questions/{id:int}/judgement", status_code=201)
def give_answer(visit: Annotating, id: Id, body: Answering) -> Stored:
    """Answer the question that this account holds. The answer is stored when the response is there. Sent again, as the
    last answer of this account, it is stored once, and the same number comes back."""
    stored = judge(
        visit.engine,
        visit.id,
        id,
        body.answer,
        shown_at=body.shown_at,
        comment=body.comment,
        client=visit.client,
        repeatable=True,
    )
    return Stored(id=stored)


@router.post("/undo")
def take_back(visit: Annotating, body: Undoing | None = None) -> Returned:
    """Take the last answer back; its question is held again. At most ten times in a row. Whoever may send this twice
    says which answer is meant."""
    only = body.judgement if body else None
    return Returned(question_id=undo(visit.engine, visit.id, client=visit.client, only=only))


@router.put("/questions/{id:int}/judgement")
def change_answer(visit: Annotating, id: Id, body: Changing) -> Changed:
    """Change an own answer to a question while it is open; the history keeps both. Says what it was before."""
    before = change(
        visit.engine,
        visit.id,
        id,
        body.answer,
        shown_at=body.shown_at,
        comment=body.comment,
        client=visit.client,
    )
    return Changed(answer=before.answer, comment=before.comment)


@router.get("/answers")
def list_own_answers(
    visit: Annotating,
    search: Annotated[str, Query(max_length=LONGEST, description="In the texts, the output and the comment.")] = "",
    task: Annotated[str | None, Query(description="The name of a task.")] = None,
    answer: Annotated[str | None, Query(description="A label, or `unsure`.")] = None,
    flagged: Annotated[bool, Query(description="With a flag that waits only.")] = False,
    changeable: Annotated[bool, Query(description="Those only that can be changed.")] = False,
    before: Annotated[int | None, Query(ge=1, le=(1 << 31) - 1, description="`next` of the page before.")] = None,
    limit: Annotated[int, Query(ge=1, le=MOST)] = 20,
) -> OwnAnswers:
    """This account's own answers, each question once; not the question that it holds."""
    wanted = OwnFilter(search, task, answer, flagged, changeable)
    page = own_answers(visit.engine, visit.id, wanted, before, limit)
    entries = [
        OwnAnswerEntry(
            texts=list(entry.texts),
            languages=list(entry.languages),
            **{
                name: getattr(entry, name)
                for name in ("question_id", "task", "kind", "answer", "comment", "decided_at", "flagged", "closed")
            },
        )
        for entry in page.answers
    ]
    return OwnAnswers(answers=entries, next=page.next)


@router.post("/answers/{id:int}/flag", status_code=204)
def flag_own_answer(visit: Annotating, id: Id, body: Flagging) -> None:
    """Send a question that this account has answered to the adjudicators, with a comment; the answer still counts."""
    flag_answer(visit.engine, visit.id, id, body.comment)


@router.post("/questions/{id:int}/skip", status_code=204)
def put_off(visit: Annotating, id: Id) -> None:
    """Put the question off that this account holds: it comes again when nothing else is left, or tomorrow."""
    skip(visit.engine, visit.id, id)


@router.post("/questions/{id:int}/flag", status_code=204)
def send_to_adjudicators(visit: Annotating, id: Id, body: Flagging) -> None:
    """Send the question that this account holds to the adjudicators, with a comment."""
    flag(visit.engine, visit.id, id, body.comment)


@router.post("/unflag")
def take_flag_back(visit: Annotating) -> Returned:
    """Take the last flag back, where nobody has replied and this account has judged nothing since."""
    return Returned(question_id=unflag(visit.engine, visit.id))


@router.get("/training")
def training(visit: Annotating) -> TrainingAnswer:
    """Where this account stands in the training round."""
    state = judging_mode(visit.engine, visit.id).training
    if state is None:
        return TrainingAnswer(question=None)
    return TrainingAnswer(
        question=as_answer(visit, state.shown),
        attempt=state.attempt,
        answered=state.answered,
        questions=state.questions,
        mark=state.mark,
    )


@router.post("/training/{id:int}")
def answer_in_training(visit: Annotating, id: Id, body: Training) -> FeedbackAnswer:
    """Answer the question of the training round, and learn what is right."""
    said = train(visit.engine, visit.id, id, body.answer, shown_at=body.shown_at)
    return FeedbackAnswer(
        right=said.right,
        allowed=list(said.allowed),
        explanation=said.explanation,
        finished=said.finished is not None,
    )
