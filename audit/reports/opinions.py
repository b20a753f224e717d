"""What each annotator alone would make of the drawn groups: false satisfactions or true ones.

Two people may disagree about a label and still agree that an output is wrong, or the other way round. What the rates
are made of is the second, so agreement is measured on it too.
"""

from collections.abc import Collection
from typing import Literal

import pandas as pd
from sqlalchemy import Connection, Engine, select

from audit.errors import AuditError
from audit.false_satisfaction.resolution import (
    Drawn,
    KnownAnswer,
    State,
    drawn_groups,
    settle_group,
    subjects_of,
)
from audit.messages import message
from audit.reports.ratings import Rated, stored_ratings
from audit.store import rows_among, table_of, tables
from audit.store.bulk import LIMIT
from audit.tasks.questions import Subject

FALSE, TRUE = "false", "true"
COLUMNS = ["item", "annotator", "label", "cluster", "relation", "system", "language"]


def opinions(engine: Engine, task: str | None = None) -> Rated:
    """Whether each drawn group is a false satisfaction, by the answers of one annotator at a time.

    The frame has the columns of `COLUMNS`: item is a drawn group of one system, label `false` or `true`, cluster its
    source (groups of one source share questions, so they are not independent). A group counts for an annotator only
    where that annotator's answers, carried ones included, cover every member: one wrong output would settle a group as
    false after part of the answers, but never as true. Raises AuditError where nobody has judged, or no group is
    covered.
    """
    rated = stored_ratings(engine, task)
    rows: list[tuple[object, ...]] = []
    with engine.connect() as connection:
        answers_by_person = _own_answers(connection, rated)
        drawn = _different_groups(connection)
        languages = _languages(connection, {group.group_id for group in drawn})
        systems = dict(connection.execute(select(table_of(tables.System).c.id, table_of(tables.System).c.name)).all())
    for name, answers in answers_by_person.items():
        for group in drawn:
            state = _state(group, answers)
            if state is None:
                continue
            item, label = f"{group.group_id}/{group.system_id}", FALSE if state is State.FALSE else TRUE
            source, language = group.group_id // LIMIT**2, languages[group.group_id]
            rows.append((item, name, label, source, group.relation, systems[group.system_id], language))
    if not rows:
        raise AuditError(message("cells.no_opinions"))
    note = (
        "A group counts for an annotator whose own answers cover all its members; groups of one source are a cluster."
    )
    frame = pd.DataFrame(rows, columns=COLUMNS)
    return Rated(frame, (FALSE, TRUE), (*rated.notes, note), {**rated.origin, "about": "false satisfactions"})


def attributed_outputs(engine: Engine, by: Literal["relation", "system"]) -> pd.DataFrame:
    """Which relations or systems each question about an output serves: columns item (its id, text) and value.

    Those of the drawn groups in which a counted member got that very output; of a relation that carries answers, its
    follow-ups included, as in `audit.reports.ratings.attributed`.
    """
    system = table_of(tables.System)
    pairs: set[tuple[str, str]] = set()
    with engine.connect() as connection:
        items = {subject: str(id) for id, subject in subjects_of(connection, ["pair"]).items()}
        names = dict(connection.execute(select(system.c.id, system.c.name)).all())
        for group in drawn_groups(connection, None) if items else ():
            value = group.relation if by == "relation" else names[group.system_id]
            pairs |= {(items[subject], value) for step in group.steps if (subject := group.subject(step)) in items}
    return pd.DataFrame(sorted(pairs), columns=["item", "value"])


def _own_answers(connection: Connection, rated: Rated) -> dict[str, dict[Subject, KnownAnswer]]:
    """Each annotator's own answers, by subject."""
    subject_of = {str(id): subject for id, subject in subjects_of(connection).items()}
    answers: dict[str, dict[Subject, KnownAnswer]] = {}
    for item, name, label in rated.frame[["item", "annotator", "label"]].itertuples(index=False):
        if item in subject_of:
            answers.setdefault(name, {})[subject_of[item]] = KnownAnswer(frozenset({label}), "people")
    return answers


def _state(group: Drawn, answers: dict[Subject, KnownAnswer]) -> State | None:
    """The state of a group by these answers; None where they leave a member open."""
    if not any(group.subject(step) in answers for step in group.steps):
        return None
    resolved = settle_group(group, answers)
    return resolved.state if all(resolved.origins) else None


def _different_groups(connection: Connection) -> list[Drawn]:
    """The groups of all samples, each once for every system."""
    return list({(group.group_id, group.system_id): group for group in drawn_groups(connection, None)}.values())


def _languages(connection: Connection, groups: Collection[int]) -> dict[int, str]:
    """The languages of each group's source."""
    source, input_table = table_of(tables.Source), table_of(tables.Input)
    query = select(source.c.id, input_table.c.languages).join(input_table, input_table.c.id == source.c.input_id)
    sources = sorted({group // LIMIT**2 for group in groups})
    languages = {row.id: row.languages for row in rows_among(connection, query, source.c.id, sources)}
    return {group: languages[group // LIMIT**2] for group in groups}
