"""What `audit plan` needs of a database, as arrays: beginnings of lists, questions, contests of systems."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd
from sqlalchemy import Connection, and_, case, select

from audit.annotation.questions import asks_pairs
from audit.false_satisfaction.cells import CELL, Counted
from audit.false_satisfaction.settling import carry_of
from audit.keys import digest
from audit.relations import COUNTED, Outcome
from audit.sampling.designs import Numbers
from audit.sampling.draw import cell_lists
from audit.statistics.ranking_allocation import Contest, contest
from audit.store import Checked, integers, table_of, tables
from audit.store.ids import LIMIT, group_ids

_ROWS = 50_000
"""Outputs that are held as Python objects at once."""


@dataclass(frozen=True)
class Match:
    """The contest of a relation's systems (ids), over the groups that apply to all of them, in the drawn order.

    `source` (groups,), `groups` and `satisfied` (groups, systems) are ids and verdicts, `code`
    is equal where outputs are identical; `y` (groups, systems) is 1
    where a satisfaction is genuine, 0 where it is false or violated, NaN where that is not known. `observed` are the
    systems' SR_o over all groups that apply to each, `satisfied_by` their satisfied groups.
    """

    study: int
    relation: int
    systems: tuple[int, ...]
    contest: Contest
    source: np.ndarray
    groups: np.ndarray
    satisfied: np.ndarray
    code: np.ndarray
    y: np.ndarray
    observed: list[float]
    satisfied_by: list[int]


def matches(
    connection: Connection, counted: Counted, states: Mapping[tuple[int, int], float], seeds: Mapping[int, int]
) -> Iterator[Match]:
    """The contest under every relation with two systems or more, by study and relation (ids).

    `states` has 1 or 0 by (group, system) for what is settled; `seeds` by study those of the random numbers.
    """
    numbers = {study: Numbers.of_study(connection, study, seed) for study, seed in seeds.items()}
    for study, relation, some in _applying(counted.checks):
        systems = [int(one) for one in some["system_id"].unique()]
        if len(systems) < 2:
            continue
        totals = some.groupby("system_id")["satisfied"].agg(["sum", "mean"]).loc[systems]
        some = some.merge(output_codes(connection, study, relation), on=["group_id", "system_id"])
        number = numbers[study].of(some["source"].to_numpy())
        some = some.assign(number=number, y=_outcomes(some, states)).sort_values(["number", "source"], kind="stable")
        table = {name: some.pivot(index=["number", "source"], columns="system_id", values=name)[systems]
                 for name in ("satisfied", "code", "y", "group_id")}  # fmt: skip
        # A group that does not apply to every compared system compares nothing.
        common = table["satisfied"].notna().all(axis=1)
        satisfied, code, y, ids = (one[common].to_numpy() for one in table.values())
        source = common.index.get_level_values("source")[common].to_numpy()
        satisfied = satisfied.astype(bool)
        made = contest(satisfied, code)
        rates, sums = totals["mean"].tolist(), totals["sum"].tolist()
        yield Match(study, relation, tuple(systems), made, source, ids, satisfied, code, y.astype(float), rates, sums)


def _applying(checks: Checked) -> Iterator[tuple[int, int, pd.DataFrame]]:
    """By study and relation (ids) the satisfied and violated groups: columns group_id, system_id, source, satisfied."""
    of = checks.study * LIMIT + checks.relation
    for pair in np.unique(of).tolist():
        rows = np.flatnonzero(of == pair)
        outcome, groups = checks.outcome[rows], checks.groups(rows)
        applies = (outcome == Outcome.SATISFIED) | (outcome == Outcome.VIOLATED)
        column, row = np.nonzero(applies.T)
        columns = {
            "group_id": groups[row, column],
            "system_id": np.array(checks.systems, np.int64)[column],
            "source": checks.source[rows[row]],
            "satisfied": outcome[row, column] == Outcome.SATISFIED,
        }
        yield pair // LIMIT, pair % LIMIT, pd.DataFrame(columns)


def _outcomes(some: pd.DataFrame, states: Mapping[tuple[int, int], float]) -> np.ndarray:
    """y of every checked group: 0 where it is violated, what is settled where it is satisfied, else NaN."""
    keys = zip(some["group_id"], some["system_id"], some["satisfied"], strict=True)
    return np.array([states.get((group, system), np.nan) if held else 0.0 for group, system, held in keys], float)


def seeds_of(counted: Counted, designs: Collection[str]) -> dict[int, int]:
    """By study, the seed of its sample of one of these designs, or else the study's."""
    seeds = {int(str(one["id"])): int(str(one["seed"])) for one in counted.studies}
    drawn = [one for one in counted.samples if one["design"] in designs]
    return seeds | {int(str(one["study_id"])): int(str(one["seed"])) for one in drawn}


def beginnings(connection: Connection, counted: Counted, design: str, lengths: np.ndarray) -> pd.DataFrame:
    """The first satisfied groups of every cell under a design: columns cell, rank (from 1), group_id.

    A cell is named by its place in `counted.cells`; `lengths` (cells,) says how many groups of each there are at most.
    """
    place = {tuple(cell): at for at, cell in enumerate(counted.keys[CELL].to_numpy().tolist())}
    found = [pd.DataFrame({name: np.empty(0, np.int64) for name in ("cell", "rank", "group_id")})]
    for study, seed in seeds_of(counted, [design]).items():
        for one in cell_lists(connection, counted.checks.of(study), study, design, seed):
            cell = place[study, int(one["relation_id"].iloc[0]), int(one["system_id"].iloc[0])]
            first = one.iloc[: int(lengths[cell])]
            found.append(first[["rank", "group_id"]].assign(cell=cell))
    return pd.concat(found, ignore_index=True)


def questions(connection: Connection, counted: Counted) -> pd.DataFrame:
    """Columns group_id, system_id, question, ordered by group: what must be asked to settle a group, at most.

    A question about an input has the input's id, and the system 0: every system needs it. One about an output has a
    negative number (`numbered`), and a row for each system that satisfies the group.
    """
    relation = table_of(tables.Relation)
    rows = [tuple(row) for row in connection.execute(select(relation.c.id, relation.c.task, relation.c.name))]
    carried = [int(id) for id, task, name in rows if carry_of(str(task), str(name)).preserves_truth]
    pairs = [int(id) for id, task, _ in rows if asks_pairs(str(task))]
    if not len(counted.checks.source):
        return pd.DataFrame({name: np.empty(0, np.int64) for name in ("group_id", "system_id", "question")})
    about_inputs = ~np.isin(np.unique(counted.checks.relation), pairs)
    parts = [_about_inputs(connection, counted, carried, pairs)] if about_inputs.any() else []
    if not about_inputs.all():
        parts.append(_about_outputs(connection, counted, carried, pairs))
    return pd.concat(parts, ignore_index=True).sort_values("group_id", kind="stable", ignore_index=True)


def _about_inputs(connection: Connection, counted: Counted, carried: list[int], pairs: list[int]) -> pd.DataFrame:
    member, sources = table_of(tables.Member), counted.checks.source
    query = (
        select(member.c.group_id, member.c.input_id, case((member.c.role == "source", 1), else_=0))
        .where(
            member.c.group_id.between(*group_ids(sources.min(), sources.max())),
            member.c.role.in_(COUNTED),
        )
        .order_by(member.c.group_id)
    )
    found = integers(connection, query)
    relation = found[:, 0] // LIMIT % LIMIT
    asked = ((found[:, 2] == 1) | ~np.isin(relation, carried)) & ~np.isin(relation, pairs)
    return pd.DataFrame({"group_id": found[asked, 0], "system_id": 0, "question": found[asked, 1]})


def _about_outputs(connection: Connection, counted: Counted, carried: list[int], pairs: list[int]) -> pd.DataFrame:
    member, output, verdict = (table_of(one) for one in (tables.Member, tables.Output, tables.Verdict))
    sources = counted.checks.source
    query = (
        select(member.c.group_id, output.c.system_id, member.c.input_id, output.c.text, member.c.role)
        .join(verdict, verdict.c.group_id == member.c.group_id)
        .join(output, and_(output.c.system_id == verdict.c.system_id, output.c.input_id == member.c.input_id))
        .where(
            member.c.group_id.between(*group_ids(sources.min(), sources.max())),
            member.c.role.in_(COUNTED),
            verdict.c.outcome == int(Outcome.SATISFIED),
            output.c.text.is_not(None),
        )
    )
    parts = [np.empty((0, 3), np.int64)]
    for some in connection.execute(query, execution_options={"yield_per": _ROWS}).partitions():
        rows = []
        for group, system, given, text, role in some:
            relation = int(group) // LIMIT % LIMIT
            if relation in pairs and (role == "source" or relation not in carried):
                rows.append((group, system, numbered(given, text)))
        parts.append(np.array(rows, np.int64).reshape(-1, 3))
    return pd.DataFrame(np.concatenate(parts), columns=["group_id", "system_id", "question"])


def numbered(input_id: int, output: str | None) -> int:
    """The number of a question in a plan: the input's id, or a negative one for an input with an output.

    >>> numbered(7, None), numbered(7, "A summary.") < 0
    (7, True)
    """
    if output is None:
        return input_id
    return -1 - (int.from_bytes(digest(str(input_id), output)[:8], "big") >> 2)


def asked_of(asked: pd.DataFrame, groups: np.ndarray, systems: np.ndarray) -> set[int]:
    """What must be asked for each of these groups and the system beside it; `asked` is what `questions` returns.

    >>> asked = pd.DataFrame({"group_id": [1, 1, 4, 4], "system_id": [0, 0, 2, 3], "question": [7, 8, -9, -10]})
    >>> asked_of(asked, np.array([1, 4]), np.array([2, 2])) == {7, 8, -9}
    True
    >>> asked_of(asked, np.array([2, 4]), np.array([3, 3]))
    {-10}
    """
    group, question = asked["group_id"].to_numpy(), asked["question"].to_numpy()
    first, number = np.searchsorted(group, groups), np.searchsorted(group, groups, "right")
    number -= first
    places = np.repeat(first - np.cumsum(number) + number, number) + np.arange(number.sum())
    of = asked["system_id"].to_numpy()[places]
    return set(question[places[(of == 0) | (of == np.repeat(systems, number))]].tolist())


def asked_in(asked: pd.DataFrame, lists: pd.DataFrame, systems: np.ndarray) -> pd.DataFrame:
    """The lists of `beginnings` with a row for each question of each group: columns cell, rank, group_id, question.

    `systems` (cells,) are the ids of the cells' systems.
    """
    found = lists.merge(asked, on="group_id")
    of = found["system_id"].to_numpy()
    return found.loc[(of == 0) | (of == systems[found["cell"].to_numpy(int)])].drop(columns="system_id")


def output_codes(connection: Connection, study: int, relation_id: int) -> pd.DataFrame:
    """Columns group_id, system_id, code: equal codes for identical outputs on identical inputs of all members."""
    group, member, output = table_of(tables.Group), table_of(tables.Member), table_of(tables.Output)
    verdict = table_of(tables.Verdict)
    query = (
        select(
            group.c.id,
            verdict.c.system_id,
            member.c.step,
            member.c.input_id,
            output.c.attempt,
            output.c.label,
            output.c.text,
        )
        .join(verdict, verdict.c.group_id == group.c.id)
        .join(member, and_(member.c.group_id == group.c.id, member.c.role.in_(COUNTED)))
        .join(output, and_(output.c.system_id == verdict.c.system_id, output.c.input_id == member.c.input_id))
        .where(group.c.study_id == study, group.c.relation_id == relation_id)
    )
    codes: dict[tuple[str | None, str | None], int] = {}
    parts = [np.empty((0, 6), np.int64)]
    for some in connection.execute(query, execution_options={"yield_per": _ROWS}).partitions():
        rows = [(*row[:5], codes.setdefault((row[5], row[6]), len(codes))) for row in some]
        parts.append(np.array(rows, np.int64))
    key = ["group_id", "system_id", "step"]
    rows = pd.DataFrame(np.concatenate(parts), columns=[*key, "input_id", "attempt", "said"])
    rows = rows.sort_values([*key, "attempt"], kind="stable").drop_duplicates(key, keep="last")
    rows["code"] = pd.util.hash_pandas_object(rows[["step", "input_id", "said"]], index=False)
    return rows.groupby(["group_id", "system_id"], sort=False)["code"].sum().reset_index()
