"""`audit compare`: two versions of a system: the report's difference of the two, and the groups that changed.

The numbers are those of the report's pairs (`audit.reports.standings.compared_pair`).
"""

import re
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import pandas as pd
from sqlalchemy import Connection, Engine, select

import audit
from audit.errors import AuditError, UnknownName
from audit.false_satisfaction.cells import count
from audit.false_satisfaction.resolution import Whose
from audit.options import spread
from audit.relations import COUNTED
from audit.reports.basis import Basis, Comparisons
from audit.reports.document import Entry, estimated
from audit.reports.options import CompareOptions
from audit.reports.standings import compared_pair
from audit.reports.study import comparisons_of
from audit.reports.tables import Section, Table
from audit.reports.words import Estimate, estimate, percent, signed
from audit.statistics.contests import Answered, Compared
from audit.statistics.orders import holm
from audit.statistics.rates import rates_of
from audit.store import rows_among, snapshot, table_of, tables
from audit.store.core import input_table, member, output, system

UNDECIDED = 4
"""The exit status where answers cannot decide a condition."""
GRAMMAR = "[surely|estimated|possibly] [observed|genuine] rise [in RELATION] > NUMBER points"
_EXPRESSION = re.compile(
    r"(?:(?P<how>surely|estimated|possibly) )?(?:(?P<kind>observed|genuine) )?rise"
    r"(?: in (?P<relation>\S+))? ?> ?(?P<number>[-+]?\d+(?:\.\d+)?) points?"
)


# Conditions under which a comparison fails, such as `genuine rise > 2 points`.


def _parts(condition: str) -> re.Match[str]:
    matched = _EXPRESSION.fullmatch(" ".join(condition.split()))
    if matched is None or abs(float(matched["number"])) > 100:
        raise AuditError(f'{condition[:80]!r} is no condition; write {GRAMMAR}, as in "genuine rise > 2 points"')
    return matched


def decide(condition: str, document: Entry) -> tuple[str, str]:
    """Return whether the comparison `passes`, `fails` or is `undecided` by a condition, and why, in a clause.

    `surely` (as without a word) it fails where the whole interval is beyond the limit, `estimated` where the estimate
    is, `possibly` where an end is. Without an estimate it is undecided where the limit lies between the ends, but for
    `possibly`. Raises AuditError, which has the grammar, and UnknownName for a relation that was not compared.
    """
    parts, entries = _parts(condition), [document["all"]]
    how, kind, name = parts["how"], parts["kind"] or "genuine", parts["relation"]
    if name is not None:
        entries = [entry for entry in document["relations"] if entry["relation"] == name]
        if not entries:
            raise UnknownName("relation", name, [entry["relation"] for entry in document["relations"]])
    rise = max((entry[kind] for entry in entries), key=lambda interval: interval["high"])
    because, limit = f"the {kind} violation rate {moved(rise)}", float(parts["number"]) / 100 + 1e-12  # .3 - .1 <= .2
    if how != "possibly" and rise["estimate"] is None and rise["low"] <= limit < rise["high"]:
        return "undecided", f"{because}, as too little is judged"
    beyond = {"possibly": rise["high"], "estimated": rise["low"] if rise["estimate"] is None else rise["estimate"]}
    return ("fails" if beyond.get(how, rise["low"]) > limit else "passes"), because


def status_of(document: Entry, undecided: str | None = None) -> int:
    """Return the exit status: 1 where a condition fails, `UNDECIDED` where one cannot be decided, unless that is to
    `pass` or to `fail`."""
    outcomes = {condition["outcome"] for condition in document["conditions"]}
    if "fails" in outcomes or ("undecided" in outcomes and undecided == "fail"):
        return 1
    return UNDECIDED if "undecided" in outcomes and undecided != "pass" else 0


# The two systems, and the report's comparison of them under each relation.


@spread
def compare(
    old: str, new: str, engine: Engine, conditions: Sequence[str] = (), options: CompareOptions = CompareOptions()
) -> Entry:
    """Compare two systems of a database: `name`, `name@version`, the beginning of that, or `#id`.

    Raises AuditError for what is no condition, for a name that fits no system or several, and where no group applies to
    both.
    """
    for condition in conditions:
        _parts(condition)
    with snapshot(engine) as connection:
        versions = [_system(connection, name) for name in (old, new)]
        if versions[0].id == versions[1].id:
            raise AuditError(f"{old} and {new} are the same system, {_label(versions[0])}; name two versions")
        both, groups, left_out = _read(connection, versions, options.answers)
        broke, fixed = (_listed(connection, groups, versions, options.show, good) for good in (0, 1))
    numbers = Basis(pd.DataFrame(), target=options.target)
    by_relation = groups.groupby(["task", "study", "relation"], sort=False)
    entries = [_entry(both, of, numbers, *names) for names, of in by_relation]
    sizes = pd.DataFrame(entries).groupby("study")[["informative", "judged"]].sum()
    # The ends of a study without any answer hold for all of them.
    is_open = bool(((sizes["judged"] == 0) & (sizes["informative"] > 0)).any())
    whole = _entry(both, groups, numbers, is_open=is_open)
    for kind in ("observed", "genuine"):
        tested: list[Entry] = [entry[kind] for entry in entries if entry[kind]["p"] is not None]
        for rise, adjusted in zip(tested, holm([rise["p"] for rise in tested]), strict=True):
            rise["p_holm"] = adjusted
    settings = {name: value for name, value in asdict(options).items() if name != "show"}
    sides = [{"system": each.name, "version": each.version, "settings": each.settings} for each in versions]
    document: Entry = {
        "old": sides[0], "new": sides[1], "relations": entries, "all": whole, "left_out": left_out, "broke": broke,
        "fixed": fixed, "signature": {"audit": audit.__version__, **settings, "confidence": numbers.confidence},
    }  # fmt: skip
    decided = [(condition, *decide(condition, document)) for condition in conditions]
    names = ("condition", "outcome", "because")
    return document | {"conditions": [dict(zip(names, each, strict=True)) for each in decided]}


def _label(version: Any) -> str:
    return f"{version.name}@{version.version}"


def _system(connection: Connection, name: str) -> Any:
    """Return the system that a name means. Raises AuditError, which lists what is there, where it is none or
    several."""
    columns = (system.c.id, system.c.name, system.c.version, system.c.settings)
    every = connection.execute(select(*columns).order_by(system.c.id)).all()
    fitting = [
        system_row
        for system_row in every
        if name in (system_row.name, _label(system_row), f"#{system_row.id}", f"{_label(system_row)}#{system_row.id}")
    ]
    fitting = fitting or [system_row for system_row in every if _label(system_row).startswith(name)]
    if len(fitting) == 1:
        return fitting[0]
    there = ", ".join(f"{_label(system_row)}#{system_row.id}" for system_row in fitting or every) or "none"
    what = "means several systems" if fitting else "is no system"
    number = f"; a version, or a number as in #{fitting[0].id}, is enough" if fitting else ""
    raise AuditError(f"{name} {what}; there are {there}{number}")


def _read(
    connection: Connection, versions: Sequence[Any], answers: Whose
) -> tuple[Comparisons, pd.DataFrame, list[str]]:
    """Return the two systems as one comparison over all studies, the groups that apply to both, and what is left out.

    Of the groups, `key` is a relation of a study in the comparison; of each side (0 and 1) are `group` (id), `held`
    (bool) and `genuine` (1, 0, -1 not known). Raises AuditError where no group applies to both.
    """
    counted, left_out, clusters = count(connection, answers), list[str](), [np.zeros(0, np.int64)]
    groups, answered, given_up, frames = dict[str, Any](), dict[str, Any](), dict[str, Any](), list[pd.DataFrame]()
    for study, population in counted.populations.items():
        if not {version.id for version in versions} <= set(population.systems):
            continue
        of, at = comparisons_of(counted, study), [population.systems.index(version.id) for version in versions]
        # Sources and documents of each study have codes of their own, so that errors of studies are independent.
        first, codes = sum(map(len, clusters)), 1 + max(int(part.max(initial=-1)) for part in clusters)
        clusters.append(codes + of.cluster)
        for (name, part), ids in zip(of.groups.items(), population.group.values(), strict=True):
            pair, key = part.pair(at[0], at[1]), f"{study} {name}"
            if not pair.groups:
                left_out.append(f"{name}: no group applies to both")
                continue
            groups[key] = Compared(first + part.source, part.satisfied[:, at], part.output[:, at], part.proxy[:, :, at])
            answered[key] = Answered(of.answered[name].q[:, at], of.answered[name].genuine[:, at])
            given_up[key] = of.open[name][:, at]
            frame = pd.DataFrame({"study": study, "task": population.task, "relation": name, "key": key}, pair.both)
            frame["tells"] = np.isin(pair.both, pair.at)
            for side, column in enumerate(at):
                held = part.satisfied[pair.both, column] == 1
                frame[f"group{side}"], frame[f"held{side}"] = ids[pair.both, column], held
                frame[f"genuine{side}"] = np.where(held, of.answered[name].genuine[pair.both, column], 0)
            frames.append(frame)
    if not frames:
        labels = " and ".join(map(_label, versions))
        raise AuditError(f"no group applies to both of {labels}; run both on the same corpus, under the same relations")
    both = Comparisons(groups, answered, given_up, ("old", "new"), np.concatenate(clusters))
    return both, pd.concat(frames, ignore_index=True), left_out


def _entry(both: Comparisons, groups: pd.DataFrame, numbers: Basis, *names: Any, is_open: bool | None = None) -> Entry:
    """Return what changed in these groups (of this task, study and relation), relations weighing by their numbers of
    groups.

    While nothing is judged, or some study `is_open`, the genuine rate can have risen at most as far as each group goes
    that tells the two apart: those ends hold whatever the answers are.
    """
    weights = dict(groups["key"].value_counts(normalize=True, sort=False))
    observed, genuine = (compared_pair(of, weights, ("old", "new"), numbers) for of in (both.observed(), both))
    ends = ("low", "high", "p", "p_holm")
    rises = [{"estimate": of["difference"], **{end: of[end] for end in ends}} for of in (observed, genuine)]
    old, new = groups["held0"], groups["held1"]
    number, fixed, broke = len(groups), int((new & ~old).sum()), int((old & ~new).sum())
    informative, judged = genuine["informative"], genuine["judged"]
    if (informative and not judged) if is_open is None else is_open:
        low, high = (broke - informative) / number, (informative - fixed) / number
        rises[1] = {"estimate": None, "low": low, "high": high, "p": None, "p_holm": None}
    return {
        **dict(zip(("task", "study", "relation"), names or (None, None, None), strict=True)), "groups": number,
        "fixed": fixed, "broke": broke, "informative": informative, "judged": judged,
        "vr_old": float(1 - old.mean()), "vr_new": float(1 - new.mean()), "observed": rises[0], "genuine": rises[1],
    }  # fmt: skip


# The groups that got worse or better, the most instructive first, with their texts.


def _listed(connection: Connection, groups: pd.DataFrame, versions: Sequence[Any], show: int, good: int) -> list[Entry]:
    """Return groups in which the side `good` is better: first those that it alone satisfies rightly, then those whose
    verdict changed and which nobody settled, then those that it satisfies falsely. A source is shown once."""
    held, genuine = ([groups[f"{name}{side}"] for side in (good, 1 - good)] for name in ("held", "genuine"))
    turned = groups["tells"] & held[0] & ~held[1]
    rightly = groups["tells"] & (genuine[0] == 1) & (genuine[1] == 0)
    rows = groups.assign(level=np.select([rightly, turned & (genuine[0] < 0), turned], [0, 1, 2], 3))
    rows = rows[rows["level"] < 3]
    # A few of each relation, in turns: the texts of a hundred thousand need not be read for ten.
    rows = rows.assign(turn=rows.groupby(["level", "key"], sort=False).cumcount())
    rows = rows[rows["turn"] < 4 * show].sort_values(["level", "turn"], kind="stable")
    members = _members(connection, [(of.id, rows[f"group{side}"].tolist()) for side, of in enumerate(versions)])
    states = [
        np.select([~rows[f"held{side}"], rows[f"genuine{side}"] < 0, rows[f"genuine{side}"] > 0],
                  ["violated", "satisfied", "genuine"], "false").tolist()
        for side in (0, 1)
    ]  # fmt: skip
    chosen: dict[tuple[str, ...], Entry] = {}
    for relation, old, new, outputs in zip(rows["relation"], *states, members, strict=True):
        entry = {"relation": relation, "old": old, "new": new, "members": outputs}
        chosen.setdefault(tuple(outputs[0]["texts"]) if outputs else (), entry)
    return list(chosen.values())[:show]


def _members(connection: Connection, sides: Sequence[tuple[int, Sequence[int]]]) -> list[list[Entry]]:
    """Return the counted members of groups with what systems said: each of `sides` is a system and its ids of the
    groups. Members with the same role and texts are one."""
    by_content: list[dict[tuple[str, tuple[str, ...]], list[str | None]]] = [{} for _ in sides[0][1]]
    for side, (system_id, groups) in enumerate(sides):
        query = (
            select(member.c.group_id, member.c.role, input_table.c.texts, output)
            .join(input_table, input_table.c.id == member.c.input_id)
            .join(output, (output.c.input_id == member.c.input_id) & (output.c.system_id == system_id))
            .where(member.c.role.in_(COUNTED))
            .order_by(member.c.group_id, member.c.step, output.c.attempt)
        )
        places = {group: at for at, group in enumerate(groups)}
        for row in rows_among(connection, query, member.c.group_id, groups):
            score = None if row.score is None else f"{row.score:.3g}"
            said = next((value for value in (row.error, row.label, row.text, score) if value is not None), "None")
            by_content[places[row.group_id]].setdefault((row.role, tuple(row.texts)), [None, None])[side] = said
    return [
        [{"role": role, "texts": list(texts), "old": old, "new": new} for (role, texts), (old, new) in of.items()]
        for of in by_content
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
    """Return the check of a system (`name@version`) under one relation of a study (id); None where no group applies.

    `relation` has the columns task, name, version and params. Raises AuditError for a system that is not there.
    """
    with snapshot(engine) as connection:
        version, table = _system(connection, system), table_of(tables.Relation)
        relation_id = connection.execute(select(table.c.id).filter_by(**relation)).scalar_one()
        counted = count(connection, study=study)
        place, population = counted.places().get((study, relation_id, version.id)), counted.populations[study]
        if place is None or not (counted.checked.cell == place).any():
            return None
        at, answered = population.systems.index(version.id), counted.standings[study].answered(relation_id)
        satisfied, ids = population.relations[relation_id].satisfied[:, at], population.group[relation_id][:, at]
        # What is false is what no test would have shown; of the others the shortest texts are read soonest.
        false = ids[(satisfied == 1) & (answered.genuine[:, at] == 0)].tolist()
        violated = ids[satisfied == 0].tolist()
        members = _members(connection, [(version.id, [*false, *violated[: 20 * show]])])
    states = ["false"] * len(false) + ["violated"] * (len(members) - len(false))
    worst: list[Entry] = [
        {"relation": relation["name"], "old": state, "new": state, "members": of}
        for state, of in zip(states, members, strict=True)
    ]
    worst.sort(
        key=lambda group_entry: (
            group_entry["new"] != "false",
            sum(len(text) for of in group_entry["members"] for text in of["texts"]),
        )
    )
    rates = rates_of([place], counted.judged, counted.checked, finite=False)
    groups, judged = int((counted.checked.cell == place).sum()), int(counted.cells.loc[place, "judged"])
    observed, genuine = (estimate(estimated(of and of.less(), judged)) for of in (rates.observed, rates.genuine))
    return RelationCheck(relation["name"], groups, len(violated), judged, observed, genuine, worst[:show])


# For people, in English: a command alone says it.


def compare_sections(document: Entry) -> Iterator[Section]:
    """Yield the rates of both with their difference by relation, the groups that got worse, and the conditions."""
    old, new = (f"{entry['system']}@{entry['version']}" for entry in (document["old"], document["new"]))
    heads = ("relation", "groups", "fixed", "broke", "VR", "VR change", "genuine", "judged")
    every = document["all"]
    rows = [
        (
            part["relation"] or "all", part["groups"], part["fixed"], part["broke"],
            f"{percent(part['vr_old'])} → {percent(part['vr_new'])}", _points(part["observed"]),
            _points(part["genuine"]), f"{part['judged']:,}/{part['informative']:,}"
        )
        for part in [*document["relations"], every]
    ]  # fmt: skip
    changes = (f"the violation rate (VR) {moved(every['observed'])}", f"the genuine one {moved(every['genuine'])}")
    said = [f"Over all, {'; '.join(changes)}. To rise is to get worse."]
    said += [
        f"{entry['relation']}: the {kind} change is beyond chance, p = {p:.2g} (Holm's over relations)."
        for entry in document["relations"]
        for kind in ("observed", "genuine")
        if (p := entry[kind]["p_holm"]) is not None and p < 0.05
    ]
    if same := every["groups"] - every["informative"]:
        said.append(
            f"In {same:,} of {every['groups']:,} groups all outputs are the same, or neither satisfies: they add "
            "exactly 0 to the genuine difference, without being judged."
        )
    said += [f"Left out: {sentence}." for sentence in document["left_out"]]
    yield Section(f"{old} -> {new}", [Table(heads, rows), *said])
    if document["broke"]:
        yield Section("What got worse", list(map(group_section, document["broke"])))
    if document["conditions"]:
        lines = [f"{part['outcome']}: {part['condition']} ({part['because']})" for part in document["conditions"]]
        yield Section("Conditions", lines)


def group_section(group: Entry) -> Section:
    """Return one group with its texts and outputs: of both systems, or of the one that was checked."""
    is_alone, lines = group["old"] == group["new"], []
    for of in group["members"]:
        said = [of["old"]] if is_alone else [of["old"], of["new"]]
        outputs = textwrap.shorten(" -> ".join(output or "(none)" for output in said), 100, placeholder=" …")
        texts = textwrap.shorten(" | ".join(of["texts"]), 200, placeholder=" …")
        lines.append(f"{of['role'].replace('_', '-')}: {texts}  [{outputs}]")
    return Section(f"{group['relation']}: {group['new'] if is_alone else group['old'] + ' -> ' + group['new']}", lines)


def _points(rise: Entry) -> str:
    """Return a difference for people: the estimate, if there is one, and its ends."""
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
