"""Which gold labels each judged group rests on, and whether it would be false were they others."""

from collections.abc import Mapping
from itertools import product

import numpy as np
import pandas as pd
from sqlalchemy import Engine

from audit.annotation.questions import Asked
from audit.false_satisfaction.beginnings import gold_labels
from audit.false_satisfaction.cells import CELL, Counted
from audit.false_satisfaction.settling import Drawn, Known, State, Whose, drawn_groups, known_answers, settle_group

MOST = 4096
"""Combinations of labels that are gone through of one group: 12 labels that say one of two."""


def read_resting(engine: Engine, counted: Counted, whose: Whose) -> pd.DataFrame:
    """A row per drawn group of a cell: the columns of `CELL`, group_id, labels (tuple of numbers, the same for the same
    gold row everywhere), seen (tuple of places) and false (bool array), as `audit.statistics.label_error.Resting` has
    them, and modelled.

    What gold said of a text moves all members that it settles, of all groups. `modelled` is False where other labels
    would leave the group open, or there are more than `MOST` combinations: it rests on none then, as if gold were
    right.
    """
    numbers: dict[Asked, int] = {}
    rows: list[tuple[object, ...]] = []
    with engine.connect() as connection:
        known = known_answers(connection, whose)
        said = {task: sorted(labels) for task, labels in gold_labels(connection).items()}
        for sample in counted.samples:
            for drawn in drawn_groups(connection, [int(str(sample["id"]))]):
                key = (sample["study_id"], drawn.relation_id, drawn.system_id, drawn.group_id)
                asked = _asked_gold(drawn, known)
                labels = said.get(drawn.task, [])
                false = _false(drawn, known, asked, labels)
                if false is None:
                    state = settle_group(drawn, known).state
                    rows.append((*key, (), (), np.array(state is State.FALSE), not asked))
                    continue
                places = tuple(numbers.setdefault(one, len(numbers)) for one in asked)
                seen = tuple(labels.index(next(iter(known[one].allowed))) for one in asked)
                rows.append((*key, places, seen, false, True))
    return pd.DataFrame(rows, columns=[*CELL, "group_id", "labels", "seen", "false", "modelled"])


def _asked_gold(drawn: Drawn, known: Mapping[Asked, Known]) -> list[Asked]:
    """What gold answered of a group's members, each once."""
    asked = dict.fromkeys(drawn.asked(step) for step in drawn.steps)
    return [one for one in asked if one in known and known[one].origin == "gold" and len(known[one].allowed) == 1]


def _false(drawn: Drawn, known: Mapping[Asked, Known], asked: list[Asked], labels: list[str]) -> np.ndarray | None:
    """Whether the group is false under every combination of labels; None where one leaves it open, or gold says
    nothing."""
    if not asked or len(labels) ** len(asked) > MOST:
        return None
    found = np.zeros((len(labels),) * len(asked), bool)
    here = {one: known[one] for step in drawn.steps if (one := drawn.asked(step)) in known}
    for places in product(range(len(labels)), repeat=len(asked)):
        other = {one: Known(frozenset([labels[at]]), "gold") for one, at in zip(asked, places, strict=True)}
        state = settle_group(drawn, here | other).state
        if state is State.WAITING:
            return None
        found[places] = state is State.FALSE
    return found
