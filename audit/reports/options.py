"""The options of reports and comparisons: said once for the library, the command line and plans."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from annotated_types import Ge, Le

from audit.options import Options, Told, listed


def _weights(value: Any) -> Any:
    if not isinstance(value, str | Path):
        return value
    from audit.reports.preference import read_weights

    return read_weights(str(value))


@dataclass(frozen=True, kw_only=True)
class StandingOptions(Options):
    """How systems are ranked, of whatever rates."""

    target: Annotated[
        Literal["population", "corpus"] | None,
        Told("population (default): texts to come; or corpus: this one (default with a proxy)", "NAME"),
    ] = None
    delta: Annotated[float, Ge(0), Le(1), Told("systems whose SR_g differ by no more count as equal", "D")] = 0.0
    weights: Annotated[
        Any, Told("one ranking by weights: a CSV with the columns relation,weight", "FILE", read=_weights, file=True)
    ] = None


@dataclass(frozen=True, kw_only=True)
class ReportOptions(StandingOptions):
    """What a report is made of."""

    answers: Annotated[Literal["both", "people", "gold"], Told("whose answers count", positional=True)] = "both"
    study: Annotated[int | None, Told("one study of the database (default: all)", "ID", positional=True)] = None
    proxy: Annotated[
        Sequence[str],
        Told(
            "cheap signals: disagreement, low_confidence, reference, judge:NAME, or a numeric column of the corpus",
            "NAME,...",
            commas=True,
            read=listed,
        ),
    ] = ()
    slices: Annotated[
        Sequence[str | Callable[..., Any]],
        Told(
            "rates by slice, who is best in each, and the worst: length, perplexity, negation, question, gender, gold, "
            "phrase:PATTERN, or a column of the corpus with at most 50 values; may be given several times",
            "NAME",
            "--slice",
            read=listed,
        ),
    ] = ()
    examples: Annotated[
        int | None, Ge(0), Told("false satisfactions with their texts (default: 20 in a file, none in JSON)", "N")
    ] = None


@dataclass(frozen=True, kw_only=True)
class CompareOptions(Options):
    """What two versions of a system are compared by."""

    answers: Annotated[Literal["both", "people", "gold"], Told("whose answers count")] = "both"
    target: Annotated[
        Literal["population", "corpus"], Told("population: texts to come; or corpus: this one", "NAME")
    ] = "population"
    show: Annotated[int, Ge(0), Told("groups that got worse, with their texts and outputs", "N")] = 10


@dataclass(frozen=True, kw_only=True)
class FollowUpOptions(Options):
    """What is measured of follow-ups."""

    relations: Annotated[
        Sequence[str],
        Told("only these, named as in the report (default: all)", "A,B", commas=True, read=listed, positional=True),
    ] = ()
    measures: Annotated[
        Sequence[str],
        Told(
            "these (default: edit-distance, replaced, bleu, perplexity-ratio and what plug-ins add)",
            "A,B",
            commas=True,
            read=listed,
            positional=True,
        ),
    ] = ()
    valid: Annotated[
        Sequence[str],
        Told("a limit to try: how many it would reject; as of audit run; repeatable", '"replaced<=0.4"', read=listed),
    ] = ()
    most: Annotated[int, Ge(1), Told("groups of each relation that are measured", "N")] = 1_000


@dataclass(frozen=True, kw_only=True)
class CoefficientOptions(Options):
    """Which coefficients of agreement there are, beyond those of any labels."""

    level: Annotated[
        Literal["nominal", "ordinal", "interval", "ratio", "linear", "quadratic"] | None,
        Told("the coefficients of this level, too, where the labels are numbers or have an order"),
    ] = None
    order: Annotated[
        Sequence[str] | None,
        Told(
            "the labels in their order, which allows the levels ordinal, linear and quadratic",
            "A,B,C",
            commas=True,
            read=listed,
        ),
    ] = None
