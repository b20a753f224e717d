"""Which satisfied groups of a study are false, as arrays, and with which inclusion probability they were asked.

The rule is that of `audit.false_satisfaction.resolution`, for a whole study at once. A round counts when all its
questions are answered, or given up: then what is open is neither true nor false, and rates have bounds.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from sqlalchemy import Connection, and_, select

from audit.false_satisfaction.population import Population
from audit.false_satisfaction.resolution import (
    KnownAnswer,
    State,
    Whose,
    carries_all,
    carry_of,
    known_answers,
    satisfied_groups,
    settle_group,
)
from audit.relations.base import Carry
from audit.sampling.samples import StoredRound, stored_draws, stored_rounds
from audit.statistics.contests import Answered, Thresholds
from audit.store import integers, table_of, tables
from audit.tasks import get_task
from audit.tasks.questions import Subject, asks_pairs

NOT_ASKED, OPEN = -1, 2
"""States of groups beside `State.TRUE` and `State.FALSE`; an open one waits for an answer."""


@dataclass(frozen=True)
class Standing:
    """How the groups of a study stand, by relation (id), arrays shaped as its groups (groups, systems).

    `q`: the inclusion probability of what counts, 0 where a group does not. `state`: of what counts, 0 true, 1 false,
    2 open; -1 what does not. `drawn` is the state of everything that was ever drawn, or that gold answers.
    `rounds` are those of the study, of which the first `complete` count. `thresholds` are those of what counts.
    """

    q: Mapping[int, np.ndarray]
    state: Mapping[int, np.ndarray]
    drawn: Mapping[int, np.ndarray]
    rounds: tuple[StoredRound, ...]
    complete: int
    thresholds: Thresholds
    carries: Mapping[int, bool]
    labelled: np.ndarray
    """Which sources (bool) gold answers for."""

    def answered(self, relation: int, given_up: int | None = None) -> Answered:
        """What counts of a relation, as comparisons take it. Open groups are left out, or taken as true (1) or false
        (0)."""
        state = self.state[relation]
        genuine = np.where(state == State.TRUE, 1, np.where(state == State.FALSE, 0, NOT_ASKED)).astype(np.int8)
        if given_up is not None:
            genuine[state == OPEN] = given_up
        return Answered(self.q[relation], genuine)


def read_standing(
    connection: Connection,
    population: Population,
    whose: Whose = "both",
    answers: Mapping[Subject, KnownAnswer] | None = None,
) -> Standing:
    """Return how the groups of a study stand by the answers of `whose`, or by `answers` in their place."""
    answers = known_answers(connection, whose) if answers is None else answers
    rounds, draws = stored_rounds(connection, population.study), stored_draws(connection, population.study)
    labelled = answered_by_gold(connection, population, whose)
    carries = _carrying(connection, population, bool(len(draws)))
    units = _units(population, draws, len(rounds))
    # Everything that has an answer or was asked, whether it counts or not.
    drawn: dict[int, np.ndarray] = {}
    settle = _Settling(connection, population, answers)
    for relation, groups in population.relations.items():
        asked = units.of(0, len(rounds))[groups.source] > 0
        asked |= labelled[groups.source]
        if not carries[relation]:
            asked |= units.of(relation, len(rounds))[groups.source] > 0
        drawn[relation] = settle.states(relation, asked)
    complete = _complete(population, rounds, units, drawn, carries)
    of_sources = np.where(labelled, 1.0, units.of(0, complete))
    q, state, own = {}, {}, {}
    for relation, groups in population.relations.items():
        of_relation = of_sources
        if not carries[relation]:
            own[relation] = units.of(relation, complete)
            # Where nothing was asked under the relation, what is known of the sources leaves bounds.
            of_relation = own[relation] if own[relation].any() else of_sources
        counted = (drawn[relation] != NOT_ASKED) & (of_relation[groups.source] > 0)[:, None]
        q[relation] = np.where(counted, of_relation[groups.source][:, None], 0.0)
        state[relation] = np.where(counted, drawn[relation], NOT_ASKED).astype(np.int8)
    return Standing(q, state, drawn, tuple(rounds), complete, Thresholds(of_sources, own), carries, labelled)


def answered_by_gold(connection: Connection, population: Population, whose: Whose = "both") -> np.ndarray:
    """Return which sources (bool) gold answers for. These labels were there before anybody was asked: their sources
    count with the inclusion probability 1, whatever people answered since."""
    if whose == "people":
        return np.zeros(len(population.source), bool)
    source, question, answer = (table_of(model) for model in (tables.Source, tables.Question, tables.Answer))
    query = (
        select(source.c.id)
        .join(question, and_(question.c.input_id == source.c.input_id, question.c.kind == "input"))
        .join(answer, and_(answer.c.question_id == question.c.id, answer.c.origin == "gold"))
        .where(source.c.study_id == population.study, source.c.gold.is_not(None), question.c.task == population.task)
    )
    return np.isin(population.source, integers(connection, query)[:, 0])


def _carrying(connection: Connection, population: Population, people: bool) -> dict[int, bool]:
    """Whether each relation carries every answer that a source may have: any label, or gold's where it is alone."""
    relation, source = table_of(tables.Relation), table_of(tables.Source)
    labels = set(get_task(population.task).labels)
    if not people:
        gold = select(source.c.gold).where(source.c.study_id == population.study, source.c.gold.is_not(None))
        labels = set(connection.execute(gold.distinct()).scalars()) or labels
    rows = connection.execute(select(relation.c.id, relation.c.task, relation.c.name, relation.c.params))
    rules = {id: carry_of(task, name, params) for id, task, name, params in rows if id in population.relations}
    return {id: carries_all(carry, frozenset(labels)) for id, carry in rules.items()}


@dataclass(frozen=True)
class _Units:
    """The draws of a study as arrays: place of the source, relation (0: the source itself), round and q."""

    source: np.ndarray
    relation: np.ndarray
    round: np.ndarray
    q: np.ndarray
    sources: int

    def of(self, relation: int, rounds: int) -> np.ndarray:
        """The inclusion probability (sources,) by the first so many rounds; 0: not asked."""
        q = np.zeros(self.sources)
        at = (self.relation == relation) & (self.round <= rounds)
        np.maximum.at(q, self.source[at], self.q[at])
        return q


def _units(population: Population, draws: pd.DataFrame, rounds: int) -> _Units:
    place = np.searchsorted(population.source, draws["source_id"].to_numpy(np.int64))
    relation, round, q = (draws[name].to_numpy() for name in ("relation_id", "round", "q"))
    return _Units(place, relation, round, q, len(population.source))


def _complete(
    population: Population,
    rounds: Sequence[StoredRound],
    units: _Units,
    drawn: Mapping[int, np.ndarray],
    carries: Mapping[int, bool],
) -> int:
    """The number of rounds, from the first, of which all is answered or given up."""
    waiting = {0: np.zeros(units.sources, bool)}
    for relation, groups in population.relations.items():
        open_sources = groups.source[(drawn[relation] == OPEN).any(1)]
        own = waiting.setdefault(0 if carries[relation] else relation, np.zeros(units.sources, bool))
        own[open_sources] = True
    for place, stored in enumerate(rounds):
        at = units.round == stored.number
        waits = any(
            waiting.get(relation, waiting[0])[units.source[at & (units.relation == relation)]].any()
            for relation in np.unique(units.relation[at])
        )
        if waits and not stored.given_up:
            return place
    return len(rounds)


class _Settling:
    """Settles the groups of a study by these answers, relation by relation."""

    def __init__(self, connection: Connection, population: Population, answers: Mapping[Subject, KnownAnswer]) -> None:
        self._connection, self._population = connection, population
        self._answers = {key: answer for key, answer in answers.items() if key[0] == population.task}
        self._pairs, self._task = asks_pairs(population.task), get_task(population.task)
        relation = table_of(tables.Relation)
        rows = connection.execute(select(relation.c.id, relation.c.task, relation.c.name, relation.c.params))
        self._carry = {id: carry_of(task, name, params) for id, task, name, params in rows}
        self._allowed: dict[frozenset[str], int] = {}
        """Codes of sets of right labels."""
        self._wrong: dict[tuple[int, int], bool] = {}
        said = population.said
        self._of_input = np.full(len(said.inputs), -1)
        """Codes of the answers about inputs; -1: none."""
        about = [(id, answer) for (_, id, output), answer in self._answers.items() if output is None]
        ids, codes = np.array([id for id, _ in about], np.int64), [self._code(answer.allowed) for _, answer in about]
        place = np.searchsorted(said.inputs, ids)
        known = place < len(said.inputs)
        known[known] &= said.inputs[place[known]] == ids[known]
        self._of_input[place[known]] = np.array(codes, np.int64)[known]

    def states(self, relation: int, asked: np.ndarray) -> np.ndarray:
        """The states (groups, systems) of satisfied groups whose source is `asked` (groups,)."""
        groups, ids = self._population.relations[relation], self._population.group[relation]
        state = np.full(groups.satisfied.shape, NOT_ASKED, np.int8)
        row, column = np.nonzero((groups.satisfied == 1) & asked[:, None])
        if not len(row):
            return state
        carry = self._carry[relation]
        if carry.reads:
            state[row, column] = self._one_by_one(relation, ids[row, column], column)
        else:
            state[row, column] = self._at_once(ids[row, column], column, carry)
        return state

    def _one_by_one(self, relation: int, group: np.ndarray, column: np.ndarray) -> np.ndarray:
        """The states of groups whose relation looks at texts to carry an answer."""
        place = {key: at for at, key in enumerate(zip(group.tolist(), column.tolist(), strict=True))}
        columns = {system: at for at, system in enumerate(self._population.systems)}
        result = np.full(len(group), OPEN, np.int8)
        found = satisfied_groups(self._connection, self._population.study, relation, groups=np.unique(group).tolist())
        for drawn in found:
            key = (drawn.group_id, columns[drawn.system_id])
            if key in place:
                result[place[key]] = settle_group(drawn, self._answers).state
        return result

    def _at_once(self, group: np.ndarray, column: np.ndarray, carry: Carry) -> np.ndarray:
        members = self._population.members
        pair, at = members.of(group)
        is_source, place = members.is_source[at], members.place[at]
        said = self._population.said.code[place, column[pair]]
        direct = self._about_outputs(place, said) if self._pairs else self._of_input[place]
        source_answer = np.full(len(group), -1)
        source_answer[pair[is_source]] = direct[is_source]
        carried = self._carried(carry)[source_answer[pair]]
        allowed = np.where((direct >= 0) | is_source, direct, carried)
        false = np.bincount(pair, self._is_wrong(allowed, said), len(group)) > 0
        unknown = np.bincount(pair, allowed < 0, len(group)) > 0
        return np.where(false, int(State.FALSE), np.where(unknown, OPEN, int(State.TRUE))).astype(np.int8)

    def _about_outputs(self, place: np.ndarray, said: np.ndarray) -> np.ndarray:
        """Codes of the answers about inputs and outputs; -1: none."""
        task, inputs, outputs = self._population.task, self._population.said.inputs, self._population.said.outputs
        key, back = np.unique(np.stack([place, said]), axis=1, return_inverse=True)
        found = (self._answers.get((task, int(inputs[at]), outputs[code].text)) for at, code in key.T.tolist())
        codes = [-1 if answer is None else self._code(answer.allowed) for answer in found]
        return np.array(codes, np.int64)[back.reshape(-1)]

    def _code(self, allowed: frozenset[str]) -> int:
        return self._allowed.setdefault(allowed, len(self._allowed))

    def _carried(self, carry: Carry) -> np.ndarray:
        """By the code of a source's answer, that of what is carried; -1: nothing. The last place is for no answer."""
        carried = {code: carry(allowed) for allowed, code in list(self._allowed.items())}
        result = [-1 if (labels := carried[code]) is None else self._code(labels) for code in range(len(carried))]
        return np.array([*result, -1], np.int64)

    def _is_wrong(self, allowed: np.ndarray, said: np.ndarray) -> np.ndarray:
        """Whether outputs (codes) are wrong by right labels (codes); False where nothing is known."""
        outputs, number = self._population.said.outputs, len(self._population.said.outputs)
        key, code = np.unique((allowed + 1) * number + said, return_inverse=True)
        labels = list(self._allowed)
        for a, o in zip((key // number - 1).tolist(), (key % number).tolist(), strict=True):
            if (a, o) not in self._wrong:
                self._wrong[a, o] = a >= 0 and self._task.is_wrong(outputs[o], labels[a])
        wrong = [self._wrong[divmod(one, number)[0] - 1, one % number] for one in key.tolist()]
        return np.array(wrong, bool)[code.reshape(-1)]
