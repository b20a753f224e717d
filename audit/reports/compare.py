"""`audit compare`: two versions of a system: the report's difference of the two, and the groups that changed.

The numbers are those of the report's pairs (`audit.reports.standings.compared_pair`).
"""

import re
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

import numpy as np
import pandas as pd
from sqlalchemy import Connection, Engine, select

import audit
from audit.errors import AuditError, UnknownName
from audit.false_satisfaction.cells import count
from audit.false_satisfaction.resolution import Whose
from audit.options import spread
from audit.relations import COUNTED, Outcome
from audit.reports.basis import Basis, Comparisons
from audit.reports.document import Entry, estimated
from audit.reports.options import CompareOptions
from audit.reports.standings import compared_pair, pair_sizes
from audit.reports.study import comparisons_of
from audit.reports.tables import Section, Table
from audit.reports.words import UNKNOWN, Estimate, estimate, percent, signed
from audit.statistics.contests import Answered, Compared
from audit.statistics.orders import holm
from audit.statistics.rates import rates_of
from audit.store import checked, rows_among, snapshot, table_of, tables

UNDECIDED = 4
"""The exit status where answers cannot decide a condition."""


# Conditions under which a comparison fails, such as `genuine rise > 2 points`.

GRAMMAR = "[surely|estimated|possibly] [observed|genuine] rise [in RELATION] > NUMBER points"
_EXPRESSION = re.compile(
    r"(?:(?P<how>surely|estimated|possibly) )?(?:(?P<kind>observed|genuine) )?rise"
    r"(?: in (?P<relation>\S+))? ?> ?(?P<number>[-+]?\d+(?:\.\d+)?) points?"
)


@dataclass(frozen=True)
class Condition:
    """How far the violation rate may rise. `limit` is a fraction; `relation` None: over all relations."""

    text: str
    how: Literal["surely", "estimated", "possibly"]
    kind: Literal["observed", "genuine"]
    relation: str | None
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
        return cls(text, how, kind, found["relation"], float(found["number"]) / 100)  # type: ignore[arg-type]

    def decide(self, document: Entry) -> tuple[Literal["passes", "fails", "undecided"], str]:
        """Return whether the comparison passes or fails, and why, in a clause.

        `surely` it fails where the whole interval is beyond the limit, `estimated` where the estimate is, `possibly`
        where an end is. Without an estimate it is undecided where the limit lies between the ends, but for `possibly`.
        Raises UnknownName for a relation that was not compared.
        """
        entries = [entry for entry in document["relations"] if entry["relation"] == self.relation]
        if self.relation is not None and not entries:
            raise UnknownName("relation", self.relation, [str(entry["relation"]) for entry in document["relations"]])
        rises = [entry[self.kind] for entry in entries or [document["all"]]]
        rise = max(rises, key=lambda one: one["high"] or 0.0)
        estimate, low, high = rise["estimate"], rise["low"], rise["high"]
        if low is None or high is None:
            return "undecided", "there is no group to tell from"
        because, limit = f"the {self.kind} violation rate {moved(rise)}", self.limit + 1e-12  # .3 - .1 is not above .2
        if self.how == "possibly":
            return ("fails" if high > limit else "passes"), because
        if estimate is None and low <= limit < high:
            return "undecided", f"{because}, as too little is judged"
        beyond = low > limit if self.how == "surely" or estimate is None else estimate > limit
        return ("fails" if beyond else "passes"), because


def status_of(document: Entry, undecided: str | None = None) -> int:
    """The exit status: 1 where a condition fails, `UNDECIDED` where one cannot be decided, unless that is to `pass` or
    to `fail`."""
    outcomes = {condition["outcome"] for condition in document["conditions"]}
    if "fails" in outcomes or ("undecided" in outcomes and undecided == "fail"):
        return 1
    return UNDECIDED if "undecided" in outcomes and undecided != "pass" else 0


# The two systems, and the report's comparison of them under each relation.


def _label(version: Any) -> str:
    return f"{version.name}@{version.version}"


@spread
def compare(
    old: str,
    new: str,
    engine: Engine,
    conditions: Sequence[Condition] = (),
    options: CompareOptions = CompareOptions(),
) -> Entry:
    """Compare two systems of a database: `name`, `name@version`, the beginning of that, or `#id`.

    Nothing is written. Raises AuditError for a name that fits no system or several, and where no group applies to both.
    """
    with snapshot(engine) as connection:
        versions = [_system(connection, name) for name in (old, new)]
        if versions[0].id == versions[1].id:
            raise AuditError(f"{old} and {new} are the same system, {_label(versions[0])}; name two versions")
        both = _both(connection, versions, options.answers)
        document = _document(connection, versions, both, options)
    for condition in conditions:
        outcome, because = condition.decide(document)
        document["conditions"].append({"condition": condition.text, "outcome": outcome, "because": because})
    return document


def _system(connection: Connection, name: str) -> Any:
    """The system that a name means. Raises AuditError, which lists what is there, where it is none or several."""
    table = table_of(tables.System)
    columns = (table.c.id, table.c.name, table.c.version, table.c.settings)
    every = connection.execute(select(*columns).order_by(table.c.id)).all()
    fitting = [one for one in every if name in (one.name, _label(one), f"#{one.id}", f"{_label(one)}#{one.id}")]
    fitting = fitting or [one for one in every if _label(one).startswith(name)]
    if len(fitting) == 1:
        return fitting[0]
    there = ", ".join(f"{_label(one)}#{one.id}" for one in fitting or every) or "none"
    what = "means several systems" if fitting else "is no system"
    number = f"; a version, or a number as in #{fitting[0].id}, is enough" if fitting else ""
    raise AuditError(f"{name} {what}; there are {there}{number}")


@dataclass
class _Both:
    """The two systems, columns 0 and 1 of all arrays, under every relation with groups that apply to both.

    A key stands for a relation of a study: `keys` has the study, the task and the relation, `group` the ids of its
    groups.
    """

    comparison: Comparisons
    keys: dict[str, tuple[int, str, str]]
    group: dict[str, np.ndarray]
    left_out: list[str]

    def satisfied(self, key: str) -> np.ndarray:
        """Whether each of the two satisfies, of the groups that apply to both."""
        groups = self.comparison.groups[key]
        return np.asarray(groups.satisfied[groups.pair(0, 1).both] == 1)

    def as_observed(self) -> Comparisons:
        """The comparison as if every satisfaction were genuine, and all of it known."""
        of = self.comparison
        answered = {
            key: Answered(np.ones(groups.satisfied.shape), (groups.satisfied == 1).astype(np.int8))
            for key, groups in of.groups.items()
        }
        return replace(of, answered=answered, open={key: one & False for key, one in of.open.items()})


def _both(connection: Connection, versions: Sequence[Any], answers: Whose) -> _Both:
    """Read the two from the studies with groups that apply to both. Raises AuditError where there are none."""
    checks = checked(connection, connection.execute(select(table_of(tables.Study).c.id)).scalars().all())
    if missing := [_label(version) for version in versions if version.id not in checks.systems]:
        raise AuditError(f"{missing[0]} was never checked; run it first")
    columns = [checks.systems.index(version.id) for version in versions]
    applies = np.isin(checks.outcome[:, columns], (Outcome.SATISFIED, Outcome.VIOLATED)).all(axis=1)
    if not applies.any():
        labels = " and ".join(map(_label, versions))
        raise AuditError(f"no group applies to both of {labels}; run both on the same corpus, under the same relations")
    groups, answered, open_groups = dict[str, Compared](), dict[str, Answered](), dict[str, np.ndarray]()
    both = _Both(Comparisons(groups, answered, open_groups, ("old", "new"), np.zeros(0, np.int64)), {}, {}, [])
    clusters: list[np.ndarray] = []  # of each study its own, so that errors of studies are independent
    for study in np.unique(checks.study[applies]).tolist():
        counted = count(connection, answers, study)
        of, population = comparisons_of(counted, study), counted.populations[study]
        at = [population.systems.index(version.id) for version in versions]
        first, codes = sum(map(len, clusters)), 1 + max((int(one.max(initial=-1)) for one in clusters), default=-1)
        lacking = [name for name, one in of.groups.items() if not one.pair(at[0], at[1]).groups]
        both.left_out += [f"{', '.join(lacking)}: no group applies to both"] if lacking else []
        for (name, one), ids in zip(of.groups.items(), population.group.values(), strict=True):
            if name not in lacking:
                key = f"{study} {name}"
                both.keys[key], both.group[key] = (study, population.task, name), ids[:, at]
                groups[key] = Compared(first + one.source, one.satisfied[:, at], one.output[:, at], one.proxy[:, :, at])
                answered[key] = Answered(of.answered[name].q[:, at], of.answered[name].genuine[:, at])
                open_groups[key] = of.open[name][:, at]
        clusters.append(codes + of.cluster)
    return replace(both, comparison=replace(both.comparison, cluster=np.concatenate(clusters)))


def _document(connection: Connection, versions: Sequence[Any], both: _Both, options: CompareOptions) -> Entry:
    """The whole document, before conditions are decided."""
    numbers = Basis(pd.DataFrame(), target=options.target)
    entries = [_entry(both, [key], numbers, *names) for key, names in both.keys.items()]
    for kind in ("observed", "genuine"):
        tested: list[Entry] = [entry[kind] for entry in entries if entry[kind]["p"] is not None]
        for rise, adjusted in zip(tested, holm([rise["p"] for rise in tested]), strict=True):
            rise["p_holm"] = adjusted
    old, new = ({"system": one.name, "version": one.version, "settings": one.settings} for one in versions)
    asked = {name: value for name, value in asdict(options).items() if name != "show"}
    return {
        "old": old,
        "new": new,
        "relations": entries,
        "all": _entry(both, list(both.keys), numbers, None, None, None),
        "left_out": both.left_out,
        "broke": _listed(connection, both, versions, options.show, worse=True),
        "fixed": _listed(connection, both, versions, options.show, worse=False),
        "conditions": [],
        "signature": {"audit": audit.__version__, **asked, "confidence": numbers.confidence},
    }


def _entry(
    both: _Both, keys: Sequence[str], numbers: Basis, study: int | None, task: str | None, name: str | None
) -> Entry:
    """What changed under one relation, or under these together, by their numbers of groups."""
    of, satisfied = both.comparison, np.concatenate([both.satisfied(key) for key in keys])
    weights = {key: len(both.satisfied(key)) / len(satisfied) for key in keys}
    studies = {both.keys[key][0]: [one for one in keys if both.keys[one][0] == both.keys[key][0]] for key in keys}
    sizes = [pair_sizes(of, dict.fromkeys(own, 1.0), of.systems) for own in studies.values()]
    rises = [_rise(both.as_observed(), weights, numbers), _rise(of, weights, numbers)]
    if not all(one["judged"] or not one["informative"] for one in sizes):  # the ends hold whatever the answers are
        kinds = np.sum([of.groups[key].pair(0, 1).totals[:3] for key in keys], axis=0) / len(satisfied)
        ends = {"low": -float(kinds[0] + kinds[2]), "high": float(kinds[0] + kinds[1])}
        rises[1] = {"estimate": None, **ends, "p": None, "p_holm": None}
    return {
        "task": task,
        "study": study,
        "relation": name,
        "groups": len(satisfied),
        "fixed": int((satisfied[:, 1] & ~satisfied[:, 0]).sum()),
        "broke": int((satisfied[:, 0] & ~satisfied[:, 1]).sum()),
        "informative": sum(one["informative"] for one in sizes),
        "judged": sum(one["judged"] for one in sizes),
        "vr_old": float(1 - satisfied[:, 0].mean()),
        "vr_new": float(1 - satisfied[:, 1].mean()),
        "observed": rises[0],
        "genuine": rises[1],
    }


def _rise(comparison: Comparisons, weights: Mapping[str, float], numbers: Basis) -> Entry:
    """SR_g of the old system less that of the new one, as the report's pairs have it."""
    pair = compared_pair(comparison, weights, ("old", "new"), numbers, 0.0)
    return {"estimate": pair["difference"], "low": pair["low"], "high": pair["high"], "p": pair["p"], "p_holm": None}


# The groups that got worse or better, the most instructive first, with their texts.

Members = list[tuple[str, tuple[str, ...], str]]
"""Role, texts, and what the system said, of each counted member."""


def _listed(connection: Connection, both: _Both, versions: Sequence[Any], show: int, *, worse: bool) -> list[Entry]:
    """Groups that got worse, or better: those that one of the two satisfies rightly and the other does not first, then
    those whose verdict changed and which nobody settled, then those that are satisfied falsely."""
    rows: list[tuple[int, int, str, list[int], list[str]]] = []
    good, bad = (0, 1) if worse else (1, 0)
    for key, (_, _, name) in both.keys.items():
        groups, genuine = both.comparison.groups[key], both.comparison.answered[key].genuine
        held, tells = groups.satisfied == 1, np.isin(np.arange(len(genuine)), groups.pair(0, 1).at)
        genuine = np.where(held, genuine, 0)
        turned = tells & held[:, good] & ~held[:, bad]
        rightly = tells & (genuine[:, good] == 1) & (genuine[:, bad] == 0)
        level = np.select([rightly, turned & (genuine[:, good] < 0), turned], [0, 1, 2], 3)
        states = np.where(~held, "violated", np.select([genuine < 0, genuine > 0], ["satisfied", "genuine"], "false"))
        for wanted in range(3):
            # A few of each relation: the texts of a hundred thousand need not be read for ten.
            for turn, at in enumerate(np.flatnonzero(level == wanted)[: 4 * show]):
                rows.append((wanted, turn, name, both.group[key][at].tolist(), states[at].tolist()))
    members = [_members(connection, of.id, [row[3][side] for row in rows]) for side, of in enumerate(versions)]
    chosen: dict[tuple[str, ...], Entry] = {}
    for _, _, relation, ids, (old, new) in sorted(rows, key=lambda row: row[:2]):
        outputs = _side_by_side(*(members[side].get(ids[side], []) for side in (0, 1)))
        source = tuple(outputs[0]["texts"]) if outputs else ()
        if len(chosen) < show:
            chosen.setdefault(source, {"relation": relation, "old": old, "new": new, "members": outputs})
    return list(chosen.values())


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


def _side_by_side(old: Members, new: Members) -> list[Entry]:
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
    """The groups of one relation that apply to a system: violation rates as the report has them, and violated and
    falsely satisfied groups, the most instructive first."""

    relation: str
    groups: int
    violated: int
    judged: int
    observed: Estimate
    genuine: Estimate
    worst: list[Entry]


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
    worst: list[Entry] = []
    for group, listed in members.items():
        state = "false" if group in false else "violated"
        worst.append({"relation": relation["name"], "old": state, "new": state, "members": _side_by_side([], listed)})
    # What is false is what no test would have shown; of the others the shortest texts are read soonest.
    worst.sort(key=lambda one: (one["new"] != "false", sum(len(text) for of in one["members"] for text in of["texts"])))
    rates = rates_of([place], counted.judged, counted.checked, finite=False)
    groups, judged = int((counted.checked.cell == place).sum()), int(counted.cells.loc[place, "judged"])
    observed, genuine = (estimate(estimated(of and of.less(), judged)) for of in (rates.observed, rates.genuine))
    return RelationCheck(relation["name"], groups, len(rows), judged, observed, genuine, worst[:show])


# For people, in English: a command alone says it.


def compare_sections(document: Entry) -> Iterator[Section]:
    """Yield the rates of both with their difference by relation, the groups that got worse, and the conditions."""
    old, new = (f"{entry['system']}@{entry['version']}" for entry in (document["old"], document["new"]))
    heads = ("relation", "groups", "fixed", "broke", "VR", "VR change", "genuine", "judged")
    rows = [
        (
            one["relation"] or "all", one["groups"], one["fixed"], one["broke"],
            f"{percent(one['vr_old'])} → {percent(one['vr_new'])}", _points(one["observed"]), _points(one["genuine"]),
            f"{one['judged']:,}/{one['informative']:,}",
        )
        for one in [*document["relations"], document["all"]]
    ]  # fmt: skip
    yield Section(f"{old} -> {new}", [Table(heads, rows), *_sentences(document)])
    if document["broke"]:
        yield Section("What got worse", list(map(group_section, document["broke"])))
    if document["conditions"]:
        lines = [f"{one['outcome']}: {one['condition']} ({one['because']})" for one in document["conditions"]]
        yield Section("Conditions", lines)


def _sentences(document: Entry) -> Iterator[str]:
    every = document["all"]
    rates = (("violation rate (VR)", every["observed"]), ("genuine one", every["genuine"]))
    if changes := "; ".join(f"the {name} {moved(rise)}" for name, rise in rates if rise["low"] is not None):
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


def group_section(group: Entry) -> Section:
    """Return one group with its texts and both outputs."""
    is_alone, lines = group["old"] == group["new"], []  # of one system
    for member in group["members"]:
        both = (member["new"],) if is_alone and member["old"] is None else (member["old"], member["new"])
        outputs = " -> ".join(output if output is not None else "(none)" for output in both)
        texts = textwrap.shorten(" | ".join(member["texts"]), 200, placeholder=" …")
        said = textwrap.shorten(outputs, 100, placeholder=" …")
        lines.append(f"{member['role'].replace('_', '-')}: {texts}  [{said}]")
    return Section(f"{group['relation']}: {group['new'] if is_alone else group['old'] + ' -> ' + group['new']}", lines)


def _points(rise: Entry) -> str:
    """A difference for people: the estimate and its interval, or where there is none the bounds."""
    if rise["low"] is None or rise["high"] is None:
        return UNKNOWN
    ends = f"[{signed(rise['low'])}, {signed(rise['high'])}]"
    return ends if rise["estimate"] is None else f"{signed(rise['estimate'])} {ends}"


def moved(rise: Entry) -> str:
    """Return a rise in words.

    >>> moved({"estimate": -0.25, "low": -0.3, "high": -0.2, "p": None, "p_holm": None})
    'fell by 25.0 points [-30.0 to -20.0]'
    """
    ends = f"{signed(rise['low'])} to {signed(rise['high'])}"
    if rise["estimate"] is None:
        return f"changed by {ends} points"
    rounded = round(100 * rise["estimate"], 1)
    said = f"{'rose' if rounded > 0 else 'fell'} by {abs(rounded):.1f} points" if rounded else "did not change"
    return f"{said} [{ends}]"
