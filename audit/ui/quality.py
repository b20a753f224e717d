"""How well annotators judge: for managers. Nobody else sees these numbers, annotators not even their own."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import streamlit as st
from sqlalchemy import Engine, exists, select

from audit.false_satisfaction.questions import asked_by
from audit.judging.control_questions import GOLD, known_questions, pick_known
from audit.judging.settings import change_settings, settings_of
from audit.judging.training import QUALIFYING, QUALIFYING_MARK, qualification, switch_qualification
from audit.reports.judges import judge_section
from audit.reports.tables import Table
from audit.reports.words import UNKNOWN, Say, estimate, number, percent, signature_line
from audit.store.core import count_rows, judgement, log, question
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
    text_or,
    translated,
)
from audit.ui.sections import show_parts, show_table
from audit.ui.study_choice import choose_study

ROLES = ("manager",)
AGREEMENT, ANNOTATORS, JUDGES, KNOWN = MODES = ("agreement", "annotators", "judges", "known")
_CACHED_REPORT = "quality-kept"
"""((whether about groups, the task, the study, number of lines of the log), time, the report)"""
REPORT_MAX_AGE = timedelta(minutes=1)
"""How long a report on the screen stands: while fifty people judge, a new one with each click would be in their way."""
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


# How well people agree: coefficients, which labels they take for each other, and each two people.


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
        index = single_choice(t("column.questions"), dict(enumerate(names)), "dashboard-kind")
    report, people = answer.value[index], len(answer.value[index]["annotators"])
    st.caption(t("dashboard.agreement_legend", items=f"{report['items']:,}", people=people))
    columns = ("coefficient", "estimate", "low", "high", "items")
    rows = [
        (
            text_or(f"coefficient.{one['name']}", one["name"]) + (f" ({one['level']})" if one["level"] else ""),
            *(number(one[name], 3) for name in columns[1:4]),
            one["items"],
        )
        for one in report["coefficients"]
    ]
    _table("coefficients", columns, rows)
    for note in dict.fromkeys(filter(None, (one["note"] for one in report["coefficients"]))):
        st.caption(plain(translated(note)))
    labels = [plain(label_name(label, report["task"])) for label in report["labels"]]
    confused = zip(labels, report["confusions"], strict=True)
    st.markdown(f"## {t('dashboard.confusions')}")
    st.caption(t("dashboard.confusions_legend"))
    show_table(Table((t("column.label"), *labels), [(label, *row) for label, row in confused]), "confusions")
    if people > 2:
        st.markdown(f"## {t('dashboard.pairs')}")
        kappas = ("percent_agreement", "cohen_kappa", "gwet_ac1")
        pairs = [
            (pair["one"], pair["other"], pair["items"], *(number(pair[name], 3) for name in kappas))
            for pair in report["pairs"]
        ]
        _table("pairs", ("one", "other_annotator", "items", *kappas), pairs)
    _notes(report)


def _table(name: str, columns: tuple[str, ...], rows: list[tuple[Any, ...]]) -> None:
    show_table(Table([t(f"column.{column}") for column in columns], rows), name)


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
    groups = single_choice(t("quality.about"), names, "quality-about", label_visibility="collapsed") == "groups"
    tasks = _tasks(engine, groups, study)
    task = None
    if len(tasks) > 1:
        task = single_choice(t("own.task"), {name: task_name(name) for name in tasks}, f"quality-task-{groups}")
    computed_at, report = _current_report(engine, account_id, groups, task, study)
    if not report["annotators"]:
        st.info(t("quality.nobody"))
        return
    st.caption(t("quality.as_of", time=f"{computed_at:%H:%M:%S} UTC"))
    heads = ("welcome.name", *(f"measure.{name}" for name in ("judgements", *SHARES, "seconds", "fast", "training")))
    show_table(Table([t(head) for head in heads], [_row(one) for one in report["annotators"]]), "annotators")
    st.caption(t("quality.columns"))
    if report["alpha"] is not None:
        st.caption(t("quality.alpha", alpha=f"{report['alpha']:.3f}"))
    _confusion(report)
    _notes(report)
    with st.expander(t("results.signature")):
        st.code(signature_line(report["signature"]), language=None, wrap_lines=True)


def _row(one: dict[str, Any]) -> tuple[Any, ...]:
    speed, training = one["speed"], one["training"]
    passed = t("quality.passed" if training["passed"] else "quality.not_passed", count=training["attempts"])
    return (
        one["annotator"], one["judgements"], *(estimate(one[name]) for name in SHARES), number(speed["seconds"], 1),
        speed["fast"]["value"], passed if training["attempts"] else UNKNOWN,
    )  # fmt: skip


def _confusion(report: dict[str, Any]) -> None:
    """What one annotator said to hidden questions, by the known answer."""
    by_name = {one["annotator"]: one for one in report["annotators"]}
    annotator = by_name[st.selectbox(t("quality.choose"), list(by_name), key="quality-who", width=420)]
    st.caption(t("quality.confusion"))
    if annotator["confusion"] is None:
        st.write(t("quality.no_hidden"))
        return
    labels = {label: label_name(label, report["task"]) for label in report["labels"]}
    rows = [(labels[known], *said.values()) for known, said in annotator["confusion"].items()]
    heads = [labels[label] for label in next(iter(annotator["confusion"].values()))]
    show_table(Table((t("quality.known_said"), *heads), rows), "confusion")
    if annotator["accuracy"]["unsure"]:
        st.caption(t("quality.unsure", count=annotator["accuracy"]["unsure"]))


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


# Control questions, whose answers are known: hidden among the others, and a short round before the first one.


def _controls(engine: Engine, account_id: int) -> None:
    """The two switches, and the list; more of it has the command line."""
    session.show_last()
    with engine.connect() as connection:
        settings = settings_of(connection)
    questions, now = known_questions(engine, by=account_id), qualification(engine, by=account_id)
    hidden = sum(one.purpose == GOLD for one in questions)

    def hide(on: bool) -> None:
        if on and not hidden:
            pick_known(engine, GOLD, PICKED, by=account_id)
        change_settings(engine, account_id, HIDDEN if on else dict.fromkeys(HIDDEN, 0.0))

    hides = bool(settings.gold_share and hidden)
    values = {"count": hidden, "most": PICKED, "share": f"{100 * (settings.gold_share or HIDDEN['gold_share']):g}"}
    _switch(
        engine,
        account_id,
        "control",
        hides,
        [t("control.title"), t("control.on" if hides else "control.off", **values)],
        hide,
    )
    values = {"count": now.questions or QUALIFYING, "mark": f"{100 * (now.mark or QUALIFYING_MARK):g}"}
    said = [t("qualification.title"), t("qualification.on" if now.on else "qualification.off", **values)]
    _switch(
        engine, account_id, "qualification", now.on, said, lambda on: switch_qualification(engine, on, by=account_id)
    )
    if questions:
        heads = ("question", "purpose", "text", "answer", "explanation", "judged")
        st.dataframe(
            [
                dict(zip([t(f"known.{head}") for head in heads], cells, strict=True))
                for cells in (
                    (
                        one.id, t(f"known.{one.purpose}"),
                        in_language(
                            " | ".join([*one.texts, *([output_words(one.output, one.task)] if one.output else [])]),
                            direction(Input(one.texts, one.languages)),
                        ),
                        label_names(one.allowed, one.task), one.explanation, one.judged,
                    )
                    for one in questions
                )
            ],
            hide_index=True,
        )  # fmt: skip
    st.caption(t("known.what"))


def _switch(
    engine: Engine, account_id: int, name: str, on: bool, said: list[str], change: Callable[[bool], object]
) -> None:
    """What a switch does, and how it stands; the button changes it."""
    with st.container(border=True, key=name):
        st.markdown("\n\n".join((f"## {said[0]}", *said[1:])))
        label = t("qualification.switch_off" if on else "qualification.switch_on")
        if st.button(label, key=f"{name}-{'off' if on else 'on'}", type="secondary" if on else "primary"):
            with session.changing(engine, account_id):
                change(not on)
                session.done(t("control.changed"))
