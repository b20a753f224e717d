"""What to ask next: the first sources of each cell, then rounds that decide which system is best.

The first rounds ask the beginning of every cell's list, so that each cell has a rate. Then each round asks the sources
that can tell systems apart in contests that are open (`audit.statistics.contests`). A round is drawn when all before it
are answered or given up.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from sqlalchemy import Connection, func, select

from audit.errors import AuditError, UnknownName
from audit.false_satisfaction.population import Population, read_population
from audit.false_satisfaction.resolution import carrying
from audit.false_satisfaction.states import OPEN, Standing, answered_by_gold, read_standing
from audit.relations import name_order
from audit.relations.registry import base_name, find_relation
from audit.sampling.options import NOTHING, RELATIONS, WINNER, DecisionOptions, SampleOptions
from audit.sampling.samples import keep_sample, store_round, stored_draws
from audit.statistics.contests import FIRST, Contest, Forecast, Thresholds, ask, eliminate, forecast
from audit.statistics.rates import bottom_k
from audit.store import need_study, table_of, tables

LEAST = 5
"""Groups of each cell in the first round; each further one asks twice as many, up to the base."""


@dataclass(frozen=True)
class Asked:
    """What `next_round` did for one study.

    `rounds` are the numbers of the new rounds, `texts` the sources that they ask about and that were not asked before,
    `waiting` the sources of earlier rounds that are not answered yet: nothing new is asked then. `contests` are the
    decisions, `names` by which they go; `unfinished`: the run goes on, and what it adds is for a later round.
    """

    study: int
    rounds: tuple[int, ...]
    texts: int
    waiting: int
    asked: int
    cells: int
    contests: tuple[Contest, ...] = ()
    names: tuple[str, ...] = ()
    unfinished: bool = False

    def as_json(self) -> dict[str, Any]:
        """What was asked and decided, ready for `json.dumps`."""
        keys = ("study", "rounds", "texts", "waiting", "asked", "cells", "unfinished")
        decisions = [
            {"of": name, "ended": contest.ended, "systems": len(contest.live)}
            for name, contest in zip(self.names, self.contests, strict=True)
        ]
        return {key: getattr(self, key) for key in keys} | {"rounds": list(self.rounds), "decisions": decisions}

    @property
    def decided(self) -> int:
        """How many of the contests have ended."""
        return sum(contest.ended is not None for contest in self.contests)


def next_rounds(connection: Connection, options: SampleOptions, study: int | None = None) -> list[Asked]:
    """`next_round` for one study, or for all that have satisfied groups.

    Raises AuditError for a study that is not there or where nothing is satisfied, UnknownName for a relation that is
    named and was never run; nothing is changed then.
    """
    if study is not None:
        need_study(connection, study)
    names = relation_names(connection)
    if unknown := [name for name in options.relations if name not in names.values()]:
        raise UnknownName("relation", unknown[0], sorted(set(names.values()), key=name_order))
    table = table_of(tables.Study)
    ids = [int(id) for id in connection.execute(select(table.c.id).order_by(table.c.id)).scalars()]
    asked = [next_round(connection, id, options, names) for id in ids if study in (None, id)]
    asked = [one for one in asked if one.cells]
    if not asked:
        raise AuditError("nothing is satisfied, so there is nothing to ask; run `audit run` first")
    return asked


def next_round(connection: Connection, study: int, options: SampleOptions, names: Mapping[int, str]) -> Asked:
    """Draw the next round of a study: its first rounds together, then one that decides. What was drawn stays."""
    population = read_population(connection, study)
    cells = sum(int((groups.satisfied == 1).any(0).sum()) for groups in population.relations.values())
    if not cells:
        return Asked(study, (), 0, 0, 0, 0)
    keep_sample(connection, study, options)
    before = set(stored_draws(connection, study)["source_id"])
    rounds = _first_rounds(connection, population, options, names)
    standing, contests = read_standing(connection, population), tuple[Contest, ...]()
    unanswered = 0 if rounds else _unanswered(population, standing, before)
    if options.decide != NOTHING:
        contests = _contests(population, standing, options, names)
        if not rounds and not unanswered:
            contests, rounds = _decide(connection, population, standing, options, contests)
    asked, relations = set(stored_draws(connection, study)["source_id"]), list(population.relations)
    of = (names[relations[next(iter(one.weights))]] if len(one.weights) == 1 else "all relations" for one in contests)
    unfinished = _unfinished(connection, study)
    counts = len(asked - before), unanswered, len(asked), cells
    return Asked(study, tuple(rounds), *counts, contests, tuple(of), unfinished)


def _unfinished(connection: Connection, study: int) -> bool:
    """Whether some relation and system that were begun have chunks to go."""
    progress, source, table = table_of(tables.Progress), table_of(tables.Source), table_of(tables.Study)
    of_study = progress.c.study_id == study
    done = select(func.count().label("n")).where(of_study).group_by(progress.c.relation_id, progress.c.system_id)
    least = connection.execute(select(func.min(done.subquery().c.n))).scalar()
    chunk = connection.execute(select(table.c.chunk).where(table.c.id == study)).scalar_one()
    sources = select(func.count()).select_from(source).where(source.c.study_id == study)
    return least is not None and least * chunk < connection.execute(sources).scalar_one()


def _unanswered(population: Population, standing: Standing, drawn: Collection[int]) -> int:
    """How many sources of the rounds wait for an answer; 0 where all rounds count."""
    if standing.complete == len(standing.rounds):
        return 0
    open_groups = ((groups, standing.drawn[id] == OPEN) for id, groups in population.relations.items())
    waiting = np.concatenate([groups.source[is_open.any(1)] for groups, is_open in open_groups])
    return int(np.isin(np.unique(population.source[waiting]), list(drawn)).sum())


# The first rounds: the beginning of each cell's list.


def _first_rounds(
    connection: Connection, population: Population, options: SampleOptions, names: Mapping[int, str]
) -> list[int]:
    """Draw the first sources of each cell that were not drawn so far, in rounds of growing depth and of `FIRST` texts
    or more, where as many are left and nobody has said how many come first; returns their numbers."""
    lists, gold = _first_lists(connection, population, options, names), answered_by_gold(connection, population)
    largest = max((size for of_unit in lists.values() for _, size in of_unit), default=0)
    last = len(population.u) if options.base is options.share is None else largest
    depths, numbers = [largest], []
    while depths[0] >= 2 * LEAST and options.share is None:
        depths.insert(0, depths[0] // 2)
    for depth in depths:
        draws, texts = _draws(connection, population, _thresholds(population, lists, depth), population.u, gold)
        if texts >= FIRST or (texts and depth >= last):
            numbers.append(store_round(connection, population.study, [], draws))
        elif texts and depth >= largest:
            depths.append(min(2 * depth, last))
    return numbers


def _first_lists(
    connection: Connection, population: Population, options: DecisionOptions, names: Mapping[int, str]
) -> dict[int, list[tuple[np.ndarray, int]]]:
    """The lists of cells and how many come first of each, by what is asked: 0, the source, or a relation (id) whose
    follow-ups need questions, too. Nobody is asked about a source alone that gold answers for."""
    carries, gold = set(carrying(connection)), answered_by_gold(connection, population)
    lists: dict[int, list[tuple[np.ndarray, int]]] = {}
    for relation, groups in population.relations.items():
        for column in range(groups.satisfied.shape[1]):
            asked = ~gold[groups.source] if relation in carries else True
            sources = groups.source[(groups.satisfied[:, column] == 1) & asked]
            size = options.size(len(sources), names[relation])
            if size > 0:
                lists.setdefault(0 if relation in carries else relation, []).append((sources, size))
    return lists


def _thresholds(
    population: Population, lists: Mapping[int, Sequence[tuple[np.ndarray, int]]], depth: int
) -> dict[int, np.ndarray]:
    """How far the sources are asked when each list is, as far as its size or `depth` says; beyond the largest size
    each list is asked so much further."""
    further = max(depth - max((size for of_unit in lists.values() for _, size in of_unit), default=depth), 0)
    return {
        relation: bottom_k(
            population.u, [own for own, _ in of_unit], [min(size, depth) + further for _, size in of_unit]
        )
        for relation, of_unit in lists.items()
    }


def _draws(
    connection: Connection,
    population: Population,
    thresholds: Mapping[int, np.ndarray],
    order: np.ndarray,
    gold: np.ndarray,
) -> tuple[pd.DataFrame, int]:
    """What is asked up to these thresholds by relation (0: the source itself) and was not asked so far, as draws, and
    about how many texts that is. `order` (sources,) says who comes first; gold answers for the sources `gold`."""
    stored = stored_draws(connection, population.study)[["source_id", "relation_id", "q"]]
    # Of several rounds the last is the largest.
    known = {(int(source), int(relation)): float(q) for source, relation, q in stored.itertuples(index=False)}
    # Whoever is asked about a source's groups under a relation is asked about the source.
    of_source = np.where(gold, 0.0, np.max([*thresholds.values(), np.zeros(len(population.u))], axis=0))
    rows = []
    for relation, q in {**thresholds, 0: of_source}.items():
        for place in np.flatnonzero(population.u <= q):
            key = (int(population.source[place]), relation)
            if q[place] > known.get(key, 0.0):
                rows.append((order[place], relation, *key, float(q[place])))
    texts = {source for _, _, source, relation, _ in rows if (source, relation) not in known}
    return pd.DataFrame(sorted(rows), columns=["order", "first", "source_id", "relation_id", "q"]), len(texts)


# Rounds that decide.


def _contests(
    population: Population, standing: Standing, options: DecisionOptions, names: Mapping[int, str]
) -> tuple[Contest, ...]:
    """The contests as they stand: those of the last round, brought up to date with its answers, or new ones. A system
    that was run since then is in them, too."""
    relations = {str(id): place for place, id in enumerate(population.relations)}
    last = next((stored.contests for stored in reversed(standing.rounds) if stored.contests), ())
    before = {
        tuple(sorted(relations[id] for id in one["weights"])): one for one in last if {*one["weights"]} <= {*relations}
    }
    contests = []
    for contest in _new_contests(population, options, names):
        stored = before.get(tuple(sorted(contest.weights)))
        if stored is not None:
            behind = {*stored["systems"]} - {*stored["live"]}
            live = tuple(column for column in contest.live if population.systems[column] not in behind)
            same = {population.systems[column] for column in live} == {*stored["live"]}
            leader = stored["leader"] if stored["leader"] in population.systems else None
            contest = replace(
                contest,
                live=live,
                leader=None if leader is None else population.systems.index(leader),
                until=np.inf if same and stored["until"] is None else stored["until"] or 0.0,
                ended=stored["ended"] if same else None,
            )
        if contest.ended is None and any((q > 0).any() for q in standing.q.values()):
            contest = _eliminated(contest, population, standing, options)
        contests.append(contest)
    return tuple(contests)


def _eliminated(contest: Contest, population: Population, standing: Standing, options: DecisionOptions) -> Contest:
    answered = [standing.answered(relation) for relation in population.relations]
    return eliminate(contest, list(population.relations.values()), answered, len(population.u), options.eps)


def _new_contests(population: Population, options: DecisionOptions, names: Mapping[int, str]) -> list[Contest]:
    """One contest over the families, or one of each relation that compares two systems, or of the named one."""
    places = {relation: place for place, relation in enumerate(population.relations)}
    applies = {id: (groups.satisfied >= 0).any(0) for id, groups in population.relations.items()}
    compared = [id for id in population.relations if applies[id].sum() > 1]
    if options.decide == WINNER:
        weights = family_weights(population, compared, names)
        live = np.flatnonzero(np.any([applies[id] for id in weights], axis=0)).tolist() if weights else []
        return [Contest({places[id]: share for id, share in weights.items()}, tuple(live))] if len(live) > 1 else []
    wanted = compared if options.decide == RELATIONS else [id for id in compared if names[id] == options.decide]
    return [Contest({places[id]: 1.0}, tuple(np.flatnonzero(applies[id]).tolist())) for id in wanted]


def family_weights(population: Population, relations: Sequence[int], names: Mapping[int, str]) -> dict[int, float]:
    """Return the weights of relations (ids) in the mean over families: families alike, and within one the relations by
    the fewest groups that a system has under them, so that none gains by where a relation applies to it."""
    sizes: dict[str, dict[int, float]] = {}
    for id in relations:
        applies = (population.relations[id].satisfied >= 0).sum(0)
        registered = find_relation(population.task, base_name(names[id]))
        family = registered.family if registered else names[id]
        sizes.setdefault(family, {})[id] = float(applies[applies > 0].min())
    return {
        id: size / sum(of_family.values()) / len(sizes)
        for of_family in sizes.values()
        for id, size in of_family.items()
    }


def _decide(
    connection: Connection,
    population: Population,
    standing: Standing,
    options: SampleOptions,
    contests: tuple[Contest, ...],
) -> tuple[tuple[Contest, ...], list[int]]:
    """Draw the next round of the open contests; returns them with their lists extended, and its number."""
    relations, places = _comparable(population, standing), list(population.relations)
    of_relations = {places.index(id): q for id, q in standing.thresholds.relation.items()}
    asked, gold = Thresholds(standing.thresholds.source, of_relations), standing.labelled
    left = None if options.most is None else options.most - int(((population.u <= asked.source) & ~gold).sum())
    while any(contest.ended is None for contest in contests) and (left is None or left > 0):
        extended, asked = _reach(contests, relations, population, asked, left)
        units = {0: asked.source} | {places[place]: q for place, q in asked.relation.items()}
        order = np.where(asked.source > 0, population.u / np.maximum(asked.source, 1e-12), 2.0)
        draws, texts = _draws(connection, population, units, order, gold)
        if texts:
            stored = [_stored(contest, population) for contest in extended]
            return tuple(extended), [store_round(connection, population.study, stored, draws)]
        # What lies so far down the lists is answered already: it counts for more than it did.
        contests = tuple(one if one.ended else _eliminated(one, population, standing, options) for one in extended)
    return contests, []


def _reach(
    contests: Sequence[Contest], relations: Sequence[Any], population: Population, asked: Thresholds, most: int | None
) -> tuple[list[Contest], Thresholds]:
    """The contests' lists extended by at least `FIRST` texts that were not asked, where so many are left."""
    first = FIRST
    while True:
        extended, reached = ask(contests, relations, population.u, asked, first=first, most=most)
        new = (population.u <= reached.source) & (population.u > asked.source)
        ended = all(contest.ended or np.isinf(contest.until) for contest in extended)
        if ended or new.sum() >= min(FIRST, most or FIRST) or first > len(new):
            return extended, reached
        first *= 2


def _comparable(population: Population, standing: Standing) -> list[Any]:
    """The relations with whether they carry answers; what gold alone settles is asked of nobody."""
    return [
        replace(groups, carries=standing.carries[id], questions=1.0 if standing.carries[id] else 2.0)
        for id, groups in population.relations.items()
    ]


def _stored(contest: Contest, population: Population) -> dict[str, Any]:
    """A contest as it is stored: with ids in the place of places."""
    relations, systems = list(population.relations), population.systems
    return {
        "weights": {str(relations[place]): share for place, share in contest.weights.items()},
        "systems": systems,
        "live": [systems[column] for column in contest.live],
        "leader": None if contest.leader is None else systems[contest.leader],
        "until": None if np.isinf(contest.until) else contest.until,
        "ended": contest.ended,
    }


def relation_names(connection: Connection) -> dict[int, str]:
    """Return the names of relations by id."""
    table = table_of(tables.Relation)
    return {int(id): str(name) for id, name in connection.execute(select(table.c.id, table.c.name))}


@dataclass(frozen=True)
class Need:
    """What decisions will likely take: `texts` in all, `asked` of them so far, `questions` that each takes, and how
    many decisions there are."""

    texts: Forecast
    asked: int
    questions: float
    contests: int


def forecast_rounds(
    connection: Connection, population: Population, options: DecisionOptions, names: Mapping[int, str], runs: int = 20
) -> Need:
    """Return what the contests of a study will likely take from where they are, or from the first rounds on."""
    standing = read_standing(connection, population)
    contests = list(_contests(population, standing, options, names))
    places = list(population.relations)
    lists = _first_lists(connection, population, options, names)
    largest = max((size for of_unit in lists.values() for _, size in of_unit), default=0)
    first = _thresholds(population, lists, largest)
    of_source = np.max([standing.thresholds.source, *first.values()], axis=0)
    of_relation = {
        places.index(id): np.maximum(standing.thresholds.relation.get(id, 0.0), own) for id, own in first.items() if id
    }
    answered = [standing.answered(relation) for relation in population.relations]
    relations = _comparable(population, standing)
    reached = Thresholds(of_source, of_relation)
    texts = forecast(contests, relations, answered, population.u, reached, options.eps, runs)
    asked = int((population.u <= standing.thresholds.source).sum())
    own = [q for q in of_relation.values() if q.any()]
    questions = 1 + sum(float((population.u <= q).sum()) for q in own) / max(int((population.u <= of_source).sum()), 1)
    return Need(texts, asked, questions, len(contests))
