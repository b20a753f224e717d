"""What to ask next: the first sources of each cell, then rounds that decide which system is best.

The first rounds ask the beginning of every cell's list, so that each cell has a rate. Then each round asks the sources
that can tell systems apart in contests that are open (`audit.statistics.contests`). A round is drawn when all before it
are answered or given up.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
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
from audit.statistics.contests import FIRST, Contest, Evidence, Forecast, Thresholds, ask, eliminate, forecast
from audit.statistics.rates import bottom_k
from audit.store import need_study
from audit.store.core import count_rows, progress, source
from audit.store.core import relation as relation_table
from audit.store.core import study as study_table

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
    ids = [int(id) for id in connection.execute(select(study_table.c.id).order_by(study_table.c.id)).scalars()]
    results = [next_round(connection, id, options, names) for id in ids if study in (None, id)]
    results = [result for result in results if result.cells]
    if not results:
        raise AuditError("nothing is satisfied, so there is nothing to ask; run `audit run` first")
    return results


def next_round(connection: Connection, study: int, options: SampleOptions, names: Mapping[int, str]) -> Asked:
    """Draw the next round of a study: its first rounds together, then one that decides. What was drawn stays."""
    population = read_population(connection, study)
    cells = sum(int((groups.satisfied == 1).any(0).sum()) for groups in population.relations.values())
    if not cells:
        return Asked(study, (), 0, 0, 0, 0)
    keep_sample(connection, study, options)
    before = set(stored_draws(connection, study)["source_id"])
    work = _Rounds(connection, population, options, names)
    rounds, waiting, contests = work.first_rounds(), 0, tuple[Contest, ...]()
    if not rounds and work.standing.complete < len(work.standing.rounds):
        waiting = len(before & set(population.source[work.unanswered()].tolist()))
    if options.decide != NOTHING:
        contests = work.contests()
        if not rounds and not waiting:
            contests, rounds = work.decide(contests, options.most)
    drawn, relations = set(stored_draws(connection, study)["source_id"]), list(population.relations)
    of = (
        names[relations[next(iter(contest.weights))]] if len(contest.weights) == 1 else "all relations"
        for contest in contests
    )
    counts = len(drawn - before), waiting, len(drawn), cells
    return Asked(study, tuple(rounds), *counts, contests, tuple(of), _unfinished(connection, study))


def _unfinished(connection: Connection, study: int) -> bool:
    """Whether some relation and system that were begun have chunks to go."""
    of_study = progress.c.study_id == study
    done = select(func.count().label("n")).where(of_study).group_by(progress.c.relation_id, progress.c.system_id)
    least = connection.execute(select(func.min(done.subquery().c.n))).scalar()
    chunk = connection.execute(select(study_table.c.chunk).where(study_table.c.id == study)).scalar_one()
    return least is not None and least * chunk < count_rows(connection, source, source.c.study_id == study)


@dataclass(frozen=True)
class _Rounds:
    """A study whose next round is drawn. Units of asking are 0, the sources themselves, and relations (ids) whose
    follow-ups need questions of their own."""

    connection: Connection
    population: Population
    options: DecisionOptions
    names: Mapping[int, str]

    @cached_property
    def gold(self) -> np.ndarray:
        """Which sources gold answers for: nobody is asked about them alone."""
        return answered_by_gold(self.connection, self.population)

    @cached_property
    def standing(self) -> Standing:
        """How the groups stand, once the first rounds are drawn."""
        return read_standing(self.connection, self.population)

    @cached_property
    def evidence(self) -> Evidence:
        """What contests go by; relations with whether they carry answers."""
        carries, relations = self.standing.carries, self.population.relations
        compared = [
            replace(groups, carries=carries[id], questions=1.0 if carries[id] else 2.0)
            for id, groups in relations.items()
        ]
        return Evidence(compared, [self.standing.answered(id) for id in relations], len(self.population.u))

    def unanswered(self) -> np.ndarray:
        """Which sources (places) have groups that wait for an answer."""
        open_groups = ((groups, self.standing.drawn[id] == OPEN) for id, groups in self.population.relations.items())
        return np.unique(np.concatenate([groups.source[is_open.any(1)] for groups, is_open in open_groups]))

    # The first rounds: the beginning of each cell's list.

    @cached_property
    def lists(self) -> list[tuple[int, np.ndarray, int]]:
        """Of each cell what is asked (a unit), its list of sources, and how many of them come first."""
        carries, lists = set(carrying(self.connection)), []
        for relation, groups in self.population.relations.items():
            for column in range(groups.satisfied.shape[1]):
                for_people = ~self.gold[groups.source] if relation in carries else True
                sources = groups.source[(groups.satisfied[:, column] == 1) & for_people]
                size = self.options.size(len(sources), self.names[relation])
                lists += [(0 if relation in carries else relation, sources, size)] if size > 0 else []
        return lists

    @cached_property
    def largest(self) -> int:
        """The longest beginning of a list."""
        return max((size for *_, size in self.lists), default=0)

    def thresholds(self, depth: int) -> dict[int, np.ndarray]:
        """How far the sources are asked, by unit, when each list is, as far as its size or `depth` says; beyond the
        largest size each list is asked so much further."""
        further, of_unit = max(depth - self.largest, 0), dict[int, list[tuple[np.ndarray, int]]]()
        for unit, sources, size in self.lists:
            of_unit.setdefault(unit, []).append((sources, min(size, depth) + further))
        return {unit: bottom_k(self.population.u, *zip(*own, strict=True)) for unit, own in of_unit.items()}

    def first_rounds(self) -> list[int]:
        """Draw the first sources of each cell that were not drawn so far, in rounds of growing depth and of `FIRST`
        texts or more, where as many are left and nobody has said how many come first; returns their numbers."""
        last = len(self.population.u) if self.options.base is self.options.share is None else self.largest
        depths, numbers = [self.largest], []
        while depths[0] >= 2 * LEAST and self.options.share is None:
            depths.insert(0, depths[0] // 2)
        for depth in depths:
            draws, texts = self.draws(self.thresholds(depth), self.population.u)
            if texts >= FIRST or (texts and depth >= last):
                numbers.append(store_round(self.connection, self.population.study, [], draws))
            elif texts and depth >= self.largest:
                depths.append(min(2 * depth, last))
        return numbers

    def draws(self, thresholds: Mapping[int, np.ndarray], order: np.ndarray) -> tuple[pd.DataFrame, int]:
        """What is asked up to these thresholds by unit and was not asked so far, as draws, and about how many texts
        that is. `order` (sources,) says who comes first."""
        stored, u = stored_draws(self.connection, self.population.study), self.population.u
        # Of several rounds the last is the largest.
        drawn = {(int(id), int(unit)): float(q) for id, unit, q in stored[["source_id", "relation_id", "q"]].values}
        # Whoever is asked about a source's groups under a relation is asked about the source.
        of_source = np.where(self.gold, 0.0, np.max([*thresholds.values(), np.zeros(len(u))], axis=0))
        rows = []
        for unit, q in {**thresholds, 0: of_source}.items():
            for place in np.flatnonzero(u <= q):
                key = (int(self.population.source[place]), unit)
                if q[place] > drawn.get(key, 0.0):
                    rows.append((order[place], unit, *key, float(q[place])))
        texts = {id for _, _, id, unit, _ in rows if (id, unit) not in drawn}
        return pd.DataFrame(sorted(rows), columns=["order", "first", "source_id", "relation_id", "q"]), len(texts)

    # Rounds that decide.

    def contests(self) -> tuple[Contest, ...]:
        """The contests as they stand: those of the last round, brought up to date with its answers, or new ones. A
        system that was run since then is in them, too."""
        relations = {str(id): place for place, id in enumerate(self.population.relations)}
        last = next((stored.contests for stored in reversed(self.standing.rounds) if stored.contests), ())
        before = {
            tuple(sorted(relations[id] for id in entry["weights"])): entry
            for entry in last
            if {*entry["weights"]} <= {*relations}
        }
        contests = []
        for contest in self._new_contests():
            if (stored := before.get(tuple(sorted(contest.weights)))) is not None:
                contest = self._resumed(contest, stored)
            if contest.ended is None and any((q > 0).any() for q in self.standing.q.values()):
                contest = eliminate(contest, self.evidence, self.options.eps)
            contests.append(contest)
        return tuple(contests)

    def _resumed(self, contest: Contest, stored: Mapping[str, Any]) -> Contest:
        systems = self.population.systems
        behind = {*stored["systems"]} - {*stored["live"]}
        live = tuple(column for column in contest.live if systems[column] not in behind)
        same = {systems[column] for column in live} == {*stored["live"]}
        leader = systems.index(stored["leader"]) if stored["leader"] in systems else None
        until = np.inf if same and stored["until"] is None else stored["until"] or 0.0
        return replace(contest, live=live, leader=leader, until=until, ended=stored["ended"] if same else None)

    def _new_contests(self) -> list[Contest]:
        """One contest over the families, or one of each relation that compares two systems, or of the named one."""
        relations, decide = self.population.relations, self.options.decide
        places = {id: place for place, id in enumerate(relations)}
        applies = {id: (groups.satisfied >= 0).any(0) for id, groups in relations.items()}
        compared = [id for id in relations if applies[id].sum() > 1]
        if decide == WINNER:
            weights = family_weights(self.population, compared, self.names)
            live = np.flatnonzero(np.any([applies[id] for id in weights], axis=0)).tolist() if weights else []
            return [Contest({places[id]: share for id, share in weights.items()}, tuple(live))] if len(live) > 1 else []
        wanted = compared if decide == RELATIONS else [id for id in compared if self.names[id] == decide]
        return [Contest({places[id]: 1.0}, tuple(np.flatnonzero(applies[id]).tolist())) for id in wanted]

    def decide(self, contests: tuple[Contest, ...], most: int | None) -> tuple[tuple[Contest, ...], list[int]]:
        """Draw the next round of the open contests; returns them with their lists extended, and its number."""
        reached, units, u = self.standing.thresholds, list(self.population.relations), self.population.u
        reached = Thresholds(reached.source, {units.index(id): q for id, q in reached.relation.items()})
        left = None if most is None else most - int(((u <= reached.source) & ~self.standing.labelled).sum())
        while any(contest.ended is None for contest in contests) and (left is None or left > 0):
            extended, reached = self._reach(contests, reached, left)
            thresholds = {0: reached.source} | {units[place]: q for place, q in reached.relation.items()}
            order = np.where(reached.source > 0, u / np.maximum(reached.source, 1e-12), 2.0)
            draws, texts = self.draws(thresholds, order)
            if texts:
                stored = [self._stored(contest) for contest in extended]
                return tuple(extended), [store_round(self.connection, self.population.study, stored, draws)]
            # What lies so far down the lists is answered already: it counts for more than it did.
            contests = tuple(
                done if done.ended else eliminate(done, self.evidence, self.options.eps) for done in extended
            )
        return contests, []

    def _reach(
        self, contests: Sequence[Contest], before: Thresholds, most: int | None
    ) -> tuple[list[Contest], Thresholds]:
        """The contests' lists extended by at least `FIRST` texts that were not asked, where so many are left."""
        first, u = FIRST, self.population.u
        while True:
            extended, reached = ask(contests, self.evidence.relations, u, before, first=first, most=most)
            new = int(((u <= reached.source) & (u > before.source)).sum())
            ended = all(contest.ended or np.isinf(contest.until) for contest in extended)
            if ended or new >= min(FIRST, most or FIRST) or first > len(u):
                return extended, reached
            first *= 2

    def _stored(self, contest: Contest) -> dict[str, Any]:
        """A contest as it is stored: with ids in the place of places."""
        relations, systems = list(self.population.relations), self.population.systems
        return {
            "weights": {str(relations[place]): share for place, share in contest.weights.items()},
            "systems": systems,
            "live": [systems[column] for column in contest.live],
            "leader": None if contest.leader is None else systems[contest.leader],
            "until": None if np.isinf(contest.until) else contest.until,
            "ended": contest.ended,
        }


def family_weights(population: Population, relations: Sequence[int], names: Mapping[int, str]) -> dict[int, float]:
    """Return the weights of relations (ids) in the mean over families: families alike, and within one the relations by
    the fewest groups that a system has under them, so that none gains by where a relation applies to it."""
    sizes: dict[str, dict[int, float]] = {}
    for id in relations:
        applies = (population.relations[id].satisfied >= 0).sum(0)
        registered = find_relation(population.task, base_name(names[id]))
        family = registered.family if registered else names[id]
        sizes.setdefault(family, {})[id] = float(applies[applies > 0].min())
    return {id: n / sum(family.values()) / len(sizes) for family in sizes.values() for id, n in family.items()}


def relation_names(connection: Connection) -> dict[int, str]:
    """Return the names of relations by id."""
    rows = connection.execute(select(relation_table.c.id, relation_table.c.name))
    return {int(id): str(name) for id, name in rows}


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
    work, places, u = _Rounds(connection, population, options, names), list(population.relations), population.u
    contests, first, thresholds = work.contests(), work.thresholds(work.largest), work.standing.thresholds
    of_source = np.max([thresholds.source, *first.values()], axis=0)
    of_relation = {
        places.index(id): np.maximum(thresholds.relation.get(id, 0.0), own) for id, own in first.items() if id
    }
    texts = forecast(contests, work.evidence, u, Thresholds(of_source, of_relation), options.eps, runs)
    own = sum(float((u <= q).sum()) for q in of_relation.values() if q.any())
    questions = 1 + own / max(int((u <= of_source).sum()), 1)
    return Need(texts, int((u <= thresholds.source).sum()), questions, len(contests))
