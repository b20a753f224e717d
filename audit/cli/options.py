"""How commands are declared: the app, its options and their types, and what is checked before a command works."""

import inspect
import math
import os
import re
from collections.abc import Callable, Iterator, Sequence
from functools import wraps
from itertools import pairwise
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import typer
from typer.core import TyperCommand, TyperGroup

from audit.cli.console import Reply, answer
from audit.errors import AuditError, BadFile
from audit.options import Option, spread

DATABASE = "audit.db"
START, JUDGE, STUDY, INSPECT, PEOPLE, PUBLISH, DATA = PANELS = (
    "Start here",
    "Judge",
    "Study",
    "Inspect and measure",
    "People",
    "Publish and keep",
    "Data and models",
)
_LARGEST = (1 << 63) - 1
_BESIDE = ("-wal", "-shm", "-journal")
"""What SQLite keeps beside a database's file, under its name and these."""
_SPELLED = {"parameters": "--set", "price_per_hour": "--price", "renamed": "--map", "slices": "--slice"}
"""Parameters whose options have another name."""
_MAGIC = b"SQLite format 3\0"


class Missing(AuditError):
    """None of some options is there, one of which a command needs."""


class Read(str):
    """The name of a file or folder that a command reads."""


class Written(str):
    """The name of a file or folder that a command writes. None that it reads, and no database."""


class Names(list[Any]):
    """A list given with commas."""


NONE = Names()


def reads(text: str) -> Read:
    """The type of an option or argument that names what is read; an empty name is refused."""
    return Read(_named(text))


def writes(text: str) -> Written:
    """The type of an option that names what is written; an empty name is refused."""
    return Written(_named(text))


def _named(text: str) -> str:
    if not text.strip():
        raise typer.BadParameter("the name is empty; name a file or folder, or leave it out")
    return text


def names(text: str | Names) -> Names:
    """A list given with commas.

    >>> names("vader, textblob")
    ['vader', 'textblob']
    """
    if isinstance(text, Names):
        return text  # a default
    parts = Names(part.strip() for part in text.split(",") if part.strip())
    if not parts:
        raise typer.BadParameter("expected one or more names with commas between them")
    return parts


def whole(text: str | int) -> int:
    """A whole number that a database can hold (63 bits and a sign).

    >>> whole("12")
    12
    """
    try:
        number = int(text)
    except ValueError:
        raise typer.BadParameter(f"{str(text)[:40]!r} is not a whole number") from None
    if abs(number) > _LARGEST:
        raise typer.BadParameter(f"{str(text)[:40]!r} is too large a number; at most {_LARGEST} is allowed")
    return number


def fraction(text: str | float) -> float:
    """A number such as 0.01.

    >>> fraction("0.01")
    0.01
    """
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise typer.BadParameter(f"{str(text)[:40]!r} is not a number such as 0.01")
    return number


def language(text: str) -> str:
    """The code of a language.

    >>> language("pt-BR")
    'pt-BR'
    """
    from audit.text.languages import is_code

    if not is_code(text):
        raise typer.BadParameter(f"{text[:40]!r} is no code of a language such as en, zh or pt-BR")
    return text


def _each(kind: Callable[[str], Any]) -> Callable[[str | Names], Names]:
    return lambda text: text if isinstance(text, Names) else Names(kind(part) for part in names(text))


def _option(parser: Callable[[Any], Any] | None) -> Callable[..., Any]:
    """What makes options of a type from their help, the name of their value, and their own names if others."""

    def option(help: str, metavar: str | None = None, *spelled: str) -> Any:
        return typer.Option(*spelled, parser=parser, metavar=metavar, help=help)

    return option


text, chosen = _option(None), _option(None)
whole_number, decimal, listed = _option(whole), _option(fraction), _option(names)
read_from, written_to = _option(reads), _option(writes)
language_code, language_codes = _option(language), _option(_each(language))
numbered, decimals = _option(_each(whole)), _option(_each(fraction))


def flag(spelled: str, help: str) -> Any:
    """An option without a value."""
    return typer.Option(spelled, help=help, metavar="")


def place(metavar: str, help: str) -> Any:
    """An argument that names what is read."""
    return typer.Argument(parser=reads, metavar=metavar, help=help, show_default=False)


def new_place(metavar: str, help: str) -> Any:
    """An argument that names what is written."""
    return typer.Argument(parser=writes, metavar=metavar, help=help, show_default=False)


def name_of(metavar: str, help: str) -> Any:
    """An argument that names something in a database."""
    return typer.Argument(metavar=metavar, help=help, show_default=False)


Database = Annotated[str, text("a path, or an SQLAlchemy URL of SQLite or PostgreSQL", "PATH|URL", "--db")]
AsJson = Annotated[bool, flag("--json", "one JSON document on stdout, nothing else there")]
Study = Annotated[int | None, whole_number("one study of the database (default: all)", "ID")]
Task = Annotated[str | None, text("the task, where the database has several", "NAME")]
Answers = Annotated[Literal["gold", "people", "both"], chosen("whose answers count")]
Workers = Annotated[int | None, whole_number("processes (default: one per core; 0: this process)", "N")]
Html = Annotated[str | None, written_to("write one self-contained HTML file", "FILE")]
Pdf = Annotated[str | None, written_to("write the same as a PDF, all of it open", "FILE")]


def _shell_option(option: Option) -> inspect.Parameter:
    """The parameter that typer makes an option of the command line of."""
    told, default, (kind, *_) = option.told, option.default, get_args(option.kind)
    kinds = [each for each in get_args(kind) or (kind,) if each is not type(None)]
    spelled = [told.spelled] if told.spelled else []
    annotation: Any
    if told.commas:
        annotation = Annotated[Names | None, listed(told.help, told.metavar, *spelled)]
        default = default or (None if default is None else NONE)
    elif told.file:
        annotation, default = Annotated[str | None, read_from(told.help, told.metavar, *spelled)], None
    elif get_origin(kind) is Literal or any(get_origin(each) is Literal for each in kinds):
        annotation = Annotated[kind, chosen(told.help)]
    elif len(kinds) > 1 and get_origin(kind) in (Union, UnionType):  # a text, of which the options make what they take
        annotation = Annotated[str | None, text(told.help, told.metavar, *spelled)]
    elif kinds == [bool]:
        annotation = Annotated[bool, flag(f"--{option.name.replace('_', '-')}", told.help)]
    elif kinds == [str] and get_origin(kind) is not Sequence:
        language = option.name == "language"
        annotation = Annotated[kind, (language_code if language else text)(told.help, told.metavar, *spelled)]
    elif kinds[0] in (int, float):
        number = whole_number if kinds[0] is int else decimal
        annotation = Annotated[kind, number(told.help, told.metavar, *spelled)]
    else:
        annotation, default = Annotated[list[str], text(told.help, told.metavar, *spelled)], NONE
    return inspect.Parameter(option.name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


class Command(TyperCommand):
    """A command whose values are checked before it works."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        _refuse_missing_values(self, args)
        return super().parse_args(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        from audit.cli import working

        for param in self.params:
            values = ctx.params[param.name]
            for value in values if isinstance(values, list | tuple) else [values]:
                if isinstance(value, str) and not value.strip() and param.name != "explanation":
                    raise AuditError(f"{spelling(param)} is empty; give it a value")
        check_outputs(ctx.params)
        try:
            with working():
                return super().invoke(ctx)
        except Missing as missing:
            raise AuditError(f"{missing}{_see(ctx)}{_example(ctx)}") from None


class Group(TyperGroup):
    """Commands, whose own options need no pydantic: typer loads it to convert None, 0.1 s for a page of help."""

    def get_help_option(self, ctx: Any) -> Any:
        if (option := super().get_help_option(ctx)) is not None:
            option.default = False
        return option


def _refuse_missing_values(command: TyperCommand, args: list[str]) -> None:
    """`--html --json` leaves a value out; a value that begins with a dash is given as in `--html=--json`."""
    options = [param for param in command.params if param.param_type_name == "option"]
    valued = {name for param in options if not getattr(param, "is_flag", False) for name in param.opts}
    for option, value in pairwise(args):
        if option == "--":
            return
        if option in valued and re.match(r"--?[A-Za-z]", value) and " " not in value:
            raise AuditError(f"{option} needs a value, and {value[:40]} is an option; write {option}={value[:40]}")


Function = Callable[..., "Reply | int | None"]
app = typer.Typer(
    name="audit",
    cls=Group,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # to load rich takes longer than all else that a page of help needs
    context_settings={"help_option_names": ["--help", "-h"]},
)
_GROUPS: dict[str, typer.Typer] = {}


def group(name: str, panel: str, help: str, about: str) -> None:
    """Declare a group of commands: its name, its line in the overview, and what it is about."""
    _GROUPS[name] = typer.Typer(cls=Group)
    app.add_typer(_GROUPS[name], name=name, help=about, short_help=help, rich_help_panel=panel)


def listing(name: str, panel: str, help: str, *examples: str) -> Callable[[Function], Function]:
    """Declare a group of commands, and the function that it is without one of them, as `command` does."""

    def declare(function: Function) -> Function:
        answering = _answering(function)

        @wraps(answering)
        def unless_one_of_its_commands(context: typer.Context, **values: Any) -> int | None:
            return None if context.invoked_subcommand else answering(**values)  # type: ignore[return-value]

        signature = inspect.signature(answering)
        context = inspect.Parameter("context", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=typer.Context)
        unless_one_of_its_commands.__signature__ = signature.replace(  # type: ignore[attr-defined]
            parameters=[context, *signature.parameters.values()]
        )
        unless_one_of_its_commands.__annotations__ = answering.__annotations__ | {"context": typer.Context}
        about = "\n\n".join(" ".join(paragraph.split()) for paragraph in (function.__doc__ or "").split("\n\n"))
        _GROUPS[name] = typer.Typer(cls=Group, invoke_without_command=True)
        _GROUPS[name].callback(invoke_without_command=True)(unless_one_of_its_commands)
        app.add_typer(
            _GROUPS[name],
            name=name,
            help=about,
            short_help=help,
            epilog="\n\n".join(f"Example: {example}" for example in examples),
            rich_help_panel=panel,
        )
        return function

    return declare


def command(name: str, panel: str, help: str, *examples: str) -> Callable[[Function], Function]:
    """Declare a function as a command: its name (`user add` is in the group `user`), its line in the overview, and
    examples. Its docstring is the description. One that returns a `Reply` gets the option `--json`."""

    def declare(function: Function) -> Function:
        first, _, second = name.partition(" ")
        paragraphs = (function.__doc__ or "").split("\n\n")
        (_GROUPS[first] if second else app).command(
            second or first,
            cls=Command,
            help="\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs),
            short_help=help,
            epilog="\n\n".join(f"Example: {example}" for example in examples),
            rich_help_panel=panel if not second else None,
        )(_answering(function))
        return function

    return declare


def _answering(function: Function) -> Function:
    """A function that says its reply, as JSON with its last parameter `as_json`, and returns the status; the fields of
    its options are options of the command."""
    function = spread(function, _shell_option)
    signature = inspect.signature(function)
    own = "as_json" in signature.parameters
    if Reply not in (signature.return_annotation, *get_args(signature.return_annotation)):
        return function

    @wraps(function)
    def run(as_json: bool = False, **values: Any) -> int | None:
        reply = function(**values, **{"as_json": as_json} if own else {})
        if not isinstance(reply, Reply):
            return reply
        answer(reply, as_json)
        return reply.status

    last = inspect.Parameter("as_json", inspect.Parameter.KEYWORD_ONLY, default=False, annotation=AsJson)
    parameters = [*signature.parameters.values(), *[last] * (not own)]
    run.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    run.__annotations__ = function.__annotations__ | {"as_json": AsJson}
    return run


def spelling(param: Any) -> str:
    """How a parameter is written on the command line: `--per-relation`, or FILE."""
    return str(param.opts[0] if param.param_type_name == "option" else param.metavar or param.name)


def wording(problem: Any) -> str:
    """What typer found wrong on the command line, as one sentence."""
    context, param = getattr(problem, "ctx", None), getattr(problem, "param", None)
    if hasattr(problem, "possibilities"):
        close = next(iter(problem.possibilities or ()), None)
        return f"there is no option {problem.option_name}" + (f"; did you mean {close}?" if close else _see(context))
    if hasattr(problem, "param_type") and param is not None:
        return f"{spelling(param)} is missing{_see(context)}{_example(context)}"
    said = str(problem.message).removeprefix("Value error, ").removeprefix("Got ").rstrip(".")
    said = said.replace("Option ", "the option ", 1).replace("extra argument(s)", "arguments", 1)
    return f"{spelling(param)}: {said}{_see(context)}" if param is not None else f"{said}{_see(context)}"


def shell_wording(mistake: AuditError) -> str:
    """The sentence of an error with its parameters as options.

    >>> shell_wording(AuditError("say per_relation=5, or share", parameter=("per_relation", "share")))
    'say --per-relation 5, or --share'
    """
    return as_options(str(mistake), *mistake.parameters)


def as_options(sentence: str, *parameters: str) -> str:
    """A sentence of the library with the parameters that it names as options."""
    for name in parameters:
        option = _SPELLED.get(name) or "--" + name.replace("_", "-")
        valued = f"{name}=" in sentence  # then the word alone means something else: "workers were lost; try workers=1"
        sentence = re.sub(
            rf"(?<![\w./'-]){name}" + ("=" if valued else r"(?!\w|[./-]\w)"), option + " " * valued, sentence
        )
    return sentence


def _see(context: Any) -> str:
    return f"; see `{context.command_path} --help`" if context is not None else ""


def _example(context: Any) -> str:
    first = (context.command.epilog or "").partition("\n\n")[0] if context is not None else ""
    return f", for example `{first.removeprefix('Example: ')}`" if first else ""


def open_database(database: str, create: bool = False) -> Any:
    """The engine of a database, which is opened when a command first needs it: `audit.store.open_store`."""
    from audit.store import open_store

    return open_store(database, create=create)


def exclusive(*options: tuple[str, object], required: bool = False) -> None:
    """Raise AuditError where more than one of some options is given, `Missing` for none where one is required."""
    present = [option for option, value in options if value is not None and value is not False]
    listed = " and ".join(option for option, _ in options)
    if len(present) > 1:
        raise AuditError(f"{listed} exclude each other; give one of them")
    if required and not present:
        raise Missing(f"one of {listed} is required")


def check_outputs(values: dict[str, Any]) -> None:
    """Raise BadFile for an output that is an input of the command, its database, a part of any, or a device."""
    from audit.new_files import refuse_special

    database = str(values.get("db") or "")
    if database.endswith(_BESIDE) and _holds_database(Path(database)):
        raise BadFile(f"--db {database} belongs to the database beside it; name another file")
    outputs = [Path(value) for value in _each_of(values) if isinstance(value, Written)]
    if not outputs:
        return
    inputs = [Path(value) for value in _each_of(values) if isinstance(value, Read)]
    parts = _parts(database) if database else []
    for output in outputs:
        refuse_special(output)
        if any(_same(output, path) for path in inputs):
            raise BadFile(f"{output} is read by this command, and would be overwritten; name another file")
        if any(_same(output, path) for path in parts) or _holds_database(output):
            raise BadFile(f"{output} is a database, or a part of one, and would be destroyed; name another file")


def _each_of(values: dict[str, Any]) -> Iterator[object]:
    for value in values.values():
        yield from value if isinstance(value, list | tuple) else [value]


def _parts(database: str) -> list[Path]:
    from audit.store.engine import file_of

    file = file_of(database)
    return [] if file is None else [file, *(file.with_name(file.name + end) for end in _BESIDE)]


def _same(path: Path, other: Path) -> bool:
    """Whether two names mean one file, be it there or not: by links, by another spelling, by a second name."""
    if os.path.realpath(path) == os.path.realpath(other):
        return True
    try:
        return os.path.samefile(path, other)
    except OSError:
        return False


def _holds_database(output: Path) -> bool:
    """Whether a file that is there is SQLite's, or belongs to one of SQLite's beside it."""
    real = os.path.realpath(output)
    return any(_is_sqlite(real.removesuffix(end)) for end in ("", *_BESIDE))


def _is_sqlite(file: str) -> bool:
    if not os.path.isfile(file):
        return False
    try:
        with open(file, "rb") as content:
            return content.read(len(_MAGIC)) == _MAGIC
    except OSError:
        return False


def settings_of(option: str, pairs: Sequence[str], empty: bool = False) -> dict[str, str]:
    """What NAME=VALUE pairs say; a value may be left `empty`. Raises AuditError for another form, and a name twice.

    >>> settings_of("--columns", ["text=review", "gold=stars"])
    {'text': 'review', 'gold': 'stars'}
    """
    values: dict[str, str] = {}
    for pair in pairs:
        name, equals, value = (part.strip() for part in pair.partition("="))
        if not name or not equals or not (value or empty):
            raise AuditError(f"{option} {pair!r}: expected NAME=VALUE, several with commas between them")
        if name in values:
            raise AuditError(f"{option}: {name!r} is named twice; name each once")
        values[name] = value
    return values
