"""What the answers of a judge that is a model say of satisfied groups: which it would call false. Never an answer.

A judge's answers are carried by relations as people's are, with one difference: what is carried goes before a direct
answer. Follow-ups of drawn groups are asked about directly now and then, to audit what relations carry, and those of
other groups are not. Were they used, the same judge would say other things of the groups that people judge than of all
others, and an estimate that corrects the one by the other would be biased.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from sqlalchemy import Connection, select

from audit.errors import AuditError
from audit.false_satisfaction.population import Population
from audit.false_satisfaction.resolution import Drawn, Step, carried_labels, never_carries, satisfied_groups, source_of
from audit.messages import message, with_commas
from audit.store import table_of, tables
from audit.tasks import Task, get_task
from audit.tasks.questions import ABOUT_OUTPUTS, Subject

JUDGE = "judge:"
"""Begins the name of a proxy that is a judge."""
UNKNOWN = 0.5
"""The proxy of a group about which the judge was asked and gave no answer that could be used."""

Opinions = Mapping[Subject, frozenset[str]]
"""What a judge answered, by subject: the label; nothing where it was unsure, refused or could not be read. A subject
that is not there was not asked about."""


@dataclass(frozen=True)
class JudgeRow:
    """A stored judge."""

    id: int
    name: str
    version: str
    settings: str

    def called(self, name: str) -> bool:
        """Whether a name means this judge: its own, `NAME@VERSION`, or `#` and its number.

        >>> JudgeRow(2, "referee", "1", "{}").called("referee@1")
        True
        """
        return name in (self.name, f"{self.name}@{self.version}", f"#{self.id}")


def stored_judges(connection: Connection) -> list[JudgeRow]:
    """All judges, in the order in which they first came."""
    judge = table_of(tables.Judge)
    query = select(judge.c.id, judge.c.name, judge.c.version, judge.c.settings).order_by(judge.c.id)
    return [JudgeRow(*row) for row in connection.execute(query)]


def find_judge(connection: Connection, name: str) -> JudgeRow:
    """The judge of this name, `NAME@VERSION`, or `#` and its number. Raises AuditError for none, or several."""
    judges = stored_judges(connection)
    found = [one for one in judges if one.called(name)]
    if len(found) == 1:
        return found[0]
    if found:
        names = [f"#{one.id} ({one.name}@{one.version})" for one in found]
        raise AuditError(
            f"several judges have the name {name!r}: {with_commas(names)}; name one of these, by its number",
            parameter="proxy",
        )
    names = list(dict.fromkeys(one.name for one in judges)) or [message("list.none")]
    raise AuditError(f"there is no judge {name!r} in this database; there are {with_commas(names)}")


def opinions_of(connection: Connection, judge_id: int, variant: int = 0) -> dict[Subject, frozenset[str]]:
    """What a judge answered about inputs and outputs; of several attempts the last."""
    return {
        (row.task, row.input_id, row.output): frozenset() if row.answer in (None, "unsure") else frozenset({row.answer})
        for row in last_answers(connection, judge_id, variant)
        if row.kind in ABOUT_OUTPUTS
    }


def last_answers(connection: Connection, judge_id: int, variant: int = 0) -> list[Any]:
    """Rows question_id, task, kind, input_id, output, answer, attempt: the last attempt of each question."""
    given, question = table_of(tables.JudgeAnswer), table_of(tables.Question)
    query = (
        select(
            given.c.question_id, question.c.task, question.c.kind, question.c.input_id, question.c.output,
            given.c.answer, given.c.attempt,
        )
        .join(question, question.c.id == given.c.question_id)
        .where(given.c.judge_id == judge_id, given.c.variant == variant)
        .order_by(given.c.question_id, given.c.attempt)
    )  # fmt: skip
    return list({row.question_id: row for row in connection.execute(query)}.values())


@dataclass(frozen=True, slots=True)
class Predicted:
    """What a judge makes of a group: 1 false, 0 true, `UNKNOWN`, or None where it was not asked all that it takes:
    `waits_for` then."""

    value: float | None
    waits_for: tuple[Subject, ...] = ()


def predicted(drawn: Drawn, opinions: Opinions, task: Task | None = None) -> Predicted:
    """The rule of `resolution.settle_group` for a judge's answers: one wrong output makes a group false.

    What it says hangs on the group and on what the judge answered when asked about it, and on nothing else: not on what
    else happens to have been asked. Every direct answer that a group needs is asked for at once.
    """
    task = task or get_task(drawn.task)
    source = source_of(drawn)
    about_source = opinions.get(drawn.subject(source)) if source else None
    waits_for: list[Subject] = []
    value = 0.0
    for step in drawn.steps:
        opinion = _opinion(drawn, step, source, about_source, opinions)
        if isinstance(opinion, tuple):
            waits_for.append(opinion)
        elif not opinion:
            value = max(value, UNKNOWN)
        elif task.is_wrong(step.output, opinion):
            return Predicted(1.0)
    return Predicted(None, tuple(dict.fromkeys(waits_for))) if waits_for else Predicted(value)


def _opinion(
    drawn: Drawn, step: Step, source: Step | None, about_source: frozenset[str] | None, opinions: Opinions
) -> frozenset[str] | Subject:
    """The labels that a judge allows at a step, none where it does not say, or the subject that it is to be asked."""
    subject = drawn.subject(step)
    if source is None or step is source or never_carries(drawn.carry, drawn.task):
        answer = opinions.get(subject)
        return subject if answer is None else answer
    if about_source is None:
        return drawn.subject(source)
    if not about_source:
        return frozenset()
    if drawn.corresponds and (carried := carried_labels(drawn, step, source, about_source)) is not None:
        return carried
    answer = opinions.get(subject)
    return subject if answer is None else answer


def group_opinions(
    connection: Connection, population: Population, relation: int, opinions: Opinions
) -> tuple[np.ndarray, set[Subject]]:
    """What a judge makes of the satisfied groups of a relation, (groups, systems): 1 false, 0 true, `UNKNOWN`, or NaN
    where it was not asked all that it takes; and what it is to be asked."""
    ids, columns = population.group[relation], {system: at for at, system in enumerate(population.systems)}
    values, waits_for = np.full(ids.shape, np.nan), set[Subject]()
    order = [np.argsort(column, kind="stable") for column in ids.T]
    task: Task | None = None
    for drawn in satisfied_groups(connection, population.study, relation):
        at = columns[drawn.system_id]
        row = np.searchsorted(ids[:, at], drawn.group_id, sorter=order[at])
        if row == len(ids) or ids[order[at][row], at] != drawn.group_id:
            continue
        task = task or get_task(drawn.task)
        opinion = predicted(drawn, opinions, task)
        waits_for.update(opinion.waits_for)
        values[order[at][row], at] = np.nan if opinion.value is None else opinion.value
    return values, waits_for
