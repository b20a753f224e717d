"""Plans as TOML: reading a file or an upload, and writing one."""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from audit.errors import BadFile
from audit.files import read_bytes, toml_of
from audit.resources import data_file
from audit.studies.plan import TABLES, Plan, read_plan

LARGEST = 1_000_000
"""Bytes of a plan's file; a plan has about a thousand."""
_BARE = re.compile(r"[A-Za-z0-9_-]+")


def read_plan_file(path: str | Path) -> Plan:
    """The plan in a file. Raises BadFile: absent, unreadable, too large, and what `read_plan_bytes` raises."""
    return read_plan_bytes(read_bytes(path, LARGEST + 1), str(path))


def read_plan_bytes(content: bytes, file: str, registered_only: bool = False) -> Plan:
    """The plan in the bytes of a file; `registered_only` as in `read_plan`.

    UTF-8 with or without byte order mark. Raises BadFile for what is too large, empty, in another encoding or no TOML
    (line and column), and for every mistake in it.
    """
    if len(content) > LARGEST:
        raise BadFile(f"{file}: the file has more than {LARGEST:,} bytes; a plan has about a thousand")
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise BadFile(f"{file}: the file is UTF-16; save it as UTF-8")
    if b"\0" in content:
        raise BadFile(f"{file}: the file is no text (it has a NUL byte); a plan is TOML, see `audit study example`")
    try:
        written = content.decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        line = content[: problem.start].count(b"\n") + 1
        raise BadFile(f"{file}, line {line}: byte {problem.start:,} is not UTF-8; save the file as UTF-8") from None
    if not written.strip():
        raise BadFile(f"{file}: the file is empty; `audit study example` writes one to begin with")
    return read_plan(toml_of(file, written, "see `audit study example`"), file, registered_only)


def to_toml(plan: Plan) -> str:
    """The plan as a TOML file that reads as the same plan.

    >>> print(to_toml(Plan("p", study={"corpus": "imdb", "limit": None, "set": {"MR6.1": {"sentences": 5}}})), end="")
    name = "p"
    <BLANKLINE>
    [study]
    corpus = "imdb"
    <BLANKLINE>
    [study.set."MR6.1"]
    sentences = 5
    """
    lines = [f"name = {spelled(plan.name)}"]
    for table in TABLES:
        values: Mapping[str, Any] = getattr(plan, table)
        plain = {key: value for key, value in values.items() if value is not None and not isinstance(value, Mapping)}
        if plain:
            lines += ["", f"[{table}]", *(f"{key} = {spelled(value)}" for key, value in plain.items())]
        for key, value in values.items():
            for name, inner in value.items() if isinstance(value, Mapping) else ():
                lines += ["", f"[{table}.{key}.{_key(name)}]"]
                lines += [f"{_key(one)} = {spelled(other)}" for one, other in inner.items()]
    return "\n".join(lines) + "\n"


def spelled(value: Any) -> str:
    """A value as TOML writes it.

    >>> spelled(True), spelled(0.1), spelled(["a", "b"])
    ('true', '0.1', '["a", "b"]')
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(spelled, value))}]"
    if isinstance(value, str):
        # JSON's escapes are TOML's but for this one character, which TOML does not take as it is.
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    return repr(value)


def _key(name: str) -> str:
    return name if _BARE.fullmatch(name) else spelled(name)


def example() -> str:
    """A plan with every key and what it means, to begin with."""
    return data_file("plans/example.toml").read_text(encoding="utf-8")
