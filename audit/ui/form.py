"""The form that begins a study: texts, what is asked, systems, people; everything else has a default, behind *More*.

What is typed stays for the session, whatever link is followed; a file that was sent stays, too.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import ceil
from pathlib import PurePath
from time import monotonic
from typing import Any, Literal

import pandas as pd
import streamlit as st
from sqlalchemy import Engine

from audit.corpora import Corpus, Reading, all_corpora
from audit.corpora.base import languages_of
from audit.corpora.files import gold_of, guessed_labels
from audit.errors import AuditError
from audit.files import as_text, read_pieces
from audit.judging.words import GUIDELINE, MOST, QUESTION, answers_under
from audit.messages import message
from audit.relations import all_relations
from audit.sampling.options import BASE, NOTHING, RELATIONS, WINNER
from audit.studies.jobs import begin_job
from audit.studies.own_systems import (
    Kind,
    describe,
    keys_here,
    made,
    offer_stored_systems,
    served_functions,
    store_system,
    try_system,
)
from audit.studies.plan import read_plan
from audit.studies.uploads import LARGEST, LONGEST_NAME, File, refuse_large, store_corpus, uploaded_here
from audit.studies.versions import all_versions, set_plan
from audit.systems import all_systems, get_system
from audit.tasks import Input, base_of, get_task, matches, text_columns
from audit.tasks.classification import PLUS
from audit.ui import session
from audit.ui.guess import Columns, guess_columns, guess_language, guess_task, guess_unit, labels_in
from audit.ui.language import label_name, output_words, plain, summary, t, task_name, task_wording
from audit.ui.settings import LARGEST_UPLOAD

OPEN = "form-open"
"""Whether the form is on the page in place of a study."""
_FILE = "form-file"
"""The file that was sent last: (name, content, table)."""
_SYSTEMS = "form-systems"
"""Names of the systems that are chosen."""
_TASKS = (
    "sentiment",
    "classification",
    "similarity",
    "inference",
    "question-answering",
    "summarization",
    "translation",
)
_SHOWN_ROWS = 3
_MOST_LABELS = 12
SECONDS = 6
"""That an answer takes, about."""
_KEPT: Literal["session"] = "session"


@dataclass
class Texts:
    """The texts of a study: a file that was sent, with what its columns are, or a corpus that is here."""

    name: str
    size: int
    task: str
    first: Input
    languages: Sequence[str]
    unit: str
    corpus: Corpus | None = None
    content: bytes = b""
    file: str = ""
    table: pd.DataFrame = field(default_factory=pd.DataFrame)
    columns: Columns = field(default_factory=lambda: Columns(()))

    @property
    def has_gold(self) -> bool:
        """Whether right answers are known."""
        return self.columns.label is not None if self.corpus is None else self.corpus.has_gold


@dataclass
class Asked:
    """What is asked: the task with its labels, what labels of the file stand for, and a question of the manager's."""

    task: str
    labels: Mapping[str, str] = field(default_factory=dict)
    question: str = ""


def form(engine: Engine, account_id: int) -> None:
    """Show the form, and store and run the study when it is sent."""
    st.header(t("form.title"))
    with session.showing_refusals():
        texts = _texts(engine)
    asked = _asked(texts) if texts else None
    systems = _systems(engine, account_id, texts, asked) if texts and asked else []
    people = _people(texts, len(systems)) if texts else 2
    more = _more(engine, texts, asked) if texts and asked else {}
    lacking = "texts" if texts is None else "labels" if asked is None else "" if systems else "systems"
    with st.container(horizontal=True, vertical_alignment="center"):
        pressed = st.button(
            t("form.run"), type="primary", disabled=bool(lacking), key="form-run", icon=":material/play_arrow:"
        )
        if lacking:
            st.caption(t(f"form.lacks_{lacking}"))
    if pressed and texts and asked:
        with session.changing(engine, account_id), st.spinner(t("form.storing")):
            name = _store(engine, account_id, texts, asked, systems, people, more)
            begin_job(engine, name, session.database_url(), by=account_id)
            for key in [key for key in st.session_state if str(key).startswith("form-")]:
                del st.session_state[key]
            st.session_state["project"] = name
            st.rerun()


def _field(number: int, name: str) -> None:
    st.markdown(f"#### {number} · {t(f'form.{name}')}")


# 1: texts.


def _texts(engine: Engine) -> Texts | None:
    _field(1, "texts")
    ways = {"upload": t("form.upload"), "here": t("form.here")}
    way = st.segmented_control(
        t("form.texts"), list(ways), default="upload", required=True, format_func=ways.__getitem__, key="form-way",
        label_visibility="collapsed", persist_state=_KEPT,
    )  # fmt: skip
    return _corpus(engine) if way == "here" else _upload()


def _corpus(engine: Engine) -> Texts:
    own, known = uploaded_here(engine), {corpus.name: corpus for corpus in all_corpora() if corpus.needs() is None}
    corpora = {**own, **known}
    name = st.selectbox(
        t("form.texts"), list(corpora), format_func=lambda name: f"{name} · {task_name(corpora[name].task)}",
        key="form-corpus", label_visibility="collapsed", persist_state=_KEPT,
    )  # fmt: skip
    corpus = corpora[name]
    first = next(iter(corpus.rows())).input
    st.caption(
        plain(t("form.corpus", count=corpus.size() or 0, size=f"{corpus.size() or 0:,}", first=first.text[:200]))
    )
    return Texts(name, corpus.size() or 0, corpus.task, first, languages_of(corpus), corpus.unit, corpus)


def _upload() -> Texts | None:
    types = ["csv", "tsv", "txt", "jsonl", "json", "xlsx", "parquet"]
    sent = st.file_uploader(
        t("form.file", size=LARGEST >> 20), type=types, key="form-upload", max_upload_size=LARGEST_UPLOAD
    )
    if sent is not None and st.session_state.get(_FILE, ("",))[0] != sent.file_id:
        name, content = PurePath(sent.name).name[-80:], sent.getvalue()
        refuse_large(name, content)
        st.session_state[_FILE] = (sent.file_id, name, content, _table(name, content))
    if _FILE not in st.session_state:
        return None
    id, name, content, table = st.session_state[_FILE]
    place, guess = st.container(), guess_columns(table)
    with st.expander(t("form.columns")):
        columns = _columns(table, guess, id)
    sentence = "form.read" if columns.label else "form.read_unlabelled"
    values = {"texts": plain(" + ".join(columns.texts)), "label": plain(columns.label or "")}
    place.markdown(f":material/check_circle: {t(sentence, count=len(table), number=f'{len(table):,}', **values)}")
    shown = [*columns.texts, *([columns.label] if columns.label else [])]
    place.dataframe(table[shown].head(_SHOWN_ROWS), hide_index=True)
    language, texts = guess_language(table, columns), table[list(columns.texts)].iloc[0]
    return Texts(
        _name(name), len(table), guess_task(columns), Input.of(*texts, language=language), (language,),
        guess_unit(table, columns), None, content, name, table, columns,
    )  # fmt: skip


def _table(name: str, content: bytes) -> pd.DataFrame:
    """Return a file as a table of texts. Raises BadFile for what is none."""
    pieces = list(read_pieces(name, [], content))
    table = pd.concat(pieces, ignore_index=True) if pieces else pd.DataFrame()
    if table.empty:
        raise AuditError(message("file.no_rows", file=name))
    table = table.loc[:, ~table.columns.duplicated()]
    return table.map(lambda value: "" if value is None else as_text(value))


def _columns(table: pd.DataFrame, guess: Columns, id: str) -> Columns:
    """The columns as they were guessed, unless they are chosen otherwise."""

    def choose(place: Any, name: str, options: Sequence[str | None], guessed: str | None) -> str | None:
        chosen: str | None = place.selectbox(
            t(f"form.column_{name}"), options, options.index(guessed) if guessed in options else 0,
            format_func=lambda column: t("form.none") if column is None else column, key=f"form-{name}-{id}",
            persist_state=_KEPT,
        )  # fmt: skip
        return chosen

    left, middle, right = st.columns(3)
    text = choose(left, "text", list(table), guess.texts[0]) or guess.texts[0]
    others = [None, *(name for name in table if name != text)]
    second = choose(middle, "second", others, guess.texts[1] if len(guess.texts) > 1 else None)
    label = choose(right, "label", others, guess.label)
    return Columns((text, second) if second else (text,), label, labels_in(table, label))


def _name(file: str) -> str:
    kept = "".join(sign if sign.isalnum() or sign in " -_" else "-" for sign in PurePath(file).stem)
    return kept.strip(" -_")[: LONGEST_NAME - 4] or "texts"


# 2: what is asked.


def _asked(texts: Texts) -> Asked | None:
    _field(2, "asked")
    if texts.corpus is not None:
        task, labels = texts.corpus.task, {}
    else:
        tasks = [name for name in _TASKS if get_task(name).texts == len(texts.columns.texts)]
        names = {name: t("form.own_labels") if name == "classification" else task_name(name) for name in tasks}
        place = tasks.index(texts.task) if texts.task in tasks else 0
        task = st.selectbox(
            t("form.task"), tasks, place, format_func=names.__getitem__, key=f"form-task-{texts.task}",
            persist_state=_KEPT, label_visibility="collapsed",
        )  # fmt: skip
        labels = _file_labels(texts, task)
        if task == "classification" and (scheme := _scheme(texts)) is None:
            return None
        elif task == "classification":
            task, labels = f"classification/{scheme}", _unwanted(texts, str(scheme))
    if texts.corpus is not None or base_of(task) != "classification":
        told = [label_name(label, task) for label in get_task(task).labels]
        st.caption(f"{t('form.labels')}: {plain(t('list.comma').join(told))}")
    question = st.text_input(
        t("form.question"), task_wording(task).question, max_chars=MOST[QUESTION], key=f"form-question-{base_of(task)}",
        persist_state=_KEPT,
    )  # fmt: skip
    return Asked(task, labels, "" if question.strip() == task_wording(task).question else question.strip())


def _scheme(texts: Texts) -> str | None:
    """The labels of a manager's own, those of the file unless they are changed; None: fewer than two."""
    labels = st.multiselect(
        t("form.labels"), list(texts.columns.labels), list(texts.columns.labels), accept_new_options=True,
        placeholder=t("form.type_label"), key=f"form-labels-{texts.columns.label}-{texts.file}", persist_state=_KEPT,
    )  # fmt: skip
    mark = PLUS if st.session_state.get("form-several") else ","
    if len(labels) < 2:
        return None
    scheme = mark.join(label.strip() for label in labels)
    with session.showing_refusals():
        return scheme if get_task(f"classification/{scheme}") else None
    return None


def _unwanted(texts: Texts, scheme: str) -> dict[str, str]:
    """Labels of the file that are none of the scheme's: those rows have no right answer."""
    read = gold_of(f"classification/{scheme}")
    return {label: "" for label in texts.columns.labels if read(label) is None}


def _file_labels(texts: Texts, task: str) -> dict[str, str]:
    """What the file's labels stand for that are not written as the task has them; an empty one: no right answer."""
    labels = get_task(task).labels
    if not labels or not texts.columns.label or get_task(task).question_kind == "pair":
        return {}
    read = gold_of(task)
    unknown = [label for label in texts.columns.labels if read(label) is None]
    if len(unknown) > _MOST_LABELS:
        return dict.fromkeys(unknown, "")
    guess = guessed_labels(unknown, labels)
    meant: dict[str, str] = {}
    if unknown:
        st.caption(t("form.meaning"))
    with st.container(horizontal=True):
        for label in unknown:
            options = ["", *labels]
            meant[label] = st.selectbox(
                plain(label[:40]), options, options.index(guess[label] or ""),
                format_func=lambda option: label_name(option, task) if option else t("form.none"),
                key=f"form-meaning-{task}-{label}-{texts.file}", width=180, persist_state=_KEPT,
            )  # fmt: skip
    return meant


# 3: systems.


def _systems(engine: Engine, account_id: int, texts: Texts, asked: Asked) -> list[str]:
    _field(3, "systems")
    stored = offer_stored_systems(engine)
    own = [name for name, system in stored.items() if any(matches(asked.task, task) for task in system.tasks)]
    speaks = [*(system for system in all_systems(asked.task) if system.needs() is None)]
    listed = [system.name for system in speaks if {"*", *texts.languages} & {*system.languages}]
    for spec in served_functions():
        with session.showing_refusals():
            own += [spec] if any(matches(asked.task, task) for task in get_system(spec).tasks) else []
    options = [*listed, *own]
    chosen = [name for name in st.session_state.get(_SYSTEMS, [*listed[:2], *own]) if name in options]
    picked: list[str] = st.pills(
        t("form.systems"), options, selection_mode="multi", default=chosen, label_visibility="collapsed",
        key=f"form-pills-{'|'.join(options)}", persist_state=_KEPT,
    )  # fmt: skip
    st.session_state[_SYSTEMS] = picked
    with st.container(key="own-system"), st.popover(t("form.own_system"), icon=":material/add:"):
        _own_system(engine, account_id, texts, asked)
    if said := st.session_state.pop("form-said", None):
        st.success(plain(said), icon=":material/check:")
    return picked


def _own_system(engine: Engine, account_id: int, texts: Texts, asked: Asked) -> None:
    """A service at an address: asked about one text, and added where it answers."""
    kinds: dict[Kind, str] = {"http": t("form.http"), "chat": t("form.chat")}
    kind: Kind = st.radio(
        t("form.kind"), list(kinds), format_func=kinds.__getitem__, key="form-kind", persist_state=_KEPT
    )
    hint = "http://localhost:8000/v1" if kind == "chat" else "http://localhost:8000/classify"
    url = st.text_input(t("form.address"), placeholder=hint, key="form-address", persist_state=_KEPT).strip()
    model = ""
    if kind == "chat":
        model = st.text_input(t("form.model"), placeholder="qwen3-8b", key="form-model", persist_state=_KEPT).strip()
    key = None
    if keys := keys_here():
        key = st.selectbox(
            t("form.key"), [None, *keys], format_func=lambda name: name or t("form.none"), key="form-key",
            persist_state=_KEPT,
        )  # fmt: skip
    else:
        st.caption(t("form.no_key"))
    st.caption(t("form.http_is" if kind == "http" else "form.functions"))
    if st.button(t("form.try_and_add"), type="primary", key="form-add"):
        with session.changing(engine, account_id):
            content = describe(kind, asked.task, url, model, key or "")
            system, began = made(kind, content), monotonic()
            with st.spinner(t("form.trying")):
                output = get_task(asked.task).checked(try_system(system, texts.first))
            told = output_words(output.text or "", asked.task) or label_name(output.label or "", asked.task)
            name = store_system(engine, kind, content, by=account_id)
            st.session_state[_SYSTEMS] = [*dict.fromkeys([*st.session_state.get(_SYSTEMS, []), name])]
            milliseconds = f"{1000 * (monotonic() - began):,.0f}"
            st.session_state["form-said"] = t("form.added", name=name, answer=told or output.score, ms=milliseconds)
            st.rerun()


# 4: people.


def _people(texts: Texts, systems: int) -> int:
    _field(4, "people")
    people: int = st.segmented_control(
        t("form.how_many"), [1, 2, 3], default=2, required=True, key="form-people", persist_state=_KEPT
    )
    first = min(texts.size, st.session_state.get("form-base", BASE))
    values = {"first": f"{first:,}", "minutes": ceil(first * SECONDS / 60), "people": people}
    st.caption(t("form.first_round", count=first, **values))
    if systems > 1:
        texts_10, texts_5 = (min(texts.size, texts_to_tell(difference)) for difference in (0.1, 0.05))
        hours = [f"{number * SECONDS / 3600:.1f}" for number in (texts_10, texts_5)]
        values = {"large": texts_10, "small": texts_5, "large_hours": hours[0], "small_hours": hours[1]}
        st.caption(t("form.decision", **values))
    return people


def texts_to_tell(difference: float, differ: float = 0.25) -> int:
    """Return about how many texts tell two systems apart that are right this much more or less often (McNemar's test
    at 95 %), where they `differ` on a quarter of the texts.

    >>> texts_to_tell(0.1), texts_to_tell(0.05)
    (93, 381)
    """
    return ceil(1.96**2 * (differ - difference**2) / difference**2)


# More.


def _more(engine: Engine, texts: Texts, asked: Asked) -> dict[str, Any]:
    """All else, with values that most studies keep."""
    with st.expander(t("form.more")):
        taken = {*_plans(engine), *(uploaded_here(engine) if texts.corpus is None else ())}
        left, middle, right = st.columns(3)
        name = left.text_input(
            t("form.name"), _free(texts.name, taken), max_chars=80, key=f"form-name-{texts.name}", persist_state=_KEPT
        )
        base = middle.number_input(t("form.base"), 1, 100_000, BASE, key="form-base", persist_state=_KEPT)
        decides = {name: t(f"decide.{name}") for name in (WINNER, RELATIONS, NOTHING)}
        decide = right.selectbox(
            t("form.decide"),
            decides,
            format_func=lambda name: t(f"decide.{name}"),
            key="form-decide",
            persist_state=_KEPT,
        )
        fitting = {
            relation.name: summary(asked.task, relation.name, relation.summary)
            for relation in sorted(all_relations(asked.task), key=lambda relation: relation.name)
            if relation.unit in (texts.unit, "any") and any(map(relation.speaks, texts.languages))
        }
        tests = st.multiselect(
            t("form.tests"), list(fitting), format_func=lambda name: f"{name} {fitting[name]}",
            placeholder=t("form.all_tests", count=len(fitting)), key=f"form-tests-{asked.task}", persist_state=_KEPT,
        )  # fmt: skip
        gold = texts.has_gold and st.toggle(
            t("form.gold"), key="form-gold", help=t("form.gold_help"), persist_state=_KEPT
        )
        if base_of(asked.task) == "classification" and texts.corpus is None:
            st.toggle(t("form.several"), key="form-several", persist_state=_KEPT)
        guideline = st.text_area(
            t("form.guideline"), max_chars=MOST[GUIDELINE], height=200, key=f"form-guideline-{base_of(asked.task)}",
            placeholder=task_wording(asked.task).guideline, persist_state=_KEPT,
        )  # fmt: skip
    return {"name": name.strip(), "base": int(base), "decide": decide, "tests": tests, "gold": bool(gold),
            "guideline": guideline.strip()}  # fmt: skip


def _plans(engine: Engine) -> Mapping[str, Any]:
    with engine.connect() as connection:
        return all_versions(connection)


def _free(name: str, taken: set[str]) -> str:
    """The name, with a number where it is taken.

    >>> _free("hotels", {"hotels", "hotels 2"})
    'hotels 3'
    """
    names = [name, *(f"{name} {number}" for number in range(2, len(taken) + 3))]
    return next(one for one in names if one not in taken)


def _store(
    engine: Engine, account_id: int, texts: Texts, asked: Asked, systems: list[str], people: int, more: dict[str, Any]
) -> str:
    """Store the texts and the plan; return the plan's name. Raises AuditError for what is not right."""
    words = {key: value for key, value in ((QUESTION, asked.question), (GUIDELINE, more["guideline"])) if value}
    with engine.connect() as connection:
        if words and (answers := answers_under(connection, asked.task)):
            raise AuditError(message("form.words_in_use", count=answers))
    name = more["name"] or texts.name
    if more["name"] in _plans(engine):
        raise AuditError(message("form.name_taken", name=name))
    corpus = texts.corpus.name if texts.corpus else None
    if corpus is None:
        ours = dict(zip(text_columns(len(texts.columns.texts)), texts.columns.texts, strict=True))
        ours |= {"gold": texts.columns.label} if texts.columns.label else {}
        read = Reading(ours, asked.labels)
        unit: Any = texts.unit
        file = File(texts.file, texts.content, asked.task, read, texts.languages[0], unit)
        corpus = store_corpus(engine, _free(_name(name), {*uploaded_here(engine)}), file, by=account_id).name
    content = {
        "name": name,
        "study": {"task": asked.task, "corpus": corpus, "systems": systems, "relations": more["tests"] or None},
        "sample": {"base": more["base"], "decide": more["decide"]},
        "judging": {"annotators": people, "gold": more["gold"]},
        "words": words,
    }
    plan = read_plan(content, t("form.title"), registered_only=True, uploaded=uploaded_here(engine))
    set_plan(engine, plan, by=account_id)
    return name
