"""Reading the user's files: one message for each thing that can be wrong with them."""

import csv
import io
from collections.abc import Sequence
from pathlib import Path

from audit.errors import BadFile, BadRow

SHOWN = 10
"""How many bad rows a message lists; it always says how many there are."""


def read_text(path: str | Path) -> str:
    """The text of a UTF-8 file, with or without byte order mark.

    Raises BadFile: absent, unreadable, empty, or in another encoding (says line and byte).
    """
    path = Path(path)
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        raise BadFile(f"{path}: there is no such file") from None
    except OSError as problem:
        raise BadFile(f"{path}: cannot be read ({problem.strerror})") from problem
    return text_of(path, content)


def text_of(path: str | Path, content: bytes) -> str:
    r"""The text of what a file holds, where it was read elsewhere (an upload); `path` is for messages.

    Raises BadFile as `read_text` does.

    >>> text_of("own.csv", b"\xef\xbb\xbftext")
    'text'
    """
    path = Path(path)
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise BadFile(f"{path}: the file is UTF-16; save it as UTF-8")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        # The BOM, where there is one, is not counted by the decoder.
        at = problem.start + (3 if content.startswith(b"\xef\xbb\xbf") else 0)
        line = content.count(b"\n", 0, at) + 1
        raise BadFile(
            f"{path}, line {line}: byte {at:,} (0x{content[at]:02x}) is not UTF-8; save the file as UTF-8, "
            f"for example: iconv -f WINDOWS-1252 -t UTF-8 {path.name}"
        ) from problem
    if not text.strip():
        raise BadFile(f"{path}: the file is empty")
    return text


def read_table(path: str | Path, text: str, wanted: str) -> tuple[list[str], list[tuple[int, list[str]]]]:
    """The header of a CSV, and every row that is not blank with the number of its first line; fields are stripped.

    `wanted` says which columns are needed. Raises BadRow where this is not CSV, BadFile for a header alone, a column
    that is there twice, and nothing at all.
    """
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    rows: list[tuple[int, list[str]]] = []
    line = 1
    try:
        for row in reader:
            if any(field.strip() for field in row):
                rows.append((line, [field.strip() for field in row]))
            line = reader.line_num + 1
    except csv.Error as error:
        raise BadRow(path, line, f"this is not CSV ({error})") from None
    if not rows:
        raise BadFile(f"{path}: the file is empty; {wanted}")
    header = rows[0][1]
    twice = sorted({name for name in header if header.count(name) > 1})
    if twice:
        raise BadFile(f"{path}, line {rows[0][0]}: column {twice[0]!r} is there twice")
    if len(rows) == 1:
        raise BadFile(f"{path}: there is a header but no row below it")
    return header, rows[1:]


def refuse_bad_rows(path: str | Path, bad: Sequence[tuple[int, str]], rows: int) -> None:
    """Raise for rows (line, reason) that are wrong: BadRow for one, BadFile that lists the first ten for more."""
    if len(bad) == 1:
        raise BadRow(path, *bad[0])
    if bad:
        listed = "\n".join(f"  line {line}: {reason}" for line, reason in bad[:SHOWN])
        more = f"\n  and {len(bad) - SHOWN:,} more" if len(bad) > SHOWN else ""
        raise BadFile(f"{path}: {len(bad):,} of {rows:,} rows are wrong, so nothing was used:\n{listed}{more}")
