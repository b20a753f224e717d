"""How many answers hold each relation's winner up, by the judged common groups that its comparison rests on."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from sqlalchemy import Engine, select

from audit.annotation.accounts import ROLES
from audit.annotation.answers import counting_votes
from audit.annotation.questions import ABOUT_OUTPUTS, Asked
from audit.false_satisfaction.cells import count
from audit.false_satisfaction.groups import Comparison, comparisons
from audit.false_satisfaction.settling import Drawn, Known, Step, Whose, drawn_groups, known_answers
from audit.relations.carry import Seen
from audit.statistics.comparison import Common
from audit.statistics.fragility import OPEN, RIGHT, WRONG, Fragility, JudgedGroup, Part, fragility
from audit.store import pieces, table_of, tables
from audit.tasks import Task, get_task


@dataclass(frozen=True)
class Fragile:
    """How much holds a relation's winner up.

    `questions` is how many questions' answers let `challenger` win when they are changed: the least number where
    `exact`, else at most so many (and at least `least`). `judgements` are those behind the answers of one such set:
    votes of people that agreed, one for an adjudication or gold. `answered` counts the answers that settle the
    groups that the comparison rests on. Numbers are None where no change of answers does it, with the `reason`.
    """

    task: str
    study: int
    relation: str
    winner: tuple[str, ...]
    challenger: str | None
    questions: int | None
    least: int | None
    exact: bool
    judgements: int | None
    answered: int
    reason: str | None = None


def fragile(
    engine: Engine, whose: Whose = "both", study: int | None = None, design: str | None = None
) -> list[Fragile]:
    """One entry per relation of a report, in its cells' order; arguments and errors as of `count`.

    Winners are those of the report, over the groups that apply to all systems of the relation; where these do not say
    who is best there is none. What an answer could be instead is any single label of the task; answers are carried as
    ever. Changes that leave a judged group unsettled do not count.
    """
    counted = count(engine, whose, study, design)
    with engine.connect() as connection:
        known = known_answers(connection, whose)
        compared = {
            (one.study, one.of.relation): (one, one.settled(counted.drawn)) for one in comparisons(engine, counted)
        }
        resting: set[tuple[int, int, int]] = set()
        for comparison, common in compared.values():
            rows = counted.drawn.iloc[comparison.drawn]
            rows = rows[comparison.resting_on(common, rows["judged"].to_numpy(bool))]
            resting.update(rows[["relation_id", "system_id", "group_id"]].itertuples(index=False, name=None))
        drawn: dict[tuple[int, int], list[Drawn]] = {}
        for sample in counted.samples:
            study_id = int(str(sample["study_id"]))
            for one in drawn_groups(connection, [int(str(sample["id"]))]):
                if (one.relation_id, one.system_id, one.group_id) in resting:
                    drawn.setdefault((study_id, one.relation_id), []).append(one)
        found, behind = [], []
        names = counted.keys[["study_id", "relation_id", "task", "study", "relation"]].drop_duplicates()
        for study_id, relation_id, task, number, relation in names.itertuples(index=False):
            key = (int(study_id), int(relation_id))
            empty = Fragile(str(task), int(number), str(relation), (), None, None, None, False, None, 0)
            if key in compared:
                entry, changed = _relation(empty, *compared[key], drawn.get(key, []), known)
            else:
                entry, changed = _because(empty, "fewer than two systems are compared"), []
            found.append(entry)
            behind.append(changed)
        votes = _votes(engine, {asked for changed in behind for asked in changed}, known)
    return [
        one if one.questions is None else replace(one, judgements=sum(votes[asked] for asked in changed))
        for one, changed in zip(found, behind, strict=True)
    ]


def _relation(
    empty: Fragile, comparison: Comparison, common: Common, drawn: Sequence[Drawn], known: Mapping[Asked, Known]
) -> tuple[Fragile, list[Asked]]:
    """The entry of one relation without its judgements, and the questions whose answers would change."""
    if common.short:
        return _because(empty, common.short), []
    best = tuple(common.orders["best_genuine"])
    _, rates = common.rates(relative=True)
    unknown = [system for system, rate in zip(common.systems, rates, strict=True) if np.isnan(rate)]
    if unknown:
        return _because(replace(empty, winner=best), f"no estimate for {', '.join(unknown)}"), []
    numbers: dict[Asked, int] = {}
    place = {system: at for at, system in enumerate(comparison.of.systems)}
    groups = [JudgedGroup(place[one.system_id], tuple(_parts(one, known, numbers))) for one in drawn]
    most, each = common.by_false
    result = fragility(most.tolist(), each.tolist(), groups)
    entry = replace(
        empty,
        winner=best,
        challenger=None if result.challenger is None else common.systems[result.challenger],
        questions=result.most,
        least=result.least,
        exact=result.exact and result.most is not None,
        answered=len(numbers),
        reason=_reason(result),
    )
    asked = {number: of for of, number in numbers.items()}
    return entry, [asked[number] for number, _ in result.changes]


def _reason(result: Fragility) -> str | None:
    if result.most is not None:
        return None
    if result.least is None:
        return "no other answers to the questions that are judged would change the winner"
    return "no way was found in which other answers change the winner and leave every judged group settled"


def _because(entry: Fragile, reason: str) -> Fragile:
    return replace(entry, reason=reason)


def _parts(drawn: Drawn, known: Mapping[Asked, Known], numbers: dict[Asked, int]) -> list[Part]:
    """Each counted member of a group, with what every answer to its question would make of it."""
    task, carry = get_task(drawn.task), drawn.carry
    source = next((step for step in drawn.steps if step.role == "source"), None)
    parts = []
    for step in drawn.steps:
        asked = drawn.asked(step)
        carried = asked not in known
        if carried and source is not None:
            asked = drawn.asked(source)
        if asked not in known:
            parts.append(Part(-1, (OPEN,)))
            continue
        answers = [known[asked].allowed, *_others(task, known[asked].allowed)]
        effects = []
        for allowed in answers:
            if carried:
                seen = (_seen(source), _seen(step)) if carry.reads else (None, None)
                told = carry(allowed, *seen)
            else:
                told = allowed
            effects.append(OPEN if not told else WRONG if task.is_wrong(step.output, told) else RIGHT)
        parts.append(Part(numbers.setdefault(asked, len(numbers)), tuple(effects)))
    return parts


def _others(task: Task, allowed: frozenset[str]) -> list[frozenset[str]]:
    return [frozenset({label}) for label in task.labels if allowed != {label}]


def _seen(step: Step | None) -> Seen | None:
    return None if step is None or step.input is None else Seen(step.input, step.output)


def _votes(engine: Engine, asked: set[Asked], known: Mapping[Asked, Known]) -> dict[Asked, int]:
    """Judgements behind the answer to each question: people's votes, or one for an adjudication or gold."""
    question = table_of(tables.Question)
    found = dict.fromkeys(asked, 1)
    ids: dict[int, Asked] = {}
    with engine.connect() as connection:
        for piece in pieces(sorted({given for _, given, _ in asked})):
            query = select(question.c.id, question.c.task, question.c.input_id, question.c.output).where(
                question.c.kind.in_(ABOUT_OUTPUTS), question.c.input_id.in_(piece)
            )
            for id, *row in connection.execute(query):
                of: Asked = (str(row[0]), int(row[1]), row[2])
                if of in asked and known[of].origin == "people":
                    ids[int(id)] = of
        for of in ids.values():
            found[of] = 0
        for vote in counting_votes(connection, ids):
            if vote.role in ROLES:
                found[ids[vote.question_id]] += 1
    return found
