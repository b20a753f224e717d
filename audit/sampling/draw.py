"""`audit sample`: draw satisfied groups for judging, and draw more later without starting over."""

import math
from dataclasses import dataclass

import numpy as np
import pandas as pd
from sqlalchemy import Connection, Engine, and_, delete, func, select

from audit.errors import AuditError
from audit.relations import Outcome
from audit.sampling.audits import Audits, keep_audits
from audit.sampling.designs import INFORMATIVE, first, get_design
from audit.sampling.group_audits import draw_group_audits
from audit.sampling.informative import informative_lists
from audit.sampling.protocols import BLIND, check_protocol
from audit.store import checked, insert_new, table_of, tables

CELL = ["relation_id", "system_id"]


@dataclass(frozen=True)
class Size:
    """How many groups to draw of each list: a number, or a share of its length (rounded up).

    A list has the satisfied groups of a cell; of the design `informative`, the informative groups of a relation.
    """

    per_relation: int | None = None
    share: float | None = None

    def __post_init__(self) -> None:
        if (self.per_relation is None) == (self.share is None):
            raise AuditError("say how many groups to draw: either --per-relation N or --share 0.01, not both")
        if self.per_relation is not None and self.per_relation < 1:
            raise AuditError(f"--per-relation {self.per_relation}: must be at least 1")
        if self.share is not None and not 0 < self.share <= 1:
            raise AuditError(f"--share {self.share}: must be above 0 and at most 1")

    def of(self, length: int) -> int:
        """Groups to draw of a list of this length."""
        if self.per_relation is not None:
            return min(self.per_relation, length)
        return min(length, math.ceil(round((self.share or 0) * length, 9)))


class NothingToCompare(AuditError):
    """A study under none of whose relations two systems were checked: the design `informative` has nothing to draw."""


@dataclass(frozen=True)
class Drawn:
    """What a call of `draw` did for one study."""

    study: int
    sample: int
    design: str
    seed: int
    cells: int
    drawn: int
    """Groups in the sample now."""
    added: int
    """Groups that this call added."""
    distinct_groups: int
    distinct_sources: int
    audited_groups: int
    """Different groups that people are asked about themselves: does the relation hold here?"""
    unfinished: bool
    """Whether the study's run has not reached its end: what it adds later is drawn by the next call."""
    protocol: str = BLIND
    """How its questions are answered (`audit.sampling.protocols`)."""
    not_compared: tuple[str, ...] = ()
    """Relations that the design `informative` draws nothing of, since one system alone was checked under them."""


def draw_all(
    engine: Engine,
    size: Size,
    design: str = "shared",
    seed: int | None = None,
    annotators: int = 2,
    study: int | None = None,
    audits: Audits | None = None,
    protocol: str | None = None,
) -> list[Drawn]:
    """`draw` for one study, or for all that have satisfied groups. Raises what `draw` raises."""
    table, group, verdict = table_of(tables.Study), table_of(tables.Group), table_of(tables.Verdict)
    satisfied = (
        select(group.c.study_id)
        .join(verdict, and_(verdict.c.group_id == group.c.id, verdict.c.outcome == int(Outcome.SATISFIED)))
        .distinct()
    )
    with engine.connect() as connection:
        everything = [int(row[0]) for row in connection.execute(select(table.c.id).order_by(table.c.id))]
        drawable = {int(row[0]) for row in connection.execute(satisfied)}
    if study is not None and study not in everything:
        raise AuditError(f"there is no study {study}; this database has {', '.join(map(str, everything)) or 'none'}")
    chosen = [study] if study is not None else [one for one in everything if one in drawable]
    if not chosen:
        raise AuditError(
            "no group is satisfied, so there is nothing to draw; run `audit run` or `audit import-run` first"
        )
    made: list[Drawn] = []
    for one in chosen:
        try:
            made.append(draw(engine, one, size, design, seed, annotators, audits, protocol))
        except NothingToCompare:
            if study is not None or (one == chosen[-1] and not made):
                raise
    return made


def draw(
    engine: Engine,
    study_id: int,
    size: Size,
    design: str = "shared",
    seed: int | None = None,
    annotators: int = 2,
    audits: Audits | None = None,
    protocol: str | None = None,
) -> Drawn:
    """Draw the first groups of each cell of a study; what was drawn before under this design and seed stays.

    `seed` defaults to the study's. Where the study has grown since (more relations, or a run that went on), groups
    that were drawn stay drawn: a cell's sample is then the shortest beginning of its list that holds them all. The
    design `informative` draws the first informative groups of each relation, for every system that satisfies them; a
    drawn group that does not apply to a system run since, or on which all agree by now, compares nothing any more and
    is left out.
    `audits` says what is asked beyond what settles the groups (nothing with the design `informative`); what was asked
    for before stays. `protocol` says how people answer (`audit.sampling.protocols`); None keeps what the sample has,
    and of a new one means `blind`. Questions that somebody has judged keep theirs. Raises UnknownName for a design or
    a protocol, AuditError for a study without satisfied groups, and NothingToCompare.
    """
    if protocol is not None:
        check_protocol(protocol)
    if design != INFORMATIVE:
        get_design(design)  # a wrong name is refused before anything is read
    if annotators < 1:
        raise AuditError(f"--annotators {annotators}: must be at least 1")
    audits = audits or Audits()
    if design == INFORMATIVE:
        if audits.groups or audits.answers:
            raise AuditError(
                "--audit-groups and --audit-answers correct the rates of cells, and --design informative only compares "
                "systems; draw with --design shared for them"
            )
        audits = Audits()
    with engine.begin() as connection:
        study = table_of(tables.Study)
        seed = (
            seed
            if seed is not None
            else int(connection.execute(select(study.c.seed).where(study.c.id == study_id)).scalar_one())
        )
        everything, alone = _lists(connection, study_id, design, seed)
        sample_id, protocol = _sample(connection, study_id, design, seed, annotators, protocol)
        wanted = keep_audits(connection, sample_id, audits)
        before = _drawn_before(connection, sample_id)
        chosen = _beginning(everything, before, size, ["relation_id"] if design == INFORMATIVE else CELL)
        table = table_of(tables.Draw)
        connection.execute(delete(table).where(table.c.sample_id == sample_id))
        columns = ["relation_id", "system_id", "rank", "group_id", "pi"]
        rows = chosen[columns].assign(sample_id=sample_id).to_dict("records")
        insert_new(connection, tables.Draw, [{str(name): value for name, value in row.items()} for row in rows])
        audited = 0
        if wanted.groups:
            violated = groups_with(connection, study_id, Outcome.VIOLATED)
            ranked = first(violated, get_design(design)(violated, seed), lambda n: n)
            lists = {Outcome.SATISFIED: chosen, Outcome.VIOLATED: ranked}
            audited = draw_group_audits(connection, sample_id, wanted.groups, lists)
        unfinished = _unfinished(connection, study_id)
    return Drawn(
        study_id,
        sample_id,
        design,
        seed,
        cells=int(chosen.groupby(CELL).ngroups),
        drawn=len(chosen),
        added=len(chosen.merge(before, how="left", on=[*CELL, "group_id"], indicator=True).query("_merge != 'both'")),
        distinct_groups=int(chosen["group_id"].nunique()),
        distinct_sources=int(chosen["row"].nunique()),
        audited_groups=audited,
        unfinished=unfinished,
        protocol=protocol,
        not_compared=alone,
    )


def _lists(connection: Connection, study_id: int, design: str, seed: int) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """The whole lists of a design (columns relation_id, system_id, rank, group_id, row), and relations that have none
    because there is nothing to compare."""
    if design != INFORMATIVE:
        candidates = satisfied_groups(connection, study_id)
        if candidates.empty:
            raise AuditError(f"study {study_id} has no satisfied groups to draw from; finish its run, or name another")
        return first(candidates, get_design(design)(candidates, seed), lambda n: n), ()
    checks = checked(connection, [study_id])
    made, compared = informative_lists(connection, checks, study_id, seed)
    if not compared:
        raise NothingToCompare(
            f"study {study_id} has no relation under which two systems were checked, so there is nothing to compare; "
            "run another system, or draw with --design shared"
        )
    relation = table_of(tables.Relation)
    alone = sorted(set(checks.relation.tolist()) - compared)
    names = select(relation.c.name).where(relation.c.id.in_(alone)).order_by(relation.c.id)
    return made, tuple(str(row[0]) for row in connection.execute(names))


def satisfied_groups(connection: Connection, study_id: int) -> pd.DataFrame:
    """Columns group_id, relation_id, system_id, relation, system, row: one line per satisfied (group, system)."""
    return groups_with(connection, study_id, Outcome.SATISFIED)


def groups_with(connection: Connection, study_id: int, outcome: Outcome) -> pd.DataFrame:
    """As `satisfied_groups`, of any outcome."""
    group, verdict, source = table_of(tables.Group), table_of(tables.Verdict), table_of(tables.Source)
    relation, system = table_of(tables.Relation), table_of(tables.System)
    query = (
        select(
            group.c.id.label("group_id"),
            group.c.relation_id,
            verdict.c.system_id,
            relation.c.name.label("relation"),
            system.c.name.label("system"),
            source.c.row,
        )
        .join(verdict, and_(verdict.c.group_id == group.c.id, verdict.c.outcome == int(outcome)))
        .join(source, source.c.id == group.c.source_id)
        .join(relation, relation.c.id == group.c.relation_id)
        .join(system, system.c.id == verdict.c.system_id)
        .where(group.c.study_id == study_id)
    )
    return pd.DataFrame(
        connection.execute(query).mappings().all(), columns=[str(c.name) for c in query.selected_columns]
    )


def _unfinished(connection: Connection, study_id: int) -> bool:
    """Whether some relation and system that were begun have chunks to go."""
    progress, source, study = table_of(tables.Progress), table_of(tables.Source), table_of(tables.Study)
    size = connection.execute(select(study.c.chunk).where(study.c.id == study_id)).scalar_one()
    sources = connection.execute(
        select(func.count()).select_from(source).where(source.c.study_id == study_id)
    ).scalar_one()
    done = (
        select(func.count().label("n"))
        .where(progress.c.study_id == study_id)
        .group_by(progress.c.relation_id, progress.c.system_id)
        .subquery()
    )
    least = connection.execute(select(func.min(done.c.n))).scalar()
    return least is not None and least * size < sources


def _sample(
    connection: Connection, study_id: int, design: str, seed: int, annotators: int, protocol: str | None
) -> tuple[int, str]:
    """The sample's id and its protocol."""
    table = table_of(tables.Sample)
    key = {"study_id": study_id, "design": design, "seed": seed}
    values = {"annotators": annotators, "drawn_at": tables.now()} | ({"protocol": protocol} if protocol else {})
    insert_new(connection, tables.Sample, [key | {"protocol": BLIND} | values])
    where = and_(*(table.c[name] == value for name, value in key.items()))
    connection.execute(table.update().where(where).values(**values))
    row = connection.execute(select(table.c.id, table.c.protocol).where(where)).one()
    return int(row[0]), str(row[1])


def _drawn_before(connection: Connection, sample_id: int) -> pd.DataFrame:
    table = table_of(tables.Draw)
    query = select(table.c.relation_id, table.c.system_id, table.c.group_id).where(table.c.sample_id == sample_id)
    return pd.DataFrame(connection.execute(query).mappings().all(), columns=["relation_id", "system_id", "group_id"])


def _beginning(everything: pd.DataFrame, before: pd.DataFrame, size: Size, of: list[str]) -> pd.DataFrame:
    """The beginning of each list: as long as asked, and long enough for what was drawn before.

    `of` are the columns that name a list; the ranks in it run from 1 to its length.
    """
    kept = everything.merge(before.assign(kept=True), how="left", on=[*CELL, "group_id"])
    kept["last"] = kept["rank"].where(kept["kept"].notna(), 0)
    by_list = kept.groupby(of)
    whole = by_list["rank"].transform("max")
    needed = whole.map({n: size.of(int(n)) for n in whole.unique()})
    length = np.maximum(needed, by_list["last"].transform("max"))
    kept["pi"] = length / whole
    return kept[kept["rank"] <= length].reset_index(drop=True)
