"""Whether the rows of an export mean something: an export that was sealed anew may hold anything that a table can.

A row that breaks a rule here would end a report, a page or a replay later, far from the line that it came from.
"""

import json
from collections.abc import Callable, Collection, Mapping
from datetime import UTC, datetime
from functools import cache
from typing import Any, get_args

from sqlalchemy import Connection, Table, func, select, tuple_
from sqlmodel import SQLModel

from audit.annotation.accounts import GOLD, ROLES
from audit.annotation.answers import UNSURE, WITHDRAWN
from audit.annotation.causes import CAUSES
from audit.annotation.deferral import BACK, FLAG, SKIP, UNFLAG
from audit.annotation.known import PURPOSES
from audit.annotation.questions import ABOUT_OUTPUTS, labels_of, question_key
from audit.annotation.reasons import REASONS
from audit.keys import digest, uniform
from audit.relations import Outcome
from audit.relations.base import Role
from audit.sampling.designs import DESIGNS, INFORMATIVE
from audit.sampling.domains import DOMAINS
from audit.sampling.protocols import BLIND, PROTOCOLS, SHOWN
from audit.store import group_id, table_of, tables
from audit.tasks import Input, get_task

NAME = 1_000
"""Characters of a name at most: a report that repeats a longer one in every line never ends."""
EARLIEST, LATEST = datetime(1990, 1, 1, tzinfo=UTC), datetime(2200, 1, 1, tzinfo=UTC)
_ORIGINS = ("adjudicated", "people", GOLD)
_NAMES = {
    "study": ("task", "corpus", "fingerprint", "unit"),
    "source": ("row", "cluster"),
    "relation": ("task", "name", "version"),
    "system": ("name", "version"),
    "annotator": ("name", "role", "languages"),
    "input": ("languages",),
    "plan": ("name",),
    "setting": ("name",),
    "log": ("action",),
    "judgement": ("answer", "client"),
}
_WORDS: dict[str, dict[str, Collection[Any]]] = {
    "annotator": {"role": (*ROLES, GOLD)},
    "study": {"unit": ("sentence", "document")},
    "member": {"role": get_args(Role)},
    "verdict": {"outcome": [int(one) for one in Outcome]},
    "audit_draw": {"outcome": [int(one) for one in Outcome]},
    "sample": {"design": (*DESIGNS, INFORMATIVE), "protocol": PROTOCOLS, "domain": DOMAINS},
    "question": {"kind": (*ABOUT_OUTPUTS, "group"), "protocol": (BLIND, SHOWN)},
    "judgement": {"round": range(4)},
    "adjudication": {"code": (*REASONS, None)},
    "answer": {"origin": _ORIGINS},
    "aside": {"kind": (SKIP, FLAG, BACK, UNFLAG)},
    "cause": {"code": tuple(CAUSES)},
    "known": {"purpose": PURPOSES},
}
_RANGES: dict[str, dict[str, tuple[float, float]]] = {
    "study": {"chunk": (1, 1e6), "limit": (1, 1e18)},
    "source": {"u": (0, 1)},
    "sample": {"annotators": (1, 1e6)},
    "question": {"annotators": (1, 1e6), "waits": (0, 1e18), "priority": (0, 1e18)},
    "draw": {"rank": (1, 1e18), "pi": (1e-300, 1)},
    "audit_draw": {"rank": (1, 1e18)},
    "audit": {"groups": (0, 1e18), "follow_ups": (0, 1), "answers": (0, 1)},
    "output": {"attempt": (1, 1e4)},
    "member": {"step": (0, 1e4)},
    "progress": {"chunk": (0, 1e18)},
    "plan": {"version": (1, 1e9)},
}
_OBJECTS = {"source": ("attributes",), "log": ("detail",), "plan": ("content",)}
_JSON = {"relation": "params", "system": "settings"}
_ANSWERED = ("judgement", "adjudication", "answer", "known")


class Meaning:
    """The rules of rows, each of which may ask for rows that came before it."""

    def __init__(self, connection: Connection):
        self._connection = connection
        self._question = cache(self._read(tables.Question, "task", "kind"))
        self._study = cache(self._read(tables.Study, "seed", "task"))
        self._labels = cache(labels_of)

    def check(self, table: str, row: Mapping[str, Any]) -> None:
        """Raises ValueError that says what of a row cannot be, as a part of a sentence; AuditError for a name."""
        for name in _NAMES.get(table, ()):
            if len(row.get(name) or "") > NAME:
                raise ValueError(f"column {name} has {len(row[name]):,} characters, at most {NAME:,} are allowed")
        for name, words in _WORDS.get(table, {}).items():
            if name in row and row[name] not in words:
                allowed = ", ".join("nothing" if one is None else str(one) for one in words)
                raise ValueError(f"column {name} is {str(row[name])[:40]!r}; allowed are {allowed}")
        for name, (least, most) in _RANGES.get(table, {}).items():
            value = row.get(name)
            if value is not None and not least <= value <= most:
                raise ValueError(f"column {name} is {value}; allowed is {least:g} to {most:g}")
        for name, value in row.items():
            if isinstance(value, datetime) and not EARLIEST <= value < LATEST:
                raise ValueError(f"column {name} is {value.isoformat()}; allowed are the years 1990 to 2199")
        for name in _OBJECTS.get(table, ()):
            if name in row and not isinstance(row[name], dict):
                raise ValueError(f"column {name} is no object in JSON")
        if spelled := _JSON.get(table):
            try:
                value = json.loads(row.get(spelled, "{}"))
            except (ValueError, RecursionError):
                value = None
            if not isinstance(value, dict):
                raise ValueError(f"column {spelled} is no object in JSON")
        if "task" in row:
            get_task(row["task"])
        if table in _ANSWERED:
            self._check_labels(table, row)
        rules = {
            "input": self._input,
            "study": self._its_key,
            "source": self._u,
            "group": self._id,
            "question": self._asked,
        }
        if rule := rules.get(table):
            rule(row)

    def _input(self, row: Mapping[str, Any]) -> None:
        texts = row["texts"]
        if not isinstance(texts, list) or not texts or not all(isinstance(one, str) for one in texts):
            raise ValueError("column texts is no list of texts")
        _fits("key", row["key"], Input.stored(texts, row["languages"]).key)

    def _its_key(self, row: Mapping[str, Any]) -> None:
        if not row.get("imported"):
            parts = (row["task"], row["corpus"], row["fingerprint"], row["unit"], str(row["seed"]), str(row["limit"]))
            _fits("key", row["key"], digest(*parts))

    def _u(self, row: Mapping[str, Any]) -> None:
        study = self._study(row["study_id"])
        if study is not None:  # else the database refuses it
            _fits("u", row["u"], uniform(study[0], row["row"]))

    def _id(self, row: Mapping[str, Any]) -> None:
        _fits("id", row["id"], group_id(row["source_id"], row["relation_id"], row["system_id"]))

    def _asked(self, row: Mapping[str, Any]) -> None:
        if row["kind"] != "group":
            given = self._read(tables.Input, "key")(row["input_id"])
            if given is not None:
                _fits("key", row["key"], question_key(row["task"], row["kind"], bytes(given[0]), row["output"]))

    def _check_labels(self, table: str, row: Mapping[str, Any]) -> None:
        question = self._question(row["question_id"])
        if question is None:
            return  # the database refuses it
        allowed = self._labels(*question)
        if table == "judgement":
            labels = [row["answer"]]
            allowed = (*allowed, UNSURE, WITHDRAWN)
        else:
            labels = row["allowed"]
            if not isinstance(labels, list):
                raise ValueError("column allowed is no list of labels")
        for label in labels:
            if label not in allowed:
                raise ValueError(f"the label {str(label)[:40]!r} is not one of {', '.join(allowed)}")

    def _read(self, model: type[SQLModel], *columns: str) -> Callable[[int], Any]:
        table = table_of(model)
        query = select(*(table.c[name] for name in columns))
        return lambda id: self._connection.execute(query.where(table.c.id == id)).first()


def lost_group(connection: Connection) -> tuple[str, int] | None:
    """A table with a row whose group is not there, which no database refuses by itself, and that row's place in the
    order of the key, from 1; None where there is none."""
    group = table_of(tables.Group)
    for table in SQLModel.metadata.sorted_tables:
        column = table.columns.get("group_id")
        if column is None or column.foreign_keys:
            continue
        keys = tuple_(*table.primary_key.columns)
        known = select(group.c.id).where(group.c.id == column).exists()
        query = select(*table.primary_key.columns).where(column.is_not(None), ~known)
        row = connection.execute(query.order_by(*table.primary_key.columns).limit(1)).first()
        if row is not None:
            return table.name, _place(connection, table, keys <= tuple_(*row))
    return None


def _place(connection: Connection, table: Table, until: Any) -> int:
    return int(connection.execute(select(func.count()).select_from(table).where(until)).scalar_one())


def _fits(column: str, value: Any, content: Any) -> None:
    if value != content:
        raise ValueError(f"column {column} does not fit the content of the row")
