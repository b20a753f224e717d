"""False satisfactions to read: those that show best what one is, spread over relations and systems."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from sqlalchemy import Connection, select

from audit.false_satisfaction.cells import CELL, Counted
from audit.false_satisfaction.resolution import (
    KnownAnswer,
    Settled,
    Whose,
    answer_of,
    known_answers,
    satisfied_groups,
    settle_group,
)
from audit.judging.causes import current_causes
from audit.reports.document import Entry
from audit.store import rows_among, table_of, tables
from audit.store.bulk import LIMIT
from audit.tasks import get_task
from audit.tasks.questions import Subject

EXAMPLES = 20
"""As many as somebody reads in some minutes."""
_OF_CELL = 10
"""Drawn false satisfactions of a cell whose texts are looked at."""


@dataclass(frozen=True)
class _Candidate:
    cell: tuple[int, int, int]
    settled: Settled
    letters: int
    """Of all its texts: short ones are read at once."""
    doubt: int
    """0: people say that it is false; 1: gold does; 2: gold does, which never says a label of the outputs."""

    @property
    def source(self) -> int:
        return self.settled.drawn.group_id // LIMIT**2


def read_examples(
    connection: Connection,
    counted: Counted,
    whose: Whose,
    lacking: Mapping[str, Sequence[str]],
    number: int = EXAMPLES,
) -> list[Entry]:
    """At most `number` of the drawn groups that are false, by relation and system.

    Relations take turns, and within one the systems; then those come first that people settled, and short texts, and
    last outputs that are wrong for gold because it never says their label (`lacking`, by task). A source stands in one
    example only.
    """
    false = _false(connection, counted, known_answers(connection, whose))
    inputs = {step.input_id for of_cell in false.values() for settled in of_cell for step in settled.drawn.steps}
    texts = _texts(connection, inputs)
    candidates = [
        _Candidate(
            key,
            settled,
            sum(len(text) for step in settled.drawn.steps for text in texts[step.input_id]),
            _doubt(settled, lacking),
        )
        for key, of_cell in false.items()
        for settled in of_cell
    ]
    chosen = list(_in_turns(candidates, number))
    shown = {step.input_id for candidate in chosen for step in candidate.settled.drawn.steps}
    answers = known_answers(connection, whose, shown)
    keys = counted.cells.set_index(CELL)
    corpora = {study["id"]: str(study["corpus"]) for study in counted.studies}
    causes = current_causes(connection)
    rows = _rows_of(connection, [candidate.source for candidate in chosen])
    entries: list[Entry] = []
    for candidate in chosen:
        cell, group = keys.loc[candidate.cell], candidate.settled.drawn
        cause = causes.get((group.group_id, group.system_id))
        entries.append(
            {
                "task": str(cell["task"]),
                "study": int(candidate.cell[0]),
                "corpus": corpora[candidate.cell[0]],
                "relation": str(cell["relation"]),
                "system": str(cell["system"]),
                "row": rows[candidate.source],
                "cause": cause.code if cause else None,
                "members": list(_members(candidate.settled, texts, answers)),
            }
        )
    return sorted(entries, key=lambda entry: (entry["task"], str(entry["study"])))


def _false(
    connection: Connection, counted: Counted, answers: Mapping[Subject, KnownAnswer]
) -> dict[tuple[int, int, int], list[Settled]]:
    """The first false satisfactions of each cell in the order of the sources' random numbers."""
    u = np.concatenate([population.u for population in counted.populations.values()])
    result = {}
    for place, key in enumerate(counted.cells[CELL].itertuples(index=False, name=None)):
        at = np.flatnonzero((counted.judged.cell == place) & (counted.judged.false == 1))
        at = at[np.argsort(u[counted.judged.source[at]], kind="stable")][:_OF_CELL]
        if len(at):
            study, relation, system = key
            groups = satisfied_groups(connection, study, relation, system=system, groups=counted.group[at].tolist())
            rank = {int(group): number for number, group in enumerate(counted.group[at])}
            settled = [settle_group(replace(drawn, rank=rank[drawn.group_id]), answers) for drawn in groups]
            result[key] = sorted(settled, key=lambda one: one.drawn.rank)
    return result


def _doubt(settled: Settled, lacking: Mapping[str, Sequence[str]]) -> int:
    if settled.decided_by != "gold":
        return 0
    never = lacking.get(settled.drawn.task, ())
    return 2 if any(step.output.label in never for step in settled.drawn.steps) else 1


def _in_turns(candidates: Sequence[_Candidate], number: int) -> Iterator[_Candidate]:
    """Relations take turns; the system that was shown least under all relations comes first."""
    left: dict[tuple[int, int], list[_Candidate]] = {}
    for candidate in candidates:
        left.setdefault(candidate.cell[:2], []).append(candidate)
    shown: dict[int, int] = {}
    sources: set[int] = set()
    while left and number > 0:
        for key, of_relation in list(left.items()):
            free = [candidate for candidate in of_relation if candidate.source not in sources]
            if not free:
                del left[key]
                continue
            best = min(
                free,
                key=lambda candidate: (
                    shown.get(candidate.cell[2], 0),
                    candidate.doubt,
                    candidate.letters,
                    candidate.settled.drawn.rank,
                ),
            )
            of_relation.remove(best)
            shown[best.cell[2]] = shown.get(best.cell[2], 0) + 1
            sources.add(best.source)
            yield best
            number -= 1
            if number == 0:
                break


def _members(
    settled: Settled, texts: Mapping[int, Sequence[str]], answers: Mapping[Subject, KnownAnswer]
) -> Iterator[Entry]:
    drawn = settled.drawn
    for step in drawn.steps:
        answer = answer_of(drawn, step, answers)
        yield {
            "role": step.role,
            "texts": list(texts[step.input_id]),
            "output": step.output.label or step.output.text,
            "right": sorted(answer.allowed) if answer else [],
            "origin": answer.origin if answer else "",
            "wrong": get_task(drawn.task).is_wrong(step.output, answer.allowed) if answer else None,
        }


def _texts(connection: Connection, inputs: set[int]) -> dict[int, Sequence[str]]:
    table = table_of(tables.Input)
    return dict(rows_among(connection, select(table.c.id, table.c.texts), table.c.id, sorted(inputs)))


def _rows_of(connection: Connection, sources: Sequence[int]) -> dict[int, str]:
    table = table_of(tables.Source)
    return dict(rows_among(connection, select(table.c.id, table.c.row), table.c.id, sources))
