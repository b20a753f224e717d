"""Plans of studies, for managers: make, store and freeze one, and run it."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import streamlit as st
from sqlalchemy import Engine

from audit.corpora import Corpus, about_of, all_corpora
from audit.errors import AuditError
from audit.judging.settings import BOUNDS, CHOICES
from audit.messages import message
from audit.registry import Registry
from audit.relations import all_relations, relations_named
from audit.relations.composition import parts_of
from audit.sampling.options import BASE, NOTHING, QUORUMS, RELATIONS, WINNER
from audit.statistics.intervals import TARGETS
from audit.store.core import count_rows, study
from audit.studies.jobs import Job, begin_job, jobs, stop_job
from audit.studies.plan import (
    ANSWERS,
    MOST_ANNOTATORS,
    SETTINGS,
    TABLES,
    Plan,
    check_name,
    read_plan,
    to_toml,
    unregistered_keys,
)
from audit.studies.uploads import uploaded_here
from audit.studies.versions import (
    Change,
    Version,
    all_versions,
    freeze,
    from_to,
    frozen_version,
    set_plan,
    steps,
)
from audit.systems import all_systems
from audit.tasks import get_task, matches, wording
from audit.ui import session
from audit.ui.language import (
    language,
    plain,
    sentence,
    single_choice,
    summary,
    t,
    task_name,
    text_or,
    translated,
    words_here,
)
from audit.ui.next_step import show_next_step
from audit.ui.own_texts import STORED, upload_texts
from audit.ui.study_choice import listed_studies, studies_table
from audit.user_models import mistakes_in

# Running a plan from the app: the process goes on without the page, which only shows its state.

ROLES = ("manager",)
EVERY = 2
"""Seconds between two updates while a run is at work."""
_WAS_LIVE = "studies-was-live"
"""Whether the page shows a run at work; when the run has ended, the whole page is shown anew."""


def _last_job(engine: Engine, name: str, account_id: int) -> Job | None:
    return next(iter(jobs(engine, name, by=account_id)), None)


def run_control(engine: Engine, name: str) -> None:
    """The progress of the last run of a plan, and the buttons that start, stop and continue it."""
    account = session.require_role(engine, *ROLES)
    work = _last_job(engine, name, account.id)
    st.session_state[_WAS_LIVE] = live = work is not None and work.live
    st.fragment(_show_run, run_every=EVERY if live else None)(name)


def state_text(work: Job | None) -> str:
    """The state of a run in a word or two."""
    return t("work.never") if work is None else t(f"work.{work.state}")


@session.report_problems
def _show_run(name: str) -> None:
    engine, account = session.enter(*ROLES)
    work = _last_job(engine, name, account.id)
    if st.session_state.get(_WAS_LIVE) and (work is None or not work.live):
        st.session_state[_WAS_LIVE] = False
        st.rerun()
    if work is not None and work.live:
        _show_progress(work)
        if st.button(
            t("studies.stop"), key=f"stop-{work.id}", disabled=work.state == "stopping", icon=":material/stop:"
        ):
            with session.changing(engine, account.id):
                stop_job(engine, work.id, by=account.id)
                st.rerun()
    else:
        _show_ended_run(work)
        label = t("studies.run" if work is None else "studies.again" if work.state == "done" else "studies.go_on")
        if st.button(label, key=f"run-{name}", type="primary", icon=":material/play_arrow:"):
            with session.changing(engine, account.id):
                begin_job(engine, name, session.database_url(), by=account.id)
                st.rerun()
    if work is not None and work.log.strip():
        with st.expander(t("studies.log")):
            st.code(work.log, language=None, wrap_lines=True)


def _show_progress(work: Job) -> None:
    step = t(f"step.{work.step}") if work.step else t("step.waiting")
    if work.state == "stopping":
        step = t("work.stopping")
    if work.total:
        text = t("studies.progress", step=step, done=f"{work.done:,}", total=f"{work.total:,}")
        st.progress(min(1.0, work.done / work.total), plain(text))
    else:
        st.progress(0.0, plain(step))
    st.caption(plain(t("studies.close", when=f"{work.started_at:%Y-%m-%d %H:%M} UTC", who=work.by or "")))


def _show_ended_run(work: Job | None) -> None:
    if work is None:
        st.caption(t("studies.not_run"))
    elif work.state == "done":
        when = f"{work.ended_at:%Y-%m-%d %H:%M} UTC" if work.ended_at else ""
        st.success(t("studies.done", when=when), icon=":material/check:")
    else:
        reason = translated(work.message) if work.message else ""
        message = f"{t(f'work.{work.state}')}. {plain(sentence(reason)) if reason else ''} {t('studies.kept')}"
        st.warning(message, icon=":material/info:")


# The plans of a report's studies in sentences of the session's language; `plan_lines` has the English ones.


def value_change(before: Any, after: Any) -> str:
    """The change of a value, as text."""
    return from_to(before, after, language())


# Making a plan: by a form with the registered corpora, systems and relations.

_INITIAL = {"base": BASE, "share": 0.05}
"""Values of an empty form for settings that have no default."""
_SIZES = ("base", "share")
_SHOWN_LABELS = 8
_REPORT: dict[str, Collection[str] | Registry[Any]] = {"answers": ANSWERS, "target": TARGETS}
_WORDS = {"answers": "whose", "target": "target"}
"""Setting of a report -> prefix of the keys of its texts."""


def form(engine: Engine, account_id: int, plans: Mapping[str, list[Version]]) -> None:
    """The form of a plan, empty or filled from an existing plan; the plan is checked again when it is stored."""
    uploaded = uploaded_here(engine)
    stored = st.session_state.pop(STORED, None)
    if stored is not None:
        _begin_with_texts(*stored)
    with st.expander(t("own_texts.title"), expanded=not uploaded and not plans, icon=":material/upload_file:"):
        upload_texts(engine, account_id, _tasks(uploaded))
    base = None
    if editable := [name for name, history in plans.items() if not unregistered_keys(history[-1].content, uploaded)]:
        base = st.selectbox(
            t("studies.begin_with"),
            [None, *editable],
            format_func=lambda name: name or t("studies.empty"),
            key="plan-base",
        )
    base_content = plans[base][-1].content if base else {table: {} for table in TABLES}
    fields = _Fields(base or "", base_content)
    name = st.text_input(t("field.name"), value=base or "", max_chars=80, key=fields.key("name"), autocomplete="off")
    study = _study(fields, uploaded)
    if study is None:
        return
    content = {"name": name.strip(), "study": study, "sample": _sample(fields), "judging": _judging(fields)}
    content["report"] = _report(fields, study["systems"], study["relations"] or [])
    if base_content["study"].get("task") == study["task"]:  # words are of a task, and changed on their own page
        content["words"] = dict(base_content.get("words") or {})
    _preview(content, uploaded)
    with st.container(horizontal=True):
        at_once = st.button(
            t("studies.store_and_run"), type="primary", key="store-and-run", icon=":material/play_arrow:"
        )
        alone = st.button(t("studies.store"), key="store-plan")
    if at_once or alone:
        with _showing_mistakes(_title_of):
            _refuse_unfilled(content)
            plan = read_plan(content, t("studies.the_form"), registered_only=True, uploaded=uploaded)
            _store(engine, account_id, plan, begin=at_once)


def _begin_with_texts(name: str, task: str) -> None:
    """Have the form begin with texts that were just stored; before its fields are on the page."""
    st.session_state["plan-base"] = None
    st.session_state["plan-study-task-"] = task
    st.session_state["plan-study-corpus-"] = name
    if not st.session_state.get("plan-name-"):
        st.session_state["plan-name-"] = name
    st.success(plain(t("own_texts.stored", name=name)), icon=":material/check:")


def _refuse_unfilled(content: Mapping[str, Any]) -> None:
    """Raise AuditError for a field that has to be filled in, by its title on the page."""
    if problem := check_name(content["name"]):
        raise AuditError(message("form.name") if not content["name"] else problem)
    if not content["study"]["systems"]:
        raise AuditError(message("form.systems"))


class _Fields:
    """Widgets filled with the values of a plan, or with the defaults of plans."""

    def __init__(self, base: str, start: Mapping[str, Mapping[str, Any]]):
        self._base, self._start = base, start

    def key(self, name: str) -> str:
        return f"plan-{name}-{self._base}"

    def value(self, table: str, name: str) -> Any:
        value = self._start[table].get(name, TABLES[table][name])
        return _INITIAL.get(name) if value is None and not self._start[table] else value

    def field(self, table: str, name: str, suffix: str = "") -> dict[str, Any]:
        """The arguments that all widgets have."""
        return {"label": t(f"field.{name}"), "help": t(f"help.{name}"), "key": self.key(f"{table}-{name}{suffix}")}

    def integer(self, table: str, name: str, least: int | None, most: int | None = None) -> int | None:
        """A field for a whole number; None where it is empty."""
        number = st.number_input(
            **self.field(table, name),
            min_value=least,
            max_value=most,
            value=self.value(table, name),
            step=1,
            placeholder=t("studies.all") if name == "limit" else None,
        )
        return None if number is None else int(number)

    def share(self, table: str, name: str, most: float = 1.0, step: float = 0.05) -> float | None:
        """A field for a share, in per cent as on every other page; None where it is empty."""
        value, field = self.value(table, name), self.field(table, name)
        number = st.number_input(
            **field | {"label": t("studies.percent", label=field["label"])},
            min_value=0.0,
            max_value=100 * most,
            value=None if value is None else round(100 * value, 6),
            step=100 * step,
        )
        return None if number is None else round(number / 100, 8)

    def seconds(self, table: str, name: str, least: float, most: float) -> float:
        """A field for a number of seconds."""
        number = st.number_input(
            **self.field(table, name),
            min_value=float(least),
            max_value=float(most),
            value=float(self.value(table, name)),
            step=0.1,
            format="%.1f",
        )
        return float(number)

    def choice(self, table: str, name: str, options: list[str], format_func: Callable[[str], str] = str) -> str:
        """A choice of one option."""
        value = self.value(table, name)
        index = options.index(value) if value in options else 0
        titles = {option: format_func(option) for option in options}  # read once a run
        return str(
            st.selectbox(**self.field(table, name), options=options, index=index, format_func=titles.__getitem__)
        )

    def optional_choice(
        self, table: str, name: str, options: Collection[str] | Registry[Any], prefix: str
    ) -> str | None:
        """A choice of one option or none; keys of the texts begin with `prefix`."""
        value = self.value(table, name)
        titles = {"": t("studies.not_planned")} | {option: text_or(f"{prefix}{option}", option) for option in options}
        index = list(titles).index(value) if value in options else 0
        key = self.key(f"{table}-{name}")
        return (
            st.selectbox(t(f"field.{name}"), list(titles), index=index, format_func=titles.__getitem__, key=key) or None
        )

    def check_boxes(self, table: str, name: str, options: Mapping[str, str]) -> list[str]:
        """A choice of several options with a check box each; `options` has what helps to choose, by name."""
        present = self.value(table, name) or ()
        st.markdown(t(f"field.{name}"), help=t(f"help.{name}"))
        with st.container(horizontal=True, key=self.key(f"{table}-{name}-boxes")):
            return [
                option
                for option, about in options.items()
                if st.checkbox(
                    plain(option),
                    value=option in present,
                    help=plain(about) or None,
                    key=self.key(f"{table}-{name}-{option}"),
                )
            ]

    def choices(self, table: str, name: str, options: list[str], format_func: Callable[[str], str] = str) -> list[str]:
        """A choice of several options."""
        return list(
            st.multiselect(
                **self.field(table, name, f"-{len(options)}"),
                options=options,
                default=[option for option in self.value(table, name) or () if option in options],
                format_func=format_func,
                placeholder=t("studies.all") if name == "relations" else t("studies.choose"),
                accept_new_options=name == "relations",  # compositions are typed
            )
        )


def _tasks(uploaded: Mapping[str, Corpus]) -> list[str]:
    """Tasks that there are systems for, sentiment first; and those of texts that were uploaded."""
    corpora = [*uploaded.values(), *(corpus for corpus in all_corpora() if corpus.needs() is None)]
    return list(dict.fromkeys(["sentiment", *(corpus.task for corpus in corpora)]))


def _study(fields: _Fields, uploaded: Mapping[str, Corpus]) -> dict[str, Any] | None:
    tasks = _tasks(uploaded)
    task = fields.choice("study", "task", tasks, task_name) if len(tasks) > 1 else tasks[0]
    own = {name: corpus for name, corpus in uploaded.items() if matches(corpus.task, task)}
    corpora = own | {corpus.name: corpus for corpus in all_corpora(task) if corpus.needs() is None}
    systems = [system for system in all_systems(task) if system.needs() is None]
    if not corpora or not systems:
        st.warning(t("studies.nothing_there"))
        return None
    corpus = corpora[
        fields.choice("study", "corpus", list(corpora), lambda name: f"{name} ({t(f'unit.{corpora[name].unit}')})")
    ]
    selected_systems = fields.check_boxes("study", "systems", {system.name: system.summary for system in systems})
    _show_words(task, corpus)
    share = fields.share("study", "document_share") if corpus.unit == "document" else None
    relations = _relations(fields, task, corpus, bool(share))
    left, right = st.columns(2)
    with left:
        limit = fields.integer("study", "limit", 1)
    with right:
        seed = fields.integer("study", "seed", None)
    return {
        "task": task,
        "corpus": corpus.name,
        "systems": selected_systems,
        "relations": relations or None,
        "limit": limit,
        "seed": seed,
        "document_share": share or None,
        "repeats": fields.value("study", "repeats"),
        "take": fields.value("study", "take"),
        "valid": fields.value("study", "valid"),
        "set": {
            relation: parameters
            for relation, parameters in fields.value("study", "set").items()
            if not relations or relation in relations
        },
    }


def _show_words(task: str, corpus: Corpus) -> None:
    """What people will be asked, and the link to the page where the question, the labels and the guideline are set."""
    own, about = words_here().of(task), about_of(corpus.name)
    if own.subject != about:  # all studies of a task ask in the same words: of their subject where it is one
        with session.engine().connect() as connection:
            own = replace(own, subject="" if count_rows(connection, study, study.c.task == task) else about)
    words = wording(task, language(), own)
    with st.container(border=True, horizontal=True, vertical_alignment="center", key="plan-words"):
        labels = t("list.comma").join(words.labels[label] for label in get_task(task).labels[:_SHOWN_LABELS])
        st.markdown(f"{t('studies.asked')} **{plain(words.question)}**  \n{plain(labels)}")
        if (page := session.page_of("words")) is not None:
            st.page_link(page, label=t("studies.words"), icon=":material/arrow_forward:")


def _relations(fields: _Fields, task: str, corpus: Corpus, sentences_too: bool) -> list[str]:
    fitting = {
        relation.name: summary(task, relation.name, relation.summary)
        for relation in all_relations(task)
        if relation.unit in (corpus.unit, "any") or (sentences_too and not relation.per_system)
    }
    composed = [name for name in fields.value("study", "relations") or () if len(parts_of(name)) > 1]
    return fields.choices(
        "study",
        "relations",
        [*fitting, *composed],
        lambda name: f"{name}  {fitting[name]}" if name in fitting else name,
    )


def _sample(fields: _Fields) -> dict[str, Any]:
    default_size = "share" if fields.value("sample", "share") and not fields.value("sample", "base") else "base"
    left, middle, right = st.columns(3, vertical_alignment="bottom")
    with left:
        size = single_choice(
            t("studies.size"), {name: t(f"field.{name}") for name in _SIZES}, fields.key("size"), default_size
        )
    with middle:
        if size == "share":
            sample: dict[str, Any] = {"share": fields.share("sample", "share", step=0.01)}
        else:
            sample = {"base": fields.integer("sample", "base", 1)}
    with right:
        decisions = dict.fromkeys([WINNER, RELATIONS, NOTHING, fields.value("sample", "decide")])  # or a relation
        sample["decide"] = fields.choice("sample", "decide", [*decisions], lambda name: text_or(f"decide.{name}", name))
    with st.expander(t("studies.audits")):
        sample["eps"] = fields.share("sample", "eps", most=0.5, step=0.01)
        sample["most"] = fields.integer("sample", "most", 1)
        sample["follow_ups"] = fields.share("sample", "follow_ups")
    return sample


def _judging(fields: _Fields) -> dict[str, Any]:
    left, middle, right = st.columns(3)
    with left:
        judging: dict[str, Any] = {"annotators": fields.integer("judging", "annotators", 1, MOST_ANNOTATORS)}
    with middle:
        judging["quorum"] = fields.choice("judging", "quorum", list(QUORUMS), lambda name: t(f"quorum_of.{name}"))
    with right:
        languages = st.text_input(
            t("field.languages"),
            value=", ".join(fields.value("judging", "languages")),
            help=t("help.languages"),
            max_chars=80,
            key=fields.key("languages"),
        )
    judging["languages"] = [code.strip() for code in languages.split(",") if code.strip()]
    judging["gold"] = st.checkbox(
        t("field.gold"), value=fields.value("judging", "gold"), help=t("help.gold"), key=fields.key("gold")
    )
    with st.expander(t("studies.quality")):
        for name in SETTINGS:
            if name == "versions":
                names = list(CHOICES[name].names)
                judging[name] = fields.choice("judging", name, names, lambda chosen: t(f"versions_of.{chosen}"))
            elif BOUNDS[name].whole:
                judging[name] = fields.integer("judging", name, int(BOUNDS[name].least), int(BOUNDS[name].most))
            elif BOUNDS[name].most > 1:
                judging[name] = fields.seconds("judging", name, BOUNDS[name].least, BOUNDS[name].most)
            else:
                judging[name] = fields.share("judging", name, most=float(BOUNDS[name].most))
    return judging


def _report(fields: _Fields, systems: list[str], relations: list[str]) -> dict[str, Any]:
    report: dict[str, Any] = {"weights": fields.value("report", "weights")}
    with st.expander(t("studies.report")):
        st.caption(t("studies.report_help"))
        for name, options in _REPORT.items():
            report[name] = fields.optional_choice("report", name, options, f"{_WORDS[name]}.")
        report["delta"] = fields.share("report", "delta", most=0.5, step=0.01)
        report["primary"] = fields.choices("report", "primary", systems) or None
        if report["primary"]:
            relation = fields.value("report", "primary_relation")
            names = dict.fromkeys([*relations, *([relation] if relation else [])])
            titles = {"": t("studies.together")} | {name: name for name in names}
            report["primary_relation"] = (
                fields.choice("report", "primary_relation", list(titles), titles.__getitem__) or None
            )
    return report


def _preview(content: Mapping[str, Any], uploaded: Mapping[str, Corpus]) -> None:
    """The work that the plan is at most, from sizes that are known without a run."""
    study, sample = content["study"], content["sample"]
    there = [*uploaded.values(), *all_corpora(study["task"])]
    corpus = next((corpus for corpus in there if corpus.name == study["corpus"]), None)
    size = corpus.size() if corpus else None
    if corpus is None or size is None or not study["systems"]:
        return
    sources = min(size, study["limit"] or size)
    fitting = [
        relation
        for relation in relations_named(study["task"], study["relations"])
        if relation.unit in (corpus.unit, "any") or study["document_share"]
    ]
    relations = len(fitting)
    cells = relations * len(study["systems"])
    drawn = sample.get("base") or round((sample.get("share") or 0) * sources)
    st.info(
        t(
            "studies.preview",
            sources=f"{sources:,}",
            relations=relations,
            systems=len(study["systems"]),
            checks=f"{sources * cells:,}",
            cells=cells,
            drawn=f"{min(drawn, sources) * cells:,}",
        ),
        icon=":material/calculate:",
    )


def _store(engine: Engine, account_id: int, plan: Plan, begin: bool = False) -> None:
    session.require_login(engine, account_id)
    version, is_new = set_plan(engine, plan, by=account_id)
    if begin:
        begin_job(engine, plan.name, session.database_url(), by=account_id)
        _rerun_with_message("has_begun", version)
    _rerun_with_message("has_stored" if is_new else "has_nothing_new", version)


@contextmanager
def _showing_mistakes(title_of: Callable[[str], str] = str) -> Iterator[None]:
    """Shows the mistakes of a plan, one per line; `title_of` says what the place of a mistake is called there."""
    try:
        yield
    except AuditError as problem:
        found = list(mistakes_in(problem.sentence))
        lines = [sentence(f"{title_of(where)}{t('form.colon')}{translated(reason)}") for where, reason in found]
        if len(lines) > 1:
            said = "\n".join([plain(t("form.several")), "", *(f"- {plain(line)}" for line in lines)])
        else:
            said = plain(lines[0] if lines else sentence(translated(problem.sentence)))
        st.warning(said, icon=":material/info:")


def _title_of(where: str) -> str:
    """The title on the page of a key of a plan; the key itself where the form has no field for it."""
    return text_or(f"field.{where.partition('.')[2] or where}", where)


TABS = ("plans", "new")
TAB = "studies-tab"
_DONE = "studies-done"
"""The key of a text and its values: the message about what the last run changed."""
_SHOWN = "studies-plan"

History = Sequence[Version]


def page() -> None:
    """Two tabs: the stored plans, of which one with its run and versions; and the form."""
    engine, account = session.enter(*ROLES)
    with engine.connect() as connection:
        plans = all_versions(connection)
    st.header(t("menu.studies"))
    if done := st.session_state.pop(_DONE, None):
        # Here, since the state of a widget cannot be set once it is on the page.
        st.session_state[_SHOWN] = done[1]["name"]
        st.session_state[TAB] = t("studies.plans")
        st.success(plain(t(f"studies.{done[0]}", **done[1])), icon=":material/check:")
    elif not plans and TAB not in st.session_state and not listed_studies(engine, account.id):
        st.session_state[TAB] = t("studies.new")
    show_next_step(engine, account, "studies")
    for name, tab in zip(
        TABS, st.tabs([t(f"studies.{name}") for name in TABS], key=TAB, on_change="rerun"), strict=True
    ):
        if not tab.open:
            continue
        with tab:
            if name == "new":
                form(engine, account.id, plans)
            elif plans:
                _plans(engine, account.id, plans)
            else:
                st.caption(t("studies.none"))
            if name == "plans":
                studies_table(engine, account.id)


def _plans(engine: Engine, account_id: int, plans: dict[str, list[Version]]) -> None:
    last_jobs: dict[str, Job] = {}
    for work in jobs(engine, by=account_id):
        last_jobs.setdefault(work.plan, work)
    st.dataframe([_row(history, last_jobs.get(name)) for name, history in plans.items()], hide_index=True)
    name = st.selectbox(t("studies.plan"), list(plans), key=_SHOWN)
    history = plans[name]
    st.caption(plain(_state(history)))
    never_run = name not in last_jobs
    if never_run:  # freezing is for before data come in
        _show_freeze_form(engine, account_id, history[-1])
    run_control(engine, name)
    _versions(history)
    toml = to_toml(history[-1].plan())
    with st.expander(t("studies.toml")):
        st.code(toml, language="toml")
    st.download_button(
        t("studies.download"),
        toml,
        f"{name}.toml",
        "application/toml",
        on_click="ignore",
        icon=":material/download:",
    )
    if not never_run:
        _show_freeze_form(engine, account_id, history[-1])


def _row(history: History, work: Job | None) -> dict[str, object]:
    study = history[-1].content["study"]
    return {
        t("studies.plan"): history[-1].name,
        t("studies.version"): history[-1].version,
        t("studies.state"): _state(history),
        t("studies.corpus"): study["corpus"],
        t("studies.limit"): t("studies.all") if study["limit"] is None else f"{study['limit']:,}",
        t("studies.last_run"): state_text(work),
    }


def _state(history: History) -> str:
    frozen = frozen_version(history)
    if frozen is None:
        return t("studies.draft")
    changed = sum(bool(changes) for version, changes in steps(history) if version.version > frozen.version)
    date = f"{frozen.at:%Y-%m-%d}"
    return t("studies.frozen_changed", date=date, count=changed) if changed else t("studies.frozen", date=date)


def _versions(history: History) -> None:
    changes_of = {version.version: changes for version, changes in steps(history)}
    rows = [
        {
            t("studies.version"): version.version,
            t("studies.at"): f"{version.at:%Y-%m-%d %H:%M} UTC",
            t("studies.by"): version.by or t("studies.nobody"),
            t("studies.what"): _what_changed(version, changes_of.get(version.version, ())),
        }
        for version in reversed(history)
    ]
    with st.expander(t("studies.versions"), expanded=len(history) > 1):
        st.dataframe(rows, hide_index=True)


def _what_changed(version: Version, changes: Iterable[Change]) -> str:
    if version.frozen:
        return t("studies.was_frozen")
    sentences = [f"{_title_of(change.key)} {value_change(change.before, change.after)}" for change in changes]
    return t("list.semicolon").join(sentences) or t("studies.was_stored")


def _show_freeze_form(engine: Engine, account_id: int, last: Version) -> None:
    if last.frozen:
        return
    with st.container(border=True):
        st.caption(t("studies.freeze_help"))
        confirmed = st.checkbox(t("studies.sure"), key=f"sure-{last.name}-{last.version}")
        pressed = st.button(
            t("studies.freeze"), key=f"freeze-{last.name}", disabled=not confirmed, icon=":material/ac_unit:"
        )
    if pressed and confirmed:
        with session.changing(engine, account_id):
            _rerun_with_message("has_frozen", freeze(engine, last.name, by=account_id, version=last.version))


def _rerun_with_message(message: str, version: Version) -> None:
    """Show the page anew, with this plan and a message."""
    st.session_state[_DONE] = (message, {"name": version.name, "version": version.version})
    st.rerun()
