"""How commands are declared: a function whose parameters say what they are for (`Told`), or are options models.

@command("gold", JUDGE, "audit gold --db mine.db")
def gold(db: Database = DATABASE, study: Study = None) -> Reply: ...
"""

import os
import re
from collections.abc import Callable, Sequence
from functools import cached_property, partial, wraps
from inspect import Parameter, Signature, signature
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin

import typer
from typer.core import TyperCommand

from audit.cli.console import Reply, answer
from audit.errors import AuditError, BadFile
from audit.options import Option, Told, spread

START, JUDGE, STUDY, INSPECT, PEOPLE, PUBLISH, DATA = PANELS = (
    "Start here",
    "Judge",
    "Study",
    "Inspect and measure",
    "People",
    "Publish and keep",
    "Data and models",
)
_SPELLED = {"parameters": "--set", "price_per_hour": "--price", "renamed": "--map", "slices": "--slice"}
"""Parameters whose options have another name."""
_LARGEST = (1 << 63) - 1

Function = TypeVar("Function", bound=Callable[..., "Reply | None"])


class Read(str):
    """The name of a file or folder that a command reads."""


class Written(str):
    """The name of a file or folder that a command writes: none that it reads, and no database."""


class Names(list[Any]):
    """A list given with commas."""


class Db(str):
    """The name of a database: a path or a URL."""

    def open(self, create: bool = False) -> Any:
        """Return its engine: `audit.store.open_store`."""
        from audit.store import open_store

        return open_store(self, create=create)

    @cached_property
    def engine(self) -> Any:
        return self.open()


DATABASE = Db("audit.db")
Database = Annotated[Db, Told("a path, or an SQLAlchemy URL of SQLite or PostgreSQL", "PATH|URL", "--db")]
Study = Annotated[int | None, Told("one study of the database (default: all)", "ID")]
Task = Annotated[str | None, Told("the task, where the database has several", "NAME")]
Workers = Annotated[int | None, Told("processes (default: one per core; 0: this process)", "N")]
Html = Annotated[Written | None, Told("write one self-contained HTML file", "FILE")]
Columns = Annotated[
    Sequence[str],
    Told("of a file with other names: ours=theirs; label=A+B: one an annotator", "ours=theirs", commas=True),
]
_AS_JSON = Annotated[bool, Told("one JSON document on stdout, nothing else there", spelled="--json")]


def names(text: str | Names, kind: Callable[[str], Any] = str) -> Names:
    """Read a list given with commas.

    >>> names("vader, textblob")
    ['vader', 'textblob']
    """
    if isinstance(text, Names):
        return text  # a default
    if not (parts := [part.strip() for part in text.split(",") if part.strip()]):
        raise typer.BadParameter("expected one or more names with commas between them")
    return Names(map(kind, parts))


def _parameter(option: Option) -> Parameter:
    """Return the parameter that typer makes an option or argument of the command line of."""
    told, default, (annotated, *_) = option.told, option.default, get_args(option.kind)
    of_union = get_origin(annotated) in (Union, UnionType)
    kinds = [kind for kind in (get_args(annotated) if of_union else [annotated]) if kind is not type(None)]
    kind: Any = Read if told.file else str if len(kinds) > 1 else kinds[0]
    parser, metavar = kind if kind in (Read, Written, Db) else None, told.metavar
    spelled = [told.spelled] if told.spelled else []
    required = default is Parameter.empty
    if told.file:
        default = None
    elif told.commas:
        parser = partial(names, kind=float if float in get_args(kind) else str)
        kind, default = Names, default if default is None or required else Names()
    elif get_origin(kind) not in (None, Literal):
        kind, default = list[str], default if required else []
    elif kind is bool:
        spelled, metavar = spelled or [f"--{option.name.replace('_', '-')}"], ""  # and no --no-...
    kind = str if kind in (Read, Written, Db) else kind
    shown: dict[str, Any] = {"parser": parser, "metavar": metavar, "help": told.help, "show_default": not told.argument}
    parameter = typer.Argument(**shown) if told.argument else typer.Option(*spelled, **shown)
    annotation = Annotated[kind | None if default is None else kind, parameter]  # type: ignore[valid-type]
    return Parameter(option.name, Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


# Commands.


class Command(TyperCommand):
    """A command whose values are checked before it works."""

    def invoke(self, ctx: Any) -> Any:
        from audit.cli import working

        for param in self.params:
            value = ctx.params[param.name]
            for word in value if isinstance(value, list) else [value]:
                if isinstance(word, str) and not word.strip():
                    raise AuditError(f"{spelling(param)} is empty; give it a value, or leave it out")
                if isinstance(word, int | float) and not abs(word) <= _LARGEST:
                    raise AuditError(f"{spelling(param)} {word}: is not a number, or too large a one")
        check_outputs(ctx.params)
        with working():
            return super().invoke(ctx)


app = typer.Typer(
    name="audit",
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # to load rich takes longer than all else that a page of help needs
    context_settings={"help_option_names": ["--help", "-h"]},
)
_GROUPS: dict[str, typer.Typer] = {}


def group(name: str, panel: str, about: str) -> None:
    """Declare a group of commands; the first line of what it is about stands in the overview."""
    _GROUPS[name] = typer.Typer()
    app.add_typer(_GROUPS[name], name=name, **_described(about), rich_help_panel=panel)


def command(name: str, panel: str, *examples: str) -> Callable[[Function], Function]:
    """Declare a function as a command: its name (`user add` is in the group `user`) and examples.

    Its docstring is the description, the first line of it the line in the overview. One that returns a `Reply` gets
    the option `--json`.
    """

    def declare(function: Function) -> Function:
        first, _, second = name.partition(" ")
        (_GROUPS[first] if second else app).command(
            second or first,
            cls=Command,
            **_described(function.__doc__ or ""),
            epilog="\n\n".join(f"Example: {example}" for example in examples),
            rich_help_panel=panel if not second else None,
        )(_answering(function))
        return function

    return declare


def _described(text: str) -> dict[str, Any]:
    paragraphs = [" ".join(paragraph.split()) for paragraph in text.split("\n\n")]
    return {"help": "\n\n".join(paragraphs), "short_help": paragraphs[0].removesuffix(".")}


def _answering(function: Callable[..., Reply | None]) -> Any:
    """Return a function of typer's parameters that prints its reply, as JSON with `as_json`, and returns the status."""
    spreading = spread(function, _parameter)
    parameters = [_of_shell(parameter) for parameter in signature(spreading).parameters.values()]
    parameters.sort(key=lambda parameter: parameter.default is not Parameter.empty)
    if function.__annotations__.get("return") is Reply:
        as_json = Parameter("as_json", Parameter.KEYWORD_ONLY, default=False, annotation=_AS_JSON)
        parameters.append(_of_shell(as_json))

    @wraps(function)
    def run(as_json: bool = False, **values: Any) -> int | None:
        reply = spreading(**values)
        if not isinstance(reply, Reply):
            return None
        answer(reply, as_json, values.get("db"))
        return reply.status

    run.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return run


def _of_shell(parameter: Parameter) -> Parameter:
    told = next((part for part in get_args(parameter.annotation) if isinstance(part, Told)), None)
    if told is None:
        return parameter  # typer's already
    return _parameter(Option(parameter.name, parameter.annotation, told, parameter.default))


def options_in_words(options: Any, usual: Any, *fields: str) -> list[str]:
    """Return those fields of options that are not the usual ones as they are typed."""
    words: list[str] = []
    for name in fields:
        value = getattr(options, name)
        if value != getattr(usual, name):
            pairs = [f"{of}={number}" for of, number in value.items()] if isinstance(value, dict) else [str(value)]
            words += [as_options(name, name), ",".join(pairs)]
    return words


# Mistakes in words.


def spelling(param: Any) -> str:
    """Return how a parameter is written on the command line: `--annotators`, or FILE."""
    return str(param.opts[0] if param.param_type_name == "option" else param.metavar or param.name)


def wording(problem: Any) -> str:
    """Return what typer found wrong on the command line, as one sentence."""
    see = f"; see `{problem.ctx.command_path} --help`" if getattr(problem, "ctx", None) is not None else ""
    return " ".join(problem.format_message().split()).rstrip(".") + see


def as_options(sentence: str, *parameters: str) -> str:
    """Return a sentence of the library with the parameters that it names as options.

    >>> as_options("say per_relation=5, or share", "per_relation", "share")
    'say --per-relation 5, or --share'
    """
    for name in parameters:
        option = _SPELLED.get(name) or "--" + name.replace("_", "-")
        valued = f"{name}=" in sentence  # then the word alone means something else: "workers were lost; try workers=1"
        end = "=" if valued else r"(?!\w|[./-]\w)"
        sentence = re.sub(rf"(?<![\w./'-]){name}{end}", option + " " * valued, sentence)
    return sentence


def check_outputs(values: dict[str, Any]) -> None:
    """Raise BadFile for an output that is an input of the command, a database, or a device."""
    from audit.files import read_bytes
    from audit.new_files import refuse_special

    paths = [path for value in values.values() for path in (value if isinstance(value, list | tuple) else [value])]
    inputs = [os.path.realpath(path) for path in paths if isinstance(path, Read)]
    database = os.path.realpath(str(values.get("db") or "").removeprefix("sqlite:///"))
    for output in (Path(path) for path in paths if isinstance(path, Written)):
        refuse_special(output)
        if os.path.realpath(output) in inputs:
            raise BadFile(f"{output} is read by this command, and would be overwritten; name another file")
        is_database = os.path.isfile(output) and read_bytes(output, 15) == b"SQLite format 3"
        if is_database or os.path.realpath(output) == database:
            raise BadFile(f"{output} is a database, and would be destroyed; name another file")
