"""The other documents as JSON, beside the report's: agreement, quality, competence, histories, progress, and values.

Rates are fractions between 0 and 1, and whatever is unknown is null, with a `reason` or `note` where it is not plain.
Plans are typed in `audit.reports.plan`.
"""

from typing import Any, TypedDict

from audit.reports.document import JudgeEntry, ValidityEntry

Entry = dict[str, Any]
"""A part of a document that statistics made: the fields of their dataclass by name."""


class AgreementDocument(TypedDict):
    """The document of `audit agreement`: how far annotators agree.

    `coefficients` are `audit.statistics.agreement.Coefficient`s. `items` were judged by two annotators or more,
    `left_out` by one. `groups` have `by`, `value`, the same counts and coefficients; `pairs` one, other, items,
    percent_agreement, cohen_kappa, gwet_ac1 and note.
    """

    coefficients: list[Entry]
    items: int
    left_out: int
    ratings: int
    annotators: list[str]
    labels: list[str]
    groups: list[Entry]
    pairs: list[Entry]
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


class ValidityDocument(TypedDict):
    """The document of `audit validity report`; `by` is people, models or all.

    `raters` have name, model (whether it is one) and ratings; `agreement` has the coefficients of each scale, none
    where one rater alone has rated.
    """

    by: str
    raters: list[Entry]
    unsure: int
    relations: list[ValidityEntry]
    agreement: list[Entry]
    notes: list[str]
    signature: dict[str, Any]


# How well each annotator judges, and how competent each is.


class QualityDocument(TypedDict):
    """The document of `audit quality`.

    Each of `annotators` has judgements, unsure, training, accuracy, confusion, bias (a `Bias` a label), consistency,
    settled, others (`WithOthers`), speed and drift (`Drift`); other shares are `Share`s of
    `audit.statistics.annotators`.
    """

    task: str
    about: str
    labels: list[str]
    alpha: float | None
    annotators: list[Entry]
    settings: dict[str, Any]
    notes: list[str]
    signature: dict[str, Any]


class CompetenceDocument(TypedDict):
    """The document of `audit annotators`: Dawid and Skene's model.

    Each of `annotators` has ratings, accuracy with accuracy_low and accuracy_high, and confusion: the probability of
    each label by true label, null where the annotator saw none. `items` have their likeliest label and its probability.
    """

    labels: list[str]
    marginals: dict[str, float]
    marginals_low: dict[str, float] | None
    marginals_high: dict[str, float] | None
    annotators: list[Entry]
    items: list[Entry]
    log_likelihood: float
    iterations: int
    converged: bool
    notes: list[str]
    signature: dict[str, Any]


# How far the judging is.


class TotalsDocument(TypedDict):
    """Counts over the whole database.

    `questions`: open (of which open_groups are about groups, the others about texts and outputs), audits, people,
    adjudicated and gold (answered, by origin), filled, split, disputed and flagged. `judgements`: today and week, since
    midnight and in seven days (UTC), and left. `pace`: `audit.judging.activity.Speed`, and when the open questions
    `ends` would have all their votes (ISO 8601 in UTC). `unread`: languages that no account both reads and works on,
    and how many questions are open in them.
    """

    questions: dict[str, int]
    judgements: dict[str, int]
    pace: Entry
    unread: list[Entry]


class ProgressDocument(TotalsDocument):
    """The document of `audit progress`: of each cell that was drawn from its place, groups that were drawn, are settled
    anywhere, and count, questions that wait, and R_FS."""

    cells: list[Entry]
