"""The plan of a study: corpus, systems, relations, sample, judging, report; checked, and complete in itself.

A plan is read from a TOML file or from the app's form. Reading fills in whatever was left out (relations that fit the
corpus, seeds, the corpus's fingerprint, defaults), so that a stored plan means the same under a later version of
`audit`, and two versions can be compared key by key.
"""

import json
import math
import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any

from pydantic import AfterValidator, Field, Strict, create_model

from audit.corpora import Reading, all_corpora, get_corpus
from audit.corpora.base import Corpus, languages_of
from audit.errors import AuditError, BadFile
from audit.files import read_bytes, text_of, toml_of
from audit.judging.settings import BOUNDS, JudgingSettings
from audit.judging.words import GUIDELINE_FILE, KEYS, faults_of, guideline_of, words_content
from audit.messages import LANGUAGES, message, with_commas
from audit.options import Options, options_of, values_of
from audit.registry import Registry
from audit.relations import Relation, get_relation, relations_named
from audit.relations.validity import limits_by_relation
from audit.resources import data_file
from audit.runner.fitting import check_limits_used, fitting
from audit.runner.options import MOST_REPEATS, RunOptions
from audit.runner.system_runner import loaded
from audit.sampling.options import AUDITED_FOLLOW_UPS, EPS, QUORUMS, WINNER, SampleOptions
from audit.statistics.intervals import TARGETS
from audit.studies.deviations import primary_named
from audit.studies.own_systems import served_functions
from audit.systems import all_systems, offered, without_version
from audit.tasks import TASKS, OwnWords, get_task, matches
from audit.tasks.words import ANY
from audit.text.languages import is_code
from audit.user_models import LARGEST as LARGEST_NUMBER
from audit.user_models import Allowed, Mistake, UserModel, read_as, refuse, short

ANSWERS = ("both", "people", "gold")
MOST_ANNOTATORS = 1000
SUFFIX = ".toml"
"""Ends the name of a plan's file, and never the name of a plan."""
"""Weights that have a name; a test compares them with those of reports."""
_NAMES_ONLY = re.compile(r"[\w,=. -]*")


# The tables of a plan and what their keys take.

_LONGEST = 500
"""Characters of a text, and names in a list."""


def _is_text(value: str) -> bool:
    return 0 < len(value) <= _LONGEST and value.isprintable() and bool(value.strip())


def _are_names(names: list[str]) -> bool:
    return len(names) <= _LONGEST and all(map(_is_text, names)) and len(set(names)) == len(names)


def _is_task(name: str) -> bool:
    try:
        return bool(get_task(name).labels)
    except AuditError:
        return False


def _task_names() -> str:
    names = (task.name if task.labels else f"{task.name}/SCHEME" for task in TASKS.values())
    return message("user_file.one_of", names=list(names))


def _are_parameters(parameters: dict[str, dict[str, Any]]) -> bool:
    return all(_is_text(name) and _is_plain(value) for values in parameters.values() for name, value in values.items())


def _is_plain(value: Any) -> bool:
    if isinstance(value, float):
        return math.isfinite(value)
    return abs(value) <= LARGEST_NUMBER if isinstance(value, int) else isinstance(value, str) and _is_text(value)


def _without_empty(parameters: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    return {relation: values for relation, values in parameters.items() if values}


def _one_of(names: Collection[str] | Registry[Any]) -> Allowed:
    return Allowed(lambda: message("user_file.one_of", names=list(names)), lambda name: name in names)


def _setting(name: str) -> Allowed:
    return Allowed(lambda: BOUNDS[name].sentence, BOUNDS[name].has)


Text = Annotated[str, Allowed(lambda: message("user_file.text", most=_LONGEST), _is_text)]
Names = Annotated[
    list[str],
    Strict(False),
    Allowed(lambda: message("user_file.names_needed"), lambda names: bool(names) and _are_names(names)),
]
MaybeNames = Annotated[list[str], Strict(False), Allowed(lambda: message("user_file.names"), _are_names)]
Task = Annotated[str, Allowed(_task_names, _is_task)]
Parameters = Annotated[
    dict[str, dict[str, Any]],
    Allowed(lambda: message("user_file.parameters"), _are_parameters),
    AfterValidator(_without_empty),
]
Renamed = Annotated[dict[str, str], Allowed(lambda: message("user_file.renamed"))]
Whole = Annotated[int, Field(ge=-LARGEST_NUMBER, le=LARGEST_NUMBER)]
Count = Annotated[int, Field(ge=1, le=LARGEST_NUMBER)]
Share = Annotated[float, Field(ge=0, le=1)]


class StudyTable(UserModel):
    """What is run."""

    task: Task = "sentiment"
    corpus: Text
    systems: Names
    relations: Names | None = None
    limit: Count | None = None
    seed: Whole = 0
    unit: Annotated[str, _one_of(("sentence", "document"))] | None = None
    language: Text | None = None
    columns: Renamed = Field(default_factory=dict)
    """Our name of a column of the corpus's file -> its own."""
    labels: Renamed = Field(default_factory=dict)
    """A gold label of the file -> ours."""
    document_share: Share | None = None
    repeats: Annotated[int, Field(ge=1, le=MOST_REPEATS)] | None = None
    fingerprint: Text | None = None
    set: Parameters = Field(default_factory=dict)
    valid: MaybeNames = Field(default_factory=list)
    """Limits on follow-ups, as `audit.relations.validity.limit_of` reads them."""


def _keys_of(options: type[Options], **defaults: Any) -> Any:
    """The base of a table, some of whose keys are options, with these values where they are left out."""
    kinds = {option.name: option.kind for option in options_of(options)}
    keys: dict[str, Any] = {name: (kinds[name] | None, default) for name, default in defaults.items()}
    return create_model("_Options", __base__=UserModel, **keys)


class SampleTable(
    _keys_of(SampleOptions, share=None, eps=EPS, most=None, follow_ups=AUDITED_FOLLOW_UPS)  # type: ignore[misc]
):
    """What is drawn from it."""

    base: Count | None = None
    decide: Text = WINNER


class JudgingTable(UserModel):
    """How people judge; from `pass_mark` on as managers change it in the app (`JudgingSettings`)."""

    annotators: Annotated[int, Field(ge=1, le=MOST_ANNOTATORS)] = 2
    quorum: Annotated[str, _one_of(QUORUMS)] = "majority"
    gold: bool = False
    guideline: Count | None = None
    languages: MaybeNames = Field(default_factory=list)
    pass_mark: Annotated[float, _setting("pass_mark")] = JudgingSettings.pass_mark
    gold_share: Annotated[float, _setting("gold_share")] = JudgingSettings.gold_share
    repeat_share: Annotated[float, _setting("repeat_share")] = JudgingSettings.repeat_share
    repeat_after: Annotated[int, _setting("repeat_after")] = JudgingSettings.repeat_after
    fastest: Annotated[float, _setting("fastest")] = JudgingSettings.fastest


class ReportTable(UserModel):
    """How it is reported."""

    answers: Annotated[str, _one_of(ANSWERS)] | None = None
    target: Annotated[str, _one_of(TARGETS)] | None = None
    delta: Annotated[float, Field(ge=0, le=1)] | None = None
    weights: Text | None = None
    primary: Names | None = None
    primary_relation: Text | None = None


class _Document(UserModel):
    """What a file says."""

    name: Annotated[str, AfterValidator(lambda name: _checked_name(name))] = Field(
        description=message("user_file.plan_name")
    )
    study: StudyTable
    sample: SampleTable = SampleTable()
    words: Annotated[dict[str, Any], Allowed(lambda: message("user_file.object"))] = Field(default_factory=dict)
    judging: JudgingTable = JudgingTable()
    report: ReportTable = ReportTable()


TABLES: dict[str, dict[str, Any]] = {
    name: {key: None if field.is_required() else field.get_default(call_default_factory=True) for key, field in keys}
    for name, keys in (
        ("study", StudyTable.model_fields.items()),
        ("sample", SampleTable.model_fields.items()),
        ("judging", JudgingTable.model_fields.items()),
        ("report", ReportTable.model_fields.items()),
    )
} | {"words": dict.fromkeys(KEYS) | dict.fromkeys(LANGUAGES)}
"""Every table of a plan and its keys in the order in which files have them, each with what it is where it is left out
(None: nothing is wanted, or it may not be left out)."""
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
        return run_options(self.study)

    def sampling(self) -> SampleOptions:
        """What rounds ask, and how people are asked."""
        return SampleOptions(**self.sample, annotators=self.judging["annotators"], quorum=self.judging["quorum"])


Note = Callable[[str, str], None]
"""(where in the file, what is wrong there) -> noted."""


Uploaded = Mapping[str, Corpus]
"""The corpora that were uploaded to the database that a plan is for (`audit.studies.uploads`), by name."""
NOTHING_UPLOADED: Uploaded = MappingProxyType({})


def read_plan(
    content: Mapping[str, Any],
    file: str = "the plan",
    registered_only: bool = False,
    uploaded: Uploaded = NOTHING_UPLOADED,
) -> Plan:
    """A plan from a document with `name` and the tables of `TABLES`, checked and completed.

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
    document = read_as(_Document, {"study": {}} | written, file)
    tables = {table: getattr(document, table).model_dump() for table in TABLES if table != "words"}
    tables["words"] = TABLES["words"] | document.words
    found: list[tuple[str, str]] = []
    _complete(tables, lambda where, reason: found.append((where, reason)), registered_only, uploaded)
    refuse(file, found)
    return Plan(document.name, **tables)


def check_name(name: object) -> str | None:
    """What is wrong with the name of a plan; None where nothing is.

    >>> check_name("films 2026"), check_name("-x") is None
    (None, False)
    """
    right = isinstance(name, str) and 0 < len(name) <= 80 and name.isprintable() and name == name.strip()
    if right and isinstance(name, str) and name[0].isalnum() and not name.lower().endswith(SUFFIX):
        return None
    return (
        f"{str(name)[:80]!r} is no name of a plan; allowed are 1 to 80 printable characters that begin with a "
        f"letter or digit and do not end in {SUFFIX}"
    )


def _checked_name(name: str) -> str:
    if problem := check_name(name):
        raise Mistake(problem)
    return name


def _complete(tables: dict[str, dict[str, Any]], note: Note, registered_only: bool, uploaded: Uploaded) -> None:
    """Check what the keys mean, and fill in what was left out."""
    study, sample, judging, report, words = (tables[name] for name in TABLES)
    if registered_only and (refused := unregistered_keys(tables, uploaded)):
        for key, reason in refused.items():
            note(key, reason)
        return
    corpus = _corpus(study, note, uploaded)
    _words(words, study["task"], note)
    run = _systems(study, note)
    _ask("study.repeats", lambda: run_options({"repeats": study["repeats"]}), note)
    if corpus is not None:
        _relations(study, corpus, note)
    _ask("sample", lambda: SampleOptions(**sample), note)
    _judging(judging, study["task"], _own_words(corpus, words), note)
    _primary(report, study, run, note)
    if report["delta"] == 1:
        note("report.delta", "1 must be a number from 0 to less than 1")


def _own_words(corpus: Corpus | None, words: Mapping[str, Any]) -> OwnWords:
    """As far as a plan knows them: whether a database that carries it out has words of its own, and the subject."""
    return OwnWords(version=int(any(words.values())), subject=str(getattr(corpus, "about", "")))


def unregistered_keys(
    content: Mapping[str, Mapping[str, Any]], uploaded: Uploaded = NOTHING_UPLOADED
) -> dict[str, str]:
    """Keys that name a file, an address or somebody's own code, and why the app does not take them.

    What comes through a browser may name nothing but what is registered: the server's files are not its manager's.

    >>> study = {"task": "sentiment", "corpus": "/etc/passwd.csv", "systems": ["os:system"], "set": {}}
    >>> sorted(unregistered_keys({"study": study, "report": {"weights": "/etc/passwd"}}))
    ['report.weights', 'study.corpus', 'study.systems']
    """
    study, weights = content["study"], content["report"]["weights"]
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
    words = content.get("words") or {}
    if any(isinstance(table, Mapping) and table.get(GUIDELINE_FILE) for table in (words, *words.values())):
        refusals[f"words.{GUIDELINE_FILE}"] = advice
    if weights is not None:
        refusals["report.weights"] = advice
    return refusals


def need_registered(plan: Plan, uploaded: Uploaded = NOTHING_UPLOADED) -> None:
    """Raise BadFile where a plan names files or code of somebody's own: only the command line may run those."""
    refuse(f"the plan {plan.name!r}", unregistered_keys(plan.content(), uploaded).items())


def corpus_planned(study: Mapping[str, Any], uploaded: Uploaded = NOTHING_UPLOADED) -> Corpus:
    """The corpus that a plan's table `study` names. Raises what `get_corpus` raises."""
    if (own := uploaded.get(study["corpus"])) is not None:
        if not matches(own.task, study["task"]):
            raise AuditError(message("upload.other_task", name=own.name, task=own.task, wanted=study["task"]))
        return own
    reading = Reading(study["columns"], study["labels"])
    return get_corpus(study["corpus"], study["task"], study["unit"], study["language"], reading)


def relations_planned(corpus: Corpus, study: Mapping[str, Any]) -> list[Relation]:
    """The relations that a plan's table `study` runs on its corpus. Raises what `fitting` raises."""
    return fitting(corpus, run_options(study))


def run_options(study: Mapping[str, Any]) -> RunOptions:
    """The options of a run that a plan's table `study` has."""
    return values_of(RunOptions, study, renamed={"parameters": "set"})


def _corpus(study: dict[str, Any], note: Note, uploaded: Uploaded) -> Corpus | None:
    corpus: Corpus | None = _ask(
        "study.corpus",
        lambda: corpus_planned(study, uploaded),
        note,
    )
    if corpus is None:
        return None
    if needs := corpus.needs():
        note("study.corpus", f"corpus {corpus.name} is not available; {needs}")
        return None
    content = corpus.fingerprint()
    if study["fingerprint"] not in (None, content):
        note(
            "study.fingerprint",
            f"the corpus {corpus.name} has the content {content} now, the plan was made for "
            f"{study['fingerprint']}; take the key out and store the plan again to plan for the new content",
        )
    study |= {"unit": corpus.unit, "language": corpus.language, "fingerprint": content}
    return corpus


def _systems(study: dict[str, Any], note: Note) -> dict[str, str]:
    """Completes the systems; returns the names that these have when they are run, by how the plan spells them."""
    loads = [_ask("study.systems", partial(loaded, [name]), note) for name in study["systems"]]
    # A plan names every engine, so that one that is recorded later is a change of the plan.
    systems = {spec: system for by_spec in loads for spec, system in (by_spec or {}).items()}
    study["systems"] = list(systems)
    for spec, system in systems.items():
        if not any(matches(study["task"], does) for does in system.tasks):
            note("study.systems", f"system {spec} does {with_commas(system.tasks)}, not {study['task']}")
        if needs := _ask("study.systems", system.needs, note):
            note("study.systems", f"system {spec} cannot run here; {needs}")
    return {spec: system.name for spec, system in systems.items()}


def _relations(study: dict[str, Any], corpus: Corpus, note: Note) -> None:
    names = [*(study["relations"] or ()), *study["set"]]
    keys = ["study.relations"] * len(study["relations"] or ()) + ["study.set"] * len(study["set"])
    relations = [
        _ask(key, partial(relations_named, study["task"], [name], languages_of(corpus)), note)
        for name, key in zip(names, keys, strict=True)
    ]
    if study["document_share"] == 0:
        note("study.document_share", "0 must be above 0 and at most 1")
    elif None not in relations:
        if _ask("study.valid", lambda: limits_by_relation(study["valid"]), note) is None:
            return
        study["set"] = {get_relation(study["task"], name).name: settings for name, settings in study["set"].items()}
        where = "study.set" if study["set"] and not study["relations"] else "study.relations"
        fitted = _ask(where, lambda: relations_planned(corpus, study), note)
        study["relations"] = [relation.name for relation in fitted or ()]
        if unused := sorted(set(study["set"]) - set(study["relations"])):
            note("study.set", f"{unused[0]} is not among the relations that are run: {with_commas(study['relations'])}")
        _ask("study.valid", lambda: check_limits_used(study["valid"], study["relations"]), note)


def _primary(report: dict[str, Any], study: Mapping[str, Any], run: Mapping[str, str], note: Note) -> None:
    """The primary comparison: two of the systems, by the names that they are run under, and one of the relations."""
    named, relation = report["primary"], report["primary_relation"]
    _ask("report.primary", partial(primary_named, named, relation), note)
    for system in named or ():
        if system not in run and system not in run.values():
            note("report.primary", f"{short(system)} is not among the systems: {with_commas(run)}")
    if named:
        report["primary"] = [run.get(system, system) for system in named]
    if relation is not None and study["relations"] and relation not in study["relations"]:
        note(
            "report.primary_relation",
            f"{short(relation)} is not among the relations: {with_commas(study['relations'])}",
        )


def _words(words: dict[str, Any], task: str, note: Note) -> None:
    """The words of the plan's task; a guideline's file is read into the plan."""
    written = {key: value for key, value in words.items() if value is not None}
    if found := list(faults_of(task, written)):
        for where, reason in found:
            note(f"words.{where}", reason)
        return
    for language, values in words_content(task, written).items():
        words |= {GUIDELINE_FILE: None, **values} if language == ANY else {language: values}


def _judging(judging: dict[str, Any], task: str, own: OwnWords, note: Note) -> None:
    present = guideline_of(task, get_task(task).question_kind, own=own).version
    if judging["guideline"] is None:
        judging["guideline"] = present
    elif judging["guideline"] > present:
        note("judging.guideline", f"{judging['guideline']} is a version there is not yet; the present one is {present}")
    for code in judging["languages"]:
        if not is_code(code):
            note("judging.languages", f"{short(code)} is no code such as en, zh or pt-BR")


def _ask(where: str, work: Callable[[], Any], note: Note) -> Any:
    """What `work` returns, or None and a note of why it refuses."""
    try:
        return work()
    except AuditError as problem:
        note(where, problem.sentence)
        return None


# Plans as TOML: reading a file, and writing one.

LARGEST = 1_000_000
"""Bytes of a plan's file; a plan has about a thousand."""
_BARE = re.compile(r"[A-Za-z0-9_-]+")


def read_plan_file(path: str | Path, uploaded: Uploaded = NOTHING_UPLOADED) -> Plan:
    """The plan in a file; `uploaded` as in `read_plan`.

    UTF-8 with or without byte order mark. Raises BadFile for what is absent, unreadable, too large, empty, in another
    encoding or no TOML (line and column), and for every mistake in it.
    """
    content, file = read_bytes(path, LARGEST + 1), str(path)
    if len(content) > LARGEST:
        raise BadFile(f"{file}: the file has more than {LARGEST:,} bytes; a plan has about a thousand")
    if b"\0" in content and not content.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise BadFile(f"{file}: the file is no text (it has a NUL byte); a plan is TOML, see `audit study example`")
    document = toml_of(file, text_of(file, content), "see `audit study example`")
    return read_plan(document, file, uploaded=uploaded)


def to_toml(plan: Plan) -> str:
    """The plan as a TOML file that reads as the same plan.

    >>> print(to_toml(Plan("p", study={"corpus": "imdb", "limit": None, "set": {"MR6.1": {"sentences": 5}}})), end="")
    name = "p"
    <BLANKLINE>
    [study]
    corpus = "imdb"
    <BLANKLINE>
    [study.set."MR6.1"]
    sentences = 5
    """
    lines = [f"name = {toml_value(plan.name)}"]
    for table in TABLES:
        lines += _table(table, getattr(plan, table), empty=table != "words")
    return "\n".join(lines) + "\n"


def _table(path: str, values: Mapping[str, Any], empty: bool) -> list[str]:
    """The lines of a table, and of those in it; none where nothing is in it. `empty`: whether empty values are kept."""
    kept = {_key(name): value for name, value in values.items() if value is not None and (empty or value)}
    plain = [f"{name} = {toml_value(value)}" for name, value in kept.items() if not isinstance(value, Mapping)]
    lines = ["", f"[{path}]", *plain] if plain else []
    for name, value in kept.items():
        if isinstance(value, Mapping):
            lines += _table(f"{path}.{name}", value, empty)
    return lines


def toml_value(value: Any) -> str:
    """A value as TOML writes it.

    >>> toml_value(True), toml_value(0.1), toml_value(["a", "b"])
    ('true', '0.1', '["a", "b"]')
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(toml_value, value))}]"
    if isinstance(value, str):
        # JSON's escapes are TOML's but for this one character, which TOML does not take as it is.
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    return repr(value)


def _key(name: str) -> str:
    return name if _BARE.fullmatch(name) else toml_value(name)


def example() -> str:
    """A plan with every key and what it means, to begin with."""
    return data_file("plans/example.toml").read_text(encoding="utf-8")
