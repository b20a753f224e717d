"""Slices: the parts of a corpus that a property of its sources makes, such as long texts, or questions.

A slice function takes a row and says what it is in: a name, a truth, a number (rows are cut into classes of the same
size), or None. It has a name in `SLICES`, with an argument where it needs one (`phrase:not|never`). What no function is
called is a column of the corpus."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

import numpy as np

from audit.corpora.base import Row
from audit.errors import AuditError, first_line
from audit.messages import message
from audit.text.ngram_model import HeldOut, model_words
from audit.text.tools import phrase_pattern

Value = str | bool | float | None
SliceFunction = Callable[[Row], Value]
F = TypeVar("F", bound=Callable[..., Any])

GOLD, COLUMN = "gold", "column"
DOCUMENT = ("document", "cluster")  # What the column of documents is called, whatever the corpus calls it
YES, NO = message("slices.yes"), message("slices.no")
PARTS = 4  # Classes that numbers are cut into, unless the function says otherwise


@dataclass(frozen=True)
class Slicing:
    """A way to divide sources: a slice function with its name. `parts` is how many classes numbers are cut into. A
    function of the `whole` corpus is given all rows and returns a value for each. `names` are slices that are told of
    where they are empty. `column` is the column of the corpus that it reads."""

    name: str
    function: Callable[..., Any]
    parts: int = PARTS
    whole: bool = False
    names: tuple[str, ...] = ()
    column: str | None = None

    @property
    def reads_texts(self) -> bool:
        return self.column is None and self.function is not gold


def sliced(parts: int = PARTS, whole: bool = False, names: Sequence[str] = ()) -> Callable[[F], F]:
    """Decorate a slice function that needs other settings than the usual ones (those of `Slicing`)."""

    def decorate(function: F) -> F:
        function.slicing = {"parts": parts, "whole": whole, "names": tuple(names)}  # type: ignore[attr-defined]
        return function

    return decorate


def find_slicing(spec: str | SliceFunction) -> Slicing:
    """Return the slicing of a registered name, NAME or NAME:ARGUMENT, of a column of the corpus, or of a function.
    Raises AuditError for a pattern or column that is none."""
    name, colon, argument = spec.partition(":") if isinstance(spec, str) else ("", "", "")
    if not isinstance(spec, str):
        function: Callable[..., Any] = spec
        name = getattr(spec, "__name__", type(spec).__name__).strip("<>")
    elif name not in SLICES or (colon and name not in ARGUMENTS):
        return find_slicing(f"{COLUMN}:{spec}")
    elif name in ARGUMENTS and not argument.strip():
        raise AuditError(f"slice {spec!r} needs an argument; write {name}:{ARGUMENTS[name]}", parameter="slices")
    else:
        function, column = SLICES[name](argument) if colon else SLICES[name], argument
        if name == COLUMN:  # a column goes by its own name, unless that is a slice function's
            return Slicing(spec if column in SLICES else column, function, column=column)
        name = spec
    return Slicing(name, function, **getattr(function, "slicing", {}))


def divide(slicing: Slicing, rows: Sequence[Row]) -> tuple[list[str | None], list[str]]:
    """Return the slice of each row (None: in none), and the slices that have an order of their own, or may be empty, in
    order. Raises AuditError where the function fails, or returns something else than a name, a truth, a number or None.
    """
    values: list[Any] = []
    try:
        values += slicing.function(rows) if slicing.whole else map(slicing.function, rows)
        if len(values) != len(rows):
            raise ValueError(f"{len(values):,} values for {len(rows):,} rows")
    except AuditError:
        raise
    except Exception as problem:  # a function of the user's may raise anything
        at = "" if slicing.whole else f" at the row {rows[len(values)].key}"
        reason = f"{type(problem).__name__}: {first_line(problem)}"
        raise AuditError(f"slice {slicing.name!r} failed{at}: {reason}", parameter="slices") from problem
    kinds = {bool if isinstance(value, bool | np.bool_) else type(value) for value in values if value is not None}
    if kinds == {bool}:
        return [None if value is None else YES if value else NO for value in values], [YES, NO]
    if kinds and all(issubclass(kind, int | float | np.number) for kind in kinds):
        return cut([None if value is None else float(value) for value in values], slicing.parts)
    if other := [kind.__name__ for kind in kinds if not issubclass(kind, str)]:
        allowed = "allowed are a name, yes or no (bool), a number, or None"
        raise AuditError(f"slice {slicing.name!r} is {other[0]} for some rows; {allowed}", parameter="slices")
    names = [" ".join(value.split()) if type(value) is str else value for value in values]
    return [name or None for name in names], list(slicing.names)


def cut(values: Sequence[float | None], parts: int) -> tuple[list[str | None], list[str]]:
    """Return numbers cut at quantiles into `parts` classes, named by the least and the most in each; equal ones stay
    together, so that there may be fewer. NaN is None.

    >>> cut([1, 1, 1, 2, 3, 9.5, None], 2)
    (['1', '1', '1', '2–9.5', '2–9.5', '2–9.5', None], ['1', '2–9.5'])
    """
    numbers = np.array([np.nan if value is None else value for value in values], float)
    held = np.isfinite(numbers)
    if not held.any():
        return [None] * len(numbers), []
    ordered = np.sort(numbers[held])
    # A class begins at the first number behind a share of all; equal numbers begin in one place.
    starts = [ordered[0], *(ordered[len(ordered) * part // parts] for part in range(1, parts))]
    starts = sorted({float(start) for start in starts})
    code = np.searchsorted(starts, numbers, side="right") - 1
    names = []
    for at in range(len(starts)):
        inside = numbers[held & (code == at)]
        ends = [f"{end:.3g}" if end < 1000 else f"{end:,.0f}" for end in (inside.min(), inside.max())]
        names.append(ends[0] if ends[0] == ends[1] else "–".join(ends))
    if len(set(names)) < len(names):  # three digits do not tell them apart
        names = [f"{start!r}–" for start in starts]
    return [names[at] if is_number else None for at, is_number in zip(code.tolist(), held.tolist(), strict=True)], names


# The slice functions that come with audit.


def gold(row: Row) -> Value:
    return row.gold


def column(name: str) -> SliceFunction:
    """A column of the corpus (an attribute of its sources); `document` is the one that was read as such."""

    def value(row: Row) -> Value:
        held = row.attributes.get(name, row.cluster if name in DOCUMENT else None)
        return None if held is None else str(held)

    return value


@sliced(whole=True)
def length(rows: Sequence[Row]) -> list[int]:
    """The number of words (of characters, in languages without blanks) of all texts of an input, in quarters."""
    return [
        sum(
            sum(word[0].isalnum() for word in model_words(text, language))
            for text, language in zip(row.input.texts, row.input.languages, strict=False)
        )
        for row in rows
    ]


@sliced(parts=3, whole=True)
def perplexity(rows: Sequence[Row]) -> list[float]:
    """How unusual the texts are under an n-gram model of the corpus's other texts in their language, in thirds."""
    texts = ["\n".join(row.input.texts) for row in rows]
    languages = np.array([row.input.languages[0] for row in rows], object)
    scores = np.full(len(rows), np.nan)
    for language in dict.fromkeys(languages.tolist()):
        places = np.flatnonzero(languages == language)
        own = [texts[place] for place in places]
        models = HeldOut(own, language, folds=5, words=np.inf)
        by_text = {text: models.perplexity(text) for text in set(own)}
        scores[places] = [by_text[text] for text in own]
    return [float(score) for score in scores]


def _says(row: Row, name: str) -> bool | None:
    """Whether a text of the row has a phrase of this name; None where none of its languages has such phrases."""
    pairs = [
        (phrase_pattern(name, language), text)
        for text, language in zip(row.input.texts, row.input.languages, strict=False)
    ]
    counted = [(pattern, text) for pattern, text in pairs if pattern is not None]
    return any(pattern.search(text) for pattern, text in counted) if counted else None


_GENDERS = tuple(message(f"slices.{code}") for code in ("female", "male", "both", "none_named"))


@sliced(names=_GENDERS)
def gender(row: Row) -> Value:
    """Which gender the texts name, by pronouns, kin words and titles of their language: female, male, both or none."""
    female, male = (_says(row, name) for name in ("female", "male"))
    if female is None or male is None:
        return None
    return _GENDERS[2 if female and male else 0 if female else 1 if male else 3]


def phrase(pattern: str) -> SliceFunction:
    """Whether a text has one of these phrases, a regular expression, in any case; what is in ASCII finds whole
    words."""
    whole = rf"(?:(?<!\w)(?=\w)|(?=\W))(?:{pattern})(?:(?<=\w)(?!\w)|(?<=\W))"
    try:
        re.compile(pattern)
        compiled = re.compile(whole if pattern.isascii() else pattern, re.IGNORECASE)
    except re.error as problem:
        refused = f"slice phrase: {pattern!r} is no regular expression: {problem}"
        raise AuditError(refused, parameter="slices") from None
    return lambda row: any(compiled.search(text) for text in row.input.texts)


SLICES: dict[str, Callable[..., Any]] = {
    GOLD: gold,
    COLUMN: column,
    "length": length,
    "perplexity": perplexity,
    "negation": partial(_says, name="negation"),
    "question": partial(_says, name="question"),
    "gender": gender,
    "phrase": phrase,
}  # Slice functions by name; of those with an argument, makers of one. A plug-in adds its own
ARGUMENTS = {COLUMN: "NAME", "phrase": "PATTERN"}  # What stands behind the colon of those that have an argument
