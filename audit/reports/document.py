"""The report as JSON: every key of `audit report --json` and `audit rerank --json`, typed.

`ReportDocument` is what `audit.reports.build` makes and what the terminal, HTML, charts, app and library render.
`json_schema` gives its JSON Schema, which the documentation publishes. Rates are fractions between 0 and 1, counts are
whole numbers, and whatever is unknown is null. An interval ends at `..._low` and `..._high`; where answers leave
bounds only, these are `..._least` and `..._most`, and the interval is theirs.
"""

import json
import math
from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, Literal, NotRequired, TypeVar, cast

import pandas as pd
from typing_extensions import TypedDict, is_typeddict  # Python's own, before 3.12, is not enough for pydantic

if TYPE_CHECKING:
    from pydantic import TypeAdapter

Rate = float | None
Part = TypeVar("Part")
State = Literal["sure", "likely", "open", "level", "looks", "apart", "unknown", "one_system"]
"""How sure it is which system is best."""


def unknown(part: type[Part]) -> Part:
    """A part of a document of which nothing is known: null under each of its keys.

    >>> unknown(GenuineRates)["fs_low"] is None
    True
    """
    return cast(Part, dict.fromkeys(part.__annotations__))


def plain(value: Any) -> Any:
    """A value as JSON has it: None if it is missing or NaN, of Python's own type instead of NumPy's.

    >>> plain(float("nan")), plain(0.5)
    (None, 0.5)
    """
    if value is None or value is pd.NA or (isinstance(value, float) and math.isnan(value)):
        return None
    return value.item() if hasattr(value, "item") else value


class StudyEntry(TypedDict):
    """A study of the report: what its sources are."""

    id: int
    task: str
    corpus: str
    fingerprint: str
    unit: str
    has_gold: bool
    seed: int
    limit: int | None
    imported: bool


class Place(TypedDict):
    """What cells, relations and tables have in common: what they belong to."""

    task: str
    study: int | str | None
    corpus: str | None


class Ends(TypedDict):
    """The ends of a 95 % interval; null where there is none."""

    low: Rate
    high: Rate


class SampleEntry(TypedDict):
    """How the groups of a study were drawn; what is as usual is left out."""

    study_id: int
    annotators: int
    rounds: int
    complete: int
    """Rounds of which all is answered, or given up: these count."""
    quorum: NotRequired[str]
    follow_ups: NotRequired[float]
    """The share of the drawn sources whose follow-ups are asked about although answers are carried to them."""


class SystemEntry(TypedDict):
    """A system by name, version and settings."""

    name: str
    version: str
    settings: dict[str, Any]
    cut: NotRequired[int]
    """Inputs of which it read a part, since they are too long for it; absent where it read all."""


class RelationEntry(TypedDict):
    """A relation by name, version and parameters."""

    name: str
    version: str
    params: dict[str, Any]


class Draws(TypedDict):
    """How many random draws probabilities rest on, and their seed."""

    posterior: int
    seed: int


class Signature(TypedDict, total=False):
    """What the numbers were made from and how, so that equal signatures mean equal reports.

    A report of totals from a file has `file` in place of studies, samples, systems, relations and answers.
    """

    audit: str
    """The version of audit."""
    file: str
    sha: str
    studies: list[StudyEntry]
    samples: list[SampleEntry]
    systems: list[SystemEntry]
    relations: list[RelationEntry]
    answers: dict[str, Any]
    """Whose answers count (`whose`), and how many questions each origin settled."""
    words: dict[str, int]
    """By task, the version of the words that the users set for it; absent where all words are audit's own."""
    holds: Any
    estimator: str
    audits: dict[str, str]
    proxy: dict[str, Any]
    causes: int
    slices: list[str]
    weights: str
    primary: list[dict[str, Any]]
    interval: str | None
    confidence: float | None
    target: str
    """`population`: all texts like these; `corpus`: the texts that were run."""
    delta: float
    """The difference of two systems' rates below which they count as equal."""
    draws: Draws
    notes: list[str]
    """What has to be known to read the numbers."""


class GenuineRates(TypedDict):
    """SR_o, R_FS and SR_g, the latter two with their intervals; without an estimate what the answers leave possible."""

    sr_observed: Rate
    fs_rate: Rate
    fs_low: Rate
    fs_high: Rate
    fs_least: Rate
    fs_most: Rate
    sr_genuine: Rate
    sr_genuine_low: Rate
    sr_genuine_high: Rate
    sr_least: Rate
    sr_most: Rate


class Violations(TypedDict):
    """VR_o and VR_g of a system, the latter with its interval or bounds; else `reason` says why it has none."""

    system: str
    vr_observed: Rate
    vr_genuine: Rate
    vr_genuine_low: Rate
    vr_genuine_high: Rate
    vr_least: Rate
    vr_most: Rate
    reason: str | None


class Counts(TypedDict):
    """Groups by verdict, and what is judged of the satisfied ones; null: not known."""

    groups: int | None
    satisfied: int | None
    violated: int | None
    inapplicable: int | None
    errors: int | None
    rejected: NotRequired[int | None]
    """Groups with a follow-up that breaks a limit of its relation; absent where no cell of the report has any."""
    drawn: int | None
    """Satisfied groups that were drawn for judging."""
    judged: int | None
    """Groups that count: of rounds that are answered or given up, or labelled by gold."""
    false: int | None
    """False satisfactions among the judged."""
    open: int | None
    """Groups among the judged that were given up, or that gold alone cannot settle."""
    waiting: int | None
    """Drawn groups that wait for an answer; over all cells, questions that wait."""


class Ranks(TypedDict):
    """How sure a system's place among others is; `reason` says why that is not known."""

    system: str
    p_best: Rate
    """Probability that no system is better by more than delta, on the side of caution."""
    rank_low: int | None
    rank_high: int | None
    reason: str | None


class CellEntry(Place, Counts, GenuineRates):
    """One system under one relation of one study: counts, and rates among the groups that it applies to."""

    relation: str
    system: str
    vr_observed: Rate
    vr_genuine: Rate
    reason: str | None
    """Why there is no genuine rate; null where there is one."""
    method: str | None
    """What made the interval."""


class CommonEntry(TypedDict):
    """The groups that apply to all systems of a relation, and the most that two of them share."""

    groups: int | None
    most_groups: int | None
    deciding: int | None
    judged: int | None
    reason: str | None


class OvertakingEntry(TypedDict):
    """A system that becomes the best one, and how sure that is."""

    system: str
    p: float | None
    p_holm: float | None
    sure: bool


class RankedEntry(Ranks):
    """A system in the order of a relation, by rates over the common groups."""

    sr_observed: Rate
    sr_genuine: Rate


class PairEntry(Ends):
    """SR_g of `system` minus that of `other`."""

    system: str
    other: str
    difference: float | None
    p: float | None
    p_above: float | None
    p_below: float | None
    p_holm: float | None
    """Adjusted over all pairs of the report."""
    apart: bool
    groups: int
    informative: int
    judged: int
    reason: str | None


class CarryEntry(Ends):
    """Audits of propagated answers: how many were wrong."""

    audited: int
    wrong: int
    error: Rate


class RelationResultEntry(Place):
    """The systems under one relation, before and after the correction."""

    relation: str
    order_observed: list[str]
    order_genuine: list[str]
    best_observed: list[str]
    best_genuine: list[str]
    order_changes: bool
    best_changes: bool
    best_changes_sure: bool
    """Whether another system is surely better than every one that was reported as best."""
    best_sure: bool
    """Whether the one in `best_genuine` is surely better than every other."""
    best_own: list[str] | None
    common: CommonEntry | None
    overtaking: list[OvertakingEntry]
    ranking: list[RankedEntry]
    pairs: list[PairEntry]
    carry: NotRequired[CarryEntry | None]


class Covered(GenuineRates):
    """The part of the totals that is about the cells that have an estimate or, where none has, about bounds of all."""

    cells_covered: int
    satisfied_covered: int | None


class OverallEntry(Counts, Covered):
    """Sums over all cells; rates over the cells that have an estimate."""

    relations: int
    relations_compared: int
    systems: int
    cells: int
    cells_estimated: int
    cells_waiting: int
    waiting_distinct: bool
    best_changes_sure: int
    best_changes_open: int
    best_changes_estimated: int

    waiting_groups: NotRequired[int]
    audits_waiting: NotRequired[int | None]


class MissingCell(TypedDict):
    """A cell that a roll-up leaves out, because too little of it is judged."""

    study: int | str | None
    relation: str
    system: str


class RollupEntry(GenuineRates):
    """Cells taken together, by relation, family, system, or all."""

    by: str
    name: str
    task: str | None
    cells: int
    method: str | None
    reason: str | None
    missing: list[MissingCell]


class ViolationRate(Violations):
    """Observed and genuine violation rate of one system in a row of the violation table."""

    groups: int | None


class ViolationRow(TypedDict):
    """A relation, a family, or all of them."""

    by: str
    name: str
    family: str | None
    rates: list[ViolationRate]


class ViolationTable(Place):
    """Violation rates as studies print them: relations down, systems across."""

    systems: list[str]
    rows: list[ViolationRow]


class SensitivityEntry(TypedDict):
    """R_FS as it is, and if outputs with `labels` that gold lacks were right."""

    labels: list[str]
    fs_rate: Rate
    fs_rate_right: Rate


class SystemAccuracy(Ends):
    """A system's share of right outputs among the sources that have a label."""

    system: str
    outputs: int
    accuracy: Rate


class AccuracySystem(SystemAccuracy):
    """A system's share of right outputs by gold, beside its satisfaction rates."""

    right: int
    sr_observed: Rate
    sr_genuine: Rate
    sr_genuine_low: Rate
    sr_genuine_high: Rate


class AccuracyEntry(Place):
    """Accuracy by gold against 1 - VR_o against 1 - VR_g."""

    sources: int
    systems: list[AccuracySystem]
    reason: str | None
    over: str
    order_accuracy: list[str] | None
    order_observed: list[str] | None
    order_genuine: list[str] | None


class RepeatedLabel(TypedDict):
    """The inputs on which a system said a label first, and on how many of these it said another one later."""

    label: str
    inputs: int
    contradicted: int


class RepeatedSystem(TypedDict):
    """What a system says when it is asked the same again: never a violation of a relation.

    `share` is that of the inputs on which two calls differ, and a lower bound: more calls may find more. `disagreement`
    is how often two calls on an input differ.
    """

    system: str
    take: str
    """The output that counts: of the `first` call, or of the `majority`."""
    inputs: int
    least_calls: int
    most_calls: int
    failed: int
    contradicted: int
    share: Rate
    share_low: Rate
    share_high: Rate
    disagreement: Rate
    disagreement_low: Rate
    disagreement_high: Rate
    labels: list[RepeatedLabel]


class RepeatedCell(Ends):
    """How steady a cell's verdicts are over calls, or the reason why that is not known.

    `unstable` groups, whose `share` has an interval, do not have the same verdict by every call. `vr_by_chance` is the
    violation rate that randomness alone would make, were each follow-up the source once more. Of the `violated` groups
    `always_violated` are so by every call.
    """

    relation: str
    system: str
    groups: int | None
    calls: int | None
    unstable: int | None
    share: Rate
    vr_first: Rate
    vr_mean: Rate
    vr_by_chance: Rate
    violated: int | None
    always_violated: int | None
    reason: str | None


class RepeatsEntry(Place):
    """The systems of a study that were asked the same input several times."""

    systems: list[RepeatedSystem]
    cells: list[RepeatedCell]


class CauseShare(Ends):
    """How many of the named false satisfactions have a cause."""

    cause: str
    count: int
    share: float


class CauseCounts(TypedDict):
    """False satisfactions, those with a cause, the cells with one, and the share of each cause."""

    false: int
    named: int
    cells: int
    causes: list[CauseShare]


class CausesEntry(CauseCounts):
    """Causes of false satisfactions, by relation, system or all."""

    by: str
    name: str
    task: str
    study: int | str | None


class ReasonCount(TypedDict):
    """How many disputes had a reason."""

    reason: str
    count: int


class DisputesEntry(TypedDict):
    """Disputes that were adjudicated, by reason."""

    settled: int
    reasons: list[ReasonCount]
    uncoded: int


class SliceRate(Violations, GenuineRates):
    """Rates of a system on the sources of a slice, over all relations (`relation` null) or under one."""

    slice: str | None
    relation: str | None
    sources: int
    groups: int
    violated: int
    judged: int
    false: int
    vr_observed_low: Rate
    vr_observed_high: Rate


class SliceStanding(Ends):
    """Who is best in a slice, over the groups there that apply to all systems, and whether that is another one.

    `rival` is the best there where it is not `best_genuine` of the whole: by so much is its SR_g above it there. `p` is
    adjusted for choosing among the systems, `p_holm` for all slices of the report, too.
    """

    slice: str | None
    groups: int
    order_observed: list[str]
    order_genuine: list[str] | None
    relations: int
    """Under which enough is judged in the slice."""
    best_differs_observed: bool | None
    best_differs: bool | None
    rival: str | None
    difference: float | None
    p: float | None
    p_holm: float | None
    sure: bool
    reason: str | None


class SlicesEntry(Place):
    """Rates by slices of the sources: a way to divide them, in a study."""

    by: str
    slices: list[str | None]
    empty: list[str]
    """Slices without a group that is satisfied or violated: nothing is said of them."""
    unsliced: int
    """Sources that are in no slice."""
    systems: list[str]
    relations: list[str]
    best_observed: list[str]
    best_genuine: list[str] | None
    rates: list[SliceRate]
    standings: list[SliceStanding]
    reason: str | None


class SliceTest(Place, Ends):
    """The violation rate of a system in a slice against that of all other sources of the study."""

    by: str
    slice: str
    system: str
    rate: str
    """`observed` or `genuine`."""
    groups: int
    clusters: int
    judged: int | None
    inside: float
    outside: float
    difference: float
    p: float
    q: float
    """The least false discovery rate at which the slice is among the found."""
    found: bool


class UntestedSlice(TypedDict):
    """A slice of which too little is known, or of its rest, for a test: these systems."""

    study: int
    by: str
    slice: str
    rate: str
    systems: list[str]


class SliceTestsEntry(TypedDict):
    """The slices in which relations are broken more often than in the rest; the worst first."""

    level: float
    least: int
    tests: list[SliceTest]
    untested: list[UntestedSlice]
    reason: str | None


class PreferredSystem(Ranks):
    """A system in the order by a user's weights."""

    score_observed: Rate
    score: Rate
    score_low: Rate
    score_high: Rate


class Move(TypedDict):
    """The smallest change of the weights after which another system is best."""

    distance: float
    rival: str
    weights: dict[str, float]


class WeightedRanking(TypedDict):
    """The systems by their rates over weighted relations."""

    ranking: list[PreferredSystem]
    winner_observed: list[str] | None
    winner: list[str] | None
    move: Move | None


class PreferenceEntry(WeightedRanking):
    """One ranking by a user's weights of relations."""

    weights: dict[str, float]
    source: str


class DecisionAccuracy(TypedDict):
    """Accuracy beside a decision, best first. `best` names the most accurate systems where the decision names none of
    them, and is empty otherwise; `apart`: their lead is beyond chance."""

    texts: int
    by: Literal["gold", "people"]
    systems: list[SystemAccuracy]
    best: list[str]
    apart: bool


class DecisionEntry(TypedDict):
    """Which system of a task is best by the mean over families of pooled genuine rates, and how sure that is."""

    task: str
    state: State
    """`sure` from 95 % that none is better, `likely` from 80 %, `open` below; `level`: several surely differ by no more
    than delta; `looks`: probabilities cannot be had; `apart`: no relation has an estimate of every system; `unknown`:
    nothing is judged; `one_system`: nothing to choose."""
    systems: list[str]
    """The best; where it is `open`, all that may be; none where it is `unknown` or `apart`."""
    best_observed: list[str]
    """Who would be chosen by the reported rates of the same relations."""
    families: list[str]
    """The families of relations that it is the mean of; none where the user's weights decide."""
    relations: list[str]
    """What it rests on."""
    left_out: list[str]
    """Families and relations that do not count, as not every compared system has an estimate there."""
    unjudged: list[str]
    """Systems of which nothing is judged: they are in no comparison as long as two others are judged."""
    out: list[str]
    """Where it is `open` or `likely`: systems that are best with a probability below 1 %."""
    weights: str | None
    """The file or profile of the user's weights; null: families alike."""
    ranking: list[PreferredSystem]
    accuracy: DecisionAccuracy | None
    """null: no source has a gold label or an answer."""


class ExampleMember(TypedDict):
    """A member of an example: its texts, what the system answered, and what is right."""

    role: str
    texts: list[str]
    output: str | None
    right: list[str]
    origin: str
    wrong: bool | None


class ExampleEntry(Place):
    """A false satisfaction that shows what one is."""

    relation: str
    system: str
    row: str
    cause: str | None
    members: list[ExampleMember]


class PlanChange(TypedDict):
    """A key of a plan that was changed after it was frozen."""

    key: str
    before: Any
    after: Any
    version: int
    at: str


class Deviation(TypedDict):
    """Where what was done is not what was planned."""

    key: str
    planned: Any
    found: Any


class PlanEntry(TypedDict):
    """How a study stands to its plan. Times are ISO 8601 in UTC."""

    plan: str
    study: int
    version: int
    frozen_version: int | None
    frozen_at: str | None
    run_began: str
    judgements: int
    judgements_before: int | None
    changed: list[PlanChange]
    deviates: list[Deviation]


class PrimaryEntry(PairEntry):
    """The comparison of a study that was named before its first answer (`tested`), under a relation or over all."""

    study: int
    task: str
    relation: str | None
    relations: int
    compared: int
    """Of how many relations the difference is, of so many that were to be compared."""
    tested: bool
    named_at: str
    answers_before: int


class ToldEntry(Ends):
    """`part` of `whole` as a rate, or a coefficient of them, with its interval; null: `reason` says why."""

    part: int
    whole: int
    value: Rate
    reason: str | None


class JudgeLabel(TypedDict):
    """One label of a judge against the rest: how often it is the only right one, and how often the judge says it."""

    label: str
    truth: int
    given: int
    sensitivity: ToldEntry
    """How often the judge says it where it is the only right label."""
    specificity: ToldEntry
    """How often the judge does not say it where it is none of the right labels."""


class AgainstEntry(TypedDict):
    """A judge against settled answers: `questions` that both answered, `left_out` that the judge did not."""

    questions: int
    left_out: int
    accuracy: ToldEntry
    kappa: ToldEntry
    labels: list[JudgeLabel]
    confusion: list[list[int]]
    """Rows: the only right label; columns: the judge's; both in the order of `labels`."""


class VariantEntry(TypedDict):
    """How often a judge answers the same when it is asked in another way: labels, wording or texts."""

    variant: str
    same: ToldEntry


class JudgeTask(TypedDict):
    """What a judge did with the questions of a task and kind."""

    task: str
    kind: str
    asked: int
    answered: int
    unsure: int
    errors: int
    consistency: list[VariantEntry]
    people: AgainstEntry | None
    gold: AgainstEntry | None


class JudgeEntry(TypedDict):
    """A judge that is a model, never one of the people. `own`: systems under test that are the same model."""

    judge: int
    name: str
    version: str
    settings: dict[str, Any]
    own: list[str]
    tasks: list[JudgeTask]


# What the validity study found: ratings of sources and follow-ups from 1 to 5.


class ScaleEntry(Ends):
    """Means of both texts of the pairs that are rated on a scale, their difference (follow-up less original, points)
    with its interval, and the share of follow-ups with a mean of 4 or more."""

    scale: str
    pairs: int
    original: float | None
    follow_up: float | None
    difference: float | None
    good: float | None
    good_low: float | None
    good_high: float | None


class ValidityCell(TypedDict):
    """What the violations of a system are worth, by what people said of the drawn pairs: `by` the `text` (the follow-up
    is invalid) or the `relation` (it does not hold). Of the violated groups that were asked about those that are
    unsound, their share with its interval, and the violation rate without unsound groups. Null with `low` and `high`:
    bounds are known, and no point."""

    system: str
    by: Literal["text", "relation"]
    asked_satisfied: int
    asked_violated: int
    unsound_violated: int
    unsound: float | None
    unsound_low: float | None
    unsound_high: float | None
    vr_observed: float
    vr_sound: float | None
    vr_sound_low: float
    vr_sound_high: float


class HoldsShare(Ends):
    """In how many of the drawn groups that were judged the relation does not hold, and the share with its interval."""

    judged: int
    broken: int
    rate: Rate


class ValidityEntry(Ends):
    """A relation: the pairs drawn of it, those rated on both scales, and of these the share with a valid follow-up; and
    whether the relation holds in the drawn groups."""

    study: int
    task: str
    relation: str
    by: str
    pairs: int
    rated: int
    scales: list[ScaleEntry]
    valid: int
    share: float | None
    holds: HoldsShare
    cells: list[ValidityCell]


class ReportDocument(TypedDict):
    """A report. Keys that only some reports have are absent in the others; null is: asked for, and not known."""

    signature: Signature
    cells: list[CellEntry]
    relations: list[RelationResultEntry]
    overall: OverallEntry
    rollups: list[RollupEntry]
    violations: list[ViolationTable]
    decisions: list[DecisionEntry]
    examples: NotRequired[list[ExampleEntry]]
    primary: NotRequired[list[PrimaryEntry]]
    preference: NotRequired[PreferenceEntry]
    sensitivity: NotRequired[SensitivityEntry | None]
    accuracy: NotRequired[list[AccuracyEntry]]
    repeats: NotRequired[list[RepeatsEntry]]
    slices: NotRequired[list[SlicesEntry]]
    slice_tests: NotRequired[SliceTestsEntry]
    causes: NotRequired[list[CausesEntry]]
    disputes: NotRequired[DisputesEntry | None]
    plan: NotRequired[list[PlanEntry]]
    judges: NotRequired[list[JudgeEntry]]
    validity: NotRequired[list[ValidityEntry]]


def json_schema() -> dict[str, Any]:
    """The JSON Schema (draft 2020-12) of a report's JSON.

    >>> json_schema()["required"]
    ['signature', 'cells', 'relations', 'overall', 'rollups', 'violations', 'decisions']
    """
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "audit report"}
    return head | _adapter().json_schema()


def check_document(document: Mapping[str, Any]) -> None:
    """Raise pydantic's ValidationError, which names each place, where a document is not as `ReportDocument` says."""
    _adapter().validate_python(document, strict=True)


@cache
def _adapter() -> "TypeAdapter[ReportDocument]":
    """What checks documents: no key that is not declared, and declared comments as descriptions."""
    from pydantic import ConfigDict, TypeAdapter

    for kind in list(globals().values()):
        if is_typeddict(kind):
            kind.__pydantic_config__ = ConfigDict(extra="forbid", use_attribute_docstrings=True)
    return TypeAdapter(ReportDocument)


if __name__ == "__main__":
    print(json.dumps(json_schema(), indent=1))
