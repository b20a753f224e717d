"""A caller's own systems, relations and texts, given as Python objects."""

import inspect
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from random import Random
from types import ModuleType
from typing import Any, Literal, TypeAlias, cast
from weakref import WeakKeyDictionary

import pandas as pd

from audit.corpora import Corpus
from audit.corpora.files import FileCorpus
from audit.errors import AuditError
from audit.relations import ANY, Plain, Verdict
from audit.relations.base import nothing, stays, unchanged
from audit.relations.registry import replace_relation
from audit.runner.options import CorpusOptions
from audit.systems import offer_system
from audit.systems.judge import Judge, function_judge, load_judge
from audit.systems.own import code_version, is_system, load
from audit.tasks import Output, base_of, get_task
from audit.text import Analysis
from audit.user_models import checked_arguments

Texts: TypeAlias = str | Path | pd.DataFrame | Iterable[object] | Corpus
Rewrite = Callable[..., "str | Sequence[str] | None"]


@checked_arguments
def relation(
    name: str,
    *,
    task: str = "sentiment",
    check: Callable[[Sequence[Output]], Verdict | bool],
    preserves: Literal["label"] | Sequence[str] | None = None,
    unit: Literal["sentence", "document", "any"] = "any",
    languages: Sequence[str] = ANY,
    version: str | None = None,
    question: str | Mapping[str, str] = "",
) -> Callable[[Rewrite], Rewrite]:
    """Register the decorated function as a metamorphic relation.

    The function is called with the source's text and returns the follow-up's, several texts, or None where the relation
    does not apply; a second parameter is a `random.Random` that is the same in every run. `check` takes the outputs of
    the source and the follow-ups and returns a `Verdict` or whether the relation is satisfied. `preserves="label"` says
    that every right answer about the source is right about the follow-up, a list of labels that these are; None: people
    must be asked. `version` names the follow-ups (default: that of the function's source). `question` is what people
    are asked about a group, *yes* where the relation holds. Defining the same name again replaces it. Raises
    UnknownName, and AuditError for a name of a built-in relation and for functions that cannot be called so.

    >>> import audit
    >>> @audit.relation("MINE.1", check=audit.equivalent, preserves="label")
    ... def upper(text):
    ...     "Capital letters change nothing."
    ...     return text.upper()
    """
    carry = nothing if preserves is None else unchanged if preserves == "label" else stays(*preserves)
    _parameters(check, f"the check of relation {name!r} takes the outputs, in one list", 1)

    def register(function: Rewrite) -> Rewrite:
        wanted = f"the function of relation {name!r} takes the text, or the text and a random.Random"
        replace_relation(
            Plain(
                task=base_of(get_task(task).name),
                name=name,
                family="own",
                summary=(inspect.getdoc(function) or function.__name__).strip().splitlines()[0],
                unit=unit,
                perturb=_TextFunction(name, function, _parameters(function, wanted, 1, 2) == 2),
                check=check,
                carry=carry,
                languages=tuple(languages),
                version=version or code_version(function, check, state=False),
                question=question,
            ),
            origin=getattr(function, "__module__", None) or "",
        )
        return function

    return register


def _parameters(function: Callable[..., Any], wanted: str, *numbers: int) -> int:
    """Return with how many values a function is to be called, the most of these numbers. Raises AuditError, which says
    what is `wanted`, where it can be called with none of them."""
    try:
        signature = inspect.signature(function)
    except ValueError:  # some functions in C do not say what they take
        return numbers[0]
    for number in sorted(numbers, reverse=True):
        with suppress(TypeError):
            signature.bind(*range(number))
            return number
    raise AuditError(f"{wanted}, not {signature}")


@dataclass(frozen=True)
class _TextFunction:
    """Adapts a function of a text to the way in which relations are called; `name` is the relation's, for messages."""

    name: str
    function: Rewrite
    takes_random: bool

    def __call__(self, source: Analysis, random: Random) -> str | list[str] | None:
        texts = self.function(source.text, random) if self.takes_random else self.function(source.text)
        texts = [texts] if isinstance(texts, str) else texts
        if texts is None:
            return None
        if not isinstance(texts, Sequence) or not all(isinstance(text, str) and text.strip() for text in texts):
            wanted = "it must return a text, texts or None, and no empty text"
            raise AuditError(f"the function of relation {self.name!r} returned {texts!r:.80}; {wanted}")
        return list(texts)


def judge_of(judge: object, name: str | None) -> Judge:
    """Return the judge that a caller means: a function of a question, or the spec of one."""
    if isinstance(judge, str):
        return load_judge(judge, name)
    called = name or _name_of(judge)
    if called == "<lambda>":
        raise AuditError("the judge is a lambda, which has no name; give it one, as in judge_with(f, name='referee')")
    if not callable(judge):
        raise AuditError(f"judge={judge!r:.80}: expected a function of a question, or the name of one")
    own_judge = function_judge(judge, called, sys.modules.get(getattr(judge, "__module__", "")) or ModuleType(called))
    own_judge.name = called
    if getattr(judge, "version", None) is None:
        own_judge.version = code_version(judge)
    return own_judge


def _name_of(own: object) -> str:
    name = getattr(own, "name", None)
    return name if isinstance(name, str) else str(getattr(own, "__name__", type(own).__name__))


def system_names(systems: object, corpus: Corpus) -> list[str]:
    """Return the names under which systems run: specs under the name given, callables and objects under their own
    `name`, their `__name__`, or the key of a mapping. Raises AuditError for anything that is none."""
    if isinstance(systems, str) or callable(systems):
        systems = [systems]
    if not isinstance(systems, Iterable):
        raise AuditError(f"systems={systems!r:.80}: expected names, callables or objects, in a list or a dict")
    named = systems.items() if isinstance(systems, Mapping) else [(None, system) for system in systems]
    names = [value if isinstance(value, str) and key is None else _register(key, value, corpus) for key, value in named]
    if not names:
        raise AuditError("systems is empty; name at least one, such as 'vader' (audit.all_systems() lists them)")
    if duplicate := next((name for name in names if names.count(name) > 1), None):
        raise AuditError(f"systems has two of the name {duplicate!r}; name them, as in {{'first': f, 'second': g}}")
    return names


def _register(key: str | None, system: object, corpus: Corpus) -> str:
    if isinstance(system, str):
        raise AuditError(f"systems has {key!r}: {system!r}; names stand in a list, a dict has callables or objects")
    name = str(key or _name_of(system))
    if name == "<lambda>":
        raise AuditError("systems has a lambda, which has no name; write {'name': lambda text: ...}")
    if ":" in name or not name.strip():
        raise AuditError(f"systems has the name {name!r}; it must have a letter, and no colon")
    if inspect.isclass(system):
        system = system()
    told: dict[str, Any] = {}
    if not is_system(system):
        told = {"name": name, "tasks": (corpus.task,), "languages": ANY}
        if not isinstance(getattr(system, "version", None), str | int | float):
            own_version = _version_of(system)
            _offered[name] = system, own_version
            told |= {"version": own_version}
    module = sys.modules.get(getattr(system, "__module__", None) or "", ModuleType("notebook"))
    offer_system(name, lambda: load(name, find=lambda: (system, module), told=told))
    return name


# What a run itself changes in an object (a model loaded when it is first asked, a cache) makes no other system of it:
# systems without a version of their own by name, and of each object the version after its last run and that of the run.
_offered: dict[str, tuple[object, str]] = {}
_after: WeakKeyDictionary[Any, tuple[str, str]] = WeakKeyDictionary()


@contextmanager
def using(names: Iterable[str]) -> Iterator[None]:
    """A block in which these systems are asked; called again as they are at its end, they are the same ones."""
    try:
        yield
    finally:
        for name in names:
            if (own_system := _offered.pop(name, None)) is not None:
                with suppress(TypeError):  # some objects cannot be keys
                    _after[own_system[0]] = code_version(own_system[0]), own_system[1]


def _version_of(system: object) -> str:
    now = code_version(system)
    try:
        after, ran_under = _after.get(system, ("", now))
    except TypeError:
        return now
    return ran_under if after == now else now


def corpus_of(corpus: Texts, read: CorpusOptions, name: str | None = None) -> Corpus:
    """Return the corpus of a name, a file, a frame, an iterable of texts or (text, gold) pairs, or of a corpus.

    A frame has the columns of a file (`audit.corpora.files`). Raises AuditError for anything else.
    """
    if isinstance(corpus, str | Path):
        return read.corpus(corpus)
    own = read.task or "sentiment", read.unit, read.language, read.reading
    if isinstance(corpus, pd.DataFrame):
        return FileCorpus(name or "frame", *own, content=corpus)
    if callable(getattr(corpus, "rows", None)) and callable(getattr(corpus, "fingerprint", None)):
        return cast(Corpus, corpus)
    if not isinstance(corpus, Iterable):
        wanted = "a name of audit.all_corpora(), a file, a DataFrame with the column text, or texts"
        raise AuditError(f"corpus is a {type(corpus).__name__}; expected {wanted}")
    rows = [_columns(number, item) for number, item in enumerate(corpus, start=1)]
    return FileCorpus(name or "texts", *own, content=pd.DataFrame(rows))


def _columns(number: int, item: object) -> Mapping[str, object]:
    if isinstance(item, str):
        return {"text": item}
    if isinstance(item, Mapping):
        return {str(key): value for key, value in item.items()}
    if isinstance(item, tuple | list) and len(item) == 2:
        return {"text": item[0], "gold": item[1]}
    raise AuditError(f"corpus, row {number}: {item!r:.80} is no text, no pair (text, gold) and no dict of columns")
