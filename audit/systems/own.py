"""The user's own system, named `module:name`: a function, a class or an object in a file of the current directory or
in an installed package (docs/reference/systems.md); and versions of code that has none."""

import inspect
import json
import os
import re
import sys
import sysconfig
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import is_dataclass
from functools import cache, partial
from pathlib import Path
from types import CodeType, FunctionType, MappingProxyType, MethodType, ModuleType, NoneType
from typing import Any

from audit.errors import AuditError, BadOutput
from audit.keys import fingerprint
from audit.resources import import_from_here
from audit.systems.base import System
from audit.systems.foreign import foreign, number, shortened, shown
from audit.tasks import Input, Output, get_task, labels_together, spellings, takes_several

_ALLOWED = {
    "similarity": "a number from 0 to 1",
    "summarization": "a text",
    "translation": "a text, None for a pair of languages that it does not have",
    "labels": "a label, a pair (label, score)",
    "several labels": "a list, set or tuple of labels, with a score in a pair or without",
}
"""What may be returned beside an `audit.tasks.Output`, by the kind of output."""
_OPTIONAL = (
    *("call_size", "batch_seconds", "concurrency", "batch", "tries", "patience", "rate", "price", "may_fork"),
    *("run_async", "close_async", "pairs", "advice"),
)
"""What a full `System` may have beside."""


def load(
    spec: str,
    seconds: float | None = None,
    find: Callable[[], tuple[Any, ModuleType]] | None = None,
    told: Mapping[str, Any] = MappingProxyType({}),
) -> System:
    """Return the system that `module:name` names, or that `find` returns, with the module that defines it. What it does
    not say itself (`tasks`, `languages`, `version`, `remark`) is as it is `told`; so is the `name`.

    This is the one door for users' code: it may take `seconds` (None: as long as it likes), and whatever it raises, in
    any of its parts, or says of itself that is not allowed, is one AuditError that names the system.
    """
    with foreign(f"system {spec!r} cannot be loaded", seconds):
        return Own(spec, *(find() if find else find_object(spec)), seconds, told)


def find_object(spec: str, what: str = "system") -> tuple[Any, ModuleType]:
    """Return what `module:name` names, an instance where that is a class, and its module; `what` it is to be is for
    messages. Raises AuditError where it is not there, else whatever its code raises."""
    module_name, _, name = spec.partition(":")
    if not module_name or not name:
        raise AuditError(f"{spec!r} does not name a {what}; write module:name, for example mine:classify")
    try:
        module = import_from_here(module_name, f"module of the {what} {spec!r}")
    except ModuleNotFoundError as problem:
        if not f"{module_name}.".startswith(f"{problem.name}."):
            raise  # a module that it needs
        where = f"neither in the current directory ({os.getcwd()}) nor installed"
        raise AuditError(f"no module {module_name!r} for the {what} {spec!r}, {where}") from None
    obj: Any = module
    for part in name.split("."):
        if not hasattr(obj, part):
            names = [name for name, value in vars(module).items() if callable(value) and not name.startswith("_")]
            there = ", ".join(sorted(names)[:10]) or "nothing that can be called"
            raise AuditError(f"module {module_name!r} ({_where(module)}) has no {name!r}; it has: {there}")
        obj = getattr(obj, part)
    return obj() if inspect.isclass(obj) else obj, module


def is_system(obj: object) -> bool:
    """Return whether an object is a `System` already."""
    return callable(getattr(obj, "run", None)) and callable(getattr(obj, "needs", None))


class Described:
    """What a user's object says of itself, read once. Its version is else a fingerprint of the source file and of the
    state (`code_version`), so that changed code or another model is run anew."""

    def __init__(self, spec: str, obj: object, module: ModuleType, told: Mapping[str, Any] = MappingProxyType({})):
        self.spec, self.object, self._told = spec, obj, told
        self.summary = ((inspect.getdoc(obj) or "").strip().splitlines() or [f"the user's own ({_where(module)})"])[0]
        word, names = "1 to 200 printable characters", "a list of printable texts"
        self.name: str = told.get("name") or self._said("name", _word, word) or spec
        self.version: str = self._said("version", _word, word) or _version_of(spec, obj, module)
        self.remark: str | None = self._said("remark", _word, word)
        self.deterministic: bool | None = self._said("deterministic", bool, "True or False")
        self.tasks: tuple[str, ...] = self._said("tasks", _names, names) or ("sentiment",)
        any_language = ("*",) if "translation" in self.tasks else ("en",)
        self.languages: tuple[str, ...] = self._said("languages", _names, names) or any_language
        stored = "a dict of numbers, strings and lists"
        self.settings: Mapping[str, object] = self._said("settings", _settings, stored) or {}
        for task in self.tasks:
            try:
                get_task(task)
            except AuditError as problem:
                raise AuditError(f"{spec!r} has tasks = {shown(self.tasks)}: {problem}") from None

    def __reduce__(self) -> tuple[Any, ...]:
        # A worker imports the user's module itself: functions of models are seldom fit to be pickled.
        from audit.systems import get_system

        return get_system, (self.spec, None, self.tasks[0])

    def _said(self, name: str, read: Callable[[Any], Any], allowed: str) -> Any:
        """Return what the object says under a name, or is told; None where that is nothing."""
        value = getattr(self.object, name, None)
        if value is None or value == "" or callable(value):
            return self._told.get(name)
        try:
            return read(value)
        except Exception:
            raise AuditError(f"{self.spec!r} has {name} = {shown(value)}; it must be {allowed}") from None

    def prepare(self) -> None:
        """Call the object's own `prepare`, where it has one. Raises AuditError for whatever that raises."""
        with foreign(f"prepare() of the system {self.spec!r} failed"):
            own = getattr(self.object, "prepare", None)
            if callable(own):
                own()


def _word(value: Any) -> str:
    if not isinstance(value, str | int | float) or not str(value).isprintable() or len(str(value)) > 200:
        raise ValueError
    return str(value)


def _names(value: Any) -> tuple[str, ...]:
    return tuple(map(_word, (value,) if isinstance(value, str) else value))


def _settings(value: Any) -> Any:
    """Return settings as they are stored: half characters, numbers without end and itself in itself cannot be."""
    return json.loads(json.dumps(dict(value), allow_nan=False, ensure_ascii=False, sort_keys=True).encode())


def _where(module: ModuleType) -> str:
    return str(getattr(module, "__file__", None) or "built in")


class Own(Described):
    """A user's object as a `System`: one that is a `System` already as it is, else `predict(texts) -> list` where it
    has one, else `object(text)` one by one.

    A translator has `predict(asked) -> list` of tuples (text, source language, target language), or is called with
    these three; it reads every language unless it says which.
    """

    def __init__(
        self,
        spec: str,
        obj: Any,
        module: ModuleType,
        seconds: float | None = None,
        told: Mapping[str, Any] = MappingProxyType({}),
    ):
        self._predict: Callable[..., Any] | None = getattr(obj, "predict", None)
        self._run: Callable[[Sequence[Input]], list[Output]] | None = obj.run if is_system(obj) else None
        if not self._run and not callable(self._predict) and not callable(obj):
            what = "it must be a function, or a class with predict(texts) or __call__(text)"
            raise AuditError(f"{spec!r} is a {type(obj).__name__}, which cannot be called; {what}")
        super().__init__(spec, obj, module, told)
        self._returns = "" if self._run else _returned(spec, self.tasks)
        self._spelling = spellings(self.tasks)
        self._needs = shortened(str(needs)) if self._run and (needs := obj.needs()) else None
        for name in _OPTIONAL if self._run else ():
            if (value := getattr(obj, name, None)) is not None:
                setattr(self, name, value)
        if self._run and callable(lacks := getattr(obj, "lacks", None)):
            self.lacks = partial(self._lacks, lacks, seconds)
        if hasattr(self, "run_async") and not (hasattr(self, "concurrency") and hasattr(self, "batch")):
            raise AuditError(
                f"{spec!r} has run_async, but not both of concurrency and batch; add them as whole numbers"
            )

    def needs(self) -> str | None:
        """Return the object's own answer, as it was when the object was loaded."""
        return self._needs

    def _lacks(self, lacks: Callable[[Input], object], seconds: float | None, item: Input) -> bool:
        with foreign(f"lacks() of the system {self.spec!r} failed", seconds):
            return bool(lacks(item))

    def run(self, inputs: Sequence[Input]) -> list[Output]:
        """Return one output per input. Raises what the object raises, and BadOutput for what is no output."""
        if self._run is not None:
            return self._run(inputs)
        arguments = [self._argument(item) for item in inputs]
        if self._predict is None:
            call: Any = self.object
            spread = self._returns == "translation"
            return [self._output(call(*argument) if spread else call(argument), argument) for argument in arguments]
        returned = self._predict(arguments)
        try:
            values = list(returned)
        except TypeError:
            raise BadOutput(f"{self.spec}: predict returned {shown(returned)}, not a list") from None
        if len(values) != len(arguments):
            raise BadOutput(f"{self.spec}: predict returned {len(values)} outputs for {len(arguments)} texts")
        return list(map(self._output, values, arguments))

    def _argument(self, item: Input) -> Any:
        """Return what the user's code is given: the text, a pair as a tuple, or a text with its languages."""
        if self._returns == "translation":
            return item.text, item.languages[0], item.target or ""
        return item.text if len(item.texts) == 1 else item.texts

    def _output(self, value: Any, argument: object) -> Output:
        """Return an output made from what the user's code returned. Raises BadOutput when it is none."""
        if isinstance(value, Output):
            return value
        if own := getattr(get_task(self.tasks[0]), "output_of", None):
            read: Output = own(value, argument)
            return read
        if self._returns == "similarity" and (score := number(value)) is not None:
            return Output(score=score)
        if self._returns in ("summarization", "translation") and isinstance(value, str):
            return Output(text=value)
        if self._returns == "translation" and value is None:
            return Output()
        if "labels" in self._returns:
            several = self._returns == "several labels"
            is_pair = isinstance(value, tuple | list) and len(value) == 2 and not isinstance(value[1], str)
            label, score = value if is_pair else (value, None)  # two labels are no pair
            if several and isinstance(label, tuple | list | set | frozenset) and all(isinstance(x, str) for x in label):
                label = labels_together(label, self.tasks)
            if isinstance(label, str) and (score is None or number(score) is not None):
                return Output(self._spelling.get(label.strip().casefold(), label), number(score))
        allowed = f"allowed are {_ALLOWED[self._returns]}, or an audit.tasks.Output"
        raise BadOutput(f"{self.spec} returned {shown(value)} for {shown(argument)}; {allowed}")


def _returned(spec: str, tasks: Sequence[str]) -> str:
    """Return the kind of what the user's code returns, a key of `_ALLOWED`; of a plug-in's task whose outputs are
    texts, the built-in one that is like it. Raises AuditError for several of which one cannot say what is returned."""
    pairs = {task for task in tasks if task not in _ALLOWED and get_task(task).question_kind == "pair"}
    kinds = {task if task in _ALLOWED else "summarization" if task in pairs else "labels" for task in tasks}
    if len(kinds) > 1:
        what = "whose outputs are of different kinds; write a function or class for each kind"
        raise AuditError(f"{spec!r} has tasks = {shown(tasks)}, {what}")
    return "several labels" if kinds == {"labels"} and takes_several(tasks) else kinds.pop()


# Versions of code that has none: a fingerprint of its source, of the constants and the state that it reads. Functions
# are followed into other functions of the user's own. What a fingerprint cannot see (a file that is read later, a model
# on another machine, what cannot be hashed) is found by asking stored inputs again, so nothing here tries to be
# complete.

_INSTALLED = (sysconfig.get_path("purelib"), sysconfig.get_path("platlib"), "site-packages", "dist-packages")
_CONSTANT = (str, bytes, int, float, complex, NoneType, re.Pattern, dict, set, tuple, list, partial, MethodType)


def code_version(*things: object, state: bool = True, with_parts: Iterable[str] = ()) -> str:
    """Return the version of functions, classes and objects; with `state` also that of the objects that they hold or
    read, else constants count only: strings, numbers, compiled patterns, and collections of them.

    `with_parts` are more texts that are a part of it.
    """
    return fingerprint([*with_parts, _hasher()(state).hash(things)])


_first: dict[tuple[str, str], str] = {}
"""By spec and what its files say: the version that an object had when this process loaded it first. One that loads its
model when it is first asked stays the same system."""


def _version_of(spec: str, obj: object, module: ModuleType) -> str:
    """Return the version of an object by the files that define it, and by what it holds and reads."""
    kind = obj if inspect.isroutine(obj) or inspect.isclass(obj) else type(obj)
    owner = sys.modules.get(getattr(kind, "__module__", None) or "", module)
    files = [getattr(origin, "__file__", None) or "" for origin in dict.fromkeys((owner, module))]
    sources = [Path(file).read_bytes().decode("utf-8", "replace") for file in files if file.endswith(".py")]
    key = spec, fingerprint(sources)
    if key not in _first:
        _first[key] = code_version(obj, with_parts=[*sources, str(getattr(module, "__version__", ""))])
    return _first[key]


@cache
def _hasher() -> Any:
    """Return joblib's hasher, which sees all that objects hold, for code, too; importing it takes a while."""
    from joblib.hashing import NumpyHasher

    class Hasher(NumpyHasher):  # type: ignore[misc]
        def __init__(self, state: bool):
            super().__init__("md5")
            self._state = state
            self._seen: dict[int, object] = {}  # By id: what is held here keeps its id to itself

        def save(self, obj: Any) -> None:
            with suppress(Exception):  # foreign code says what its state is
                super().save(self._hashed(getattr(obj, "__wrapped__", obj)))

        def _hashed(self, value: Any) -> Any:
            """Return what is hashed for a value: for code what identifies it, for others what is no chance."""
            if isinstance(value, type | FunctionType | ModuleType):
                return self._code(value)
            if isinstance(value, dict) and "_stop_words_id" in value:  # of scikit-learn's vectorizers: an address
                return {name: part for name, part in value.items() if name != "_stop_words_id"}
            if isinstance(value, frozenset):
                return set(value)  # of which joblib knows that the order is chance
            if callable(getattr(value, "detach", None)) and callable(getattr(value, "numpy", None)):
                return value.detach().cpu().numpy()  # a tensor pickles its address
            if not self._state and not isinstance(value, _CONSTANT):
                return type(value), vars(value) if is_dataclass(value) else None
            return value

        def _code(self, code: Any) -> Any:
            """Return what identifies a function, a class or a module: of the user's own the source, defaults, what it
            closes over, and the globals that it reads; of others the name."""
            name = getattr(code, "__qualname__", code.__name__)
            if id(code) in self._seen or isinstance(code, ModuleType):
                return name
            self._seen[id(code)] = code
            if not _is_own(getattr(code, "__module__", None)):
                return name, _source(code)
            if isinstance(code, type):
                parts = (getattr(part, "__func__", getattr(part, "fget", part)) for part in vars(code).values())
                return _source(code), code.__bases__, [part for part in parts if isinstance(part, FunctionType)]
            read = sorted({name for part in _codes(code.__code__) for name in part.co_names})
            values = {name: code.__globals__[name] for name in read if name in code.__globals__}
            for module in [value for value in values.values() if isinstance(value, ModuleType)]:
                if _is_own(module.__name__):
                    own = {part: vars(module)[part] for part in read if part in vars(module)}
                    values |= {f"{module.__name__}.{part}": value for part, value in own.items()}
            closed = inspect.getclosurevars(code).nonlocals
            return _source(code), code.__defaults__, code.__kwdefaults__, closed, values

    return Hasher


def _codes(code: CodeType) -> Iterator[CodeType]:
    """Yield code and what is nested in it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes(constant)


def _source(defined: Any) -> str:
    """Return the source of a function or class; of a function that was never in a file its compiled code."""
    with suppress(OSError, TypeError):
        return textwrap.dedent(inspect.getsource(defined))
    codes = list(_codes(defined.__code__)) if isinstance(defined, FunctionType) else []
    constants = [constant for code in codes for constant in code.co_consts if not isinstance(constant, CodeType)]
    return repr(([code.co_code for code in codes], constants))


def _is_own(module: str | None) -> bool:
    """Return whether a module is the user's own: neither Python's, nor an installed package's, nor audit's."""
    top = (module or "").partition(".")[0]
    if top == "audit" or (top in sys.stdlib_module_names and top != "__main__"):
        return False
    file = getattr(sys.modules.get(module or ""), "__file__", None) or ""
    return not any(folder in file for folder in _INSTALLED)
