"""Plans of studies: for managers."""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import streamlit as st
from sqlalchemy import Engine

from audit.annotation.settings import BOUNDS
from audit.corpora import Corpus, all_corpora
from audit.errors import AuditError
from audit.registry import Registry
from audit.relations import all_relations
from audit.reports.build import Report
from audit.reports.words import count
from audit.sampling.designs import DESIGNS, DOMAINS, INFORMATIVE
from audit.statistics.intervals import METHODS, TARGETS
from audit.studies.jobs import Work, begin_job, jobs, stop_job
from audit.studies.plan import (
    ANSWERS,
    LARGEST,
    MOST_ANNOTATORS,
    PROTOCOLS,
    SETTINGS,
    TABLES,
    Plan,
    foreign,
    read_plan,
    read_plan_bytes,
    to_toml,
)
from audit.studies.versions import ENGLISH, Version, all_versions, freeze, from_to, frozen_version, set_plan, steps
from audit.systems import all_systems
from audit.ui import session
from audit.ui.language import known_or, one_of, plain, sentence, summary, t, task_name, translated

# Carrying out a plan from the app: the process goes on without the page, which only looks at it.

ROLES = ("manager",)
EVERY = 2
"""Seconds between two looks at a run that is at work."""
_LOOKED = "studies-was-live"
"""Set while the page shows a run that is at work: when that has ended, the whole page is shown anew."""


def _last_job(engine: Engine, name: str, account_id: int) -> Work | None:
    return next(iter(jobs(engine, name, by=account_id)), None)


def running(engine: Engine, name: str) -> None:
    """How far the last run of a plan is, and the buttons that begin, stop and go on."""
    account = session.allowed(engine, *ROLES)
    work = _last_job(engine, name, account.id)
    live = work is not None and work.live
    st.session_state[_LOOKED] = live
    st.fragment(_look, run_every=EVERY if live else None)(name)


def state_text(work: Work | None) -> str:
    """The state of a run in a word or two."""
    return t("work.never") if work is None else t(f"work.{work.state}")


@session.guarded
def _look(name: str) -> None:
    engine = session.engine()
    account = session.allowed(engine, *ROLES)
    work = _last_job(engine, name, account.id)
    if st.session_state.get(_LOOKED) and (work is None or not work.live):
        st.session_state[_LOOKED] = False
        st.rerun()
    if work is not None and work.live:
        _at_work(work)
        if st.button(
            t("studies.stop"), key=f"stop-{work.id}", disabled=work.state == "stopping", icon=":material/stop:"
        ):
            _do(lambda: stop_job(engine, work.id, by=session.allowed(engine, *ROLES).id))
    else:
        _ended(work)
        label = t("studies.run" if work is None else "studies.again" if work.state == "done" else "studies.go_on")
        if st.button(label, key=f"run-{name}", type="primary", icon=":material/play_arrow:"):
            _do(lambda: begin_job(engine, name, session.where(), by=session.allowed(engine, *ROLES).id))
    if work is not None and work.log.strip():
        with st.expander(t("studies.log")):
            st.code(work.log, language=None, wrap_lines=True)


def _at_work(work: Work) -> None:
    step = t(f"step.{work.step}") if work.step else t("step.waiting")
    if work.state == "stopping":
        step = t("work.stopping")
    if work.total:
        text = t("studies.progress", step=step, done=f"{work.done:,}", total=f"{work.total:,}")
        st.progress(min(1.0, work.done / work.total), plain(text))
    else:
        st.progress(0.0, plain(step))
    st.caption(plain(t("studies.close", when=f"{work.started_at:%Y-%m-%d %H:%M} UTC", who=work.by or "")))


def _ended(work: Work | None) -> None:
    if work is None:
        st.caption(t("studies.not_run"))
    elif work.state == "done":
        when = f"{work.ended_at:%Y-%m-%d %H:%M} UTC" if work.ended_at else ""
        st.success(t("studies.done", when=when), icon=":material/check:")
    else:
        why = translated(work.message) if work.message else ""
        said = f"{t(f'work.{work.state}')}. {plain(sentence(why)) if why else ''} {t('studies.kept')}"
        st.warning(said, icon=":material/info:")


def _do(work: Callable[[], object]) -> None:
    """Begin or stop, and show the page anew; or say why not."""
    try:
        work()
    except AuditError as problem:
        session.refused(problem)
        return
    st.rerun()


# What a report says of the plans of its studies, in the session's language; in English see `plan_lines`.


def plan_texts(report: Report) -> list[str]:
    """The sentences of `audit.reports.plan_texts.plan_lines`."""
    lines = []
    for entry in report.get("plan") or ():
        lines.append(t("plan.line", study=entry["study"], plan=entry["plan"], how=_frozen(entry)))
        if entry["changed"]:
            listed = [
                f"{one['key']} {became(one['before'], one['after'])} ({one['at'][:10]})" for one in entry["changed"]
            ]
            lines.append(t("plan.changed", changes=t("plan.comma").join(listed)))
        if entry["deviates"]:
            listed = [f"{one['key']} {became(one['planned'], one['found'])}" for one in entry["deviates"]]
            key = "plan.otherwise_frozen" if entry["frozen_at"] else "plan.otherwise"
            lines.append(t(key, deviations=t("plan.comma").join(listed)))
    return lines


def became(before: Any, after: Any) -> str:
    """How a value became another."""
    return from_to(before, after, {word: t(f"plan.{word}") for word in ENGLISH})


def _frozen(entry: Mapping[str, Any]) -> str:
    if entry["frozen_at"] is None:
        return t("plan.not_frozen", version=entry["version"])
    run = t("plan.before_run" if entry["frozen_at"] <= entry["run_began"] else "plan.after_run")
    everything, before = entry["judgements"], entry["judgements_before"]
    if not everything:
        judged = t("plan.nothing_judged")
    elif not before:
        judged = t("plan.before_all", count=everything)
    else:
        judged = t("plan.after_some", before=count(before), whole=count(everything))
    return t("plan.frozen", date=entry["frozen_at"][:10], run=run, judged=judged)


# Making a plan: by a form with the registered corpora, systems and relations, or by a TOML file.

Store = Callable[[Plan], None]
_BEGIN = {"per_relation": 60, "share": 0.05}
"""What an empty plan begins with in the form where a plan has no default."""
_SIZES = ("per_relation", "share")
_REPORT: dict[str, Collection[str] | Registry[Any]] = {"answers": ANSWERS, "interval": METHODS, "target": TARGETS}
_WORDS = {"answers": "whose", "interval": "interval", "target": "target"}
"""Where the texts of the choices of a report are."""


def form(plans: Mapping[str, list[Version]], store: Store) -> None:
    """The form, beginning with nothing or with a plan there is; what it makes is checked again where it is stored."""
    ours = [name for name, history in plans.items() if not foreign(history[-1].content)]
    base = st.selectbox(
        t("studies.begin_with"), [None, *ours], format_func=lambda one: one or t("studies.empty"), key="plan-base"
    )
    start = plans[base][-1].content if base else {table: {} for table in TABLES}
    fields = _Fields(base or "", start)
    name = st.text_input(t("field.name"), value=base or "", max_chars=80, key=fields.key("name"), autocomplete="off")
    study = _study(fields)
    if study is None:
        return
    content = {"name": name.strip(), "study": study, "sample": _sample(fields), "judging": _judging(fields)}
    content["report"] = _report(fields, study["systems"], study["relations"] or [])
    _preview(content)
    if st.button(t("studies.store"), type="primary", key="store-plan"):
        _stored(lambda: read_plan(content, t("studies.the_form"), registered_only=True), store)


def upload(store: Store) -> None:
    """A TOML file: what it plans, or every mistake in it."""
    st.caption(t("studies.upload_help"))
    given = st.file_uploader(t("studies.file"), type=["toml"], max_upload_size=1, key="plan-file")
    if given is None:
        return
    plan = _read(lambda: read_plan_bytes(given.getvalue()[: LARGEST + 1], given.name[:80], registered_only=True))
    if plan is None:
        return
    _preview({"name": plan.name, **plan.content()})
    if st.button(t("studies.store_as", name=plain(plan.name)), type="primary", key="store-file"):
        _stored(lambda: plan, store)


class _Fields:
    """Widgets that begin with what a plan says, or else with a plan's defaults."""

    def __init__(self, base: str, start: Mapping[str, Mapping[str, Any]]):
        self._base, self._start = base, start

    def key(self, name: str) -> str:
        return f"plan-{name}-{self._base}"

    def value(self, table: str, name: str) -> Any:
        value = self._start[table].get(name, TABLES[table][name].default)
        return _BEGIN.get(name) if value is None and not self._start[table] else value

    def whole(self, table: str, name: str, least: int | None, most: int | None = None) -> int | None:
        """A whole number; empty gives None."""
        found = st.number_input(
            t(f"field.{name}"),
            min_value=least,
            max_value=most,
            value=self.value(table, name),
            step=1,
            help=t(f"help.{name}"),
            key=self.key(f"{table}-{name}"),
            placeholder=t("studies.all") if name == "limit" else None,
        )
        return None if found is None else int(found)

    def share(self, table: str, name: str, most: float = 1.0, step: float = 0.05) -> float | None:
        """A number from 0; empty gives None."""
        found = st.number_input(
            t(f"field.{name}"),
            min_value=0.0,
            max_value=most,
            value=self.value(table, name),
            step=step,
            help=t(f"help.{name}"),
            key=self.key(f"{table}-{name}"),
        )
        return None if found is None else round(float(found), 6)

    def one(self, table: str, name: str, known: list[str], words: Callable[[str], str] = str) -> str:
        """One of a few."""
        value = self.value(table, name)
        return str(
            st.selectbox(
                t(f"field.{name}"),
                known,
                index=known.index(value) if value in known else 0,
                format_func=words,
                help=t(f"help.{name}"),
                key=self.key(f"{table}-{name}"),
            )
        )

    def perhaps(self, table: str, name: str, known: Collection[str] | Registry[Any], before: str) -> str | None:
        """One of a few whose texts begin with `before`, or nothing."""
        value = self.value(table, name)
        words = {"": t("studies.not_planned")} | {one: known_or(f"{before}{one}", one) for one in known}
        found = st.selectbox(
            t(f"field.{name}"),
            list(words),
            index=list(words).index(value) if value in known else 0,
            format_func=words.__getitem__,
            key=self.key(f"{table}-{name}"),
        )
        return found or None

    def some(self, table: str, name: str, known: list[str], words: Callable[[str], str] = str) -> list[str]:
        """Some of a list."""
        value = [one for one in self.value(table, name) or () if one in known]
        return list(
            st.multiselect(
                t(f"field.{name}"),
                known,
                default=value,
                format_func=words,
                help=t(f"help.{name}"),
                key=self.key(f"{table}-{name}-{len(known)}"),
                placeholder=t("studies.all") if name == "relations" else t("studies.choose"),
            )
        )


def _study(fields: _Fields) -> dict[str, Any] | None:
    tasks = list(dict.fromkeys(one.task for one in all_corpora() if one.needs() is None))
    task = fields.one("study", "task", tasks, task_name) if len(tasks) > 1 else (tasks or ["sentiment"])[0]
    corpora = {one.name: one for one in all_corpora(task) if one.needs() is None}
    systems = [one.name for one in all_systems(task) if one.needs() is None]
    if not corpora or not systems:
        st.warning(t("studies.nothing_there"))
        return None
    left, right = st.columns(2)
    with left:
        corpus = corpora[
            fields.one("study", "corpus", list(corpora), lambda name: f"{name} ({t(f'unit.{corpora[name].unit}')})")
        ]
    with right:
        chosen = fields.some("study", "systems", systems)
    share = fields.share("study", "document_share") if corpus.unit == "document" else None
    relations = _relations(fields, task, corpus, bool(share))
    left, right = st.columns(2)
    with left:
        limit = fields.whole("study", "limit", 1)
    with right:
        seed = fields.whole("study", "seed", None)
    return {
        "task": task,
        "corpus": corpus.name,
        "systems": chosen,
        "relations": relations or None,
        "limit": limit,
        "seed": seed,
        "document_share": share or None,
        "set": {one: some for one, some in fields.value("study", "set").items() if not relations or one in relations},
    }


def _relations(fields: _Fields, task: str, corpus: Corpus, sentences_too: bool) -> list[str]:
    fit = {
        one.name: summary(task, one.name, one.summary)
        for one in all_relations(task)
        if one.unit == corpus.unit or (sentences_too and not one.per_system)
    }
    return fields.some("study", "relations", list(fit), lambda name: f"{name}  {fit[name]}")


def _sample(fields: _Fields) -> dict[str, Any]:
    before = "per_relation" if fields.value("sample", "per_relation") else "share"
    left, middle, right = st.columns(3)
    with left:
        size = one_of(t("studies.size"), {one: t(f"field.{one}") for one in _SIZES}, fields.key("size"), before)
    with middle:
        if size == "share":
            found: dict[str, Any] = {"share": fields.share("sample", "share", step=0.01)}
        else:
            found = {"per_relation": fields.whole("sample", "per_relation", 1)}
    with right:
        found["design"] = fields.one("sample", "design", [*DESIGNS, INFORMATIVE], lambda one: t(f"design.{one}"))
    found["domain"] = fields.perhaps("sample", "domain", DOMAINS, "domain.")
    with st.expander(t("studies.audits")):
        if found["design"] == INFORMATIVE:
            st.caption(t("studies.no_audits"))
        else:
            found["audit_groups"] = fields.whole("sample", "audit_groups", 0)
            found["audit_follow_ups"] = fields.share("sample", "audit_follow_ups")
            found["audit_answers"] = fields.share("sample", "audit_answers")
    return found


def _judging(fields: _Fields) -> dict[str, Any]:
    left, middle, right = st.columns(3)
    with left:
        found: dict[str, Any] = {"annotators": fields.whole("judging", "annotators", 1, MOST_ANNOTATORS)}
    with middle:
        found["protocol"] = fields.one("judging", "protocol", list(PROTOCOLS), lambda one: t(f"protocol_of.{one}"))
    with right:
        languages = st.text_input(
            t("field.languages"),
            value=", ".join(fields.value("judging", "languages")),
            help=t("help.languages"),
            max_chars=80,
            key=fields.key("languages"),
        )
    found["languages"] = [one.strip() for one in languages.split(",") if one.strip()]
    found["gold"] = st.checkbox(
        t("field.gold"), value=fields.value("judging", "gold"), help=t("help.gold"), key=fields.key("gold")
    )
    with st.expander(t("studies.quality")):
        for name, key in SETTINGS.items():
            if isinstance(key.default, int):
                found[name] = fields.whole("judging", name, int(BOUNDS[name].least), int(BOUNDS[name].most))
            else:
                found[name] = fields.share("judging", name, most=float(BOUNDS[name].most))
    return found


def _report(fields: _Fields, systems: list[str], relations: list[str]) -> dict[str, Any]:
    found: dict[str, Any] = {"weights": fields.value("report", "weights")}
    with st.expander(t("studies.report")):
        st.caption(t("studies.report_help"))
        for name, known in _REPORT.items():
            found[name] = fields.perhaps("report", name, known, f"{_WORDS[name]}.")
        found["delta"] = fields.share("report", "delta", most=0.5, step=0.01)
        found["primary"] = fields.some("report", "primary", systems) or None
        if found["primary"]:
            relation = fields.value("report", "primary_relation")
            names = dict.fromkeys([*relations, *([relation] if relation else [])])
            words = {"": t("studies.together")} | {one: one for one in names}
            found["primary_relation"] = fields.one("report", "primary_relation", list(words), words.__getitem__) or None
    return found


def _preview(content: Mapping[str, Any]) -> None:
    """How much work the plan is at most, from sizes that are known without running anything."""
    study, sample = content["study"], content["sample"]
    corpus = next((one for one in all_corpora(study["task"]) if one.name == study["corpus"]), None)
    size = corpus.size() if corpus else None
    if corpus is None or size is None or not study["systems"]:
        return
    sources = min(size, study["limit"] or size)
    fit = [one for one in all_relations(study["task"]) if one.unit == corpus.unit or study["document_share"]]
    relations = len(study["relations"] or fit)
    cells = relations * len(study["systems"])
    drawn = sample.get("per_relation") or round((sample.get("share") or 0) * sources)
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


def _stored(read: Callable[[], Plan], store: Store) -> None:
    def both() -> Plan:
        plan = read()
        store(plan)
        return plan

    _read(both)


def _read(work: Callable[[], Plan]) -> Plan | None:
    """The plan, or None after saying what is wrong with it, a line for each mistake."""
    try:
        return work()
    except AuditError as problem:
        first, *more = translated(str(problem)).split("\n")
        said = plain(first if more else sentence(first))
        st.warning("\n".join([said, "", *(f"- {plain(line.strip())}" for line in more)]), icon=":material/info:")
        return None


TABS = ("plans", "new", "upload")
TAB = "studies-tab"
_DONE = "studies-done"
"""What was done before this run: the key of a text and its values."""
_SHOWN = "studies-plan"

History = Sequence[Version]


def page() -> None:
    """The plans there are, one of them with its run and its versions, and the two ways to a new one."""
    engine = session.engine()
    account = session.allowed(engine, *ROLES)
    with engine.connect() as connection:
        plans = all_versions(connection)
    st.subheader(t("menu.studies"))
    if done := st.session_state.pop(_DONE, None):
        # Here, since the state of a widget cannot be set once it is on the page.
        st.session_state[_SHOWN] = done[1]["name"]
        st.session_state[TAB] = t("studies.plans")
        st.success(plain(t(f"studies.{done[0]}", **done[1])), icon=":material/check:")
    for name, place in zip(
        TABS, st.tabs([t(f"studies.{one}") for one in TABS], key=TAB, on_change="rerun"), strict=True
    ):
        if not place.open:
            continue
        with place:
            if name == "new":
                form(plans, _store(engine))
            elif name == "upload":
                upload(_store(engine))
            elif plans:
                _plans(engine, account.id, plans)
            else:
                st.caption(t("studies.none"))


def _plans(engine: Engine, account_id: int, plans: dict[str, list[Version]]) -> None:
    last: dict[str, Work] = {}
    for work in jobs(engine, by=account_id):
        last.setdefault(work.plan, work)
    st.dataframe([_row(history, last.get(name)) for name, history in plans.items()], hide_index=True)
    name = st.selectbox(t("studies.plan"), list(plans), key=_SHOWN)
    history = plans[name]
    st.caption(plain(_state(history)))
    running(engine, name)
    _versions(history)
    written = to_toml(history[-1].plan())
    with st.expander(t("studies.toml")):
        st.code(written, language="toml")
    st.download_button(
        t("studies.download"),
        written,
        f"{name}.toml",
        "application/toml",
        on_click="ignore",
        icon=":material/download:",
    )
    _freezing(engine, history[-1])


def _row(history: History, work: Work | None) -> dict[str, object]:
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
    since = sum(bool(found) for version, found in steps(history) if version.version > frozen.version)
    date = f"{frozen.at:%Y-%m-%d}"
    return t("studies.frozen_changed", date=date, count=since) if since else t("studies.frozen", date=date)


def _versions(history: History) -> None:
    made = {version.version: found for version, found in steps(history)}
    rows = []
    for one in reversed(history):
        changed = [f"{change.key} {became(change.before, change.after)}" for change in made.get(one.version, ())]
        rows.append(
            {
                t("studies.version"): one.version,
                t("studies.at"): f"{one.at:%Y-%m-%d %H:%M} UTC",
                t("studies.by"): one.by or t("studies.nobody"),
                t("studies.what"): t("studies.was_frozen")
                if one.frozen
                else t("plan.comma").join(changed) or t("studies.was_stored"),
            }
        )
    with st.expander(t("studies.versions"), expanded=len(history) > 1):
        st.dataframe(rows, hide_index=True)


def _freezing(engine: Engine, last: Version) -> None:
    if last.frozen:
        return
    with st.container(border=True):
        st.caption(t("studies.freeze_help"))
        sure = st.checkbox(t("studies.sure"), key=f"sure-{last.name}-{last.version}")
        pressed = st.button(
            t("studies.freeze"), key=f"freeze-{last.name}", disabled=not sure, icon=":material/ac_unit:"
        )
    if pressed and sure:
        try:
            made = freeze(engine, last.name, by=session.allowed(engine, *ROLES).id, version=last.version)
        except AuditError as problem:
            session.refused(problem)
            return
        _again("has_frozen", made)


def _store(engine: Engine) -> Callable[[Plan], None]:
    """What stores a plan as the manager who is logged in now; raises what `set_plan` raises."""

    def store(plan: Plan) -> None:
        made, new = set_plan(engine, plan, by=session.allowed(engine, *ROLES).id)
        _again("has_stored" if new else "has_nothing_new", made)

    return store


def _again(done: str, version: Version) -> None:
    """Show the plan anew, and say what was done."""
    st.session_state[_DONE] = (done, {"name": version.name, "version": version.version})
    st.rerun()
