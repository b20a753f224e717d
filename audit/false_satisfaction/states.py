"""Which satisfied groups of a study are false, as arrays, and with which inclusion probability they were asked.

The rule is that of `audit.false_satisfaction.resolution`: groups of which the same is known and said are settled once.
A round counts when all its questions are answered, or given up: then what is open is neither true nor false, and rates
have bounds.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd
from sqlalchemy import Connection, and_, select

from audit.false_satisfaction.population import Population
from audit.false_satisfaction.resolution import (
    Answers,
    Drawn,
    State,
    Step,
    Whose,
    carries_all,
    carries_of,
    inputs_of,
    known_answers,
    settle_group,
)
from audit.relations.base import Carry
from audit.sampling.samples import StoredRound, stored_draws, stored_rounds
from audit.statistics.contests import Answered, Thresholds
from audit.store import integers
from audit.store.core import answer, question, source
from audit.tasks import get_task
from audit.tasks.questions import asks_pairs

NOT_ASKED, OPEN = -1, int(State.WAITING)
"""States of groups beside `State.TRUE` and `State.FALSE`; an open one waits for an answer."""


@dataclass(frozen=True)
class Standing:
    """How the groups of a study stand, by relation (id), arrays shaped as its groups (groups, systems).

    `q`: the inclusion probability of what counts, 0 where a group does not. `state`: of what counts, 0 true, 1 false,
    2 open; -1 what does not. `drawn` is the state of everything that was ever drawn, or that gold answers.
    `rounds` are those of the study, of which the first `complete` count. `thresholds` are those of what counts.
    `carries` tells whether a relation carries every answer, `labelled` (sources,) about which ones gold answers.
    """

    q: Mapping[int, np.ndarray]
    state: Mapping[int, np.ndarray]
    drawn: Mapping[int, np.ndarray]
    rounds: tuple[StoredRound, ...]
    complete: int
    thresholds: Thresholds
    carries: Mapping[int, bool]
    labelled: np.ndarray

    def answered(self, relation: int, given_up: int | None = None) -> Answered:
        """What counts of a relation, as comparisons take it. Open groups are left out, or taken as true (1) or false
        (0)."""
        genuine = np.array([1, 0, NOT_ASKED if given_up is None else given_up, NOT_ASKED], np.int8)
        return Answered(self.q[relation], genuine[self.state[relation]])


def read_standing(
    connection: Connection, population: Population, whose: Whose = "both", answers: Answers | None = None
) -> Standing:
    """Return how the groups of a study stand by the answers of `whose`, or by `answers` in their place."""
    answers = known_answers(connection, whose) if answers is None else answers
    rounds, draws = stored_rounds(connection, population.study), stored_draws(connection, population.study)
    labelled, rules = answered_by_gold(connection, population, whose), carries_of(connection)
    carries = _carrying(connection, population, rules, people=bool(len(draws)))
    units = draws.assign(place=np.searchsorted(population.source, draws["source_id"].to_numpy(np.int64)))

    def chance(relation: int, rounds: int) -> np.ndarray:
        """The inclusion probability (sources,) by the first so many rounds, under a relation or (0) of the source."""
        in_question = units[(units["relation_id"] == relation) & (units["round"] <= rounds)]
        q = np.zeros(len(population.source))
        np.maximum.at(q, in_question["place"].to_numpy(), in_question["q"].to_numpy(float))
        return q

    # Everything that has an answer or was asked, whether it counts or not.
    drawn, codes = {}, None if asks_pairs(population.task) else _codes(population, answers)
    for relation, groups in population.relations.items():
        drawn_once = labelled | (chance(0, len(rounds)) > 0)
        if not carries[relation]:
            drawn_once = drawn_once | (chance(relation, len(rounds)) > 0)
        drawn[relation] = _states(
            connection, population, relation, rules[relation], answers, codes, drawn_once[groups.source]
        )
    complete = _complete(population, rounds, units, drawn, carries)
    of_sources = np.where(labelled, 1.0, chance(0, complete))
    own = {relation: chance(relation, complete) for relation in population.relations if not carries[relation]}
    q, state = {}, {}
    for relation, groups in population.relations.items():
        # Where nothing was asked under the relation, what is known of the sources leaves bounds.
        of_relation = own[relation] if relation in own and own[relation].any() else of_sources
        chances = of_relation[groups.source][:, None]
        counted = (drawn[relation] != NOT_ASKED) & (chances > 0)
        q[relation], state[relation] = np.where(counted, chances, 0.0), np.where(counted, drawn[relation], NOT_ASKED)
    return Standing(q, state, drawn, tuple(rounds), complete, Thresholds(of_sources, own), carries, labelled)


def answered_by_gold(connection: Connection, population: Population, whose: Whose = "both") -> np.ndarray:
    """Return which sources (bool) gold answers for. These labels were there before anybody was asked: their sources
    count with the inclusion probability 1, whatever people answered since."""
    if whose == "people":
        return np.zeros(len(population.source), bool)
    query = (
        select(source.c.id)
        .join(question, and_(question.c.input_id == source.c.input_id, question.c.kind == "input"))
        .join(answer, and_(answer.c.question_id == question.c.id, answer.c.origin == "gold"))
        .where(source.c.study_id == population.study, source.c.gold.is_not(None), question.c.task == population.task)
    )
    return np.isin(population.source, integers(connection, query)[:, 0])


def _carrying(
    connection: Connection, population: Population, rules: Mapping[int, Carry], people: bool
) -> dict[int, bool]:
    """Whether each relation carries every answer that a source may have: any label, or gold's where it is alone."""
    labels = frozenset(get_task(population.task).labels)
    if not people:
        gold = select(source.c.gold).where(source.c.study_id == population.study, source.c.gold.is_not(None))
        labels = frozenset(connection.execute(gold.distinct()).scalars()) or labels
    return {id: carries_all(rules[id], labels) for id in population.relations}


def _complete(
    population: Population,
    rounds: list[StoredRound],
    units: pd.DataFrame,
    drawn: Mapping[int, np.ndarray],
    carries: Mapping[int, bool],
) -> int:
    """The number of rounds, from the first, of which all is answered or given up."""
    own = (relation for relation in population.relations if not carries[relation])
    waiting = {relation: np.zeros(len(population.source), bool) for relation in (0, *own)}
    for relation, groups in population.relations.items():
        waiting[0 if carries[relation] else relation][groups.source[(drawn[relation] == OPEN).any(1)]] = True
    waits = [waiting.get(row.relation_id, waiting[0])[row.place] for row in units.itertuples()]
    unanswered = set(units["round"][waits])
    return next(
        (at for at, stored in enumerate(rounds) if stored.number in unanswered and not stored.given_up), len(rounds)
    )


def _states(
    connection: Connection,
    population: Population,
    relation: int,
    carry: Carry,
    answers: Answers,
    codes: np.ndarray | None,
    in_question: np.ndarray,
) -> np.ndarray:
    """The states (groups, systems) of the satisfied groups of a relation whose source is `in_question`. `codes` has
    codes of the answers about inputs, if that is all that the rule looks at."""
    satisfied = population.relations[relation].satisfied
    state = np.full(satisfied.shape, NOT_ASKED, np.int8)
    row, column = np.nonzero((satisfied == 1) & in_question[:, None])
    if not len(row):
        return state
    members, said, task = population.members, population.said, population.task
    pair, at = members.of(population.group[relation][row, column])
    place = members.place[at]
    # What is known of each member, what was said of it, and whether it is the source; then of groups, member by member.
    code = place if codes is None or carry.reads else codes[place] + 1
    number = (code * (len(said.outputs) + 1) + said.code[place, column[pair]] + 1) * 2 + members.is_source[at]
    number = np.unique(number, return_inverse=True)[1] + 1
    first = np.flatnonzero(np.diff(pair, prepend=-1))
    turn = np.arange(len(pair)) - first[pair]
    kind = np.zeros(len(row), np.int64)
    for step in range(int(turn.max()) + 1):
        own = np.zeros(len(row), np.int64)
        own[pair[turn == step]] = number[turn == step]
        kind = np.unique(kind * (number.max() + 1) + own, return_inverse=True)[1]
    examples = np.unique(kind, return_index=True)[1]
    texts = inputs_of(connection, said.inputs[place[np.isin(pair, examples)]].tolist()) if carry.reads else {}
    states = []
    for example in examples.tolist():
        steps = []
        for member in range(first[example], first[example + 1] if example + 1 < len(first) else len(pair)):
            role, id = "source" if members.is_source[at[member]] else "follow_up", int(said.inputs[place[member]])
            steps.append(Step(role, id, said.outputs[said.code[place[member], column[example]]], texts.get(id)))
        group = Drawn(task, "", relation, 0, 0, 0, tuple(steps), carry)
        states.append(settle_group(group, answers).state)
    state[row, column] = np.array(states, np.int8)[kind]
    return state


def _codes(population: Population, answers: Answers) -> np.ndarray:
    """Codes of the answers about inputs, by their place: equal codes, equal answers; -1: none."""
    codes = dict[frozenset[str], int]()
    about = [
        (id, codes.setdefault(answer.allowed, len(codes)))
        for (task, id, _), answer in answers.items()
        if task == population.task
    ]
    ids, code = np.array(about, np.int64).reshape(-1, 2).T
    of_input, place = np.full(len(population.said.inputs), -1), population.said.places(ids)
    of_input[place[place >= 0]] = code[place >= 0]
    return of_input
