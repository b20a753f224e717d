"""The form that begins a study: texts, what is asked, systems, people; everything else has a default, behind *More*.

What is typed stays for the session, whatever link is followed; a file that was sent stays, too.
"""

from collections.abc import Mapping, Sequence
from math import ceil
from pathlib import PurePath
from time import monotonic
from typing import Any, NamedTuple

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
from audit.tasks import Input, Wording, base_of, get_task, matches, text_columns
from audit.tasks.classification import PLUS
from audit.ui import session
from audit.ui.guess import Columns, guess_columns, guess_language, guess_task, guess_unit, labels_in
from audit.ui.language import corpus_wording, label_name, output_words, plain, summary, t, task_name
from audit.ui.settings import LARGEST_UPLOAD

OPEN = "form-open"
"""Whether the form is on the page in place of a study."""
_FILE = "form-file"
"""The file that was sent last: (its id, name, content, table)."""
_SYSTEMS = "form-systems"
"""Names of the systems that are chosen."""
_TASKS = (
    "sentiment", "classification", "similarity", "inference", "question-answering", "summarization", "translation",
)  # fmt: skip
_TYPES = ["csv", "tsv", "txt", "jsonl", "json", "xlsx", "parquet"]
_SHOWN_ROWS, _MOST_LABELS = 3, 12
SECONDS = 6
"""That an answer takes, about."""


class Texts(NamedTuple):
    """The texts of a study: a file that was sent, with what its columns are, or a corpus that is here."""

    name: str
    size: int
    task: str
    first: Input
    languages: Sequence[str]
    unit: Any
    has_gold: bool
    corpus: Corpus | None = None
    file: str = ""
    content: bytes = b""
    columns: Columns = Columns(())


class Asked(NamedTuple):
    """What is asked: the task with its labels, what labels of the file stand for, and a question of the manager's."""

    task: str
    labels: Mapping[str, str]
    question: str


def form(engine: Engine, account_id: int) -> None:
    """Show the form, and store and run the study when it is sent."""
    st.header(t("form.title"))
    with session.showing_refusals():
        texts = _texts(engine)
    question = _asked(texts) if texts else None
    systems = _systems(engine, account_id, texts, question) if texts and question else []
    people = _people(texts.size) if texts else 2
    more = _more(engine, texts, question) if texts and question else {}
    lacking = "texts" if texts is None else "labels" if question is None else "" if systems else "systems"
    with st.container(horizontal=True, vertical_alignment="center"):
        icon = ":material/play_arrow:"
        pressed = st.button(t("form.run"), type="primary", disabled=bool(lacking), key="form-run", icon=icon)
        if lacking:
            st.caption(t(f"form.lacks_{lacking}"))
    if pressed and texts and question:
        with session.changing(engine, account_id), st.spinner(t("form.storing")):
            name = _store(engine, account_id, texts, question, systems, people, more)
            begin_job(engine, name, session.database_url(), by=account_id)
            for key in [key for key in st.session_state if str(key).startswith("form-")]:
                del st.session_state[key]
            st.session_state["project"] = name
            st.rerun()


def _field(number: int, name: str) -> None:
    st.markdown(f"#### {number} · {t(f'form.{name}')}")


def _kept(name: str) -> dict[str, Any]:
    return {"key": f"form-{name}", "persist_state": "session"}


def _untitled(name: str) -> dict[str, Any]:
    return {**_kept(name), "label_visibility": "collapsed"}


# 1: texts.


def _texts(engine: Engine) -> Texts | None:
    _field(1, "texts")
    ways = {"upload": t("form.upload"), "here": t("form.here")}
    way = st.segmented_control(
        t("form.texts"), list(ways), default="upload", required=True, format_func=ways.__getitem__, **_untitled("way"),
    )  # fmt: skip
    return _corpus(engine) if way == "here" else _upload()


def _corpus(engine: Engine) -> Texts:
    by_name = {corpus.name: corpus for corpus in all_corpora() if corpus.needs() is None}
    corpora = {**uploaded_here(engine), **by_name}
    names = {name: f"{name} · {task_name(corpus.task)}" for name, corpus in corpora.items()}
    name = st.selectbox(t("form.texts"), list(names), format_func=names.__getitem__, **_untitled("corpus"))
    corpus = corpora[name]
    first, size = next(iter(corpus.rows())).input, corpus.size() or 0
    st.caption(plain(t("form.corpus", count=size, size=f"{size:,}", first=first.text[:200])))
    return Texts(name, size, corpus.task, first, languages_of(corpus), corpus.unit, corpus.has_gold, corpus)


def _upload() -> Texts | None:
    label = t("form.file", size=LARGEST >> 20)
    sent = st.file_uploader(label, type=_TYPES, key="form-upload", max_upload_size=LARGEST_UPLOAD)
    if sent is not None and st.session_state.get(_FILE, ("",))[0] != sent.file_id:
        name, content = PurePath(sent.name).name[-80:], sent.getvalue()
        refuse_large(name, content)
        st.session_state[_FILE] = (sent.file_id, name, content, _table(name, content))
    if _FILE not in st.session_state:
        return None
    id, name, content, table = st.session_state[_FILE]
    place = st.container()
    with st.expander(t("form.columns")):
        columns = _columns(table, guess_columns(table), id)
    code = "form.read" if columns.label else "form.read_unlabelled"
    values = {"texts": plain(" + ".join(columns.texts)), "label": plain(columns.label or "")}
    place.markdown(f":material/check_circle: {t(code, count=len(table), number=f'{len(table):,}', **values)}")
    place.dataframe(table[[*columns.texts, *filter(None, [columns.label])]].head(_SHOWN_ROWS), hide_index=True)
    language = guess_language(table, columns)
    first = Input.of(*table[list(columns.texts)].iloc[0], language=language)
    return Texts(
        _name(name), len(table), guess_task(columns), first, (language,), guess_unit(table, columns),
        columns.label is not None, None, name, content, columns,
    )  # fmt: skip


def _table(name: str, content: bytes) -> pd.DataFrame:
    """Return a file as a table of texts. Raises AuditError for what is none."""
    pieces = list(read_pieces(name, [], content))
    table = pd.concat(pieces, ignore_index=True) if pieces else pd.DataFrame()
    if table.empty:
        raise AuditError(message("file.no_rows", file=name))
    table = table.loc[:, ~table.columns.duplicated()]
    return table.map(lambda value: "" if value is None else as_text(value))


def _columns(table: pd.DataFrame, guess: Columns, id: str) -> Columns:
    places = iter(st.columns(3))

    def choose(name: str, options: Sequence[str | None], guessed: str | None) -> str | None:
        chosen: str | None = next(places).selectbox(
            t(f"form.column_{name}"), options, options.index(guessed) if guessed in options else 0,
            format_func=lambda column: column or t("list.none"), **_kept(f"{name}-{id}"),
        )  # fmt: skip
        return chosen

    text = choose("text", list(table), guess.texts[0]) or guess.texts[0]
    others = [None, *(name for name in table if name != text)]
    second = choose("second", others, guess.texts[1] if len(guess.texts) > 1 else None)
    label = choose("label", others, guess.label)
    return Columns((text, second) if second else (text,), label, labels_in(table, label))


def _name(file: str) -> str:
    kept = "".join(sign if sign.isalnum() or sign in " -_" else "-" for sign in PurePath(file).stem)
    return kept.strip(" -_")[: LONGEST_NAME - 4] or "texts"


# 2: what is asked.


def _asked(texts: Texts) -> Asked | None:
    _field(2, "asked")
    task, labels = texts.task, dict[str, str]()
    if texts.corpus is None:
        tasks = [name for name in _TASKS if get_task(name).texts == len(texts.columns.texts)]
        names = {name: t("form.own_labels") if name == "classification" else task_name(name) for name in tasks}
        place = tasks.index(task) if task in tasks else 0
        task = st.selectbox(
            t("form.task"), tasks, place, format_func=names.__getitem__, **_untitled(f"task-{texts.task}")
        )
        if task == "classification":
            if (scheme := _scheme(texts)) is None:
                return None
            task = f"classification/{scheme}"
            # Rows with a label of the file that is none of the scheme's have no right answer.
            labels = {label: "" for label in texts.columns.labels if gold_of(task)(label) is None}
        else:
            labels = _file_labels(texts, task)
    if texts.corpus is not None or base_of(task) != "classification":
        told = t("list.comma").join(label_name(label, task) for label in get_task(task).labels)
        st.caption(f"{t('form.labels')}: {plain(told)}")
    usual = _usual_words(texts, task).question
    kept = _kept(f"question-{usual}")  # what other texts were to be asked is not asked about these
    question = st.text_input(t("form.question"), usual, max_chars=MOST[QUESTION], **kept).strip()
    return Asked(task, labels, "" if question == usual else question)


def _usual_words(texts: Texts, task: str) -> Wording:
    return corpus_wording(task, texts.corpus.name if texts.corpus else "")


def _scheme(texts: Texts) -> str | None:
    """The labels of a manager's own, those of the file unless they are changed; None: fewer than two."""
    labels = st.multiselect(
        t("form.labels"), list(texts.columns.labels), list(texts.columns.labels), accept_new_options=True,
        placeholder=t("form.type_label"), **_kept(f"labels-{texts.columns.label}-{texts.file}"),
    )  # fmt: skip
    scheme = (PLUS if st.session_state.get("form-several") else ",").join(label.strip() for label in labels)
    with session.showing_refusals():
        return scheme if len(labels) > 1 and get_task(f"classification/{scheme}") else None
    return None


def _file_labels(texts: Texts, task: str) -> dict[str, str]:
    """What the file's labels stand for that are not written as the task has them; an empty one: no right answer."""
    labels = get_task(task).labels
    if not labels or not texts.columns.label or get_task(task).question_kind == "pair":
        return {}
    unknown = [label for label in texts.columns.labels if gold_of(task)(label) is None]
    if len(unknown) > _MOST_LABELS:
        return dict.fromkeys(unknown, "")
    guess, options = guessed_labels(unknown, labels), ["", *labels]
    if unknown:
        st.caption(t("form.meaning"))
    with st.container(horizontal=True):
        return {
            label: st.selectbox(
                plain(label[:40]), options, options.index(guess[label] or ""), width=180,
                format_func=lambda option: label_name(option, task) if option else t("list.none"),
                **_kept(f"meaning-{task}-{label}-{texts.file}"),
            )
            for label in unknown
        }  # fmt: skip


# 3: systems.


def _systems(engine: Engine, account_id: int, texts: Texts, question: Asked) -> list[str]:
    _field(3, "systems")
    own = [
        name
        for name, system in offer_stored_systems(engine).items()
        if any(matches(question.task, task) for task in system.tasks)
    ]
    here = [system for system in all_systems(question.task) if system.needs() is None]
    listed = [system.name for system in here if {"*", *texts.languages} & {*system.languages}]
    for spec in served_functions():
        with session.showing_refusals():
            own += [spec] if any(matches(question.task, task) for task in get_system(spec).tasks) else []
    options = [*listed, *own]
    chosen = [name for name in st.session_state.get(_SYSTEMS, [*listed[:2], *own]) if name in options]
    picked: list[str] = st.pills(
        t("form.systems"), options, selection_mode="multi", default=chosen, **_untitled(f"pills-{'|'.join(options)}")
    )
    st.session_state[_SYSTEMS] = picked
    with st.container(key="own-system"), st.popover(t("form.own_system"), icon=":material/add:"):
        _own_system(engine, account_id, texts, question)
    if said := st.session_state.pop("form-said", None):
        st.success(plain(said), icon=":material/check:")
    return picked


def _own_system(engine: Engine, account_id: int, texts: Texts, question: Asked) -> None:
    kinds: dict[Kind, str] = {"http": t("form.http"), "chat": t("form.chat")}
    kind: Kind = st.radio(t("form.kind"), list(kinds), format_func=kinds.__getitem__, **_kept("kind"))
    hint = "http://localhost:8000/v1" if kind == "chat" else "http://localhost:8000/classify"
    url = st.text_input(t("form.address"), placeholder=hint, **_kept("address")).strip()
    model, key = "", None
    if kind == "chat":
        model = st.text_input(t("form.model"), placeholder="qwen3-8b", **_kept("model")).strip()
    if keys := keys_here():
        key = st.selectbox(
            t("form.key"), [None, *keys], format_func=lambda name: name or t("list.none"), **_kept("key")
        )
    else:
        st.caption(t("form.no_key"))
    st.caption(t("form.http_is" if kind == "http" else "form.functions"))
    if st.button(t("form.try_and_add"), type="primary", key="form-add"):
        with session.changing(engine, account_id):
            content = describe(kind, question.task, url, model, key or "")
            system, began = made(kind, content), monotonic()
            with st.spinner(t("form.trying")):
                output = get_task(question.task).checked(try_system(system, texts.first))
            milliseconds = f"{1000 * (monotonic() - began):,.0f}"
            told = output_words(output.text or "", question.task) or label_name(output.label or "", question.task)
            name = store_system(engine, kind, content, by=account_id)
            st.session_state[_SYSTEMS] = [*dict.fromkeys([*st.session_state.get(_SYSTEMS, []), name])]
            st.session_state["form-said"] = t("form.added", name=name, answer=told or output.score, ms=milliseconds)
            st.rerun()


# 4: people; and more.


def _people(size: int) -> int:
    _field(4, "people")
    people: int = st.segmented_control(t("form.how_many"), [1, 2, 3], default=2, required=True, **_kept("people"))
    first = min(size, st.session_state.get("form-base", BASE))
    minutes = ceil(first * SECONDS / 60)
    st.caption(t("form.first_round", count=first, first=f"{first:,}", minutes=minutes, people=people))
    return people


def _more(engine: Engine, texts: Texts, question: Asked) -> dict[str, Any]:
    """All else, with values that most studies keep."""
    with st.expander(t("form.more")):
        taken = {*_plans(engine), *(uploaded_here(engine) if texts.corpus is None else ())}
        left, middle, right = st.columns(3)
        usual = _free(texts.name, taken)
        name = left.text_input(t("form.name"), usual, max_chars=80, **_kept(f"name-{texts.name}"))
        base = middle.number_input(t("form.base"), 1, 100_000, BASE, **_kept("base"))
        decides = {name: t(f"decide.{name}") for name in (WINNER, RELATIONS, NOTHING)}
        decide = right.selectbox(t("form.decide"), decides, format_func=decides.__getitem__, **_kept("decide"))
        fitting = {
            relation.name: f"{relation.name} {summary(question.task, relation.name, relation.summary)}"
            for relation in sorted(all_relations(question.task), key=lambda relation: relation.name)
            if relation.unit in (texts.unit, "any") and any(map(relation.speaks, texts.languages))
        }
        tests = st.multiselect(
            t("form.tests"), list(fitting), format_func=fitting.__getitem__,
            placeholder=t("form.all_tests", count=len(fitting)), **_kept(f"tests-{question.task}"),
        )  # fmt: skip
        gold = texts.has_gold and st.toggle(t("form.gold"), help=t("form.gold_help"), **_kept("gold"))
        if base_of(question.task) == "classification" and texts.corpus is None:
            st.toggle(t("form.several"), **_kept("several"))
        guideline = st.text_area(
            t("annotate.guideline"), max_chars=MOST[GUIDELINE], height=200,
            placeholder=_usual_words(texts, question.task).guideline,
            **_kept(f"guideline-{question.task}-{texts.name}"),
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
    engine: Engine,
    account_id: int,
    texts: Texts,
    question: Asked,
    systems: list[str],
    people: int,
    more: dict[str, Any],
) -> str:
    words = {key: value for key, value in ((QUESTION, question.question), (GUIDELINE, more["guideline"])) if value}
    name = more["name"] or texts.name
    if more["name"] in _plans(engine):
        raise AuditError(message("form.name_taken", name=name))
    corpus = texts.corpus.name if texts.corpus else None
    if corpus is None:
        ours = dict(zip(text_columns(len(texts.columns.texts)), texts.columns.texts, strict=True))
        ours |= {"gold": texts.columns.label} if texts.columns.label else {}
        file = File(
            texts.file, texts.content, question.task, Reading(ours, question.labels), texts.languages[0], texts.unit
        )
        corpus = store_corpus(engine, _free(_name(name), {*uploaded_here(engine)}), file, by=account_id).name
    with engine.connect() as connection:
        if words and (answers := answers_under(connection, question.task, corpus)):
            raise AuditError(message("form.words_in_use", count=answers))
    content = {
        "name": name,
        "study": {"task": question.task, "corpus": corpus, "systems": systems, "relations": more["tests"] or None},
        "sample": {"base": more["base"], "decide": more["decide"]},
        "judging": {"annotators": people, "gold": more["gold"]},
        "words": words,
    }
    plan = read_plan(content, t("form.title"), registered_only=True, uploaded=uploaded_here(engine))
    set_plan(engine, plan, by=account_id)
    return name
