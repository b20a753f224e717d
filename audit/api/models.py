"""What requests and answers of the API look like, for the OpenAPI document and for checking what comes in.

What is sent has no other keys than these (`UserModel`), and no text that a database cannot store.
"""

from datetime import UTC, datetime, timedelta
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, AwareDatetime, BaseModel, Field, Strict, WithJsonSchema

from audit.annotation.queue import Shown, ShownMember
from audit.annotation.words import DatabaseWords
from audit.files import unstorable
from audit.messages import message
from audit.store import tables
from audit.tasks import Input
from audit.user_models import Allowed, Mistake, UserModel


def _storable(text: str) -> str:
    if fault := unstorable(text):
        raise Mistake(fault)
    return text


def _lately(moment: datetime) -> datetime:
    """A moment of the last day, in UTC; one that is ahead by no more than clocks differ is now."""
    now = tables.now()
    if not now - timedelta(days=1) <= moment <= now + _CLOCKS:
        raise Mistake(message("api.not_lately", now=f"{now:%Y-%m-%dT%H:%M:%SZ}"))
    return min(moment.astimezone(UTC), now)


_CLOCKS = timedelta(minutes=1)
"""By how much a client's clock may be ahead."""
Text = Annotated[
    str, AfterValidator(_storable), WithJsonSchema({"type": "string", "pattern": r"^[^\u0000]*$"}, mode="validation")
]
Moment = Annotated[AwareDatetime, Strict(False), AfterValidator(_lately), Allowed(lambda: message("api.moment"))]


# What is sent.


class Answering(UserModel):
    """An answer to the question that this account holds."""

    answer: Text
    comment: Text | None = None
    shown_at: Moment | None = Field(default=None, description="When somebody saw it: within the last day.")


class Undoing(UserModel):
    """Which answer to take back, so that a request that is sent twice takes back one."""

    judgement: int | None = Field(
        default=None, ge=1, le=(1 << 31) - 1, description="The number that the answer was stored under; null: the last."
    )


class Changing(UserModel):
    """What an own answer is to be from now on; without a comment it has none."""

    answer: Text
    comment: Text | None = None
    shown_at: Moment | None = None


class Training(UserModel):
    """An answer in the training round."""

    answer: Text
    shown_at: Moment | None = Field(default=None, description="When somebody saw it: within the last day.")


class Flagging(UserModel):
    """Why an adjudicator should look at a question."""

    comment: Text = Field(json_schema_extra={"minLength": 1})


class SendingBack(UserModel):
    """What the annotators who flagged a question read above it."""

    remark: Text = ""


class Settling(UserModel):
    """An adjudicator's decision."""

    allowed: list[Text] = Field(json_schema_extra={"minItems": 1})
    reason: Text = ""
    code: Text | None = None
    instead_of: int | None = Field(
        default=None,
        ge=1,
        le=(1 << 31) - 1,
        description="The number of one of this account's last ten decisions, which this one changes.",
    )


class Sending(UserModel):
    """Texts, a row each: objects as the lines of a corpus file in JSONL (`text`, and what else is known of it, such as
    `gold`, `document`, `language`)."""

    rows: Annotated[list[dict[str, Any]], Field(min_length=1), Allowed(lambda: message("api.rows"))]
    task: Text = "sentiment"
    language: Text | None = None
    unit: Literal["sentence", "document"] | None = None
    columns: dict[str, str] = Field(default_factory=dict, description="Our name of a key -> the rows' own.")
    labels: dict[str, str] = Field(default_factory=dict, description="A gold label of the rows -> the task's.")


class Planning(UserModel):
    """A plan: the tables of its TOML file, with their keys."""

    study: dict[str, Any]
    sample: dict[str, Any] = Field(default_factory=dict)
    judging: dict[str, Any] = Field(default_factory=dict)
    report: dict[str, Any] = Field(default_factory=dict)
    words: dict[str, Any] = Field(default_factory=dict)


class Freezing(UserModel):
    """The version of a plan that was looked at; another one is not frozen."""

    version: int | None = None


class Exporting(UserModel):
    """Whether the names of people become pseudonyms, and comments are left out."""

    pseudonymise: bool = True


# What is answered.


class TokenAnswer(BaseModel):
    """The token of the request."""

    name: str
    role: str = Field(description="The most that it may do.")
    expires_at: datetime


class Me(BaseModel):
    """Whose token it is, and what it may do."""

    name: str
    role: str = Field(description="What a request with this token may do.")
    languages: list[str] = Field(description="Languages that the account reads; none: all.")
    token: TokenAnswer


class TextAnswer(BaseModel):
    """A text, and what part it plays in a group."""

    role: str = Field(description="source, follow_up or link.")
    texts: list[str]
    languages: list[str]


class QuestionAnswer(BaseModel):
    """A question as an annotator may see it: no system, and no output but the one that is asked about."""

    id: int
    task: str
    kind: str = Field(description="input, pair (with an output), group, plausibility or grammaticality.")
    question: str
    labels: dict[str, str] = Field(description="What may be answered, and how it reads; `unsure` may be, too.")
    texts: list[str]
    languages: list[str]
    output: str | None = Field(description="The output that is asked about, of a question of kind pair.")
    compared_with: list[str] | None = Field(
        description="The texts of the version of it that was judged just before; whoever shows the question marks what "
        "differs, and its judgement is stored as given so."
    )
    about: str | None = Field(description="What is promised of the group's texts, of a question of kind group.")
    members: list[TextAnswer] = Field(description="The texts of a group that is asked about.")
    skipped: bool = Field(description="Whether this account skipped it today.")
    sent_back: str | None = Field(description="What an adjudicator wrote when sending back this account's flag.")

    @classmethod
    def of(cls, shown: Shown, words: DatabaseWords, language: str) -> "QuestionAnswer":
        """What the page of the app has of it, in a language."""
        wording = words.wording(shown.task, language)
        asks_input = shown.kind in ("input", "pair")
        return cls(
            id=shown.id,
            task=shown.task,
            kind=shown.kind,
            question=wording.question if asks_input else shown.question,
            labels={label: wording.labels.get(label, label) if asks_input else label for label in shown.labels},
            texts=list(shown.texts),
            languages=list(shown.languages),
            output=shown.output,
            compared_with=None if shown.compared_with is None else list(shown.compared_with),
            about=shown.group.summary if shown.group else None,
            members=[_member(member) for member in shown.group.members] if shown.group else [],
            skipped=shown.remembered.skipped,
            sent_back=shown.remembered.sent_back,
        )


def _member(member: ShownMember) -> TextAnswer:
    input_: Input = member.input
    return TextAnswer(role=member.role, texts=list(input_.texts), languages=list(input_.languages))


class Left(BaseModel):
    """How much this account has done, and how much is left for it."""

    today: int
    judged: int
    left: int
    in_other_languages: int


class Next(BaseModel):
    """The next question, held for this account for 15 minutes; null: there is none for it now."""

    question: QuestionAnswer | None
    training: bool = Field(description="Whether the account has to pass the training round first: `GET /training`.")


class OwnAnswerEntry(BaseModel):
    """An answer of this account."""

    question_id: int
    task: str
    kind: str
    texts: list[str] = Field(description="Of a question about a group, those of its source.")
    languages: list[str]
    answer: str
    comment: str
    decided_at: datetime
    flagged: bool = Field(description="Whether its flag waits for an adjudicator.")
    closed: str | None = Field(
        description="Why it can no longer be changed: `complete` (others have answered, too, and it is older than a"
        " day), `settled` (an adjudicator has decided), `seen` (somebody answered seeing it). Null: it can be changed."
    )


class OwnAnswers(BaseModel):
    """A page of this account's answers, the newest first; `next` is the `before` of the page after it."""

    answers: list[OwnAnswerEntry]
    next: int | None


class Changed(BaseModel):
    """What the answer was before."""

    answer: str
    comment: str


class TrainingAnswer(BaseModel):
    """Where this account stands in the training round; `question` is null where it need not train, or has passed."""

    question: QuestionAnswer | None
    attempt: int | None = None
    answered: int | None = None
    questions: int | None = None
    mark: float | None = Field(default=None, description="The share of right answers that is needed.")


class FeedbackAnswer(BaseModel):
    """What somebody reads after an answer in training."""

    right: bool
    allowed: list[str]
    explanation: str
    finished: bool = Field(description="Whether it was the last answer of the attempt.")


class Stored(BaseModel):
    """The number of what was stored."""

    id: int


class Returned(BaseModel):
    """The question that is held again; null: there was nothing to take back."""

    question_id: int | None


class Ids(BaseModel):
    """Questions by their numbers, the most wanted first."""

    questions: list[int]


class OpinionAnswer(BaseModel):
    """What one person said; the number stands for a name, on this question only."""

    number: int
    answer: str | None
    comment: str | None
    flags: list[str]


class Dispute(BaseModel):
    """A question that an adjudicator decides, and what people said of it."""

    question: QuestionAnswer
    opinions: list[OpinionAnswer]


class CorpusAnswer(BaseModel):
    """A corpus that a plan may name."""

    corpus: str
    task: str
    language: str
    unit: str
    size: int | None
    gold: bool
    available: bool
    sent: bool = Field(description="Whether its texts were sent to this server, and are no part of audit or a plug-in.")


class StudyAnswer(BaseModel):
    """A study: what a report is about."""

    study: int = Field(description="Its number, as `GET /report` takes it.")
    corpus: str
    task: str
    plan: str | None = Field(description="The plan that it carries out; null: it was run without one.")
    began: datetime
    sources: int
    relations: int
    drawn: int = Field(description="Groups drawn for judging, of all systems.")
    answered: bool = Field(description="Whether a text of its drawn groups has an answer.")
    systems: list[dict[str, Any]] = Field(description="Each system's run: the entries of `audit runs --json`.")


class RunAnswer(BaseModel):
    """A run of a plan. `done` of `total` sources are through; `lost` is the state of one whose process is gone."""

    id: int
    plan: str
    state: str
    step: str
    done: int
    total: int
    study: int | None = Field(description="The study that the plan's runs make, once there is one: for `GET /report`.")
    sentence: str | None = Field(description="Why it failed.")
    by: str | None
    started_at: datetime
    ended_at: datetime | None


class VersionAnswer(BaseModel):
    """A version of a plan."""

    name: str
    version: int
    frozen: bool
    by: str | None
    at: datetime
    content: dict[str, Any]
    changed: bool = Field(default=True, description="Whether it was stored now; not where nothing differs.")


class StoredQuestion(BaseModel):
    """A question with its settled answers."""

    id: int
    task: str
    kind: str
    texts: list[str]
    languages: list[str]
    output: str | None
    annotators: int = Field(description="How many people are asked.")
    waits: int = Field(description="Drawn groups that wait for it.")
    filled: bool = Field(description="Whether as many people have answered as are asked.")
    answers: dict[str, list[str]] = Field(description="Right labels by origin: adjudicated, people, gold.")


class Questions(BaseModel):
    """A page of questions, in the order of their numbers; `next` goes on after it, null: there are no more."""

    questions: list[StoredQuestion]
    next: int | None
