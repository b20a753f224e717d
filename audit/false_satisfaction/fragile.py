"""How many answers hold each relation's winner up, from the settled beginnings of the draws."""

from collections.abc import Mapping
from dataclasses import dataclass

from sqlalchemy import Engine, select

from audit.annotation.accounts import ROLES
from audit.annotation.answers import counting_votes
from audit.annotation.questions import ABOUT_OUTPUTS, Asked
from audit.false_satisfaction.cells import CELL, Counted, count
from audit.false_satisfaction.settling import Drawn, Known, Step, Whose, drawn_groups, known_answers
from audit.relations.carry import Seen
from audit.statistics.fragility import OPEN, RIGHT, WRONG, Fragility, JudgedGroup, Part, fragility
from audit.store import pieces, table_of, tables
from audit.tasks import Task, get_task


@dataclass(frozen=True)
class Fragile:
    """How much holds a relation's winner up.

    `questions` is how many questions' answers let `challenger` win when they are changed: the least number where
    `exact`, else at most so many (and at least `least`). `judgements` are those behind the answers of one such set:
    votes of people that agreed, one for an adjudication or gold. `answered` counts the answers that settle the
    relation's judged groups. Numbers are None where no change of answers does it, with the `reason`.
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

    A relation has no winner while a system that might be best has no estimate. What an answer could be instead is
    any single label of the task; answers are carried as ever. Changes that leave a judged group unsettled do not count.
    """
    counted = count(engine, whose, study, design)
    with engine.connect() as connection:
        known = known_answers(connection, whose)
        samples = [int(str(one["id"])) for one in counted.samples]
        judged = _judged(counted)
        by_cell: dict[tuple[int, int, int], list[Drawn]] = {}
        studies = {int(str(one["id"])): int(str(one["study_id"])) for one in counted.samples}
        for sample in samples:
            for drawn in drawn_groups(connection, [sample]):
                key = (studies[sample], drawn.relation_id, drawn.system_id)
                if (key, drawn.group_id) in judged:
                    by_cell.setdefault(key, []).append(drawn)
        found, behind = [], []
        numbers = counted.cells.assign(**{name: counted.keys[name] for name in CELL})
        for (study_id, relation_id), cells in numbers.groupby(["study_id", "relation_id"], sort=False):
            one, changed = _relation(
                cells.to_dict("records"),
                {int(s): by_cell.get((int(study_id), int(relation_id), int(s)), []) for s in cells["system_id"]},
                known,
            )
            found.append(one)
            behind.append(changed)
        votes = _votes(engine, {asked for changed in behind for asked in changed}, known)
    return [
        one if one.questions is None else Fragile(**vars(one) | {"judgements": sum(votes[asked] for asked in changed)})
        for one, changed in zip(found, behind, strict=True)
    ]


def _judged(counted: Counted) -> set[tuple[tuple[int, int, int], int]]:
    rows = counted.drawn[counted.drawn["judged"]]
    keys = zip(rows["study_id"], rows["relation_id"], rows["system_id"], strict=True)
    return {
        ((int(study), int(relation), int(system)), int(group))
        for (study, relation, system), group in zip(keys, rows["group_id"], strict=True)
    }


def _relation(
    cells: list[dict[str, object]], drawn: Mapping[int, list[Drawn]], known: Mapping[Asked, Known]
) -> tuple[Fragile, list[Asked]]:
    """The entry of one relation without its judgements, and the questions whose answers would change."""
    first = cells[0]
    empty = Fragile(
        str(first["task"]), int(str(first["study"])), str(first["relation"]), (), None, None, None, False, None, 0
    )
    compared = [cell for cell in cells if int(str(cell["satisfied"])) + int(str(cell["violated"]))]
    rates = [
        int(str(cell["satisfied"])) / (int(str(cell["satisfied"])) + int(str(cell["violated"]))) for cell in compared
    ]
    # A system that satisfies nothing has SR_g = 0 without being judged.
    unknown = [
        str(cell["system"]) for cell, rate in zip(compared, rates, strict=True) if rate and not int(str(cell["judged"]))
    ]
    if len(compared) < 2:
        return _because(empty, "fewer than two systems are compared"), []
    if unknown:
        return _because(empty, f"no estimate for {', '.join(unknown)}"), []
    numbers: dict[Asked, int] = {}
    groups = [
        JudgedGroup(place, tuple(_parts(one, known, numbers)))
        for place, cell in enumerate(compared)
        for one in drawn[int(str(cell["system_id"]))]
    ]
    result = fragility(rates, groups)
    names = [str(cell["system"]) for cell in compared]
    entry = Fragile(
        empty.task,
        empty.study,
        empty.relation,
        tuple(sorted(names[at] for at in result.best)),
        None if result.challenger is None else names[result.challenger],
        result.most,
        result.least,
        result.exact and result.most is not None,
        None,
        len(numbers),
        _reason(result),
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
    return Fragile(**vars(entry) | {"reason": reason})


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
