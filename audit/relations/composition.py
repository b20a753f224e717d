"""Compositions: relations one after the other, `typos | negated-hypothesis`, each changing what the one before made.

What a composition expects and carries follows from its parts. An expectation is a relation between two outputs, so that
of a composition is the product of those of its parts: what must hold between the source's output and the last one,
whatever the outputs between them are. Where nothing that can be checked follows, it is refused."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any

from audit.errors import AuditError
from audit.messages import joined, message, with_commas
from audit.relations import base, expect
from audit.relations.base import ANY, Carry, Check, Fixed, Relation, Source, Words, nothing
from audit.relations.expect import LabelsAlone, Opinionated, SimilarText, equivalent, goes_down, goes_up, stronger
from audit.tasks import Input, base_of
from audit.text import Analysis

BAR = " | "  # Stands between the names of a composition's parts


def parts_of(name: str) -> list[str]:
    """Return the names in the name of a composition; of any other relation its own."""
    return [part.strip() for part in name.split("|")]


def summary_from(catalogue: Mapping[str, str], task: str, name: str, english: str) -> str:
    """Return what a relation does in the words of a catalogue of messages, of a composition part by part; `english`
    where it has none. What is changed and what is expected stand apart in it, as they do in English behind a semicolon.

    >>> words = {"relation.A": "Aa", "relation.mood.B": "Bb", "expects.it stays": "same"}
    >>> summary_from(words, "mood", "A | B", "1. One thing; it stays. 2. Another; it stays.")
    '1. Aa；same。 2. Bb；same。'
    """
    parts = parts_of(name)
    summaries = [english] if len(parts) == 1 else re.split(r"(?:^| )\d+\. ", english)[1:]
    said = []
    for part, summary in zip(parts, summaries, strict=False):
        changed = catalogue.get(f"relation.{base_of(task)}.{part}") or catalogue.get(f"relation.{part}")
        expected = catalogue.get(f"expects.{summary.rstrip('.').rpartition('; ')[2]}")
        if changed and (expected or changed.endswith("。")):
            said.append(changed if expected is None else f"{changed}；{expected}。")
    if len(said) < len(parts):
        return english
    return _numbered(said) if len(said) > 1 else said[0]


def _numbered(summaries: Sequence[str]) -> str:
    return " ".join(f"{number}. {summary}" for number, summary in enumerate(summaries, start=1))


@dataclass(frozen=True, kw_only=True)
class Composed(Fixed):
    """Relations one after the other; its groups are a source and what the last part made, without what lies between.
    There is a group only where every part leaves its mark: not where one does not apply, where a text comes back that
    was there before, or where the same texts come out without one of the parts."""

    parts: tuple[Fixed, ...]

    def make_group(self, source: Source) -> tuple[list[Input], Words]:
        return self.make_groups([source])[0]

    def make_groups(self, sources: Sequence[Source]) -> list[tuple[list[Input], Words]]:
        names = [part.name for part in self.parts]
        # The same relation twice draws anew the second time.
        seeds = [f"|{again}" if (again := names[:place].count(name)) else "" for place, name in enumerate(names)]
        steps = list(zip(self.parts, seeds, strict=True))
        groups_made = self._through(sources, steps)
        for left_out in range(len(steps) - 1):  # without the last one it is what lies before the end
            at = [place for place, follow_ups in enumerate(groups_made) if follow_ups]
            others = self._through([sources[place] for place in at], steps[:left_out] + steps[left_out + 1 :])
            for place, follow_ups in zip(at, others, strict=True):
                if follow_ups == groups_made[place]:
                    groups_made[place] = []
        return [(follow_ups, ()) for follow_ups in groups_made]

    def _through(self, sources: Sequence[Source], steps: Sequence[tuple[Fixed, str]]) -> list[list[Input]]:
        """Return what these parts make of each source; nothing where one makes nothing, or a text that was there
        before. A part is asked for all sources at once: it may ask a model."""
        texts_so_far, seen = [[source.input] for source in sources], [[source.input] for source in sources]
        for place, (part, seed) in enumerate(steps):
            at = [index for index, inputs in enumerate(texts_so_far) if inputs]
            if any(len(texts_so_far[index]) > 1 for index in at):
                raise AuditError(_several(self.name, steps[place - 1][0]))
            own = [_source(texts_so_far[index][0], sources[index], seed) for index in at]
            if part.grammar:
                Analysis.tag_all([source.analysis for source in own])
            for index, (follow_ups, _) in zip(at, part.make_groups(own), strict=True):
                texts_so_far[index] = [] if any(item in seen[index] for item in follow_ups) else follow_ups
                seen[index] += follow_ups
        return texts_so_far

    def asks(self) -> Sequence[str]:
        return list(dict.fromkeys(version for part in self.parts for version in part.asks()))

    def lacks(self, language: str) -> str | None:
        return next(filter(None, (part.lacks(language) for part in self.parts)), None)

    def configured(self, changes: Mapping[str, object]) -> "list[tuple[Fixed, dict[str, object]]]":
        """Return the parts, each with those of the changed parameters that are its own: `share` of every part that has
        it, `typos.share` of one. Raises AuditError for one that no part has."""
        own: list[dict[str, object]] = [{} for _ in self.parts]
        for name, value in sorted(changes.items(), key=lambda change: change[0] in self.params):  # of one part: last
            having = [
                (place, key)
                for place, part in enumerate(self.parts)
                for key in part.params
                if name in (key, f"{part.name}.{key}")
            ]
            if not having:
                has = list(self.params) or message("list.none")
                raise AuditError(f"relation {self.name!r} has no parameter {name!r}; its parts have {with_commas(has)}")
            for place, key in having:
                own[place][key] = value
        return list(zip(self.parts, own, strict=True))


def _source(item: Input, source: Source, seed: str) -> Source:
    unchanged = item is source.input and not seed
    return source if unchanged else Source(item, Analysis(item.text, item.languages[0]), source.seed + seed)


def _several(name: str, part: Relation) -> str:
    return f"relation {name!r} cannot be made: its part {part.name!r} makes several follow-ups; put it at the end"


def compose(*relations: Relation) -> Composed:
    """Return the composition of relations, the first one first; `a | b` is the same. Raises AuditError for fewer than
    two, for relations of different tasks, units or languages, for one that hangs on what a system says, and for
    expectations of which nothing follows."""
    parts = [
        part for relation in relations for part in (relation.parts if isinstance(relation, Composed) else [relation])
    ]
    name = BAR.join(part.name for part in parts)
    if len(parts) < 2:
        raise AuditError("a composition has at least two relations")
    fixed = tuple(part for part in parts if isinstance(part, Fixed))
    if asking := next((part for part in parts if not isinstance(part, Fixed)), None):
        raise AuditError(f"relation {name!r} cannot be made: what {asking.name!r} makes depends on what a system says")
    read = [part.languages for part in parts if part.languages != ANY]
    languages = tuple(code for code in read[0] if all(code in codes for codes in read)) if read else ANY
    _refuse_unlike(name, "task", {part.name: part.task for part in parts})
    units = {part.name: part.unit for part in parts if part.unit != "any"}
    _refuse_unlike(name, "unit", units)
    if not languages:
        _refuse_unlike(name, "language", {part.name: ", ".join(part.languages) for part in parts})
    accepts: dict[str, tuple[type, ...]] = {}
    for part in parts:
        accepts |= {**part.accepts, **{f"{part.name}.{key}": kinds for key, kinds in part.accepts.items()}}
    return Composed(
        task=parts[0].task,
        name=name,
        family=BAR.join(dict.fromkeys(part.family for part in parts)),
        summary=_numbered([part.summary for part in parts]),
        unit=next(iter(units.values()), "any"),
        carry=in_turn([part.carry for part in parts]),
        languages=languages,
        version=BAR.join(part.version for part in parts),
        params={f"{part.name}.{key}": value for part in parts for key, value in part.params.items()},
        accepts=accepts,
        counterpart=BAR.join(part.counterpart for part in parts) if all(part.counterpart for part in parts) else "",
        needs=tuple(dict.fromkeys(module for part in parts for module in part.needs)),
        grammar=any(part.grammar for part in parts),
        default=False,
        may_break="; ".join(dict.fromkeys(part.may_break for part in parts if part.may_break)),
        parts=fixed,
        check=_check(name, fixed),
    )


def _refuse_unlike(name: str, kind: str, by_part: Mapping[str, str]) -> None:
    if len(set(by_part.values())) > 1:
        said = with_commas([f"{part}: {value}" for part, value in by_part.items()])
        raise AuditError(f"relation {name!r} cannot be made, since its parts have different {kind}s ({said})")


def spread(relation: Relation, share: float) -> Relation | None:
    """Return `on_documents` of a relation on sentences, or of such parts of a composition; None where that is none."""
    if isinstance(relation, base.Plain):
        return expect.on_documents(relation, share)
    if not isinstance(relation, Composed):
        return None
    parts = [spread(part, share) if part.unit == "sentence" else part for part in relation.parts]
    return compose(*filter(None, parts)) if all(parts) else None


# What is carried: the answers, from part to part.


def in_turn(carries: Sequence[Carry]) -> Carry:
    """Return what relations carry one after the other: where all but one carry every answer unchanged, what that one
    does; a rule that looks at the members sees the source and the last follow-up alone, and may be that of several."""
    changing = [carry for carry in carries if not carry.preserves_truth or carry.reads]
    if not changing:
        return carries[0]
    alike = len(set(changing)) == 1 and (len(changing) == 1 or changing[0].reads)
    return changing[0] if alike else nothing


# What is expected: one check of the source's and the last output. Where nothing follows, the product is None.


def _check(name: str, parts: Sequence[Fixed]) -> Check:
    """Return the check of the composition. Raises AuditError that says which part expects what, where there is none."""
    checks = [_of(part) for part in parts]
    for part, early in zip(parts[:-1], checks, strict=False):
        if early in (goes_up, goes_down):
            raise AuditError(_several(name, part))
    check: Check | None = reduce(lambda first, second: first and second and _product(first, second), checks)
    if check is None:
        # What a part expects stands at the end of its summary, behind a semicolon.
        expected = [f"{part.name} expects: {part.summary.rpartition('; ')[2].rstrip('.')}" for part in parts]
        said = joined("list.also", expected)
        raise AuditError(f"relation {name!r} has no expectation that could be checked: {said}; leave one of them out")
    return check


def _of(part: Fixed) -> Any:
    """Return the check of a part; None where it hangs on the words that were replaced."""
    check: Any = getattr(part, "check", None)
    if check in (expect.same_label, expect.same_interval):
        return equivalent if check is expect.same_label else check
    if not isinstance(part, base.Plain | base.Joint) or isinstance(part, base.Rewriting):
        return None
    return getattr(check, "composes_as", check)


def _product(first: Any, second: Any) -> Any:
    """Return what must hold between the first output and the third, where `first` holds between the first and the
    second, and `second` between the second and the third."""
    if isinstance(first, Opinionated):
        return _guarded(_product(first.check, second))
    if isinstance(second, Opinionated):  # it applies to some labels alone, which must be those of the first output
        return _guarded(_product(first, second.check)) if _keeps(first) else None
    if getattr(second, "regardless", False) or first is second is stronger:
        return second
    if isinstance(first, SimilarText) and isinstance(second, SimilarText):
        return _similar(first, second)
    first, second = _on_labels(first), _on_labels(second)
    if _keeps(first):
        return first if second is equivalent else second
    return first if _keeps(second) else None


def _guarded(check: Any) -> Any:
    return check if check is None or isinstance(check, Opinionated) else Opinionated(check)


def _keeps(check: Any) -> bool:
    """Return whether a check has every label stay, or the text word for word."""
    return check in (equivalent, expect.same_interval, stronger) or (
        isinstance(check, SimilarText) and check.threshold == 1
    )


def _on_labels(check: Any) -> Any:
    """Return what a check says of labels: another part may change scores as it likes."""
    if check is stronger:
        return equivalent
    return LabelsAlone(check) if check in (goes_up, goes_down) else check


def _similar(first: SimilarText, second: SimilarText) -> SimilarText | None:
    """Return what follows for texts of which each is similar to the next one. With d = 1 - similarity, which is a share
    of edits, 2d / (1 + d) keeps the triangle inequality (Steinhaus' transform), so that the distances of neighbours add
    up to the most that the ends can have."""
    distance = sum(2 * (1 - check.threshold) / (2 - check.threshold) for check in (first, second))
    threshold = 1 - distance / (2 - distance) if distance < 1 else 0.0
    if first.normalise != second.normalise or threshold <= 0:
        return None
    return replace(first, threshold=min(threshold, 1.0))
