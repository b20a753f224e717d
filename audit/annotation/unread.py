"""Questions that wait in languages which too few people read: for managers, who add accounts."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import NamedTuple

from sqlalchemy import ColumnElement, Connection, Engine, and_, func, select

from audit.annotation.accounts import ROLES, require_manager
from audit.annotation.answers import is_vote
from audit.store import pieces, table_of, tables


@dataclass(frozen=True)
class Unread:
    """Questions that need the same languages, and that will not get all their answers from the accounts there are."""

    languages: tuple[str, ...]
    """Codes of all that must be read: of a translation the text's, then the one it was translated into."""
    questions: int
    wanted: int
    """How many people each question wants."""
    readers: int
    """Annotators (enabled accounts) who read all of the languages."""
    others: int
    """Adjudicators and managers who do. They may judge, too, but have other work."""


class _Account(NamedTuple):
    id: int
    role: str
    languages: frozenset[str]
    """Empty: all."""

    def reads(self, languages: Sequence[str]) -> bool:
        return not self.languages or self.languages.issuperset(languages)


def unread_questions(engine: Engine, by: int | None = None) -> list[Unread]:
    """As `unread`, for a manager (`by`, an account id; else NotAllowed) or whoever has the database itself (None)."""
    with engine.connect() as connection:
        require_manager(connection, by)
        return unread(connection)


def unread(connection: Connection) -> list[Unread]:
    """Open questions that no annotator reads, and those that want more people than read them; most questions first.

    Where there are no annotators the others are counted in their place. Where nobody has an account there is nothing
    to say: then all questions wait for accounts.
    """
    accounts = _accounts(connection)
    if not accounts:
        return []
    annotators = any(one.role == "annotator" for one in accounts)
    found = []
    for languages, wanted, number, which in _waiting(connection):
        able = [one for one in accounts if one.reads(languages)]
        readers = sum(one.role == "annotator" for one in able)
        if able and (readers or not annotators):
            number = _short(connection, which, wanted, [one.id for one in able]) if len(able) < wanted else 0
        if number:
            found.append(Unread(languages, number, wanted, readers, len(able) - readers))
    return sorted(_together(found), key=lambda one: (-one.questions, one.languages, one.wanted))


def _together(found: Iterable[Unread]) -> list[Unread]:
    """Questions about groups and about outputs in the same languages are told as one."""
    numbers: Counter[Unread] = Counter()
    for one in found:
        numbers[replace(one, questions=0)] += one.questions
    return [replace(one, questions=number) for one, number in numbers.items()]


def _accounts(connection: Connection) -> list[_Account]:
    table = table_of(tables.Annotator)
    query = select(table.c.id, table.c.role, table.c.languages).where(
        table.c.role.in_(ROLES), table.c.disabled.is_(False)
    )
    return [
        _Account(int(id), str(role), frozenset(filter(None, languages.split(","))))
        for id, role, languages in connection.execute(query)
    ]


def _waiting(connection: Connection) -> Iterator[tuple[tuple[str, ...], int, int, ColumnElement[bool]]]:
    """Open questions by the languages that they need and the people that they want: how many, and a condition on the
    tables question and input that only these meet.

    Those about texts and outputs are counted by the database: there are many. Of one about a group every member that is
    shown is read.
    """
    question, given, member = table_of(tables.Question), table_of(tables.Input), table_of(tables.Member)
    is_open = and_(question.c.filled.is_(False), question.c.priority.is_not(None))
    own = and_(is_open, question.c.kind != "group")
    query = (
        select(given.c.languages, question.c.annotators, func.count())
        .join(question, question.c.input_id == given.c.id)
        .where(own)
        .group_by(given.c.languages, question.c.annotators)
    )
    for joined, wanted, number in connection.execute(query).all():
        which = and_(own, given.c.languages == joined, question.c.annotators == wanted)
        yield _codes([joined]), int(wanted), int(number), which
    shown = (
        select(question.c.id, question.c.annotators, given.c.languages)
        .join(member, member.c.group_id == question.c.group_id)
        .join(given, given.c.id == member.c.input_id)
        .where(is_open, question.c.kind == "group", member.c.role != "probe")
        .order_by(question.c.id, member.c.step)
    )
    alike: dict[tuple[tuple[str, ...], int], list[int]] = {}
    for (id, wanted), rows in groupby(connection.execute(shown).all(), key=lambda row: (row[0], row[1])):
        alike.setdefault((_codes(row[2] for row in rows), int(wanted)), []).append(int(id))
    for (languages, wanted), ids in alike.items():
        for piece in pieces(ids):
            yield languages, wanted, len(piece), question.c.id.in_(piece)


def _codes(joined: Iterable[str]) -> tuple[str, ...]:
    """Each code once, in the order in which they come."""
    return tuple(dict.fromkeys(",".join(joined).split(",")))


def _short(connection: Connection, which: ColumnElement[bool], wanted: int, able: Sequence[int]) -> int:
    """How many of these questions want more answers than these accounts can add to those of others."""
    question, given, vote = table_of(tables.Question), table_of(tables.Input), table_of(tables.Judgement).alias("vote")
    by_others = (
        select(func.count())
        .where(vote.c.question_id == question.c.id, is_vote(vote), vote.c.annotator_id.not_in(able))
        .correlate(question)
        .scalar_subquery()
    )
    query = (
        select(func.count())
        .select_from(question.join(given, given.c.id == question.c.input_id))
        .where(which, by_others < wanted - len(able))
    )
    return int(connection.execute(query).scalar_one())
