"""A user's preferences: weights over relations, read from a file."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

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
    """Return the weights of a CSV (UTF-8) with a header and the columns relation and weight.

    Raises BadFile where the file is missing, empty or lacks a column, or all weights are 0; BadRow, or BadFile for
    several, for a weight that is not a number from 0, an empty relation, or one that is there twice.
    """
    path, bad = Path(file), list[tuple[int, str]]()
    table = read_table(path, ("relation", "weight"), may_be_empty=("weight",), bad=bad)
    number, rows = pd.to_numeric(table["weight"], errors="coerce"), len(table) + len(bad)
    wrong = ~(number >= 0) | np.isinf(number)
    for line, relation in table.loc[table["relation"].duplicated(), "relation"].items():
        bad.append((int(str(line)), f"relation {relation} is there twice"))
    for line, text in table.loc[wrong & ~table["relation"].duplicated(), "weight"].items():
        bad.append((int(str(line)), f"column weight is {text!r}; allowed are numbers from 0"))
    refuse_bad_rows(path, sorted(bad), rows)
    if not number.sum():
        raise BadFile(f"{path}: no relation has a weight above 0; give at least one")
    return Weights(path.name, dict(zip(table["relation"], number.astype(float).tolist(), strict=True)))
