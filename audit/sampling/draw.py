"""Draw satisfied groups for judging, and draw more later without starting over."""

import math
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from sqlalchemy import Connection, and_, case, delete, exists, func, select, true

from audit.errors import AuditError, UnknownName
from audit.messages import message
from audit.relations import COUNTED, Outcome
from audit.sampling.audits import Audits, keep_audits
from audit.sampling.designs import (
    ALL,
    CHANGED,
    GOLD,
    INFORMATIVE,
    Numbers,
    check_design,
    check_domain,
    check_quorum,
    has_gold_in_part,
    quorum_of,
    within,
)
from audit.statistics.comparison import informative
from audit.store import Checked, checked, insert_new, integers, need_study, table_of, tables
from audit.store.bulk import LIMIT, group_ids

# Which groups tell the compared systems of a relation apart, in the order in which they are drawn.
#
# A group compares the systems that it applies to. Where these satisfy it with identical outputs, or none does, it adds
# exactly 0 to every difference of their SR_g; the others are informative. The design `informative` draws those alone,
# for all systems at once.


@dataclass(frozen=True, slots=True)
class Compared:
    """The groups of one relation that apply to all of these systems (two or more), in the drawn order.

    `number` and `source` (groups,) are the sources' random numbers, ascending, and ids; `group` (groups, systems) ids
    of groups; `satisfied` (groups, systems) is bool; `informative` (groups,) is False where a group adds 0 to every
    difference. `systems` are the ids of the columns.
    """

    study: int
    relation: int
    systems: tuple[int, ...]
    number: np.ndarray
    source: np.ndarray
    group: np.ndarray
    satisfied: np.ndarray
    informative: np.ndarray


class DifferingInputs:
    """The inputs whose outputs differ between systems: looked up once for each choice of systems, for all studies."""

    def __init__(self, connection: Connection):
        self._connection = connection
        self._differing: dict[tuple[int, ...], np.ndarray] = {}

    def of(self, systems: tuple[int, ...], inputs: np.ndarray) -> np.ndarray:
        """Which of these inputs (ids) have outputs that differ: bool, same shape. The first call reads all outputs."""
        if systems not in self._differing:
            ids = self._ids(systems)
            self._differing[systems] = differs = np.zeros(int(ids.max(initial=0)) + 1, bool)
            differs[ids] = True
        differs = self._differing[systems]
        return np.asarray(differs[np.minimum(inputs, len(differs) - 1)] & (inputs < len(differs)))

    def _ids(self, systems: tuple[int, ...]) -> np.ndarray:
        output, system = table_of(tables.Output), table_of(tables.System)
        # The text beside an error is no output.
        compared_value: Any = case((output.c.error.is_(None), func.coalesce(output.c.label, output.c.text)))
        if {int(row[0]) for row in self._connection.execute(select(system.c.id))} - set(systems):
            compared_value = case((output.c.system_id.in_(systems), compared_value))
        # Where nobody said anything that compares, as with scores alone, they are not taken to say the same.
        differ = func.coalesce(func.min(compared_value) < func.max(compared_value), true())
        query = select(output.c.input_id).group_by(output.c.input_id).having(differ)
        return integers(self._connection, query)[:, 0]


def compared_groups(
    connection: Connection,
    checks: Checked,
    study: int,
    numbers: Numbers,
    differing_inputs: DifferingInputs,
    without: Collection[int] = (),
) -> Iterator[list[Compared]]:
    """The comparisons under every relation of a study that makes groups for two systems or more, by relation id.

    The first one is over the groups that apply to all compared systems; then comes one for each two of them that share
    more groups than all do. Compared are the systems with a satisfied or violated group under the relation, but for
    those `without` (ids); `checks` hold the study's.
    """
    differing: dict[tuple[int, ...], tuple[np.ndarray, np.ndarray]] = {}
    inputs: tuple[np.ndarray, np.ndarray] | None = None
    of_study = np.flatnonzero(checks.study == study)
    for relation in np.unique(checks.relation[of_study]).tolist():
        rows = of_study[checks.relation[of_study] == relation]
        outcome = checks.outcome[rows]
        applies = (outcome == Outcome.SATISFIED) | (outcome == Outcome.VIOLATED)
        columns = np.flatnonzero(applies.any(axis=0) & ~np.isin(checks.systems, list(without)))
        if len(columns) < 2:
            continue
        several = applies[:, columns].sum(axis=1) > 1
        rows, applies, outcome = rows[several], applies[several], outcome[several]
        number = numbers.of(checks.source[rows])
        order = np.lexsort((checks.source[rows], number))
        rows, applies, outcome, number = rows[order], applies[order], outcome[order], number[order]
        found: list[Compared] = []
        for place in (columns, *(columns[list(pair)] for pair in combinations(range(len(columns)), 2))):
            inside = applies[:, place].all(axis=1)
            if found and inside.sum() == len(found[0].source):
                continue
            systems = tuple(checks.systems[at] for at in place)
            chosen, source = rows[inside], checks.source[rows[inside]]
            satisfied = outcome[np.ix_(inside, place)] == Outcome.SATISFIED
            if systems not in differing:
                inputs = _inputs(connection, study, checks.source[of_study]) if inputs is None else inputs
                of_sources, of_groups = (
                    np.sort(pairs[differing_inputs.of(systems, pairs[:, 1]), 0]) for pairs in inputs
                )
                differing[systems] = of_sources, of_groups
            group, (sources, groups) = checks.groups(chosen)[:, place], differing[systems]
            identical = ~checks.own[chosen] & ~_among(source, sources) & ~_among(group[:, 0], groups)
            decides = informative(satisfied, np.where(identical[:, None], 0, np.arange(len(systems))))
            found.append(Compared(study, relation, systems, number[inside], source, group, satisfied, decides))
        yield found


def informative_lists(
    connection: Connection, checks: Checked, study: int, seed: int, without: Collection[int] = ()
) -> Iterator[pd.DataFrame]:
    """The whole list of every relation that compares systems, but for those `without` (ids), for the design
    `informative`, relation by relation.

    Columns relation_id, system_id, rank, group_id, source: a line for each system that satisfies a group which tells
    it from another one, and the rank (from 1) is the group's among all such groups of the relation, the same for all
    systems. A list may be empty.
    """
    numbers = Numbers.of_study(connection, study, seed)
    for several in compared_groups(connection, checks, study, numbers, DifferingInputs(connection), without):
        parts = []
        for compared in several:
            at, column = np.nonzero(compared.satisfied & compared.informative[:, None])
            columns = {
                "relation_id": np.full(len(at), compared.relation),
                "system_id": np.array(compared.systems)[column],
                "group_id": compared.group[at, column],
                "source": compared.source[at],
                "number": compared.number[at],
            }
            parts.append(pd.DataFrame(columns))
        listed = pd.concat(parts, ignore_index=True).drop_duplicates(["system_id", "group_id"])
        listed = listed.sort_values(["number", "source"], kind="stable", ignore_index=True)
        yield listed.assign(rank=listed.groupby(["number", "source"]).ngroup() + 1).drop(columns="number")


def _inputs(connection: Connection, study: int, sources: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Inputs of a study's sources, and of the other counted members of these sources' groups: columns source or group,
    and input (ids). A member that is the group's source is not read again for each of its groups."""
    member, source = table_of(tables.Member), table_of(tables.Source)
    others = [role for role in COUNTED if role != "source"]
    return (
        integers(connection, select(source.c.id, source.c.input_id).where(source.c.study_id == study)),
        integers(
            connection,
            select(member.c.group_id, member.c.input_id).where(
                member.c.group_id.between(*group_ids(sources.min(), sources.max())), member.c.role.in_(others)
            ),
        ),
    )


def _among(values: np.ndarray, ascending: np.ndarray) -> np.ndarray:
    """Which values are among the others; `numpy.isin` would work those out anew for every relation."""
    if not len(ascending):
        return np.zeros(len(values), bool)
    place = np.minimum(np.searchsorted(ascending, values), len(ascending) - 1)
    return np.asarray(ascending[place] == values)


CELL = ["relation_id", "system_id"]
_COLUMNS = {"relation_id": int, "system_id": int, "rank": int, "group_id": int, "source": int, "pi": float, "new": bool}
"""What is drawn of a list: those of the list, the inclusion probability, and whether this call adds the group."""


@dataclass(frozen=True)
class Size:
    """How many groups to draw of each list: a number, or one for each relation named, or a share (rounded up).

    A list has the satisfied groups of a cell; of the design `informative`, the informative groups of a relation. Of a
    relation that is not named where others are, nothing more is drawn.
    """

    per_relation: int | Mapping[str, int] | None = None
    share: float | None = None

    def __post_init__(self) -> None:
        if (self.per_relation is None) == (self.share is None):
            raise AuditError(
                "say how many groups to draw: either per_relation=N or share=0.01, not both",
                parameter=("per_relation", "share"),
            )
        numbers = self.per_relation if isinstance(self.per_relation, Mapping) else {"": self.per_relation}
        for name, number in numbers.items():
            if number is not None and (not isinstance(number, int) or number < 1):
                wrong = f"{name}={number}" if name else number
                raise AuditError(f"per_relation {wrong}: must be at least 1", parameter="per_relation")
        if self.share is not None and not (isinstance(self.share, int | float) and 0 < self.share <= 1):
            raise AuditError(f"share {self.share}: must be above 0 and at most 1", parameter="share")

    @property
    def relations(self) -> tuple[str, ...]:
        """Names of the relations that have a number of their own."""
        return tuple(self.per_relation) if isinstance(self.per_relation, Mapping) else ()

    def of(self, length: int, relation: str = "") -> int:
        """Groups to draw of a list of this length, of the relation of this name.

        >>> Size({"MR1.1": 60}).of(100, "MR1.1"), Size({"MR1.1": 60}).of(100, "MR3.1"), Size(60).of(40)
        (60, 0, 40)
        """
        if isinstance(self.per_relation, Mapping):
            return min(self.per_relation.get(relation, 0), length)
        if self.per_relation is not None:
            return min(self.per_relation, length)
        return min(length, math.ceil(round((self.share or 0) * length, 9)))


@dataclass(frozen=True)
class SampleRequest:
    """What to draw, and how people are asked about it.

    `seed` None is the study's own. `audits` says what is asked beyond what settles the groups; of the design
    `informative`, which only compares systems, there are none. `annotators` answer each question, and `domain` says
    which sources are drawn from (`audit.sampling.designs`); None keeps what the sample has, and of a new one means 2,
    and `all`, or `gold` where gold is there `alone` and has labels for some sources only: what it cannot settle would
    end every cell's counts. `quorum` says how many votes settle a question, in all samples of the database; None keeps
    it. Raises UnknownName for a design, a domain or a quorum, and AuditError for a number of annotators or audits that
    do not go with the design: wrong names are refused before any reading.
    """

    size: Size
    design: str = "shared"
    seed: int | None = None
    annotators: int | None = 2
    audits: Audits = field(default_factory=Audits)
    domain: str | None = None
    quorum: str | None = None
    alone: bool = False
    """Whether nobody but gold is there to answer."""

    def __post_init__(self) -> None:
        if self.domain is not None:
            check_domain(self.domain)
        if self.quorum is not None:
            check_quorum(self.quorum)
        check_design(self.design)
        if self.annotators is not None and self.annotators < 1:
            raise AuditError(f"annotators {self.annotators}: must be at least 1", parameter="annotators")
        if self.design == INFORMATIVE and self.audits.answers:
            raise AuditError(
                "audit_answers corrects the rates of cells, and the design informative only compares systems; draw "
                "with the design shared for it",
                parameter="audit_answers",
            )


class NothingToCompare(AuditError):
    """A study under none of whose relations two systems were checked: the design `informative` has nothing to draw."""


@dataclass(frozen=True)
class Drawn:
    """What a draw did for one study."""

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
    unfinished: bool
    """Whether the study's run has not reached its end: what it adds later is drawn by the next call."""
    domain: str = ALL
    """Which sources it is drawn from (`audit.sampling.designs`)."""
    not_compared: tuple[str, ...] = ()
    """Relations that the design `informative` draws nothing of, since one system alone was checked under them."""


def draw_studies(connection: Connection, request: SampleRequest, study: int | None = None) -> list[Drawn]:
    """`draw_study` for one study, or for all that have satisfied groups. Raises what it raises, and UnknownName for a
    relation of the request's size that was never run."""
    if study is not None:
        need_study(connection, study)
    relations = sorted(set(_names(connection, tables.Relation).values())) if request.size.relations else []
    if unknown := [name for name in request.size.relations if name not in relations]:
        raise UnknownName("relation", unknown[0], relations)
    table = table_of(tables.Study)
    studies = connection.execute(select(table.c.id).order_by(table.c.id)).scalars().all()
    chosen = [id for id in studies if _has_satisfied(connection, id)] if study is None else [study]
    if not chosen:
        raise AuditError(
            "no group is satisfied, so there is nothing to draw; run `audit run` or `audit import-run` first"
        )
    draws: list[Drawn] = []
    for study_id in chosen:
        try:
            draws.append(draw_study(connection, study_id, request))
        except NothingToCompare:
            if study is not None or (study_id == chosen[-1] and not draws):
                raise
    return draws


def draw_study(connection: Connection, study_id: int, request: SampleRequest) -> Drawn:
    """Draw the first groups of each cell of a study; what was drawn before under this design and seed stays.

    Where the study has grown since (more relations, or a run that went on), groups
    that were drawn stay drawn: a cell's sample is then the shortest beginning of its list that holds them all. The
    design `informative` draws the first informative groups of each relation, for every system that satisfies them; a
    drawn group on which all that it applies to agree by now compares nothing any more and is left out. What audits were
    asked for before stays; no sample has two domains. A step of `audit.judging.samples`, which asks people about what
    is drawn. Raises AuditError for a study without satisfied groups and for another domain, and NothingToCompare;
    writes nothing then.
    """
    design, seed = request.design, request.seed
    if seed is None:
        study = table_of(tables.Study)
        seed = int(connection.execute(select(study.c.seed).where(study.c.id == study_id)).scalar_one())
    key = {"study_id": study_id, "design": design, "seed": seed}
    domain = _domain(connection, key, request)
    checks = within(connection, checked(connection, [study_id]), study_id, domain)
    alone: tuple[str, ...] = ()
    if design == INFORMATIVE:
        alone = _alone(connection, checks, study_id)
        lists = informative_lists(connection, checks, study_id, seed)
    elif (checks.outcome == Outcome.SATISFIED).any():
        lists = cell_lists(connection, checks, study_id, seed)
    else:
        code = "draw.nothing_satisfied_in" if domain == ALL else "draw.nothing_with_gold"
        raise AuditError(message(code, study=study_id))
    sample_id = _sample(connection, key, request, domain)
    keep_audits(connection, sample_id, Audits() if design == INFORMATIVE else request.audits)
    table = table_of(tables.Draw)
    columns = (table.c.relation_id, table.c.system_id, table.c.group_id)
    drawn_before = integers(connection, select(*columns).where(table.c.sample_id == sample_id))
    before = pd.DataFrame(drawn_before, columns=[*CELL, "group_id"])
    # A list at a time: all of them together have a row for each satisfied (group, system).
    empty = pd.DataFrame({name: np.empty(0, kind) for name, kind in _COLUMNS.items()})
    names = _names(connection, tables.Relation)
    parts = (_beginning(cell_list, before, request.size, names) for cell_list in lists if len(cell_list))
    chosen = pd.concat([empty, *parts], ignore_index=True)
    connection.execute(delete(table).where(table.c.sample_id == sample_id))
    rows = chosen[["relation_id", "system_id", "rank", "group_id", "pi"]].assign(sample_id=sample_id)
    insert_new(connection, tables.Draw, dict(rows.items()))
    return Drawn(
        study_id,
        sample_id,
        design,
        seed,
        cells=int(chosen.groupby(CELL).ngroups),
        drawn=len(chosen),
        added=int(chosen["new"].sum()),
        distinct_groups=int(chosen["group_id"].nunique()),
        distinct_sources=int(chosen["source"].nunique()),
        unfinished=_unfinished(connection, study_id),
        domain=domain,
        not_compared=alone,
    )


def draw_changed(connection: Connection, study: int, systems: tuple[int, int], number: int, annotators: int) -> int:
    """Draw the first groups of each relation that can tell two systems (ids) apart; returns how many are new.

    They add to the study's sample of the design `changed`, which keeps what was drawn for other systems; its order is
    that of the study's last sample.
    """
    sample, of = table_of(tables.Sample), table_of(tables.Study)
    seeds = (
        select(sample.c.seed).where(sample.c.study_id == study).order_by(sample.c.drawn_at.desc(), sample.c.id.desc())
    )
    seed = connection.execute(seeds).scalar()
    if seed is None:
        seed = connection.execute(select(of.c.seed).where(of.c.id == study)).scalar_one()
    checks = checked(connection, [study])
    lists = informative_lists(connection, checks, study, int(seed), set(checks.systems) - set(systems))
    parts = [
        listed[listed["rank"] <= number].assign(pi=min(1.0, number / listed["rank"].max()))
        for listed in lists
        if len(listed)
    ]
    key = {"study_id": study, "design": CHANGED, "seed": int(seed)}
    sample_id = _sample(connection, key, SampleRequest(Size(1), annotators=annotators), ALL)
    keep_audits(connection, sample_id, Audits())
    table = table_of(tables.Draw)
    columns = [*CELL, "group_id", "pi"]
    query = select(*(table.c[name] for name in columns)).where(table.c.sample_id == sample_id)
    before = pd.DataFrame(connection.execute(query).all(), columns=columns)
    parts = [part[columns] for part in (before, *parts) if len(part)]
    if not parts:
        return 0
    drawn = pd.concat(parts).drop_duplicates(columns[:3], ignore_index=True)
    sources = drawn["group_id"].floordiv(LIMIT**2).astype("int64")
    ordered = sources.unique()[Numbers.of_study(connection, study, int(seed)).order(sources.unique())]
    # A group has one rank for both systems, as in the design `informative`.
    rank = sources.map({source: place for place, source in enumerate(ordered.tolist())})
    rank = rank.groupby(drawn["relation_id"]).rank("dense").astype(int)
    connection.execute(delete(table).where(table.c.sample_id == sample_id))
    insert_new(connection, tables.Draw, dict(drawn.assign(rank=rank, sample_id=sample_id).items()))
    return len(drawn) - len(before)


def _has_satisfied(connection: Connection, study_id: int) -> bool:
    """Whether a study has a satisfied group: it looks no further than the first one."""
    source, verdict = table_of(tables.Source), table_of(tables.Verdict)
    ends = select(func.min(source.c.id), func.max(source.c.id)).where(source.c.study_id == study_id)
    least, most = connection.execute(ends).one()
    if least is None:
        return False
    inside = verdict.c.group_id.between(*group_ids(least, most))
    is_source = and_(source.c.id == verdict.c.group_id // LIMIT**2, source.c.study_id == study_id)
    satisfied = select(verdict.c.group_id).where(inside, verdict.c.outcome == int(Outcome.SATISFIED))
    first_satisfied = satisfied.where(exists(select(source.c.id).where(is_source))).limit(1)
    return connection.execute(first_satisfied).first() is not None


def _alone(connection: Connection, checks: Checked, study_id: int) -> tuple[str, ...]:
    """Names of the relations under which fewer than two systems have a satisfied or violated group: nothing to compare.

    Raises NothingToCompare where these are all.
    """
    applies = (checks.outcome == Outcome.SATISFIED) | (checks.outcome == Outcome.VIOLATED)
    relations, place = np.unique(checks.relation, return_inverse=True)
    systems = sum((np.bincount(place[of], minlength=len(relations)) > 0).astype(int) for of in applies.T)
    alone = relations[np.broadcast_to(systems, relations.shape) < 2].tolist()
    if len(alone) == len(relations):
        raise NothingToCompare(
            f"study {study_id} has no relation under which two systems were checked, so there is nothing to "
            "compare; run another system, or draw with the design shared"
        )
    relation = table_of(tables.Relation)
    names = select(relation.c.name).where(relation.c.id.in_(alone)).order_by(relation.c.id)
    return tuple(connection.execute(names).scalars())


def cell_lists(connection: Connection, checks: Checked, study_id: int, seed: int) -> Iterator[pd.DataFrame]:
    """The whole list of every cell of a study that has satisfied groups, by relation and system (ids).

    Columns relation_id, system_id, rank (from 1), group_id, source; a row a group, in the order of its number. `checks`
    are those of the study.
    """
    numbers = Numbers.of_study(connection, study_id, seed)
    for relation in np.unique(checks.relation).tolist():
        of_relation = np.flatnonzero(checks.relation == relation)
        for column, system in enumerate(checks.systems):
            rows = of_relation[checks.outcome[of_relation, column] == Outcome.SATISFIED]
            if not len(rows):
                continue
            rows = rows[numbers.order(checks.source[rows])]
            yield pd.DataFrame(
                {
                    "relation_id": relation,
                    "system_id": system,
                    "rank": np.arange(1, len(rows) + 1),
                    "group_id": checks.groups(rows)[:, column],
                    "source": checks.source[rows],
                }
            )


def _names(connection: Connection, model: type[tables.Relation] | type[tables.System]) -> dict[int, str]:
    table = table_of(model)
    return dict(connection.execute(select(table.c.id, table.c.name)).all())


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


def _domain(connection: Connection, key: Mapping[str, Any], request: SampleRequest) -> str:
    """The domain of the sample that is there, or of a new one. Raises AuditError where it has another one."""
    domain = request.domain
    before = connection.execute(select(table_of(tables.Sample).c.domain).filter_by(**key)).scalar()
    if before is not None and domain not in (None, before):
        raise AuditError(
            f"the sample of study {key['study_id']} with the design {key['design']} and the seed "
            f"{key['seed']} is drawn from the domain {before}; draw from {domain} with another seed"
        )
    if domain is None and before is None and request.alone and has_gold_in_part(connection, key["study_id"]):
        return GOLD
    return domain or before or ALL


def _sample(connection: Connection, key: Mapping[str, Any], request: SampleRequest, domain: str) -> int:
    """The id of the sample, which is made where there is none."""
    table = table_of(tables.Sample)
    quorum = request.quorum or quorum_of(connection)
    connection.execute(table.update().values(quorum=quorum))
    values: dict[str, Any] = {"drawn_at": tables.now(), "quorum": quorum}
    if request.annotators is not None:
        values["annotators"] = request.annotators
    insert_new(connection, tables.Sample, [{**key, "annotators": 2, "domain": domain, **values}])
    where = and_(*(table.c[name] == value for name, value in key.items()))
    connection.execute(table.update().where(where).values(**values))
    return int(connection.execute(select(table.c.id).where(where)).scalar_one())


def _beginning(groups: pd.DataFrame, before: pd.DataFrame, size: Size, names: Mapping[int, str]) -> pd.DataFrame:
    """The beginning of one list: as long as asked, and long enough for what was drawn before; with columns pi and new.

    The ranks in the list run from 1 to its length. `names` are those of the relations, by id.
    """
    whole, relation = int(groups["rank"].max()), int(groups["relation_id"].iloc[0])
    of_relation = before[before["relation_id"] == relation]
    drawn = groups[groups["group_id"].isin(of_relation["group_id"])].merge(of_relation, on=[*CELL, "group_id"])
    length = max(size.of(whole, names[relation]), int(drawn["rank"].max()) if len(drawn) else 0)
    chosen = groups[groups["rank"] <= length]
    seen = pd.MultiIndex.from_frame(drawn[["system_id", "group_id"]])
    new = ~pd.MultiIndex.from_frame(chosen[["system_id", "group_id"]]).isin(seen)
    return chosen.assign(pi=length / whole, new=new)
