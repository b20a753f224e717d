"""Questions with known answers: what there is, and the ways to add and remove them."""

from collections.abc import Callable

import streamlit as st
from sqlalchemy import Engine, select

from audit.annotation.known import PURPOSES, KnownQuestion, add_known, know_questions, known_questions, pick_known
from audit.annotation.known import remove_known as remove
from audit.annotation.known_files import known_from
from audit.annotation.questions import asks_pairs
from audit.errors import AuditError
from audit.files import text_of
from audit.store import table_of, tables
from audit.tasks import Input
from audit.ui import session
from audit.ui.asked import FIELD
from audit.ui.choice import one_of
from audit.ui.flags import LARGEST_UPLOAD
from audit.ui.language import direction, in_language, label_names, t, task_name
from audit.ui.literal import plain

_DONE = "quality-known-done"
"""(key of a text, its values): what was done before this run."""


def known_answers(engine: Engine, account_id: int) -> None:
    """The list, and the forms beside it."""
    if done := st.session_state.pop(_DONE, None):
        key, values = done
        st.success(t(key, **values), icon=":material/check:")
    found = known_questions(engine, by=account_id)
    st.write(t("known.what"))
    if found:
        st.dataframe([_row(one) for one in found], hide_index=True)
    else:
        st.info(t("known.none"))
    left, right = st.columns(2, gap="medium")
    with left:
        _picking(engine, account_id)
        _settled(engine, account_id)
    with right:
        _uploading(engine, account_id)
        _removing(engine, account_id, found)


def _row(one: KnownQuestion) -> dict[str, object]:
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
        tasks = _tasks(engine)
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
            items = known_from(file.name, text_of(file.name, file.getvalue()), task)
            added = add_known(engine, purpose, items, task=task, by=account_id)
            return "known.added", {"added": added.added, "changed": added.changed}

        _do(engine, account_id, work)


def _tasks(engine: Engine) -> list[str]:
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
            added = know_questions(engine, purpose, map(int, parts), explanation, by=account_id)
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
        st.session_state[_DONE] = work()
    except AuditError as problem:
        session.refused(problem)
        return
    st.rerun()
