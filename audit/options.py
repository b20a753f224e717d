"""Options of a job, said once: a frozen dataclass whose fields become keyword arguments, options of a command, keys of
a plan, and what a request's body may have.

A field has its default, its type with bounds (`Annotated[int | None, Ge(1)]`), and with `Told` what it is for. Pydantic
checks the values that differ from the defaults.

    @dataclass(frozen=True, kw_only=True)
    class DrawOptions(Options):
        size: Annotated[int, Ge(1), Told("groups of each cell", "N")] = 60

    @command(...)
    def draw(db: Database = DATABASE, options: DrawOptions = DrawOptions()) -> Reply: ...
"""

import inspect
import textwrap
from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, fields, replace
from functools import wraps
from inspect import Parameter
from typing import Any, NamedTuple, ParamSpec, TypeVar, get_args, get_type_hints

_PROMPT = ">" * 3  # Of an example, which stays at the end of a docstring
Taken = ParamSpec("Taken")
Returned = TypeVar("Returned")
Model = TypeVar("Model", bound="Options")


@dataclass(frozen=True)
class Told:
    """In `Annotated`: what an option is for, and how the command line has it.

    `metavar` names its value, `spelled` is the option where it is not the field's name, `commas` says that a list is
    given with commas in place of an option for each. `read` makes the value of what a front end has. `positional`: the
    library takes it without its name, too; `argument`: the command line does. `file`: it names one that is read."""

    help: str
    metavar: str | None = None
    spelled: str | None = None
    commas: bool = False
    read: Callable[[Any], Any] | None = None
    positional: bool = False
    file: bool = False
    argument: bool = False


def listed(value: Any) -> Any:
    """Read one text or function as a list of it."""
    return [value] if isinstance(value, str) or callable(value) else tuple(value) if isinstance(value, list) else value


class Option(NamedTuple):
    """A field of an options class; without a default (`Parameter.empty`) it must be given."""

    name: str
    kind: Any
    told: Told
    default: Any


class Options:
    """Base of options. Raises AuditError for the first value of another type, or beyond its bounds."""

    def __post_init__(self) -> None:
        for option in options_of(type(self)):
            value = getattr(self, option.name)
            value = value.tolist() if hasattr(value, "tolist") else value  # NumPy's and pandas's
            value = option.told.read(value) if option.told.read is not None else value
            if value != option.default:
                from audit.user_models import checked_value

                checked_value(option.name, option.kind, value)
            object.__setattr__(self, option.name, value)


def options_of(model: type[Any]) -> tuple[Option, ...]:
    """Return the options of a class, in their order."""
    if model in _known:
        return _known[model]
    hints = get_type_hints(model, include_extras=True)
    listed = []
    for field in fields(model):
        told = next(part for part in get_args(hints[field.name]) if isinstance(part, Told))
        default = field.default if field.default_factory is MISSING else field.default_factory()
        listed.append(Option(field.name, hints[field.name], told, Parameter.empty if default is MISSING else default))
    _known[model] = tuple(listed)
    return _known[model]


_known: dict[type[Any], tuple[Option, ...]] = {}


def keyword(option: Option) -> Parameter:
    """Return the argument that an option is in the library."""
    kind = Parameter.POSITIONAL_OR_KEYWORD if option.told.positional else Parameter.KEYWORD_ONLY
    return Parameter(option.name, kind, default=option.default, annotation=get_args(option.kind)[0])


def spread(
    function: Callable[Taken, Returned], parameter_of: Callable[[Option], Parameter] = keyword
) -> Callable[..., Returned]:
    """Return a function that takes the fields of its options as parameters of their own, made by `parameter_of`.

    A parameter of the function whose type is an options class is replaced; its default, where it has one, has their
    defaults. The docstring goes on with what each is for.
    """
    own = inspect.signature(function)
    models = {
        name: [
            option._replace(default=getattr(parameter.default, option.name, option.default))
            for option in options_of(parameter.annotation)
        ]
        for name, parameter in own.parameters.items()
        if inspect.isclass(parameter.annotation) and issubclass(parameter.annotation, Options)
    }
    if not models:
        return function
    listed = [option for options in models.values() for option in options]
    parameters = [parameter for name, parameter in own.parameters.items() if name not in models]
    parameters = sorted(
        [*parameters, *map(parameter_of, listed)], key=lambda one: (one.kind, one.default is not Parameter.empty)
    )
    signature = own.replace(parameters=parameters)

    @wraps(function)
    def spreading(*args: Any, **values: Any) -> Returned:
        taken = signature.bind(*args, **values).arguments
        for name, options in models.items():
            fields = {option.name: taken.pop(option.name) for option in options if option.name in taken}
            default = own.parameters[name].default
            model = own.parameters[name].annotation
            taken[name] = model(**fields) if default is Parameter.empty else replace(default, **fields)
        return function(**taken)  # type: ignore[call-arg]

    spreading.__signature__ = signature  # type: ignore[attr-defined]
    spreading.__annotations__ = {one.name: one.annotation for one in parameters} | {"return": own.return_annotation}
    if function.__doc__ and parameter_of is keyword:
        spreading.__doc__ = _with_options(function.__doc__, listed)
    return spreading


def _with_options(doc: str, options: list[Option]) -> str:
    told = [
        textwrap.fill(f"`{option.name}`: {option.told.help}", 112, initial_indent="    ", subsequent_indent="    ")
        for option in options
    ]
    text, examples, shown = doc.rstrip().partition(f"\n\n    {_PROMPT}")
    return "\n\n".join([text, *told]) + f"{examples}{shown}\n    "


def values_of(model: type[Model], values: Mapping[str, Any], *, renamed: Mapping[str, str]) -> Model:
    """Return options with those values of a table that are theirs and not None; `renamed` has a key of the table by the
    name of an option, where that is another."""
    keys = {option.name: renamed.get(option.name, option.name) for option in options_of(model)}
    return model(**{name: values[key] for name, key in keys.items() if values.get(key) is not None})
