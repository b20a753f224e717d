"""The user's own system, named `module:name`: a function, a class or an object in a file of the current directory or
in an installed package.

Three lines are enough (docs/reference/systems.md has more)::

    # mine.py
    def classify(text):
        return ("positive", 0.9) if "good" in text else ("negative", 0.6)

and then `--systems mine:classify`.
"""

import inspect
import json
import os
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from numbers import Real
from pathlib import Path
from types import ModuleType
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from audit.errors import AuditError, BadOutput
from audit.keys import canonical, fingerprint
from audit.resources import import_from_here
from audit.systems.base import System
from audit.systems.foreign import foreign, shortened, shown
from audit.systems.hearing import tell_heard
from audit.systems.versions import CodeVersion, code_version
from audit.tasks import Input, Output, get_task, labels_together, spellings, takes_several

_ALLOWED = {
    "similarity": "allowed are a number from 0 to 1, or an audit.tasks.Output",
    "summarization": "allowed are a text, or an audit.tasks.Output",
    "translation": "allowed are a text, None for a pair of languages that it does not have, or an audit.tasks.Output",
}
"""Allowed return values for the tasks whose output is not a label."""
_LABELS = "allowed are a label, a pair (label, score), or an audit.tasks.Output"
_SEVERAL = "allowed are a list, set or tuple of labels, with a score in a pair or without, or an audit.tasks.Output"


def load(spec: str, seconds: float | None = None) -> System:
    """Return the system that `module:name` names; a class is created without arguments.

    An object that already is a `System` (it has `run` and `needs`) is read once and used as it is. This is the one door
    for users' code: it may take `seconds` (None: as long as it likes), and whatever it raises, in any of its parts, or
    says of itself that is not allowed, is one AuditError that names the system.
    """
    with foreign(f"system {spec!r} cannot be loaded", seconds):
        return _system_of(spec, *find_object(spec), seconds)


def load_object(spec: str, obj: Any, module: ModuleType, seconds: float | None = None) -> System:
    """As `load`, for an existing object; `module` is where it was defined."""
    with foreign(f"system {spec!r} cannot be loaded", seconds):
        return _system_of(spec, obj, module, seconds)


def load_registered(
    spec: str, find: Callable[[], Any], arguments: tuple[str, ...], module: str, seconds: float | None = None
) -> System:
    """As `load`, of what a plug-in registered: a class, a function that makes a `System`, or whatever `load` takes.

    A class is created with the arguments, and a function is called with them where there are any.
    """
    with foreign(f"system {spec!r} cannot be loaded", seconds):
        obj = find()
        if inspect.isclass(obj) or arguments:
            obj = obj(*arguments)
        return _system_of(spec, obj, sys.modules.get(module) or ModuleType(module), seconds)


def find_object(spec: str, what: str = "system") -> tuple[Any, ModuleType]:
    """Return what `module:name` names, an instance where that is a class, and its module; `what` it is to be is for
    messages.

    Raises AuditError where it is not there, or cannot be imported or created.
    """
    module_name, _, name = spec.partition(":")
    if not module_name or not name:
        raise AuditError(f"{spec!r} does not name a {what}; write module:name, for example mine:classify")
    module = _import_module(module_name, spec)
    obj: Any = module
    for part in name.split("."):
        if not hasattr(obj, part):
            names = [name for name, value in vars(module).items() if callable(value) and not name.startswith("_")]
            there = ", ".join(sorted(names)[:10]) or "nothing that can be called"
            raise AuditError(f"module {module_name!r} ({_where(module)}) has no {name!r}; it has: {there}")
        obj = getattr(obj, part)
    if inspect.isclass(obj):
        with foreign(f"class {spec!r} cannot be created without arguments"):
            obj = obj()
    return obj, module


def is_system(obj: object) -> bool:
    """Whether an object is a `System` already."""
    return callable(getattr(obj, "run", None)) and callable(getattr(obj, "needs", None))


def _system_of(spec: str, obj: Any, module: ModuleType, seconds: float | None) -> System:
    return SystemObject(spec, obj, module, seconds) if is_system(obj) else Own(spec, obj, module)


def _printable(text: str) -> str:
    if not text.isprintable():
        raise ValueError("it must be printable characters")
    return text


def _storable(settings: Any) -> Any:
    """Settings as they are stored. Raises ValueError for what cannot become JSON: half characters, numbers without end,
    itself in itself."""
    try:
        json.dumps(dict(settings), allow_nan=False)
        (written := canonical(dict(settings))).encode("utf-8")
    except Exception as problem:
        raise ValueError(f"they are settings that cannot be kept ({shortened(str(problem))}); write a dict of numbers, "
                         "strings and lists") from None  # fmt: skip
    return json.loads(written)


Word = Annotated[str, Field(min_length=1, max_length=200), AfterValidator(_printable)]
Names = Annotated[
    tuple[Annotated[str, Field(max_length=2_000), AfterValidator(_printable)], ...],
    BeforeValidator(lambda value: (value,) if isinstance(value, str) else value),
    Field(min_length=1, max_length=200),
]


class Said(BaseModel):
    """What a user's object may say of itself; of a `System`, how it is to be asked, too."""

    model_config = ConfigDict(coerce_numbers_to_str=True, allow_inf_nan=False)
    name: Word | None = None
    version: Word | None = None
    remark: Word | None = None
    settings: Annotated[dict[str, Any], BeforeValidator(_storable)] = {}
    tasks: Names = ("sentiment",)
    languages: Names | None = None
    deterministic: bool | None = None
    call_size: int | None = Field(None, ge=1, le=1_000_000)
    batch_seconds: float | None = Field(None, ge=0.001, le=86_400)
    concurrency: int | None = Field(None, ge=1, le=10_000)
    batch: int | None = Field(None, ge=1, le=1_000_000)
    tries: int | None = Field(None, ge=1, le=1_000)
    patience: float | None = Field(None, ge=0, le=86_400)


_NUMBERS = ("call_size", "batch_seconds", "concurrency", "batch", "tries", "patience")


def _said(spec: str, obj: object) -> Said:
    names = [name for name in Said.model_fields if name not in _NUMBERS or is_system(obj)]
    with foreign(f"system {spec!r} cannot say what it is"):
        values = {name: value for name in names if (value := getattr(obj, name, None)) is not None}
        values = {name: value for name, value in values.items() if not callable(value) and value != ""}
    try:
        return Said.model_validate(values)
    except ValidationError as problem:
        first = problem.errors(include_url=False)[0]
        name, said = str(first["loc"][0]), first["msg"].removeprefix("Value error, ")
        said = re.sub(r"^\w+ should", "it must", said)
        raise AuditError(f"{spec!r} has {name} = {shown(values[name])}; {said}") from None


class Described:
    """What a user's object says of itself, read once and checked. Its version is else a fingerprint of the source file
    and of the state (`audit.systems.versions`), so that changed code or another model is run anew."""

    def __init__(self, spec: str, obj: object, module: ModuleType):
        self.spec, self._object = spec, obj
        self.summary = ((inspect.getdoc(obj) or "").strip().splitlines() or [f"the user's own ({_where(module)})"])[0]
        self.said = said = _said(spec, obj)
        found = None if said.version else _code_version(spec, obj, module)
        self.name: str = said.name or spec
        self.version: str = said.version or (found.version if found else "")
        self.remark = said.remark or (found.remark(spec) if found else None)
        self.settings: Mapping[str, object] = said.settings
        self.tasks, self.deterministic = said.tasks, said.deterministic
        for task in self.tasks:
            try:
                get_task(task)
            except AuditError as problem:
                raise AuditError(f"{spec!r} has tasks = {shown(self.tasks)}: {problem}") from None
        self.languages: tuple[str, ...] = said.languages or (("*",) if "translation" in self.tasks else ("en",))

    def __reduce__(self) -> tuple[Any, ...]:
        # A worker imports the user's module itself: functions of models are seldom fit to be pickled.
        from audit.systems import get_system

        return get_system, (self.spec,)

    def prepare(self) -> None:
        """The object's own `prepare`, where it has one. Raises AuditError for whatever that raises."""
        with foreign(f"prepare() of the system {self.spec!r} failed"):
            own = getattr(self._object, "prepare", None)
            if callable(own):
                own()


class SystemObject(Described):
    """A user's object that is a `System` already; what it may have beside (`audit.systems.base`) is kept as it is."""

    def __init__(self, spec: str, obj: Any, module: ModuleType, seconds: float | None = None):
        super().__init__(spec, obj, module)
        self.run: Callable[[Sequence[Input]], list[Output]] = obj.run
        with foreign(f"needs() of the system {spec!r} failed"):
            self._needs = obj.needs()
        if self._needs is not None and not isinstance(self._needs, str):
            raise AuditError(f"needs() of the system {spec!r} returned {shown(self._needs)}; it must be None or a text")
        for name in _NUMBERS:
            if (value := getattr(self.said, name)) is not None:
                setattr(self, name, value)
        for name in ("run_async", "close_async", "pairs"):
            if callable(part := getattr(obj, name, None)):
                setattr(self, name, part)
        if callable(lacks := getattr(obj, "lacks", None)):
            self.lacks = partial(self._lacks, lacks, seconds)
        if hasattr(self, "run_async") and None in (self.said.concurrency, self.said.batch):
            raise AuditError(
                f"{spec!r} has run_async, but not both of concurrency and batch; add them as whole numbers"
            )

    def needs(self) -> str | None:
        """The object's own answer, as it was when the object was loaded."""
        return shortened(self._needs) if self._needs else None

    def _lacks(self, lacks: Callable[[Input], object], seconds: float | None, item: Input) -> bool:
        with foreign(f"lacks() of the system {self.spec!r} failed", seconds):
            return bool(lacks(item))


class Own(Described):
    """A user's object as a `System`: `predict(texts) -> list` where it has one, else `object(text)` one by one.

    A translator has `predict(asked) -> list` of tuples (text, source language, target language), or is called with
    these three; it reads every language unless it says which.
    """

    def __init__(self, spec: str, obj: Any, module: ModuleType):
        self._predict: Callable[..., Any] | None = getattr(obj, "predict", None)
        if not callable(self._predict) and not callable(obj):
            raise AuditError(
                f"{spec!r} is a {type(obj).__name__}, which cannot be called; "
                "it must be a function, or a class with predict(texts) or __call__(text)"
            )
        super().__init__(spec, obj, module)
        self._call, self._returns = obj, _returns(spec, self.tasks)
        self._spelling = spellings(self.tasks)
        self._several = self._returns == "labels" and takes_several(self.tasks)

    def needs(self) -> str | None:
        return None

    def run(self, inputs: Sequence[Input]) -> list[Output]:
        arguments = [self._arguments(item) for item in inputs]
        if self._predict is None:
            spread = self._returns == "translation"
            return [self._output(self._call(*value) if spread else self._call(value), value) for value in arguments]
        returned = self._predict(arguments)
        try:
            values = list(returned)
        except TypeError:
            raise BadOutput(f"{self.spec}: predict returned {shown(returned)}, not a list") from None
        if len(values) != len(arguments):
            raise BadOutput(f"{self.spec}: predict returned {len(values)} outputs for {len(arguments)} texts")
        return [self._output(value, text) for value, text in zip(values, arguments, strict=True)]

    def _arguments(self, item: Input) -> Any:
        """The argument for the user's code: the text, the texts of a pair as a tuple, or a text with its languages."""
        if self._returns == "translation":
            return item.text, item.languages[0], item.target or ""
        return item.text if len(item.texts) == 1 else item.texts

    def _output(self, value: Any, argument: object) -> Output:
        """Return an output made from what the user's code returned. Raises BadOutput when it is none."""
        tell_heard(value)
        if isinstance(value, Output):
            return value
        if self._returns == "similarity" and (number := _number(value)) is not None:
            return Output(score=number)
        if self._returns in ("summarization", "translation") and isinstance(value, str):
            return Output(text=value)
        if self._returns == "translation" and value is None:
            return Output()
        is_pair = isinstance(value, tuple | list) and len(value) == 2
        label, score = value if is_pair else (value, None)
        if self._several and _are_labels(value):
            label, score = value, None  # two labels are no pair
        if self._several and _are_labels(label):
            label = labels_together(label, self.tasks)
        if self._returns in _ALLOWED or not isinstance(label, str):
            allowed = _ALLOWED.get(self._returns, _SEVERAL if self._several else _LABELS)
            raise BadOutput(f"{self.spec} returned {shown(value)} for {shown(argument)}; {allowed}")
        if score is not None and _number(score) is None:
            raise BadOutput(f"{self.spec} returned the score {shown(score)} for {shown(argument)}; it must be a number")
        return Output(self._spelling.get(label.strip().casefold(), label), _number(score))


def _returns(spec: str, tasks: Sequence[str]) -> str:
    """Return the task whose outputs the user's code returns, "labels" for those with labels; of a plug-in's task whose
    outputs are texts, the built-in one that is like it. Raises AuditError for several of which one cannot say what is
    returned."""
    like = ["summarization" if task not in _ALLOWED and get_task(task).question_kind == "pair" else task
            for task in tasks]  # fmt: skip
    kinds = {task if task in _ALLOWED else "labels" for task in like}
    if len(kinds) > 1:
        raise AuditError(
            f"{spec!r} has tasks = {shown(tasks)}, whose outputs are of different kinds; "
            "write a function or class for each kind"
        )
    return kinds.pop()


def _are_labels(value: object) -> bool:
    """Whether a value is labels, each a text, in any kind of collection."""
    return isinstance(value, tuple | list | set | frozenset) and all(isinstance(label, str) for label in value)


def _number(value: object) -> float | None:
    """A number of Python's or NumPy's as a float, else None."""
    return float(value) if isinstance(value, Real) and not isinstance(value, bool) else None


def _import_module(name: str, spec: str) -> ModuleType:
    try:
        with foreign(f"module {name!r} of the system {spec!r} failed to import"):
            return import_from_here(name, f"module of the system {spec!r}")
    except AuditError as problem:
        missing = problem.__cause__
        if not isinstance(missing, ModuleNotFoundError):
            raise
        if missing.name and (name == missing.name or name.startswith(missing.name + ".")):
            raise AuditError(
                f"no module {name!r} for the system {spec!r}, neither in the current directory ({os.getcwd()}) nor "
                "installed"
            ) from None
        raise AuditError(
            f"module {name!r} needs {missing.name!r}, which is not installed; the system is {spec!r}"
        ) from missing


_FIRST: dict[tuple[str, str], CodeVersion] = {}
"""By spec and what its files say: the version that an object had when this process loaded it first. One that loads its
model when it is first asked stays the same system."""


def _code_version(spec: str, obj: object, module: ModuleType) -> CodeVersion:
    """Return the version of an object by the files that define it, and by what it holds and reads."""
    kind = obj if inspect.isroutine(obj) or inspect.isclass(obj) else type(obj)
    owner = sys.modules.get(getattr(kind, "__module__", None) or "", module)
    files = [getattr(origin, "__file__", None) or "" for origin in dict.fromkeys((owner, module))]
    sources = [Path(file).read_bytes().decode("utf-8", "replace") for file in files if file.endswith(".py")]
    key = spec, fingerprint(sources)
    if key not in _FIRST:
        _FIRST[key] = code_version(obj, with_parts=[*sources, str(getattr(module, "__version__", ""))])
    return _FIRST[key]


def _where(module: ModuleType) -> str:
    return str(getattr(module, "__file__", None) or "built in")
