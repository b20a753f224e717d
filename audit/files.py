"""Reading the user's files, and the JSON and TOML of others: one message for each thing that can be wrong with them."""

import csv
import io
import json
import math
import os
import stat
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn

from audit.errors import BadFile, BadRow
from audit.messages import Message, joined, message

SHOWN = 10
"""How many bad rows a message lists; it always says how many there are."""


_DIGITS = 308
"""Digits of the longest whole number that is taken: a float cannot hold a longer one."""


class Excessive(ValueError):
    """JSON or TOML that is well spelled, but nested too deeply, or with a number that nobody can compute with."""


def read_text(path: str | Path) -> str:
    """The text of a UTF-8 file, with or without byte order mark.

    Raises BadFile: absent, unreadable, empty, no ordinary file, or in another encoding (says line and byte).
    """
    return text_of(path, read_bytes(path))


def read_bytes(path: str | Path, most: int | None = None) -> bytes:
    """What a file holds, or with `most` so many of its first bytes. Raises BadFile: absent, unreadable, no ordinary
    file (a pipe could make whoever reads it wait for ever, a device has no end)."""
    refuse_no_file(path)
    try:
        with open(path, "rb") as file:
            return file.read(-1 if most is None else most)
    except OSError as problem:
        raise BadFile(message("file.unreadable", file=path, reason=problem.strerror)) from problem


def refuse_no_file(path: str | Path) -> None:
    """Raise BadFile unless there is an ordinary file, before anything opens it.

    >>> refuse_no_file(".")
    Traceback (most recent call last):
    audit.errors.BadFile: .: cannot be read (it is a folder); name a file
    """
    try:
        mode = os.stat(path).st_mode
    except FileNotFoundError:
        raise BadFile(message("file.absent", file=path)) from None
    except OSError as problem:
        raise BadFile(message("file.unreadable", file=path, reason=problem.strerror)) from problem
    except ValueError as problem:  # a NUL byte in the name
        raise BadFile(message("file.unreadable", file=repr(str(path)), reason=problem)) from None
    if not stat.S_ISREG(mode):
        raise BadFile(message("file.not_a_file", file=path, kind=kind_of(mode)))


def kind_of(mode: int) -> Message:
    """What stands at a place where an ordinary file should, in words; `mode` is the file system's.

    >>> kind_of(stat.S_IFIFO)
    'a named pipe'
    """
    kinds = {stat.S_IFDIR: "file.folder", stat.S_IFIFO: "file.pipe", stat.S_IFSOCK: "file.socket"}
    return message(kinds.get(stat.S_IFMT(mode), "file.device"))


def parse_json(text: str | bytes) -> Any:
    """What JSON of somebody else says. Python's numbers that JSON does not know (NaN, Infinity) are refused, and so are
    those that are too large for a float.

    Raises ValueError with a reason for a sentence; it is Excessive where the text may be JSON, but nobody can use it.

    >>> parse_json('{"score": 0.5}')
    {'score': 0.5}
    >>> parse_json("[1e400]")
    Traceback (most recent call last):
    audit.files.Excessive: 1e400 is too large a number
    """
    try:
        return _JSON.decode(text if isinstance(text, str) else text.decode(json.detect_encoding(text)))
    except RecursionError:
        raise Excessive(message("file.json_deep")) from None


def read_json(path: str | Path, advice: str) -> Any:
    """What a file of JSON says. Raises BadFile, which ends with the advice, as `read_text` and `parse_json` do."""
    try:
        return parse_json(read_text(path))
    except Excessive as problem:
        raise BadFile(message("file.advised", file=path, reason=problem, advice=advice)) from None
    except ValueError as problem:
        raise BadFile(message("file.not_json", file=path, reason=problem, advice=advice)) from None


def toml_of(path: str | Path, text: str, advice: str) -> dict[str, Any]:
    r"""What TOML of somebody else says; `path` is for messages. Numbers without end are refused.

    Raises BadFile, which ends with the advice.

    >>> toml_of("plan.toml", "[study]\nlimit = inf", "see `audit study example`")
    Traceback (most recent call last):
    audit.errors.BadFile: plan.toml: study.limit: inf is not a number to compute with; see `audit study example`
    """
    try:
        content = tomllib.loads(text)
        _refuse_endless(content)
        return content
    except RecursionError:
        problem: object = message("file.toml_deep")
    except (tomllib.TOMLDecodeError, Excessive) as error:
        problem = error if isinstance(error, Excessive) else message("file.not_toml", reason=error)
    except ValueError:  # Python's own, for a whole number of thousands of digits
        problem = message("file.digits", most=_DIGITS)
    raise BadFile(message("file.advised", file=path, reason=problem, advice=advice))


def _float(spelled: str) -> float:
    number = float(spelled)
    if math.isfinite(number):
        return number
    raise Excessive(message("file.large_number", number=spelled[:40]))


def _whole(spelled: str) -> int:
    if len(spelled) > _DIGITS:
        raise Excessive(message("file.digits_of", count=len(spelled), most=_DIGITS))
    return int(spelled)


def _no_number(spelled: str) -> NoReturn:
    raise Excessive(message("file.no_number", number=spelled))


_JSON = json.JSONDecoder(parse_float=_float, parse_int=_whole, parse_constant=_no_number)
raw_json = _JSON.raw_decode
"""`parse_json` for a text that begins with JSON: the value, and where it ends. Raises RecursionError, too."""


def _refuse_endless(value: object, *keys: str) -> None:
    """Raise Excessive for what TOML allows and nobody can compute with: inf, nan, and whole numbers of any length."""
    if isinstance(value, float) and not math.isfinite(value):
        raise Excessive(message("file.endless", key=".".join(keys), number=value))
    if isinstance(value, int) and value.bit_length() > 1023:
        raise Excessive(message("file.digits_at", key=".".join(keys), most=_DIGITS))
    if isinstance(value, dict | list):
        for key, item in value.items() if isinstance(value, dict) else enumerate(value):
            _refuse_endless(item, *keys, str(key))


def text_of(path: str | Path, content: bytes) -> str:
    r"""The text of what a file holds, where it was read elsewhere (an upload); `path` is for messages.

    Raises BadFile as `read_text` does.

    >>> text_of("own.csv", b"\xef\xbb\xbftext")
    'text'
    """
    path = Path(path)
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise BadFile(message("file.utf16", file=path))
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        # The BOM, where there is one, is not counted by the decoder.
        at = problem.start + (3 if content.startswith(b"\xef\xbb\xbf") else 0)
        line = content.count(b"\n", 0, at) + 1
        raise BadFile(
            message("file.not_utf8_how", file=path, line=line, at=at, byte=content[at], name=path.name)
        ) from problem
    if not text.strip():
        raise BadFile(message("file.empty", file=path))
    return text


def unstorable(text: str) -> str | None:
    r"""What a text holds that no database and no file in UTF-8 can, and what to do; None where there is nothing.

    >>> unstorable("a\0b"), unstorable("a")
    ('a NUL byte; remove it', None)
    """
    if "\0" in text:
        return message("file.nul_byte")
    if any("\ud800" <= letter <= "\udfff" for letter in text):
        return message("file.surrogate")
    return None


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
        raise BadRow(path, line, message("file.not_csv", reason=error)) from None
    if not rows:
        raise BadFile(message("file.empty_wanted", file=path, wanted=wanted))
    header = rows[0][1]
    twice = sorted({name for name in header if header.count(name) > 1})
    if twice:
        raise BadFile(message("file.column_twice", file=path, line=rows[0][0], column=twice[0]))
    if len(rows) == 1:
        raise BadFile(message("file.only_header", file=path))
    return header, rows[1:]


def read_rows(
    path: str | Path, text: str, wanted: str
) -> tuple[list[str], list[tuple[int, dict[str, str]]], list[tuple[int, str]]]:
    """As `read_table`, with rows by column; those with more or fewer fields than the header are in the third list, with
    the reason, as `refuse_bad_rows` takes them."""
    header, rows = read_table(path, text, wanted)
    whole = [(line, dict(zip(header, fields, strict=True))) for line, fields in rows if len(fields) == len(header)]
    bad: list[tuple[int, str]] = [
        (line, message("file.fields", count=len(fields), expected=len(header)))
        for line, fields in rows
        if len(fields) != len(header)
    ]
    return header, whole, bad


def refuse_bad_rows(path: str | Path, bad: Sequence[tuple[int, str]], rows: int, parameter: str = "") -> None:
    """Raise for rows (line, reason), each with one reason or more: BadRow for one row that is wrong, BadFile that lists
    the first ten reasons for more.

    `parameter` is the one that the reasons name, as of an AuditError.
    """
    bad = sorted(bad, key=lambda row: row[0])
    wrong_lines = {line for line, _ in bad}
    if len(wrong_lines) == 1:
        raise BadRow(path, bad[0][0], joined("list.also", [reason for _, reason in bad]), parameter=parameter)
    if bad:
        lines = [message("file.row", line=line, reason=reason) for line, reason in bad]
        wrong = message(
            "file.wrong_rows", file=path, count=len(wrong_lines), whole=rows, lines=first_lines(lines, SHOWN)
        )
        raise BadFile(wrong, parameter=parameter)


def first_lines(lines: Sequence[str], most: int) -> str:
    """The first of some lines as one text, and how many more there are."""
    more = [message("list.more", count=len(lines) - most)] if len(lines) > most else []
    return joined("list.lines", [*lines[:most], *more])
