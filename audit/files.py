"""Reading the user's files: one message for each thing that can be wrong with them."""

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


def refuse_bad_rows(path: str | Path, bad: Sequence[tuple[int, str]], rows: int) -> None:
    """Raise for rows (line, reason) that are wrong: BadRow for one, BadFile that lists the first ten for more."""
    if len(bad) == 1:
        raise BadRow(path, *bad[0])
    if bad:
        listed = "\n".join(f"  line {line}: {reason}" for line, reason in bad[:SHOWN])
        more = f"\n  and {len(bad) - SHOWN:,} more" if len(bad) > SHOWN else ""
        raise BadFile(f"{path}: {len(bad):,} of {rows:,} rows are wrong, so nothing was used:\n{listed}{more}")
