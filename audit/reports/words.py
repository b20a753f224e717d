"""Numbers and names as reports say them: `Estimate`, a rate that formats itself, and `Say`, the words of a language."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from typing import Any

from audit.keys import canonical, fingerprint
from audit.messages import ENGLISH, catalogue, phrase, said
from audit.relations.composition import BAR
from audit.tasks import base_of, label_words, wording

UNKNOWN = "–"
PERCENT = "\N{NO-BREAK SPACE}%"

# Numbers.


def percent(rate: float | None, digits: int = 1) -> str:
    """Return a fraction as a percentage without its sign; a dash where it is unknown."""
    return UNKNOWN if rate is None else f"{100 * rate:.{digits}f}"


def count(number: int | None) -> str:
    """Return a count with separators; a dash where it is unknown."""
    return UNKNOWN if number is None else f"{number:,}"


def number(value: float | None, digits: int = 4) -> str:
    """Return a number with `digits` decimals; a dash where it is unknown."""
    return UNKNOWN if value is None else f"{value:.{digits}f}"


def signed(rate: float) -> str:
    """Return a difference in points, with its sign.

    >>> signed(0.0512), signed(-0.031), signed(0.0)
    ('+5.1', '-3.1', '0.0')
    """
    difference = f"{100 * rate:+.1f}"
    return difference[1:] if difference in ("+0.0", "-0.0") else difference


def p_number(p: float | None) -> str:
    """Return a p-value with four decimals, never 0; a dash where it is unknown."""
    return "< 0.0001" if p is not None and p < 0.0001 else number(p)


def p_text(p: float | None) -> str:
    r"""Return a p-value with three digits and what it is to `p`, as papers print it, on one line.

    >>> p_text(0.0004), p_text(0.0417), p_text(1.0)
    ('<\xa0.001', '=\xa0.042', '=\xa01')
    """
    if p is None:
        return UNKNOWN
    if p < 0.001:
        return "<\N{NO-BREAK SPACE}.001"
    return "=\N{NO-BREAK SPACE}" + ("1" if p >= 0.9995 else f"{p:.3f}".removeprefix("0"))


def chance(probability: float | None) -> str:
    r"""Return a probability in per cent; what was not seen in thousands of draws is not impossible, nor its opposite
    certain.

    >>> chance(0.25), chance(0.0), chance(1.0), chance(None)
    ('25\xa0%', '<1\xa0%', '>99\xa0%', '–')
    """
    if probability is None:
        return UNKNOWN
    rounded = "<1" if probability < 0.005 else ">99" if probability >= 0.995 else f"{100 * probability:.0f}"
    return rounded + PERCENT


@dataclass(frozen=True)
class Estimate:
    """A rate between 0 and 1 with its 95 % interval, from `n` judged groups; without a value the reason why.

    Where the answers leave bounds only, `least` and `most` are these, and `low` and `high` hold them with 95 %.

    >>> Estimate(0.25, 0.125, 0.5, 60), Estimate(None, reason="nothing is judged")
    (25.0 % [12.5–50.0], no estimate: nothing is judged)
    """

    value: float | None
    low: float | None = None
    high: float | None = None
    n: int | None = None
    reason: str | None = None
    least: float | None = None
    most: float | None = None

    def text(self, language: str = ENGLISH, sign: str = "") -> str:
        """Return it in per cent, `sign` after the rate; bounds with "to" between them, a dash for what is not known.

        >>> Estimate(0.2, 0.1, 0.35).text(), Estimate(None, 0.1, 0.6, least=0.2, most=0.5).text(), Estimate(None).text()
        ('20.0 [10.0–35.0]', '20.0 to 50.0 [10.0–60.0]', '–')
        """
        rate = "" if self.value is None else percent(self.value) + sign
        if self.value is None and self.least is not None:
            rate = phrase(language, "rate.span", least=percent(self.least), most=percent(self.most)) + sign
        within = "" if self.low is None or self.high is None else f"[{percent(self.low)}–{percent(self.high)}]"
        return f"{rate} {within}".strip() or UNKNOWN

    def __repr__(self) -> str:
        text = self.text(sign=" %")
        return f"no estimate: {self.reason or 'nothing is judged'}" if text == UNKNOWN else text


def estimate(entry: Mapping[str, Any]) -> Estimate:
    """Return a rate of a document."""
    return Estimate(**{part.name: entry.get(part.name) for part in fields(Estimate)})


class Say:
    """The words of a language: called with a code of the catalogue and its parameters, it returns the text."""

    def __init__(self, language: str = ENGLISH):
        self.language = language

    def __call__(self, code: str, /, **parameters: object) -> str:
        return phrase(self.language, code, **parameters)

    def list(self, parts: Iterable[str], separator: str = "comma") -> str:
        """Return the parts one after the other; between whole sentences the separator is `sentence`."""
        return self(f"list.{separator}").join(parts)

    def names(self, names: Iterable[str]) -> str:
        """Return names with an "and" before the last."""
        *others, last = list(names) or [""]
        return self("browse.and").join([self.list(others), last]) if others else last

    def of(self, part: int | None, whole: int | None) -> str:
        """Return `3 of 20`."""
        return self("rate.of", part=count(part), whole=count(whole))

    def rate(self, entry: Mapping[str, Any], sign: str = "") -> str:
        """Return a rate of a document with its interval or bounds, in per cent."""
        return estimate(entry).text(self.language, sign)

    def heads(self, *codes: str) -> tuple[str, ...]:
        """Return the headings of columns, without the signs of per cent: one line says that rates are so."""
        return tuple(self(f"column.{code}").removesuffix(" %") for code in codes)

    def said(self, sentence: str | None) -> str:
        """Return a sentence of a document in this language; empty where there is none."""
        return said(sentence or "", self.language)

    def cell(self, value: Any) -> str:
        """Return a value of a table: a fraction in per cent, a count with separators, a dash for what is not known."""
        if value is None or value == "":
            return UNKNOWN
        if isinstance(value, Estimate):
            return value.text(self.language)
        if isinstance(value, str):
            return said(value, self.language)
        return count(value) if isinstance(value, int) else percent(value) if isinstance(value, float) else str(value)


def capital(sentence: str) -> str:
    """Return the sentence with a capital letter."""
    return sentence[:1].upper() + sentence[1:]


# Names.


def task_name(task: str, language: str = ENGLISH) -> str:
    """Return a task, with its label scheme where it has one."""
    return wording(task, language).name + task[len(base_of(task)) :]


def family_name(family: str, language: str = ENGLISH) -> str:
    """Return a family of relations; a plug-in's as it is."""
    return BAR.join(catalogue(language).get(f"family.{part}", part) for part in family.split(BAR))


def label_name(label: str, tasks: Iterable[str], language: str = ENGLISH) -> str:
    """Return a label of one of these tasks in the middle of a sentence; in English, and a label of a user's scheme in
    every language, as it is stored."""
    if language == ENGLISH:
        return label
    return next((words for task in tasks if (words := label_words(label, task, language)) != label), label)


def signature_line(signature: Mapping[str, Any]) -> str:
    """Return the signature as one line of `key:value` pairs, as sacreBLEU prints it; the notes are shown elsewhere.

    What has a name and a version is `name@version`, with `#` and six digits that stand for its settings where it has
    some; the JSON document has them in full.

    >>> signature_line({"audit": "0.1.0", "systems": [{"name": "a", "version": "1"}], "seed": 0, "notes": ["..."]})
    'audit:0.1.0|systems:a@1|seed:0'
    """
    return "|".join(
        f"{key}:{_value(value)}" for key, value in signature.items() if key != "notes" and value is not None
    )


def _value(value: Any) -> str:
    if isinstance(value, Mapping):
        if {"name", "version"} <= set(value):
            rest = {key: part for key, part in value.items() if key not in ("name", "version") and part}
            settings = f"#{fingerprint([canonical(rest)])[:6]}" if rest else ""
            return f"{value['name']}@{value['version']}{settings}"
        pairs = [f"{key}={_value(part)}" for key, part in value.items() if part is not None and part != {}]
        return ",".join(pairs)
    if isinstance(value, list | tuple):
        return ("; " if any("," in _value(part) for part in value) else ",").join(_value(part) for part in value)
    return value if isinstance(value, str) else canonical(value)
