"""How well annotators judge: for managers. Nobody else sees these numbers, annotators not even their own."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pandas as pd
import streamlit as st
from sqlalchemy import Engine, exists, func, select

from audit.errors import AuditError
from audit.reports.charts import Palette
from audit.reports.quality_charts import MEASURES, bias_chart, shares_chart
from audit.reports.sheet import harmless
from audit.reports.words import UNKNOWN, percent, signature_line
from audit.store import table_of, tables
from audit.ui import database, session
from audit.ui.choice import one_of
from audit.ui.dashboard_parts import chart
from audit.ui.language import label_name, t, task_name, translated
from audit.ui.literal import plain, sentence
from audit.ui.quality_contradictions import contradicting
from audit.ui.quality_known import known_answers
from audit.ui.quality_settings import judging_settings
from audit.ui.workshop import computed

ROLES = ("manager",)
ANNOTATORS, CONTRADICTIONS, KNOWN, SETTINGS = MODES = ("annotators", "contradictions", "known", "settings")
_MODE = "quality-mode"
_KEPT = "quality-kept"
"""((whether about groups, the task), when, changes of settings by then, the report)"""
KEPT = timedelta(minutes=1)
"""How long a report on the screen stands: while fifty people judge, a new one with each click would be in their way."""


def page() -> None:
    """One of four: annotators, contradictions, known questions, settings."""
    engine = database.engine()
    account = session.allowed(engine, *ROLES)
    names = {one: t(f"quality.{one}") for one in MODES}
    mode = one_of(t("menu.quality"), names, _MODE, label_visibility="collapsed")
    if mode == CONTRADICTIONS:
        contradicting(engine, account.id)
    elif mode == KNOWN:
        known_answers(engine, account.id)
    elif mode == SETTINGS:
        judging_settings(engine, account.id)
    else:
        _annotators(engine, account.id)


def _annotators(engine: Engine, account_id: int) -> None:
    names = {one: t(f"quality.{one}") for one in ("inputs", "groups")}
    about = one_of(t("quality.about"), names, "quality-about", label_visibility="collapsed")
    tasks = _tasks(engine, about == "groups")
    task = None
    if len(tasks) > 1:
        task = one_of(t("field.task"), {one: task_name(one) for one in tasks}, f"quality-task-{about}")
    try:
        at, report = _current(engine, account_id, about == "groups", task)
    except AuditError as problem:
        session.refused(problem)
        return
    if not report["annotators"]:
        st.info(t("quality.nobody"))
        return
    st.caption(t("quality.as_of", time=f"{at:%H:%M:%S} UTC"))
    _alarms(report)
    st.dataframe(
        pd.DataFrame([_row(one) for one in report["annotators"]]),
        hide_index=True,
        placeholder=UNKNOWN,
        column_config={name: st.column_config.NumberColumn(format="%.1f") for name in _numbers()},
    )
    st.caption(t("quality.columns"))
    if report["alpha"] is not None:
        st.caption(t("quality.alpha", alpha=f"{report['alpha']:.3f}"))
    _chart("shares", (about, at), t("quality.shares"), lambda palette: shares_chart(report, _measures(), palette))
    labels = {label: label_name(label) for label in report["labels"]}
    _chart("bias", (about, at), t("quality.bias_legend"), lambda palette: bias_chart(report, labels, palette))
    _one(report)
    st.download_button(
        t("quality.download"),
        lambda: pd.DataFrame([_flat(one) for one in report["annotators"]]).to_csv(index=False),
        "quality.csv",
        "text/csv",
        on_click="ignore",
        icon=":material/download:",
    )
    for note in report["notes"]:
        st.caption(plain(translated(note)))
    with st.expander(t("results.signature")):
        st.code(signature_line(report["signature"]), language=None, wrap_lines=True)


def _alarms(report: dict[str, Any]) -> None:
    """Alarms in words, a line a person."""
    struck = [(one["annotator"], one["alarms"]) for one in report["annotators"] if one["alarms"]]
    if not struck:
        st.success(t("quality.no_alarms"), icon=":material/check:")
        return
    lines = [f"- **{plain(name)}**: {plain(_said(some))}" for name, some in struck]
    st.warning("\n".join([t("quality.alarms"), "", *lines]), icon=":material/notifications:")


def _said(some: list[dict[str, Any]]) -> str:
    names = [t(f"alarm.{one['rule']}", label=label_name(one["label"]) if one["label"] else "") for one in some]
    return t("how.comma").join(names)


def _measures() -> dict[str, str]:
    return {name: t(f"measure.{name}") for name in MEASURES}


def _numbers() -> list[str]:
    return [*(f"{name} %" for name in _measures().values()), t("measure.seconds"), f"{t('measure.fast')} %"]


def _row(one: dict[str, Any]) -> dict[str, Any]:
    """What the table shows of one annotator; shares in per cent, with their intervals beside."""
    row: dict[str, Any] = {t("accounts.name"): one["annotator"], t("measure.judgements"): one["judgements"]}
    for name, title in _measures().items():
        share = one[name]
        row[f"{title} %"] = None if share["value"] is None else 100 * share["value"]
        row[f"{title} [ ]"] = (
            None if share["low"] is None else f"{percent(share['low'], 0)}–{percent(share['high'], 0)}"
        )
    row[t("measure.seconds")] = one["speed"]["seconds"]
    fast = one["speed"]["fast"]["value"]
    row[f"{t('measure.fast')} %"] = None if fast is None else 100 * fast
    row[t("measure.training")] = _training(one["training"])
    row[t("measure.alarms")] = _said(one["alarms"])
    return row


def _training(one: dict[str, Any]) -> str:
    if not one["attempts"]:
        return UNKNOWN
    return t("quality.passed" if one["passed"] else "quality.not_passed", count=one["attempts"])


def _one(report: dict[str, Any]) -> None:
    """One annotator: what was said of which known answer, the bias of each label, and the halves."""
    by_name = {one["annotator"]: one for one in report["annotators"]}
    name = st.selectbox(t("quality.choose"), list(by_name), key="quality-who")
    one = by_name[name]
    left, right = st.columns(2, gap="medium")
    labels = {label: label_name(label) for label in report["labels"]}
    with left:
        st.caption(t("quality.confusion"))
        if one["confusion"] is None:
            st.write(t("quality.no_hidden"))
        else:
            rows = [
                {t("quality.known_said"): labels[known]} | {labels[said]: number for said, number in row.items()}
                for known, row in one["confusion"].items()
            ]
            st.dataframe(rows, hide_index=True)
            if one["accuracy"]["unsure"]:
                st.caption(t("quality.unsure", count=one["accuracy"]["unsure"]))
    with right:
        st.caption(t("quality.halves"))
        st.dataframe(
            [
                {
                    t("quality.half"): t(f"quality.{half}"),
                    f"{t('measure.settled')} %": _rounded(share["value"], 100),
                    t("measure.seconds"): _rounded(one["speed"][f"{half}_half"]),
                }
                for half, share in ((half, one["drift"][half]) for half in ("first", "second"))
            ],
            hide_index=True,
            placeholder=UNKNOWN,
        )
        reasons = {one[name]["reason"] for name in MEASURES if one[name]["reason"]}
        for reason in sorted(reasons):
            st.caption(plain(sentence(translated(reason))))


def _rounded(value: float | None, times: int = 1) -> float | None:
    return None if value is None else round(times * value, 1)


def _flat(one: dict[str, Any], before: str = "") -> dict[str, Any]:
    """An entry of the report as one row: keys joined by `_`; lists as words."""
    found: dict[str, Any] = {}
    for key, value in one.items():
        name = f"{before}{key}"
        if isinstance(value, dict):
            found |= _flat(value, f"{name}_")
        elif key == "bias":
            found |= {f"{name}_{bias['label']}_{end}": bias[end] for bias in value for end in ("value", "low", "high")}
        elif key == "alarms":
            found[name] = "; ".join(" ".join(filter(None, (alarm["rule"], alarm["label"]))) for alarm in value)
        else:
            found[name] = harmless(value) if isinstance(value, str) else value
    return found


def _chart(name: str, key: tuple[Any, ...], words: str, make: Callable[[Palette], Any]) -> None:
    place = st.empty()
    if chart(f"quality-{name}", key, make, f"{words} {t('quality.as_table')}") is not None:
        place.caption(words)


def _tasks(engine: Engine, groups: bool) -> list[str]:
    """The tasks of which people judged questions about groups, or about texts and outputs."""
    question, judgement = table_of(tables.Question), table_of(tables.Judgement)
    judged = exists().where(judgement.c.question_id == question.c.id)
    kind = question.c.kind == "group" if groups else question.c.kind != "group"
    query = select(question.c.task).where(kind, judged).distinct().order_by(question.c.task)
    with engine.connect() as connection:
        return [str(task) for task in connection.execute(query).scalars()]


def _current(engine: Engine, account_id: int, groups: bool, task: str | None) -> tuple[datetime, dict[str, Any]]:
    """The report and when it was made: a minute ago at most, and never before a setting or a known answer changed."""
    now, changes = datetime.now(UTC), _changes(engine)
    kept = st.session_state.get(_KEPT)
    if kept and kept[0] == (groups, task) and now - kept[1] < KEPT and kept[2] == changes:
        return kept[1], kept[3]
    report = _report(engine, account_id, groups, task)
    st.session_state[_KEPT] = ((groups, task), now, changes, report)
    return now, report


def _changes(engine: Engine) -> int:
    """How often a setting or a known answer was changed: the log has it."""
    with engine.connect() as connection:
        return int(connection.execute(select(func.count()).select_from(table_of(tables.Log))).scalar() or 0)


def _report(engine: Engine, account_id: int, groups: bool, task: str | None) -> dict[str, Any]:
    """Computed in another process, and anew however long it takes: it stands for a minute."""
    found: dict[str, Any] = computed(
        engine, "quality", {"by": account_id, "groups": groups, "task": task}, anew=True
    ).value
    return found
