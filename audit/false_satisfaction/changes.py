"""The groups of two versions of a system side by side, matched by content. Nothing is written."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from sqlalchemy import Connection, and_, select

from audit.annotation.answers import PEOPLE
from audit.annotation.questions import Subject
from audit.false_satisfaction.resolution import (
    Drawn,
    KnownAnswer,
    Process,
    Settled,
    State,
    Whose,
    beginnings,
    known_answers,
    read_process,
    satisfied_groups,
    settle_group,
)
from audit.relations import COUNTED, Outcome
from audit.sampling.designs import CHANGED, INFORMATIVE, Numbers
from audit.store import integers, rows_among, table_of, tables
from audit.store.bulk import LIMIT

APPLIES = (int(Outcome.SATISFIED), int(Outcome.VIOLATED))
VIOLATED = -1
"""In the columns `state_...`: the group is violated, so that no answer is needed."""
_OTHERS: Subject = ("", -1, None)
"""What a group waits for about whose members nothing is answered."""


class RelationKey(NamedTuple):
    """What makes two relations the same one; `params` is canonical JSON."""

    task: str
    name: str
    version: str
    params: str


@dataclass(frozen=True)
class Side:
    """One of the two systems: where its checks are, and its id there."""

    connection: Connection
    system: int


@dataclass(frozen=True)
class Unmatched:
    """What the two sides do not have in common, under one relation."""

    only_old: int
    only_new: int
    """Groups of sources that both have, whose follow-ups the other side does not have."""
    inapplicable: int
    """Groups of both that are not satisfied or violated for one of them."""


@dataclass(frozen=True)
class Changes:
    """Groups that apply to both systems, and what is settled of them.

    `groups` has a row a group, those of a relation in the order of their random numbers: relation (place in
    `relations`), group_old, group_new, source_old, study_old and study_new (ids), cluster, number, satisfied_old,
    satisfied_new, same (all outputs of counted members are), state_old, state_new (a number of `State`, or `VIOLATED`),
    and whether it is in a random part that answers settle: judged (of the groups that changed, for both systems),
    judged_old, judged_new (of those that one satisfies).
    """

    relations: list[RelationKey]
    groups: pd.DataFrame
    unmatched: dict[RelationKey, Unmatched]
    only_old: list[RelationKey]
    only_new: list[RelationKey]
    sources: tuple[int, int, int]
    """Different inputs of sources that the first was checked on, the second, and both."""

    @property
    def deciding(self) -> np.ndarray:
        """Which groups can add to the difference of the genuine rates: those that changed."""
        groups = self.groups
        old, new = groups["satisfied_old"].to_numpy(bool), groups["satisfied_new"].to_numpy(bool)
        return np.asarray((old | new) & ~(old & new & groups["same"].to_numpy(bool)))


def changes(old: Side, new: Side, whose: Whose = "both") -> Changes:
    """Match the groups of two systems and settle them by the answers that there are.

    Groups are the same where relation (task, name, version, parameters) and the inputs of all counted members are;
    under a relation whose groups depend on the system, where the source's input is. Without a group in common `groups`
    is empty.
    """
    outputs: dict[Any, int] = {}
    answers = known_answers(old.connection, whose)
    answered = np.unique(np.fromiter((input_id for _, input_id, _ in answers), np.int64, len(answers)))
    frames = [_checked(side, outputs, answered) for side in (old, new)]
    sources = [set(frame["source_input"]) for frame in frames]
    overlap = len(sources[0]), len(sources[1]), len(sources[0] & sources[1])
    keys = [sorted(set(frame["relation"])) for frame in frames]
    relations = [key for key in keys[0] if key in set(keys[1])]
    only_old, only_new = ([key for key in own if key not in set(relations)] for own in keys)
    parts, unmatched = [], {}
    for place, key in enumerate(relations):
        both = [frame[frame["relation"] == key] for frame in frames]
        matched, unmatched[key] = _matched(both[0], both[1], sources[0] & sources[1])
        parts.append(matched.assign(relation=place))
    nothing = _matched(frames[0][:0], frames[1][:0], set())[0].assign(relation=0)
    groups = pd.concat(parts or [nothing], ignore_index=True)
    groups = _settled((old, new), groups, relations, answers)
    return Changes(relations, groups, unmatched, only_old, only_new, overlap)


def _checked(side: Side, outputs: dict[Any, int], answered: np.ndarray) -> pd.DataFrame:
    """A row a check of the system; `outputs` collects codes of what systems said, `answered` are ids of inputs.

    Columns: relation (a `RelationKey`), group, source (ids), outcome, own, content and said (codes of all counted
    members' inputs and outputs), touched (something is answered about one of them), source_input (an id), row,
    cluster, number and study.
    """
    connection, verdict = side.connection, table_of(tables.Verdict)
    query = select(verdict.c.group_id, verdict.c.outcome).where(verdict.c.system_id == side.system)
    checks = integers(connection, query.order_by(verdict.c.group_id))
    group = checks[:, 0].copy()
    content, said, touched = _contents(side, group, outputs, answered)
    relation = table_of(tables.Relation)
    columns = [relation.c[name] for name in ("id", *RelationKey._fields)]
    names = {row[0]: RelationKey(*row[1:]) for row in connection.execute(select(*columns))}
    sources = _sources(side, np.unique(group // LIMIT**2))
    frame = pd.DataFrame(
        {
            "group": group,
            "source": group // LIMIT**2,
            "outcome": checks[:, 1],
            "own": group % LIMIT > 0,
            "content": content,
            "said": said,
            "touched": touched,
            "relation": pd.Series([names[id] for id in (group // LIMIT % LIMIT).tolist()], dtype=object),
        }
    )
    return frame.merge(sources, on="source", how="left")


def _contents(
    side: Side, group: np.ndarray, outputs: dict[Any, int], answered: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Of each of these groups (ids, ascending): a code of its counted members' inputs, one of their outputs, and
    whether one of them is answered."""
    verdict, member = table_of(tables.Verdict), table_of(tables.Member)
    rows = integers(
        side.connection,
        select(member.c.group_id, member.c.input_id)
        .join(verdict, and_(verdict.c.group_id == member.c.group_id, verdict.c.system_id == side.system))
        .where(member.c.role.in_(COUNTED))
        .order_by(member.c.group_id, member.c.step),
    )
    content, said = np.zeros(len(group), np.uint64), np.zeros(len(group), np.uint64)
    touched = np.zeros(len(group), bool)
    if not len(rows):
        return content, said, touched
    first = np.flatnonzero(np.diff(rows[:, 0], prepend=-1))
    place = np.arange(len(rows)) - np.repeat(first, np.diff(first, append=len(rows)))
    inputs, output = _outputs(side, outputs)
    at = np.minimum(np.searchsorted(inputs, rows[:, 1]), max(len(inputs) - 1, 0))
    value = np.where(inputs[at] == rows[:, 1], output[at], -1) if len(inputs) else np.full(len(rows), -1)
    among = np.searchsorted(group, rows[first, 0])
    content[among] = np.add.reduceat(_mixed(place, rows[:, 1]), first)
    said[among] = np.add.reduceat(_mixed(place, value), first)
    touched[among] = np.logical_or.reduceat(np.isin(rows[:, 1], answered), first)
    return content, said, touched


def _outputs(side: Side, outputs: dict[Any, int]) -> tuple[np.ndarray, np.ndarray]:
    """The inputs (ids, ascending) that the system answered, and a code of what it said last: of its label, or else its
    text, or else its score; the confidence in a label makes no other output."""
    output = table_of(tables.Output)
    columns = (output.c.input_id, output.c.label, output.c.text, output.c.score, output.c.error)
    query = select(*columns).where(output.c.system_id == side.system).order_by(output.c.input_id, output.c.attempt)
    last: dict[int, int] = {}
    for id, label, text, score, error in side.connection.execute(query):
        said = next((value for value in (label, text, score) if value is not None), None)
        last[id] = -1 if error is not None else outputs.setdefault((type(said), said), len(outputs))
    return np.fromiter(last, np.int64, len(last)), np.fromiter(last.values(), np.int64, len(last))


def _mixed(place: np.ndarray, value: np.ndarray) -> np.ndarray:
    """64 bits of each pair of numbers, which add up to a code of many (Steele's SplitMix64)."""
    mixed = value.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15) + (place + 1).astype(np.uint64) * np.uint64(
        0xD1B54A32D192ED03
    )
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        mixed = (mixed ^ (mixed >> np.uint64(shift))) * np.uint64(factor)
    return np.asarray(mixed ^ (mixed >> np.uint64(31)))


def _sources(side: Side, ids: np.ndarray) -> pd.DataFrame:
    """Columns source, source_input (an id), row, cluster and number of these sources (ids), ascending."""
    connection, source, study = side.connection, table_of(tables.Source), table_of(tables.Study)
    columns = (source.c.id, source.c.study_id, source.c.input_id, source.c.row, source.c.cluster)
    studies = {
        row.study_id for row in rows_among(connection, select(source.c.study_id).distinct(), source.c.id, ids.tolist())
    }
    query = select(*columns, study.c.corpus).join(study, study.c.id == source.c.study_id)
    rows = connection.execute(query.where(source.c.study_id.in_(studies)).order_by(source.c.id)).all()
    frame = pd.DataFrame(rows, columns=["source", "study", "source_input", "row", "cluster", "corpus"])
    frame = frame[frame["source"].isin(ids)].reset_index(drop=True)
    frame["number"] = np.nan
    for id, seed in order_seeds(connection, studies).items():
        of_study = frame["study"] == id
        numbers = Numbers.of_study(connection, id, seed)
        frame.loc[of_study, "number"] = numbers.of(frame.loc[of_study, "source"].to_numpy(np.int64))
    # A document of a corpus is a cluster; a source that names none goes with those of the same content.
    frame["cluster"] = [
        str(id) if cluster is None else f"{corpus}\0{cluster}"
        for id, cluster, corpus in zip(frame["source_input"], frame["cluster"], frame["corpus"], strict=True)
    ]
    return frame[["source", "source_input", "row", "cluster", "number", "study"]]


def order_seeds(connection: Connection, studies: Iterable[int]) -> dict[int, int]:
    """The seed by whose random numbers each study's sources are ordered: that of its last sample, or its own."""
    study, sample = table_of(tables.Study), table_of(tables.Sample)
    seeds = {row.id: row.seed for row in rows_among(connection, select(study.c.id, study.c.seed), study.c.id, studies)}
    query = select(sample.c.study_id, sample.c.seed).order_by(sample.c.drawn_at, sample.c.id)
    query = query.where(sample.c.design.in_(("shared", INFORMATIVE, CHANGED)))
    return seeds | {row.study_id: row.seed for row in rows_among(connection, query, sample.c.study_id, list(seeds))}


def _matched(old: pd.DataFrame, new: pd.DataFrame, shared: set[int]) -> tuple[pd.DataFrame, Unmatched]:
    """The groups of one relation that both have and that apply to both, and what is left out."""
    by = "source_input" if old["own"].any() or new["own"].any() else "content"
    sides = []
    for frame in (old, new):
        # The same row of a corpus in several studies is one group; other rows with the same text are others.
        distinct = frame.drop_duplicates(["source_input", by, "row"]).sort_values(["number", "source"], kind="stable")
        sides.append(distinct.assign(copy=distinct.groupby(by).cumcount()))
    both = sides[0].merge(sides[1], on=[by, "copy"], suffixes=("_old", "_new"))
    alone = [
        int((side["source_input"].isin(shared) & ~side["group"].isin(both[f"group_{name}"])).sum())
        for side, name in zip(sides, ("old", "new"), strict=True)
    ]
    applies = both["outcome_old"].isin(APPLIES) & both["outcome_new"].isin(APPLIES)
    content = True if by == "content" else both["content_old"] == both["content_new"]
    same = (both["said_old"] == both["said_new"]) & content
    frame = pd.DataFrame(
        {
            "group_old": both["group_old"], "group_new": both["group_new"], "source_old": both["source_old"],
            "study_old": both["study_old"], "study_new": both["study_new"], "cluster": both["cluster_old"],
            "number": both["number_old"], "satisfied_old": both["outcome_old"] == APPLIES[0],
            "satisfied_new": both["outcome_new"] == APPLIES[0], "touched_old": both["touched_old"],
            "touched_new": both["touched_new"], "same": same,
        }
    )[applies]  # fmt: skip
    frame = frame.sort_values(["number", "source_old"], kind="stable")
    return frame, Unmatched(alone[0], alone[1], int((~applies).sum()))


@dataclass
class _Cell:
    """The groups of one relation that one system satisfies: their places among its common groups, in order."""

    places: np.ndarray
    settled: dict[int, Settled] = field(default_factory=dict)

    def listed(self, among: np.ndarray) -> list[Settled]:
        """The groups at some places, in order, with these as ranks; of those about which nothing is answered the first
        alone: whatever counts ends before it."""
        groups: list[Settled] = []
        is_open = False
        for place in self.places[among[self.places]].tolist():
            settled = self.settled.get(place)
            if settled is not None:
                groups.append(replace(settled, drawn=replace(settled.drawn, rank=place)))
            elif not is_open:
                is_open = True
                groups.append(Settled(Drawn("", "", 0, 0, place, 0, ()), State.WAITING, (_OTHERS,)))
        return groups


def _settled(
    sides: Sequence[Side],
    groups: pd.DataFrame,
    relations: Sequence[RelationKey],
    answers: Mapping[Subject, KnownAnswer],
) -> pd.DataFrame:
    """The groups with the columns state_... and judged...; their rows of a relation are in the order of its draw."""
    satisfied = [groups[f"satisfied_{name}"].to_numpy(bool) for name in ("old", "new")]
    states = [np.where(flags, int(State.WAITING), VIOLATED) for flags in satisfied]
    judged = np.zeros((3, len(groups)), bool)
    decides = (satisfied[0] | satisfied[1]) & ~(satisfied[0] & satisfied[1] & groups["same"].to_numpy(bool))
    if answers:
        process = read_process(sides[0].connection)
        for place in range(len(relations)):
            rows = np.flatnonzero(groups["relation"].to_numpy() == place)
            cells = []
            for at, (side, name) in enumerate(zip(sides, ("old", "new"), strict=True)):
                cell = _Cell(np.flatnonzero(satisfied[at][rows]))
                cell.settled = _of_cell(side, groups.iloc[rows[cell.places]], name, cell.places, answers)
                for position, settled in cell.settled.items():
                    states[at][rows[position]] = settled.state
                cells.append(cell)
            judged[0, rows] = _beginning_of_changed(cells, decides[rows], process)
            everything = np.ones(len(rows), bool)
            lists = [cell.listed(everything) for cell in cells]
            for at, beginning in enumerate(beginnings(lists, process)):
                judged[1 + at, rows[cells[at].places[: beginning.judged]]] = True
    names = ("judged", "judged_old", "judged_new")
    added = {"state_old": states[0], "state_new": states[1], **dict(zip(names, judged, strict=True))}
    return groups.assign(**added)


def _of_cell(
    side: Side, groups: pd.DataFrame, name: str, places: np.ndarray, answers: Mapping[Subject, KnownAnswer]
) -> dict[int, Settled]:
    """The satisfied groups of one system about a member of which something is answered, by their places."""
    touched = groups[f"touched_{name}"].to_numpy(bool)
    groups = groups[touched]
    place_of = dict(zip(groups[f"group_{name}"].tolist(), places[touched].tolist(), strict=True))
    settled: dict[int, Settled] = {}
    for study, of_study in groups.groupby(f"study_{name}"):
        ids = of_study[f"group_{name}"]
        for relation, of_relation in ids.groupby(ids // LIMIT % LIMIT):
            key = (int(str(study)), int(str(relation)))
            ids_of_relation = of_relation.tolist()
            for drawn in satisfied_groups(side.connection, *key, system=side.system, groups=ids_of_relation):
                settled[place_of[drawn.group_id]] = settle_group(drawn, answers)
    return settled


def _beginning_of_changed(cells: Sequence[_Cell], decides: np.ndarray, process: Process) -> np.ndarray:
    """Which of a relation's groups are in the longest beginning of those that changed, in the order of random numbers,
    in which all count whichever way their answers had fallen (`audit.false_satisfaction.resolution`).

    None are where people settled more of them behind it than in it: what stays open for long is what is hard.
    """
    lists = [cell.listed(decides) for cell in cells]
    found = beginnings(lists, process, one_list=True)
    ranked = [
        (group.drawn.rank, counts)
        for groups, beginning in zip(lists, found, strict=True)
        for group, counts in zip(groups, beginning.counts, strict=True)
    ]
    end = min((rank for rank, counts in ranked if not counts), default=len(decides))
    inside = decides & (np.arange(len(decides)) < end)
    behind = {
        group.drawn.rank
        for groups in lists
        for group in groups
        if group.drawn.rank >= end and group.state is not State.WAITING and not set(PEOPLE).isdisjoint(group.origins)
    }
    return np.zeros(len(decides), bool) if len(behind) > inside.sum() else inside
