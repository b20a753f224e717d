"""`audit compare`: two versions of a system: the report's difference of the two, and the groups that changed.

The numbers are those of the report's pairs (`audit.reports.standings.pair_entry`).
"""

import math
import re
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, Literal, TypedDict

import numpy as np
import pandas as pd
from scipy.stats import norm
from sqlalchemy import Connection, Engine, select

import audit
from audit.errors import AuditError, UnknownName
from audit.false_satisfaction.cells import Counted, count
from audit.options import spread
from audit.relations import COUNTED, Outcome
from audit.reports.build import Basis
from audit.reports.options import CompareOptions
from audit.reports.standings import Comparisons, pair_entry
from audit.reports.study import comparisons_of
from audit.reports.tables import aligned
from audit.reports.words import percent, signed
from audit.statistics.contests import Answered, Pair
from audit.statistics.orders import holm
from audit.statistics.rates import rates_of
from audit.store import checked, open_store, rows_among, snapshot, table_of, tables

WIDTH = 100
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
class _Version:
    id: int
    name: str
    version: str
    settings: str

    @property
    def label(self) -> str:
        return f"{self.name}@{self.version}"


@spread
def compare(
    old: str,
    new: str,
    database: str | Engine,
    conditions: Sequence[Condition] = (),
    options: CompareOptions = CompareOptions(),
) -> CompareDocument:
    """Compare two systems of a database: `name`, `name@version`, the beginning of that, or `#id`.

    Nothing is written. Raises AuditError for a name that fits no system or several, for systems that share no group,
    and what `open_store` raises.
    """
    with _opened(database) as engine, snapshot(engine) as connection:
        versions = [_system(connection, name) for name in (old, new)]
        if versions[0].id == versions[1].id:
            raise AuditError(f"{old} and {new} are the same system, {versions[0].label}; name two versions")
        studies = _studies_of_both(connection, versions)
        document = _document(connection, versions, studies, options)
    for condition in conditions:
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
class _Part:
    """The two systems in one study: what they are compared by, with the names of both as the report has them, and the
    ids of the groups by relation."""

    study: int
    task: str
    comparison: Comparisons
    names: tuple[str, str]
    group: Mapping[str, np.ndarray]

    @property
    def columns(self) -> tuple[int, int]:
        """The columns of both."""
        return self.comparison.systems.index(self.names[0]), self.comparison.systems.index(self.names[1])

    def shared(self) -> list[str]:
        """The relations with groups that apply to both."""
        return [name for name, groups in self.comparison.groups.items() if groups.pair(*self.columns).groups]


def _part(counted: Counted, study: int, versions: Sequence[_Version]) -> _Part:
    comparison, population = comparisons_of(counted, study), counted.populations[study]
    places = [population.systems.index(version.id) for version in versions]
    names = comparison.systems[places[0]], comparison.systems[places[1]]
    group = dict(zip(comparison.groups, population.group.values(), strict=True))
    return _Part(study, population.task, comparison, names, group)


def _document(
    connection: Connection, versions: Sequence[_Version], studies: Sequence[int], options: CompareOptions
) -> CompareDocument:
    """The whole document, before conditions are decided."""
    numbers = Basis(pd.DataFrame(), target=options.target)
    parts = [_part(count(connection, options.answers, study), study, versions) for study in studies]
    entries = [_entry([(part, {name: 1.0})], numbers, part, name) for part in parts for name in part.shared()]
    for kind in ("observed", "genuine"):
        rises: list[Rise] = [entry[kind] for entry in entries]
        tested = [(rise, rise["p"]) for rise in rises if rise["p"] is not None]
        for (rise, _), adjusted in zip(tested, holm([p for _, p in tested]), strict=True):
            rise["p_holm"] = adjusted
    every = [(part, {name: float(_pair(part, name).groups) for name in part.shared()}) for part in parts]
    old, new = ({"system": one.name, "version": one.version, "settings": one.settings} for one in versions)
    lists = [_listed(connection, parts, versions, options.show, worse=worse) for worse in (True, False)]
    return {
        "old": old,
        "new": new,
        "relations": entries,
        "all": _entry(every, numbers),
        "left_out": [sentence for part in parts for sentence in _left_out(part)],
        "broke": lists[0],
        "fixed": lists[1],
        "conditions": [],
        "signature": {
            "audit": audit.__version__,
            "answers": options.answers,
            "target": options.target,
            "confidence": numbers.confidence,
        },
    }


def _pair(part: _Part, name: str) -> Pair:
    return part.comparison.groups[name].pair(*part.columns)


def _left_out(part: _Part) -> list[str]:
    """The relations under which no group applies to both."""
    missing = [name for name in part.comparison.groups if name not in part.shared()]
    return [f"{', '.join(missing)}: no group applies to both"] if missing else []


def _entry(
    parts: Sequence[tuple[_Part, Mapping[str, float]]],
    numbers: Basis,
    part: _Part | None = None,
    name: str | None = None,
) -> ChangeEntry:
    """What changed under one relation, or over these with weights together."""
    held = []
    for of, weights in parts:
        for one in weights:
            at = _pair(of, one).both
            held.append(of.comparison.groups[one].satisfied[at][:, of.columns] == 1)
    satisfied = np.concatenate(held or [np.zeros((0, 2), bool)])
    observed = [(replace(of, comparison=_as_observed(of.comparison)), weights) for of, weights in parts]
    sizes = [_sizes(of, weights) for of, weights in parts]
    return {
        "task": part.task if part else None,
        "study": part.study if part else None,
        "relation": name,
        "groups": len(satisfied),
        "fixed": int((satisfied[:, 1] & ~satisfied[:, 0]).sum()),
        "broke": int((satisfied[:, 0] & ~satisfied[:, 1]).sum()),
        "informative": sum(informative for informative, _ in sizes),
        "judged": sum(judged for _, judged in sizes),
        "vr_old": float(1 - satisfied[:, 0].mean()),
        "vr_new": float(1 - satisfied[:, 1].mean()),
        "observed": _rise(observed, numbers),
        "genuine": _rise(parts, numbers) if all(judged or not told for told, judged in sizes) else _possible(parts),
    }


def _as_observed(comparison: Comparisons) -> Comparisons:
    """The same as if every satisfaction were genuine, and all of it known."""
    answered = {
        name: Answered(np.ones(groups.satisfied.shape), (groups.satisfied == 1).astype(np.int8))
        for name, groups in comparison.groups.items()
    }
    return replace(comparison, answered=answered, open={name: one & False for name, one in comparison.open.items()})


def _sizes(part: _Part, weights: Mapping[str, float]) -> tuple[int, int]:
    """Groups that tell the two apart, and how many of these are answered."""
    entry = pair_entry(part.comparison, weights, part.names, 0.0, 0.0, Basis(pd.DataFrame()))
    return entry["informative"], entry["judged"]


def _rise(parts: Sequence[tuple[_Part, Mapping[str, float]]], numbers: Basis) -> Rise:
    """SR_g of the old system less that of the new one, as the report's pairs have it; studies by their groups."""
    total = sum(sum(weights.values()) for _, weights in parts)
    value = variance = 0.0
    ends = [0.0, 0.0]
    known = True
    for part, weights in parts:
        share = sum(weights.values()) / total
        scaled = {name: weight / sum(weights.values()) for name, weight in weights.items()}
        stand = part.comparison.standing(scaled, part.names, numbers.target, 0.0)
        pair = pair_entry(part.comparison, scaled, part.names, stand.ahead[0, 1], stand.error[0, 1], numbers)
        if len(parts) == 1:
            values = {"estimate": pair["difference"], "low": pair["low"], "high": pair["high"], "p": pair["p"]}
            return {**values, "p_holm": None}  # type: ignore[typeddict-item]
        known = known and pair["difference"] is not None
        value += share * (pair["difference"] or 0.0)
        variance += (share * float(stand.error[0, 1])) ** 2
        ends = [end + share * (pair[name] or 0.0) for end, name in zip(ends, ("low", "high"), strict=True)]  # type: ignore[literal-required]
    if not known:
        return {"estimate": None, "low": ends[0], "high": ends[1], "p": None, "p_holm": None}
    error = math.sqrt(variance)
    z = float(norm.isf((1 - numbers.confidence) / 2))
    p = 2 * float(norm.sf(abs(value) / error)) if error else None
    return {"estimate": value, "low": value - z * error, "high": value + z * error, "p": p, "p_holm": None}


def _possible(parts: Sequence[tuple[_Part, Mapping[str, float]]]) -> Rise:
    """The ends that hold whatever the answers are, where nothing tells."""
    low = high = total = 0.0
    for part, weights in parts:
        for name in weights:
            pair = _pair(part, name)
            kinds = np.bincount(pair.kind, minlength=3)
            low, high, total = low - kinds[0] - kinds[2], high + kinds[0] + kinds[1], total + pair.groups
    return {"estimate": None, "low": low / total, "high": high / total, "p": None, "p_holm": None}


# The groups that got worse or better, the most instructive first, with their texts.

Members = list[tuple[str, tuple[str, ...], str]]
"""Role, texts, and what the system said, of each counted member."""


def _listed(
    connection: Connection, parts: Sequence[_Part], versions: Sequence[_Version], show: int, *, worse: bool
) -> list[GroupChange]:
    """Groups that got worse, or better: those that one of the two satisfies rightly and the other does not first, then
    those whose verdict changed and which nobody settled, then those that are satisfied falsely."""
    rows: list[tuple[int, int, str, list[int], list[str]]] = []
    good, bad = (0, 1) if worse else (1, 0)
    for part in parts:
        for name in part.shared():
            pair, columns = _pair(part, name), list(part.columns)
            held = part.comparison.groups[name].satisfied[:, columns] == 1
            genuine = np.where(held, part.comparison.answered[name].genuine[:, columns], 0)
            both = np.zeros(len(held), bool)
            both[pair.at] = True
            turned = both & held[:, good] & ~held[:, bad]
            rightly = both & (genuine[:, good] == 1) & (genuine[:, bad] == 0)
            level = np.select([rightly, turned & (genuine[:, good] < 0), turned], [0, 1, 2], 3)
            for wanted in range(3):
                # A few of each relation: the texts of a hundred thousand need not be read for ten.
                for turn, at in enumerate(np.flatnonzero(level == wanted)[: 4 * show]):
                    states = [_state(held[at, side], genuine[at, side]) for side in (0, 1)]
                    rows.append((wanted, turn, name, part.group[name][at][columns].tolist(), states))
    members = [
        _members(connection, version.id, [row[3][side] for row in rows]) for side, version in enumerate(versions)
    ]
    chosen: list[GroupChange] = []
    seen: set[tuple[str, ...]] = set()
    for _, _, relation, ids_of, states in sorted(rows, key=lambda row: row[:2]):
        both_sides = _side_by_side(*(members[side].get(ids_of[side], []) for side in (0, 1)))
        source = tuple(both_sides[0]["texts"]) if both_sides else ()
        if source not in seen and len(chosen) < show:
            seen.add(source)
            chosen.append({"relation": relation, "old": states[0], "new": states[1], "members": both_sides})
    return chosen


def _state(satisfied: bool, genuine: int) -> str:
    if not satisfied:
        return "violated"
    return "satisfied" if genuine < 0 else "genuine" if genuine else "false"


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
        counted = count(connection, study=study)
        place = counted.places().get((study, relation_id, version.id))
        if place is None or not int(counted.cells.loc[place, ["satisfied", "violated"]].sum()):
            return None
        checks = counted.checks
        column = checks.systems.index(version.id)
        rows = np.flatnonzero((checks.relation == relation_id) & (checks.outcome[:, column] == Outcome.VIOLATED))
        false = set(counted.group[(counted.judged.cell == place) & (counted.judged.false == 1)].tolist())
        members = _members(connection, version.id, [*false, *checks.groups(rows[: 20 * show])[:, column].tolist()])
    worst: list[GroupChange] = []
    for group, listed in members.items():
        state = "false" if group in false else "violated"
        worst.append({"relation": relation["name"], "old": state, "new": state, "members": _side_by_side([], listed)})
    # What is false is what no test would have shown; of the others the shortest texts are read soonest.
    worst.sort(key=lambda one: (one["new"] != "false", sum(len(text) for of in one["members"] for text in of["texts"])))
    rates = rates_of([place], counted.judged, counted.checked, finite=False)
    numbers: list[Any] = []
    for rate in (rates.observed, rates.genuine):
        less = None if rate is None else rate.less()
        numbers.append({name: getattr(less, key, None) for name, key in _RATE})
    groups, judged = int((counted.checked.cell == place).sum()), int(counted.cells.loc[place, "judged"])
    observed, genuine = numbers
    return RelationCheck(relation["name"], groups, len(rows), judged, observed, genuine, worst[:show])


_RATE = (("estimate", "value"), ("low", "low"), ("high", "high"))


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
