"""False satisfactions to read: those that show best what one is, spread over relations and systems."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from sqlalchemy import Connection, select

from audit.false_satisfaction.cells import CELL, Counted
from audit.false_satisfaction.resolution import Settled, Whose, answer_of, known_answers, satisfied_groups, settle_group
from audit.judging.causes import current_causes
from audit.reports.document import Entry
from audit.store import rows_among
from audit.store.bulk import LIMIT
from audit.store.core import input_table, source
from audit.tasks import get_task

EXAMPLES = 20
"""As many as somebody reads in some minutes."""
_OF_CELL = 10
"""Drawn false satisfactions of a cell whose texts are looked at."""


def read_examples(
    connection: Connection, counted: Counted, whose: Whose, lacking: Mapping[str, Sequence[str]], number: int = EXAMPLES
) -> list[Entry]:
    """Return at most `number` of the drawn groups that are false, by relation and system.

    Relations take turns, and within one the systems; then those come first that people settled, and short texts, and
    last outputs that are wrong for gold because it never says their label (`lacking`, by task). A source stands in one
    example only.
    """
    answers, causes, judged = known_answers(connection, whose), current_causes(connection), counted.judged
    u = np.concatenate([population.u for population in counted.populations.values()])
    false: list[tuple[int, int, Settled]] = []
    for place, (study, relation, system) in enumerate(counted.cells[CELL].itertuples(index=False, name=None)):
        # The first of each cell, in the order of the sources' random numbers.
        at = np.flatnonzero((judged.cell == place) & (judged.false == 1))
        ids = counted.group[at[np.argsort(u[judged.source[at]], kind="stable")][:_OF_CELL]].tolist()
        groups = satisfied_groups(connection, study, relation, system=system, groups=ids)
        of = {group.group_id: settle_group(group, answers) for group in groups}
        false += [(place, rank, of[id]) for rank, id in enumerate(ids)]
    inputs = {step.input_id for *_, settled in false for step in settled.drawn.steps}
    of_inputs = select(input_table.c.id, input_table.c.texts)
    texts: dict[int, list[str]] = dict(rows_among(connection, of_inputs, input_table.c.id, sorted(inputs)))
    cells, shown, entries = counted.cells.to_dict("records"), Counter[tuple[Any, ...]](), list[tuple[int, Entry]]()

    def order(candidate: tuple[int, int, Settled]) -> tuple[int, ...]:
        place, rank, settled = candidate
        cell, steps = cells[place], settled.drawn.steps
        turn, letters = (
            (cell["study_id"], cell["relation_id"]),
            sum(len(t) for one in steps for t in texts[one.input_id]),
        )
        never = lacking.get(settled.drawn.task, ())
        doubt = 0 if settled.decided_by != "gold" else 2 if any(one.output.label in never for one in steps) else 1
        return shown[turn], *turn, shown[cell["system_id"],], doubt, letters, rank

    while false and len(entries) < number:
        place, _, settled = min(false, key=order)
        cell, group = cells[place], settled.drawn
        source_id, cause = group.group_id // LIMIT**2, causes.get((group.group_id, group.system_id))
        shown.update([(cell["study_id"], cell["relation_id"]), (cell["system_id"],)])
        false = [one for one in false if one[2].drawn.group_id // LIMIT**2 != source_id]
        place_of = {
            "task": cell["task"],
            "study": cell["study_id"],
            "relation": cell["relation"],
            "system": cell["system"],
        }
        members = _members(settled, texts, answers)
        entries.append((source_id, place_of | {"cause": cause.code if cause else None, "members": members}))
    of_sources = select(source.c.id, source.c.row)
    rows = dict(rows_among(connection, of_sources, source.c.id, sorted(id for id, _ in entries)))
    corpora = {study["id"]: str(study["corpus"]) for study in counted.studies}
    found = [entry | {"corpus": corpora[entry["study"]], "row": rows[id]} for id, entry in entries]
    return sorted(found, key=lambda entry: (entry["task"], str(entry["study"])))


def _members(settled: Settled, texts: Mapping[int, Sequence[str]], answers: Any) -> list[Entry]:
    drawn, members = settled.drawn, list[Entry]()
    for step in drawn.steps:
        answer = answer_of(drawn, step, answers)
        members.append(
            {
                "role": step.role,
                "texts": list(texts[step.input_id]),
                "output": step.output.label or step.output.text,
                "right": sorted(answer.allowed) if answer else [],
                "origin": answer.origin if answer else "",
                "wrong": get_task(drawn.task).is_wrong(step.output, answer.allowed) if answer else None,
            }
        )
    return members
