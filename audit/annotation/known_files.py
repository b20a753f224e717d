"""Reading texts with their known answers from a CSV: the columns text and answer, and perhaps language, explanation.

Where a task compares two texts, the second is in the column text_2.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from audit.annotation.deferral import COMMENT
from audit.annotation.questions import labels_of
from audit.errors import BadFile
from audit.files import read_table, read_text, refuse_bad_rows
from audit.language.iso639 import is_code
from audit.tasks import Input, get_task

COLUMNS = ("text", "text_2", "language", "answer", "explanation")
LONGEST = 100_000
"""Characters of a text that are taken."""
_WANTED = "needed are text and answer, text_2 where a task compares two texts, and perhaps language and explanation"


@dataclass(frozen=True)
class KnownText:
    """A text (or two that are compared), the labels that are right answers about it, and what people read after they
    answered in training."""

    input: Input
    allowed: tuple[str, ...]
    explanation: str = ""


def read_known(path: str | Path, task: str = "sentiment", language: str = "en") -> list[KnownText]:
    """The texts of a UTF-8 CSV with their answers; several right answers of a text have `|` between them.

    `language` is that of rows without one. Raises BadFile for a file that cannot be used, BadRow for one wrong row
    (file, line, reason) and BadFile that lists the first ten where there are several.
    """
    return known_from(path, read_text(path), task, language)


def known_from(name: str | Path, text: str, task: str = "sentiment", language: str = "en") -> list[KnownText]:
    """As `read_known`, of the content of a file; `name` is for messages.

    >>> known_from("own.csv", "text,answer\\nA fine film.,positive|neutral")[0].allowed
    ('positive', 'neutral')
    """
    header, rows = read_table(name, text, _WANTED)
    texts = ("text", "text_2")[: get_task(task).texts]
    missing = [column for column in (*texts, "answer") if column not in header]
    strange = [column for column in header if column not in (*texts, *COLUMNS[2:])]
    if missing or strange:
        what = f"column(s) {', '.join(missing)} missing" if missing else f"column {strange[0]!r} is unknown"
        raise BadFile(f"{name}: {what}; {_WANTED}")
    labels = labels_of(task, "input")
    bad: list[tuple[int, str]] = []
    found: list[KnownText] = []
    lines: dict[bytes, int] = {}
    for line, fields in rows:
        if len(fields) != len(header):
            bad.append((line, f"{len(fields)} fields where the header has {len(header)}"))
            continue
        row = dict(zip(header, fields, strict=True))
        code = row.get("language") or language
        allowed = tuple(dict.fromkeys(one.strip() for one in row["answer"].split("|") if one.strip()))
        if reason := _wrong(row, texts, allowed, code, labels):
            bad.append((line, reason))
            continue
        one = KnownText(Input.of(*(row[name] for name in texts), language=code), allowed, row.get("explanation", ""))
        if one.input.key in lines:
            bad.append((line, f"the text of line {lines[one.input.key]} again; give each text once"))
        lines[one.input.key] = line
        found.append(one)
    refuse_bad_rows(name, bad, len(rows))
    return found


def _wrong(
    row: dict[str, str], texts: Sequence[str], allowed: tuple[str, ...], code: str, labels: Sequence[str]
) -> str | None:
    for name in texts:
        if not row[name]:
            return f"the column {name} is empty"
        if len(row[name]) > LONGEST:
            return f"the {name} has {len(row[name]):,} characters, at most {LONGEST:,} are taken"
    if "\0" in "".join(row[name] for name in texts) + row.get("explanation", ""):
        return "there is a NUL character, which no text has"
    if not allowed:
        return f"the column answer is empty; it is one of {', '.join(labels)}, or several with | between them"
    if strange := [one for one in allowed if one not in labels]:
        return f"answer {strange[0]!r} is not one of {', '.join(labels)}"
    if set(allowed) == set(labels):
        return "every label is allowed, so no answer could be wrong"
    if not is_code(code):
        return f"language {code!r} is no code such as en, zh or pt-BR"
    if len(row.get("explanation", "")) > COMMENT:
        return f"the explanation has more than {COMMENT:,} characters; shorten it"
    return None
