"""Relations by task and name, in `audit.registry.relations`. A new relation is one function decorated with
`audit.relations.uses.relation`, or one `register` call."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from functools import partial
from typing import Any

from audit import registry
from audit.errors import AuditError
from audit.files import read_text
from audit.registry import Registry
from audit.relations.base import Chained, Joint, Plain, Relation
from audit.relations.composition import Composed, compose, parts_of
from audit.relations.validity import VALID, limited
from audit.tasks import TASKS, base_of

RELATIONS: Registry[Relation] = registry.relations  # Relations by TASK/NAME
ALL, DEFAULT, FAMILY = "all", "default", "family:"
"""What stands for several relations of a task where relations are named: all, those of a run that names none, and those
of a family (`family:noise in letters`)."""


def _check_names(key: str, relation: Relation) -> None:
    if "|" in relation.name:
        raise AuditError(f"relation {relation.name!r} cannot have this name: the bar is for compositions")
    if "," in relation.family:
        raise AuditError(f"relation {relation.name!r} cannot be of the family {relation.family!r}: it has a comma")


RELATIONS.check = _check_names


def register(relation: Relation) -> Relation:
    """Make a relation known under (task, name). Raises AuditError when that is taken, or cannot be a name."""
    RELATIONS.register(_key(relation.task, relation.name), relation := limited(relation, ()))
    return relation


def _key(task: str, name: str) -> str:
    return f"{base_of(task)}/{name}"


def replace_relation(relation: Relation, origin: str = "") -> Relation:
    """Register a relation of family `own` again, as a notebook's cell does that is run twice; `origin` is its
    module."""
    before = find_relation(relation.task, relation.name)
    if before is not None and before.family != relation.family:
        there = f"is there already, in the family {before.family!r}; give yours another name"
        raise AuditError(f"relation {relation.name!r} of task {relation.task!r} {there}")
    RELATIONS.register(_key(relation.task, relation.name), relation, replace=True, origin=origin)
    return relation


def all_relations(task: str | None = None) -> list[Relation]:
    """Return the registered relations, of all tasks or one, in the order of their names' numbers."""
    base = None if task is None else base_of(task)
    chosen = [_of(relation, task) for relation in RELATIONS.values() if base in (None, relation.task)]
    return sorted(chosen, key=lambda relation: (relation.task, name_order(relation.name)))


def configured(relation: Relation, changes: Mapping[str, object]) -> Relation:
    """Return the relation with other parameters: its check is given those that are its fields, its function the others
    by name; a `Fixed` one of another kind reads `params` itself. Of a composition, those of its parts. Raises
    AuditError for a parameter that the relation does not have, a value of another kind than its default (a whole number
    will do for a fraction), and one that the relation or its check refuses."""
    if isinstance(relation, Composed):
        return compose(*(configured(part, own) for part, own in relation.configured(changes)))
    new = dict(changes)
    for name, value in changes.items():
        if name not in relation.params or (name == VALID and relation.limits):
            has = ", ".join(relation.params) or "none"
            raise AuditError(f"relation {relation.name} has no parameter {name!r}; it has {has}")
        default = relation.params[name]
        new[name] = value = float(value) if type(value) is int and type(default) is float else value
        kinds = relation.accepts.get(name, (type(default),))
        if type(value) not in kinds:
            kind = " or ".join(allowed.__name__ for allowed in kinds)
            raise AuditError(f"parameter {name} of relation {relation.name} is {value!r}; it must be of type {kind}")
    params = {**relation.params, **new}
    if relation.check_params and (wrong := relation.check_params(params)):
        raise AuditError(f"parameters of relation {relation.name}: {wrong}")
    changed: dict[str, Any] = {"params": params}
    check: Any = getattr(relation, "check", None)
    own = {field.name for field in fields(check)} & new.keys() if is_dataclass(check) else set()
    if own:
        try:
            changed["check"] = replace(check, **{name: new.pop(name) for name in own})
        except AuditError as problem:
            raise AuditError(f"parameters of relation {relation.name}: {problem}") from None
    given_by_name = {Plain: "perturb", Joint: "rewrite", Chained: "walk"}
    function = next((name for kind, name in given_by_name.items() if isinstance(relation, kind)), None)
    if function and new:
        changed[function] = partial(getattr(relation, function), **new)
    return replace(relation, **changed)


def with_lines(task: str, params: Mapping[str, Mapping[str, object]]) -> dict[str, dict[str, object]]:
    """Return parameters by relation, the lines of a file in the place of its name where a parameter takes a list. For
    callers that may read files, not for what comes from a browser. Raises BadFile."""

    def read(accepts: Mapping[str, tuple[type, ...]], key: str, value: object) -> object:
        if isinstance(value, str) and list in accepts.get(key, ()):
            return [line.strip() for line in read_text(value).splitlines() if line.strip()]
        return value

    return {
        name: {key: read(get_relation(task, name).accepts, key, value) for key, value in values.items()}
        for name, values in params.items()
    }


def base_name(label: str) -> str:
    """Return the name of a relation in a label that says in which version, with which settings, or by its id.

    >>> [base_name(label) for label in ("MR1.1@2 (replaced<=0.15)", "MGMT-word@1#3")]
    ['MR1.1', 'MGMT-word']
    """
    return re.sub(r"(@[^#(]*?)?( \(.*\))?(#\d+)?$", "", label)


def name_order(name: str) -> tuple[tuple[int, str], ...]:
    """Return a sort key that reads numbers as numbers: MR2.1 before MR10.1."""
    return tuple((int(part), "") if part.isdecimal() else (-1, part) for part in re.split(r"(\d+)", name) if part)


def get_relation(task: str, name: str) -> Relation:
    """Return the relation of this name within its task; `typos | upper-case` is the composition of these two. Raises
    UnknownName for a name or a part of one, and AuditError for a composition that cannot be made."""
    if (relation := _registered(task, name)) is not None:
        return relation
    if len(parts := parts_of(name)) > 1:
        return compose(*(get_relation(task, part) for part in parts))
    elsewhere = [other for other in sorted(TASKS) if other != base_of(task) and _key(other, name) in RELATIONS]
    notes = [f"{name!r} belongs to {', '.join(elsewhere)}"] if elsewhere else []
    raise RELATIONS.unknown(name, [registered.name for registered in all_relations(task)], notes)


def stands_for_several(name: str) -> bool:
    """Return whether a name is no relation's own but one of those that stand for several."""
    return name.lower() in (ALL, DEFAULT) or name.lower().startswith(FAMILY)


def relations_named(task: str, names: Sequence[str] | None) -> list[Relation]:
    """Return the relations of a task that names mean, each once, in the order of the names; without names those of a
    run that names none. Raises UnknownName, which lists the relations or the families there are."""
    chosen: dict[str, Relation] = {}
    for name in names or (DEFAULT,):
        meant = _meant(task, name) if stands_for_several(name) else [get_relation(task, name)]
        chosen.update((relation.name, relation) for relation in meant)
    return list(chosen.values())


def _meant(task: str, name: str) -> list[Relation]:
    relations = all_relations(task)
    if name.lower() in (ALL, DEFAULT):
        return [relation for relation in relations if relation.default or name.lower() == ALL]
    family = name[len(FAMILY) :].strip().lower()
    if of_family := [relation for relation in relations if relation.family.lower() == family]:
        return of_family
    raise RELATIONS.unknown(name, sorted({f"{FAMILY}{relation.family}" for relation in relations}))


def find_relation(task: str, name: str) -> Relation | None:
    """Return the relation of this name within its task; None where nobody registered it, or a part of it, or where the
    parts do not compose: an imported run names its own."""
    if len(parts_of(name)) < 2:
        return _registered(task, name)
    try:
        return get_relation(task, name)
    except AuditError:
        return None


def _registered(task: str, name: str) -> Relation | None:
    key = _key(task, name)
    return _of(RELATIONS.get(key), task) if key in RELATIONS else None


def _of(relation: Relation, task: str | None) -> Relation:
    """Return the relation for a task: one with a label scheme is another task than the one it was written for."""
    return relation if task in (None, relation.task) else replace(relation, task=task)
