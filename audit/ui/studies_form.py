"""Making a plan: by a form with the registered corpora, systems and relations, or by a TOML file."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import streamlit as st

from audit.annotation.settings import BOUNDS
from audit.corpora import Corpus, all_corpora
from audit.errors import AuditError
from audit.relations import all_relations
from audit.sampling.designs import DESIGNS, INFORMATIVE
from audit.sampling.domains import DOMAINS
from audit.statistics.intervals import METHODS, TARGETS
from audit.studies.plan import ANSWERS, MOST_ANNOTATORS, PROTOCOLS, SETTINGS, TABLES, Plan, foreign, read_plan
from audit.studies.plan_file import LARGEST, read_plan_bytes
from audit.studies.versions import Version
from audit.systems import all_systems
from audit.ui.choice import one_of
from audit.ui.language import summary, t, task_name, translated
from audit.ui.literal import plain, sentence

Store = Callable[[Plan], None]
_BEGIN = {"per_relation": 60, "share": 0.05}
"""What an empty plan begins with in the form where a plan has no default."""
_SIZES = ("per_relation", "share")
_REPORT = {"answers": ANSWERS, "interval": tuple(METHODS), "target": TARGETS}
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

    def perhaps(self, table: str, name: str, known: Sequence[str], before: str) -> str | None:
        """One of a few whose texts begin with `before`, or nothing."""
        value = self.value(table, name)
        words = {"": t("studies.not_planned")} | {one: t(f"{before}{one}") for one in known}
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
