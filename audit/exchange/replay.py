"""`audit import`: a new database from an export. `audit replay`: every published number once more from an export.

The files of an export are compared with the sums in its manifest. What sealed rows mean is not checked again: an export
is trusted as its database was.
"""

import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from sqlalchemy import Engine, select

from audit.errors import AuditError, BadFile
from audit.exchange.export import FORMAT, MANIFEST, document
from audit.files import read_json
from audit.reports.options import read_weights
from audit.reports.study import study_report
from audit.store import open_store, tables
from audit.store.copying import filled
from audit.store.core import study
from audit.store.dump import check, load_tables, seal
from audit.tasks import get_task

SHOWN = 100
"""Differences of a document that are listed; `differences` counts them all."""
_PRINTED = 10
_CLOSE = 1e-9
"""Relative difference up to which numbers are the same: another machine rounds the last digits otherwise."""
_WANTED = "give what `audit report` printed as JSON"


@dataclass(frozen=True)
class Difference:
    """A value that differs: where (a path such as cells[3].fs_rate), as published, and as replayed."""

    where: str
    published: Any
    replayed: Any


@dataclass(frozen=True)
class Comparison:
    """A published document beside what the export gives now; `listed` has the first differences."""

    document: str
    equal: bool
    differences: int
    listed: list[Difference]


@dataclass(frozen=True)
class Replay:
    """What a replay found; `audit` is the version that made the export."""

    equal: bool
    seal: str
    audit: str
    pseudonymised: bool
    documents: list[Comparison]


def read_manifest(folder: Path) -> dict[str, Any]:
    """Return the manifest of an export whose files are as they were written. Raises BadFile for any other."""
    path = folder / MANIFEST
    if not path.exists():
        raise BadFile(f"{folder}: no export is here, there is no {MANIFEST}; name a folder that `audit export` wrote")
    manifest = read_json(path, "export again")
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        raise BadFile(f"{path}: not a manifest of format {FORMAT}, the one this audit reads")
    if manifest.get("seal") != seal(manifest):
        raise BadFile(f"{path}: changed since the export was made (its seal does not fit); export again")
    if manifest["schema"] != tables.SCHEMA_VERSION:
        raise BadFile(
            f"{path}: the export has tables of version {manifest['schema']}, this audit reads version "
            f"{tables.SCHEMA_VERSION}; install audit {manifest['audit']}"
        )
    for name, sha256 in manifest["files"].items():
        check(folder, name, sha256)
    return manifest


def import_export(folder: Path, where: str) -> dict[str, Any]:
    """Make the database of an export in a new or empty one, whole or not at all; return the manifest.

    Raises BadFile and BadRow, BadFile also for a database that is not empty, and AuditError for a task that is not
    installed.
    """
    manifest = read_manifest(folder)
    with filled(where) as connection:
        load_tables(connection, folder, manifest["tables"])
        for task in connection.execute(select(study.c.task).distinct()).scalars():
            get_task(task)
    return manifest


def replay(folder: Path, published: Sequence[Path] = ()) -> Replay:
    """Compute the documents of an export again, in a temporary database, and compare every value.

    `published` are more reports, as `audit report --json` printed them from the same data: they are computed with the
    settings in their signatures. Raises as `import_export`, and BadFile for a file that is no report of a database.
    """
    with TemporaryDirectory(prefix="audit-") as place:
        where = str(Path(place) / "export.db")
        manifest = import_export(folder, where)
        engine = open_store(where)
        try:
            compared = [
                compare(name, read_json(folder / name, "export again"), document(name, engine))
                for name in manifest["documents"]
            ]
            for path in published:
                report = read_json(path, _WANTED)
                compared.append(compare(str(path), report, _recomputed(path, report, engine)))
        finally:
            engine.dispose()
    about = {name: manifest[name] for name in ("seal", "audit", "pseudonymised")}
    return Replay(equal=all(comparison.equal for comparison in compared), documents=compared, **about)


def compare(name: str, published: object, now: object) -> Comparison:
    """Compare two documents; numbers that agree to nine digits are the same.

    >>> compare("report.json", {"cells": [{"fs_rate": 0.5}]}, {"cells": [{"fs_rate": 0.25}]}).listed
    [Difference(where='cells[0].fs_rate', published=0.5, replayed=0.25)]
    """
    before, after = dict(_values(published)), dict(_values(json.loads(json.dumps(now))))
    pairs = [Difference(where, before.get(where), after.get(where)) for where in before | after]
    different = [pair for pair in pairs if not _same(pair.published, pair.replayed)]
    return Comparison(document=name, equal=not different, differences=len(different), listed=different[:SHOWN])


def _values(tree: Any, where: str = "") -> Iterator[tuple[str, Any]]:
    """Yield each value of a document with its path."""
    if isinstance(tree, dict):
        for name, inner in tree.items():
            yield from _values(inner, f"{where}.{name}".lstrip("."))
    elif isinstance(tree, list):
        for place, inner in enumerate(tree):
            yield from _values(inner, f"{where}[{place}]")
    else:
        yield where, tree


def _same(before: Any, after: Any) -> bool:
    if {type(before), type(after)} <= {int, float}:
        return math.isclose(before, after, rel_tol=_CLOSE, abs_tol=1e-12)
    return type(before) is type(after) and bool(before == after)


def _recomputed(path: Path, report: Any, engine: Engine) -> Any:
    """Compute the report with the settings of its signature."""
    if not isinstance(report, dict) or not isinstance(report.get("signature"), dict) or "cells" not in report:
        raise BadFile(f"{path}: not a report; {_WANTED}")
    signature = report["signature"]
    try:
        studies = [study["id"] for study in signature["studies"]]
        return study_report(
            engine,
            signature["answers"]["whose"],
            studies[0] if len(studies) == 1 else None,
            target=signature["target"],
            delta=signature["delta"],
            weights=read_weights(signature["weights"]) if "weights" in signature else None,
            slices=signature.get("slices") or [],
            examples=len(report.get("examples", ())),
        )
    except (KeyError, TypeError, AuditError) as problem:
        raise BadFile(f"{path}: the signature lacks settings ({problem}); {_WANTED}") from problem


def replay_lines(replayed: Replay) -> list[str]:
    """Return what a replay found as lines for a terminal."""
    lines = [f"Export {replayed.seal[:12]}, made by audit {replayed.audit}, as sealed."]
    for of in replayed.documents:
        result = "every number is the same" if of.equal else f"{of.differences:,} values differ"
        lines.append(f"{of.document}: {result}.")
        lines += [f"  {pair.where}: was {pair.published}, is {pair.replayed}" for pair in of.listed[:_PRINTED]]
        if of.differences > _PRINTED:
            lines.append(f"  and {of.differences - _PRINTED:,} more; the JSON lists {SHOWN}")
    if not replayed.documents:
        lines.append("Nothing had been checked when it was made, so there is nothing to recompute.")
    return lines
