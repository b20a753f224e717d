"""How well annotators judge: for managers. Nobody else sees these numbers, annotators not even their own."""

from collections.abc import Callable
from typing import Any

import streamlit as st
from sqlalchemy import Engine, exists, select

from audit.false_satisfaction.questions import asked_by
from audit.judging.control_questions import GOLD, KnownQuestion, known_questions, pick_known
from audit.judging.settings import change_settings, settings_of
from audit.judging.training import QUALIFYING, QUALIFYING_MARK, qualification, switch_qualification
from audit.reports.judges import judge_section
from audit.reports.tables import Table
from audit.reports.words import UNKNOWN, Say, estimate, number, percent, signature_line
from audit.store.core import judgement, question
from audit.tasks import Input
from audit.tasks.questions import ABOUT_OUTPUTS
from audit.ui import session
from audit.ui.background_cache import computed, computed_with_freshness
from audit.ui.language import (
    direction,
    in_language,
    label_name,
    label_names,
    language,
    output_words,
    plain,
    single_choice,
    t,
    task_name,
    translated,
)
from audit.ui.sections import show_parts, show_table
from audit.ui.study_choice import choose_study

ROLES = ("manager",)
AGREEMENT, ANNOTATORS, JUDGES, KNOWN = MODES = ("agreement", "annotators", "judges", "known")
SHARES = ("accuracy", "consistency", "settled", "others")
HIDDEN = {"gold_share": 0.05, "repeat_share": 0.05}
"""What the switch of hidden control questions sets."""
PICKED = 40
"""Hidden control questions that it picks where there are none."""


def page() -> None:
    """One of four sections: agreement, annotators, judges that are models, control questions."""
    engine, account = session.enter(*ROLES)
    names = {name: t(f"quality.{name}") for name in MODES}
    mode = single_choice(t("menu.quality"), names, "quality-mode", label_visibility="collapsed")
    {AGREEMENT: _agreement, ANNOTATORS: _annotators, JUDGES: _judges, KNOWN: _controls}[mode](engine, account.id)


def _notes(document: dict[str, Any]) -> None:
    for note in document["notes"]:
        st.caption(plain(translated(note)))


# How well people agree: coefficients, and which labels they take for each other.


def _agreement(engine: Engine, account_id: int) -> None:
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
        index = single_choice(t("column.questions"), dict(enumerate(names)), "dashboard-kind")
    report = answer.value[index]
    st.caption(t("dashboard.agreement_legend", items=f"{report['items']:,}", people=len(report["annotators"])))
    columns = ("estimate", "low", "high")
    rows = [
        (
            t(f"coefficient.{coefficient['name']}"),
            *(number(coefficient[name], 3) for name in columns),
            coefficient["items"],
        )
        for coefficient in report["coefficients"]
    ]
    heads = [t(f"column.{column}") for column in ("coefficient", *columns, "items")]
    show_table(Table(heads, rows), "coefficients")
    for note in dict.fromkeys(filter(None, (coefficient["note"] for coefficient in report["coefficients"]))):
        st.caption(plain(translated(note)))
    labels = [plain(label_name(label, report["task"])) for label in report["labels"]]
    confused = zip(labels, report["confusions"], strict=True)
    st.markdown(f"## {t('dashboard.confusions')}")
    st.caption(t("dashboard.confusions_legend"))
    show_table(Table((t("column.label"), *labels), [(label, *row) for label, row in confused]), "confusions")
    _notes(report)


# Models that judge.


def _judges(engine: Engine, account_id: int) -> None:
    """Judges that are models, each against people, gold and itself; annotators never see what they answer."""
    document = computed(engine, "judges", {"by": account_id}, recompute=True).value
    if not document["judges"]:
        st.info(t("quality.no_judges"))
        return
    for entry in document["judges"]:
        st.header(plain(f"{entry['name']}@{entry['version']}"), anchor=False)
        show_parts(judge_section(entry, Say(language())), f"judge-{entry['judge']}", ())
    _notes(document)


# Each annotator.


def _annotators(engine: Engine, account_id: int) -> None:
    study = choose_study(engine, account_id)
    names = {name: t(f"quality.{name}") for name in ("inputs", "groups")}
    groups = single_choice(t("column.questions"), names, "quality-about", label_visibility="collapsed") == "groups"
    tasks = _tasks(engine, groups, study)
    task = None
    if len(tasks) > 1:
        task = single_choice(t("own.task"), {name: task_name(name) for name in tasks}, f"quality-task-{groups}")
    values = {"by": account_id, "groups": groups, "task": task, "study": study}
    report = computed_with_freshness(engine, "quality", values, "quality").value
    if not report["annotators"]:
        st.info(t("quality.nobody"))
        return
    heads = ("welcome.name", *(f"measure.{name}" for name in ("judgements", *SHARES, "seconds", "fast", "training")))
    show_table(
        Table([t(head) for head in heads], [_row(annotator) for annotator in report["annotators"]]), "annotators"
    )
    st.caption(t("quality.columns"))
    if report["alpha"] is not None:
        st.caption(t("quality.alpha", alpha=f"{report['alpha']:.3f}"))
    _notes(report)
    with st.expander(t("results.signature")):
        st.code(signature_line(report["signature"]), language=None, wrap_lines=True)


def _row(annotator: dict[str, Any]) -> tuple[Any, ...]:
    speed, training = annotator["speed"], annotator["training"]
    passed = t("quality.passed" if training["passed"] else "quality.not_passed", count=training["attempts"])
    return (
        annotator["annotator"], annotator["judgements"],
        *(estimate(annotator[name]) for name in SHARES), number(speed["seconds"], 1),
        speed["fast"]["value"], passed if training["attempts"] else UNKNOWN,
    )  # fmt: skip


def _tasks(engine: Engine, groups: bool, study_id: int | None) -> list[str]:
    judged = exists().where(judgement.c.question_id == question.c.id)
    kind = question.c.kind == "group" if groups else question.c.kind.in_(ABOUT_OUTPUTS)
    query = select(question.c.task).where(kind, judged).distinct().order_by(question.c.task)
    with engine.connect() as connection:
        if study_id is not None:
            query = query.where(asked_by(connection, [study_id]))
        return [str(task) for task in connection.execute(query).scalars()]


# Control questions, whose answers are known: hidden among the others, and a short round before the first one.


def _controls(engine: Engine, account_id: int) -> None:
    session.show_last()
    with engine.connect() as connection:
        settings = settings_of(connection)
    questions, now = known_questions(engine, by=account_id), qualification(engine, by=account_id)
    hidden = sum(control.purpose == GOLD for control in questions)

    def hide(on: bool) -> None:
        if on and not hidden:
            pick_known(engine, GOLD, PICKED, by=account_id)
        change_settings(engine, account_id, HIDDEN if on else dict.fromkeys(HIDDEN, 0.0))

    hides = bool(settings.gold_share and hidden)
    values = {"count": hidden, "most": PICKED, "share": f"{100 * (settings.gold_share or HIDDEN['gold_share']):g}"}
    said = [t("control.title"), t("control.on" if hides else "control.off", **values)]
    _switch(engine, account_id, "control", hides, said, hide)
    values = {"count": now.questions or QUALIFYING, "mark": f"{100 * (now.mark or QUALIFYING_MARK):g}"}
    said = [t("qualification.title"), t("qualification.on" if now.on else "qualification.off", **values)]
    _switch(
        engine, account_id, "qualification", now.on, said, lambda on: switch_qualification(engine, on, by=account_id)
    )
    if questions:
        heads = [t(f"known.{head}") for head in ("purpose", "text", "answer", "explanation", "judged")]
        st.dataframe([dict(zip(heads, _known(control), strict=True)) for control in questions], hide_index=True)
    st.caption(t("known.what"))


def _known(control: KnownQuestion) -> tuple[Any, ...]:
    output = [output_words(control.output, control.task)] if control.output else []
    text = in_language(" | ".join([*control.texts, *output]), direction(Input(control.texts, control.languages)))
    return (
        t(f"known.{control.purpose}"),
        text,
        label_names(control.allowed, control.task),
        control.explanation,
        control.judged,
    )


def _switch(
    engine: Engine, account_id: int, name: str, on: bool, said: list[str], change: Callable[[bool], object]
) -> None:
    with st.container(border=True, key=name):
        st.markdown("\n\n".join((f"## {said[0]}", *said[1:])))
        label = t("qualification.switch_off" if on else "qualification.switch_on")
        if st.button(label, key=f"{name}-{'off' if on else 'on'}", type="secondary" if on else "primary"):
            with session.changing(engine, account_id):
                change(not on)
                session.done(t("control.changed"))
