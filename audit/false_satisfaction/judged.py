"""What the answers of a judge that is a model say of satisfied groups: which it would call false. Never an answer.

A judge's answers are carried by relations as people's are, with one difference: what is carried goes before a direct
answer. Follow-ups of drawn groups are asked about directly now and then, to audit what relations carry, and those of
other groups are not. Were they used, the same judge would say other things of the groups that people judge than of all
others, and an estimate that corrects the one by the other would be biased.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from sqlalchemy import Connection, select

from audit.errors import AuditError
from audit.false_satisfaction.population import Population
from audit.false_satisfaction.resolution import Drawn, Step, carried_labels, never_carries, satisfied_groups, wrong_step
from audit.messages import message, with_commas
from audit.store.core import judge, judge_answer, question
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
    query = select(judge.c.id, judge.c.name, judge.c.version, judge.c.settings).order_by(judge.c.id)
    return [JudgeRow(*row) for row in connection.execute(query)]


def find_judge(connection: Connection, name: str) -> JudgeRow:
    """The judge of this name, `NAME@VERSION`, or `#` and its number. Raises AuditError for none, or several."""
    judges = stored_judges(connection)
    named = [judge_row for judge_row in judges if judge_row.called(name)]
    if len(named) == 1:
        return named[0]
    if named:
        names = with_commas(f"#{judge_row.id} ({judge_row.name}@{judge_row.version})" for judge_row in named)
        problem = f"several judges have the name {name!r}: {names}; name one of these, by its number"
        raise AuditError(problem, parameter="proxy")
    names = with_commas(dict.fromkeys(judge_row.name for judge_row in judges)) or message("list.none")
    raise AuditError(f"there is no judge {name!r} in this database; there are {names}")


def opinions_of(connection: Connection, judge_id: int, variant: int = 0) -> dict[Subject, frozenset[str]]:
    """What a judge answered about inputs and outputs; of several attempts the last."""
    return {
        (row.task, row.input_id, row.output): frozenset() if row.answer in (None, "unsure") else frozenset({row.answer})
        for row in last_answers(connection, judge_id, variant)
        if row.kind in ABOUT_OUTPUTS
    }


def last_answers(connection: Connection, judge_id: int, variant: int = 0) -> list[Any]:
    """Rows question_id, task, kind, input_id, output, answer, attempt: the last attempt of each question."""
    answers, about = judge_answer.c, (question.c.task, question.c.kind, question.c.input_id, question.c.output)
    query = (
        select(answers.question_id, *about, answers.answer, answers.attempt)
        .join(question, question.c.id == answers.question_id)
        .where(answers.judge_id == judge_id, answers.variant == variant)
        .order_by(answers.question_id, answers.attempt)
    )
    return list({row.question_id: row for row in connection.execute(query)}.values())


def predicted(drawn: Drawn, opinions: Opinions) -> tuple[float, tuple[Subject, ...]]:
    """Return what a judge's answers make of a group: 1 false, 0 true, `UNKNOWN`, or NaN where it was not asked all that
    it takes; and what it is to be asked then, at once.

    This hangs on the group and on what the judge answered when asked about it, and on nothing else: not on what else
    happens to have been asked.
    """
    answers = [_opinion(drawn, step, opinions) for step in drawn.steps]
    if wrong_step(drawn, [labels for labels, _ in answers]) is not None:
        return 1.0, ()
    if waits_for := dict.fromkeys(subject for labels, subject in answers if labels is None):
        return math.nan, tuple(waits_for)
    return (0.0 if all(labels for labels, _ in answers) else UNKNOWN), ()


def _opinion(drawn: Drawn, step: Step, opinions: Opinions) -> tuple[frozenset[str] | None, Subject]:
    """What a judge says of a step, and what it answers for that: what is carried goes before a direct answer."""
    source = drawn.source
    if source is not None and step is not source and not never_carries(drawn.carry, drawn.task):
        about_source = opinions.get(drawn.subject(source))
        if not about_source:  # the source is asked about first, and what is unsure of it is unsure of all
            return about_source, drawn.subject(source)
        carried = carried_labels(drawn, step, source, about_source) if drawn.corresponds else None
        if carried is not None:
            return carried, drawn.subject(step)
    return opinions.get(drawn.subject(step)), drawn.subject(step)


def group_opinions(
    connection: Connection, population: Population, relation: int, opinions: Opinions
) -> tuple[np.ndarray, set[Subject]]:
    """What a judge makes of the satisfied groups of a relation, (groups, systems): 1 false, 0 true, `UNKNOWN`, or NaN
    where it was not asked all that it takes; and what it is to be asked."""
    ids = population.group[relation]
    place = {
        (id, system): (row, column)
        for column, system in enumerate(population.systems)
        for row, id in enumerate(ids[:, column].tolist())
    }
    values, waits_for = np.full(ids.shape, np.nan), set[Subject]()
    for drawn in satisfied_groups(connection, population.study, relation):
        if (at := place.get((drawn.group_id, drawn.system_id))) is not None:
            values[at], waits = predicted(drawn, opinions)
            waits_for.update(waits)
    return values, waits_for
