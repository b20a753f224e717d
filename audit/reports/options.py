"""The options of reports and comparisons, said once for the library, the command line and plans; and users' weights."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from annotated_types import Ge, Le

from audit.options import Options, Told, listed


@dataclass(frozen=True)
class Weights:
    """Weights by relation, 0 or more, and the file they came from. Relations that it leaves out weigh 0."""

    source: str
    of: Mapping[str, float]

    def over(self, relations: list[str]) -> dict[str, float]:
        """Return weights of these relations, which sum to 1. Raises UnknownName for a weight of a relation that is not
        there.

        >>> Weights("mine.csv", {"MR1.1": 3, "MR2.1": 1}).over(["MR1.1", "MR1.2", "MR2.1"])
        {'MR1.1': 0.75, 'MR1.2': 0.0, 'MR2.1': 0.25}
        """
        from audit.errors import UnknownName
        from audit.statistics.orders import normalised

        if unknown := [relation for relation in self.of if relation not in relations]:
            raise UnknownName("relation with a weight", unknown[0], relations)
        shares = normalised([self.of.get(relation, 0.0) for relation in relations])
        return dict(zip(relations, shares.tolist(), strict=True))


def read_weights(file: Any) -> Any:
    """Return the weights of a table with the columns relation and weight; what is no path is returned as it is.

    Raises BadFile or BadRow for what cannot be read, a weight that is not a number from 0, a relation that is there
    twice, and where all weights are 0.
    """
    if not isinstance(file, str | Path):
        return file
    import pandas as pd

    from audit.errors import BadFile
    from audit.files import read_table, refuse_bad_rows

    table = read_table(file, ("relation", "weight"))
    number = pd.to_numeric(table["weight"], errors="coerce")
    wrong = table[~number.between(0, float("inf"), inclusive="left") | table["relation"].duplicated()]
    allowed = "allowed is a number from 0, once for each relation"
    bad = [(line, f"relation {name} has the weight {text!r}; {allowed}") for line, name, text in wrong.itertuples()]
    refuse_bad_rows(file, bad, len(table))
    if not number.sum():
        raise BadFile(f"{file}: no relation has a weight above 0; give at least one")
    return Weights(Path(file).name, dict(zip(table["relation"], number.astype(float).tolist(), strict=True)))


@dataclass(frozen=True, kw_only=True)
class StandingOptions(Options):
    """How systems are ranked, of whatever rates."""

    target: Annotated[
        Literal["population", "corpus"] | None,
        Told("population (default): texts to come; or corpus: this one (default with a proxy)", "NAME"),
    ] = None
    delta: Annotated[float, Ge(0), Le(1), Told("systems whose SR_g differ by no more count as equal", "D")] = 0.0
    weights: Annotated[
        Any,
        Told("one ranking by weights: a CSV with the columns relation,weight", "FILE", read=read_weights, file=True),
    ] = None


_PROXY = "cheap signals: disagreement, low_confidence, reference, judge:NAME, or a numeric column of the corpus"
_SLICES = (
    "rates by slice, who is best in each, and the worst: length, perplexity, negation, question, gender, gold, "
    "phrase:PATTERN, or a column of the corpus with at most 50 values; may be given several times"
)


@dataclass(frozen=True, kw_only=True)
class ReportOptions(StandingOptions):
    """What a report is made of."""

    answers: Annotated[Literal["both", "people", "gold"], Told("whose answers count", positional=True)] = "both"
    study: Annotated[int | None, Told("one study of the database (default: all)", "ID", positional=True)] = None
    proxy: Annotated[Sequence[str], Told(_PROXY, "NAME,...", commas=True, read=listed)] = ()
    slices: Annotated[Sequence[str | Callable[..., Any]], Told(_SLICES, "NAME", "--slice", read=listed)] = ()
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


_RELATIONS = "only these, named as in the report (default: all)"
_MEASURES = "these (default: edit-distance, replaced, bleu, perplexity-ratio and what plug-ins add)"
_VALID = "a limit to try: how many it would reject; as of audit run; repeatable"


@dataclass(frozen=True, kw_only=True)
class FollowUpOptions(Options):
    """What is measured of follow-ups."""

    relations: Annotated[Sequence[str], Told(_RELATIONS, "A,B", commas=True, read=listed, positional=True)] = ()
    measures: Annotated[Sequence[str], Told(_MEASURES, "A,B", commas=True, read=listed, positional=True)] = ()
    valid: Annotated[Sequence[str], Told(_VALID, '"replaced<=0.4"', read=listed)] = ()
    most: Annotated[int, Ge(1), Told("groups of each relation that are measured", "N")] = 1_000


_ORDER = "the labels in their order, which allows the levels ordinal, linear and quadratic"


@dataclass(frozen=True, kw_only=True)
class CoefficientOptions(Options):
    """Which coefficients of agreement there are, beyond those of any labels."""

    level: Annotated[
        Literal["nominal", "ordinal", "interval", "ratio", "linear", "quadratic"] | None,
        Told("the coefficients of this level, too, where the labels are numbers or have an order"),
    ] = None
    order: Annotated[Sequence[str] | None, Told(_ORDER, "A,B,C", commas=True, read=listed)] = None
