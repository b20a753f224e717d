"""The user's own system, named `module:name`: a function, a class or an object in a file of the current directory or
in an installed package.

Three lines are enough (docs/systems.md has more)::

    # mine.py
    def classify(text):
        return ("positive", 0.9) if "good" in text else ("negative", 0.6)

and then `--systems mine:classify`.
"""

import importlib
import inspect
import json
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from numbers import Real
from pathlib import Path
from types import ModuleType
from typing import Any

from audit.errors import AuditError, BadOutput
from audit.keys import canonical, fingerprint
from audit.systems.base import System
from audit.tasks import Input, Output, get_task, spellings

_ALLOWED = {
    "similarity": "allowed are a number from 0 to 1, or an audit.tasks.Output",
    "summarization": "allowed are a text, or an audit.tasks.Output",
    "translation": "allowed are a text, None for a pair of languages that it does not have, or an audit.tasks.Output",
}
"""What may be returned for the tasks whose output is not a label."""
_LABELS = "allowed are a label, a pair (label, score), or an audit.tasks.Output"


def load(spec: str) -> System:
    """The system that `module:name` names; a class is created without arguments.

    An object that already is a `System` (it has `run` and `needs`) is used as it is. Raises AuditError when the module
    or the name is not there, when importing fails, or when what is found cannot be called.
    """
    module_name, _, name = spec.partition(":")
    if not module_name or not name:
        raise AuditError(f"{spec!r} does not name a system; write module:name, for example mine:classify")
    module = _imported(module_name, spec)
    found: object = module
    for part in name.split("."):
        if not hasattr(found, part):
            raise AuditError(f"module {module_name!r} ({_where(module)}) has no {name!r}; it has: {_callables(module)}")
        found = getattr(found, part)
    if inspect.isclass(found):
        try:
            found = found()
        except Exception as problem:
            raise AuditError(
                f"class {spec!r} cannot be created without arguments: {type(problem).__name__}: {problem}"
            ) from problem
    if callable(getattr(found, "run", None)) and callable(getattr(found, "needs", None)):
        return found  # type: ignore[return-value]
    return Own(spec, found, module)


class Own:
    """A user's object as a `System`: `predict(texts) -> list` where it has one, else `object(text)` one by one.

    A translator has `predict(asked) -> list` of tuples (text, source language, target language), or is called with
    these three; it reads every language unless it says which.

    `name`, `version`, `settings`, `tasks` and `languages` are the object's own where it has them. The version is else a
    fingerprint of the source file, so that changed code is run anew.
    """

    def __init__(self, spec: str, found: object, module: ModuleType):
        predict = getattr(found, "predict", None)
        if not callable(predict) and not callable(found):
            raise AuditError(
                f"{spec!r} is a {type(found).__name__}, which cannot be called; "
                "it must be a function, or a class with predict(texts) or __call__(text)"
            )
        self.spec = spec
        self.summary = ((inspect.getdoc(found) or "").strip().splitlines() or [f"the user's own ({_where(module)})"])[0]
        # A function's or type's own `name` is no wish of the user's; only a string that was set counts.
        self.name: str = _text(found, "name") or spec
        self.version: str = _text(found, "version") or _source_version(found, module)
        self.settings: Mapping[str, object] = _settings(spec, found)
        self.tasks: tuple[str, ...] = _names(spec, found, "tasks", ("sentiment",))
        self.languages: tuple[str, ...] = _names(
            spec, found, "languages", ("*",) if "translation" in self.tasks else ("en",)
        )
        self._returns = _returns(spec, self.tasks)
        self._spelling = spellings(self.tasks)
        self._prepare = getattr(found, "prepare", None)
        self._predict: Callable | None = predict if callable(predict) else None
        self._call: Callable | None = found if callable(found) else None

    def __reduce__(self):
        # A worker imports the user's module itself: functions of models are seldom fit to be pickled.
        return load, (self.spec,)

    def needs(self) -> str | None:
        return None

    def prepare(self) -> None:
        if callable(self._prepare):
            self._prepare()

    def run(self, inputs: Sequence[Input]) -> list[Output]:
        given = [self._given(one) for one in inputs]
        if self._predict is None:
            call = self._call
            if call is None:
                raise AuditError(f"{self.spec!r} cannot be called")
            spread = self._returns == "translation"
            return [self._output(call(*value) if spread else call(value), value) for value in given]
        returned = self._predict(given)
        try:
            values = list(returned)
        except TypeError:
            raise BadOutput(f"{self.spec}: predict returned {_short(returned)}, not a list") from None
        if len(values) != len(given):
            raise BadOutput(f"{self.spec}: predict returned {len(values)} outputs for {len(given)} texts")
        return [self._output(value, text) for value, text in zip(values, given, strict=True)]

    def _given(self, one: Input) -> Any:
        """What the user's code is handed: the text; the texts of a pair as a tuple; a text with its languages."""
        if self._returns == "translation":
            return one.text, one.languages[0], one.target or ""
        return one.text if len(one.texts) == 1 else one.texts

    def _output(self, value: object, given: object) -> Output:
        """An output from what the user's code returned. Raises BadOutput when it is none."""
        if isinstance(value, Output):
            return value
        if self._returns == "similarity" and (number := _number(value)) is not None:
            return Output(score=number)
        if self._returns in ("summarization", "translation") and isinstance(value, str):
            return Output(text=value)
        if self._returns == "translation" and value is None:
            return Output()
        label, score = value if isinstance(value, tuple | list) and len(value) == 2 else (value, None)
        if self._returns in _ALLOWED or not isinstance(label, str):
            allowed = _ALLOWED.get(self._returns, _LABELS)
            raise BadOutput(f"{self.spec} returned {_short(value)} for {_short(given)}; {allowed}")
        if score is not None and _number(score) is None:
            raise BadOutput(f"{self.spec} returned the score {_short(score)} for {_short(given)}; it must be a number")
        return Output(self._spelling.get(label.strip().casefold(), label), _number(score))


def _returns(spec: str, tasks: Sequence[str]) -> str:
    """The task whose outputs the user's code returns, "labels" for those with labels. Raises AuditError for a task that
    is unknown, and for several of which one cannot say what is returned."""
    kinds = set()
    for task in tasks:
        try:
            get_task(task)
        except AuditError as problem:
            raise AuditError(f"{spec!r} has tasks = {_short(tasks)}: {problem}") from None
        kinds.add(task if task in _ALLOWED else "labels")
    if len(kinds) > 1:
        raise AuditError(
            f"{spec!r} has tasks = {_short(tasks)}, whose outputs are of different kinds; "
            "write a function or class for each kind"
        )
    return kinds.pop()


def _number(value: object) -> float | None:
    """A number of Python's or NumPy's as a float, else None."""
    return float(value) if isinstance(value, Real) and not isinstance(value, bool) else None


def _imported(name: str, spec: str) -> ModuleType:
    here = os.getcwd()
    # In front only while importing: a file of the user's called statistics.py must not replace the library's for good.
    sys.path.insert(0, here)
    importlib.invalidate_caches()
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as problem:
        if problem.name and (name == problem.name or name.startswith(problem.name + ".")):
            raise AuditError(
                f"no module {name!r} for the system {spec!r}, neither in the current directory ({here}) nor installed"
            ) from None
        raise AuditError(f"module {name!r} needs {problem.name!r}, which is not installed") from problem
    except (Exception, SystemExit) as problem:
        raise AuditError(f"module {name!r} failed to import: {type(problem).__name__}: {problem}") from problem
    finally:
        sys.path.remove(here)
        if here not in sys.path:
            sys.path.append(here)  # for what the user's code imports later


def _source_version(found: object, module: ModuleType) -> str:
    """A fingerprint of the file that defines the object, of its package's version where there is no source."""
    kind = found if inspect.isroutine(found) or inspect.isclass(found) else type(found)
    owner = sys.modules.get(getattr(kind, "__module__", None) or "", module)
    sources = []
    for origin in dict.fromkeys((owner, module)):
        try:
            file = inspect.getsourcefile(origin)
        except TypeError:
            file = None
        if file and Path(file).is_file():
            sources.append(Path(file).read_bytes().decode("utf-8", "replace"))
    return fingerprint(sources) if sources else str(getattr(module, "__version__", "unknown"))


def _text(found: object, attribute: str) -> str | None:
    value = getattr(found, attribute, None)
    return str(value) if isinstance(value, str | int | float) and str(value).strip() else None


def _names(spec: str, found: object, attribute: str, default: tuple[str, ...]) -> tuple[str, ...]:
    value = getattr(found, attribute, default)
    values = (value,) if isinstance(value, str) else value
    if not isinstance(values, tuple | list | set) or not values or not all(isinstance(one, str) for one in values):
        raise AuditError(f"{spec!r} has {attribute} = {_short(value)}; it must be a list of names")
    return tuple(values)


def _settings(spec: str, found: object) -> dict[str, object]:
    """The object's settings. They are stored as JSON, so they must be able to become it."""
    settings = getattr(found, "settings", None)
    if settings is None:
        return {}
    try:
        kept = json.loads(canonical(dict(settings)))
    except (TypeError, ValueError) as problem:
        raise AuditError(
            f"{spec!r} has settings that cannot be kept ({problem}); they must be a dict of numbers, strings and lists"
        ) from problem
    return kept


def _callables(module: ModuleType) -> str:
    names = [name for name, value in vars(module).items() if callable(value) and not name.startswith("_")]
    return ", ".join(sorted(names)[:10]) or "nothing that can be called"


def _where(module: ModuleType) -> str:
    return str(getattr(module, "__file__", None) or "built in")


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
