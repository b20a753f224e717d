"""The report as JSON: every key of `audit report --json` and `audit rerank --json`, typed.

`ReportDocument` is what `audit.reports.build` makes and what the terminal, HTML, charts, app and library render.
`json_schema` gives its JSON Schema, which the documentation publishes. Rates are fractions between 0 and 1, counts are
whole numbers, and whatever is unknown is null. A rate that is estimated is an `EstimateEntry`.
"""

import json
import math
from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, Literal, NotRequired

import pandas as pd
from typing_extensions import TypedDict, is_typeddict  # Python's own, before 3.12, is not enough for pydantic

if TYPE_CHECKING:
    from pydantic import TypeAdapter

Rate = float | None
Entry = dict[str, Any]
"""A small part of a document: values by name."""
State = Literal["sure", "likely", "open", "level", "looks", "apart", "unknown", "one_system"]
"""How sure it is which system is best."""


def plain(value: Any) -> Any:
    """A value as JSON has it: None if it is missing or NaN, of Python's own type instead of NumPy's.

    >>> plain(float("nan")), plain(0.5)
    (None, 0.5)
    """
    if value is None or value is pd.NA or (isinstance(value, float) and math.isnan(value)):
        return None
    return value.item() if hasattr(value, "item") else value


class EstimateEntry(TypedDict):
    """A rate with the ends of its 95 % interval, from `n` judged groups or outputs; without a value the `reason`.

    Where answers leave bounds only, `least` and `most` are these in place of a value, and the interval is theirs.
    """

    value: Rate
    low: Rate
    high: Rate
    least: Rate
    most: Rate
    n: int | None
    reason: str | None


ENDS = ("value", "low", "high", "least", "most")


def estimated(rate: Any, n: int | None = None, reason: str | None = None) -> EstimateEntry:
    """Return what statistics say of a rate as documents have it: value, low and high, one with these names, or None.

    >>> estimated((0.5, 0.25, 0.75), 8)["high"], estimated(None, reason="nothing is judged")["reason"]
    (0.75, 'nothing is judged')
    """
    values = list(rate) if isinstance(rate, tuple) else [getattr(rate, end, None) for end in ENDS]
    if hasattr(rate, "rate"):
        values[0] = rate.rate
    known = dict(zip(ENDS, map(plain, values), strict=False))
    return {**dict.fromkeys(ENDS), **known, "n": n, "reason": reason}  # type: ignore[typeddict-item]


def less(rate: EstimateEntry) -> EstimateEntry:
    """Return 1 minus a rate: the lower end of one is the upper end of the other."""
    ends = zip(ENDS, ("value", "high", "low", "most", "least"), strict=True)
    turned = {end: None if rate[of] is None else 1 - rate[of] for end, of in ends}  # type: ignore[literal-required]
    return {**rate, **turned}  # type: ignore[typeddict-item]


class Signature(TypedDict, total=False):
    """What the numbers were made from and how, so that equal signatures mean equal reports.

    A report of totals from a file has `file` in place of studies, samples, systems, relations and answers.
    """

    audit: str
    """The version of audit."""
    file: str
    sha: str
    studies: list[Entry]
    samples: list[Entry]
    systems: list[Entry]
    relations: list[Entry]
    answers: Entry
    """Whose answers count (`whose`), and how many questions each origin settled."""
    words: dict[str, int]
    """By task, the version of the words that the users set for it; absent where all words are audit's own."""
    holds: Any
    estimator: str
    audits: dict[str, str]
    proxy: Entry
    causes: int
    slices: list[str]
    weights: str
    primary: list[Entry]
    interval: str | None
    confidence: float | None
    target: str
    """`population`: all texts like these; `corpus`: the texts that were run."""
    delta: float
    """The difference of two systems' rates below which they count as equal."""
    draws: Entry
    notes: list[str]
    """What has to be known to read the numbers."""


# Cells, and cells together.


class Place(TypedDict):
    """What cells, relations and tables have in common: what they belong to."""

    task: str
    study: int | str | None
    corpus: str | None


class GenuineRates(TypedDict):
    """SR_o, R_FS and SR_g."""

    sr_observed: Rate
    fs_rate: EstimateEntry
    sr_genuine: EstimateEntry


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


class CellEntry(Place, Counts, GenuineRates):
    """One system under one relation of one study: counts, and rates among the groups that it applies to."""

    relation: str
    system: str


class OverallEntry(Counts, GenuineRates):
    """Sums over all cells; rates over the `cells_covered`, those that have an estimate or, where none has, bounds."""

    relations: int
    relations_compared: int
    systems: int
    cells: int
    cells_estimated: int
    cells_waiting: int
    cells_covered: int
    satisfied_covered: int | None
    waiting_distinct: bool
    waiting_groups: NotRequired[int]
    audits_waiting: NotRequired[int | None]
    best_changes_sure: int
    best_changes_open: int


class RollupEntry(GenuineRates):
    """Cells taken together, by relation, family, system, or all; `missing` are those that lack an estimate."""

    by: str
    name: str
    task: str | None
    cells: int
    missing: list[Entry]


class ViolationRate(TypedDict):
    """Observed and genuine violation rate of one system in a row of the violation table."""

    system: str
    groups: int | None
    vr_observed: Rate
    vr_genuine: EstimateEntry


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


# How systems stand to each other.


class Ranks(TypedDict):
    """How sure a system's place among others is; `reason` says why that is not known."""

    system: str
    p_best: Rate
    """Probability that no system is better by more than delta, on the side of caution."""
    rank_low: int | None
    rank_high: int | None
    reason: str | None


class RankedEntry(Ranks):
    """A system under a relation, by the rates of its own groups."""

    sr_observed: Rate
    sr_genuine: Rate


class CommonEntry(TypedDict):
    """The groups that apply to all systems of a relation, and the most that two of them share."""

    groups: int
    most_groups: int
    deciding: int
    judged: int
    reason: str | None


class OvertakingEntry(TypedDict):
    """A system that becomes the best one, and how sure that is."""

    system: str
    p: float | None
    p_holm: float | None
    sure: bool


class PairEntry(TypedDict):
    """SR_g of `system` minus that of `other`, with the ends of its 95 % interval, or where groups are open of what is
    possible."""

    system: str
    other: str
    difference: float | None
    low: Rate
    high: Rate
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
    best_own: list[str] | None
    common: CommonEntry | None
    overtaking: list[OvertakingEntry]
    ranking: list[RankedEntry]
    pairs: list[PairEntry]
    carry: NotRequired[Entry | None]


class PreferredSystem(Ranks):
    """A system in the order by a mean over relations."""

    score_observed: Rate
    score: EstimateEntry


class WeightedRanking(TypedDict):
    """The systems by their rates over weighted relations."""

    ranking: list[PreferredSystem]
    winner_observed: list[str] | None
    winner: list[str] | None


class SystemAccuracy(TypedDict):
    """A system's share of right outputs among the sources that have a label; n are its outputs there."""

    system: str
    accuracy: EstimateEntry


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


# Repeats and slices.


class RepeatedCell(TypedDict):
    """How steady a cell's verdicts are over calls, or the reason why that is not known.

    `unstable` groups, their `share`, do not have the same verdict by every call. `vr_by_chance` is the violation rate
    that randomness alone would make, were each follow-up the source once more. Of the `violated` groups
    `always_violated` are so by every call.
    """

    relation: str
    system: str
    groups: int | None
    calls: int | None
    unstable: int | None
    share: EstimateEntry
    vr_first: Rate
    vr_mean: Rate
    vr_by_chance: Rate
    violated: int | None
    always_violated: int | None
    reason: str | None


class SliceRate(GenuineRates):
    """Rates of a system on the sources of a slice, over all relations (`relation` null) or under one."""

    slice: str | None
    relation: str | None
    system: str
    sources: int
    groups: int
    violated: int
    judged: int
    false: int
    vr_observed: EstimateEntry
    vr_genuine: EstimateEntry


class SliceTest(Place):
    """The violation rate (`observed` or `genuine`) of a system in a slice against that of all other sources of the
    study. `q` is the least false discovery rate at which the slice is among the `found`."""

    by: str
    slice: str
    system: str
    rate: str
    groups: int
    clusters: int
    judged: int | None
    inside: float
    outside: float
    difference: float
    low: Rate
    high: Rate
    p: float
    q: float
    found: bool


class ReportDocument(TypedDict):
    """A report. Keys that only some reports have are absent in the others; null is: asked for, and not known."""

    signature: Signature
    cells: list[CellEntry]
    relations: list[RelationResultEntry]
    overall: OverallEntry
    rollups: list[RollupEntry]
    violations: list[ViolationTable]
    decisions: list[DecisionEntry]
    examples: NotRequired[list[Entry]]
    primary: NotRequired[list[PrimaryEntry]]
    sensitivity: NotRequired[Entry | None]
    accuracy: NotRequired[list[Entry]]
    repeats: NotRequired[list[Entry]]
    slices: NotRequired[list[Entry]]
    slice_tests: NotRequired[Entry]
    causes: NotRequired[list[Entry]]
    disputes: NotRequired[Entry | None]
    plan: NotRequired[list[Entry]]
    judges: NotRequired[list[Entry]]
    validity: NotRequired[list[Entry]]


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
