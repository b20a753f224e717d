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
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from numbers import Real
from pathlib import Path
from types import ModuleType
from typing import Any, TypeGuard

from audit.errors import AuditError, BadOutput
from audit.keys import canonical, fingerprint
from audit.resources import import_from_here
from audit.systems.base import System
from audit.systems.foreign import contained, foreign, message, shortened, shown
from audit.systems.hearing import tell_heard
from audit.systems.versions import CodeVersion, code_version
from audit.tasks import Input, Output, get_task, labels_together, spellings, takes_several

_ALLOWED = {
    "similarity": "allowed are a number from 0 to 1, or an audit.tasks.Output",
    "summarization": "allowed are a text, or an audit.tasks.Output",
    "translation": "allowed are a text, None for a pair of languages that it does not have, or an audit.tasks.Output",
}
"""Allowed return values for the tasks whose output is not a label."""
_LONGEST = 200
"""Characters of a name or a version."""
_SETTINGS = 100_000
"""Characters of settings as JSON."""
_NUMBERS = {
    "call_size": (1, 1_000_000, True),
    "batch_seconds": (0.001, 86_400, False),
    "concurrency": (1, 10_000, True),
    "batch": (1, 1_000_000, True),
    "tries": (1, 1_000, True),
    "patience": (0, 86_400, False),
}
"""Numbers that a `System` may have: from, to, and whether they are whole."""
_LABELS = "allowed are a label, a pair (label, score), or an audit.tasks.Output"
_SEVERAL = "allowed are a list, set or tuple of labels, with a score in a pair or without, or an audit.tasks.Output"


def load(spec: str, seconds: float | None = None) -> System:
    """The system that `module:name` names; a class is created without arguments.

    An object that already is a `System` (it has `run` and `needs`) is read once and used as it is. This is the one door
    for users' code: it may take `seconds` (None: as long as it likes), and whatever it raises, in any of its parts, or
    says of itself that is not allowed, is one AuditError that names the system. So are a module or a name that is not
    there, and what cannot be called.
    """
    with foreign(f"system {spec!r} cannot be loaded", seconds):
        obj, module = find_object(spec)
        return _system_of(spec, obj, module, seconds)


def find_object(spec: str, what: str = "system") -> tuple[Any, ModuleType]:
    """What `module:name` names, an instance where that is a class, and its module; `what` it is to be is for messages.

    Raises AuditError where it is not there, or cannot be imported or created.
    """
    module_name, _, name = spec.partition(":")
    if not module_name or not name:
        raise AuditError(f"{spec!r} does not name a {what}; write module:name, for example mine:classify")
    module = _import_module(module_name, spec)
    obj: Any = module
    for part in name.split("."):
        if not hasattr(obj, part):
            raise AuditError(f"module {module_name!r} ({_where(module)}) has no {name!r}; it has: {_callables(module)}")
        obj = getattr(obj, part)
    if inspect.isclass(obj):
        with foreign(f"class {spec!r} cannot be created without arguments"):
            obj = obj()
    return obj, module


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
            with foreign(f"{spec!r} cannot be created with {shown(arguments) if arguments else 'no arguments'}"):
                obj = obj(*arguments)
        return _system_of(spec, obj, sys.modules.get(module) or ModuleType(module), seconds)


def is_system(obj: object) -> bool:
    """Whether an object is a `System` already."""
    return callable(getattr(obj, "run", None)) and callable(getattr(obj, "needs", None))


def _system_of(spec: str, obj: Any, module: ModuleType, seconds: float | None) -> System:
    return SystemObject(spec, obj, module, seconds) if is_system(obj) else Own(spec, obj, module)


class Described:
    """Attributes of a user's object, read once and checked.

    `name`, `version`, `settings`, `tasks`, `languages` and `deterministic` are the object's own where it has them. The
    version is else a fingerprint of the source file and of the state (`audit.systems.versions`), so that changed code
    or another model is run anew.
    """

    def __init__(self, spec: str, obj: object, module: ModuleType):
        self.spec = spec
        self._object = obj
        self.summary = ((inspect.getdoc(obj) or "").strip().splitlines() or [f"the user's own ({_where(module)})"])[0]
        self.name: str = _text(spec, obj, "name") or spec
        self.version: str = _text(spec, obj, "version") or ""
        self.remark = _text(spec, obj, "remark")
        if not self.version:
            found = _code_version(spec, obj, module)
            self.version, self.remark = found.version, self.remark or found.remark(spec)
        self.settings: Mapping[str, object] = _settings(spec, obj)
        self.tasks: tuple[str, ...] = _names(spec, obj, "tasks", ("sentiment",))
        for task in self.tasks:
            try:
                get_task(task)
            except AuditError as problem:
                raise AuditError(f"{spec!r} has tasks = {shown(self.tasks)}: {problem}") from None
        self.languages: tuple[str, ...] = _names(
            spec, obj, "languages", ("*",) if "translation" in self.tasks else ("en",)
        )
        said = _attribute(spec, obj, "deterministic")
        self.deterministic: bool | None = said if isinstance(said, bool) else None

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
        self._seconds = seconds
        self._needs = self._read_needs(obj)
        self.run: Callable[[Sequence[Input]], list[Output]] = obj.run
        for name, (minimum, maximum, whole) in _NUMBERS.items():
            if (value := _attribute(spec, obj, name)) is not None:
                setattr(self, name, _within(spec, name, value, minimum, maximum, whole))
        for name in ("run_async", "close_async", "pairs"):
            if callable(part := _attribute(spec, obj, name)):
                setattr(self, name, part)
        if callable(lacks := _attribute(spec, obj, "lacks")):
            self.lacks = partial(self._lacks, lacks)
        if hasattr(self, "run_async") and not (hasattr(self, "concurrency") and hasattr(self, "batch")):
            raise AuditError(
                f"{spec!r} has run_async, but not both of concurrency and batch; add them as whole numbers"
            )

    def needs(self) -> str | None:
        """The object's own answer, as it was when the object was loaded."""
        return self._needs

    def _read_needs(self, obj: Any) -> str | None:
        with foreign(f"needs() of the system {self.spec!r} failed"):
            needs = obj.needs()
        if needs is not None and not isinstance(needs, str):
            raise AuditError(f"needs() of the system {self.spec!r} returned {shown(needs)}; it must be None or a text")
        return shortened(needs) if needs else None

    def _lacks(self, lacks: Callable[[Input], object], item: Input) -> bool:
        with foreign(f"lacks() of the system {self.spec!r} failed", self._seconds):
            return bool(lacks(item))


class Own(Described):
    """A user's object as a `System`: `predict(texts) -> list` where it has one, else `object(text)` one by one.

    A translator has `predict(asked) -> list` of tuples (text, source language, target language), or is called with
    these three; it reads every language unless it says which.
    """

    def __init__(self, spec: str, obj: object, module: ModuleType):
        predict = getattr(obj, "predict", None)
        if not callable(predict) and not callable(obj):
            raise AuditError(
                f"{spec!r} is a {type(obj).__name__}, which cannot be called; "
                "it must be a function, or a class with predict(texts) or __call__(text)"
            )
        super().__init__(spec, obj, module)
        self._returns = _returns(spec, self.tasks)
        self._spelling = spellings(self.tasks)
        self._several = self._returns == "labels" and takes_several(self.tasks)
        self._predict: Callable[..., Any] | None = predict if callable(predict) else None
        self._call: Callable[..., Any] | None = obj if callable(obj) else None

    def needs(self) -> str | None:
        return None

    def run(self, inputs: Sequence[Input]) -> list[Output]:
        arguments = [self._arguments(item) for item in inputs]
        if self._predict is None:
            call = self._call
            if call is None:
                raise AuditError(f"{self.spec!r} cannot be called")
            spread = self._returns == "translation"
            return [self._output(call(*value) if spread else call(value), value) for value in arguments]
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

    def _output(self, value: object, argument: object) -> Output:
        """An output from what the user's code returned. Raises BadOutput when it is none."""
        tell_heard(value)
        if isinstance(value, Output):
            return value
        if self._returns == "similarity" and (number := _number(value)) is not None:
            return Output(score=number)
        if self._returns in ("summarization", "translation") and isinstance(value, str):
            return Output(text=value)
        if self._returns == "translation" and value is None:
            return Output()
        if self._several and _is_collection(value) and not _is_scored(value):
            return Output(labels_together(value, self.tasks))
        label, score = value if isinstance(value, tuple | list) and len(value) == 2 else (value, None)
        if self._several and _is_collection(label):
            label = labels_together(label, self.tasks)
        if self._returns in _ALLOWED or not isinstance(label, str):
            allowed = _ALLOWED.get(self._returns, _SEVERAL if self._several else _LABELS)
            raise BadOutput(f"{self.spec} returned {shown(value)} for {shown(argument)}; {allowed}")
        if score is not None and _number(score) is None:
            raise BadOutput(f"{self.spec} returned the score {shown(score)} for {shown(argument)}; it must be a number")
        return Output(self._spelling.get(label.strip().casefold(), label), _number(score))


def _returns(spec: str, tasks: Sequence[str]) -> str:
    """The task whose outputs the user's code returns, "labels" for those with labels. Raises AuditError for several of
    which one cannot say what is returned."""
    kinds = {task if task in _ALLOWED else "labels" for task in map(_similar_task, tasks)}
    if len(kinds) > 1:
        raise AuditError(
            f"{spec!r} has tasks = {shown(tasks)}, whose outputs are of different kinds; "
            "write a function or class for each kind"
        )
    return kinds.pop()


def _similar_task(task: str) -> str:
    """The task, or of a plug-in's whose outputs are texts the built-in one that is like it."""
    return "summarization" if task not in _ALLOWED and get_task(task).question_kind == "pair" else task


def _is_collection(value: object) -> TypeGuard[Collection[str]]:
    """Whether a value is labels, each a text, in any kind of collection."""
    return isinstance(value, tuple | list | set | frozenset) and all(isinstance(label, str) for label in value)


def _is_scored(value: Collection[object]) -> bool:
    """Whether a value is a pair of labels and a score."""
    return isinstance(value, tuple | list) and len(value) == 2 and not isinstance(value[1], str)


def _number(value: object) -> float | None:
    """A number of Python's or NumPy's as a float, else None."""
    return float(value) if isinstance(value, Real) and not isinstance(value, bool) else None


def _import_module(name: str, spec: str) -> ModuleType:
    here = os.getcwd()
    try:
        with foreign(f"module {name!r} of the system {spec!r} failed to import"):
            return import_from_here(name, f"module of the system {spec!r}")
    except AuditError as problem:
        missing = problem.__cause__
        if not isinstance(missing, ModuleNotFoundError):
            raise
        if missing.name and (name == missing.name or name.startswith(missing.name + ".")):
            raise AuditError(
                f"no module {name!r} for the system {spec!r}, neither in the current directory ({here}) nor installed"
            ) from None
        raise AuditError(
            f"module {name!r} needs {missing.name!r}, which is not installed; the system is {spec!r}"
        ) from missing


_FIRST: dict[tuple[str, str], CodeVersion] = {}
"""By spec and what its files say: the version that an object had when this process loaded it first. One that loads its
model when it is first asked stays the same system."""


def _code_version(spec: str, obj: object, module: ModuleType) -> CodeVersion:
    """The version of an object by the files that define it, and by what it holds and reads."""
    kind = obj if inspect.isroutine(obj) or inspect.isclass(obj) else type(obj)
    owner = sys.modules.get(getattr(kind, "__module__", None) or "", module)
    sources = []
    for origin in dict.fromkeys((owner, module)):
        try:
            file = inspect.getsourcefile(origin)
        except TypeError:
            file = None
        if file and Path(file).is_file():
            sources.append(Path(file).read_bytes().decode("utf-8", "replace"))
    key = spec, fingerprint(sources)
    if key not in _FIRST:
        _FIRST[key] = code_version(obj, with_parts=[*sources, str(getattr(module, "__version__", ""))])
    return _FIRST[key]


def _attribute(spec: str, obj: object, name: str) -> Any:
    """The object's attribute of this name; None where it has none."""
    with foreign(f"system {spec!r} cannot tell its {name}"):
        return getattr(obj, name, None)


def _text(spec: str, obj: object, attribute: str) -> str | None:
    """An attribute that is a short text, or a number as text; None where there is none, or a method of that name."""
    value = _attribute(spec, obj, attribute)
    if value is None or callable(value) or (isinstance(value, str) and not value.strip()):
        return None
    with foreign(f"system {spec!r} cannot tell its {attribute}"):
        text = str(value) if isinstance(value, str | int | float) else ""
    if not 0 < len(text) <= _LONGEST or not text.isprintable():
        raise AuditError(
            f"{spec!r} has {attribute} = {shown(value)}; it must be a text of 1 to {_LONGEST} printable characters"
        )
    return text


def _names(spec: str, obj: object, attribute: str, default: tuple[str, ...]) -> tuple[str, ...]:
    value = _attribute(spec, obj, attribute)
    values = default if value is None else (value,) if isinstance(value, str) else value
    if (
        not isinstance(values, tuple | list | set)
        or not 0 < len(values) <= _LONGEST
        or not all(isinstance(name, str) and len(name) <= 10 * _LONGEST and name.isprintable() for name in values)
    ):
        raise AuditError(f"{spec!r} has {attribute} = {shown(value)}; it must be a list of names")
    return tuple(values)


def _within(spec: str, name: str, value: object, minimum: float, maximum: float, whole: bool) -> float:
    number = _number(value)
    if number is None or not minimum <= number <= maximum or (whole and number != int(number)):
        kind = "a whole number" if whole else "a number"
        raise AuditError(f"{spec!r} has {name} = {shown(value)}; it must be {kind} from {minimum:g} to {maximum:g}")
    return int(number) if whole else number


def _settings(spec: str, obj: object) -> dict[str, object]:
    """The object's settings. They are stored as JSON, so they must be able to become it."""
    settings = _attribute(spec, obj, "settings")
    if settings is None:
        return {}
    try:
        with contained():
            json.dumps(plain := dict(settings), allow_nan=False)
            written = canonical(plain)
            written.encode("utf-8")
    except Exception as problem:  # half characters, numbers without end, itself in itself, a dict that raises
        raise AuditError(
            f"{spec!r} has settings that cannot be kept ({shortened(message(problem))}); they must be a dict of "
            "numbers, strings and lists"
        ) from problem
    if len(written) > _SETTINGS:
        raise AuditError(f"{spec!r} has settings of {len(written):,} characters; at most {_SETTINGS:,} are kept")
    return dict(json.loads(written))


def _callables(module: ModuleType) -> str:
    names = [name for name, value in vars(module).items() if callable(value) and not name.startswith("_")]
    return ", ".join(sorted(names)[:10]) or "nothing that can be called"


def _where(module: ModuleType) -> str:
    return str(getattr(module, "__file__", None) or "built in")
