"""The job of making the groups of some sources that are the same for every system: analyse once, perturb, key."""

from dataclasses import dataclass, field
from operator import itemgetter
from typing import NamedTuple

from audit.language import Analysis
from audit.relations import Fixed, Source
from audit.relations.base import Words
from audit.tasks import Input


class Made(NamedTuple):
    """A group: the places of its source and its relation in the job, its follow-ups with their keys, and its note."""

    source: int
    relation: int
    follow_ups: list[tuple[bytes, Input]]
    note: Words = ()


@dataclass(frozen=True)
class Planning:
    """Perturb sources under relations: a job. A text is tagged once, however many relations look at it."""

    chunk: int
    sources: tuple[tuple[Input, str], ...]
    """Each with the seed of its choices."""
    relations: tuple[Fixed, ...]
    limit: float | None = field(default=None, compare=False)

    def work(self) -> list[Made]:
        """The groups, by source and relation. Raises what a perturbation raises: it is a mistake of the relation's."""
        sources = [Source(one, Analysis(one.text, one.languages[0]), seed) for one, seed in self.sources]
        made = [
            Made(place, number, [(follow_up.key, follow_up) for follow_up in follow_ups], note)
            for number, relation in enumerate(self.relations)
            for place, (follow_ups, note) in enumerate(relation.made_all(sources))
            if follow_ups
        ]
        return sorted(made, key=itemgetter(0, 1))
