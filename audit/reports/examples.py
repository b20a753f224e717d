"""False satisfactions to read: those that show best what one is, spread over relations and systems."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sqlalchemy import Connection, select
from sqlmodel import SQLModel

from audit.false_satisfaction.cells import CELL, Counted
from audit.false_satisfaction.resolution import (
    Drawn,
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
    """Return at most `number` of the drawn groups that are false, by relation and system.

    Relations take turns, and within one the systems; then those come first that people settled, and short texts, and
    last outputs that are wrong for gold because it never says their label (`lacking`, by task). A source stands in one
    example only.
    """
    false = list(_false(connection, counted, known_answers(connection, whose)))
    texts = _values(connection, tables.Input, "texts", {step.input_id for _, one in false for step in one.drawn.steps})
    candidates = []
    for cell, settled in false:
        letters = sum(len(text) for step in settled.drawn.steps for text in texts[step.input_id])
        never = lacking.get(settled.drawn.task, ())
        is_lacking = any(step.output.label in never for step in settled.drawn.steps)
        doubt = 0 if settled.decided_by != "gold" else 2 if is_lacking else 1
        candidates.append(_Candidate(cell, settled, letters, doubt))
    chosen = list(_in_turns(candidates, number))
    shown = {step.input_id for candidate in chosen for step in candidate.settled.drawn.steps}
    answers, causes = known_answers(connection, whose, shown), current_causes(connection)
    keys, corpora = counted.cells.set_index(CELL), {study["id"]: str(study["corpus"]) for study in counted.studies}
    rows = _values(connection, tables.Source, "row", {candidate.source for candidate in chosen})
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
                "members": list(_members(group, texts, answers)),
            }
        )
    return sorted(entries, key=lambda entry: (entry["task"], str(entry["study"])))


def _false(
    connection: Connection, counted: Counted, answers: Mapping[Subject, KnownAnswer]
) -> Iterator[tuple[tuple[int, int, int], Settled]]:
    """The first false satisfactions of each cell, in the order of the sources' random numbers."""
    u = np.concatenate([population.u for population in counted.populations.values()])
    for place, key in enumerate(counted.cells[CELL].itertuples(index=False, name=None)):
        at = np.flatnonzero((counted.judged.cell == place) & (counted.judged.false == 1))
        ids = counted.group[at[np.argsort(u[counted.judged.source[at]], kind="stable")][:_OF_CELL]].tolist()
        study, relation, system = key
        of = {
            group.group_id: group for group in satisfied_groups(connection, study, relation, system=system, groups=ids)
        }
        yield from ((key, settle_group(replace(of[id], rank=rank), answers)) for rank, id in enumerate(ids))


def _in_turns(candidates: Sequence[_Candidate], number: int) -> Iterator[_Candidate]:
    """Relations take turns; the system that was shown least under all relations comes first."""
    left: dict[tuple[int, int], list[_Candidate]] = {}
    for candidate in candidates:
        left.setdefault(candidate.cell[:2], []).append(candidate)
    shown, sources = Counter[int](), set[int]()

    def order(one: _Candidate) -> tuple[int, int, int, int]:
        return shown[one.cell[2]], one.doubt, one.letters, one.settled.drawn.rank

    while left and len(sources) < number:
        for key, of_relation in list(left.items()):
            left[key] = [candidate for candidate in of_relation if candidate.source not in sources]
            if not left[key]:
                del left[key]
            elif len(sources) < number:
                best = min(left[key], key=order)
                shown[best.cell[2]] += 1
                sources.add(best.source)
                yield best


def _members(
    drawn: Drawn, texts: Mapping[int, Sequence[str]], answers: Mapping[Subject, KnownAnswer]
) -> Iterator[Entry]:
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


def _values(connection: Connection, model: type[SQLModel], column: str, ids: Collection[int]) -> dict[int, Any]:
    table = table_of(model)
    return dict(rows_among(connection, select(table.c.id, table.c[column]), table.c.id, sorted(ids)))
