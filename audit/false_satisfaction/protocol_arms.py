"""What came of sources whose questions were answered blind, and of those whose later annotators saw earlier answers."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from sqlalchemy import Connection, Engine, and_, exists, literal, or_, select

from audit.annotation.accounts import ROLES
from audit.annotation.answers import PEOPLE, Quorum
from audit.annotation.causes import INSPECTION
from audit.false_satisfaction.cells import Counted
from audit.false_satisfaction.groups import random_beginnings, source_of_group
from audit.false_satisfaction.history import counting_judgements
from audit.false_satisfaction.resolution import State, Whose
from audit.relations import COUNTED
from audit.sampling.designs import BLIND, INFORMATIVE, RANDOM, SHOWN, Terms, arms_of, quorum_of
from audit.store import pieces, rows_among, snapshot, table_of, tables


@dataclass(frozen=True)
class Answering:
    """How the questions of one protocol were answered, those about inputs or outputs that have all their votes."""

    questions: int
    agreement: float | None
    """Mean over the questions of the share of pairs of votes that agree; None without questions."""
    disputed: int
    validations: int
    """Votes whose annotators saw an earlier one."""
    unchanged: int
    """Of these, how many repeat the last vote that they saw."""
    inspected: int
    inspected_changed: int
    """Inspections after which the answer is another one than people agreed on."""


@dataclass(frozen=True)
class Arms:
    """Judged groups by the arm of their source, and how the questions of each protocol were answered.

    `groups` has a row for each group of a cell's settled beginning in which people answered something: columns study,
    source (its id), protocol (`blind` or `shown`: the arm), false (0 or 1) and crossed (whether some answer came under
    the other protocol). `randomised`: the arms were drawn, so that nothing but the protocol divides them.
    """

    groups: pd.DataFrame
    answering: Mapping[str, Answering]
    randomised: bool


def count_arms(database: Engine | Connection, counted: Counted, whose: Whose = "both") -> Arms | None:
    """The arms of the samples of `counted`; None where all have one, and for gold, whose answers nobody saw.

    Where some sample has the protocol `random`, only such samples count: others would bring in what else divides them.
    """
    samples = [sample for sample in counted.samples if sample["design"] != INFORMATIVE]
    random = [sample for sample in samples if sample["protocol"] == RANDOM]
    used = random or samples
    if whose == "gold" or not (random or len({sample["protocol"] for sample in samples}) > 1):
        return None
    terms = {sample["id"]: Terms(0, sample["protocol"], sample["seed"]) for sample in used}
    sample_of = {sample["study_id"]: sample["id"] for sample in used}
    rows = random_beginnings(counted)
    rows = rows[rows["study_id"].isin(sample_of)]
    false = (rows["state"] == State.FALSE).astype(int)
    groups = pd.DataFrame({"study": rows["study_id"], "source": source_of_group(rows["group_id"]), "false": false})
    with snapshot(database) as connection:
        drawn = list(zip(rows["study_id"].map(sample_of).tolist(), rows["group_id"].tolist(), strict=True))
        arms = arms_of(connection, terms, set(drawn))
        answered = _answered_by_people(connection, {group for _, group in drawn})
        groups["protocol"] = [arms[pair] for pair in drawn]
        kinds = [
            answered.get((group, 0), frozenset()) | answered.get((group, system), frozenset())
            for (_, group), system in zip(drawn, rows["system_id"].tolist(), strict=True)
        ]
        groups["crossed"] = [bool(kind - {arms[pair]}) for kind, pair in zip(kinds, drawn, strict=True)]
        groups = groups[np.array([bool(kind) for kind in kinds], bool)].reset_index(drop=True)
        questions = _questions(connection, list(terms))
        answering = {protocol: _answering(connection, questions[protocol]) for protocol in (BLIND, SHOWN)}
    return Arms(groups[["study", "source", "protocol", "false", "crossed"]], answering, bool(random))


def _answered_by_people(connection: Connection, groups: Collection[int]) -> dict[tuple[int, int], frozenset[str]]:
    """The protocols of the questions that people answered, by group and system.

    The system is 0 of answers about inputs, which are answers for every system; answers about an output are for those
    that gave it.
    """
    group, member, relation = table_of(tables.Group), table_of(tables.Member), table_of(tables.Relation)
    question, answer = table_of(tables.Question), table_of(tables.Answer)
    output = table_of(tables.Output)
    joined = (
        member.join(group, group.c.id == member.c.group_id)
        .join(relation, relation.c.id == group.c.relation_id)
        .join(question, and_(question.c.input_id == member.c.input_id, question.c.task == relation.c.task))
        .join(answer, answer.c.question_id == question.c.id)
    )
    same_output = and_(
        output.c.input_id == question.c.input_id, output.c.text == question.c.output, output.c.error.is_(None)
    )
    queries = (
        select(member.c.group_id, literal(0), question.c.protocol)
        .select_from(joined)
        .where(question.c.kind == "input"),
        select(member.c.group_id, output.c.system_id, question.c.protocol)
        .select_from(joined.join(output, same_output))
        .where(question.c.kind == "pair"),
    )
    protocols: dict[tuple[int, int], frozenset[str]] = {}
    for query in queries:
        by_people = query.where(member.c.role.in_(COUNTED), answer.c.origin.in_(PEOPLE)).distinct()
        for id, system, protocol in rows_among(connection, by_people, member.c.group_id, sorted(groups)):
            protocols[id, system] = protocols.get((id, system), frozenset()) | {protocol}
    return protocols


def _questions(connection: Connection, samples: Collection[int]) -> dict[str, dict[int, int]]:
    """The filled questions about members of these samples' groups, with their numbers of votes, by protocol."""
    draw, member, relation = table_of(tables.Draw), table_of(tables.Member), table_of(tables.Relation)
    question, output = table_of(tables.Question), table_of(tables.Output)
    gave_output = exists().where(
        output.c.system_id == draw.c.system_id,
        output.c.input_id == question.c.input_id,
        output.c.text == question.c.output,
        output.c.error.is_(None),
    )
    asks = or_(question.c.kind == "input", and_(question.c.kind == "pair", gave_output))
    query = (
        select(question.c.id, question.c.protocol, question.c.annotators)
        .select_from(draw)
        .join(relation, relation.c.id == draw.c.relation_id)
        .join(member, and_(member.c.group_id == draw.c.group_id, member.c.role.in_(COUNTED)))
        .join(question, and_(question.c.input_id == member.c.input_id, question.c.task == relation.c.task))
        .where(draw.c.sample_id.in_(samples), question.c.filled.is_(True), asks)
        .distinct()
    )
    questions: dict[str, dict[int, int]] = {BLIND: {}, SHOWN: {}}
    for id, protocol, annotators in connection.execute(query):
        questions[protocol][id] = annotators
    return questions


def _answering(connection: Connection, needed: Mapping[int, int]) -> Answering:
    """The statistics of these questions' answers; `needed` has the votes that each question needs, by id."""
    agreeing: list[float] = []
    total: Counter[str] = Counter()
    rule = quorum_of(connection)
    for id, history in _histories(connection, needed):
        votes = counting_judgements(history)
        labels = [vote.answer for vote in votes]
        total["disputed"] += Quorum(needed[id], rule).answer(labels) is None
        pairs = [label == other for label, other in combinations(labels, 2)]
        if pairs:
            agreeing.append(sum(pairs) / len(pairs))
        for vote in votes:
            if vote.saw is None:
                continue
            seen = counting_judgements([row for row in history if row.id <= vote.saw])
            before = [row for row in seen if row.annotator_id != vote.annotator_id]
            if before:
                total["validations"] += 1
                total["unchanged"] += before[-1].answer == vote.answer
    inspected = _inspected(connection, needed)
    return Answering(
        questions=len(needed),
        agreement=sum(agreeing) / len(agreeing) if agreeing else None,
        disputed=total["disputed"],
        validations=total["validations"],
        unchanged=total["unchanged"],
        inspected=len(inspected),
        inspected_changed=sum(inspected),
    )


def _histories(connection: Connection, questions: Collection[int]) -> Iterator[tuple[int, list[Any]]]:
    """Each question's judgements of the first pass by people, oldest first."""
    judgement, annotator = table_of(tables.Judgement), table_of(tables.Annotator)
    columns = ("id", "question_id", "annotator_id", "answer", "supersedes", "saw")
    query = (
        select(*(judgement.c[name] for name in columns))
        .join(annotator, annotator.c.id == judgement.c.annotator_id)
        .where(judgement.c.round == 1, annotator.c.role.in_(ROLES))
        .order_by(judgement.c.id)
    )
    for piece in pieces(sorted(questions)):
        histories: dict[int, list[Any]] = {id: [] for id in piece}
        for row in connection.execute(query.where(judgement.c.question_id.in_(piece))):
            histories[row.question_id].append(row)
        yield from histories.items()


def _inspected(connection: Connection, questions: Collection[int]) -> list[bool]:
    """For each of these questions that was inspected: whether that changed what people agreed on."""
    adjudication, answer = table_of(tables.Adjudication), table_of(tables.Answer)
    query = (
        select(adjudication.c.question_id, adjudication.c.allowed, answer.c.allowed.label("agreed"))
        .join(answer, and_(answer.c.question_id == adjudication.c.question_id, answer.c.origin == "people"))
        .where(adjudication.c.reason.startswith(INSPECTION))
        .order_by(adjudication.c.id)
    )
    rows = rows_among(connection, query, adjudication.c.question_id, sorted(questions))
    return list({id: set(allowed) != set(agreed) for id, allowed, agreed in rows}.values())
