"""A user's preferences: weights over relations, read from a file."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from audit.errors import BadFile, UnknownName
from audit.files import read_table, refuse_bad_rows
from audit.statistics.orders import normalised


@dataclass(frozen=True)
class Weights:
    """Weights by relation, 0 or more, and the file they came from. Relations that it leaves out weigh 0."""

    source: str
    of: Mapping[str, float]

    def over(self, relations: list[str]) -> dict[str, float]:
        """Weights of these relations, summing to 1. Raises UnknownName for a weight of a relation that is not there.

        >>> Weights("mine.csv", {"MR1.1": 3, "MR2.1": 1}).over(["MR1.1", "MR1.2", "MR2.1"])
        {'MR1.1': 0.75, 'MR1.2': 0.0, 'MR2.1': 0.25}
        """
        for relation in self.of:
            if relation not in relations:
                raise UnknownName("relation with a weight", relation, relations)
        shares = normalised([self.of.get(relation, 0.0) for relation in relations])
        return dict(zip(relations, shares.tolist(), strict=True))


def read_weights(file: str) -> Weights:
    """Weights of a CSV (UTF-8) with a header and the columns relation and weight.

    Raises BadFile where the file is missing, empty or lacks a column, or all weights are 0; BadRow, or BadFile for
    several, for a weight that is not a number from 0, an empty relation, or one that is there twice.
    """
    path = Path(file)
    faulty_rows: list[tuple[int, str]] = []
    rows = read_table(path, ("relation", "weight"), may_be_empty=("weight",), bad=faulty_rows)
    number_of_rows = len(rows) + len(faulty_rows)
    weights: dict[str, float] = {}
    for number, relation, text in zip(rows.index, rows["relation"], rows["weight"], strict=True):
        weight = _number(text)
        if relation in weights:
            faulty_rows.append((number, f"relation {relation} is there twice"))
        elif weight is None:
            faulty_rows.append((number, f"column weight is {text!r}; allowed are numbers from 0"))
        else:
            weights[relation] = weight
    refuse_bad_rows(path, faulty_rows, number_of_rows)
    if not sum(weights.values()):
        raise BadFile(f"{path}: no relation has a weight above 0; give at least one")
    return Weights(path.name, weights)


def _number(text: str) -> float | None:
    """A weight, or None where the text is none."""
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) and value >= 0 and "_" not in text else None
