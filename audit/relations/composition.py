"""Compositions: relations one after the other, `typos | negated-hypothesis`, each changing what the one before made.

What a composition expects and carries follows from its parts. An expectation is a relation between two outputs, so that
of a composition is the product of those of its parts: what must hold between the source's output and the last one,
whatever the outputs between them are, which nobody asks for. Keeping the label is the identity; labels that lead to
labels compose as maps; a higher score is a higher score again only where both parts raise it. Where nothing that can be
checked follows, the composition is refused.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from typing import Any

from audit.errors import AuditError
from audit.messages import joined, message, with_commas
from audit.relations.base import (
    ANY,
    Carry,
    Check,
    Fixed,
    Joint,
    Plain,
    Relation,
    Rewriting,
    Rule,
    Seen,
    Source,
    Verdict,
    Words,
    nothing,
    verdict_of,
)
from audit.relations.expect import (
    Labelled,
    LabelsAlone,
    Mapped,
    Opinionated,
    SimilarText,
    different,
    equivalent,
    goes_down,
    goes_up,
    is_regardless,
    on_documents,
    opinionated,
    same_interval,
    same_label,
    stronger,
)
from audit.tasks import Input, Output, base_of, get_task
from audit.text import Analysis

BAR = " | "
"""Stands between the names of a composition's parts."""


def parts_of(name: str) -> list[str]:
    """The names in the name of a composition; of any other relation its own.

    >>> parts_of("typos|upper-case"), parts_of("MR1.1")
    (['typos', 'upper-case'], ['MR1.1'])
    """
    return [part.strip() for part in name.split("|")]


def summary_from(catalogue: Mapping[str, str], task: str, name: str, english: str) -> str:
    """What a relation does in the words of a catalogue of messages, of a composition part by part; `english` where it
    has none. The catalogue has what is changed and what is expected apart, as they stand in English, with a semicolon.

    >>> words = {"relation.A": "Aa", "relation.mood.B": "Bb", "expects.it stays": "same"}
    >>> summary_from(words, "mood", "A", "One thing; it stays."), summary_from(words, "mood", "A", "A thing; it goes.")
    ('Aa；same。', 'A thing; it goes.')
    >>> summary_from(words, "mood", "A | B", "1. One thing; it stays. 2. Another; it stays.")
    '1. Aa；same。 2. Bb；same。'
    """
    parts = parts_of(name)
    summaries = [english] if len(parts) == 1 else re.split(r"(?:^| )\d+\. ", english)[1:]
    said = []
    for part, summary in zip(parts, summaries, strict=False):
        changed = catalogue.get(f"relation.{base_of(task)}.{part}") or catalogue.get(f"relation.{part}")
        expected = catalogue.get(f"expects.{summary.rstrip('.').rpartition('; ')[2]}")
        if not changed or not (expected or changed.endswith("。")):
            return english
        said.append(changed if expected is None else f"{changed}；{expected}。")
    if len(said) < len(parts):
        return english
    return _numbered(said) if len(said) > 1 else said[0]


def _numbered(summaries: Sequence[str]) -> str:
    return " ".join(f"{number}. {summary}" for number, summary in enumerate(summaries, start=1))


@dataclass(frozen=True, kw_only=True)
class Composed(Fixed):
    """Relations one after the other; its groups are a source and what the last part made, without what lies between.

    Each part draws with its own generator, so that the first step is that of the part alone. There is a group only
    where every part leaves its mark: not where one does not apply, where a text comes back that was there before, or
    where the same texts come out without one of the parts.
    """

    parts: tuple[Fixed, ...]
    check: Check

    def make_group(self, source: Source) -> tuple[list[Input], Words]:
        return self.make_groups([source])[0]

    def make_groups(self, sources: Sequence[Source]) -> list[tuple[list[Input], Words]]:
        return [(follow_ups, ()) for follow_ups in self._made(sources)]

    def _made(self, sources: Sequence[Source]) -> list[list[Input]]:
        """The follow-ups of each source; none where a part leaves no trace, since the same comes out without it."""
        steps = list(zip(self.parts, self._seeds, strict=True))
        made = self._through(sources, steps)
        for left_out in range(len(steps) - 1):  # without the last one it is what lies before the end
            at = [place for place, follow_ups in enumerate(made) if follow_ups]
            others = self._through([sources[place] for place in at], steps[:left_out] + steps[left_out + 1 :])
            for place, follow_ups in zip(at, others, strict=True):
                if follow_ups == made[place]:
                    made[place] = []
        return made

    def _through(self, sources: Sequence[Source], steps: Sequence[tuple[Fixed, str]]) -> list[list[Input]]:
        """What these parts make of each source, one after the other; nothing where one makes nothing, or a text that
        was there before. A part is asked for all sources at once: it may ask a model."""
        made, seen = [[source.input] for source in sources], [[source.input] for source in sources]
        for place, (part, seed) in enumerate(steps):
            at = [index for index, inputs in enumerate(made) if inputs]
            if any(len(made[index]) > 1 for index in at):
                raise AuditError(_several(self.name, steps[place - 1][0]))
            own = [_source(made[index][0], sources[index], seed) for index in at]
            if part.grammar:
                Analysis.tag_all([source.analysis for source in own])
            for index, (follow_ups, _) in zip(at, part.make_groups(own), strict=True):
                made[index] = [] if any(item in seen[index] for item in follow_ups) else follow_ups
                seen[index] += follow_ups
        return made

    @cached_property
    def _seeds(self) -> list[str]:
        """What is added to the seed for each part: nothing, unless its name was there before."""
        names = [part.name for part in self.parts]
        return [f"|{number}" if (number := names[:place].count(name)) else "" for place, name in enumerate(names)]

    def verdict(self, outputs: Sequence[Output], note: Words) -> Verdict:
        return verdict_of(self.name, self.check(outputs))

    def asks(self) -> Sequence[str]:
        return list(dict.fromkeys(version for part in self.parts for version in part.asks()))

    def lacks(self, language: str) -> str | None:
        return next(filter(None, (part.lacks(language) for part in self.parts)), None)

    def configured(self, changes: Mapping[str, object]) -> "list[tuple[Fixed, dict[str, object]]]":
        """The parts, each with those of the changed parameters that are its own: `share` of every part that has it,
        `typos.share` of one. Raises AuditError for one that no part has."""
        own: list[dict[str, object]] = [{} for _ in self.parts]
        for name, value in sorted(changes.items(), key=lambda change: change[0] in self.params):  # of one part: last
            spelled = [(place, key, part) for place, part in enumerate(self.parts) for key in part.params]
            at = [(place, key) for place, key, part in spelled if name in (key, f"{part.name}.{key}")]
            if not at:
                has = list(self.params) or message("list.none")
                raise AuditError(f"relation {self.name!r} has no parameter {name!r}; its parts have {with_commas(has)}")
            for place, key in at:
                own[place][key] = value
        return list(zip(self.parts, own, strict=True))


def _source(item: Input, source: Source, seed: str) -> Source:
    if item is source.input and not seed:
        return source
    return Source(item, Analysis(item.text, item.languages[0]), source.seed + seed)


def _several(name: str, part: Relation) -> str:
    return (
        f"relation {name!r} cannot be made: its part {part.name!r} makes several follow-ups, of which only the "
        "last part may; put it at the end"
    )


def compose(*relations: Relation) -> Composed:
    """The composition of relations, the first one first; `a | b` is the same.

    Raises AuditError for fewer than two, for relations of different tasks, units or languages, for one that hangs on
    what a system says, and for expectations of which nothing follows.

    >>> from audit.relations import get_relation
    >>> both = compose(get_relation("inference", "upper-case"), get_relation("inference", "negated-hypothesis"))
    >>> both.name, sorted(both.carry({"entailment"}))
    ('upper-case | negated-hypothesis', ['contradiction'])
    """
    parts = [
        part for relation in relations for part in (relation.parts if isinstance(relation, Composed) else [relation])
    ]
    name = BAR.join(part.name for part in parts)
    if len(parts) < 2:
        raise AuditError("a composition has at least two relations")
    fixed = tuple(part for part in parts if isinstance(part, Fixed))
    if asking := next((part for part in parts if not isinstance(part, Fixed)), None):
        raise AuditError(
            f"relation {name!r} cannot be made: what {asking.name!r} makes depends on what a system says; only "
            "relations whose groups are the same for every system compose"
        )
    _one(name, [(part.name, part.task) for part in parts], "are of different tasks", "task")
    units = [(part.name, part.unit) for part in parts if part.unit != "any"]
    _one(name, units, "are about different units", "unit")
    limited = [part.languages for part in parts if part.languages != ANY]
    languages = tuple(code for code in limited[0] if all(code in codes for codes in limited)) if limited else ANY
    if not languages:
        codes = [(part.name, ", ".join(part.languages)) for part in parts]
        _one(name, codes, "read different languages", "language")
    counterparts = [part.counterpart for part in parts]
    return Composed(
        task=parts[0].task,
        name=name,
        family=BAR.join(dict.fromkeys(part.family for part in parts)),
        summary=_numbered([part.summary for part in parts]),
        unit=units[0][1] if units else "any",
        carry=in_turn([part.carry for part in parts]),
        languages=languages,
        version=BAR.join(part.version for part in parts),
        params={f"{part.name}.{key}": value for part in parts for key, value in part.params.items()},
        accepts={
            spelled: kinds
            for part in parts
            for key, kinds in part.accepts.items()
            for spelled in (key, f"{part.name}.{key}")
        },
        counterpart=BAR.join(counterparts) if all(counterparts) else "",
        needs=tuple(dict.fromkeys(module for part in parts for module in part.needs)),
        grammar=any(part.grammar for part in parts),
        default=False,
        may_break="; ".join(dict.fromkeys(part.may_break for part in parts if part.may_break)),
        parts=fixed,
        check=_check(name, fixed),
    )


def _one(name: str, values: Iterable[tuple[str, Any]], differ: str, kind: str) -> None:
    """Raises AuditError where the values of the parts are not all the same."""
    by_part = list(dict.fromkeys(values))
    if len({value for _, value in by_part}) > 1:
        said = with_commas([f"{part}: {value}" for part, value in by_part])
        raise AuditError(
            f"relation {name!r} cannot be made, since its parts {differ} ({said}); compose relations of one {kind}"
        )


def spread(relation: Relation, share: float) -> Relation | None:
    """`on_documents` of a relation on sentences, or of each such part of a composition; None where that is none.

    Raises as `on_documents` does.
    """
    if isinstance(relation, Plain):
        return on_documents(relation, share)
    if not isinstance(relation, Composed):
        return None
    parts = [spread(part, share) if part.unit == "sentence" else part for part in relation.parts]
    return None if None in parts else compose(*(part for part in parts if part is not None))


# What is carried: the answers, from part to part.


@dataclass(frozen=True, slots=True)
class _InTurn:
    """Rules one after the other. A class, not a closure: workers are sent it by pickle."""

    rules: tuple[Rule, ...]

    def __call__(self, answer: str, source: Seen | None, follow_up: Seen | None) -> frozenset[str] | None:
        allowed = frozenset({answer})
        for rule in self.rules:
            results = [rule(one, source, follow_up) for one in sorted(allowed)]
            if any(result is None for result in results):
                return None
            allowed = frozenset[str]().union(*(result for result in results if result is not None))
        return allowed


def in_turn(carries: Sequence[Carry]) -> Carry:
    """What relations carry one after the other; an answer that one of them does not carry is not carried.

    A rule that looks at the members sees the source and the last follow-up alone: it counts where all others carry
    every answer unchanged, or have the same rule; else nothing is carried.

    >>> from audit.relations.base import maps, unchanged
    >>> swapped = maps({"yes": ["no"], "no": ["yes"]})
    >>> in_turn([swapped, unchanged]) is swapped, in_turn([swapped, swapped])({"yes"})
    (True, frozenset({'yes'}))
    """
    changing = [carry for carry in carries if not carry.preserves_truth or carry.reads]
    if not changing:
        return carries[0]
    if len(changing) == 1 or any(carry.reads for carry in changing):
        return changing[0] if len(set(changing)) == 1 else nothing
    if nothing in changing:
        return nothing
    rules = [
        rule for carry in changing for rule in (carry.rule.rules if isinstance(carry.rule, _InTurn) else (carry.rule,))
    ]
    return Carry(_InTurn(tuple(rules)))


# What is expected: one check of the source's and the last output.


_NO_EXPECTATION = "has no expectation that could be checked"


class _Refused(Exception):
    """Nothing that can be checked follows."""

    def __init__(self, reason: str):
        super().__init__(reason)
        self.reason = reason


def _check(name: str, parts: Sequence[Fixed]) -> Check:
    """The check of the composition. Raises AuditError that says which part expects what, where there is none."""
    labels = tuple(get_task(parts[0].task).labels)
    try:
        checks = [_of(part) for part in parts]
        for part, check in zip(parts[:-1], checks, strict=False):
            if check in (goes_up, goes_down):
                raise AuditError(_several(name, part))
        product: Check = reduce(lambda first, second: _product(first, second, labels), checks)
        return product
    except _Refused as refused:
        # What a part expects stands at the end of its summary, behind a semicolon.
        expected = [f"{part.name} expects: {part.summary.rpartition('; ')[2].rstrip('.')}" for part in parts]
        said = joined("list.also", expected)
        raise AuditError(f"relation {name!r} {refused.reason}: {said}; leave one of them out") from None


def _of(part: Fixed) -> Any:
    """The check of a part, which has to be one of outputs alone. Raises _Refused."""
    check: Any = getattr(part, "check", None)
    if check is same_label or check is same_interval:
        return equivalent if check is same_label else check
    if not isinstance(part, Plain | Joint) or isinstance(part, Rewriting):
        raise _Refused(f"{_NO_EXPECTATION}, since one hangs on the words that were replaced")
    return getattr(check, "composes_as", check)


def _product(first: Any, second: Any, labels: Sequence[str]) -> Any:
    """What must hold between the first output and the third, where `first` holds between the first and the second, and
    `second` between the second and the third. Raises _Refused where that is nothing."""
    if isinstance(first, Opinionated):
        product = _product(first.check, second, labels)
        return product if isinstance(product, Opinionated) else opinionated(product)
    if isinstance(second, Opinionated):
        if not _keeps(first):
            raise _Refused(f"{_NO_EXPECTATION}, since a later part applies to some labels alone")
        return opinionated(_product(first, second.check, labels))
    if is_regardless(second):
        return second
    if first is second is stronger:
        return stronger
    if {goes_up, goes_down} & {second} and first is stronger:
        raise _Refused("contradicts itself")
    if isinstance(first, SimilarText) and isinstance(second, SimilarText):
        return _similar(first, second)
    first, second = _without_scores(first), _without_scores(second)
    if _keeps(first):
        return same_interval if first is same_interval and second is equivalent else second
    if _keeps(second):
        return first
    return _leading(first, second, labels)


def _keeps(check: Any) -> bool:
    """Whether a check has every label stay, or the text word for word."""
    return check in (equivalent, same_interval, stronger) or (isinstance(check, SimilarText) and check.threshold == 1)


def _without_scores(check: Any) -> Any:
    """What a check says of labels: another part may change scores as it likes."""
    if check is stronger:
        return equivalent
    return LabelsAlone(check) if check in (goes_up, goes_down) else check


def _similar(first: SimilarText, second: SimilarText) -> SimilarText:
    """Texts of which each is similar to the next one.

    With d = 1 - similarity, which is a share of edits, 2d / (1 + d) is a distance that keeps the triangle inequality
    (Steinhaus' transform), so that the distances of neighbours add up to the most that the ends can have.
    """
    if first.normalise != second.normalise:
        raise _Refused(f"{_NO_EXPECTATION}, since texts are compared in different ways")
    distance = sum(2 * (1 - check.threshold) / (2 - check.threshold) for check in (first, second))
    threshold = 1 - distance / (2 - distance) if distance < 1 else 0.0
    if threshold <= 0:
        raise _Refused(f"{_NO_EXPECTATION}, since texts may be as different as they like at last")
    return replace(first, threshold=min(threshold, 1.0))


def _leading(first: Any, second: Any, labels: Sequence[str]) -> Check:
    """Labels that lead to labels that lead to labels."""
    maps = [_map(check, labels) for check in (first, second)]
    if None in maps:
        raise _Refused(_NO_EXPECTATION)
    before, after = (dict(pairs or ()) for pairs in maps)
    product = {
        label: tuple(sorted({last for one in between for last in after[one]}))
        for label, between in before.items()
        if all(one in after for one in between)
    }
    if not product:
        raise _Refused("contradicts itself")
    said = {label: allowed for label, allowed in product.items() if not set(allowed) >= set(labels)}
    if not said:
        raise _Refused(f"{_NO_EXPECTATION}, since every label may come out")
    if labels and all(said.get(label) == (label,) for label in labels):
        return equivalent
    return Mapped(tuple(said.items()))


def _map(check: Any, labels: Sequence[str]) -> Mapping[str, Sequence[str]] | None:
    """The labels that each label leads to; None where a check is no such map, or the task's labels are not known."""
    if isinstance(check, Mapped):
        return dict(check.labels)
    if isinstance(check, Labelled) and labels:
        return dict.fromkeys(labels, (check.label,))
    if check is different and labels:
        return {label: tuple(other for other in labels if other != label) for label in labels}
    return None
