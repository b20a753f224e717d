"""The tables. Their names are the nouns of the field; keys are content, so that writing twice changes nothing.

Conventions: `key` columns hold 16 bytes from `audit.keys.digest`; times are UTC; JSON columns hold lists or objects; an
`annotator_id` that is null stands for whoever has the database itself. History tables (judgement, judge_answer,
adjudication, aside, cause, log, plan) are append-only: nothing in the code updates or deletes their rows.
"""

from datetime import UTC, datetime
from typing import Any

import sqlalchemy as sa
from sqlmodel import Field, SQLModel

SCHEMA_VERSION = 15
"""The version of these tables, counted up with each change of them: a database of another version is refused."""
CLUSTERED = {"sqlite_with_rowid": False}
"""SQLite keeps the rows of such a table in its primary key's index itself: narrow rows that are found by that key would
otherwise be stored twice."""

# Kinds of columns that the tables share.


def now() -> datetime:
    return datetime.now(UTC)


def number() -> Any:
    """A primary key that the database counts."""
    return Field(default=None, primary_key=True)


def key_part(kind: Any = sa.Integer, refers: str | None = None, default: Any = ..., index: bool = False) -> Any:
    """A part of a primary key that writers know, such as the id of another row."""
    foreign = [] if refers is None else [sa.ForeignKey(refers)]
    return Field(
        default=default, sa_column=sa.Column(kind, *foreign, primary_key=True, autoincrement=False, index=index)
    )


def content_key() -> Any:
    """16 bytes from `audit.keys.digest`, each content once."""
    return Field(sa_column=sa.Column(sa.LargeBinary(16), nullable=False, unique=True))


def json_column(**options: Any) -> Any:
    return Field(sa_column=sa.Column(sa.JSON, nullable=False), **options)


def moment(nullable: bool = False) -> Any:
    return Field(default=None if nullable else ..., sa_column=sa.Column(sa.DateTime(timezone=True), nullable=nullable))


def by_someone(nullable: bool = True) -> Any:
    """The annotator who did something."""
    return Field(default=None if nullable else ..., foreign_key="annotator.id", nullable=nullable, index=not nullable)


def about_question() -> Any:
    return Field(foreign_key="question.id", index=True)


class SchemaVersion(SQLModel, table=True):
    """One row: which version of these tables the database has."""

    __tablename__ = "schema_version"
    version: int = Field(primary_key=True)


# What is run: studies of corpora, the relations and systems they run, and what came out.


class Study(SQLModel, table=True):
    """A corpus, task, seed and limit. What was run of it and drawn from it hangs on its id."""

    id: int | None = number()
    key: bytes = content_key()
    task: str
    corpus: str
    fingerprint: str
    unit: str
    has_gold: bool
    seed: int
    limit: int | None = None
    imported: bool = False  # Whether somebody else made and checked its groups
    chunk: int  # Sources per chunk of work; fixed when the study is made, since `progress` counts in it
    created_at: datetime = moment()


class Input(SQLModel, table=True):
    """An ordered tuple of texts; each content once."""

    id: int | None = number()
    key: bytes = content_key()
    texts: list[str] = json_column()
    languages: str  # Language codes in the order of the texts, joined by commas


class Source(SQLModel, table=True):
    """A row of a corpus in a study. `u` is its permanent random number; sources are numbered in the order of u."""

    __table_args__ = (sa.UniqueConstraint("study_id", "row"),)
    id: int | None = number()
    study_id: int = Field(foreign_key="study.id")
    row: str
    input_id: int = Field(foreign_key="input.id", index=True)
    gold: str | None = None
    cluster: str | None = None
    attributes: dict[str, Any] = json_column(default_factory=dict)
    u: float


class Relation(SQLModel, table=True):
    """A relation as it was run: another version or parameters is another row."""

    __table_args__ = (sa.UniqueConstraint("task", "name", "version", "params"),)
    id: int | None = number()
    task: str
    name: str
    version: str
    params: str = "{}"  # Canonical JSON


class System(SQLModel, table=True):
    """A system as it was run: another version or other settings is another row with outputs of its own."""

    __table_args__ = (sa.UniqueConstraint("name", "version", "settings"),)
    id: int | None = number()
    name: str
    version: str
    settings: str = "{}"  # Canonical JSON


class _Said(SQLModel):
    """What a system said of an input. Beside an error, `text` is what the system said instead of an output."""

    label: str | None = None
    score: float | None = None
    text: str | None = None
    error: str | None = None
    details: dict[str, Any] | None = Field(default=None, sa_type=sa.JSON(none_as_null=True))


class Output(_Said, table=True):
    """What a system returned for an input. The last attempt counts. The key begins with the input: what all systems say
    of one is read together."""

    __table_args__ = CLUSTERED
    input_id: int = key_part(refers="input.id")
    system_id: int = key_part(refers="system.id")
    attempt: int = key_part(sa.SmallInteger, default=1)


class Repeat(_Said, table=True):
    """What a system returned when it was asked the same input once more (`audit run --repeats`), at which call, from 1.
    Never the output that counts: that is in `output`."""

    __table_args__ = CLUSTERED
    input_id: int = key_part(refers="input.id")
    system_id: int = key_part(refers="system.id")
    number: int = key_part(sa.SmallInteger)


class Group(SQLModel, table=True):
    """A metamorphic group. `system_id` is null where the group is the same for every system. The id is computed from
    source, relation and system (`audit.store.bulk.group_id`): planning twice makes one row."""

    # Only what SQLite calls INTEGER is its row number, and needs no index beside it; it has 64 bits there.
    id: int = key_part(sa.BigInteger().with_variant(sa.Integer(), "sqlite"))
    study_id: int = Field(foreign_key="study.id")
    relation_id: int = Field(foreign_key="relation.id")
    source_id: int = Field(foreign_key="source.id")
    system_id: int | None = Field(default=None, foreign_key="system.id")


class Member(SQLModel, table=True):
    """One input of a group, at its step, in its role: source, follow_up, link or probe."""

    __table_args__ = CLUSTERED
    group_id: int = key_part(sa.BigInteger)
    step: int = key_part(sa.SmallInteger)
    input_id: int = Field(foreign_key="input.id", index=True)
    role: str


class Verdict(SQLModel, table=True):
    """One relation's check of one group for one system. `outcome` is `audit.relations.Outcome`."""

    __table_args__ = CLUSTERED
    group_id: int = key_part(sa.BigInteger)
    system_id: int = key_part(refers="system.id")
    outcome: int = Field(sa_type=sa.SmallInteger)
    value: float | None = None
    reason: str | None = None


class Progress(SQLModel, table=True):
    """A chunk of sources that is finished for one relation and one system."""

    __table_args__ = CLUSTERED
    study_id: int = key_part(refers="study.id")
    relation_id: int = key_part(refers="relation.id")
    system_id: int = key_part(refers="system.id")
    chunk: int = key_part()


# What is drawn: rounds of questions about sources, and pairs whose validity people rate.


class Sample(SQLModel, table=True):
    """That people are asked about a study's texts, and how. One for each study."""

    study_id: int = key_part(refers="study.id")
    annotators: int = 2  # How many people answer each question
    quorum: str = "majority"  # How many of a question's votes settle it, `majority` or `all`; the same in all samples
    follow_ups: float = 0.0  # Share of the drawn sources whose follow-ups are asked about although answers are carried
    options: dict[str, Any] = json_column(default_factory=dict)
    """What the last round was to do: base, share, decide, eps and most (`audit.sampling.options`)."""
    drawn_at: datetime = moment()


class Round(SQLModel, table=True):
    """A round of questions. It counts when all of them are answered, or from `given_up_at` on with what is open.
    `contests` are the decisions that it asks for, as they stood when it was drawn (`audit.false_satisfaction.rounds`);
    empty: it asks the first sources of each cell."""

    __table_args__ = CLUSTERED
    study_id: int = key_part(refers="study.id")
    number: int = key_part()
    contests: list[dict[str, Any]] = json_column(default_factory=list)
    drawn_at: datetime = moment()
    given_up_at: datetime | None = moment(nullable=True)


class Draw(SQLModel, table=True):
    """A source that a round asks about, or asks about again further down its list: `q` is the largest threshold up to
    which it would have been asked, which is its inclusion probability (`audit.statistics.rates`).

    `relation_id` 0: the source itself, for all relations that carry its answer to their follow-ups; else also the
    follow-ups under that relation. `rank` is the place in the study's order of questions.
    """

    __table_args__ = CLUSTERED
    study_id: int = key_part(refers="study.id")
    round: int = key_part()
    source_id: int = key_part(refers="source.id", index=True)
    relation_id: int = key_part()
    rank: int
    q: float


class ValidityStudy(SQLModel, table=True):
    """That people rate how plausible and grammatical texts of a study are (`audit.sampling.validity`), and how."""

    __tablename__ = "validity_study"
    study_id: int = key_part(refers="study.id")
    seed: int
    annotators: int = 3  # How many people rate each text
    asks: str = "texts"  # `texts` (to rate them), `groups` (whether the relation holds in them), or `both`
    first: bool = False  # Whether these questions come before all others; else ratings come after them
    drawn_at: datetime = moment()
    ended_at: datetime | None = moment(nullable=True)  # Since when nobody is asked any more; null: people are


class ValidityDraw(SQLModel, table=True):
    """A drawn pair of a relation: a group, and the step of the one of its follow-ups that is rated beside its source.
    Ranks of a relation run from 1, one source each."""

    __tablename__ = "validity_draw"
    study_id: int = key_part(refers="study.id")
    relation_id: int = key_part(refers="relation.id")
    rank: int = key_part()
    group_id: int = Field(sa_type=sa.BigInteger)
    step: int = Field(sa_type=sa.SmallInteger)


# What is asked and answered: questions, people, their judgements, and what these settle.


class Question(SQLModel, table=True):
    """What people are asked. What stands below `group_id` but `annotators` is derived from draws and judgements.

    `priority` is the best rank of a drawn group that waits for it; null: nobody waits.
    """

    __table_args__ = (
        # The queue in its order, without those that have all their votes: a claim reads its first few entries.
        sa.Index("ix_question_next", "filled", "priority", sa.text("waits DESC"), "kind", "id"),
        # The same within a task and kind, and around a source: people are asked block by block, version after version.
        sa.Index("ix_question_block", "filled", "task", "kind", "priority", sa.text("waits DESC"), "id"),
        sa.Index("ix_question_source", "source_input_id", "filled", "priority"),
    )
    id: int | None = number()
    key: bytes = content_key()
    task: str
    kind: str
    input_id: int = Field(foreign_key="input.id", index=True)
    output: str | None = None
    group_id: int | None = Field(default=None, sa_type=sa.BigInteger)
    annotators: int = 2
    priority: int | None = Field(default=None, index=True)
    filled: bool = False  # Whether as many people have judged it as it wants
    waits: int = 0  # How many drawn (group, system) pairs wait for its answer
    source_input_id: int | None = None
    """The input of the source of the best-ranked drawn group that it is about: questions that share it are about
    versions of one text. Null: it is about no group, as ratings are."""
    study_id: int | None = None  # The first study with such a group, in whose words people are asked


class Annotator(SQLModel, table=True):
    """Who answers: a person with a role, `gold`, or a `model` whose ratings were imported. Never deleted, only
    disabled."""

    id: int | None = number()
    name: str = Field(unique=True)
    role: str
    password: str | None = None  # Argon2id hash; null: cannot log in
    languages: str = ""  # Language codes joined by commas; empty: all
    disabled: bool = False
    session_number: int = 0  # In every login of the account: counted up, it ends them all
    token_number: int = 0  # In every API token of the account, likewise
    completion_code: str | None = None  # The code of the invitation that the account came by
    created_at: datetime = moment()


class Invitation(SQLModel, table=True):
    """A link that makes accounts, until it is used up, taken back or has expired. Not a part of the history."""

    id: int | None = number()
    annotator_id: int | None = by_someone()  # Who made it
    role: str
    languages: str = ""  # Languages of the accounts that it makes, as in `annotator`
    code: str | None = None  # The completion code of a recruitment platform
    uses_left: int
    created_at: datetime = moment()
    expires_at: datetime = moment()


class Secret(SQLModel, table=True):
    """One row: what signs the logins, links and API tokens of this database (`audit.judging.sign_in`)."""

    id: int = Field(primary_key=True)
    key: str


class Lease(SQLModel, table=True):
    """A question that an annotator is looking at, until it expires."""

    question_id: int = key_part(refers="question.id")
    annotator_id: int = key_part(refers="annotator.id", index=True)
    expires_at: datetime = moment()
    round: int = 1  # The pass that a judgement under this lease belongs to
    compared: int | None = None  # What differs from the text of this judgement is marked; null: nothing is


class Judgement(SQLModel, table=True):
    """One annotator's answer to one question in one pass. A changed answer is a new row that supersedes the old."""

    id: int | None = number()
    question_id: int = about_question()
    annotator_id: int = by_someone(nullable=False)
    round: int = 1
    """Which pass: 1 the first, the only one that is part of an answer; 2 a hidden repeat, 3 a hidden question whose
    answer is known, 0 training."""
    answer: str
    """A label of the task, or `unsure`, which is no answer, or `withdrawn`, which undoes the one it supersedes."""
    comment: str | None = None
    guideline: int
    shown_at: datetime | None = moment(nullable=True)
    decided_at: datetime = moment()
    supersedes: int | None = Field(default=None, foreign_key="judgement.id", unique=True)
    compared: int | None = Field(default=None, foreign_key="judgement.id")
    """Judged with what differs from the text of this judgement, an earlier one of theirs, marked; null: nothing was."""
    client: str | None = None  # With what it was given: the app's version and the browser, or the command
    withdrawn_by: int | None = by_someone()
    """On a row `withdrawn`: the manager who let the answer go stale; null: whoever gave it took it back."""


class Adjudication(SQLModel, table=True):
    """An adjudicator's answer to a disputed question: the allowed labels and why. The last one counts."""

    id: int | None = number()
    question_id: int = about_question()
    annotator_id: int = by_someone(nullable=False)
    allowed: list[str] = json_column()
    reason: str
    code: str | None = None  # Why people disagreed, a word of a list (`audit.judging.causes`)
    guideline: int | None = None
    decided_at: datetime = moment()


class Answer(SQLModel, table=True):
    """The settled truth of a question by origin (adjudicated, people, gold). Derived; can be rebuilt."""

    question_id: int = key_part(refers="question.id")
    origin: str = Field(primary_key=True)
    allowed: list[str] = json_column()


class Aside(SQLModel, table=True):
    """What somebody did with a question instead of answering it. Append-only; never a vote. A `skip` puts it behind for
    this annotator for the day; a `flag` asks an adjudicator to look at it; `back` is an adjudicator's reply to the
    flags on it, which lets the annotators who flagged it answer it again."""

    id: int | None = number()
    question_id: int = about_question()
    annotator_id: int = by_someone(nullable=False)
    kind: str
    comment: str | None = None
    at: datetime = moment()


class Judge(SQLModel, table=True):
    """A model that answers questions as people do: another prompt, model or version is another judge."""

    __table_args__ = (sa.UniqueConstraint("name", "version", "settings"),)
    id: int | None = number()
    name: str
    version: str
    settings: str = "{}"  # Canonical JSON, with the model and the prompt
    created_at: datetime = moment()


class JudgeAnswer(SQLModel, table=True):
    """A judge's answer to a question. Never a vote: no answer of people rests on it. Append-only."""

    __tablename__ = "judge_answer"
    __table_args__ = CLUSTERED
    question_id: int = key_part(refers="question.id")
    judge_id: int = key_part(refers="judge.id")
    variant: int = key_part(sa.SmallInteger)
    """0: asked as people are; others: the same asked in another way, which measures how consistent the judge is."""
    attempt: int = key_part(sa.SmallInteger, default=1)  # The last one counts; an error is tried again
    answer: str | None = None  # A label of the task, or `unsure`; null: an error
    error: str | None = None
    text: str | None = None
    """What the model wrote beside an answer, its reasoning, or what it wrote that could not be read as one."""
    decided_at: datetime = moment()


# What leads a study: its plan, settings of judging, known answers, causes, work in hand, the log.


class Setting(SQLModel, table=True):
    """How judging goes in this database, by name (`audit.judging.settings`). Each change is in `log`."""

    name: str = Field(primary_key=True)
    value: Any = json_column()


class Known(SQLModel, table=True):
    """A question whose answer is known before: asked in `training` with feedback, or hidden in the queue (`gold`)."""

    question_id: int = key_part(refers="question.id")
    purpose: str = Field(index=True)
    allowed: list[str] = json_column()
    explanation: str = ""  # What people read after they answered in training
    annotator_id: int | None = by_someone()
    at: datetime = moment()


class Cause(SQLModel, table=True):
    """Why a satisfaction is false: a word of a list (`audit.judging.causes`). Append-only; the last one counts."""

    __table_args__ = (sa.Index("ix_cause_group", "group_id", "system_id"),)
    id: int | None = number()
    group_id: int = Field(sa_type=sa.BigInteger)
    system_id: int = Field(foreign_key="system.id")
    annotator_id: int = by_someone(nullable=False)
    code: str
    comment: str | None = None
    at: datetime = moment()


class Log(SQLModel, table=True):
    """What was done that changes how numbers come about, or shows what is hidden otherwise. Append-only. `detail` holds
    numbers and words of lists, never a person's name or text."""

    id: int | None = number()
    annotator_id: int | None = by_someone()
    action: str
    detail: dict[str, Any] = json_column(default_factory=dict)
    at: datetime = moment()


class Plan(SQLModel, table=True):
    """A version of a study's plan: corpus, systems, relations, sample, judging. Append-only. Freezing adds a version
    with the same content; versions after it are changes to a frozen plan."""

    __table_args__ = (sa.UniqueConstraint("name", "version"),)
    id: int | None = number()
    name: str
    version: int
    content: dict[str, Any] = json_column()
    frozen: bool = False
    annotator_id: int | None = by_someone()
    at: datetime = moment()


class Job(SQLModel, table=True):
    """Work that the app began and that goes on without it: a run of metamorphic testing."""

    id: int | None = number()
    plan: str  # Name of the plan that it carries out
    state: str  # waiting, running, stopping (asked to, but still there), done, failed or stopped
    annotator_id: int | None = by_someone()
    host: str = ""
    pid: int | None = None
    step: str = ""
    done: int = 0
    total: int = 0
    message: str | None = None
    started_at: datetime = moment()
    seen_at: datetime = moment()  # The last sign of life
    ended_at: datetime | None = moment(nullable=True)


class StudyRun(SQLModel, table=True):
    """Who runs a study, or ran it last (`audit.runner.underway.only_run`). Not a part of the history."""

    __tablename__ = "study_run"
    study_id: int = key_part(refers="study.id")
    host: str
    pid: int
    started_at: datetime = moment()
