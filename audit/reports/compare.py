"""`audit compare`: two versions of a system: the report's difference of the two, and the groups that changed.

The numbers are those of the report's pairs: `Common.differences` under each relation, `pooled_difference` over all.
"""

import re
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal, TypedDict, cast

import numpy as np
import pandas as pd
from sqlalchemy import Connection, Engine, select

import audit
from audit.errors import AuditError, UnknownName
from audit.false_satisfaction.cells import CELL, Counted, count_drawn
from audit.false_satisfaction.groups import Comparison, comparisons
from audit.false_satisfaction.resolution import State, Whose
from audit.judging.samples import draw_changes
from audit.relations import COUNTED, Outcome
from audit.reports.evidence import evidence
from audit.reports.study import cells_of_report
from audit.reports.tables import aligned
from audit.reports.words import percent, signed
from audit.sampling.designs import CHANGED
from audit.statistics.comparison import Common, holm, pooled_difference
from audit.statistics.intervals import Target, clustered_rate
from audit.store import checked, open_store, rows_among, snapshot, table_of, tables

WIDTH = 100
SHOWN = 10
"""Groups that got worse which are shown, unless told otherwise."""
UNDECIDED = 4
"""The exit status where answers cannot decide a condition."""


class Rise(TypedDict):
    """How much the violation rate rose, new less old, with its 95 % interval.

    `estimate` is null where too little is judged: `low` and `high` then hold whatever the open groups are. `p` tests
    that nothing changed, `p_holm` is adjusted over relations.
    """

    estimate: float | None
    low: float | None
    high: float | None
    p: float | None
    p_holm: float | None


class ChangeEntry(TypedDict):
    """What changed under one relation, or under all (`relation` null), of the groups that apply to both systems."""

    task: str | None
    study: int | None
    relation: str | None
    groups: int
    fixed: int
    broke: int
    informative: int
    """Groups that can add to the genuine difference: in the others all outputs are the same, or nobody satisfies."""
    judged: int
    """Of these, the ones that the genuine difference rests on."""
    vr_old: float
    vr_new: float
    observed: Rise
    genuine: Rise


class MemberChange(TypedDict):
    """A member of a group and what both systems said of it; null: it is no member of that one's group."""

    role: str
    texts: list[str]
    old: str | None
    new: str | None


class GroupChange(TypedDict):
    """A group that got worse or better: each of the two satisfies or violates it, or where it is settled satisfies it
    rightly (`genuine`) or falsely (`false`)."""

    relation: str
    old: str
    new: str
    members: list[MemberChange]


class ConditionEntry(TypedDict):
    """A condition of failing, how it came out, and the value that decided."""

    condition: str
    outcome: str
    because: str


class CompareDocument(TypedDict):
    """The document of `audit compare`."""

    old: dict[str, str]
    new: dict[str, str]
    relations: list[ChangeEntry]
    all: ChangeEntry
    left_out: list[str]
    broke: list[GroupChange]
    fixed: list[GroupChange]
    drawn: int | None
    conditions: list[ConditionEntry]
    signature: dict[str, Any]


# Conditions under which a comparison fails, such as `genuine rise > 2 points`.

GRAMMAR = "[surely|estimated|possibly] [observed|genuine] rise [in RELATION] >|>=|<|<= NUMBER points"
_EXPRESSION = re.compile(
    r"(?:(?P<how>surely|estimated|possibly)\s+)?(?:(?P<kind>observed|genuine)\s+)?rise"
    r"(?:\s+in\s+(?P<relation>\S+))?\s*(?P<sign>>=|<=|>|<)\s*(?P<number>[-+]?\d+(?:\.\d+)?)\s*points?"
)


@dataclass(frozen=True)
class Condition:
    """How far the violation rate may rise. `limit` is a fraction; `relation` None: over all relations."""

    text: str
    how: Literal["surely", "estimated", "possibly"]
    kind: Literal["observed", "genuine"]
    relation: str | None
    sign: str
    limit: float

    @classmethod
    def read(cls, text: str) -> "Condition":
        """Read a condition. Raises AuditError, which has the grammar.

        >>> condition = Condition.read("genuine rise in MR1.1 > 2 points")
        >>> condition.how, condition.kind, condition.relation, condition.limit
        ('surely', 'genuine', 'MR1.1', 0.02)
        """
        found = _EXPRESSION.fullmatch(" ".join(text.split()))
        if found is None or abs(float(found["number"])) > 100:
            raise AuditError(f'{text[:80]!r} is no condition; write {GRAMMAR}, as in "genuine rise > 2 points"')
        how, kind = found["how"] or "surely", found["kind"] or "genuine"
        return cls(text, how, kind, found["relation"], found["sign"], float(found["number"]) / 100)  # type: ignore[arg-type]

    def decide(self, document: CompareDocument) -> tuple[Literal["passes", "fails", "undecided"], str]:
        """Whether the comparison passes or fails, and why, in a clause.

        `surely` it fails where the whole interval is beyond the limit, `estimated` where the estimate is, `possibly`
        where an end is. Without an estimate it is undecided where the limit lies between the ends, but for `possibly`.
        Raises UnknownName for a relation that was not compared.
        """
        entries = [entry for entry in document["relations"] if entry["relation"] == self.relation]
        if self.relation is not None and not entries:
            raise UnknownName("relation", self.relation, [str(entry["relation"]) for entry in document["relations"]])
        rises = [entry[self.kind] for entry in entries or [document["all"]]]
        rise = max(rises, key=lambda one: (one["high"] or 0) * (1 if self.sign[0] == ">" else -1))
        estimate, low, high = rise["estimate"], rise["low"], rise["high"]
        if low is None or high is None:
            return "undecided", "there is no group to tell from"
        because = f"the {self.kind} violation rate {moved(rise)}"
        sure, possible = (self._beyond(end) for end in ((low, high) if self.sign[0] == ">" else (high, low)))
        if self.how == "possibly":
            return ("fails" if possible else "passes"), because
        if estimate is None and possible and not sure:
            return "undecided", f"{because}, as too little is judged"
        beyond = sure if self.how == "surely" or estimate is None else self._beyond(estimate)
        return ("fails" if beyond else "passes"), because

    def _beyond(self, value: float) -> bool:
        # Rates are ratios of whole numbers: .3 - .1 is not above .2.
        apart = value - self.limit
        strictly = apart > 1e-12 if self.sign[0] == ">" else apart < -1e-12
        return strictly or ("=" in self.sign and abs(apart) <= 1e-12)


def status_of(document: CompareDocument, undecided: str | None = None) -> int:
    """The exit status: 1 where a condition fails, `UNDECIDED` where one cannot be decided, unless that is to `pass` or
    to `fail`."""
    outcomes = {condition["outcome"] for condition in document["conditions"]}
    if "fails" in outcomes or ("undecided" in outcomes and undecided == "fail"):
        return 1
    return UNDECIDED if "undecided" in outcomes and undecided != "pass" else 0


# The two systems, and the report's comparison of them under each relation.


@dataclass(frozen=True)
class Comparing:
    """What is asked of a comparison: whose answers, for which target, how many groups it shows, when it fails, and how
    many groups of each relation are drawn for judging first."""

    answers: Whose = "both"
    target: Target = "population"
    show: int = SHOWN
    conditions: tuple[Condition, ...] = ()
    draw: int | None = None
    annotators: int = 2

    def __post_init__(self) -> None:
        if self.show < 0:
            raise AuditError(f"show {self.show}: must be at least 0", parameter="show")
        if self.draw is not None and self.draw < 1:
            raise AuditError(f"draw {self.draw}: must be at least 1 group of each relation", parameter="draw")


@dataclass(frozen=True)
class _Version:
    id: int
    name: str
    version: str
    settings: str

    @property
    def label(self) -> str:
        return f"{self.name}@{self.version}"


def compare(old: str, new: str, database: str | Engine, request: Comparing) -> CompareDocument:
    """Compare two systems of a database: `name`, `name@version`, the beginning of that, or `#id`.

    Nothing is written, unless groups are to be drawn. Raises AuditError for a name that fits no system or several, for
    systems that share no group, and what `open_store` raises.
    """
    with _opened(database) as engine:
        with snapshot(engine) as connection:
            versions = [_system(connection, name) for name in (old, new)]
            if versions[0].id == versions[1].id:
                raise AuditError(f"{old} and {new} are the same system, {versions[0].label}; name two versions")
            studies = _studies_of_both(connection, versions)
        ids = (versions[0].id, versions[1].id)
        drawn = None if request.draw is None else draw_changes(engine, studies, ids, request.draw, request.annotators)
        with snapshot(engine) as connection:
            document = _document(connection, versions, studies, request)
        document["drawn"] = drawn
    for condition in request.conditions:
        outcome, because = condition.decide(document)
        document["conditions"].append({"condition": condition.text, "outcome": outcome, "because": because})
    return document


@contextmanager
def _opened(database: str | Engine) -> Iterator[Engine]:
    if isinstance(database, Engine):
        yield database
        return
    engine = open_store(database)
    try:
        yield engine
    finally:
        engine.dispose()


def _system(connection: Connection, name: str) -> _Version:
    """The system that a name means. Raises AuditError, which lists what is there, where it is none or several."""
    table = table_of(tables.System)
    columns = (table.c.id, table.c.name, table.c.version, table.c.settings)
    every = [_Version(*row) for row in connection.execute(select(*columns).order_by(table.c.id))]
    fitting = [one for one in every if name in (one.name, one.label, f"#{one.id}", f"{one.label}#{one.id}")]
    fitting = fitting or [one for one in every if one.label.startswith(name)]
    if len(fitting) == 1:
        return fitting[0]
    there = ", ".join(f"{one.label}#{one.id}" for one in fitting or every) or "none"
    what = "means several systems" if fitting else "is no system"
    number = f"; a version, or a number as in #{fitting[0].id}, is enough" if fitting else ""
    raise AuditError(f"{name} {what}; there are {there}{number}")


def _studies_of_both(connection: Connection, versions: Sequence[_Version]) -> list[int]:
    """The studies with groups that apply to both. Raises AuditError where there are none."""
    studies = [int(id) for id in connection.execute(select(table_of(tables.Study).c.id)).scalars()]
    checks = checked(connection, studies)
    labels = " and ".join(version.label for version in versions)
    if missing := [version.label for version in versions if version.id not in checks.systems]:
        raise AuditError(f"{missing[0]} was never checked; run it first")
    columns = [checks.systems.index(version.id) for version in versions]
    applies = np.isin(checks.outcome[:, columns], (Outcome.SATISFIED, Outcome.VIOLATED)).all(axis=1)
    if not applies.any():
        raise AuditError(f"no group applies to both of {labels}; run both on the same corpus, under the same relations")
    return [int(study) for study in np.unique(checks.study[applies])]


@dataclass(frozen=True)
class _Pair:
    """The two systems under one relation: the report's comparison, with the columns of both in its arrays, and states
    (groups, 2) of the groups."""

    comparison: Comparison
    common: Common
    columns: tuple[int, int]

    @property
    def held(self) -> np.ndarray:
        """Which groups each of the two satisfies; bool (groups, 2)."""
        return np.asarray(self.comparison.of.satisfied[:, list(self.columns)])

    @property
    def genuine(self) -> np.ndarray:
        """1 where a group is a genuine satisfaction, 0 where it is none, NaN where it is open; (groups, 2)."""
        return np.asarray(self.common.genuine)[:, list(self.columns)]

    def supposing(self, genuine: np.ndarray, decides: np.ndarray) -> Common:
        """The comparison of the two if all groups were settled like this."""
        whole, places = np.full(2, len(genuine)), (self.common.source, self.common.cluster)
        both = self.common.systems[self.columns[0]], self.common.systems[self.columns[1]]
        return Common(both, whole, whole, whole, whole, genuine, self.held, decides, *places)


def _pairs(connection: Connection, ids: tuple[int, int], study: int, whose: Whose) -> tuple[list[_Pair], Counted]:
    """The report's comparisons of two systems in a study: of the sample that `--draw` made, where it has groups of
    these, which are then compared by themselves; else of the report's sample."""
    sample, draw = table_of(tables.Sample), table_of(tables.Draw)
    of_these = select(draw.c.group_id).join(sample, sample.c.id == draw.c.sample_id).limit(1)
    of_these = of_these.where(sample.c.study_id == study, sample.c.design == CHANGED, draw.c.system_id.in_(ids))
    own = connection.execute(of_these).first() is not None
    counted, _ = count_drawn(connection, whose, study, CHANGED if own else None)
    found = []
    for joint in comparisons(connection, counted, ids if own else None):
        part = next((pair for pair in joint.pairs if set(pair.of.systems) == set(ids)), joint)
        if set(ids) <= set(part.of.systems):
            columns = (part.of.systems.index(ids[0]), part.of.systems.index(ids[1]))
            found.append(_Pair(part, part.settled(counted.drawn).joint, columns))
    return found, counted


def _document(
    connection: Connection, versions: Sequence[_Version], studies: Sequence[int], request: Comparing
) -> CompareDocument:
    """The whole document, before conditions are decided."""
    ids = (versions[0].id, versions[1].id)
    pairs: list[_Pair] = []
    left_out: list[str] = []
    for study in studies:
        found, counted = _pairs(connection, ids, study, request.answers)
        pairs += found
        left_out += _left_out(counted, found, study, versions)
    entries = [_entry([pair], request.target, pair.comparison) for pair in pairs]
    for kind in ("observed", "genuine"):
        rises: list[Rise] = [entry[kind] for entry in entries]
        tested = [(rise, rise["p"]) for rise in rises if rise["p"] is not None]
        for (rise, _), adjusted in zip(tested, holm([p for _, p in tested]), strict=True):
            rise["p_holm"] = adjusted
    old, new = ({"system": one.name, "version": one.version, "settings": one.settings} for one in versions)
    return {
        "old": old,
        "new": new,
        "relations": entries,
        "all": _entry(pairs, request.target),
        "left_out": left_out,
        "broke": _listed(connection, pairs, ids, request.show, worse=True),
        "fixed": _listed(connection, pairs, ids, request.show, worse=False),
        "drawn": None,
        "conditions": [],
        "signature": {
            "audit": audit.__version__,
            "old": versions[0].label,
            "new": versions[1].label,
            "answers": request.answers,
            "target": request.target,
        },
    }


def _left_out(counted: Counted, pairs: Sequence[_Pair], study: int, versions: Sequence[_Version]) -> list[str]:
    """What is not compared of a study, in sentences."""
    keys = counted.keys[counted.keys["study_id"] == study]
    compared = {pair.comparison.of.relation: pair for pair in pairs}
    sentences = []
    for (id, name), cells in keys.groupby(["relation_id", "relation"], sort=False):
        ran = [version for version in versions if version.id in set(cells["system_id"])]
        if len(ran) == 1:
            sentences.append(f"{name}: {ran[0].label} alone was checked under it")
        elif ran and id not in compared:
            sentences.append(f"{name}: nothing of it is judged of one of them, or no group applies to both")
    return sentences


def _entry(pairs: Sequence[_Pair], target: Target, one: Comparison | None = None) -> ChangeEntry:
    """What changed under `one` relation, or under all together."""
    held = np.concatenate([pair.held for pair in pairs] or [np.zeros((0, 2), bool)])
    # All is known of the corpus; of texts to come not even that nothing changes where nothing did.
    settled = [pair.supposing(pair.held.astype(float), np.ones(len(pair.held), bool)) for pair in pairs]
    places = [(0, 1)] * len(pairs)
    return {
        "task": one.task if one else None,
        "study": one.study if one else None,
        "relation": one.relation if one else None,
        "groups": len(held),
        "fixed": int((held[:, 1] & ~held[:, 0]).sum()),
        "broke": int((held[:, 0] & ~held[:, 1]).sum()),
        "informative": sum(int(pair.comparison.of.informative.sum()) for pair in pairs),
        "judged": sum(0 if pair.common.outcomes is None else len(pair.common.outcomes) for pair in pairs),
        "vr_old": float(1 - held[:, 0].mean()),
        "vr_new": float(1 - held[:, 1].mean()),
        "observed": _rise(settled, places, target),
        "genuine": _genuine(pairs, target),
    }


def _genuine(pairs: Sequence[_Pair], target: Target) -> Rise:
    """The rise of the genuine violation rate; where too little is judged, the ends that hold whatever is open."""
    rise = _rise([pair.common for pair in pairs], [pair.columns for pair in pairs], target)
    if rise["estimate"] is not None:
        return rise
    ends = []
    for old, new in ((0.0, 1.0), (1.0, 0.0)):  # the open groups as good for the new one as they can be, and as bad
        worst = [
            pair.supposing(np.where(np.isnan(pair.genuine), [old, new], pair.genuine), pair.comparison.of.informative)
            for pair in pairs
        ]
        ends.append(_rise(worst, [(0, 1)] * len(pairs), target))
    return {**rise, "low": ends[0]["low"], "high": ends[1]["high"], "p": None}


def _rise(commons: Sequence[Common], columns: Sequence[tuple[int, int]], target: Target) -> Rise:
    """SR_g of the old system less that of the new one, as the report has it: one relation's pair, or several pooled."""
    nothing: Rise = {"estimate": None, "low": None, "high": None, "p": None, "p_holm": None}
    if not commons:
        return nothing
    if len(commons) > 1:
        names = commons[0].systems[columns[0][0]], commons[0].systems[columns[0][1]]
        pooled = pooled_difference(commons, names, target)
        if pooled.relations < len(commons):
            return nothing
        return {**nothing, "estimate": pooled.difference, "low": pooled.low, "high": pooled.high, "p": pooled.p}
    # In the order of the report's columns: the same arithmetic gives the same digits.
    old, new = columns[0]
    pair = commons[0].differences(target, 0.95, 0.0, [(min(old, new), max(old, new))])[0]
    if pair.difference is None or pair.low is None or pair.high is None:
        return nothing
    if old < new:
        return {**nothing, "estimate": pair.difference, "low": pair.low, "high": pair.high, "p": pair.p}
    return {**nothing, "estimate": -pair.difference, "low": -pair.high, "high": -pair.low, "p": pair.p}


# The groups that got worse or better, the most instructive first, with their texts.

Members = list[tuple[str, tuple[str, ...], str]]
"""Role, texts, and what the system said, of each counted member."""


def _listed(
    connection: Connection, pairs: Sequence[_Pair], ids: tuple[int, int], show: int, *, worse: bool
) -> list[GroupChange]:
    """Groups that got worse, or better: those that one of the two satisfies rightly and the other does not first, then
    those whose verdict changed and which nobody settled, then those that are satisfied falsely."""
    rows: list[tuple[int, int, str, list[int], list[str]]] = []
    for pair in pairs:
        held, genuine, group = pair.held, pair.genuine, pair.comparison.of.group[:, list(pair.columns)]
        good, bad = (0, 1) if worse else (1, 0)
        turned = held[:, good] & ~held[:, bad]
        rightly = pair.comparison.of.informative & (genuine[:, good] == 1) & (genuine[:, bad] == 0)
        level = np.select([rightly, turned & np.isnan(genuine[:, good]), turned], [0, 1, 2], 3)
        for wanted in range(3):
            # A few of each relation, in the random order: the texts of a hundred thousand need not be read for ten.
            for turn, at in enumerate(np.flatnonzero(level == wanted)[: 4 * show]):
                states = [_state(held[at, side], genuine[at, side]) for side in (0, 1)]
                rows.append((wanted, turn, pair.comparison.relation, group[at].tolist(), states))
    members = [_members(connection, id, [row[3][side] for row in rows]) for side, id in enumerate(ids)]
    chosen: list[GroupChange] = []
    seen: set[tuple[str, ...]] = set()
    for _, _, relation, ids_of, states in sorted(rows, key=lambda row: row[:2]):
        both = _side_by_side(*(members[side].get(ids_of[side], []) for side in (0, 1)))
        source = tuple(both[0]["texts"]) if both else ()
        if source not in seen and len(chosen) < show:
            seen.add(source)
            chosen.append({"relation": relation, "old": states[0], "new": states[1], "members": both})
    return chosen


def _state(satisfied: bool, genuine: float) -> str:
    if not satisfied:
        return "violated"
    return "satisfied" if np.isnan(genuine) else "genuine" if genuine else "false"


def _members(connection: Connection, system: int, groups: Sequence[int]) -> dict[int, Members]:
    """The counted members of these groups (ids) with the outputs of the system."""
    member, content, output = (table_of(model) for model in (tables.Member, tables.Input, tables.Output))
    query = (
        select(
            member.c.group_id, member.c.step, member.c.role, content.c.texts, output.c.label, output.c.score,
            output.c.text, output.c.error,
        )
        .join(content, content.c.id == member.c.input_id)
        .join(output, (output.c.input_id == member.c.input_id) & (output.c.system_id == system))
        .where(member.c.role.in_(COUNTED))
        .order_by(member.c.group_id, member.c.step, output.c.attempt)
    )  # fmt: skip
    found: dict[int, dict[int, tuple[str, tuple[str, ...], str]]] = {}
    for row in rows_among(connection, query, member.c.group_id, groups):
        answer = row.error or next((value for value in (row.label, row.text) if value is not None), None)
        answer = f"{row.score:.3g}" if answer is None and row.score is not None else str(answer)
        found.setdefault(row.group_id, {})[row.step] = (row.role, tuple(row.texts), answer)
    return {id: list(steps.values()) for id, steps in found.items()}


def _side_by_side(old: Members, new: Members) -> list[MemberChange]:
    """Members of both groups; those with the same role and texts are one."""
    outputs: dict[tuple[str, tuple[str, ...]], list[str | None]] = {}
    for side, members in enumerate((old, new)):
        for role, texts, output in members:
            outputs.setdefault((role, texts), [None, None])[side] = output
    return [
        {"role": role, "texts": list(texts), "old": both[0], "new": both[1]} for (role, texts), both in outputs.items()
    ]


# One system under one relation, for tests that fail where it is violated too often.


@dataclass(frozen=True)
class RelationCheck:
    """The groups of one relation that apply to a system: rates as the report has them (estimate, low and high; null
    where they are not known), and violated and falsely satisfied groups, the most instructive first."""

    relation: str
    groups: int
    violated: int
    judged: int
    observed: Mapping[str, float | None]
    genuine: Mapping[str, float | None]
    worst: list[GroupChange]


def check_relation(
    engine: Engine, study: int, system: str, relation: Mapping[str, str], show: int = 3
) -> RelationCheck | None:
    """The check of a system (`name@version`) under one relation of a study (id); None where no group applies.

    `relation` has the columns task, name, version and params. Raises AuditError for a system that is not there.
    """
    with snapshot(engine) as connection:
        version, table = _system(connection, system), table_of(tables.Relation)
        relation_id = connection.execute(select(table.c.id).filter_by(**relation)).scalar_one()
        key, basis = [study, relation_id, version.id], evidence(connection, study=study)
        counted, checks = basis.counted, basis.counted.checks
        place = (counted.keys[CELL] == key).all(axis=1).to_numpy()
        cell = counted.cells[place]
        if not int(cell[["satisfied", "violated"]].to_numpy().sum()):
            return None
        column = checks.systems.index(version.id)
        rows = np.flatnonzero((checks.relation == relation_id) & (checks.outcome[:, column] == Outcome.VIOLATED))
        drawn = counted.drawn[(counted.drawn[CELL] == key).all(axis=1) & (counted.drawn["state"] == State.FALSE)]
        false = set(drawn["group_id"].tolist())
        members = _members(connection, version.id, [*false, *checks.groups(rows[: 20 * show])[:, column].tolist()])
    worst: list[GroupChange] = []
    for group, listed in members.items():
        state = "false" if group in false else "violated"
        worst.append({"relation": relation["name"], "old": state, "new": state, "members": _side_by_side([], listed)})
    # What is false is what no test would have shown; of the others the shortest texts are read soonest.
    worst.sort(key=lambda one: (one["new"] != "false", sum(len(text) for of in one["members"] for text in of["texts"])))
    names = counted.keys[place].iloc[0]
    checked = cast(pd.DataFrame, basis.checked)
    checked = checked[(checked["relation"] == names["relation"]) & (checked["system"] == names["system"])]
    by_cluster = (1 - checked["satisfied"]).groupby(checked["cluster"].to_numpy()).agg(["sum", "size"])
    rate = clustered_rate(by_cluster["sum"].to_numpy(), by_cluster["size"].to_numpy())
    rated = next(
        one
        for one in cells_of_report(basis)
        if (one["relation"], one["system"]) == (names["relation"], names["system"])
    )
    ends = (rated["sr_genuine"], rated["sr_genuine_high"], rated["sr_genuine_low"])
    if rated["sr_genuine"] is None:
        ends = (None, rated["sr_bound_high"], rated["sr_bound_low"])
    genuine = dict(zip(("estimate", "low", "high"), (None if end is None else 1 - end for end in ends), strict=True))
    return RelationCheck(
        relation["name"], len(checked), len(rows), rated["judged"] or 0,
        {"estimate": rate.rate, "low": rate.low, "high": rate.high}, genuine, worst[:show],
    )  # fmt: skip


# For people, in English: a command alone says it.


def lines(document: CompareDocument) -> list[str]:
    """The comparison as lines of at most 100 columns."""
    old, new = (f"{entry['system']}@{entry['version']}" for entry in (document["old"], document["new"]))
    heads = ["relation", "groups", "fixed", "broke", "VR old", "VR new", "VR change", "genuine", "judged"]
    rows = [
        [
            entry["relation"] or "all",
            *(f"{entry[name]:,}" for name in ("groups", "fixed", "broke")),
            f"{percent(entry['vr_old'])} %",
            f"{percent(entry['vr_new'])} %",
            in_points(entry["observed"]),
            in_points(entry["genuine"]),
            f"{entry['judged']:,}/{entry['informative']:,}",
        ]
        for entry in [*document["relations"], document["all"]]
    ]
    shown = [f"{old} -> {new}", "", *aligned(heads, rows, 1, WIDTH), ""]
    shown += [line for sentence in _sentences(document) for line in textwrap.wrap(sentence, WIDTH)]
    for group in document["broke"]:
        shown += ["", *group_lines(group)]
    for condition in document["conditions"]:
        text = f"{condition['outcome']}: {condition['condition']} ({condition['because']})"
        shown += ["", *textwrap.wrap(text, WIDTH)]
    return shown


def _sentences(document: CompareDocument) -> Iterator[str]:
    every = document["all"]
    rates = (("violation rate (VR)", every["observed"]), ("genuine one", every["genuine"]))
    changes = "; ".join(f"the {name} {moved(rise)}" for name, rise in rates if rise["low"] is not None)
    if changes:
        yield f"Over all, {changes}. To rise is to get worse."
    for entry in document["relations"]:
        for kind in ("observed", "genuine"):
            p = entry[kind]["p_holm"]
            if p is not None and p < 0.05:
                yield f"{entry['relation']}: the {kind} change is beyond chance, p = {p:.2g} (Holm's over relations)."
    if same := every["groups"] - every["informative"]:
        yield (
            f"In {same:,} of {every['groups']:,} groups all outputs are the same, or neither satisfies: they add "
            "exactly 0 to the genuine difference, without being judged."
        )
    yield from (f"Left out: {sentence}." for sentence in document["left_out"])
    if document["drawn"] is not None:
        yield f"Drawn: {document['drawn']:,} groups more, for each system that satisfies them; their questions wait."


def group_lines(group: GroupChange) -> list[str]:
    """One group with its texts and both outputs."""
    one = group["old"] == group["new"]  # of one system
    shown = [f"{group['relation']}: " + (group["new"] if one else f"{group['old']} -> {group['new']}")]
    for member in group["members"]:
        both = (member["new"],) if one and member["old"] is None else (member["old"], member["new"])
        outputs = " -> ".join(output if output is not None else "(none)" for output in both)
        texts = textwrap.shorten(" | ".join(member["texts"]), 2 * WIDTH, placeholder=" …")
        shown += textwrap.wrap(
            f"{member['role'].replace('_', '-')}: {texts}  [{textwrap.shorten(outputs, WIDTH, placeholder=' …')}]",
            WIDTH, initial_indent="  ", subsequent_indent="    ",
        )  # fmt: skip
    return shown


def in_points(rise: Rise) -> str:
    """A difference for people: the estimate and its interval, or where there is none the bounds."""
    if rise["low"] is None or rise["high"] is None:
        return "-"
    ends = f"{signed(rise['low'])} to {signed(rise['high'])}"
    return ends if rise["estimate"] is None else f"{signed(rise['estimate'])} [{ends}]"


def moved(rise: Rise) -> str:
    """A rise in words.

    >>> moved({"estimate": -0.25, "low": -0.3, "high": -0.2, "p": None, "p_holm": None})
    'fell by 25.0 points [-30.0 to -20.0]'
    """
    ends = f"{signed(rise['low'] or 0.0)} to {signed(rise['high'] or 0.0)}"
    if rise["estimate"] is None:
        return f"changed by {ends} points"
    rounded = round(100 * rise["estimate"], 1)
    return (f"{'rose' if rounded > 0 else 'fell'} by {abs(rounded):.1f} points" if rounded else "did not change") + (
        f" [{ends}]"
    )
