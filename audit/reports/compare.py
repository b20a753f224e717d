"""`audit compare`: two versions of a system on the same groups, what was fixed, what broke, and how sure that is."""

import textwrap
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import pandas as pd
from sqlalchemy import Connection, Engine, select

import audit
from audit.errors import AuditError
from audit.false_satisfaction.changes import Changes, RelationKey, Side, changes, order_seeds
from audit.false_satisfaction.resolution import State, Whose
from audit.judging.samples import draw_changes
from audit.relations import COUNTED
from audit.reports.conditions import Condition, moved
from audit.reports.documents import (
    ChangedRates,
    ChangeEntry,
    CompareDocument,
    GroupChange,
    LeftOut,
    MeanEntry,
    MemberChange,
    VersionEntry,
)
from audit.reports.tables import aligned
from audit.statistics.changes import Drop, Mean, Values, observed_drop, settled_mean, sign_test
from audit.statistics.comparison import holm
from audit.statistics.intervals import Target
from audit.store import open_store, rows_among, snapshot, table_of, tables
from audit.store.bulk import LIMIT

WIDTH = 100
SHOWN = 10
"""Groups that got worse which are shown, unless told otherwise."""


@dataclass(frozen=True)
class Comparing:
    """What is asked of a comparison: whose answers, for which target, and how many groups it shows."""

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


def compare(old: str, new: str, database: str | Engine, request: Comparing) -> CompareDocument:
    """Compare two systems of a database: `name`, `name@version`, the beginning of that, or `#id`.

    Nothing is written, unless groups are to be drawn. Raises AuditError for a name that fits no system or several, for
    systems that share no source or no relation, and what `open_store` raises.
    """
    with _opened(database) as engine:
        with snapshot(engine) as connection:
            versions = [_system(connection, name) for name in (old, new)]
            if versions[0].id == versions[1].id:
                raise AuditError(f"{old} and {new} are the same system, {versions[0].label}; name two versions")
            sides = [Side(connection, version.id) for version in versions]
            found = changes(sides[0], sides[1], request.answers)
            _need_common(found, versions)
            document = _document(found, versions, sides, request)
            groups = _to_draw(found, sides, request.draw) if request.draw is not None else None
        if groups is not None:
            document["drawn"] = draw_changes(engine, groups, request.annotators)
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


@dataclass(frozen=True)
class _Version:
    id: int
    name: str
    version: str
    settings: str

    @property
    def label(self) -> str:
        return f"{self.name}@{self.version}"


def _system(connection: Connection, name: str) -> _Version:
    """The system that a name means. Raises AuditError, which lists what is there, where it is none or several."""
    table = table_of(tables.System)
    columns = (table.c.id, table.c.name, table.c.version, table.c.settings)
    every = [_Version(*row) for row in connection.execute(select(*columns).order_by(table.c.id))]
    spelled = [(version.name, version.label, f"#{version.id}", f"{version.label}#{version.id}") for version in every]
    fitting = [version for version, names in zip(every, spelled, strict=True) if name in names]
    if not fitting:
        fitting = [version for version in every if version.label.startswith(name)]
    if len(fitting) == 1:
        return fitting[0]
    there = ", ".join(_spelled(version, every) for version in fitting or every) or "none"
    what = "means several systems" if fitting else "is no system"
    number = f"; a version, or a number as in #{fitting[0].id}, is enough" if fitting else ""
    raise AuditError(f"{name} {what}; there are {there}{number}")


def _spelled(version: _Version, every: Sequence[_Version]) -> str:
    """A system with its number, and with its settings where others have its name and version."""
    alike = sum(other.label == version.label for other in every) > 1
    return f"{version.label}#{version.id}" + (f" {version.settings}" if alike else "")


def _need_common(found: Changes, versions: Sequence[_Version]) -> None:
    """Raises AuditError where there is nothing to compare, and says why."""
    old, new, both = found.sources
    labels = " and ".join(version.label for version in versions)
    for version, number in zip(versions, (old, new), strict=True):
        if not number:
            raise AuditError(f"{version.label} was never checked; run it first")
    if not both:
        raise AuditError(
            f"{labels} share no source: the first was checked on {old:,} texts, the second on {new:,} others; run both "
            "on the same corpus"
        )
    if not found.relations:
        keys = [", ".join(_named(key, None) for key in own) for own in (found.only_old, found.only_new)]
        raise AuditError(f"{labels} share no relation: the first has {keys[0]}, the second {keys[1]}")
    if found.groups.empty:
        raise AuditError(f"no group applies to both of {labels}, though they share {both:,} sources")


def _named(key: RelationKey, others: Sequence[RelationKey] | None) -> str:
    """A relation's name, with its version where that is not plain; its task where several have the name."""
    if others is None:
        return f"{key.name}@{key.version}" + ("" if key.params == "{}" else f" {key.params}")
    same = [other for other in others if other.name == key.name]
    if len(same) == 1:
        return key.name
    several_tasks = len({other.task for other in same}) == len(same)
    return f"{key.task}/{key.name}" if several_tasks else f"{key.task}/{_named(key, None)}"


def _document(
    found: Changes,
    versions: Sequence[_Version],
    sides: Sequence[Side],
    request: Comparing,
) -> CompareDocument:
    """The whole document; nothing is drawn yet."""
    names = [_named(key, found.relations) for key in found.relations]
    groups = found.groups.assign(decides=found.deciding, cluster=pd.factorize(found.groups["cluster"])[0])
    entries = []
    for place, (key, name) in enumerate(zip(found.relations, names, strict=True)):
        of_relation = groups[groups["relation"] == place]
        if len(of_relation):
            entries.append(_entry(of_relation, key.task, name, request.target))
    for kind in ("observed", "genuine"):
        rates: list[ChangedRates] = [entry[kind] for entry in entries]
        tested = [rate for rate in rates if rate["p"] is not None]
        for rate, adjusted in zip(tested, holm([float(rate["p"] or 0.0) for rate in tested]), strict=True):
            rate["p_holm"] = adjusted
    document: CompareDocument = {
        "old": _version_entry(versions[0]),
        "new": _version_entry(versions[1]),
        "sources": dict(zip(("old", "new", "both"), found.sources, strict=True)),
        "relations": entries,
        "all": _entry(groups, None, None, request.target),
        "left_out": _left_out(found),
        "broke": _listed(groups, names, sides, request.show, worse=True),
        "fixed": _listed(groups, names, sides, request.show, worse=False),
        "drawn": None,
        "conditions": [],
        "notes": [],
        "signature": {
            "audit": audit.__version__,
            "old": versions[0].label,
            "new": versions[1].label,
            "answers": request.answers,
            "target": request.target,
        },
    }
    document["notes"] = _notes(document, found)
    for condition in request.conditions:
        outcome, because = condition.decide(document)
        document["conditions"].append({"condition": condition.text, "outcome": outcome, "because": because})
    return document


def _version_entry(version: _Version) -> VersionEntry:
    return {"system": version.name, "version": version.version, "settings": version.settings}


def _left_out(found: Changes) -> list[LeftOut]:
    entries: list[LeftOut] = []
    for own, other, side in ((found.only_old, found.only_new, "old"), (found.only_new, found.only_old, "new")):
        for key in own:
            alike = [one for one in other if (one.task, one.name) == (key.task, key.name)]
            reason = f"only the {side} one was checked under it"
            if alike:
                reason = f"the {side} one was checked under this version, the other under {_named(alike[0], None)}"
            entries.append({"relation": _named(key, None), "groups": None, "reason": reason})
    for key, unmatched in found.unmatched.items():
        name = _named(key, found.relations)
        for number, reason in (
            (unmatched.only_old, "the old one alone has these groups of sources that both have"),
            (unmatched.only_new, "the new one alone has these groups of sources that both have"),
            (unmatched.inapplicable, "for one of them they do not apply, or it failed"),
        ):
            if number:
                entries.append({"relation": name, "groups": number, "reason": reason})
    return entries


def _notes(document: CompareDocument, found: Changes) -> list[str]:
    every, notes = document["all"], []
    if every["same"]:
        notes.append(
            f"In {every['same']:,} of {every['groups']:,} groups all outputs are the same, and so is their truth: they "
            "add exactly 0 to the genuine difference, without being judged."
        )
    if every["to_settle"]:
        notes.append(
            f"{every['to_settle']:,} groups that changed are not settled: judging these alone decides the difference."
        )
    old, new, both = found.sources
    if old > both or new > both:
        notes.append(f"{old - both:,} texts of the old and {new - both:,} of the new are no source of the other.")
    return notes


def _entry(groups: pd.DataFrame, task: str | None, relation: str | None, target: Target) -> ChangeEntry:
    """What changed in these groups, whose rows have `decides` and clusters as codes."""
    column = {name: groups[name].to_numpy() for name in groups.columns}
    satisfied = column["satisfied_old"].astype(bool), column["satisfied_new"].astype(bool)
    fixed, broke = ~satisfied[0] & satisfied[1], satisfied[0] & ~satisfied[1]
    ranges = [_genuine(column["state_old"]), _genuine(column["state_new"])]
    change = _change(column, ranges)
    settled = change.least == change.most
    false = [column[f"state_{name}"] == State.FALSE for name in ("old", "new")]
    observed = observed_drop(satisfied[0], satisfied[1], column["cluster"], target)
    drop = settled_mean(change, target)
    worse, better, p = _tested(change, column, settled, relation is not None)
    return {
        "task": task,
        "relation": relation,
        "groups": len(groups),
        "same": int(column["same"].sum()),
        "fixed": int(fixed.sum()),
        "broke": int(broke.sum()),
        "other_outputs": int((satisfied[0] & satisfied[1] & column["decides"]).sum()),
        "to_settle": int((column["decides"] & ~settled).sum()),
        "genuinely_fixed": int((settled & (change.least < 0)).sum()),
        "genuinely_broke": int((settled & (change.least > 0)).sum()),
        "fixed_false": int((fixed & false[1]).sum()),
        "broke_false": int((broke & false[0]).sum()),
        "observed": {
            "vr_old": _observed_rate(~satisfied[0], column["cluster"], target),
            "vr_new": _observed_rate(~satisfied[1], column["cluster"], target),
            "drop": _drop_entry(observed, len(groups)),
            "worse": observed.worse,
            "better": observed.better,
            "p": observed.p,
            "p_holm": None,
        },
        "genuine": {
            "vr_old": _mean(settled_mean(_violated(column, "old"), target, signed=False)),
            "vr_new": _mean(settled_mean(_violated(column, "new"), target, signed=False)),
            "drop": _mean(drop),
            "worse": worse,
            "better": better,
            "p": p,
            "p_holm": None,
        },
        "fs_old": _mean(settled_mean(_violated(column, "old").of(satisfied[0]), target, signed=False)),
        "fs_new": _mean(settled_mean(_violated(column, "new").of(satisfied[1]), target, signed=False)),
    }


def _genuine(state: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """At least and at most how genuine (0 or 1) groups of these states are."""
    return (state == State.TRUE).astype(int), ((state == State.TRUE) | (state == State.WAITING)).astype(int)


def _change(column: dict[str, Any], ranges: Sequence[tuple[np.ndarray, np.ndarray]]) -> Values:
    """1 where a group was genuine and is not now, -1 where it is and was not; 0 where nothing changed."""
    (old_least, old_most), (new_least, new_most) = ranges
    decides = column["decides"].astype(bool)
    return Values(
        np.where(decides, old_least - new_most, 0),
        np.where(decides, old_most - new_least, 0),
        np.where(decides, -column["satisfied_new"].astype(int), 0),
        np.where(decides, column["satisfied_old"].astype(int), 0),
        column["judged"].astype(bool) & decides,
        column["relation"].astype(int),
        column["cluster"],
    )


def _violated(column: dict[str, Any], name: str) -> Values:
    """1 where a group is no genuine satisfaction of one system."""
    least, most = _genuine(column[f"state_{name}"])
    satisfied = column[f"satisfied_{name}"].astype(bool)
    judged = column[f"judged_{name}"].astype(bool) & satisfied
    range_least = np.where(satisfied, 0, 1)
    return Values(
        1 - most, 1 - least, range_least, np.ones(len(least), int), judged, column["relation"].astype(int),
        column["cluster"],
    )  # fmt: skip


def _tested(
    values: Values, column: dict[str, Any], settled: np.ndarray, by_relation: bool
) -> tuple[int, int, float | None]:
    """The exact test over the judged groups: over all that changed, where these are settled, or over a random sample of
    them, which one relation has, but not several together."""
    decides = column["decides"].astype(bool)
    rows = np.ones(len(decides), bool) if settled[decides].all() else values.judged
    if not rows.any() or (not by_relation and not settled[decides].all()):
        return 0, 0, None
    return sign_test(values.least[rows], values.cluster[rows])


def _observed_rate(violated: np.ndarray, cluster: np.ndarray, target: Target) -> MeanEntry:
    value, zero = violated.astype(int), np.zeros(len(violated), int)
    return _mean(settled_mean(Values(value, value, value, value, zero > 0, zero, cluster), target, signed=False))


def _drop_entry(drop: Drop, groups: int) -> MeanEntry:
    return _mean(Mean(drop.difference, drop.low, drop.high, drop.difference, drop.difference, 0, 0, 0, groups))


def _mean(mean: Mean) -> MeanEntry:
    entry: MeanEntry = asdict(mean)  # type: ignore[assignment]
    return entry


# The groups that got worse or better, the most instructive first, with their texts.


def _listed(
    groups: pd.DataFrame, names: Sequence[str], sides: Sequence[Side], show: int, *, worse: bool
) -> list[GroupChange]:
    """Groups that got worse, or better: those that one of the two satisfies rightly and the other does not first, then
    those whose verdict changed and which nobody settled, then those that are satisfied falsely."""
    one, other = ("old", "new") if worse else ("new", "old")
    good, bad = groups[f"state_{one}"].to_numpy(), groups[f"state_{other}"].to_numpy()
    turned = groups[f"satisfied_{one}"].to_numpy(bool) & ~groups[f"satisfied_{other}"].to_numpy(bool)
    genuine = groups["decides"].to_numpy(bool) & (good == State.TRUE) & ((bad == State.FALSE) | turned)
    level = np.select([genuine, turned & (good == State.WAITING), turned & (good == State.FALSE)], [0, 1, 2], 3)
    rows = groups.assign(level=level)[level < 3]
    # A few of each relation, in the random order: the texts of a hundred thousand need not be read for ten.
    rows = rows.groupby(["level", "relation"], sort=False).head(4 * show)
    members = [_members(side, rows[f"group_{name}"]) for side, name in zip(sides, ("old", "new"), strict=True)]
    entries: list[tuple[int, int, int, GroupChange]] = []
    for row in rows.to_dict("records"):
        entry: GroupChange = {
            "relation": names[row["relation"]],
            "group_old": int(row["group_old"]),
            "group_new": int(row["group_new"]),
            "old": _outcome(row["state_old"]),
            "new": _outcome(row["state_new"]),
            "members": _side_by_side(members[0].get(row["group_old"], []), members[1].get(row["group_new"], [])),
        }
        length = sum(len(text) for member in entry["members"] for text in member["texts"])
        entries.append((row["level"], length, row["source_old"], entry))
    return _in_turn(entries, show)


def _in_turn(entries: list[tuple[int, int, int, GroupChange]], show: int) -> list[GroupChange]:
    """By level the first of each relation, then the second of each, the shortest texts first; no source twice."""
    chosen, seen, turns = [], set(), dict[tuple[int, str], int]()
    for level, length, source, entry in sorted(entries, key=lambda row: row[:3]):
        if source not in seen:
            seen.add(source)
            turn = turns[level, entry["relation"]] = turns.get((level, entry["relation"]), 0) + 1
            chosen.append(((level, turn, length), entry))
    return [entry for _, entry in sorted(chosen, key=lambda row: row[0])[:show]]


_STATES = {int(State.TRUE): "genuine", int(State.FALSE): "false", int(State.WAITING): "satisfied"}


def _outcome(state: int) -> str:
    return _STATES.get(int(state), "violated")


Members = list[tuple[str, tuple[str, ...], str]]
"""Role, texts, and what the system said, of each counted member."""


def _members(side: Side, groups: pd.Series) -> dict[int, Members]:
    """The counted members of these groups (ids) with the outputs of the system."""
    member, content, output = (table_of(model) for model in (tables.Member, tables.Input, tables.Output))
    query = (
        select(
            member.c.group_id, member.c.step, member.c.role, content.c.texts, output.c.label, output.c.score,
            output.c.text, output.c.error,
        )
        .join(content, content.c.id == member.c.input_id)
        .join(output, (output.c.input_id == member.c.input_id) & (output.c.system_id == side.system))
        .where(member.c.role.in_(COUNTED))
        .order_by(member.c.group_id, member.c.step, output.c.attempt)
    )  # fmt: skip
    found: dict[int, dict[int, tuple[str, tuple[str, ...], str]]] = {}
    for row in rows_among(side.connection, query, member.c.group_id, groups.tolist()):
        said = row.error or next((value for value in (row.label, row.text) if value is not None), None)
        said = f"{row.score:.3g}" if said is None and row.score is not None else str(said)
        found.setdefault(row.group_id, {})[row.step] = (row.role, tuple(row.texts), said)
    return {id: list(steps.values()) for id, steps in found.items()}


def _side_by_side(old: Members, new: Members) -> list[MemberChange]:
    """Members of both groups; those with the same role and texts are one."""
    said = {(role, texts): output for role, texts, output in new}
    members: list[MemberChange] = [
        {"role": role, "texts": list(texts), "old": output, "new": said.pop((role, texts), None)}
        for role, texts, output in old
    ]
    there = {(member["role"], tuple(member["texts"])) for member in members}
    members += [
        {"role": role, "texts": list(texts), "old": None, "new": output}
        for role, texts, output in new
        if (role, texts) not in there
    ]
    return members


# One system under one relation, for tests that fail where it is violated too often.


@dataclass(frozen=True)
class RelationCheck:
    """The groups of one relation that apply to a system: violation rates observed and, by the answers that there are,
    genuine; and violated and falsely satisfied groups, the most instructive first."""

    relation: str
    violated: int
    observed: MeanEntry
    genuine: MeanEntry
    worst: list[GroupChange]


def check_relation(
    engine: Engine, study: int, name: str, version: str, relation: RelationKey, show: int = 3
) -> RelationCheck:
    """The check of a system of this name and version under one relation of a study (id). Raises AuditError for a system
    that is not there."""
    with snapshot(engine) as connection:
        system = _system(connection, f"{name}@{version}")
        side = Side(connection, system.id)
        found = changes(side, side)
        places = [place for place, key in enumerate(found.relations) if key == relation]
        groups = found.groups[found.groups["relation"].isin(places) & (found.groups["study_new"] == study)]
        groups = groups.assign(decides=True, cluster=pd.factorize(groups["cluster"])[0])
        entry = _entry(groups, relation.task, relation.name, "population")
        bad = ~groups["satisfied_new"].to_numpy(bool) | (groups["state_new"].to_numpy() == State.FALSE)
        members = _members(side, groups["group_new"][bad][: 20 * show])
    worst: list[GroupChange] = []
    for group, state in zip(groups["group_new"][bad], groups["state_new"][bad], strict=True):
        if group in members:
            once: list[MemberChange] = [
                {"role": role, "texts": list(texts), "old": None, "new": said} for role, texts, said in members[group]
            ]
            outcome = _outcome(state)
            worst.append(
                {
                    "relation": relation.name, "group_old": int(group), "group_new": int(group), "old": outcome,
                    "new": outcome, "members": once,
                }
            )  # fmt: skip
    # What is false is what no test would have shown; of the others the shortest texts are read soonest.
    worst.sort(key=lambda one: (one["new"] != "false", sum(len(text) for of in one["members"] for text in of["texts"])))
    violated = int((~groups["satisfied_new"].to_numpy(bool)).sum())
    return RelationCheck(relation.name, violated, entry["observed"]["vr_new"], entry["genuine"]["vr_new"], worst[:show])


def _to_draw(found: Changes, sides: Sequence[Side], size: int) -> dict[tuple[int, int], pd.DataFrame]:
    """The first groups of each relation that changed, for the systems that satisfy them, by study and seed."""
    rows = found.groups[found.deciding]
    position = rows.groupby("relation").cumcount()
    share = (size / rows.groupby("relation")["relation"].transform("size")).clip(upper=1.0)
    rows = rows.assign(pi=share)[position < size]
    parts = []
    for side, name in zip(sides, ("old", "new"), strict=True):
        own = rows[rows[f"satisfied_{name}"]]
        ids = own[f"group_{name}"]
        parts.append(
            pd.DataFrame(
                {
                    "study": own[f"study_{name}"], "relation_id": ids // LIMIT % LIMIT, "system_id": side.system,
                    "group_id": ids, "pi": own["pi"],
                }
            )
        )  # fmt: skip
    drawn = pd.concat(parts, ignore_index=True)
    seeds = order_seeds(sides[0].connection, {int(study) for study in drawn["study"].unique()})
    return {(int(str(study)), seeds[int(str(study))]): frame for study, frame in drawn.groupby("study")}


# For people, in English: a command alone says it.


def lines(document: CompareDocument) -> list[str]:
    """The comparison as lines of at most 100 columns."""
    old, new = (f"{entry['system']}@{entry['version']}" for entry in (document["old"], document["new"]))
    shown = [f"{old} -> {new}: {document['sources']['both']:,} sources in common", ""]
    entries = [*document["relations"], document["all"]]
    heads = ["relation", "groups", "fixed", "broke", "VR old", "VR new", "VR change", "genuine", "open"]
    rows = [
        [
            entry["relation"] or "all",
            f"{entry['groups']:,}",
            f"{entry['fixed']:,}",
            f"{entry['broke']:,}",
            percent(entry["observed"]["vr_old"]["estimate"]),
            percent(entry["observed"]["vr_new"]["estimate"]),
            in_points(entry["observed"]["drop"]),
            in_points(entry["genuine"]["drop"]),
            f"{entry['to_settle']:,}",
        ]
        for entry in entries
    ]
    shown += aligned(heads, rows, 1, WIDTH)
    shown.append("")
    shown += textwrap.wrap(_in_words(document["all"]), WIDTH)
    shown += [line for sentence in _sentences(document) for line in textwrap.wrap(sentence, WIDTH)]
    for group in document["broke"]:
        shown += ["", *group_lines(group)]
    for condition in document["conditions"]:
        shown += [
            "",
            *textwrap.wrap(f"{condition['outcome']}: {condition['condition']} ({condition['because']})", WIDTH),
        ]
    return shown


def _in_words(entry: ChangeEntry) -> str:
    """Whether the violation rates rose or fell, over all relations."""
    words = []
    for name, rates in (("violation rate (VR)", entry["observed"]), ("genuine one", entry["genuine"])):
        drop = rates["drop"]
        if drop["low"] is None or drop["high"] is None:
            continue
        ends = f"{points(drop['low'])} to {points(drop['high'])}"
        known = drop["estimate"] is not None
        change = f"{moved(drop['estimate'] or 0.0)} [{ends}]" if known else f"changed by {ends} points"
        words.append(f"the {name} {change}")
    return f"Over all, {'; '.join(words)}. To rise is to get worse." if words else ""


def _sentences(document: CompareDocument) -> Iterator[str]:
    for entry in [*document["relations"], document["all"]]:
        observed = entry["observed"]
        p = observed["p"] if entry["relation"] is None else observed["p_holm"]
        if p is not None and p < 0.05:
            name = entry["relation"] or "Over all relations"
            counts = f"{observed['worse']:,} got worse, {observed['better']:,} better"
            yield f"{name}: {counts}, p = {p:.2g} (McNemar, exact{', Holm' * (entry['relation'] is not None)})."
    every = document["all"]
    if every["genuinely_broke"] or every["genuinely_fixed"]:
        yield (
            f"Settled: {every['genuinely_broke']:,} groups were genuine and are not now, {every['genuinely_fixed']:,} "
            f"the other way round; of those that broke {every['broke_false']:,} had been false, of those fixed "
            f"{every['fixed_false']:,} are."
        )
    yield from (f"Note: {note}" for note in document["notes"])
    for left in document["left_out"]:
        number = f"{left['groups']:,} groups: " if left["groups"] else ""
        yield f"Left out: {left['relation']}: {number}{left['reason']}."
    if document["drawn"] is not None:
        yield f"Drawn: {document['drawn']:,} groups more, for each system that satisfies them; their questions wait."


def group_lines(group: GroupChange) -> list[str]:
    """One group with its texts and both outputs."""
    one = group["old"] == group["new"]  # of one system
    shown = [f"{group['relation']}: " + (group["new"] if one else f"{group['old']} -> {group['new']}")]
    for member in group["members"]:
        said = (member["new"],) if one and member["old"] is None else (member["old"], member["new"])
        outputs = " -> ".join(output if output is not None else "(none)" for output in said)
        texts = textwrap.shorten(" | ".join(member["texts"]), 2 * WIDTH, placeholder=" …")
        shown += textwrap.wrap(
            f"{member['role'].replace('_', '-')}: {texts}  [{textwrap.shorten(outputs, WIDTH, placeholder=' …')}]",
            WIDTH, initial_indent="  ", subsequent_indent="    ",
        )  # fmt: skip
    return shown


def percent(rate: float | None) -> str:
    """A rate for people.

    >>> percent(0.125), percent(None)
    ('12.5 %', '-')
    """
    return "-" if rate is None else f"{100 * rate:.1f} %"


def points(value: float) -> str:
    """A difference of rates in points.

    >>> points(0.125), points(-0.0001)
    ('+12.5', '+0.0')
    """
    return f"{round(100 * value, 1) or 0.0:+.1f}"


def in_points(mean: MeanEntry) -> str:
    """A difference for people: the estimate and its interval, or where there is none the bounds."""
    if mean["low"] is None or mean["high"] is None:
        return "-"
    ends = f"{points(mean['low'])} to {points(mean['high'])}"
    return ends if mean["estimate"] is None else f"{points(mean['estimate'])} [{ends}]"


def status_of(document: CompareDocument, undecided: str | None = None) -> int:
    """The exit status: 1 where a condition fails, `UNDECIDED` where one cannot be decided, unless that is to `pass` or
    to `fail`."""
    outcomes = {condition["outcome"] for condition in document["conditions"]}
    if "fails" in outcomes or ("undecided" in outcomes and undecided == "fail"):
        return 1
    return UNDECIDED if "undecided" in outcomes and undecided != "pass" else 0


UNDECIDED = 4
