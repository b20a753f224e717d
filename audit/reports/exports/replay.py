"""`audit replay`: every published number once more from an export."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

from sqlalchemy import Engine

from audit.errors import BadFile
from audit.false_satisfaction.resolution import Whose
from audit.files import read_json
from audit.reports.document import ReportDocument
from audit.reports.exports.reading import opened
from audit.reports.exports.writing import document
from audit.reports.preference import read_weights
from audit.reports.study import study_report
from audit.statistics.intervals import get_target

SHOWN = 100
"""Differences of a document that are listed; `differences` counts them all."""
_LINES = 10
"""Of these, how many the text shows."""
_CLOSE = 1e-9
"""Relative difference up to which numbers are the same: another machine rounds the last digits otherwise."""


@dataclass(frozen=True)
class Compared:
    """A document as it was published, beside what the export gives now."""

    document: str
    differences: int
    listed: tuple[dict[str, Any], ...]
    """The first `SHOWN`: where (a path such as cells[3].fs_rate), published, replayed."""


@dataclass(frozen=True)
class Replayed:
    """What a replay found."""

    seal: str
    audit: str
    """The version of audit that made the export."""
    pseudonymised: bool
    documents: tuple[Compared, ...]

    @property
    def equal(self) -> bool:
        return not any(compared.differences for compared in self.documents)

    def as_json(self) -> dict[str, Any]:
        """The document of the command `audit replay`."""
        return {
            "equal": self.equal,
            "seal": self.seal,
            "audit": self.audit,
            "pseudonymised": self.pseudonymised,
            "documents": [
                {"document": compared.document, "equal": not compared.differences, "differences": compared.differences}
                | {"listed": list(compared.listed)}
                for compared in self.documents
            ],
        }


def replay(folder: Path, published: Sequence[Path] = ()) -> Replayed:
    """Make the database of an export anew in a temporary place and compute the documents in it again.

    `published` are more reports, as `audit report --json` printed them from the same data: they are computed with the
    settings in their signatures. Raises what `read_manifest` raises, and BadFile
    for a published file that is no report of a database.
    """
    reports = [(path, _published(path)) for path in published]
    with opened(folder) as (engine, manifest):
        compared = []
        for name in manifest["documents"]:
            now = document(name, engine)
            compared.append(compare(name, read_json(folder / name, "export again"), now))
        for path, report in reports:
            compared.append(compare(str(path), report, _recomputed(path, report, engine)))
    return Replayed(manifest["seal"], str(manifest["audit"]), manifest["pseudonymised"], tuple(compared))


def compare(name: str, published: object, now: object) -> Compared:
    """What differs between two documents; numbers that agree to nine digits are the same.

    >>> compare("report.json", {"cells": [{"fs_rate": 0.5}]}, {"cells": [{"fs_rate": 0.25}]}).listed
    ({'where': 'cells[0].fs_rate', 'published': 0.5, 'replayed': 0.25},)
    """
    differences = [
        {"where": where, "published": before, "replayed": after} for where, before, after in _differ("", published, now)
    ]
    return Compared(name, len(differences), tuple(differences[:SHOWN]))


def _differ(where: str, before: object, after: object) -> Iterator[tuple[str, object, object]]:
    if isinstance(before, dict) and isinstance(after, dict):
        for name in [*before, *(name for name in after if name not in before)]:
            inner = f"{where}.{name}" if where else str(name)
            yield from _differ(inner, before.get(name, "absent"), after.get(name, "absent"))
    elif isinstance(before, list) and isinstance(after, list):
        if len(before) != len(after):
            yield f"{where}.length", len(before), len(after)
        for place, (old, new) in enumerate(zip(before, after, strict=False)):
            yield from _differ(f"{where}[{place}]", old, new)
    elif not _same(before, after):
        yield where, before, after


def _same(before: object, after: object) -> bool:
    if isinstance(before, bool) or isinstance(after, bool):
        return before is after
    if isinstance(before, int | float) and isinstance(after, int | float):
        return math.isclose(before, after, rel_tol=_CLOSE, abs_tol=1e-12)
    return before == after


def _published(path: Path) -> dict[str, Any]:
    report = read_json(path, "give what `audit report` printed as JSON")
    if not isinstance(report, dict) or not isinstance(report.get("signature"), dict) or "cells" not in report:
        raise BadFile(f"{path}: not a report; give what `audit report` printed as JSON")
    if "answers" not in report["signature"]:
        raise BadFile(f"{path}: a report of a file of totals, which no export holds; run `audit rerank` on the file")
    return report


def _recomputed(path: Path, report: dict[str, Any], engine: Engine) -> ReportDocument:
    """The report with the settings of a signature."""
    signature = report["signature"]
    try:
        whose = signature["answers"]["whose"]
        studies = [study["id"] for study in signature["studies"]]
        designs = {sample["design"] for sample in signature["samples"]}
        delta = signature["delta"]
        target = get_target(signature["target"])
    except (KeyError, TypeError):
        raise BadFile(f"{path}: the signature lacks settings; give what `audit report` printed as JSON") from None
    if whose not in get_args(Whose):
        raise BadFile(f"{path}: the signature says answers of {whose!r}; allowed are {', '.join(get_args(Whose))}")
    return study_report(
        engine,
        whose,
        studies[0] if len(studies) == 1 else None,
        designs.pop() if len(designs) == 1 else None,
        target=target,
        delta=delta,
        weights=read_weights(signature["weights"]) if "weights" in signature else None,
        # Before there were slices, a signature had the one column by which rates were asked for.
        slices=signature.get("slices") or [],
        examples=len(report.get("examples", ())),
    )


def replay_lines(replayed: Replayed) -> list[str]:
    """What a replay found, for a terminal."""
    lines = [f"Export {replayed.seal[:12]}, made by audit {replayed.audit}, as sealed."]
    for compared in replayed.documents:
        if not compared.differences:
            lines.append(f"{compared.document}: every number is the same.")
            continue
        lines.append(f"{compared.document}: {compared.differences:,} values differ.")
        lines += [f"  {row['where']}: was {row['published']}, is {row['replayed']}" for row in compared.listed[:_LINES]]
        if compared.differences > _LINES:
            lines.append(f"  and {compared.differences - _LINES:,} more; the JSON lists {SHOWN}")
    if not replayed.documents:
        lines.append("Nothing had been checked when it was made, so there is nothing to recompute.")
    return lines
