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
        if unknown := [relation for relation in self.of if relation not in relations]:
            raise UnknownName("relation with a weight", unknown[0], relations)
        shares = normalised([self.of.get(relation, 0.0) for relation in relations])
        return dict(zip(relations, shares.tolist(), strict=True))


def read_weights(file: str) -> Weights:
    """Return the weights of a table with the columns relation and weight.

    Raises BadFile or BadRow for what cannot be read, a weight that is not a number from 0, a relation that is there
    twice, and where all weights are 0.
    """
    table = read_table(file, ("relation", "weight"))
    number = pd.to_numeric(table["weight"], errors="coerce")
    wrong = table[~number.between(0, np.finfo(float).max) | table["relation"].duplicated()]
    allowed = "allowed is a number from 0, once for each relation"
    bad = [(line, f"relation {name} has the weight {text!r}; {allowed}") for line, name, text in wrong.itertuples()]
    refuse_bad_rows(file, bad, len(table))
    if not number.sum():
        raise BadFile(f"{file}: no relation has a weight above 0; give at least one")
    return Weights(Path(file).name, dict(zip(table["relation"], number.astype(float).tolist(), strict=True)))
