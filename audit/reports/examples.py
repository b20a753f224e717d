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
    false: list[tuple[Mapping[Any, Any], int, Settled]] = []
    for place, cell in enumerate(counted.cells.to_dict("records")):
        # The first of each cell, in the order of the sources' random numbers.
        at = np.flatnonzero((judged.cell == place) & (judged.false == 1))
        ids = counted.group[at[np.argsort(u[judged.source[at]], kind="stable")][:_OF_CELL]].tolist()
        study, relation, system = (cell[name] for name in CELL)
        groups = satisfied_groups(connection, study, relation, system=system, groups=ids)
        of = {group.group_id: settle_group(group, answers) for group in groups}
        false += [(cell, rank, of[id]) for rank, id in enumerate(ids)]
    inputs = sorted({step.input_id for *_, settled in false for step in settled.drawn.steps})
    of_inputs = select(input_table.c.id, input_table.c.texts)
    texts: dict[int, list[str]] = dict(rows_among(connection, of_inputs, input_table.c.id, inputs))
    shown, entries = Counter[tuple[Any, ...]](), list[tuple[int, Entry]]()

    def order(candidate: tuple[Mapping[Any, Any], int, Settled]) -> tuple[int, ...]:
        cell, rank, settled = candidate
        steps, turn = settled.drawn.steps, (cell["study_id"], cell["relation_id"])
        never, letters = lacking.get(settled.drawn.task, ()), sum(len(t) for of in steps for t in texts[of.input_id])
        doubt = 0 if settled.decided_by != "gold" else 2 if any(of.output.label in never for of in steps) else 1
        return shown[turn], *turn, shown[cell["system_id"],], doubt, letters, rank

    while false and len(entries) < number:
        cell, _, settled = min(false, key=order)
        group = settled.drawn
        source_id, cause = group.group_id // LIMIT**2, causes.get((group.group_id, group.system_id))
        shown.update([(cell["study_id"], cell["relation_id"]), (cell["system_id"],)])
        false = [other for other in false if other[2].drawn.group_id // LIMIT**2 != source_id]
        members = list[Entry]()
        for step in group.steps:
            right = answer_of(group, step, answers)
            wrong = get_task(group.task).is_wrong(step.output, right.allowed) if right else None
            about = {"role": step.role, "texts": list(texts[step.input_id]), "wrong": wrong}
            about |= {"output": step.output.label or step.output.text, "origin": right.origin if right else ""}
            members.append(about | {"right": sorted(right.allowed) if right else []})
        entry = {"task": cell["task"], "study": cell["study_id"], "relation": cell["relation"]}
        entry |= {"system": cell["system"], "cause": cause.code if cause else None, "members": members}
        entries.append((source_id, entry))
    of_sources = select(source.c.id, source.c.row)
    rows = dict(rows_among(connection, of_sources, source.c.id, sorted(id for id, _ in entries)))
    corpora = {study["id"]: str(study["corpus"]) for study in counted.studies}
    examples = [entry | {"corpus": corpora[entry["study"]], "row": rows[id]} for id, entry in entries]
    return sorted(examples, key=lambda entry: (entry["task"], str(entry["study"])))
