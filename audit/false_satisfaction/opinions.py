"""What each annotator alone would make of the drawn groups: false satisfactions or true ones.

Two people may disagree about a label and still agree that an output is wrong, or the other way round. What the rates
are made of is the second, so agreement is measured on it too.
"""

from typing import Any, Literal

import pandas as pd
from sqlalchemy import Connection, Engine, select

from audit.annotation.questions import ABOUT_OUTPUTS, Subject, asks_pairs
from audit.annotation.ratings import Rated, stored_ratings
from audit.errors import AuditError
from audit.false_satisfaction.resolution import Drawn, KnownAnswer, State, drawn_groups, settle_group, source_of
from audit.messages import message
from audit.store import pieces, table_of, tables

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
    rows: list[dict[str, object]] = []
    with engine.connect() as connection:
        answers_by_person = _own_answers(connection, rated)
        samples = [int(row[0]) for row in connection.execute(select(table_of(tables.Sample).c.id))]
        drawn = list({(group.group_id, group.system_id): group for group in drawn_groups(connection, samples)}.values())
        source_of_group = _places(connection, sorted({group.group_id for group in drawn}))
        systems = dict(connection.execute(select(table_of(tables.System).c.id, table_of(tables.System).c.name)).all())
    for name, answers in answers_by_person.items():
        for group in drawn:
            state = _state(group, answers)
            if state is None:
                continue
            source, language = source_of_group[group.group_id]
            rows.append(
                {
                    "item": f"{group.group_id}/{group.system_id}",
                    "annotator": name,
                    "label": FALSE if state is State.FALSE else TRUE,
                    "cluster": source,
                    "relation": group.relation,
                    "system": systems[group.system_id],
                    "language": language,
                }
            )
    if not rows:
        raise AuditError(message("cells.no_opinions"))
    note = (
        "A group counts for an annotator whose own answers cover all its members; groups of one source are a cluster."
    )
    frame = pd.DataFrame(rows, columns=COLUMNS)
    return Rated(frame, (FALSE, TRUE), (*rated.notes, note), {**rated.origin, "about": "false satisfactions"})


def answered_outputs(engine: Engine, task: str) -> pd.DataFrame:
    """Outputs of the groups that one answer settles: columns item (a question, as in ratings), output, groups.

    `groups` counts the drawn groups, each once for every system, of relations that carry every answer, whose counted
    outputs are all the label `output`: such a group is false exactly where the answer about its source is another one.
    Where people judge outputs one by one the answer is no label that a system could have said: there is no row.
    """
    columns = ["item", "output", "groups"]
    if asks_pairs(task):
        return pd.DataFrame(columns=columns)
    question = table_of(tables.Question)
    counts: dict[tuple[str, str], int] = {}
    with engine.connect() as connection:
        query = select(question.c.id, question.c.input_id).where(question.c.kind == "input", question.c.task == task)
        question_of = {int(row[1]): str(row[0]) for row in connection.execute(query)}
        samples = [int(row[0]) for row in connection.execute(select(table_of(tables.Sample).c.id))]
        drawn = {(group.group_id, group.system_id): group for group in drawn_groups(connection, samples)}
    for group in drawn.values():
        source, labels = source_of(group), {step.output.label for step in group.steps}
        if group.task != task or source is None or not group.carry.preserves_truth or len(labels) > 1:
            continue
        label = labels.pop()
        if source.input_id in question_of and label is not None:
            key = (question_of[source.input_id], label)
            counts[key] = counts.get(key, 0) + 1
    return pd.DataFrame([(*key, number) for key, number in counts.items()], columns=columns)


def attributed_outputs(engine: Engine, by: Literal["relation", "system"]) -> pd.DataFrame:
    """Which relations or systems each question about an output serves: columns item (its id, text) and value.

    Those of the drawn groups in which a counted member got that very output; of a relation that carries answers, its
    follow-ups included, as in `audit.annotation.ratings.attributed`.
    """
    question, system = table_of(tables.Question), table_of(tables.System)
    pairs: set[tuple[str, str]] = set()
    with engine.connect() as connection:
        columns = (question.c.id, question.c.task, question.c.input_id, question.c.output)
        rows = connection.execute(select(*columns).where(question.c.kind == "pair"))
        items: dict[Subject, str] = {(str(task), int(input_id), output): str(id) for id, task, input_id, output in rows}
        names = {int(id): str(name) for id, name in connection.execute(select(system.c.id, system.c.name))}
        for group in drawn_groups(connection, None) if items else ():
            value = group.relation if by == "relation" else names[group.system_id]
            pairs |= {(items[subject], value) for step in group.steps if (subject := group.subject(step)) in items}
    return pd.DataFrame(sorted(pairs), columns=["item", "value"])


def _own_answers(connection: Connection, rated: Rated) -> dict[str, dict[Subject, KnownAnswer]]:
    """Each annotator's own answers, by subject."""
    question = table_of(tables.Question)
    columns = (question.c.id, question.c.task, question.c.input_id, question.c.output)
    query = select(*columns).where(question.c.kind.in_(ABOUT_OUTPUTS))
    subject_of = {
        str(id): (str(task), int(input_id), output) for id, task, input_id, output in connection.execute(query)
    }
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


def _places(connection: Connection, groups: list[int]) -> dict[int, tuple[int, str]]:
    """Source and language of each group."""
    group, source, input_table = table_of(tables.Group), table_of(tables.Source), table_of(tables.Input)
    places: dict[int, tuple[int, str]] = {}
    for piece in pieces(groups):
        query: Any = (
            select(group.c.id, source.c.id, input_table.c.languages)
            .join(source, source.c.id == group.c.source_id)
            .join(input_table, input_table.c.id == source.c.input_id)
            .where(group.c.id.in_(piece))
        )
        places.update({int(row[0]): (int(row[1]), str(row[2])) for row in connection.execute(query)})
    return places
