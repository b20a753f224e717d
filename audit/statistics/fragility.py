"""How many answers would have to be others for another system to come out best.

A winner by one answer and a winner by fifty look alike in a ranking. What is counted here are answered questions, the
smallest number whose answers, were they changed, would let the best systems of a relation be beaten. Each answer may
settle many groups of many systems at once, so this is no arithmetic of single groups. The idea is the fragility index
of a trial (Walsh et al., Journal of Clinical Epidemiology 67, 2014): how many patients' outcomes had to be others.

Only groups that are judged count, and they stay judged: a change that would leave one of them unsettled is none.
"""

import heapq
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import count

from audit.statistics.orders import TIED, best_of

RIGHT, WRONG, OPEN = 0, 1, 2
"""What an answer makes of a member's output; OPEN: it leaves it without an answer."""


@dataclass(frozen=True, slots=True)
class Part:
    """A member of a judged group: the question whose answer decides it, and what each answer would make of it.

    `effects[0]` is of the present answer, the others of the other answers that the question could have.
    """

    question: int
    effects: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class JudgedGroup:
    """A judged group of one system: false where a part is WRONG, unsettled where none is and a part is OPEN."""

    system: int
    parts: tuple[Part, ...]


@dataclass(frozen=True)
class Fragility:
    """The least number of questions, between `least` and `most`, whose answers let `challenger` beat the best.

    `changes` are (question, answer) of one way that needs `most` of them. Where `exact`, both numbers are the same.
    All are None, and `changes` is empty, where no change of answers does it; `most` alone is None where none was found.
    """

    best: tuple[int, ...]
    challenger: int | None
    least: int | None
    most: int | None
    changes: tuple[tuple[int, int], ...] = ()

    @property
    def exact(self) -> bool:
        return self.least == self.most


def fragility(whole: Sequence[float], each: Sequence[float], groups: Iterable[JudgedGroup]) -> Fragility:
    """How many questions' answers separate the best systems of a relation from being beaten by another one.

    The rate of system i is `whole[i]` - `each[i]` x the false ones of its groups (`Common.by_false`). The best have the
    highest rate, ties included; they are beaten when a system that is not among them has a higher rate than each of
    them. `least` is a bound that no smaller number passes: each question is credited with all that its groups could
    change for the better, and the largest credits are added up until they reach the gap. `most` is what a greedy search
    needs, which changes the answer that closes most of the gap, again and again, or all wrong parts of a group together
    where no single one does. Where every group hangs on one question and one system is best, both are the answer.

    >>> leader = JudgedGroup(0, (Part(0, (RIGHT, WRONG)),))
    >>> rival = JudgedGroup(1, (Part(1, (WRONG, RIGHT)),))
    >>> fragility([0.9, 0.8], [0.9, 0.8], [leader, rival]).most
    2
    """
    judged = list(groups)
    search = _Search(judged, each)
    rates = [rate - each[at] * search.false[at] for at, rate in enumerate(whole)]
    best = tuple(best_of(dict(enumerate(rates))))
    bounds = [(at, _least(search, rates, best, at)) for at in range(len(rates)) if at not in best]
    possible = sorted((least, at) for at, least in bounds if least is not None)
    if not possible:
        return Fragility(best, None, None, None)
    challenger = possible[0][1]
    changes: dict[int, int] | None = None
    for least, at in possible:
        if changes is not None and least >= len(changes):
            break
        moves = _Search(judged, each).beat([rates[leader] - rates[at] for leader in best], best, at)
        if moves is not None and (changes is None or len(moves) < len(changes)):
            challenger, changes = at, moves
    bound = possible[0][0]
    if changes is None:
        return Fragility(best, challenger, bound, None)
    # What lets one system beat the best may let another one that beats them, too, come out before it.
    false = _Search(judged, each, changes).false
    challenger = max(
        (at for at in range(len(rates)) if at not in best), key=lambda at: whole[at] - each[at] * false[at]
    )
    return Fragility(best, challenger, bound, len(changes), tuple(sorted(changes.items())))


def _least(search: "_Search", rates: Sequence[float], best: Sequence[int], challenger: int) -> int | None:
    """A number of questions below which this challenger cannot beat the best; None: it never can."""
    bounds = []
    for leader in best:
        credits = sorted(search.credits(leader, challenger), reverse=True)
        gap, number = rates[leader] - rates[challenger], 0
        while gap >= -TIED and number < len(credits) and credits[number] > 0:
            gap -= credits[number]
            number += 1
        if gap >= -TIED:
            return None
        bounds.append(number)
    return max(bounds)


class _Search:
    """The judged groups under a choice of answers."""

    def __init__(self, groups: Sequence[JudgedGroup], weight: Sequence[float], chosen: Mapping[int, int] | None = None):
        self._groups, self._weight = groups, weight
        self._chosen = dict(chosen or {})
        self._of: dict[int, list[int]] = {}
        """Groups by question."""
        self._answers: dict[int, int] = {}
        """How many answers each question could have."""
        self.false = [0] * len(weight)
        for place, group in enumerate(groups):
            self.false[group.system] += self._state(group) == WRONG
            for part in group.parts:
                self._answers[part.question] = len(part.effects)
                places = self._of.setdefault(part.question, [])
                if not places or places[-1] != place:
                    places.append(place)

    def _state(self, group: JudgedGroup, changes: Mapping[int, int] | None = None) -> int:
        state = RIGHT
        for part in group.parts:
            answer = self._chosen.get(part.question, 0)
            if changes is not None:
                answer = changes.get(part.question, answer)
            effect = part.effects[answer]
            if effect == WRONG:
                return WRONG
            if effect == OPEN:
                state = OPEN
        return state

    def credits(self, leader: int, challenger: int) -> list[float]:
        """Per question the most that it adds to the challenger's rate less that of `leader`, whatever the others do."""
        return [
            max([0.0, *(self._credit(question, answer, leader, challenger) for answer in range(1, answers))])
            for question, answers in self._answers.items()
        ]

    def _credit(self, question: int, answer: int, leader: int, challenger: int) -> float:
        credit = 0.0
        for place in self._of[question]:
            group = self._groups[place]
            false = self._state(group) == WRONG
            effects = [part.effects for part in group.parts if part.question == question]
            if len(effects) == len(group.parts):  # nothing else has a say in this group
                then = self._state(group, {question: answer})
                if then == OPEN:
                    return 0.0
                change = int(then == WRONG) - int(false)
                credit += (
                    self._weight[group.system] * change * ((group.system == leader) - (group.system == challenger))
                )
            elif group.system == leader:
                worse = any(effect[answer] == WRONG for effect in effects)
                credit += self._weight[leader] * (worse and not false)
            elif group.system == challenger:
                mends = any(effect[0] == WRONG for effect in effects)
                mends = mends and all(effect[answer] == RIGHT for effect in effects)
                credit += self._weight[challenger] * (false and mends)
        return credit

    def beat(self, gaps: Sequence[float], best: Sequence[int], challenger: int) -> dict[int, int] | None:
        """Questions and answers that let the challenger beat all the best, by a greedy search; None: none found."""
        remaining = dict(zip(best, gaps, strict=True))
        tie = count()
        queue: list[tuple[float, int, int, tuple[tuple[int, int], ...]]] = []
        stamp: dict[tuple[tuple[int, int], ...], int] = {}

        def offer(move: tuple[tuple[int, int], ...]) -> None:
            gain = self._closed(dict(move), remaining, challenger)
            stamp[move] = stamp.get(move, 0) + 1
            if gain is not None and gain > TIED:
                heapq.heappush(queue, (-gain / len(move), next(tie), stamp[move], move))

        touching: dict[int, list[tuple[tuple[int, int], ...]]] = {}
        for move in self._moves(challenger):
            for question, _ in move:
                for place in self._of[question]:
                    touching.setdefault(place, []).append(move)
            offer(move)
        while any(gap >= -TIED for gap in remaining.values()):
            if not queue:
                return None
            _, _, when, move = heapq.heappop(queue)
            if stamp[move] != when or any(question in self._chosen for question, _ in move):
                continue
            changes = dict(move)
            places = sorted({place for question in changes for place in self._of[question]})
            now = self._closed(changes, remaining, challenger)
            if now is None or now <= TIED:
                continue
            for system, change in self._change(changes, places, remaining, challenger).items():
                remaining[system] = change
            self._chosen |= changes
            # Only moves that share a group with this one are worth something else now; where several systems are best,
            # all are, since a gap that is closed counts no more.
            again = {other for place in places for other in touching[place]} if len(remaining) == 1 else set(stamp)
            for other in sorted(again):
                if not any(question in self._chosen for question, _ in other):
                    offer(other)
        return self._needed(remaining, challenger)

    def _needed(self, remaining: dict[int, float], challenger: int) -> dict[int, int]:
        """The chosen answers without those that later ones made superfluous."""
        for question in list(self._chosen):
            after = self._change({question: 0}, self._of[question], remaining, challenger)
            if after and all(gap < -TIED for gap in after.values()):
                remaining = after
                del self._chosen[question]
        return self._chosen

    def _moves(self, challenger: int) -> list[tuple[tuple[int, int], ...]]:
        """Every change of one answer, and for each false group of the challenger all that mends it at once."""
        moves: set[tuple[tuple[int, int], ...]] = {
            ((question, answer),) for question, answers in self._answers.items() for answer in range(1, answers)
        }
        for group in self._groups:
            wrong = {part.question for part in group.parts if part.effects[0] == WRONG}
            if group.system == challenger and len(wrong) > 1:
                mending = []
                for question in sorted(wrong):
                    effects = [part.effects for part in group.parts if part.question == question]
                    right = [
                        answer
                        for answer in range(1, self._answers[question])
                        if all(effect[answer] == RIGHT for effect in effects)
                    ]
                    mending += [(question, right[0])] if right else []
                if len(mending) == len(wrong):
                    moves.add(tuple(mending))
        return sorted(moves)

    def _closed(self, changes: Mapping[int, int], remaining: Mapping[int, float], challenger: int) -> float | None:
        """How much of the gaps a change closes; None where it leaves a judged group unsettled."""
        places = sorted({place for question in changes for place in self._of[question]})
        after = self._change(changes, places, remaining, challenger)
        if not after:
            return None
        # What goes beyond closing a gap is worth no more than just closing it.
        return sum(max(remaining[system], -2 * TIED) - max(after[system], -2 * TIED) for system in remaining)

    def _change(
        self, changes: Mapping[int, int], places: Sequence[int], remaining: Mapping[int, float], challenger: int
    ) -> dict[int, float]:
        """The gaps after a change; empty where it leaves a judged group unsettled."""
        after = dict(remaining)
        for place in places:
            group = self._groups[place]
            before, then = self._state(group), self._state(group, changes)
            if then == OPEN:
                return {}
            moved = (then - before) * self._weight[group.system]
            if group.system == challenger:
                for system in after:
                    after[system] += moved
            elif group.system in after:
                after[group.system] -= moved
        return after
