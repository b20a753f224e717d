"""The other documents as JSON, beside the report's: agreement, quality, competence, histories, progress, and values.

Rates are fractions between 0 and 1, and whatever is unknown is null, with a `reason` or `note` where it is not plain.
Plans are typed in `audit.reports.plan`.
"""

from typing import Any, TypedDict

from audit.reports.document import JudgeEntry, Rate, ValidityEntry

# How far annotators agree.


class CoefficientEntry(TypedDict):
    """One coefficient; `note` says why it is undefined, or explains the kappa paradox where it strikes."""

    name: str
    level: str | None
    estimate: float | None
    low: float | None
    high: float | None
    items: int
    annotators: int
    note: str | None


class RatingCounts(TypedDict):
    """Items that two annotators or more judged, items that one judged, and ratings of all."""

    items: int
    left_out: int
    ratings: int


class AgreementPart(RatingCounts):
    """The coefficients over the ratings of one relation, system, language, pair or period."""

    by: str | None
    value: str
    coefficients: list[CoefficientEntry]


class AgreementPair(TypedDict):
    """How two annotators agree on the items that both judged."""

    one: str
    other: str
    items: int
    percent_agreement: float | None
    cohen_kappa: float | None
    gwet_ac1: float | None
    note: str | None


class AgreementDocument(RatingCounts):
    """The document of `audit agreement`."""

    coefficients: list[CoefficientEntry]
    annotators: list[str]
    labels: list[str]
    groups: list[AgreementPart]
    pairs: list[AgreementPair]
    notes: list[str]
    signature: dict[str, Any]


class StoredAgreement(AgreementDocument):
    """The same for one kind of questions of a task, with how often a row's label was given against a column's."""

    task: str
    kind: str
    confusions: list[list[int]]


class JudgesDocument(TypedDict):
    """The document of `audit judge agreement`: judges that are models, measured against people, gold and themselves."""

    judges: list[JudgeEntry]
    notes: list[str]
    signature: dict[str, Any]


# What the validity study found: ratings of sources and follow-ups from 1 to 5.


class RaterEntry(TypedDict):
    """Somebody whose ratings count: a person, or a model whose ratings were imported."""

    name: str
    model: bool
    ratings: int


class ScaleAgreement(TypedDict):
    """How far raters agree on a scale; no coefficients where one alone has rated."""

    scale: str
    coefficients: list[CoefficientEntry]


class ValidityDocument(TypedDict):
    """The document of `audit validity report`; `by` is people, models or all."""

    by: str
    raters: list[RaterEntry]
    unsure: int
    relations: list[ValidityEntry]
    agreement: list[ScaleAgreement]
    notes: list[str]
    signature: dict[str, Any]


# How well each annotator judges, and how competent each is.


class Ends(TypedDict):
    """An interval of a share or of a difference; null where too little was observed."""

    low: float | None
    high: float | None


class ShareEntry(Ends):
    """`part` of `whole` with the interval of that share, or the reason why there is none."""

    part: int
    whole: int
    value: float | None
    reason: str | None


class AccuracyShare(ShareEntry):
    """Right answers to hidden questions; `unsure` ones are counted beside."""

    unsure: int


class LabelBias(Ends):
    """How much more often a label is given than it is right."""

    label: str
    given: int
    missed: float
    value: float | None
    reason: str | None


class OthersEntry(Ends):
    """Agreement with everybody else, and alpha over the others alone."""

    items: int
    value: float | None
    alpha_without: float | None
    reason: str | None


class SpeedEntry(TypedDict):
    """Median seconds from question to decision, in all and in each half, and the share too fast to have read."""

    seconds: float | None
    first_half: float | None
    second_half: float | None
    fast: ShareEntry


class DriftEntry(Ends):
    """Agreement with settled answers in the first and the second half, and the change."""

    first: ShareEntry
    second: ShareEntry
    change: float | None


class Training(TypedDict):
    """Attempts at the training questions, and whether one was passed."""

    attempts: int
    passed: bool


class AnnotatorQuality(TypedDict):
    """All that is measured of one annotator."""

    annotator: str
    judgements: int
    unsure: ShareEntry
    training: Training
    accuracy: AccuracyShare
    confusion: dict[str, dict[str, float]] | None
    bias: list[LabelBias]
    consistency: ShareEntry
    settled: ShareEntry
    others: OthersEntry
    speed: SpeedEntry
    drift: DriftEntry


class QualityDocument(TypedDict):
    """The document of `audit quality`."""

    task: str
    about: str
    labels: list[str]
    alpha: float | None
    annotators: list[AnnotatorQuality]
    settings: dict[str, Any]
    notes: list[str]
    signature: dict[str, Any]


class AnnotatorCompetence(TypedDict):
    """How often an annotator is right by the model, and what is said of each true label."""

    annotator: str
    ratings: int
    accuracy: float
    accuracy_low: float | None
    accuracy_high: float | None
    confusion: dict[str, dict[str, float | None]]


class LikeliestLabel(TypedDict):
    """The likeliest true label of an item."""

    item: str
    label: str
    probability: float


class CompetenceDocument(TypedDict):
    """The document of `audit annotators`: Dawid and Skene's model."""

    labels: list[str]
    marginals: dict[str, float]
    marginals_low: dict[str, float] | None
    marginals_high: dict[str, float] | None
    annotators: list[AnnotatorCompetence]
    items: list[LikeliestLabel]
    log_likelihood: float
    iterations: int
    converged: bool
    notes: list[str]
    signature: dict[str, Any]


# How far the judging is.


class QuestionCounts(TypedDict):
    """Questions over the whole database: those that wait, and those that are answered, by origin.

    Of those that are `open`, `open_groups` are about groups, the others about texts and outputs.
    """

    open: int
    open_groups: int
    audits: int
    checks: int
    people: int
    adjudicated: int
    gold: int
    filled: int
    split: int
    disputed: int
    flagged: int


class JudgementCounts(TypedDict):
    """Judgements since midnight and of seven days (UTC), and those that are left."""

    today: int
    week: int
    left: int


class SpeedNumbers(TypedDict):
    """How fast people judge: `audit.annotation.activity.Speed`."""

    judgements: int
    hours: float
    per_hour: float | None
    per_day: float | None


class PaceEntry(SpeedNumbers):
    """The same, and when the open questions would have all their votes; ISO 8601 in UTC."""

    ends: str | None


class UnreadEntry(TypedDict):
    """Open questions in languages that no account both reads and works on."""

    languages: list[str]
    questions: int


class TotalsDocument(TypedDict):
    """Counts over the whole database."""

    questions: QuestionCounts
    judgements: JudgementCounts
    pace: PaceEntry
    unread: list[UnreadEntry]


class CellAtWork(TypedDict):
    """A cell that was drawn from: groups that were drawn, are settled anywhere, and count; questions that wait."""

    study: int | str | None
    corpus: str | None
    task: str
    relation: str
    system: str
    drawn: int | None
    settled: int
    judged: int | None
    waiting: int | None
    fs_rate: Rate
    fs_low: Rate
    fs_high: Rate


class ProgressDocument(TotalsDocument):
    """The document of `audit progress`."""

    cells: list[CellAtWork]
