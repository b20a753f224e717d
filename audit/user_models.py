"""What users write, read by pydantic models: one sentence for each mistake says where it is and what is allowed there.
A field says what it takes by its type and bounds; `Allowed` says it in words, and tests it, where these are not enough.
A field's description says why it is needed; the value of one with `repr=False` may be a secret and is never shown."""

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache, wraps
from pathlib import Path
from typing import Any, ParamSpec, TypeVar, get_args

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
    TypeAdapter,
    ValidationError,
    create_model,
)
from pydantic_core import CoreSchema, ErrorDetails, core_schema

from audit.errors import AuditError, BadFile, installed_extras
from audit.files import first_lines, unstorable
from audit.options import Options, options_of

LARGEST = (1 << 63) - 1  # The largest whole number that a database holds; a bound as large as this is not worth a word
_LISTED = 10  # Mistakes that a message lists; it always says how many there are
Table = TypeVar("Table", bound="UserModel")
Taken = ParamSpec("Taken")
Returned = TypeVar("Returned")


class UserModel(BaseModel):
    """A table of a user's file: it has no other keys, and numbers are numbers, never texts that look like some."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, arbitrary_types_allowed=True)


def model_of_options(
    name: str, options: type[Options], *, without: Sequence[str] = (), strict: bool = True, **own: Any
) -> type[UserModel]:
    """Return the model of a request that has the fields of options but those that name files, and `own` fields, which
    may take the place of some. `strict=False` is for queries, where numbers are texts."""
    fields: dict[str, Any] = {
        option.name: (option.kind, Field(option.default, description=option.told.help))
        for option in options_of(options)
        if not option.told.file and option.name not in without
    }
    return create_model(name, __base__=UserModel, __cls_kwargs__={"strict": strict}, **(fields | own))


class Mistake(ValueError):
    """Raised by a validator: the reason, and the key that it is about where that is not the validator's own."""

    def __init__(self, reason: str, key: str = ""):
        super().__init__(reason)
        self.key = key


@dataclass(frozen=True)
class Allowed:
    """In `Annotated`: what a value must be, in words (a function where plug-ins may add to it), and a test of it."""

    words: str | Callable[[], str]
    fits: Callable[[Any], bool] = lambda value: True

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_after_validator_function(self._fitting, handler(source))

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        return {**handler(schema), "allowed": self.words if isinstance(self.words, str) else self.words()}

    def _fitting(self, value: Any) -> Any:
        if not self.fits(value):
            raise ValueError
        return value


def read_as(model: type[Table], content: Any, file: str | Path, advice: str = "") -> Table:
    """Return the content of a user's file as a model. Raises BadFile for its mistakes, as `refuse` does.

    >>> class Service(UserModel):
    ...     name: str
    >>> read_as(Service, {"nam": "acme"}, "acme.toml")
    Traceback (most recent call last):
    audit.errors.BadFile: acme.toml: 2 mistakes, so nothing was changed:
      name: is missing; it must be a text in quotes
      nam: there is no such key, did you mean 'name'? allowed are name
    """
    try:
        return model.model_validate(content)
    except ValidationError as problem:
        refuse(file, mistakes(problem, model, content), advice)
        raise


def mistakes(problem: ValidationError, model: type[BaseModel], content: Any) -> list[tuple[str, str]]:
    """Return the mistakes that pydantic found: where, and what is wrong and allowed there; one for each key."""
    reasons: dict[str, str] = {}
    for error in problem.errors(include_url=False):
        where, reason = _mistake(error, model, content)
        reasons.setdefault(where, reason)
    return list(reasons.items())


def refuse(file: str | Path, found: Iterable[tuple[str, str]], advice: str = "") -> None:
    """Raise BadFile for mistakes (where, reason): one as a sentence, several as a list; nothing where there is none."""
    listed, ending = [f"{where}: {reason}" for where, reason in found], f"; {advice}" if advice else ""
    if len(listed) == 1:
        raise BadFile(f"{file}, {listed[0]}{ending}")
    if listed:
        lines = first_lines([f"  {line}" for line in listed], _LISTED)
        raise BadFile(f"{file}: {len(listed)} mistakes, so nothing was changed{ending}:\n{lines}")


def sure(work: Callable[[], Any], key: str = "") -> Any:
    """Return what `work` returns, for a validator: an AuditError becomes a `Mistake`, which pydantic collects."""
    try:
        return work()
    except AuditError as problem:
        raise Mistake(problem.sentence, key) from problem


def checked_arguments(function: Callable[Taken, Returned]) -> Callable[Taken, Returned]:
    """Let a function of the library refuse an argument of another type than its parameter says, and an extra that is
    not installed: it raises AuditError and NotInstalled. Numbers of NumPy become Python's.

    >>> @checked_arguments
    ... def draw(size: int | None = None) -> int | None:
    ...     return size
    >>> draw("3")
    Traceback (most recent call last):
    audit.errors.AuditError: size='3': expected int | None
    """
    signature = inspect.signature(function)
    kinds = {name: of.annotation for name, of in signature.parameters.items() if _is_checked(of.annotation)}

    @wraps(function)
    def checked(*args: Taken.args, **kwargs: Taken.kwargs) -> Returned:
        bound = signature.bind(*args, **kwargs)
        for name in bound.arguments.keys() & kinds.keys():
            bound.arguments[name] = checked_value(name, kinds[name], bound.arguments[name])
        with installed_extras():
            return function(*bound.args, **bound.kwargs)

    return checked


def checked_value(name: str, kind: Any, value: Any) -> Any:
    """Return an argument, NumPy's numbers as Python's. Raises AuditError unless it is of this type and in bounds."""
    value = value.tolist() if hasattr(value, "tolist") else value
    try:
        _adapter(kind).validate_python(value)
    except ValidationError:
        expected = allowed_by(kind) if hasattr(kind, "__metadata__") else inspect.formatannotation(kind)
        raise AuditError(f"{name}={short(value)}: expected {expected}", parameter=name) from None
    return value


@cache
def _adapter(kind: Any) -> TypeAdapter[Any]:
    return TypeAdapter(kind, config=ConfigDict(strict=True, arbitrary_types_allowed=True))


def _is_checked(annotation: Any) -> bool:
    """Not `self`, no options, and nothing that takes any object of some form: these say themselves what is wrong."""
    if annotation is inspect.Parameter.empty or (inspect.isclass(annotation) and issubclass(annotation, Options)):
        return False
    return not any(getattr(part, "_is_protocol", False) for part in (annotation, *get_args(annotation)))


def short(value: object) -> str:
    """Return how a value is spelled in a message, in 60 characters at most."""
    spelling = repr(value)
    return spelling if len(spelling) <= 60 else f"{spelling[:57]}..."


def _mistake(error: ErrorDetails, model: type[BaseModel], content: Any) -> tuple[str, str]:
    keys: list[str] = []
    name, field = "", None
    table: type[BaseModel] | None = model
    for part in error["loc"]:
        if isinstance(part, int):  # a place in a list of tables
            keys[-1] += f"[{part}]"
            content = content[part]
        elif table is not None:
            model, name = table, part
            keys.append(part[:80])
            field = model.model_fields.get(part)
            content = content.get(part) if isinstance(content, Mapping) else content
            table = _table_of(field.annotation) if field is not None else None
        if table is None:
            break
    where, cause = ".".join(keys), error.get("ctx", {}).get("error")
    if isinstance(cause, Mistake):
        return cause.key or where, cause.args[0]
    if error["type"] == "extra_forbidden":
        return where, no_key(name, list(model.model_fields))
    if error["type"] == "model_type":
        return where, f"must be a table, [{where}] with keys under it"
    if error["type"] == "string_unicode":
        return where, f"holds {unstorable(chr(0xD800))}"
    why = (field.description if field is not None else None) or ""
    missing, shown = error["type"] == "missing", field is None or field.repr
    allowed = f"must be {_words(model.model_json_schema()['properties'][name])}"
    if missing:
        return where, f"is missing; {why or f'it {allowed}'}"
    return where, (f"{short(content)} " if shown else "") + allowed + (f"; {why}" if why else "")


def no_key(name: str, names: Sequence[str]) -> str:
    """Return what is said of a key that is none of these names."""
    near = "".join(f", did you mean {match!r}?" for match in get_close_matches(name, names, 1))
    return f"there is no such key{near or ';'} allowed are {', '.join(names) or 'none'}"


def _table_of(annotation: Any) -> type[BaseModel] | None:
    kinds = (kind for kind in (annotation, *get_args(annotation)) if inspect.isclass(kind))
    return next((kind for kind in kinds if issubclass(kind, BaseModel)), None)


_TYPES = {
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "object": "a table",
    "array": "a list",
    "string": "a text in quotes",
}
_BOUNDS = {"minimum": "from", "exclusiveMinimum": "above", "maximum": "to"}


def allowed_by(annotation: Any) -> str:
    """Return what a value of this type and bounds must be, in words.

    >>> allowed_by(float | None), allowed_by(int)
    ('a number', 'a whole number')
    """
    return _words(TypeAdapter(annotation).json_schema())


def _words(schema: Mapping[str, Any]) -> str:
    if "allowed" in schema:
        return schema["allowed"]  # type: ignore[no-any-return]
    if "anyOf" in schema:
        return " or ".join(_words(part) for part in schema["anyOf"] if part != {"type": "null"})
    if "enum" in schema:
        return f"one of {', '.join(map(str, schema['enum']))}"
    bounds = [f"{word} {schema[name]}" for name, word in _BOUNDS.items() if abs(schema.get(name, LARGEST)) < LARGEST]
    apart = ", " if "exclusiveMinimum" in schema else " "
    return " ".join([_TYPES[schema.get("type", "string")], *filter(None, [apart.join(bounds)])])
