"""The words that annotators read: the question, guideline and labels of a task, and their versions. Guidelines are
files of data/guidelines, with the version in the first line. A manager may put a database's own words in their place:
each change is a row of `setting` named `words/TASK/NUMBER` and a line of the log, and counts the guideline's version
up, so that each judgement says by which words it was given. What all texts are about follows from the corpora of the
studies (`about`)."""

import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from typing import Any, NamedTuple

from sqlalchemy import CompoundSelect, Connection, Engine, Integer, Text, cast, null, select
from sqlalchemy.exc import IntegrityError

from audit.corpora import about_of
from audit.errors import AuditError, Refused
from audit.files import unstorable
from audit.judging.accounts import ROLES, note, require, writing_as_manager
from audit.judging.answers import by_people, is_counted, stands
from audit.messages import ENGLISH, LANGUAGES, message
from audit.store import reading
from audit.store.core import adjudication, count_rows, judgement, question, setting, study
from audit.tasks import OwnWords, Wording, base_of, get_task, wording
from audit.tasks.classification import PLUS, Classification
from audit.tasks.questions import ABOUT_OUTPUTS, SCALES, UNSURE
from audit.tasks.words import ANY, NO_WORDS, read_guideline, shipped_guideline
from audit.user_models import no_key, short

PREFIX = "words/"  # Begins the names of the rows of `setting` that hold words
QUESTION, GUIDELINE, LABELS = KEYS = ("question", "guideline", "labels")
"""What may be set, for all languages or, in a table named by its code, for one."""
MOST = {QUESTION: 500, GUIDELINE: 20_000, LABELS: 100}  # Characters of each
Content = dict[str, Any]
"""Words as they are stored: by language (`ANY`: all), and by key; nothing in them is empty."""
_CORPUS = "corpus"  # In a row, the key beside the languages that says whose words they are
ELSEWHERE = 0  # Version of labels that were given elsewhere, without ours
GROUPS = ("translation",)  # Tasks with a guideline of their own for questions about groups, in files named group-TASK


@dataclass(frozen=True)
class Guideline:
    """What people are told about a kind of question."""

    version: int
    text: str  # Markdown, without the line of the version. `{labels}` in it stands for the task's labels.


def guideline_of(task: str, kind: str, language: str = ENGLISH, own: OwnWords = NO_WORDS) -> Guideline:
    """Return the guideline of questions of this task and kind (input, pair, group, or a scale) in a language.

    Classification has one for all label schemes, questions about groups one for all tasks but those of `GROUPS`. Each
    change of a database's own words counts as one of the guideline, since a question or a label in other words is
    another one to be judged by. Raises AuditError for a file that is absent or does not begin with its version.

    >>> guideline_of("sentiment", "input", own=OwnWords(version=3)).version
    7
    """
    if kind in SCALES:
        return Guideline(*read_guideline(kind, language))
    if kind == "group":
        base = base_of(task)
        about_groups = read_guideline(f"group-{base}" if base in GROUPS else "group", language)
        return Guideline(about_groups.version + own.version, about_groups.text)
    version = shipped_guideline(task, language, own.subject).version
    return Guideline(version + own.version, wording(task, language, own).guideline)


def guideline_in_force(connection: Connection, task: str, kind: str, study_id: int | None = None) -> Guideline:
    """Return the guideline by which such a question of a study is judged now."""
    return guideline_of(task, kind, own=NO_WORDS if kind in SCALES else words_of(connection).of(task, study_id))


def guideline_before(engine: Engine, account_id: int, task: str, kind: str, study_id: int | None = None) -> int | None:
    """Return the version by which this annotator last judged such a question of texts with the same words; None for the
    first. Raises NotAllowed. A manager who lets answers go stale judges nothing in their place."""
    with reading(engine) as connection:
        require(connection, account_id, *ROLES)
        last = select(judgement.c.guideline).join(question, question.c.id == judgement.c.question_id)
        last = last.where(judgement.c.annotator_id == account_id, judgement.c.withdrawn_by.is_(None))
        last = last.where(question.c.task == task, question.c.kind == kind).order_by(judgement.c.id.desc()).limit(1)
        alike = question.c.study_id.in_(words_of(connection).studies_like(task, study_id))
        version: int | None = connection.execute(last.where(alike | question.c.study_id.is_(None))).scalar()
        return version


# The words of a database.


class WordsVersion(NamedTuple):
    """Words for a task and a corpus as they were stored once. `version` counts the changes of the task's words, from 1;
    0: none were ever stored for this corpus."""

    version: int = 0
    content: Content = {}  # noqa: RUF012

    def own(self, subject: str = "") -> OwnWords:
        """Return what they are for texts about something (`about_of`)."""
        wordings = {
            language: Wording(**{QUESTION: "", GUIDELINE: "", **table}) for language, table in self.content.items()
        }
        return OwnWords(wordings, self.version, subject)


@dataclass(frozen=True)
class DatabaseWords:
    """The words of a database as they are in force: what was stored for (task, corpus), and (task, corpus) of each
    study."""

    stored: dict[tuple[str, str], WordsVersion] = field(default_factory=dict)
    studies: dict[int, tuple[str, str]] = field(default_factory=dict)

    def version(self, task: str, corpus: str | None = None) -> WordsVersion:
        """Return the words for a task and a corpus; None: those of the task that were stored last."""
        versions = [words for of, words in self.stored.items() if of[0] == task and corpus in (None, of[1])]
        return max(versions, default=WordsVersion(), key=lambda words: words.version)

    def of_corpus(self, task: str, corpus: str) -> OwnWords:
        """Return what is said of a task about the texts of a corpus."""
        return self.version(task, corpus).own(about_of(corpus))

    def of(self, task: str, study_id: int | None = None) -> OwnWords:
        """Return what is said of a task in a study, or where none is meant."""
        if study_id is not None and study_id in self.studies:
            return self.of_corpus(task, self.studies[study_id][1])
        subjects = {about_of(corpus) for of, corpus in self.studies.values() if of == task}
        return self.version(task).own(subjects.pop() if len(subjects) == 1 else "")

    def studies_like(self, task: str, study_id: int | None) -> list[int]:
        """Return the studies of a task with the same words as this one."""
        words = self.of(task, study_id)
        return [id for id, (of, _) in self.studies.items() if of == task and self.of(task, id) == words]

    def wording(self, task: str, language: str = ENGLISH, study_id: int | None = None) -> Wording:
        """Return what people read about a task in a study (`audit.tasks.words.wording`)."""
        return wording(task, language, self.of(task, study_id))


def words_of(connection: Connection) -> DatabaseWords:
    """Return the words of a database."""
    words = DatabaseWords()
    for name, value, study_id in connection.execute(_words_and_studies()):
        if study_id is not None:
            words.studies[study_id] = (name, value)
            continue
        task, number = name.removeprefix(PREFIX).rsplit("/", 1)
        content = json.loads(value)
        of = (task, content.pop(_CORPUS))
        if int(number) > words.stored.get(of, WordsVersion()).version:
            words.stored[of] = WordsVersion(int(number), content)
    return words


@cache
def _words_and_studies() -> CompoundSelect[Any]:
    """One statement, and cached: each answer and each run of a page of the app executes it. (name, words, nothing) of
    each version of words, and (task, corpus, id) of each study."""
    is_words = setting.c.name.startswith(PREFIX, autoescape=True)
    words = select(setting.c.name, cast(setting.c.value, Text), cast(null(), Integer)).where(is_words)
    return words.union_all(select(study.c.task, study.c.corpus, study.c.id))


def set_words(
    engine: Engine, task: str, corpus: str, written: Mapping[str, Any], *, by: int | None = None, change: bool = False
) -> OwnWords:
    """Set words of a task for the texts of a corpus and say so in the log; returns what holds then. `written` has some
    of `KEYS`, and tables named by a language's code with some of them: what is left out stays, what is empty is taken
    back. Raises AuditError for words that cannot be used, and Refused where people have answered under other words,
    unless `change`: the answers stay."""
    try:
        with writing_as_manager(engine, by) as connection:
            words = words_of(connection)
            before = words.version(task, corpus)
            content, number = _with(before, task, written), words.version(task).version + 1
            if content == before.content:
                return words.of_corpus(task, corpus)
            answers = answers_under(connection, task, corpus)
            if answers and not change:
                question_before = wording(task, ENGLISH, words.of_corpus(task, corpus)).question
                values = {"count": answers, "task": task, "question": question_before, "next": number}
                raise Refused(message("words.judged", **values), parameter="change_words")
            row = {"name": f"{PREFIX}{task}/{number}", "value": content | {_CORPUS: corpus}}
            connection.execute(setting.insert(), row)
            note(connection, by, "words", task=task, version=number, answers=answers)
            return WordsVersion(number, content).own(about_of(corpus))
    except IntegrityError:
        raise Refused(message("words.changed_now")) from None


def _with(before: WordsVersion, task: str, written: Mapping[str, Any]) -> Content:
    """What holds after `before`, with what was written. Raises AuditError where labels were given words and two answers
    would read the same."""
    new, after = words_content(task, written), dict[str, dict[str, Any]]()
    for language in dict.fromkeys([*before.content, *new]):
        old, table = before.content.get(language, {}), new.get(language, {})
        values = old | table
        if table.get(LABELS):  # an empty table takes all labels back
            values[LABELS] = {label: text for label, text in (old.get(LABELS, {}) | table[LABELS]).items() if text}
        if values := {key: value for key, value in values.items() if value}:
            after[language] = values
    for language in LANGUAGES if any(LABELS in table for table in after.values()) else ():
        words, read = wording(task, language, WordsVersion(1, after).own()).labels, dict[str, str]()
        for label in (*labels_that_read(task), UNSURE):
            if (other := read.setdefault(words[label].casefold(), label)) != label:
                same = {"first": other, "second": label, "words": words[label], "language": LANGUAGES[language]}
                raise AuditError(message("words.same", **same), parameter="words")
    return after


def words_content(task: str, written: Mapping[str, Any]) -> Content:
    """What a user wrote, checked for a task; what is empty stays in it, since it takes words back. Raises AuditError,
    whose sentence names the key.

    >>> words_content("sentiment", {"question": "Is it praise? ", "zh": {"labels": {"positive": "夸奖"}}})
    {'': {'question': 'Is it praise?'}, 'zh': {'labels': {'positive': '夸奖'}}}
    """
    for where, reason in faults_of(task, written):
        raise AuditError(message("words.at", task=task, where=where, reason=reason), parameter="words")
    return {
        language: {
            key: value.strip() if isinstance(value, str) else {label: text.strip() for label, text in value.items()}
            for key, value in table.items()
        }
        for language, table in _by_language(written).items()
        if table
    }


def _by_language(written: Mapping[str, Any]) -> dict[str, Any]:
    own = {key: value for key, value in written.items() if key not in LANGUAGES}
    return {ANY: own} | {code: written[code] for code in LANGUAGES if code in written}


def labels_that_read(task: str) -> tuple[str, ...]:
    """The labels of a task that may be given words: of one with sets of labels the single ones and "none".

    >>> labels_that_read("classification/refund+late")
    ('none', 'refund', 'late')
    """
    of_task = get_task(task)
    has_sets = isinstance(of_task, Classification) and of_task.multiple
    return tuple(label for label in of_task.labels if not (has_sets and PLUS in label))


def faults_of(task: str, written: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """(key, reason) of everything that is wrong with words that a user wrote for a task."""
    for language, table in _by_language(written).items():
        if not isinstance(table, Mapping):
            yield language, message("words.table", key=language)
            continue
        for key, value in table.items():
            where = f"{language}.{key}".lstrip(".")
            if key not in KEYS:
                yield where, no_key(key, [*KEYS, *(() if language else LANGUAGES)])
            elif key == LABELS and not isinstance(value, Mapping):
                yield where, message("words.labels")
            elif key == LABELS:
                allowed = labels_that_read(task)
                for label, text in value.items():
                    if label not in allowed:
                        yield f"{where}.{short(label)}", message("words.no_label", labels=list(allowed))
                    elif reason := _text_fault(text, LABELS):
                        yield f"{where}.{label}", reason
            elif reason := _text_fault(value, key):
                yield where, reason


def _text_fault(value: Any, key: str) -> str | None:
    """What is wrong with a text; None where nothing is. A guideline has lines."""
    plain = "".join(value.split()) if key == GUIDELINE and isinstance(value, str) else value
    if isinstance(value, str) and len(value) > MOST[key]:
        return message("words.long", count=len(value), most=MOST[key])
    if isinstance(value, str) and (what := unstorable(value)):
        return what
    return None if isinstance(plain, str) and plain.isprintable() else message("words.text", most=MOST[key])


def answers_under(connection: Connection, task: str, corpus: str) -> int:
    """Count the judgements and adjudications of people in force to questions of a task about texts of a corpus."""
    studies = select(study.c.id).where(study.c.task == task, study.c.corpus == corpus)
    of_studies = select(question.c.id).where(question.c.study_id.in_(studies), question.c.kind.in_(ABOUT_OUTPUTS))
    judged = (is_counted(judgement), judgement.c.guideline > 0, by_people(judgement))
    return count_rows(connection, judgement, judgement.c.question_id.in_(of_studies), *judged) + count_rows(
        connection, adjudication, adjudication.c.question_id.in_(of_studies), stands(adjudication)
    )


def has_words(task: str) -> bool:
    """Whether a task can be given words: it is there, and has labels.

    >>> has_words("sentiment"), has_words("classification")
    (True, False)
    """
    with suppress(AuditError):
        return bool(get_task(task).labels and base_of(task))
    return False
