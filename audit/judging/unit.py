"""The unit of work: judgements, the answers that follow from them, and the queue, in one transaction or not at all, so
that nobody has to remember to bring the queue up to date."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from typing import Any

from sqlalchemy import Connection, Engine, Row, Select, bindparam, select

from audit.errors import Refused
from audit.judging.accounts import require
from audit.judging.answers import settle
from audit.judging.asides import check_comment
from audit.judging.asking import lock_around, lock_queue, update_queue
from audit.judging.order import FIRST
from audit.judging.words import guideline_in_force
from audit.messages import message
from audit.store import insert_new, pieces, table_of, tables, writing
from audit.store.core import question
from audit.tasks.questions import UNSURE, labels_of

Record = type[tables.Judgement] | type[tables.Adjudication]
"""The tables of what people answer. Their rows are only ever added."""


class Work:
    """What an account (None: whoever has the database itself) does in one transaction, as `unit_of_work` makes it."""

    def __init__(self, connection: Connection, account: Any) -> None:
        self.connection = connection
        self.account = account
        self._holds_all = False
        self._answered: set[int] = set()
        self._everything = False

    def hold(self, question_id: int) -> Row[Any] | None:
        """Keep others from answering this question, and from what could be asked because of its answer, until the end;
        returns its task, kind and study, None: it is not there. Once a unit and first: inputs, questions, leases are
        locked in this order."""
        if not self._holds_all:
            lock_around(self.connection, question_id)
        return self.connection.execute(_question(), {"question": question_id}).first()

    def hold_all(self) -> None:
        """As `hold`, for all questions: where many are answered or drawn. Call it before anything else."""
        lock_queue(self.connection)
        self._holds_all = True

    def add(self, record: Record, rows: Sequence[Mapping[str, Any]]) -> int:
        """Append judgements or adjudications of questions that are held; returns the id of a single one, else 0. Only
        first answers are part of what settles a question; other passes are stored, and nothing follows from them."""
        self._answered |= {int(row["question_id"]) for row in rows if row.get("round", FIRST) == FIRST}
        if len(rows) != 1:
            insert_new(self.connection, record, rows)
            return 0
        key = self.connection.execute(table_of(record).insert(), rows[0]).inserted_primary_key
        return int(key[0]) if key else 0

    def judge(self, question: Any, answer: str, round: int, **columns: Any) -> int:
        """Append this account's judgement of a question (`id`, `task`, `kind`, `study_id`), by the guideline in force;
        returns its id."""
        return self.add(tables.Judgement, [self._now(question) | {"answer": answer, "round": round} | columns])

    def decide(self, question: Any, allowed: Iterable[str], reason: str, code: str | None = None) -> int:
        """As `judge`, for an adjudication; one that allows no label takes back what was decided."""
        decision = {"allowed": sorted(set(allowed)), "reason": reason.strip(), "code": code}
        return self.add(tables.Adjudication, [self._now(question) | decision])

    def _now(self, question: Any) -> dict[str, Any]:
        version = guideline_in_force(self.connection, question.task, question.kind, question.study_id).version
        row = {"question_id": question.id, "annotator_id": self.account.id, "guideline": version}
        return row | {"decided_at": tables.now()}

    def settle_anew(self, question_ids: Iterable[int]) -> None:
        """Rebuild the answers of these questions at the end, whatever is added."""
        self._answered.update(question_ids)

    def ask_anew(self) -> None:
        """Bring the whole queue up to date at the end: what is drawn has changed."""
        self._everything = True

    def finish(self) -> None:
        """Write what follows from what was added until now: done at the end, or before for whoever wants to read it."""
        changed = settle(self.connection, sorted(self._answered)) if self._answered else set()
        if changed or self._everything:
            update_queue(self.connection, None if self._everything else changed)
        self._answered, self._everything = set(), False


def check_answer(question: Row[Any] | None, question_id: int, answer: str, comment: str | None) -> Row[Any]:
    """Return the question, which is as `Work.hold` returned it, if it can be answered so. Raises Refused."""
    if question is None:
        raise Refused(message("refused.no_question", id=question_id))
    labels = labels_of(question.task, question.kind)
    if answer not in labels and answer != UNSURE:
        raise Refused(message("wrong.choice", what="answer", value=answer[:40], allowed=[*labels, UNSURE]))
    check_comment(comment)
    return question


@contextmanager
def unit_of_work(engine: Engine, account_id: int | None, *roles: str, owner: bool = False) -> Iterator[Work]:
    """A transaction of this account, which must have one of the roles (else NotAllowed), or with `owner` of whoever has
    the database itself (None); committed with what follows from it. Not to be nested: a thread would wait for
    itself."""
    with writing(engine) as connection:
        trusted = owner and account_id is None
        work = Work(connection, None if trusted else require(connection, account_id or 0, *roles))
        yield work
        work.finish()


def rebuild(engine: Engine) -> int:
    """Write anew what follows from the history, answers and queues (`audit doctor --rebuild`); returns how many
    questions were gone through."""
    with engine.connect() as connection:
        ids = [int(row[0]) for row in connection.execute(select(question.c.id).order_by(question.c.id))]
    for piece in pieces(ids):
        # Batches, so that annotators wait for none of them long. Each leaves the queue as its answers want it.
        with unit_of_work(engine, None, owner=True) as work:
            work.hold_all()
            work.settle_anew(piece)
    with unit_of_work(engine, None, owner=True) as work:
        work.hold_all()
        work.ask_anew()
    return len(ids)


@cache
def _question() -> Select[Any]:
    """What the question is about, locked."""
    columns = (question.c.id, question.c.task, question.c.kind, question.c.study_id)
    return select(*columns).where(question.c.id == bindparam("question")).with_for_update(key_share=True)
