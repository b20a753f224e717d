"""How often systems contradict themselves on the same input, apart from how often they violate relations.

A relation that is violated says that a system answers differently to different texts. A system that answers at random
violates relations, too, whatever they change in a text: calls on the same input tell the one from the other.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
import pandas as pd
from sqlalchemy import Connection, select

from audit.errors import first_line
from audit.false_satisfaction.cells import Counted
from audit.messages import message
from audit.relations import Composed, Outcome, Plain, find_relation
from audit.relations.registry import name_order
from audit.reports.document import Entry, estimated
from audit.statistics.repeats import NO_CALL, contradictions, steadiness, violation_rate
from audit.store import UNCHECKED, integers, table_of, tables
from audit.store.bulk import group_ids
from audit.store.core import member, relation
from audit.tasks import Output
from audit.tasks.repeated import what_is_said

OUTCOMES = {"satisfied": int(Outcome.SATISFIED), "violated": int(Outcome.VIOLATED)}
_CELL = (
    "relation", "system", "groups", "calls", "unstable", "share", "vr_first", "vr_mean", "vr_by_chance", "violated",
    "always_violated",
)  # fmt: skip


def repeat_entries(connection: Connection, counted: Counted, clusters: pd.Series) -> list[Entry]:
    """Return an entry for each study in which systems were asked the same several times: how often each contradicts
    itself, and how steady the verdicts of each of its cells are."""
    calls = _calls(connection, counted.checks.systems)
    if calls.empty:
        return []
    ends = group_ids(int(counted.checks.source.min()), int(counted.checks.source.max()))
    query = select(member.c.group_id, member.c.input_id).where(member.c.group_id.between(*ends))
    rows = integers(connection, query.order_by(member.c.group_id, member.c.step))
    ids, begins = np.unique(rows[:, 0], return_index=True)
    members = dict(zip(ids.tolist(), np.split(rows[:, 1], begins[1:]), strict=True))
    stored = {row.id: row for row in connection.execute(select(relation.c.id, relation.c.name, relation.c.version))}
    entries = []
    for study in counted.studies:
        checks, task = counted.checks.of(int(study["id"])), study["task"]
        keys = counted.cells[counted.cells["study_id"] == study["id"]]
        named = [dict(zip(keys[f"{of}_id"], keys[of], strict=True)) for of in ("relation", "system")]
        entry: Entry = {"task": task, "study": study["id"], "corpus": study["corpus"], "systems": [], "cells": []}
        for column, id in enumerate(checks.systems):
            rows = np.flatnonzero(checks.outcome[:, column] != UNCHECKED)
            columns = {"relation": checks.relation[rows], "outcome": checks.outcome[rows, column]}
            groups = pd.DataFrame(columns | {"cluster": clusters.loc[checks.source[rows]].to_numpy()})
            groups["members"] = [members[group].tolist() for group in checks.groups(rows)[:, column].tolist()]
            # An input belongs to the first source that has it.
            inputs = groups[["members", "cluster"]].explode("members").drop_duplicates("members").set_index("members")
            own = calls[calls["system"] == id].join(inputs, "input", "inner")
            answered = own[own["output"].notna()].groupby("input", sort=False)["output"].agg(list)
            outputs, name = {input: of for input, of in answered.items() if len(of) > 1}, named[1].get(id)
            if outputs:
                # What it said about the inputs of its groups that it answered more than once.
                said = {input: [what_is_said(task, output) for output in of] for input, of in outputs.items()}
                cluster = own.drop_duplicates("input").set_index("input")["cluster"].reindex(list(said))
                calls_of: Entry = {
                    "least_calls": min(map(len, said.values())), "most_calls": max(map(len, said.values())),
                    "failed": int(own["output"].isna().sum()),
                }  # fmt: skip
                rates = _rates(contradictions(list(said.values()), cluster.to_numpy(np.int64)))
                entry["systems"].append({"system": name, **calls_of, **rates})
                for relation_id, of in groups.groupby("relation", sort=False):
                    cell = _cell(task, stored[relation_id], of, outputs)
                    entry["cells"].append(cell | {"relation": named[0][relation_id], "system": name})
        if entry["systems"]:
            entry["systems"].sort(key=lambda system: system["system"])
            entry["cells"].sort(key=lambda cell: (name_order(cell["relation"]), cell["system"]))
            entries.append(entry)
    return entries


def _calls(connection: Connection, systems: Sequence[int]) -> pd.DataFrame:
    """The repeated calls, in their order: system and input (ids), and output; None where the call failed."""
    table = table_of(tables.Repeat)
    query = select(table).where(table.c.system_id.in_(systems)).order_by(table.c.input_id, table.c.number)
    rows = [
        (row.system_id, row.input_id, None if row.error is not None else Output(row.label, row.score, row.text))
        for row in connection.execute(query)
    ]
    return pd.DataFrame(rows, columns=["system", "input", "output"])


def _cell(task: str, stored: Any, groups: pd.DataFrame, outputs: Mapping[int, Sequence[Output]]) -> Entry:
    """Measure how steady a cell's verdicts are, or say why that is not known."""
    relation, reason, measured = find_relation(task, stored.name), None, Entry()
    repeated = groups[[all(input in outputs for input in of) for of in groups["members"]]]
    repeated = repeated[~repeated["outcome"].isin((int(Outcome.ERROR), int(Outcome.REJECTED)))]
    # Behind a semicolon stand versions of taggers, which checks do not ask.
    is_other = relation is None or stored.version.partition(";")[0] != relation.version
    if is_other or not isinstance(relation, Plain | Composed):
        reason = message("repeats.other_version" if is_other else "repeats.hangs_on_more")
    elif repeated.empty:
        reason = message("repeats.none_twice")
    else:
        calls = [[outputs[input] for input in of] for of in repeated["members"]]
        try:
            by_call = [[_outcome(relation, of) for of in zip(*members, strict=False)] for members in calls]
            by_chance = [_by_chance(relation, members) for members in calls]
        except Exception as problem:  # a check of a plug-in that has changed since
            reason = message("repeats.check_failed", problem=first_line(problem))
        else:
            ends = [repeated[name].to_numpy() for name in ("outcome", "cluster")]
            # No group could satisfy by chance a relation that equal outputs violate.
            chance = None if None in by_chance else violation_rate(_table(by_chance), **OUTCOMES)
            measured = _rates(steadiness(_table(by_call), ends[0], ends[1], **OUTCOMES)) | {"vr_by_chance": chance}
    unknown = dict.fromkeys(_CELL) | {"share": estimated(None, reason=reason)}
    return unknown | measured | {"reason": reason}


def _rates(measured: Any) -> Entry:
    """What was measured, each rate with its ends as one value."""
    values = asdict(measured)
    for name, ends in (("share", ""), ("share", "share_"), ("disagreement", "disagreement_")):
        if f"{ends}low" in values:
            values[name] = estimated((values[name], values.pop(f"{ends}low"), values.pop(f"{ends}high")))
    return values


def _by_chance(relation: Plain | Composed, members: Sequence[Sequence[Output]]) -> list[int] | None:
    """The outcomes of a group if its follow-ups were the source once more: each call on it in turn, and others in place
    of follow-ups. None where equal outputs violate the relation."""
    source, *follow_ups = members
    if _outcome(relation, [source[0]] * len(members)) == Outcome.VIOLATED:
        return None
    # The other calls on the source, from the next one on, once more where they are too few.
    turns = [[*source[at + 1 :], *source[:at]] * len(follow_ups) for at in range(len(source))]
    return [_outcome(relation, [source[at], *turn[: len(follow_ups)]]) for at, turn in enumerate(turns)]


def _outcome(relation: Plain | Composed, outputs: Sequence[Output]) -> int:
    return relation.verdict(outputs, ()).outcome


def _table(rows: Sequence[Any]) -> np.ndarray:
    """Outcomes, a row a group, filled up with `NO_CALL`."""
    return np.asarray(pd.DataFrame(list(rows)).fillna(NO_CALL), np.int64)
