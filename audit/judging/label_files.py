"""Reading labels that people gave elsewhere: a CSV, or the JSON that Label Studio exports.

A CSV has the columns `label` and `text` or `row` (the row of a corpus), and perhaps `annotator` and `language`. Of
Label Studio's JSON (the format "JSON", a list of tasks with their `annotations`) the results of type `choices` are
read; see https://labelstud.io/guide/task_format.
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from audit.errors import BadFile
from audit.files import SHOWN, parse_json, read_table, read_text

QUESTION = "audit_question"
"""The name in a task's `data` under which our export says which question a task is."""
_WANTED = "needed are label and text or row"


@dataclass(frozen=True, slots=True)
class Label:
    """One label as a file has it. What it is about is a text, a row, or a question by its key."""

    where: str
    """For messages: line 3, task 17."""
    label: str
    annotator: str | None = None
    text: str | None = None
    language: str | None = None
    row: str | None = None
    question: bytes | None = None
    shown_at: datetime | None = None
    decided_at: datetime | None = None


@dataclass(frozen=True)
class Labels:
    """The labels of a file, and how many entries have none, by reason."""

    path: Path
    labels: Sequence[Label]
    without: dict[str, int]


def read_labels(path: str | Path, control: str | None = None) -> Labels:
    """The labels of a CSV (`.csv`) or of Label Studio's JSON (`.json`).

    `control` names the Choices tag that is meant, where tasks have several. Raises BadFile for a file that cannot be
    read, is of another kind or has entries that cannot be understood (with their lines or tasks, ten at most).
    """
    path = Path(path)
    kind = path.suffix.lower()
    if kind not in (".csv", ".json"):
        raise BadFile(f"{path}: the name must end in .csv or .json (Label Studio), which says how to read it")
    text = read_text(path)
    if kind == ".json":
        return _label_studio(path, text, control)
    if control is not None:
        raise BadFile(f"{path}: --control names a tag of Label Studio; a CSV has none")
    return _csv(path, text)


def refuse(path: Path, bad: Sequence[tuple[str, str]], number: int) -> None:
    """Raise BadFile for entries (where, reason) that are wrong; the first ten are listed."""
    if len(bad) == 1:
        raise BadFile(f"{path}, {bad[0][0]}: {bad[0][1]}")
    if bad:
        listed = "\n".join(f"  {where}: {reason}" for where, reason in bad[:SHOWN])
        more = f"\n  and {len(bad) - SHOWN:,} more" if len(bad) > SHOWN else ""
        raise BadFile(f"{path}: {len(bad):,} of {number:,} labels are wrong, so nothing was used:\n{listed}{more}")


def _csv(path: Path, text: str) -> Labels:
    header, rows = read_table(path, text, _WANTED)
    if "label" not in header or ("text" in header) == ("row" in header):
        raise BadFile(f"{path}: the columns are {', '.join(header)}; {_WANTED} (one of the two), and perhaps annotator")
    bad: list[tuple[str, str]] = []
    labels: list[Label] = []
    empty = 0
    for line, fields in rows:
        where = f"line {line}"
        if len(fields) != len(header):
            bad.append((where, f"{len(fields)} fields where the header has {len(header)}"))
            continue
        row = dict(zip(header, fields, strict=True))
        about = row.get("text") or row.get("row")
        if not about:
            bad.append((where, "the column text or row is empty"))
        elif "annotator" in row and not row["annotator"]:
            bad.append((where, "the column annotator is empty; every label needs somebody who gave it"))
        elif not row["label"]:
            empty += 1
        else:
            labels.append(
                Label(
                    where,
                    row["label"],
                    row.get("annotator"),
                    row.get("text"),
                    row.get("language") or None,
                    row.get("row"),
                )
            )
    refuse(path, bad, len(rows))
    return Labels(path, labels, {"no label": empty} if empty else {})


def _label_studio(path: Path, text: str, control: str | None) -> Labels:
    try:
        given = parse_json(text)
    except ValueError as problem:
        raise BadFile(f"{path}: not JSON ({problem}); export it from Label Studio in the format JSON") from None
    if not isinstance(given, list) or not all(isinstance(task, dict) and "data" in task for task in given):
        raise BadFile(
            f"{path}: not a list of tasks with data; export it from Label Studio in the format JSON, not JSON-MIN"
        )
    bad: list[tuple[str, str]] = []
    labels: list[Label] = []
    without: Counter[str] = Counter()
    for number, task in enumerate(given, start=1):
        where = f"task {task.get('id', number)}"
        annotations = task.get("annotations")
        if not isinstance(annotations, list) or not isinstance(task["data"], dict):
            bad.append((where, "no list of annotations, or no data; export the format JSON, not JSON-MIN"))
            continue
        if not annotations:
            without["not annotated"] += 1
        for annotation in annotations:
            found = _annotation(where, task["data"], annotation, control)
            if isinstance(found, Label):
                labels.append(found)
            elif found in (_SKIPPED, _EMPTY, _OURS):
                without[found] += 1
            else:
                bad.append((where, found))
    refuse(path, bad, len(given))
    return Labels(path, labels, dict(without))


_SKIPPED = "skipped by the annotator"
_EMPTY = "no choice made"
_OURS = "exported by audit, and not changed since"


def _annotation(where: str, data: dict[str, Any], annotation: Any, control: str | None) -> Label | str:
    """The label of one annotation, or why there is none."""
    if not isinstance(annotation, dict) or not isinstance(annotation.get("result"), list):
        return "an annotation without a list of results"
    if annotation.get("was_cancelled"):
        return _SKIPPED
    results = [one for one in annotation["result"] if isinstance(one, dict) and one.get("type") == "choices"]
    tags = sorted({str(one.get("from_name")) for one in results})
    if control is not None:
        results = [one for one in results if one.get("from_name") == control]
    elif len(tags) > 1:
        return f"choices of several tags ({', '.join(tags)}); choose one with --control"
    chosen = [one.get("value", {}).get("choices") for one in results if isinstance(one.get("value"), dict)]
    if not any(chosen):
        return _EMPTY
    if len(chosen) > 1 or not isinstance(chosen[0], list) or len(chosen[0]) != 1:
        return f"{chosen!r:.60} is not a single choice"
    label = str(chosen[0][0])
    if any(one.get("id") == exported_id(label) for one in results):
        return _OURS
    key, text = data.get(QUESTION), data.get("text")
    if not isinstance(key, str) and not isinstance(text, str):
        return "the data has no text under the name 'text'"
    try:
        question = bytes.fromhex(key) if isinstance(key, str) else None
        decided, shown = _times(annotation)
    except (TypeError, ValueError) as problem:
        return f"{QUESTION} or created_at cannot be read ({problem})"
    return Label(
        where,
        label,
        _who(annotation.get("completed_by")),
        text.strip() if isinstance(text, str) else None,
        str(data["language"]) if data.get("language") else None,
        question=question,
        shown_at=shown,
        decided_at=decided,
    )


def exported_id(label: str) -> str:
    """The id of a result that we exported: Label Studio keeps it, so that it is known when it comes back as it was.

    >>> exported_id("very positive")
    'audit-very_positive'
    """
    return "audit-" + re.sub(r"[^A-Za-z0-9_-]", "_", label)


def _who(completed_by: Any) -> str | None:
    """The annotator's e-mail address where the export has it, else their number."""
    if isinstance(completed_by, dict):
        completed_by = completed_by.get("email") or completed_by.get("id")
    return f"label-studio-{completed_by}" if isinstance(completed_by, int) else completed_by or None


def _times(annotation: dict[str, Any]) -> tuple[datetime | None, datetime | None]:
    """When it was decided and shown: `created_at`, and so many seconds (`lead_time`) before."""
    if not annotation.get("created_at"):
        return None, None
    decided = datetime.fromisoformat(annotation["created_at"])
    decided = decided.replace(tzinfo=UTC) if decided.tzinfo is None else decided.astimezone(UTC)
    lead = annotation.get("lead_time")
    return decided, decided - timedelta(seconds=float(lead)) if lead is not None else None
