"""The plan of a study: corpus, systems, relations, sample, judging, report; checked, and complete in itself.

A plan is read from a TOML file or from the app's form. Its keys are the options of `run`, `sample` and `report`.
Reading fills in whatever was left out (relations that fit the corpus, seeds, the corpus's fingerprint, defaults), so
that a stored plan means the same under a later version of `audit`, and two versions can be compared key by key.
"""

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any

from annotated_types import Ge, Le, MinLen
from pydantic import Field, create_model

from audit.corpora import Reading, all_corpora, get_corpus
from audit.corpora.base import Corpus
from audit.errors import AuditError
from audit.false_satisfaction.resolution import Whose
from audit.files import read_text, toml_of
from audit.judging.settings import BOUNDS, Bounds, JudgingSettings
from audit.judging.words import KEYS, faults_of, words_content
from audit.messages import LANGUAGES, message, with_commas
from audit.options import Options, options_of, values_of
from audit.relations import Relation, get_relation
from audit.resources import data_file
from audit.runner.fitting import check_limits_used, fitting, loaded
from audit.runner.options import CorpusOptions, RunOptions
from audit.sampling.options import FRONT, MAJORITY, SampleOptions
from audit.statistics.intervals import Target
from audit.studies.deviations import primary_named
from audit.studies.own_systems import served_functions
from audit.systems import all_systems, offered, without_version
from audit.tasks import get_task, matches
from audit.tasks.words import ANY
from audit.user_models import Allowed, UserModel, read_as, refuse, short

SUFFIX = ".toml"
"""Ends the name of a plan's file, and never the name of a plan."""
_NAMES_ONLY = re.compile(r"[\w,=. -]*")


def _is_name(name: str) -> bool:
    right = 0 < len(name) <= 80 and name.isprintable() and name == name.strip() and name[0].isalnum()
    return right and not name.lower().endswith(SUFFIX)


def _keys(options: type[Options], names: str, **defaults: Any) -> dict[str, Any]:
    """The keys of a table that are options, with these values where they are left out."""
    by_name = {option.name: option for option in options_of(options)}
    return {name: (by_name[name].kind | None, defaults.get(name, by_name[name].default)) for name in names.split()}


def _bounded(bounds: Bounds) -> Any:
    kind: Any = int if bounds.words == "settings.whole" else float
    return Annotated[kind, Ge(bounds.least), Le(bounds.most)]


_TABLES: dict[str, Any] = {
    "study": {
        **_keys(CorpusOptions, "task", task="sentiment"),
        "corpus": (str, ...),
        "systems": (Annotated[list[str], MinLen(1)], ...),
        **_keys(RunOptions, "relations limit seed"),
        **_keys(CorpusOptions, "unit language columns labels"),
        **_keys(RunOptions, "document_share repeats", repeats=None),
        "fingerprint": (str | None, None),
        "set": _keys(RunOptions, "parameters")["parameters"],
        **_keys(RunOptions, "valid", valid=[]),
    },
    "sample": _keys(
        SampleOptions, "base share decide eps most follow_ups", decide=FRONT.decide, follow_ups=FRONT.follow_ups
    ),
    "judging": {
        **_keys(SampleOptions, "annotators quorum", annotators=2, quorum=MAJORITY),
        "gold": (bool, False),
        **{name: (_bounded(bounds), getattr(JudgingSettings, name)) for name, bounds in BOUNDS.items()},
    },
    "report": {
        "answers": (Whose | None, None),
        "target": (Target | None, None),
        "delta": (Annotated[float, Ge(0), Le(1)] | None, None),
        "weights": (str | None, None),
        "primary": (list[str] | None, None),
        "primary_relation": (str | None, None),
    },
}
_MODELS = {name: create_model(f"_{name.title()}", __base__=UserModel, **keys) for name, keys in _TABLES.items()}
_NAME = Annotated[
    str,
    Allowed(f"1 to 80 printable characters that begin with a letter or digit, without {SUFFIX}", _is_name),
    Field(description='write name = "films" above the first table'),
]
_PARTS: dict[str, Any] = {
    "name": (_NAME, ...),
    "study": (_MODELS["study"], ...),
    "words": (dict[str, Any], {}),
    **{table: (_MODELS[table], _MODELS[table]()) for table in ("sample", "judging", "report")},
}
_Document: Any = create_model("_Document", __base__=UserModel, **_PARTS)
TABLES = {name: tuple(keys) for name, keys in _TABLES.items()} | {"words": (*KEYS, *LANGUAGES)}
"""Every table of a plan and its keys, in the order in which files have them."""
SETTINGS = tuple(BOUNDS)
"""Keys of `judging` that are settings."""


@dataclass(frozen=True)
class Plan:
    """A checked plan. The tables have every key of `TABLES`; None where nothing is wanted."""

    name: str
    study: dict[str, Any] = field(default_factory=dict)
    sample: dict[str, Any] = field(default_factory=dict)
    judging: dict[str, Any] = field(default_factory=dict)
    report: dict[str, Any] = field(default_factory=dict)
    words: dict[str, Any] = field(default_factory=dict)

    def content(self) -> dict[str, dict[str, Any]]:
        """The tables without the name: what a version in the database holds."""
        return {table: dict(getattr(self, table)) for table in TABLES}

    def options(self) -> RunOptions:
        """How the study is run."""
        return _run_options(self.study)

    def sampling(self) -> SampleOptions:
        """What rounds ask, and how people are asked."""
        return SampleOptions(**self.sample, annotators=self.judging["annotators"], quorum=self.judging["quorum"])


Uploaded = Mapping[str, Corpus]
"""The corpora that were uploaded to the database that a plan is for (`audit.studies.uploads`), by name."""
NOTHING_UPLOADED: Uploaded = MappingProxyType({})


def read_plan(
    content: Mapping[str, Any],
    file: str = "the plan",
    registered_only: bool = False,
    uploaded: Uploaded = NOTHING_UPLOADED,
) -> Plan:
    """Return the plan in a document with `name` and the tables of `TABLES`, checked and completed.

    With `registered_only`, as for what comes through the app, corpora and systems must be registered ones: a file's
    name and `module:name` are refused before anything is read or imported. Corpora that were `uploaded` may be named,
    too. Raises BadFile, which names the file and, of every mistake, the key and what is allowed there.

    >>> plan = read_plan({"name": "p", "study": {"corpus": "imdb", "systems": ["vader"]}, "sample": {"share": 0.01}})
    >>> plan.study["unit"], plan.sample["decide"], plan.judging["annotators"]
    ('document', 'winner', 2)
    """
    # Keys of a stored plan that have no value are null; a file leaves them out.
    written = {
        name: {key: value for key, value in table.items() if value is not None} if isinstance(table, Mapping) else table
        for name, table in content.items()
    }
    tables = read_as(_Document, {"study": {}} | written, file).model_dump()
    name, words = tables.pop("name"), tables.pop("words")
    tables["words"] = dict.fromkeys(TABLES["words"]) | words
    faults = _Mistakes(unregistered_keys(tables, uploaded).items() if registered_only else ())
    with faults.at("study.task"):
        get_task(tables["study"]["task"])
    if not faults:
        _complete(tables, faults, uploaded)
    refuse(file, faults)
    return Plan(name, **tables)


class _Mistakes(list[tuple[str, str]]):
    """(where, reason) of everything that is wrong in a plan."""

    @contextmanager
    def at(self, where: str) -> Iterator[None]:
        try:
            yield
        except AuditError as problem:
            self.append((where, problem.sentence))


def _complete(tables: dict[str, dict[str, Any]], so_far: _Mistakes, uploaded: Uploaded) -> None:
    """Check what the keys mean, and fill in what was left out."""
    study, words = tables["study"], tables["words"]
    task, corpus, names = study["task"], None, {}
    with so_far.at("study.corpus"):
        corpus = corpus_planned(study, uploaded)
        if needs := corpus.needs():
            raise AuditError(f"corpus {corpus.name} is not available; {needs}")
    with so_far.at("study.systems"):
        # A plan names every engine, so that one that is recorded later is a change of the plan.
        systems = loaded(study["systems"])
        study["systems"], names = list(systems), {spec: system.name for spec, system in systems.items()}
        for spec, system in systems.items():
            if not any(matches(task, does) for does in system.tasks):
                raise AuditError(f"system {spec} does {with_commas(system.tasks)}, not {task}")
            if needs := system.needs():
                raise AuditError(f"system {spec} cannot run here; {needs}")
    if corpus is not None:
        if not so_far:
            _describe(study, corpus, so_far)
        _relations(study, corpus, so_far)
    with so_far.at("sample"):
        SampleOptions(**tables["sample"])
    # A guideline's file is read into the plan.
    own = {key: value for key, value in words.items() if value is not None}
    if faults := list(faults_of(task, own)):
        so_far += [(f"words.{where}", reason) for where, reason in faults]
    else:
        for language, values in words_content(task, own).items():
            words |= values if language == ANY else {language: values}
    _primary(tables["report"], study, names, so_far)


def _describe(study: dict[str, Any], corpus: Corpus, faults: _Mistakes) -> None:
    content = corpus.fingerprint()
    with faults.at("study.fingerprint"):
        if study["fingerprint"] not in (None, content):
            raise AuditError(
                f"the corpus {corpus.name} has the content {content} now, the plan was made for "
                f"{study['fingerprint']}; take the key out and store the plan again to plan for the new content"
            )
    study |= {"unit": corpus.unit, "language": corpus.language, "fingerprint": content}


def _relations(study: dict[str, Any], corpus: Corpus, faults: _Mistakes) -> None:
    with faults.at("study.set"):
        named = {name: values for name, values in study["set"].items() if values}
        study["set"] = {get_relation(study["task"], name).name: values for name, values in named.items()}
    with faults.at("study.set" if study["set"] and not study["relations"] else "study.relations"):
        study["relations"] = [relation.name for relation in relations_planned(corpus, study)]
        with faults.at("study.valid"):
            check_limits_used(study["valid"], study["relations"])
        with faults.at("study.set"):
            if unused := sorted(set(study["set"]) - set(study["relations"])):
                run = with_commas(study["relations"])
                raise AuditError(f"{unused[0]} is not among the relations that are run: {run}")


def _primary(report: dict[str, Any], study: Mapping[str, Any], names: Mapping[str, str], faults: _Mistakes) -> None:
    """Check the primary comparison: two of the systems, by the names they are run under, and one of the relations."""
    named, relation = report["primary"], report["primary_relation"]
    with faults.at("report.primary"):
        primary_named(named, relation)
        for system in named or ():
            if system not in names and system not in names.values():
                raise AuditError(f"{short(system)} is not among the systems: {with_commas(names)}")
        report["primary"] = named and [names.get(system, system) for system in named]
    with faults.at("report.primary_relation"):
        if relation is not None and study["relations"] and relation not in study["relations"]:
            raise AuditError(f"{short(relation)} is not among the relations: {with_commas(study['relations'])}")


def unregistered_keys(
    content: Mapping[str, Mapping[str, Any]], uploaded: Uploaded = NOTHING_UPLOADED
) -> dict[str, str]:
    """Return the keys that name a file, an address or somebody's own code, and why the app does not take them.

    What comes through a browser may name nothing but what is registered: the server's files are not its manager's.

    >>> study = {"task": "sentiment", "corpus": "/etc/passwd.csv", "systems": ["os:system"], "set": {}}
    >>> sorted(unregistered_keys({"study": study, "report": {"weights": "/etc/passwd"}}))
    ['report.weights', 'study.corpus', 'study.systems']
    """
    study = content["study"]
    corpora = [*uploaded, *(corpus.name for corpus in all_corpora(study["task"]))]
    systems = [*(system.name for system in all_systems(study["task"])), *served_functions()]
    advice = "files and systems of your own are set and run with `audit study` where the database is"
    refusals: dict[str, str] = {}
    if study["corpus"] not in corpora:
        refusals["study.corpus"] = f"{short(study['corpus'])} is not one of {with_commas(corpora)}; {advice}"
    if unregistered := [name for name in study["systems"] if not (offered(name) or without_version(name) in systems)]:
        refusals["study.systems"] = f"{short(unregistered[0])} is not one of {with_commas(systems)}; {advice}"
    for relation, values in study["set"].items():
        for name, value in values.items():
            # hanlp:FOLDER, ngram:FILE: what stands behind a colon is the machine's.
            if isinstance(value, str) and not _NAMES_ONLY.fullmatch(value):
                refusals["study.set"] = f"{relation} has {name} = {short(value)}, not only names; {advice}"
    if content["report"]["weights"] is not None:
        refusals["report.weights"] = advice
    return refusals


def corpus_planned(study: Mapping[str, Any], uploaded: Uploaded = NOTHING_UPLOADED) -> Corpus:
    """Return the corpus that a plan's table `study` names. Raises what `get_corpus` raises."""
    if (own := uploaded.get(study["corpus"])) is not None:
        if not matches(own.task, study["task"]):
            raise AuditError(message("upload.other_task", name=own.name, task=own.task, wanted=study["task"]))
        return own
    reading = Reading(study["columns"], study["labels"])
    return get_corpus(study["corpus"], study["task"], study["unit"], study["language"], reading)


def relations_planned(corpus: Corpus, study: Mapping[str, Any]) -> list[Relation]:
    """Return the relations that a plan's table `study` runs on its corpus. Raises what `fitting` raises."""
    return fitting(corpus, _run_options(study))


def _run_options(study: Mapping[str, Any]) -> RunOptions:
    return values_of(RunOptions, study, renamed={"parameters": "set"})


def read_plan_file(path: str | Path) -> Plan:
    """Return the plan in a TOML file. Raises BadFile for a file that cannot be read or is no TOML (line and column),
    and for every mistake in it."""
    return read_plan(toml_of(path, read_text(path), "see `audit study example`"), str(path))


def to_toml(plan: Plan) -> str:
    """Return the plan as a TOML file that reads as the same plan.

    >>> print(to_toml(Plan("p", study={"corpus": "imdb", "limit": None, "set": {"MR6.1": {"sentences": 5}}})), end="")
    name = "p"
    <BLANKLINE>
    [study]
    corpus = "imdb"
    <BLANKLINE>
    [study.set."MR6.1"]
    sentences = 5
    """
    words = {key: value for key, value in plan.words.items() if value}
    return "\n".join([f"name = {toml_value(plan.name)}", *_toml("", plan.content() | {"words": words})]) + "\n"


def _toml(path: str, table: Mapping[str, Any]) -> Iterator[str]:
    """Yield the lines of a table and of those in it."""
    plain = {key: value for key, value in table.items() if value is not None and not isinstance(value, Mapping)}
    if plain:
        yield from ("", f"[{path}]", *(f"{_key(key)} = {toml_value(value)}" for key, value in plain.items()))
    for key, value in table.items():
        if isinstance(value, Mapping):
            yield from _toml(f"{path}.{_key(key)}".lstrip("."), value)


def toml_value(value: Any) -> str:
    """Return a value as TOML writes it.

    >>> toml_value(True), toml_value(0.1), toml_value(["a", "b"])
    ('true', '0.1', '["a", "b"]')
    """
    # JSON is TOML for what plans hold, but for this one character, which TOML does not take as it is.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _key(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else toml_value(name)


def example() -> str:
    """Return a plan with every key and what it means, to begin with."""
    return data_file("plans/example.toml").read_text(encoding="utf-8")
