"""Systems of a team's own that the app may choose: services that a manager described, and functions that whoever
started the app allowed.

A service is a row of `setting` named `system/NAME` with what its TOML file would say; keys are environment variables
that begin with `AUDIT_KEY_`, so that a browser can send no other secret of the server anywhere. Functions are those of
the Python files that `audit app --systems` named: a browser never names a file.
"""

import ast
import os
from functools import partial
from pathlib import Path
from typing import Any, Literal

from sqlalchemy import Engine, select

from audit.errors import AuditError, Refused
from audit.judging.accounts import note, require_manager
from audit.messages import message
from audit.registry import systems as registered
from audit.store import reading, writing
from audit.store.core import setting
from audit.systems import offer_system, offered
from audit.systems.base import System
from audit.tasks import Input, Output
from audit.user_models import read_as

FILES = "AUDIT_SYSTEMS"
"""The variable with the Python files that the app may choose functions of."""
KEYS = "AUDIT_KEY_"
"""Begins the names of environment variables that may be sent to a service as its key."""
PREFIX = "system/"
Kind = Literal["http", "chat"]
Described = dict[str, Any]


def describe(kind: Kind, task: str, url: str, model: str = "", key: str = "") -> Described:
    """Return the description of a service for a task, as its file would have it; `key` names a variable."""
    name = "-".join((model or url.partition("://")[2]).replace("/", " ").replace(":", " ").split())[:60]
    content: Described = {"name": name, "version": "1", "url": url}
    if kind == "chat":
        return content | {"task": task, "model": model} | ({"api_key": f"${{{key}}}"} if key else {})
    return content | {"tasks": [task]} | ({"headers": {"Authorization": f"Bearer ${{{key}}}"}} if key else {})


def made(kind: Kind, content: Described) -> System:
    """Return the system of a description. Raises BadFile for what is wrong with it."""
    from audit.systems.chat import Chat, ChatFile
    from audit.systems.http import Http, HttpFile

    name = str(content["name"])
    if kind == "chat":
        return Chat(name, read_as(ChatFile, content, name))
    return Http(name, read_as(HttpFile, content, name))


def try_system(system: System, item: Input) -> Output:
    """Return what a system says to one input. Raises AuditError where it cannot be asked or what it says is none."""
    if needs := system.needs():
        raise AuditError(needs)
    (output,) = system.run([item])
    return output


def store_system(engine: Engine, kind: Kind, content: Described, *, by: int) -> str:
    """Store a service under its name, with a line in the log; return the name.

    Raises NotAllowed for anyone but a manager, BadFile for what is wrong with it, and Refused where another one has the
    name.
    """
    name, row = made(kind, content).name, {"kind": kind, "content": content}
    with writing(engine) as connection:
        require_manager(connection, by)
        query = select(setting.c.value).where(setting.c.name == f"{PREFIX}{name}")
        stored = connection.execute(query).scalar_one_or_none()
        if stored not in (None, row) or (registered.find(name) is not None and not offered(name)):
            raise Refused(message("own_system.name_taken", name=name))
        if stored is None:
            connection.execute(setting.insert(), {"name": f"{PREFIX}{name}", "value": row})
            note(connection, by, "system added", system=name)
    return name


def offer_stored_systems(engine: Engine) -> dict[str, System]:
    """Let `get_system` find the services of a database by name, in this process; return them."""
    query = select(setting.c.name, setting.c.value).where(setting.c.name.startswith(PREFIX, autoescape=True))
    with reading(engine) as connection:
        rows = {name.removeprefix(PREFIX): row for name, row in connection.execute(query)}
    for name, row in rows.items():
        offer_system(name, partial(made, row["kind"], row["content"]))
    return {name: made(row["kind"], row["content"]) for name, row in rows.items()}


def served_functions() -> list[str]:
    """Return the functions of the files that the app was started with, as `module:name`."""
    specs = []
    for file in filter(None, os.environ.get(FILES, "").split(os.pathsep)):
        body = ast.parse(Path(file).read_text(encoding="utf-8")).body
        kinds = (ast.FunctionDef, ast.ClassDef)
        specs += [f"{Path(file).stem}:{node.name}" for node in body if isinstance(node, kinds) and node.name[0] != "_"]
    return specs


def keys_here() -> list[str]:
    """Return the names of the environment variables that may be a service's key."""
    return sorted(name for name in os.environ if name.startswith(KEYS))
