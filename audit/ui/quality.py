"""How well annotators judge: for managers. Nobody else sees these numbers, annotators not even their own."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

import pandas as pd
import streamlit as st
from sqlalchemy import Engine, exists, select

from audit.errors import AuditError
from audit.false_satisfaction.questions import asked_by
from audit.judging.control_questions import (
    PURPOSES,
    KnownQuestion,
    add_known,
    add_settled_questions,
    known_questions,
    parse_known,
    pick_known,
    remove_known,
)
from audit.judging.settings import BOUNDS, Bounds, change_settings, settings_of
from audit.judging.training import QUALIFYING, QUALIFYING_MARK, qualification, switch_qualification
from audit.messages import message
from audit.reports.charts import MEASURES, Palette, bias_chart, confusion_chart, shares_chart
from audit.reports.judges import judge_section
from audit.reports.tables import harmless
from audit.reports.words import UNKNOWN, Say, percent, signature_line
from audit.store.core import count_rows, judgement, log, question, study
from audit.tasks import Input
from audit.tasks.questions import ABOUT_OUTPUTS, asks_pairs
from audit.ui import session
from audit.ui.background_cache import computed, computed_with_freshness
from audit.ui.dashboard_parts import chart, heading, table
from audit.ui.language import (
    direction,
    in_language,
    label_name,
    label_names,
    language,
    output_words,
    plain,
    sentence,
    single_choice,
    t,
    task_name,
    text_or,
    translated,
)
from audit.ui.question import FIELD
from audit.ui.sections import show_parts
from audit.ui.settings import LARGEST_UPLOAD
from audit.ui.study_choice import choose_study

# Control questions, whose answers are known: the list, and the forms that add and remove them.


def control_questions_section(engine: Engine, account_id: int) -> None:
    """The list of control questions, and the forms below it."""
    session.show_last()
    _show_qualification(engine, account_id)
    questions = known_questions(engine, by=account_id)
    st.write(t("known.what"))
    if questions:
        st.dataframe([_control_row(question) for question in questions], hide_index=True)
    else:
        st.info(t("known.none"))
    left, right = st.columns(2, gap="medium")
    with left:
        _show_pick_form(engine, account_id)
        _show_adjudicated_form(engine, account_id)
    with right:
        _show_upload_form(engine, account_id)
        _show_removal_form(engine, account_id, questions)


def _show_qualification(engine: Engine, account_id: int) -> None:
    """The switch that has new annotators pass a short round first, with whom it concerns."""
    now = qualification(engine, by=account_id)
    with st.container(border=True, key="qualification"):
        st.markdown(f"## {t('qualification.title')}")
        if now.on:
            st.markdown(t("qualification.on", count=now.questions, mark=f"{100 * now.mark:g}"))
            st.markdown(t("qualification.waiting", count=now.waiting, judged=now.judged))
            if st.button(t("qualification.switch_off"), key="qualification-off"):
                with session.changing(engine, account_id):
                    switch_qualification(engine, False, by=account_id)
                    session.done(t("qualification.is_off"))
            return
        mark = f"{100 * (now.mark or QUALIFYING_MARK):g}"
        st.markdown(t("qualification.off", count=now.questions or QUALIFYING, mark=mark))
        exempt = not now.judged or st.checkbox(
            t("qualification.exempt", count=now.judged), value=True, key="qualification-exempt"
        )
        if not exempt:
            st.warning(t("qualification.locked", count=now.judged), icon=":material/lock:")
        if st.button(t("qualification.switch_on"), key="qualification-on", type="primary"):
            with session.changing(engine, account_id):
                switched = switch_qualification(engine, True, exempt=exempt, by=account_id)
                session.done(t("qualification.is_on", count=switched.questions))


def _control_row(question: KnownQuestion) -> dict[str, object]:
    return {
        t("known.question"): question.id,
        t("known.purpose"): t(f"known.{question.purpose}"),
        t("known.text"): in_language(
            " | ".join([*question.texts, *([output_words(question.output, question.task)] if question.output else [])]),
            direction(Input(question.texts, question.languages)),
        ),
        t("known.answer"): label_names(question.allowed, question.task),
        t("known.explanation"): question.explanation,
        t("known.judged"): question.judged,
    }


def _purpose(form: str) -> str:
    names = {purpose: t(f"known.{purpose}") for purpose in PURPOSES}
    return st.radio(
        t("known.purpose"),
        PURPOSES,
        format_func=names.__getitem__,
        horizontal=True,
        key=f"known-purpose-{form}",
    )


def _show_pick_form(engine: Engine, account_id: int) -> None:
    with st.form("known-pick"):
        st.markdown(f"## {t('known.pick')}")
        st.caption(t("known.pick_help"))
        purpose = _purpose("pick")
        count = st.number_input(t("known.count"), 1, 1_000, value=20, key="known-count")
        seed = st.number_input(t("known.seed"), 0, 1_000_000, value=0, key="known-seed")
        submitted = st.form_submit_button(t("known.do_pick"))
    if submitted:
        with session.changing(engine, account_id):
            picked = pick_known(engine, purpose, int(count), int(seed), by=account_id)
            session.done(t("known.picked", added=picked.added, candidates=picked.candidates))


def _show_upload_form(engine: Engine, account_id: int) -> None:
    with st.form("known-file", clear_on_submit=True):
        st.markdown(f"## {t('known.file')}")
        st.caption(plain(t("known.file_help")))
        purpose = _purpose("file")
        tasks = _control_tasks(engine)
        task = (
            single_choice(t("field.task"), {name: task_name(name) for name in tasks}, "known-task")
            if tasks[1:]
            else tasks[0]
        )
        file = st.file_uploader(
            t("known.choose_file"), type=["csv"], key="known-upload", max_upload_size=LARGEST_UPLOAD
        )
        submitted = st.form_submit_button(t("known.do_add"))
    if submitted and file is not None:
        with session.changing(engine, account_id):
            if file.size > LARGEST_UPLOAD << 20:  # the browser's limit is the browser's
                raise AuditError(message("known.large_file", size=file.size, most=LARGEST_UPLOAD << 20))
            items = parse_known(file.name, file.getvalue(), task)
            added = add_known(engine, purpose, items, task=task, by=account_id)
            session.done(t("known.added", added=added.added, changed=added.changed))


def _control_tasks(engine: Engine) -> list[str]:
    """The tasks that can have control questions from a file: those of the studies that ask about texts."""
    with engine.connect() as connection:
        tasks = connection.execute(select(study.c.task).distinct().order_by(study.c.task)).scalars()
        return [str(task) for task in tasks if not asks_pairs(task)] or ["sentiment"]


def _show_adjudicated_form(engine: Engine, account_id: int) -> None:
    with st.form("known-settled", clear_on_submit=True):
        st.markdown(f"## {t('known.settled')}")
        st.caption(t("known.settled_help"))
        purpose = _purpose("settled")
        numbers = st.text_input(t("known.numbers"), max_chars=400, key="known-numbers")
        explanation = st.text_area(t("known.explanation"), max_chars=FIELD, height=80, key="known-why")
        submitted = st.form_submit_button(t("known.do_add"))
    if submitted:
        with session.changing(engine, account_id):
            parts = [part.strip() for part in numbers.replace("，", ",").split(",") if part.strip()]
            if not parts or not all(part.isascii() and part.isdigit() and len(part) < 16 for part in parts):
                raise AuditError(message("known.give_numbers"))
            added = add_settled_questions(engine, purpose, map(int, parts), explanation, by=account_id)
            session.done(t("known.added", added=added.added, changed=added.changed))


def _show_removal_form(engine: Engine, account_id: int, questions: list[KnownQuestion]) -> None:
    if not questions:
        return
    by_id = {question.id: question for question in questions}
    with st.form("known-remove", clear_on_submit=True):
        st.markdown(f"## {t('known.remove')}")
        st.caption(t("known.remove_help"))
        selected = st.multiselect(
            t("known.which"),
            list(by_id),
            format_func=lambda id: f"{id}: {by_id[id].texts[0][:60]}",
            key="known-gone",
            placeholder=t("studies.choose"),
        )
        submitted = st.form_submit_button(t("known.do_remove"))
    if submitted and selected:
        with session.changing(engine, account_id):
            session.done(t("known.removed", count=remove_known(engine, selected, by=account_id)))


# The form of the settings of judging.


def settings_section(engine: Engine, account_id: int) -> None:
    """The settings in force, in a form that changes all at once."""
    with engine.connect() as connection:
        settings = settings_of(connection)
    session.show_last()
    with st.form("judging-settings"):
        values = {}
        for name, bounds in BOUNDS.items():
            is_share = bounds.most <= 1
            value = getattr(settings, name)
            number = st.number_input(
                t(f"judging.{name}"),
                **_field(bounds, value, 100 if is_share else 1),
                help=t(f"judging.{name}_help"),
                key=f"judging-{name}",
            )
            values[name] = round(number / 100, 6) if is_share else number
        submitted = st.form_submit_button(t("judging.save"), type="primary")
    if submitted:
        with session.changing(engine, account_id):
            change_settings(engine, account_id, values)
            session.done(t("judging.done"))


def _field(bounds: Bounds, value: float, factor: int) -> dict[str, Any]:
    """The numbers that a field takes: whole ones, shares in per cent, or seconds."""
    if bounds.whole:
        return {"min_value": int(bounds.least), "max_value": int(bounds.most), "value": int(value)}
    step = 1.0 if factor > 1 else 0.1
    least, most = float(factor * bounds.least), float(factor * bounds.most)
    return {"min_value": least, "max_value": most, "value": float(factor * value), "step": step, "format": "%.1f"}


# How well people agree: coefficients, overall and over time, between each two people, and which labels they confuse.

AGREEMENT_COLUMNS = ("coefficient", "level", "estimate", "low", "high", "items", "note")
PAIRS = ("one", "other_annotator", "items", "percent_agreement", "cohen_kappa", "gwet_ac1")


def _agreement(engine: Engine, account_id: int) -> None:
    """Who agrees with whom, on one kind of question at a time."""
    study = choose_study(engine, account_id)
    answer = computed_with_freshness(engine, "agreement", {"by": account_id, "study": study}, "agreement")
    questions = computed(engine, "totals", {"by": account_id, "study": study}).value["questions"]
    if filled := questions["filled"]:
        share = percent(questions["split"] / filled)
        st.markdown(plain(t("dashboard.split", split=questions["split"], filled=f"{filled:,}", share=share)))
    if not answer.value:
        st.info(t("dashboard.no_agreement"), icon=":material/info:")
        return
    names = [" · ".join((t(f"kind.{report['kind']}"), task_name(report["task"]))) for report in answer.value]
    index = 0
    if len(names) > 1:
        index = single_choice(t("dashboard.kind"), dict(enumerate(names)), "dashboard-kind")
    report = answer.value[index]
    key = (report["task"], report["kind"], study, answer.state)
    st.caption(t("dashboard.agreement_legend", items=f"{report['items']:,}", people=len(report["annotators"])))
    _coefficients(report)
    _confusions(report, key)
    _pairs(report)
    for note in report["notes"]:
        st.caption(plain(translated(note)))


def _coefficients(report: dict[str, Any]) -> None:
    rows = [
        coefficient
        | {"coefficient": _coefficient_name(coefficient["name"]), "note": translated(coefficient["note"] or "") or None}
        for coefficient in report["coefficients"]
    ]
    # Weights and notes are rare: their columns are there where they say something.
    columns = [name for name in AGREEMENT_COLUMNS if name not in ("level", "note") or any(row[name] for row in rows)]
    table("coefficients", rows, columns)


def _confusions(report: dict[str, Any], key: tuple[Any, ...]) -> None:
    heading(t("dashboard.confusions"))
    st.caption(t("dashboard.confusions_legend"))
    labels = [label_name(label, report["task"]) for label in report["labels"]]
    rows = [
        {"label": label, "other_annotator": other, "times": number}
        for label, row in zip(labels, report["confusions"], strict=True)
        for other, number in zip(labels, row, strict=True)
    ]
    numbers = t("list.semicolon").join(f"{row['label']} / {row['other_annotator']} {row['times']}" for row in rows)
    build = partial(confusion_chart, report["confusions"], labels)
    chart("confusions", key, build, t("dashboard.confusions_alt", numbers=numbers), "confusions")
    table("confusions", rows, ("label", "other_annotator", "times"))


def _pairs(report: dict[str, Any]) -> None:
    if len(report["annotators"]) < 3:
        return
    heading(t("dashboard.pairs"))
    pairs = [pair | {"other_annotator": pair["other"]} for pair in report["pairs"]]
    table("pairs", pairs, PAIRS)


def _coefficient_name(name: str) -> str:
    return text_or(f"coefficient.{name}", name)


ROLES = ("manager",)
AGREEMENT, ANNOTATORS, JUDGES, KNOWN, SETTINGS = MODES = ("agreement", "annotators", "judges", "known", "settings")
_MODE = "quality-mode"
_CACHED_REPORT = "quality-kept"
"""((whether about groups, the task, the study, number of lines of the log), time, the report)"""
REPORT_MAX_AGE = timedelta(minutes=1)
"""How long a report on the screen stands: while fifty people judge, a new one with each click would be in their way."""


def page() -> None:
    """One of four sections: annotators, judges that are models, control questions, settings."""
    engine, account = session.enter(*ROLES)
    names = {name: t(f"quality.{name}") for name in MODES}
    mode = single_choice(t("menu.quality"), names, _MODE, label_visibility="collapsed")
    if mode == JUDGES:
        _judges(engine, account.id)
    elif mode == KNOWN:
        control_questions_section(engine, account.id)
    elif mode == AGREEMENT:
        _agreement(engine, account.id)
    elif mode == SETTINGS:
        settings_section(engine, account.id)
    else:
        _annotators(engine, account.id)


def _judges(engine: Engine, account_id: int) -> None:
    """Judges that are models, each against people, gold and itself; annotators never see what they answer."""
    document = computed(engine, "judges", {"by": account_id}, recompute=True).value
    if not document["judges"]:
        st.info(t("quality.no_judges"))
        return
    for entry in document["judges"]:
        st.header(plain(f"{entry['name']}@{entry['version']}"), anchor=False)
        show_parts(judge_section(entry, Say(language())), f"judge-{entry['judge']}", ())
    for note in document["notes"]:
        st.caption(plain(translated(note)))


def _annotators(engine: Engine, account_id: int) -> None:
    chosen_study = choose_study(engine, account_id)
    names = {name: t(f"quality.{name}") for name in ("inputs", "groups")}
    about = single_choice(t("quality.about"), names, "quality-about", label_visibility="collapsed")
    tasks = _tasks(engine, about == "groups", chosen_study)
    task = None
    if len(tasks) > 1:
        task = single_choice(t("field.task"), {name: task_name(name) for name in tasks}, f"quality-task-{about}")
    computed_at, report = _current_report(engine, account_id, about == "groups", task, chosen_study)
    if not report["annotators"]:
        st.info(t("quality.nobody"))
        return
    st.caption(t("quality.as_of", time=f"{computed_at:%H:%M:%S} UTC"))
    st.dataframe(
        pd.DataFrame([_row(annotator) for annotator in report["annotators"]]),
        hide_index=True,
        placeholder=UNKNOWN,
        column_config={name: st.column_config.NumberColumn(format="%.1f") for name in _numbers()},
    )
    st.caption(t("quality.columns"))
    if report["alpha"] is not None:
        st.caption(t("quality.alpha", alpha=f"{report['alpha']:.3f}"))
    key, labels = (
        (about, chosen_study, computed_at),
        {label: label_name(label, report["task"]) for label in report["labels"]},
    )
    _chart("shares", key, t("quality.shares"), lambda palette: shares_chart(report, _measures(), palette))
    _chart("bias", key, t("quality.bias_legend"), lambda palette: bias_chart(report, labels, palette))
    _show_annotator(report)
    st.download_button(
        t("quality.download"),
        lambda: _table(report["annotators"]).to_csv(index=False),
        "quality.csv",
        "text/csv",
        on_click="ignore",
        icon=":material/download:",
    )
    for note in report["notes"]:
        st.caption(plain(translated(note)))
    with st.expander(t("results.signature")):
        st.code(signature_line(report["signature"]), language=None, wrap_lines=True)


def _measures() -> dict[str, str]:
    return {name: t(f"measure.{name}") for name in MEASURES}


def _numbers() -> list[str]:
    return [*(f"{name} %" for name in _measures().values()), t("measure.seconds"), f"{t('measure.fast')} %"]


def _row(annotator: dict[str, Any]) -> dict[str, Any]:
    """The row of one annotator in the table; shares in per cent, with their intervals beside them."""
    row: dict[str, Any] = {t("accounts.name"): annotator["annotator"], t("measure.judgements"): annotator["judgements"]}
    for name, title in _measures().items():
        share = annotator[name]
        row[f"{title} %"] = None if share["value"] is None else 100 * share["value"]
        row[f"{title} [ ]"] = (
            None if share["low"] is None else f"{percent(share['low'], 0)}–{percent(share['high'], 0)}"
        )
    row[t("measure.seconds")] = annotator["speed"]["seconds"]
    fast = annotator["speed"]["fast"]["value"]
    row[f"{t('measure.fast')} %"] = None if fast is None else 100 * fast
    row[t("measure.training")] = _training_result(annotator["training"])
    return row


def _training_result(training: dict[str, Any]) -> str:
    if not training["attempts"]:
        return UNKNOWN
    return t("quality.passed" if training["passed"] else "quality.not_passed", count=training["attempts"])


def _show_annotator(report: dict[str, Any]) -> None:
    """One annotator: answers by known answer, unsure answers, and the first against the second half."""
    by_name = {annotator["annotator"]: annotator for annotator in report["annotators"]}
    name = st.selectbox(t("quality.choose"), list(by_name), key="quality-who")
    annotator = by_name[name]
    left, right = st.columns(2, gap="medium")
    labels = {label: label_name(label, report["task"]) for label in report["labels"]}
    with left:
        st.caption(t("quality.confusion"))
        if annotator["confusion"] is None:
            st.write(t("quality.no_hidden"))
        else:
            rows = [
                {t("quality.known_said"): labels[known_answer]}
                | {labels[answer]: number for answer, number in row.items()}
                for known_answer, row in annotator["confusion"].items()
            ]
            st.dataframe(rows, hide_index=True)
            if annotator["accuracy"]["unsure"]:
                st.caption(t("quality.unsure", count=annotator["accuracy"]["unsure"]))
    with right:
        st.caption(t("quality.halves"))
        st.dataframe(
            [
                {
                    t("quality.half"): t(f"quality.{half}"),
                    f"{t('measure.settled')} %": _rounded(share["value"], 100),
                    t("measure.seconds"): _rounded(annotator["speed"][f"{half}_half"]),
                }
                for half, share in ((half, annotator["drift"][half]) for half in ("first", "second"))
            ],
            hide_index=True,
            placeholder=UNKNOWN,
        )
        reasons = {annotator[name]["reason"] for name in MEASURES if annotator[name]["reason"]}
        for reason in sorted(reasons):
            st.caption(plain(sentence(translated(reason))))


def _rounded(value: float | None, factor: int = 1) -> float | None:
    return None if value is None else round(factor * value, 1)


def _table(annotators: list[dict[str, Any]]) -> pd.DataFrame:
    """A row an annotator: keys joined by `_`, a column for each end of each label's bias."""
    ends = ("value", "low", "high")
    rows = [
        annotator | {"bias": {bias["label"]: {end: bias[end] for end in ends} for bias in annotator["bias"]}}
        for annotator in annotators
    ]
    return pd.json_normalize(rows, sep="_").map(lambda value: harmless(value) if isinstance(value, str) else value)


def _chart(name: str, key: tuple[Any, ...], text: str, build: Callable[[Palette], Any]) -> None:
    caption = st.empty()
    if chart(f"quality-{name}", key, build, f"{text} {t('quality.as_table')}"):
        caption.caption(text)


def _tasks(engine: Engine, groups: bool, study_id: int | None) -> list[str]:
    """The tasks of which people judged questions about groups, or about texts and outputs."""
    judged = exists().where(judgement.c.question_id == question.c.id)
    kind = question.c.kind == "group" if groups else question.c.kind.in_(ABOUT_OUTPUTS)
    query = select(question.c.task).where(kind, judged).distinct().order_by(question.c.task)
    with engine.connect() as connection:
        if study_id is not None:
            query = query.where(asked_by(connection, [study_id]))
        return [str(task) for task in connection.execute(query).scalars()]


def _current_report(
    engine: Engine, account_id: int, groups: bool, task: str | None, study_id: int | None
) -> tuple[datetime, dict[str, Any]]:
    """The report and its time: at most a minute old, and never older than a change of a setting or a known answer, each
    of which writes a line of the log."""
    with engine.connect() as connection:
        key = (groups, task, study_id, count_rows(connection, log))
    now, cached = datetime.now(UTC), st.session_state.get(_CACHED_REPORT)
    if cached and cached[0] == key and now - cached[1] < REPORT_MAX_AGE:
        return cached[1], cached[2]
    values = {"by": account_id, "groups": groups, "task": task, "study": study_id}
    report: dict[str, Any] = computed(engine, "quality", values, recompute=True).value
    st.session_state[_CACHED_REPORT] = (key, now, report)
    return now, report
