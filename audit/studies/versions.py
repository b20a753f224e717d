"""Versions of plans: each change is a version of its own, and freezing one is a version, too. Append-only.

A frozen plan can still be changed; what was changed is said in every report. The first freeze is what a study is held
to.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from typing import Any

from sqlalchemy import Connection, Engine, select

from audit.corpora import short_name
from audit.errors import Refused, UnknownName
from audit.judging.accounts import note, writing_as_manager
from audit.messages import ENGLISH, phrase
from audit.store import tables
from audit.store.copying import in_utc
from audit.store.core import annotator, plan
from audit.store.core import study as study_table
from audit.studies.deviations import Deviation, deviations, judgements_of
from audit.studies.plan import TABLES, Plan, toml_value


@dataclass(frozen=True)
class Version:
    """A version of a plan. `by` is the account that stored it; None: whoever has the database itself."""

    name: str
    version: int
    content: dict[str, dict[str, Any]]
    frozen: bool
    by: str | None
    at: datetime

    def plan(self) -> Plan:
        """The plan as it was checked then."""
        return Plan(self.name, **self.content)


@dataclass(frozen=True)
class Change:
    """A key that differs between two contents: `table.key`, what it was and what it is; None: nothing."""

    key: str
    before: Any
    after: Any


def changes(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[Change]:
    """Return what differs between two contents of plans, in the order of a file.

    >>> changes({"sample": {"base": 60}}, {"sample": {"base": 100}})
    [Change(key='sample.base', before=60, after=100)]
    """

    def flat(content: Mapping[str, Any], within: str = "") -> Iterator[tuple[str, Any]]:
        for key, value in content.items():
            if isinstance(value, Mapping):
                yield from flat(value, f"{within}{key}.")
            else:
                yield f"{within}{key}", value

    first, second = dict(flat(before)), dict(flat(after))
    compared = [Change(key, first.get(key), second.get(key)) for key in dict.fromkeys([*first, *second])]
    return [change for change in compared if change.before != change.after]


def set_plan(engine: Engine, new: Plan, *, by: int | None = None) -> tuple[Version, bool]:
    """Store a plan as the next version of its name; return it, and whether it is new: nothing is stored where nothing
    changed.

    `by` is the account of a manager, or None for whoever has the database itself. Raises NotAllowed for another role.
    """
    with writing_as_manager(engine, by) as connection:
        last = all_versions(connection, new.name).get(new.name, [])[-1:]
        if last and not changes(last[0].content, new.content()):
            return last[0], False
        return _append(connection, new.name, new.content(), False, by), True


def freeze(engine: Engine, name: str) -> Version:
    """Freeze the last version of a plan; return it. Raises UnknownName, and Refused where it is frozen already."""
    with engine.begin() as connection:
        last = latest(connection, name)
        if last.frozen:
            raise Refused(f"the plan {name!r} is frozen already, as version {last.version}")
        return _append(connection, name, last.content, True, None)


def _append(connection: Connection, name: str, content: dict[str, Any], frozen: bool, by: int | None) -> Version:
    number = 1 + len(all_versions(connection, name).get(name, ()))
    row = {"name": name, "version": number, "content": content, "frozen": frozen, "annotator_id": by}
    connection.execute(plan.insert(), row | {"at": tables.now()})
    note(connection, by, "plan frozen" if frozen else "plan stored", plan=name, version=number)
    return latest(connection, name)


def versions(engine: Engine, name: str) -> list[Version]:
    """Return every version of a plan, the first one first. Raises UnknownName."""
    with engine.connect() as connection:
        latest(connection, name)
        return all_versions(connection, name)[name]


def latest(connection: Connection, name: str) -> Version:
    """Return the last version of a plan. Raises UnknownName."""
    history = all_versions(connection, name)
    if not history:
        raise UnknownName("plan", name, [*all_versions(connection)])
    return history[name][-1]


def all_versions(connection: Connection, name: str | None = None) -> dict[str, list[Version]]:
    """Return every version of every plan, or of one, by name, the first one first; plans in the order in which they
    were stored."""
    query = select(plan, annotator.c.name.label("by")).outerjoin(annotator, annotator.c.id == plan.c.annotator_id)
    query = query.order_by(plan.c.id)
    histories = dict[str, list[Version]]()
    for row in connection.execute(query if name is None else query.where(plan.c.name == name)):
        # Tables and keys in the order of a file, which JSON does not keep.
        content = {table: {key: row.content[table].get(key) for key in keys} for table, keys in TABLES.items()}
        version = Version(row.name, row.version, content, bool(row.frozen), row.by, in_utc(row.at))
        histories.setdefault(row.name, []).append(version)
    return histories


def frozen_version(history: Sequence[Version]) -> Version | None:
    """Return the version that a study is held to: the first frozen one of a history, the first version first."""
    return next((version for version in history if version.frozen), None)


def steps(history: Sequence[Version]) -> list[tuple[Version, list[Change]]]:
    """Return each version after the first, with what it changed; freezing changes nothing."""
    return [(after, changes(before.content, after.content)) for before, after in pairwise(history)]


# How a study stands to its plan: frozen before data came in or not, changed since, and done otherwise.


@dataclass(frozen=True)
class PlanAdherence:
    """How a study stands to its plan: what was frozen, what changed since, and what was done otherwise.

    `plan` is the version that the study is held to, the first frozen one or else the last, whose number is `version`.
    `judgements` about its texts were given so far, `before` of them before the plan was frozen (None: it is not).
    `began` is when its run began; `changed` what changed after it was frozen, with the version that did.
    """

    study: int
    plan: Version
    version: int
    judgements: int
    before: int | None
    began: datetime
    changed: tuple[tuple[Version, Change], ...]
    deviates: tuple[Deviation, ...]

    @property
    def frozen_at(self) -> datetime | None:
        """When the plan was frozen."""
        return self.plan.at if self.plan.frozen else None


def plan_adherence(
    connection: Connection, studies: Sequence[Mapping[str, Any]], samples: Sequence[Mapping[str, Any]]
) -> list[PlanAdherence]:
    """Return how each study stands to each plan that it belongs to, which has a version with its task, corpus, content,
    seed and limit; `studies` and `samples` are rows of these tables."""
    plans, sampled = all_versions(connection), {sample["study_id"]: sample for sample in samples}
    began = dict(connection.execute(select(study_table.c.id, study_table.c.created_at)).all())
    adherence = []
    for study in studies:
        for history in plans.values():
            if any(belongs(study, version.content) for version in history):
                frozen, id = frozen_version(history), study["id"]
                binding = frozen or history[-1]
                after = [version for version in history if frozen and version.version >= frozen.version]
                changed = tuple((version, change) for version, changed in steps(after) for change in changed)
                judgements, before = judgements_of(connection, id), judgements_of(connection, id, binding.at)
                deviates = tuple(deviations(connection, study, sampled.get(id), binding.content))
                standing = (judgements, before if frozen else None, in_utc(began[id]), changed, deviates)
                adherence.append(PlanAdherence(id, binding, history[-1].version, *standing))
    return adherence


def belongs(study: Mapping[str, Any], content: Mapping[str, Any]) -> bool:
    """Return whether a row of `study` is what this content of a plan plans: task, corpus, its content, seed, limit."""
    planned = content["study"] | {"corpus": short_name(content["study"]["corpus"])}
    return all(study[key] == planned[key] for key in ("task", "corpus", "fingerprint", "seed", "limit"))


# Changes of plans and deviations from them in words.


def change_text(change: Change) -> str:
    """Return a change in a few words.

    >>> change_text(Change("sample.base", 60, 100))
    'sample.base 60 -> 100'
    """
    return f"{change.key} {from_to(change.before, change.after)}"


def from_to(before: Any, after: Any, language: str = ENGLISH) -> str:
    """Return a change of a value in words, values as a plan's file has them; of lists, what was taken out and put in.

    >>> from_to(None, 0.02), from_to(["a"], ["a", "b"])
    ('nothing -> 0.02', 'with b')
    """
    if not (isinstance(before, list) and isinstance(after, list)):
        nothing = phrase(language, "plan.nothing")
        return " -> ".join(nothing if value in (None, {}) else toml_value(value) for value in (before, after))
    differing = {"without": [str(item) for item in before if item not in after]}
    differing["with"] = [str(item) for item in after if item not in before]
    parts = [f"{phrase(language, f'plan.{word}')} {', '.join(items)}" for word, items in differing.items() if items]
    return ", ".join(parts) or phrase(language, "plan.order")
