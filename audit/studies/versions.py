"""Versions of plans: each change is a version of its own, and freezing one is a version, too. Append-only.

A frozen plan can still be changed; what was changed is said in every report. The first freeze is what a study is held
to.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from typing import Any

from sqlalchemy import Connection, Engine, select, true
from sqlalchemy.exc import IntegrityError

from audit.corpora import short_name
from audit.errors import AuditError, Refused, UnknownName
from audit.judging.accounts import note, require_manager
from audit.messages import ENGLISH, phrase
from audit.store import tables
from audit.store.copying import in_utc
from audit.store.core import annotator, plan
from audit.store.core import study as study_table
from audit.studies.deviations import Deviation, deviations, judgements_of
from audit.studies.plan import TABLES, Plan, need_registered, toml_value
from audit.studies.uploads import uploaded_here


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
        return Plan(self.name, **{table: self.content.get(table, {}) for table in TABLES})


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

    `by` is the account of a manager, or None for whoever has the database itself. Raises NotAllowed for another role;
    BadFile where an account plans a file or code of its own, which only the command line may; AuditError where
    somebody else has stored a version at the same moment.
    """
    uploaded = uploaded_here(engine) if by is not None else {}
    with _appending(engine, by) as connection:
        if by is not None:
            need_registered(new, uploaded)
        last = next(iter(_versions(connection, new.name, last=1)), None)
        if last is not None and not changes(last.content, new.content()):
            return last, False
        return _append(connection, new.name, new.content(), False, by), True


def freeze(engine: Engine, name: str, *, by: int | None = None, version: int | None = None) -> Version:
    """Freeze the last version of a plan, which must be number `version` where that is given; return it.

    Raises NotAllowed for anyone but a manager (`by`; None: whoever has the database itself), UnknownName, and
    AuditError where it is frozen already or has changed since it was looked at.
    """
    with _appending(engine, by) as connection:
        last = latest(connection, name)
        if version is not None and last.version != version:
            raise Refused(f"the plan {name!r} has version {last.version} by now; look at it before you freeze it")
        if last.frozen:
            raise Refused(f"the plan {name!r} is frozen already, as version {last.version}")
        return _append(connection, name, last.content, True, by)


@contextmanager
def _appending(engine: Engine, by: int | None) -> Iterator[Connection]:
    """A manager's transaction that adds a version; two at once give one version and one refusal."""
    try:
        with engine.begin() as connection:
            require_manager(connection, by)
            yield connection
    except IntegrityError:
        raise AuditError("somebody else has changed this plan at this moment; look at it, then do it again") from None


def _append(connection: Connection, name: str, content: dict[str, Any], frozen: bool, by: int | None) -> Version:
    number = 1 + sum(before.version for before in _versions(connection, name, last=1))
    row = {"name": name, "version": number, "content": content, "frozen": frozen, "annotator_id": by}
    connection.execute(plan.insert(), row | {"at": tables.now()})
    note(connection, by, "plan frozen" if frozen else "plan stored", plan=name, version=number)
    return latest(connection, name)


def versions(engine: Engine, name: str, *, by: int | None = None) -> list[Version]:
    """Return every version of a plan, the first one first. Raises NotAllowed for anyone but a manager, and
    UnknownName."""
    with engine.connect() as connection:
        require_manager(connection, by)
        latest(connection, name)
        return _versions(connection, name)[::-1]


def latest(connection: Connection, name: str) -> Version:
    """Return the last version of a plan. Raises UnknownName."""
    if not (newest_first := _versions(connection, name, last=1)):
        raise UnknownName("plan", name, [*all_versions(connection)])
    return newest_first[0]


def all_versions(connection: Connection) -> dict[str, list[Version]]:
    """Return every version of every plan, by name, the first one first; plans in the order in which they were
    stored."""
    first = select(plan.c.name).where(plan.c.version == 1).order_by(plan.c.id)
    histories: dict[str, list[Version]] = {name: [] for name in connection.execute(first).scalars()}
    for version in _versions(connection)[::-1]:
        histories[version.name].append(version)
    return histories


def _versions(connection: Connection, name: str | None = None, last: int | None = None) -> list[Version]:
    """Versions, the last one first."""
    query = (
        select(plan.c.name, plan.c.version, plan.c.content, plan.c.frozen, annotator.c.name, plan.c.at)
        .outerjoin(annotator, annotator.c.id == plan.c.annotator_id)
        .where(true() if name is None else plan.c.name == name)
        .order_by(plan.c.version.desc(), plan.c.id.desc())
        .limit(last)
    )
    found = []
    for of, number, stored, frozen, by, at in connection.execute(query):
        # Tables and keys in the order of a file, which JSON does not keep.
        content = {
            table: {key: stored[table][key] for key in dict.fromkeys([*keys, *stored[table]]) if key in stored[table]}
            for table, keys in TABLES.items()
            if table in stored
        }
        found.append(Version(of, number, content, bool(frozen), by, in_utc(at)))
    return found


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
    return [
        _adherence(connection, study, sampled.get(study["id"]), history)
        for study in studies
        for history in plans.values()
        if any(belongs(study, version.content) for version in history)
    ]


def belongs(study: Mapping[str, Any], content: Mapping[str, Any]) -> bool:
    """Return whether a row of `study` is what this content of a plan plans: task, corpus, its content, seed, limit."""
    planned = content["study"] | {"corpus": short_name(content["study"]["corpus"])}
    return all(study[key] == planned[key] for key in ("task", "corpus", "fingerprint", "seed", "limit"))


def _adherence(
    connection: Connection, study: Mapping[str, Any], sample: Mapping[str, Any] | None, history: Sequence[Version]
) -> PlanAdherence:
    frozen = frozen_version(history)
    binding = frozen or history[-1]
    began = connection.execute(select(study_table.c.created_at).where(study_table.c.id == study["id"])).scalar_one()
    after = [version for version in history if frozen and version.version >= frozen.version]
    return PlanAdherence(
        study["id"],
        binding,
        history[-1].version,
        judgements_of(connection, study["id"]),
        judgements_of(connection, study["id"], binding.at) if frozen else None,
        in_utc(began),
        tuple((version, change) for version, changed in steps(after) for change in changed),
        tuple(deviations(connection, study, sample, binding.content)),
    )


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

    def written(value: Any) -> str:
        if isinstance(value, dict) and value:
            return ", ".join(f"{name} = {written(item)}" for name, item in value.items())
        return phrase(language, "plan.nothing") if value in (None, {}) else toml_value(value)

    if not (isinstance(before, list) and isinstance(after, list)):
        return f"{written(before)} -> {written(after)}"
    differing = {"without": [str(item) for item in before if item not in after]}
    differing["with"] = [str(item) for item in after if item not in before]
    parts = [f"{phrase(language, f'plan.{word}')} {', '.join(items)}" for word, items in differing.items() if items]
    return ", ".join(parts) or phrase(language, "plan.order")
