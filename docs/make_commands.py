"""Writes docs/commands.md from the commands themselves: `python docs/make_commands.py`."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from audit.cli import application
from audit.cli.options import PANELS, spelling

PAGE = Path(__file__).with_name("commands.md")
JSON = Path(__file__).parent / "reference" / "json.md"
INTRODUCTION = """# Commands

Written by `docs/make_commands.py` from the commands; `audit COMMAND --help` says the same. What files
look like is in [file formats](formats.md), what `--json` answers in [JSON](reference/json.md).

The usual way is `run`, `plan`, `sample`, `gold`, `app`, `report`; `demo` does it all on reviews that come along.

For all commands:

- `python -m audit COMMAND` is the same, where `audit` is not on the path.
- `audit --plugin MODULE COMMAND` imports a module first, which registers relations, systems, corpora or tasks of your
  own; it may be given several times.
- `--db` takes a path or an SQLAlchemy URL of SQLite or PostgreSQL (`postgresql+psycopg://user@host/name`; install
  `audit[postgres]`). The default is `audit.db` in the current directory. Only `demo`, `run`, `import-run`, `import`,
  `study set` and `study run FILE` make a database.
- `--json` writes one JSON document to stdout and nothing else there; progress, remarks and what your own systems print
  go to stderr.
- The exit status is 0; or 1 where `doctor` or `replay` found a problem, or a condition of `compare`
  holds; or 2 after a mistake, with one sentence on stderr (rows of a file that are wrong are listed, ten at most); or 3
  where `run` stopped at a limit of requests or money; or 4 where `compare` cannot decide a condition; or 130 where it
  was stopped by Ctrl-C.
- Rates are fractions, what is not known is `null`.
"""


def commands() -> Iterator[tuple[str, str, Any]]:
    """(panel, name, command) of every command and group, a group before its own: `user`, `user add`."""
    top = application().commands
    for panel in PANELS:
        for name, command in top.items():
            if command.rich_help_panel == panel:
                yield panel, name, command
                yield from ((panel, f"{name} {inner}", one) for inner, one in getattr(command, "commands", {}).items())


def section(name: str, command: Any, answers: str) -> str:
    """What the page says of one command."""
    blocks = [f"### `audit {name}`", _linked(command.help)]
    if not hasattr(command, "commands") or command.params:  # a group may be a command, too
        arguments = [
            spelling(param) if param.required else f"[{spelling(param)}]"
            for param in command.params
            if param.param_type_name == "argument"
        ]
        required = [_called(param) for param in command.params if param.param_type_name == "option" and param.required]
        optional = any(param.param_type_name == "option" and not param.required for param in command.params)
        usage = ["audit", name, *arguments, *required, *(["[OPTIONS]"] if optional else [])]
        blocks.append(f"Usage: `{' '.join(usage)}`")
    if command.params:
        rows = [f"| `{_called(param)}` | {_linked(told(param))} |" for param in command.params]
        rows = [row[0] + row[1:-1].replace("|", r"\|").replace(r" \| ", " | ") + row[-1] for row in rows]
        blocks.append("\n".join(["| option | is |", "|---|---|", *rows]))
    if command.epilog:
        blocks.append("\n".join(f"    {line.removeprefix('Example: ')}" for line in command.epilog.split("\n\n")))
    if re.search(rf"^## `audit {name}`$", answers, re.MULTILINE):
        blocks.append(f"[What `--json` answers](reference/json.md#audit-{name.replace(' ', '-')})")
    return "\n\n".join(blocks)


def _linked(help: str) -> str:
    """The help with `(docs/FOLDER/NAME.md)` as a link to the page."""
    return re.sub(r"\(docs/((?:[\w-]+/)*)([\w-]+)\.md\)", r"([\2](\1\2.md))", help)


def value_of(param: Any) -> str:
    """What a value of a parameter is called, or which there are; nothing for flags and arguments."""
    if param.param_type_name == "argument" or getattr(param, "is_flag", False):
        return ""
    choices = param.type_descriptor.choices
    return "|".join(map(str, choices)) if choices else str(param.metavar or "")


def told(param: Any) -> str:
    """The help of a parameter, with its default."""
    shown = param.default not in (None, "", []) and param.default is not False
    return str(param.help) + (f" (default: {param.default})" if shown else " (required)" if param.required else "")


def _called(param: Any) -> str:
    return f"{spelling(param)} {value_of(param)}".strip()


def page() -> str:
    """The whole page."""
    answers = JSON.read_text(encoding="utf-8")
    blocks, last = [INTRODUCTION.rstrip("\n")], None
    for panel, name, command in commands():
        if panel != last:
            blocks.append(f"## {panel}")
        last = panel
        blocks.append(section(name, command, answers))
    return "\n\n".join(blocks) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
