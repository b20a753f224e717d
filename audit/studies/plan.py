"""The plan of a study: corpus, systems, relations, sample, judging, report; checked, and complete in itself.

A plan is read from a TOML file or from the app's form. Reading fills in whatever was left out (relations that fit the
corpus, seeds, the corpus's fingerprint, defaults), so that a stored plan means the same under a later version of
`audit`, and two versions can be compared key by key.
"""

import json
import math
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import asdict, dataclass, field, fields
from functools import partial
from pathlib import Path
from typing import Any

from audit.annotation.guidelines import guideline_of
from audit.annotation.settings import JudgingSettings
from audit.corpora import all_corpora, get_corpus
from audit.corpora.base import Corpus
from audit.errors import AuditError, BadFile
from audit.files import first_lines, read_bytes, toml_of
from audit.messages import message
from audit.registry import Registry
from audit.relations import get_relation
from audit.resources import data_file
from audit.runner.run import fitting, loaded
from audit.sampling.audits import Audits
from audit.sampling.designs import DESIGNS, DOMAINS, INFORMATIVE
from audit.sampling.draw import Size
from audit.statistics.intervals import METHODS, RENAMED, TARGETS, get_method, get_target
from audit.studies.deviations import primary_named
from audit.systems import all_systems
from audit.tasks import TASKS, get_task, matches
from audit.text.languages import is_code

# Kinds of values that the keys of a plan take.

_LARGEST = (1 << 63) - 1
_LONGEST = 500
"""Characters of a text, and names in a list."""


def _as_it_is(value: Any) -> Any:
    return value


@dataclass(frozen=True)
class Kind:
    """What is allowed, in words and as a test, and how a value is spelled in a plan."""

    words: Callable[[], str]
    fits: Callable[[Any], bool]
    clean: Callable[[Any], Any] = _as_it_is

    @property
    def allowed(self) -> str:
        """In words. What plug-ins may add to is looked up each time."""
        return self.words()


def text() -> Kind:
    """A text on one line.

    >>> text().fits("imdb"), text().fits(3)
    (True, False)
    """
    return Kind(lambda: message("plan_file.text", most=_LONGEST), _is_text)


def choice(names: Collection[str] | Registry[Any], renamed: Mapping[str, str] | None = None) -> Kind:
    """One of a few words; `renamed` has names of earlier versions, which become what they are now.

    >>> choice(["a", "b"]).allowed, choice(["a", "b"], {"old": "a"}).clean("old")
    ('one of a, b', 'a')
    """
    current = renamed or {}
    return Kind(
        lambda: message("plan_file.one_of", names=names),
        lambda value: isinstance(value, str) and (value in names or value in current),
        lambda value: current.get(value, value),
    )


def task() -> Kind:
    """The name of a task; of classification, with its label scheme.

    >>> task().fits("classification/finance,sports"), task().fits("classification")
    (True, False)
    """
    return Kind(_task_names, _is_task)


def _task_names() -> str:
    names = (task.name if task.labels else f"{task.name}/SCHEME" for task in TASKS.values())
    return message("plan_file.one_of", names=names)


def _is_task(value: Any) -> bool:
    try:
        return isinstance(value, str) and bool(get_task(value).labels)
    except AuditError:
        return False


def names(empty: bool = False) -> Kind:
    """A list of texts, each once; `empty` allows none at all.

    >>> names().fits(["vader", "vader"]), names().clean(("vader",))
    (False, ['vader'])
    """
    return Kind(
        lambda: message("plan_file.names" if empty else "plan_file.names_needed"),
        lambda value: (
            isinstance(value, list | tuple)
            and (empty or len(value) > 0)
            and len(value) <= _LONGEST
            and all(map(_is_text, value))
            and len(set(value)) == len(value)
        ),
        list,
    )


def whole(least: int, most: int = _LARGEST) -> Kind:
    """A whole number.

    >>> whole(1).fits(1), whole(1).fits(True), whole(1).fits(1.0)
    (True, False, False)
    """
    code = "plan_file.whole" if least < 0 else "plan_file.whole_from" if most == _LARGEST else "settings.whole"
    ends = {} if least < 0 else {"least": least} if most == _LARGEST else {"least": least, "most": most}
    return Kind(
        lambda: message(code, **ends),
        lambda value: isinstance(value, int) and not isinstance(value, bool) and least <= value <= most,
    )


def number(least: float, most: float | None = None) -> Kind:
    """A number; kept as a decimal one.

    >>> number(0, 1).fits(0.5), number(0, 1).fits(float("nan")), number(0).clean(1)
    (True, False, 1.0)
    """
    return Kind(
        lambda: (
            message("plan_file.number_from", least=least)
            if most is None
            else message("settings.number", least=least, most=most)
        ),
        lambda value: (
            isinstance(value, int | float)
            and not isinstance(value, bool)
            and math.isfinite(value)
            and least <= value <= (_LARGEST if most is None else most)
        ),
        float,
    )


def yes_no() -> Kind:
    """True or false."""
    return Kind(lambda: message("plan_file.yes_no"), lambda value: isinstance(value, bool))


def parameters() -> Kind:
    """Parameters by relation, for example `{"MR6.1": {"sentences": 5}}`; a relation without any is left out.

    >>> parameters().fits({"MR6.1": {"sentences": 5}}), parameters().fits({"MR6.1": 5})
    (True, False)
    """
    return Kind(
        lambda: message("plan_file.parameters"),
        lambda value: (
            isinstance(value, Mapping)
            and all(isinstance(settings, Mapping) for settings in value.values())
            and all(
                _is_text(name) and _is_plain(setting)
                for settings in value.values()
                for name, setting in settings.items()
            )
        ),
        lambda value: {name: dict(settings) for name, settings in value.items() if settings},
    )


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and 0 < len(value) <= _LONGEST and value.isprintable() and bool(value.strip())


def _is_plain(value: Any) -> bool:
    if isinstance(value, float):
        return math.isfinite(value)
    if isinstance(value, int):
        return abs(value) <= _LARGEST
    return _is_text(value)


PROTOCOLS = ("blind", "shown", "random")
ANSWERS = ("both", "people", "gold")
AUDITED_FOLLOW_UPS = 0.1
"""As `audit sample` has it by default; a test compares them."""
MOST_ANNOTATORS = 1000
SUFFIX = ".toml"
"""Ends the name of a plan's file, and never the name of a plan."""
WEIGHTS = ("equal", "user-a", "user-b")
"""Weights that have a name; a test compares them with those of reports."""
_NAMES_ONLY = re.compile(r"[\w,=. -]*")


@dataclass(frozen=True)
class Plan:
    """A checked plan. The tables have every key of `TABLES`; None where nothing is wanted."""

    name: str
    study: dict[str, Any] = field(default_factory=dict)
    sample: dict[str, Any] = field(default_factory=dict)
    judging: dict[str, Any] = field(default_factory=dict)
    report: dict[str, Any] = field(default_factory=dict)

    def content(self) -> dict[str, dict[str, Any]]:
        """The tables without the name: what a version in the database holds."""
        return {table: dict(getattr(self, table)) for table in TABLES}

    def size(self) -> Size:
        """The size of the sample."""
        return Size(self.sample["per_relation"], self.sample["share"])

    def audits(self) -> Audits:
        """The audits: what people are asked beyond what settles the groups."""
        return Audits(*(self.sample[f"audit_{name}"] for name in ("groups", "follow_ups", "answers")))


@dataclass(frozen=True)
class Key:
    """A key of a table: what it takes, what it is where it is left out, and whether it may be."""

    kind: Kind
    default: Any = None
    needed: bool = False


def _setting(default: Any) -> Kind:
    if isinstance(default, bool):
        return yes_no()
    return whole(0) if isinstance(default, int) else number(0)


SETTINGS = {one.name: Key(_setting(one.default), one.default) for one in fields(JudgingSettings)}
"""Settings of judging, as managers change them in the app; `JudgingSettings` says which values are allowed."""

TABLES: dict[str, dict[str, Key]] = {
    "study": {
        "task": Key(task(), "sentiment"),
        "corpus": Key(text(), needed=True),
        "systems": Key(names(), needed=True),
        "relations": Key(names()),
        "limit": Key(whole(1)),
        "seed": Key(whole(-_LARGEST), 0),
        "unit": Key(choice(("sentence", "document"))),
        "language": Key(text()),
        "document_share": Key(number(0, 1)),
        "fingerprint": Key(text()),
        "set": Key(parameters(), {}),
    },
    "sample": {
        "per_relation": Key(whole(1)),
        "share": Key(number(0, 1)),
        "design": Key(choice((*DESIGNS, INFORMATIVE)), "shared"),
        "domain": Key(choice(DOMAINS)),
        "seed": Key(whole(-_LARGEST)),
        "audit_groups": Key(whole(0), 0),
        "audit_follow_ups": Key(number(0, 1), AUDITED_FOLLOW_UPS),
        "audit_answers": Key(number(0, 1), 0.0),
    },
    "judging": {
        "annotators": Key(whole(1, MOST_ANNOTATORS), 2),
        "protocol": Key(choice(PROTOCOLS), "blind"),
        "gold": Key(yes_no(), False),
        "guideline": Key(whole(1)),
        "languages": Key(names(empty=True), []),
        **SETTINGS,
    },
    "report": {
        "answers": Key(choice(ANSWERS)),
        "interval": Key(choice(METHODS, RENAMED)),
        "target": Key(choice(TARGETS)),
        "delta": Key(number(0, 1)),
        "weights": Key(text()),
        "primary": Key(names()),
        "primary_relation": Key(text()),
    },
}
"""Every table of a plan and its keys, in the order in which files have them."""

Note = Callable[[str, str], None]
"""(where in the file, what is wrong there) -> noted."""


def read_plan(content: Mapping[str, Any], file: str = "the plan", registered_only: bool = False) -> Plan:
    """A plan from a document with `name` and the tables of `TABLES`, checked and completed.

    With `registered_only`, as for what comes through the app, corpora and systems must be registered ones: a file's
    name and `module:name` are refused before anything is read or imported. Raises BadFile, which names the file and,
    of every mistake, the key and what is allowed there.

    >>> plan = read_plan({"name": "p", "study": {"corpus": "imdb", "systems": ["vader"]}, "sample": {"share": 0.01}})
    >>> plan.study["unit"], plan.sample["design"], plan.judging["annotators"]
    ('document', 'shared', 2)
    """
    mistakes: list[tuple[str, str]] = []

    def note(where: str, reason: str) -> None:
        mistakes.append((where, reason))

    if unknown := sorted(set(content) - {"name", *TABLES}, key=str):
        note(str(unknown[0])[:80], message("plan_file.no_key_at_top", tables=TABLES))
    name = _name(content.get("name"), note)
    tables = {table: _table(table, content.get(table, {}), note) for table in TABLES}
    if not mistakes:
        # What the keys mean together is asked once each of them has a value of its kind.
        _complete(tables, note, registered_only)
    refuse(file, mistakes)
    return Plan(name, **tables)


def refuse(file: str, mistakes: Iterable[tuple[str, str]]) -> None:
    """Raise BadFile for mistakes (where, reason): one as a sentence, several as a list; nothing where there is none."""
    lines = [message("file.problem", file=where, reason=reason) for where, reason in mistakes]
    if len(lines) == 1:
        raise BadFile(message("file.at", file=file, problem=lines[0]))
    if lines:
        listed = first_lines([message("list.line", line=line) for line in lines], 10)
        raise BadFile(message("plan_file.mistakes", file=file, count=len(lines), lines=listed))


def check_name(name: object) -> str | None:
    """What is wrong with the name of a plan; None where nothing is.

    >>> check_name("films 2026"), check_name("-x") is None
    (None, False)
    """
    right = isinstance(name, str) and 0 < len(name) <= 80 and name.isprintable() and name == name.strip()
    if right and isinstance(name, str) and name[0].isalnum() and not name.lower().endswith(SUFFIX):
        return None
    return message("plan_file.bad_name", name=str(name)[:80], suffix=SUFFIX)


def _name(name: object, note: Note) -> str:
    if name is None:
        note("name", message("plan_file.no_name"))
    elif problem := check_name(name):
        note("name", problem)
    return str(name)


def _table(table: str, values: Any, note: Note) -> dict[str, Any]:
    """The keys of one table, each with a value of its kind or its default."""
    keys = TABLES[table]
    if not isinstance(values, Mapping):
        note(table, message("plan_file.no_table", table=table))
        values = {}
    for name in sorted(set(values) - set(keys), key=str):
        note(f"{table}.{name}"[:120], message("plan_file.no_key", keys=keys))
    result = {}
    for name, key in keys.items():
        value = values.get(name)
        if value is None:
            if key.needed:
                note(f"{table}.{name}", message("plan_file.missing", allowed=key.kind.allowed))
            value = key.default
        elif not key.kind.fits(value):
            note(f"{table}.{name}", message("plan_file.must_be", value=_short(value), allowed=key.kind.allowed))
            value = key.default
        result[name] = key.kind.clean(value) if value is not None else None
    return result


def _complete(tables: dict[str, dict[str, Any]], note: Note, registered_only: bool) -> None:
    """Check what the keys mean, and fill in what was left out."""
    study, sample, judging, report = (tables[name] for name in TABLES)
    if registered_only and (refused := unregistered_keys(tables)):
        for key, reason in refused.items():
            note(key, reason)
        return
    corpus = _corpus(study, note)
    run = _systems(study, note)
    if corpus is not None:
        _relations(study, corpus, note)
    _sample(sample, study["seed"], note)
    _judging(judging, study["task"], note)
    _primary(report, study, run, note)
    if report["delta"] == 1:
        note("report.delta", message("plan_file.bad_delta"))
    if report["interval"]:
        _ask(
            "report.interval",
            lambda: get_method(report["interval"], get_target(report["target"], report["interval"])),
            note,
        )


def unregistered_keys(content: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
    """Keys that name a file, an address or somebody's own code, and why the app does not take them.

    What comes through a browser may name nothing but what is registered: the server's files are not its manager's.

    >>> study = {"task": "sentiment", "corpus": "/etc/passwd.csv", "systems": ["os:system"], "set": {}}
    >>> sorted(unregistered_keys({"study": study, "report": {"weights": "/etc/passwd"}}))
    ['report.weights', 'study.corpus', 'study.systems']
    """
    study, weights = content["study"], content["report"]["weights"]
    corpora = [corpus.name for corpus in all_corpora(study["task"])]
    systems = [system.name for system in all_systems(study["task"])]
    advice = message("plan_file.own_files")
    refusals: dict[str, str] = {}
    if study["corpus"] not in corpora:
        refusals["study.corpus"] = message(
            "plan_file.not_registered", value=_short(study["corpus"]), names=corpora, advice=advice
        )
    if unregistered := [name for name in study["systems"] if name not in systems]:
        refusals["study.systems"] = message(
            "plan_file.not_registered", value=_short(unregistered[0]), names=systems, advice=advice
        )
    for relation, values in study["set"].items():
        for name, value in values.items():
            # hanlp:FOLDER, ngram:FILE, corenlp:ADDRESS: what stands behind a colon is the machine's.
            if isinstance(value, str) and not _NAMES_ONLY.fullmatch(value):
                refusals["study.set"] = message(
                    "plan_file.not_only_names", relation=relation, name=name, value=_short(value), advice=advice
                )
    if weights is not None and weights not in WEIGHTS:
        refusals["report.weights"] = message(
            "plan_file.not_registered", value=_short(weights), names=WEIGHTS, advice=advice
        )
    return refusals


def need_registered(plan: Plan) -> None:
    """Raise BadFile where a plan names files or code of somebody's own: only the command line may run those."""
    refuse(message("plan_file.called", name=plan.name), unregistered_keys(plan.content()).items())


def _corpus(study: dict[str, Any], note: Note) -> Corpus | None:
    corpus: Corpus | None = _ask(
        "study.corpus",
        lambda: get_corpus(study["corpus"], study["task"], study["unit"], study["language"]),
        note,
    )
    if corpus is None:
        return None
    if needs := corpus.needs():
        note("study.corpus", message("plan_file.corpus_unavailable", corpus=corpus.name, needs=needs))
        return None
    content = corpus.fingerprint()
    if study["fingerprint"] not in (None, content):
        note(
            "study.fingerprint",
            message("plan_file.other_content", corpus=corpus.name, content=content, planned=study["fingerprint"]),
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
            note("study.systems", message("plan_file.other_task", system=spec, tasks=system.tasks, task=study["task"]))
        if needs := _ask("study.systems", system.needs, note):
            note("study.systems", message("plan_file.system_unavailable", system=spec, needs=needs))
    return {spec: system.name for spec, system in systems.items()}


def _relations(study: dict[str, Any], corpus: Corpus, note: Note) -> None:
    names = [*(study["relations"] or ()), *study["set"]]
    keys = ["study.relations"] * len(study["relations"] or ()) + ["study.set"] * len(study["set"])
    relations = [
        _ask(key, partial(get_relation, study["task"], name), note) for name, key in zip(names, keys, strict=True)
    ]
    if study["document_share"] == 0:
        note("study.document_share", message("plan_file.bad_document_share"))
    elif None not in relations:
        where = "study.set" if study["set"] and not study["relations"] else "study.relations"
        fitted = _ask(where, lambda: fitting(corpus, study["relations"], study["document_share"], study["set"]), note)
        study["relations"] = [relation.name for relation in fitted or ()]
        if unused := sorted(set(study["set"]) - set(study["relations"])):
            note("study.set", message("plan_file.set_not_run", relation=unused[0], relations=study["relations"]))


def _primary(report: dict[str, Any], study: Mapping[str, Any], run: Mapping[str, str], note: Note) -> None:
    """The primary comparison: two of the systems, by the names that they are run under, and one of the relations."""
    named, relation = report["primary"], report["primary_relation"]
    _ask("report.primary", partial(primary_named, named, relation), note)
    for system in named or ():
        if system not in run and system not in run.values():
            note("report.primary", message("plan_file.no_such_system", system=_short(system), systems=run))
    if named:
        report["primary"] = [run.get(system, system) for system in named]
    if relation is not None and study["relations"] and relation not in study["relations"]:
        note(
            "report.primary_relation",
            message("plan_file.no_such_relation", relation=_short(relation), relations=study["relations"]),
        )


def _sample(sample: dict[str, Any], seed: int, note: Note) -> None:
    _ask("sample", lambda: Size(sample["per_relation"], sample["share"]), note)
    if sample["seed"] is None:
        sample["seed"] = seed
    if sample["design"] == INFORMATIVE:
        for name in ("audit_groups", "audit_answers"):
            if sample[name]:
                note(
                    f"sample.{name}",
                    message("plan_file.informative_audits"),
                )
        sample["audit_follow_ups"] = 0.0  # nothing is estimated that a carry error could be in


def _judging(judging: dict[str, Any], task: str, note: Note) -> None:
    present = guideline_of(task, get_task(task).question_kind).version
    if judging["guideline"] is None:
        judging["guideline"] = present
    elif judging["guideline"] > present:
        note("judging.guideline", message("plan_file.guideline_ahead", version=judging["guideline"], present=present))
    for code in judging["languages"]:
        if not is_code(code):
            note("judging.languages", message("plan_file.bad_language", value=_short(code)))
    for name in SETTINGS:
        settings = _ask(f"judging.{name}", partial(_only, name, judging[name]), note)
        judging[name] = asdict(settings)[name] if settings else judging[name]


def _only(name: str, value: Any) -> JudgingSettings:
    """The settings with this one set: asked for each, so that each mistake is found."""
    return JudgingSettings(**{name: value})


def _ask(where: str, work: Callable[[], Any], note: Note) -> Any:
    """What `work` returns, or None and a note of why it refuses."""
    try:
        return work()
    except AuditError as problem:
        note(where, problem.sentence)
        return None


def _short(value: Any) -> str:
    spelling = repr(value)
    return spelling if len(spelling) <= 60 else spelling[:57] + "..."


# Plans as TOML: reading a file or an upload, and writing one.

LARGEST = 1_000_000
"""Bytes of a plan's file; a plan has about a thousand."""
_BARE = re.compile(r"[A-Za-z0-9_-]+")


def read_plan_file(path: str | Path) -> Plan:
    """The plan in a file. Raises BadFile: absent, unreadable, too large, and what `read_plan_bytes` raises."""
    return read_plan_bytes(read_bytes(path, LARGEST + 1), str(path))


def read_plan_bytes(content: bytes, file: str, registered_only: bool = False) -> Plan:
    """The plan in the bytes of a file; `registered_only` as in `read_plan`.

    UTF-8 with or without byte order mark. Raises BadFile for what is too large, empty, in another encoding or no TOML
    (line and column), and for every mistake in it.
    """
    if len(content) > LARGEST:
        raise BadFile(message("plan_file.large", file=file, most=LARGEST))
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise BadFile(message("file.utf16", file=file))
    if b"\0" in content:
        raise BadFile(message("plan_file.no_text", file=file))
    try:
        written = content.decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        line = content[: problem.start].count(b"\n") + 1
        raise BadFile(message("file.not_utf8", file=file, line=line, at=problem.start)) from None
    if not written.strip():
        raise BadFile(message("plan_file.empty", file=file))
    return read_plan(toml_of(file, written, message("plan_file.see_example")), file, registered_only)


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
        values: Mapping[str, Any] = getattr(plan, table)
        plain = {key: value for key, value in values.items() if value is not None and not isinstance(value, Mapping)}
        if plain:
            lines += ["", f"[{table}]", *(f"{key} = {toml_value(value)}" for key, value in plain.items())]
        for key, value in values.items():
            for name, inner in value.items() if isinstance(value, Mapping) else ():
                lines += ["", f"[{table}.{key}.{_key(name)}]"]
                lines += [f"{_key(parameter)} = {toml_value(setting)}" for parameter, setting in inner.items()]
    return "\n".join(lines) + "\n"


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
