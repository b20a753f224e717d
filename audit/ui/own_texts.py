"""Texts of a manager's own: a file is sent, looked at, and stored as a corpus that plans may name."""

from collections.abc import Mapping, Sequence
from pathlib import PurePath

import pandas as pd
import streamlit as st
from sqlalchemy import Engine

from audit.corpora.files import Reading, gold_of, guess_of
from audit.errors import AuditError
from audit.studies.uploads import LARGEST, LONGEST_NAME, File, refuse_large, store_corpus
from audit.tasks import get_task, text_columns, text_names
from audit.ui import session
from audit.ui.language import label_name, plain, t, task_name

STORED = "own-texts-stored"
"""The name and the task of the corpus that was stored last: the form of a plan begins with it."""
_FILE = "own-texts-file"
_SHOWN_ROWS = 5
_SHOWN_CHARACTERS = 300
_MOST_LABELS = 12
"""Labels of the file that the form asks about; where more are not understood, the file is not of this task."""


def upload_texts(engine: Engine, account_id: int, tasks: Sequence[str]) -> None:
    """The upload of a file, what its columns and labels stand for, its first rows, and the button that stores it."""
    st.caption(t("own_texts.what", size=f"{LARGEST >> 20}"))
    file = st.file_uploader(t("own_texts.file"), type=["csv", "tsv", "jsonl", "json", "xlsx", "parquet"], key=_FILE)
    if file is None:
        return
    name, content = PurePath(file.name).name[-80:], file.getvalue()
    left, right = st.columns(2)
    with left:
        task = st.selectbox(t("field.task"), tasks, format_func=task_name, key="own-texts-task")
    with session.showing_refusals():
        refuse_large(name, content)
        head, guess = guess_of(name, content, task)
        with right:
            language = st.text_input(
                t("own_texts.language"), value=_language(head), max_chars=20, key=f"own-texts-language-{file.file_id}"
            )
        columns = _columns(head, guess, task, file.file_id)
        labels = _labels(head, guess, columns, task, file.file_id)
        sent = File(name, content, task, Reading(columns, labels), language.strip() or None)
        shown = [column for column in dict.fromkeys([*columns.values(), *head]) if column in head]
        st.dataframe(head[shown].head(_SHOWN_ROWS).map(_short), hide_index=True)
        corpus = sent.corpus()
        facts = (
            f"{corpus.size():,}",
            t(f"unit.{corpus.unit}"),
            t("own_texts.gold" if corpus.has_gold else "own_texts.no_gold"),
        )
        st.caption(plain(t("own_texts.read", rows=facts[0], unit=facts[1], gold=facts[2])))
        left, right = st.columns([2, 1], vertical_alignment="bottom")
        with left:
            own_name = st.text_input(
                t("own_texts.name"), value=_name(name), max_chars=LONGEST_NAME + 1, key=f"own-texts-name-{file.file_id}"
            )
        with right:
            pressed = st.button(t("own_texts.use"), type="primary", key="store-texts", width="stretch")
        if pressed:
            session.require_login(engine, account_id)
            stored = store_corpus(engine, own_name, sent, by=account_id)
            st.session_state[STORED] = (stored.name, task)
            st.rerun()


def _columns(head: pd.DataFrame, guess: Reading, task: str, file: str) -> dict[str, str]:
    """A choice for each text of the task and for its gold; what else has a name of ours is taken as it is."""
    definition = get_task(task)
    texts = text_columns(definition.texts)
    titles = dict(zip(texts, text_names(definition) or [t("known.text")] * len(texts), strict=True))
    wanted = [*texts, *(["gold"] if definition.question_kind == "input" else [])]
    meant = dict(guess.columns)
    for place, ours in zip(st.columns(len(wanted)), wanted, strict=True):
        options: list[str | None] = [*head] if ours in texts else [None, *head]
        likely = meant.pop(ours, None)
        with place:
            chosen = st.selectbox(
                t("own_texts.gold_column") if ours == "gold" else t("own_texts.column", name=titles[ours]),
                options,
                index=options.index(likely) if likely in options else None if ours in texts else 0,
                format_func=lambda name: t("own_texts.none") if name is None else name,
                placeholder=t("own_texts.choose"),
                key=f"own-texts-{ours}-{task}-{file}",
            )
        if chosen is not None:
            meant[ours] = chosen
        elif ours in texts:
            raise AuditError(t("own_texts.column_needed", name=titles[ours]))
    taken = {meant[ours] for ours in wanted if ours in meant}
    return {ours: theirs for ours, theirs in meant.items() if ours in wanted or theirs not in taken}


def _labels(head: pd.DataFrame, guess: Reading, columns: Mapping[str, str], task: str, file: str) -> dict[str, str]:
    """What each gold label stands for that is not written as the task has it; an empty one: no gold."""
    labels = get_task(task).labels
    if not labels or "gold" not in columns:
        return {}
    read = gold_of(task)
    unknown = [label for label in sorted(set(head[columns["gold"]]) - {""}) if read(label) is None]
    if not unknown or len(unknown) > _MOST_LABELS:
        return {}
    meant: dict[str, str] = {}
    st.caption(t("own_texts.labels"))
    with st.container(horizontal=True):
        for label in unknown:
            options = ["", *labels]
            likely = guess.labels.get(label, "")
            meant[label] = st.selectbox(
                plain(label[:40]),
                options,
                index=options.index(likely),
                format_func=lambda one: label_name(one, task) if one else t("own_texts.no_label"),
                key=f"own-texts-label-{label}-{task}-{file}",
                width=180,
            )
    return meant


def _short(field: str) -> str:
    return field if len(field) <= _SHOWN_CHARACTERS else f"{field[:_SHOWN_CHARACTERS]} …"


def _language(head: pd.DataFrame) -> str:
    """Chinese where most letters of the first rows are Chinese, else English: a guess to be confirmed."""
    letters = [sign for field in head.to_numpy().ravel() for sign in field if sign.isalpha()]
    return "zh" if sum("\u4e00" <= sign <= "\u9fff" for sign in letters) * 2 > len(letters) else "en"


def _name(file: str) -> str:
    """A name for the texts of a file: its own without what names cannot have."""
    kept = "".join(sign if sign.isalnum() or sign in " -_" else "-" for sign in PurePath(file).stem)
    return kept.strip(" -_")[:LONGEST_NAME]
