"""Which sources belong together: the sentences of a document, a text in several languages."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from sqlalchemy import Connection, select

from audit.store import table_of, tables


@dataclass(frozen=True)
class Clusters:
    """The sources that name a cluster: ids, ascending, and codes of their clusters, below 0; both (sources,)."""

    sources: np.ndarray
    codes: np.ndarray

    def of(self, source: np.ndarray) -> np.ndarray:
        """The clusters of these sources (ids): codes, of a source that names none its own id.

        >>> Clusters(np.array([2, 5]), np.array([-1, -1])).of(np.array([5, 3, 2])).tolist()
        [-1, 3, -1]
        """
        source = np.asarray(source, np.int64)
        if not len(self.sources):
            return source
        place = np.minimum(np.searchsorted(self.sources, source), len(self.sources) - 1)
        return np.where(self.sources[place] == source, self.codes[place], source)


ALONE = Clusters(np.empty(0, np.int64), np.empty(0, np.int64))
"""Every source by itself."""


def source_clusters(connection: Connection, studies: Iterable[int]) -> Clusters:
    """The clusters of the sources of these studies (ids). Those of one study are none of another's."""
    source = table_of(tables.Source)
    named = select(source.c.id, source.c.study_id, source.c.cluster).where(
        source.c.study_id.in_(list(studies)), source.c.cluster.is_not(None)
    )
    codes: dict[tuple[int, str], int] = {}
    rows = [(id, codes.setdefault((study, name), -1 - len(codes))) for id, study, name in connection.execute(named)]
    found = np.array(sorted(rows), np.int64).reshape(-1, 2)
    return Clusters(found[:, 0], found[:, 1])
