"""How well annotators judge: for managers. Nobody else sees these numbers, annotators not even their own."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pandas as pd
import streamlit as st
from sqlalchemy import Engine, exists, func, select

from audit.annotation.control_questions import (
    PURPOSES,
    KnownQuestion,
    add_known,
    add_settled_questions,
    known_questions,
    parse_known,
    pick_known,
)
from audit.annotation.control_questions import remove_known as remove
from audit.annotation.questions import asks_pairs
from audit.annotation.settings import BOUNDS, change_settings, settings_of
from audit.errors import AuditError, UnknownName
from audit.false_satisfaction.browse import Contradiction, Side, contradictions
from audit.files import text_of
from audit.judging.deferral import refer
from audit.relations import get_relation
from audit.reports.charts import Palette
from audit.reports.dashboard_charts import MEASURES, bias_chart, shares_chart
from audit.reports.tables import harmless
from audit.reports.words import UNKNOWN, percent, signature_line
from audit.store import table_of, tables
from audit.tasks import Input
from audit.ui import session
from audit.ui.background_cache import computed
from audit.ui.dashboard_parts import chart
from audit.ui.language import (
    direction,
    html,
    in_language,
    label_name,
    label_names,
    one_of,
    plain,
    sentence,
    summary,
    t,
    task_name,
    translated,
)
from audit.ui.question import FIELD, readings
from audit.ui.settings import LARGEST_UPLOAD

# Answers that cannot all be true if their relation holds, and the button that sends them to the adjudicators.

PAGE = 10
"""Contradictions on one page."""
_SENT = "contradictions-sent"


def contradicting(engine: Engine, account_id: int) -> None:
    """The list, those of the most groups first."""
    if sent := st.session_state.pop(_SENT, None):
        st.success(t("contradiction.sent", count=sent), icon=":material/check:")
    found = contradictions(engine, by=account_id)
    st.write(t("contradiction.what"))
    if not found:
        st.info(t("contradiction.none"))
        return
    st.caption(t("contradiction.count", count=len(found)))
    pages = -(-len(found) // PAGE)
    page = st.number_input(t("contradiction.page", of=pages), 1, pages, key="contradiction-page") if pages > 1 else 1
    for one in found[(page - 1) * PAGE : page * PAGE]:
        _contradiction(engine, account_id, one)


def _contradiction(engine: Engine, account_id: int, one: Contradiction) -> None:
    name = f"{one.relation}-{one.source.question}-{one.follow_up.question}"
    with st.container(key=f"contradiction-{name.replace('.', '-')}", border=True):
        expected = label_names(one.carried)
        st.html(
            f'<p class="audit-expected"><strong>{html(one.relation)}</strong> {html(_summary(one))}<br>'
            f"{html(t('contradiction.expected', answer=expected, count=one.groups))}</p>"
        )
        left, right = st.columns(2, gap="small")
        with left:
            _side(t("role_of.source"), one.source, None)
        with right:
            _side(t("role_of.follow_up"), one.follow_up, one.source)
        if one.source.waits and one.follow_up.waits:
            st.caption(t("contradiction.waits"))
            return
        with st.form(f"refer-{name}", border=False):
            comment = st.text_input(
                t("contradiction.comment"),
                value=t("contradiction.default", relation=one.relation),
                max_chars=FIELD,
                key=f"refer-comment-{name}",
            )
            if st.form_submit_button(t("contradiction.send"), key=f"send-{name}"):
                _send(engine, account_id, one, comment)


def _side(title: str, side: Side, before: Side | None) -> None:
    """Its texts and the output that was judged with them; what differs from those of `before` is marked."""
    shown = readings(_read(side), _read(before) if before else None)
    title = in_language(title, direction(Input(side.texts, side.languages)))
    answer = label_names(side.answer)
    st.html(
        f'<section class="audit-part"><h4>{html(title)}</h4>{shown}<p class="audit-facts">'
        f"{html(t('browse.answer'))} <strong>{html(answer)}</strong> ({html(t(f'origin.{side.origin}'))}; "
        f"{html(t('contradiction.question', number=side.question))})</p></section>"
    )


def _read(side: Side) -> Input:
    """What is read of a side, as if it were one input: its texts and its output, each with its language."""
    languages = side.languages[: len(side.texts)]  # a target language has no text
    if side.output is None:
        return Input(side.texts, languages)
    return Input((*side.texts, side.output), (*languages, side.languages[-1]))


def _summary(one: Contradiction) -> str:
    try:
        english = get_relation(one.task, one.relation).summary
    except UnknownName:
        return ""
    return summary(one.task, one.relation, english)


def _send(engine: Engine, account_id: int, one: Contradiction, comment: str) -> None:
    try:
        session.still(engine, account_id)
        st.session_state[_SENT] = refer(engine, account_id, [one.source.question, one.follow_up.question], comment)
    except AuditError as problem:
        session.refused(problem)
        return
    st.rerun()


# Questions with known answers: what there is, and the ways to add and remove them.

_CONTROL_DONE = "quality-known-done"
"""(key of a text, its values): what was done before this run."""


def known_answers(engine: Engine, account_id: int) -> None:
    """The list, and the forms beside it."""
    if done := st.session_state.pop(_CONTROL_DONE, None):
        key, values = done
        st.success(t(key, **values), icon=":material/check:")
    found = known_questions(engine, by=account_id)
    st.write(t("known.what"))
    if found:
        st.dataframe([_control_row(one) for one in found], hide_index=True)
    else:
        st.info(t("known.none"))
    left, right = st.columns(2, gap="medium")
    with left:
        _picking(engine, account_id)
        _settled(engine, account_id)
    with right:
        _uploading(engine, account_id)
        _removing(engine, account_id, found)


def _control_row(one: KnownQuestion) -> dict[str, object]:
    return {
        t("known.question"): one.id,
        t("known.purpose"): t(f"known.{one.purpose}"),
        t("known.text"): in_language(
            " | ".join([*one.texts, *filter(None, [one.output])]), direction(Input(one.texts, one.languages))
        ),
        t("known.answer"): label_names(one.allowed),
        t("known.explanation"): one.explanation,
        t("known.judged"): one.judged,
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


def _picking(engine: Engine, account_id: int) -> None:
    with st.form("known-pick"):
        st.markdown(f"##### {t('known.pick')}")
        st.caption(t("known.pick_help"))
        purpose = _purpose("pick")
        count = st.number_input(t("known.count"), 1, 1_000, value=20, key="known-count")
        seed = st.number_input(t("known.seed"), 0, 1_000_000, value=0, key="known-seed")
        sent = st.form_submit_button(t("known.do_pick"))
    if sent:

        def work() -> tuple[str, dict[str, object]]:
            picked = pick_known(engine, purpose, int(count), int(seed), by=account_id)
            return "known.picked", {"added": picked.added, "candidates": picked.candidates}

        _do(engine, account_id, work)


def _uploading(engine: Engine, account_id: int) -> None:
    with st.form("known-file", clear_on_submit=True):
        st.markdown(f"##### {t('known.file')}")
        st.caption(plain(t("known.file_help")))
        purpose = _purpose("file")
        tasks = _control_tasks(engine)
        task = one_of(t("field.task"), {one: task_name(one) for one in tasks}, "known-task") if tasks[1:] else tasks[0]
        file = st.file_uploader(
            t("known.choose_file"), type=["csv"], key="known-upload", max_upload_size=LARGEST_UPLOAD
        )
        sent = st.form_submit_button(t("known.do_add"))
    if sent and file is not None:

        def work() -> tuple[str, dict[str, object]]:
            if file.size > LARGEST_UPLOAD << 20:  # the browser's limit is the browser's
                raise AuditError(
                    f"the file has {file.size:,} bytes, at most {LARGEST_UPLOAD << 20:,} are read; split it"
                )
            items = parse_known(file.name, text_of(file.name, file.getvalue()), task)
            added = add_known(engine, purpose, items, task=task, by=account_id)
            return "known.added", {"added": added.added, "changed": added.changed}

        _do(engine, account_id, work)


def _control_tasks(engine: Engine) -> list[str]:
    """The tasks of the studies of which texts can be known: those that ask about texts."""
    study = table_of(tables.Study)
    with engine.connect() as connection:
        found = connection.execute(select(study.c.task).distinct().order_by(study.c.task)).scalars()
        return [str(one) for one in found if not asks_pairs(one)] or ["sentiment"]


def _settled(engine: Engine, account_id: int) -> None:
    with st.form("known-settled", clear_on_submit=True):
        st.markdown(f"##### {t('known.settled')}")
        st.caption(t("known.settled_help"))
        purpose = _purpose("settled")
        numbers = st.text_input(t("known.numbers"), max_chars=400, key="known-numbers")
        explanation = st.text_area(t("known.explanation"), max_chars=FIELD, height=80, key="known-why")
        sent = st.form_submit_button(t("known.do_add"))
    if sent:

        def work() -> tuple[str, dict[str, object]]:
            parts = [part.strip() for part in numbers.replace("，", ",").split(",") if part.strip()]
            if not parts or not all(part.isascii() and part.isdigit() and len(part) < 16 for part in parts):
                raise AuditError("give numbers of questions with commas between them, for example 17, 19")
            added = add_settled_questions(engine, purpose, map(int, parts), explanation, by=account_id)
            return "known.added", {"added": added.added, "changed": added.changed}

        _do(engine, account_id, work)


def _removing(engine: Engine, account_id: int, found: list[KnownQuestion]) -> None:
    if not found:
        return
    by_id = {one.id: one for one in found}
    with st.form("known-remove", clear_on_submit=True):
        st.markdown(f"##### {t('known.remove')}")
        st.caption(t("known.remove_help"))
        chosen = st.multiselect(
            t("known.which"),
            list(by_id),
            format_func=lambda id: f"{id}: {by_id[id].texts[0][:60]}",
            key="known-gone",
        )
        sent = st.form_submit_button(t("known.do_remove"))
    if sent and chosen:

        def work() -> tuple[str, dict[str, object]]:
            return "known.removed", {"count": remove(engine, chosen, by=account_id)}

        _do(engine, account_id, work)


def _do(engine: Engine, account_id: int, work: Callable[[], tuple[str, dict[str, object]]]) -> None:
    """Do it and say so in the next run; or say why not."""
    try:
        session.still(engine, account_id)
        st.session_state[_CONTROL_DONE] = work()
    except AuditError as problem:
        session.refused(problem)
        return
    st.rerun()


# The form of the settings of judging.

_SETTINGS_DONE = "quality-settings-done"


def judging_settings(engine: Engine, account_id: int) -> None:
    """The settings as they are, to be changed all at once."""
    with engine.connect() as connection:
        now = settings_of(connection)
    if st.session_state.pop(_SETTINGS_DONE, False):
        st.success(t("judging.done"), icon=":material/check:")
    with st.form("judging-settings"):
        values: dict[str, float] = {}
        for name, most in (("pass_mark", 100.0), ("gold_share", 50.0), ("repeat_share", 50.0)):
            shown = st.number_input(
                t(f"judging.{name}"),
                min_value=0.0,
                max_value=most,
                value=100 * getattr(now, name),
                step=1.0,
                format="%.1f",
                help=t(f"judging.{name}_help"),
                key=f"judging-{name}",
            )
            values[name] = round(shown / 100, 6)
        after = BOUNDS["repeat_after"]
        values["repeat_after"] = st.number_input(
            t("judging.repeat_after"), int(after.least), int(after.most), value=now.repeat_after,
            help=t("judging.repeat_after_help"), key="judging-repeat_after",
        )  # fmt: skip
        values["fastest"] = st.number_input(
            t("judging.fastest"), 0.0, 60.0, value=float(now.fastest), step=0.1, format="%.1f",
            help=t("judging.fastest_help"), key="judging-fastest",
        )  # fmt: skip
        sent = st.form_submit_button(t("judging.save"), type="primary")
    if not sent:
        return
    try:
        session.still(engine, account_id)
        change_settings(engine, account_id, values)
    except AuditError as problem:
        session.refused(problem)
        return
    st.session_state[_SETTINGS_DONE] = True
    st.rerun()


ROLES = ("manager",)
ANNOTATORS, CONTRADICTIONS, KNOWN, SETTINGS = MODES = ("annotators", "contradictions", "known", "settings")
_MODE = "quality-mode"
_KEPT = "quality-kept"
"""((whether about groups, the task), when, changes of settings by then, the report)"""
KEPT = timedelta(minutes=1)
"""How long a report on the screen stands: while fifty people judge, a new one with each click would be in their way."""


def page() -> None:
    """One of four: annotators, contradictions, known questions, settings."""
    engine = session.engine()
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
    _annotator(report)
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


def _annotator(report: dict[str, Any]) -> None:
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
