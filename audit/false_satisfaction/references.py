"""How far outputs that are texts lie from the references that a corpus has: a proxy of being wrong, never gold.

There are many right translations and summaries of a text; a reference is one of them. So a distance settles nothing,
but it goes with being wrong, and sharpens an estimate as any proxy does (`audit.false_satisfaction.proxies`).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from sqlalchemy import Connection, select

from audit.language.text_similarity import levenshtein_similarity
from audit.store import table_of, tables

COLUMN = "reference"
"""The column of a corpus that holds references."""
_ROWS = 50_000


@dataclass(frozen=True)
class Distances:
    """How far the outputs about a study's sources lie from the sources' references.

    `sources` and `systems` are ids, ascending; `values` (sources, systems) are 1 - Levenshtein similarity, from 0 (the
    same text) to 1; NaN where there is no reference, or no output that is a text.
    """

    sources: np.ndarray
    systems: np.ndarray
    values: np.ndarray

    def of(self, sources: np.ndarray, system: int) -> np.ndarray:
        """The distances of one system's outputs about these sources, in their order."""
        return self.values[np.searchsorted(self.sources, sources), int(np.searchsorted(self.systems, system))]


def distances(connection: Connection, study: int, systems: Sequence[int]) -> Distances:
    """The distances of a study's outputs; only the source's own output is compared, for references are of sources."""
    source, output = table_of(tables.Source), table_of(tables.Output)
    wanted = np.unique(np.asarray(systems, np.int64))
    rows = select(source.c.id, source.c.attributes).where(source.c.study_id == study).order_by(source.c.id)
    references: dict[int, str] = {}
    ids: list[int] = []
    for id, attributes in connection.execute(rows, execution_options={"yield_per": _ROWS}):
        ids.append(int(id))
        if isinstance(given := attributes.get(COLUMN), str) and given.strip():
            references[int(id)] = given.strip()
    found = Distances(np.array(ids, np.int64), wanted, np.full((len(ids), len(wanted)), np.nan))
    if not references:
        return found
    said = (
        select(source.c.id, output.c.system_id, output.c.text)
        .join(output, output.c.input_id == source.c.input_id)
        .where(source.c.study_id == study, output.c.system_id.in_(wanted.tolist()), output.c.text.is_not(None))
        .order_by(output.c.attempt)  # the last attempt counts
    )
    for id, system, text in connection.execute(said, execution_options={"yield_per": _ROWS}):
        if (reference := references.get(int(id))) is not None:
            place = int(np.searchsorted(found.sources, id)), int(np.searchsorted(wanted, system))
            found.values[place] = 1 - levenshtein_similarity(reference, str(text))
    return found
