"""Reading the user's files, and the JSON and TOML of others: one message for each thing that can be wrong with them."""

import csv
import gzip
import io
import json
import math
import os
import re
import stat
import tomllib
import zipfile
import zlib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from importlib import import_module
from itertools import chain, islice
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any, NoReturn

from audit.errors import AuditError, BadFile, BadRow, first_line, installed_extras
from audit.keys import canonical, fingerprint
from audit.messages import joined, message

if TYPE_CHECKING:
    import pandas as pd

SHOWN = 10  # How many bad rows a message lists; it always says how many there are


def read_text(path: str | Path) -> str:
    """The text of a file in UTF-8, with or without byte order mark, or in UTF-16. Raises BadFile."""
    return text_of(path, read_bytes(path))


def read_bytes(path: str | Path, most: int | None = None) -> bytes:
    """What a file holds, or with `most` so many of its first bytes. Raises BadFile."""
    refuse_no_file(path)
    try:
        with open(path, "rb") as file:
            return file.read(-1 if most is None else most)
    except OSError as problem:
        raise BadFile(message("file.unreadable", file=path, reason=problem.strerror)) from problem


def refuse_no_file(path: str | Path) -> None:
    """Raise BadFile unless there is an ordinary file: a pipe could make its reader wait for ever."""
    try:
        mode = os.stat(path).st_mode
    except FileNotFoundError:
        raise BadFile(f"{path}: there is no such file") from None
    except (OSError, ValueError) as problem:  # a NUL byte in the name is a ValueError
        reason = getattr(problem, "strerror", problem)
        raise BadFile(message("file.unreadable", file=path, reason=reason)) from None
    if not stat.S_ISREG(mode):
        raise BadFile(f"{path}: this is no file; name a file")


def _number(spelled: str) -> float:
    if math.isfinite(number := float(spelled)):
        return number
    raise ValueError(f"{spelled[:40]} is not a number to compute with")


_JSON = json.JSONDecoder(parse_float=_number, parse_constant=_number)
raw_json = _JSON.raw_decode
"""`parse_json` for a text that begins with JSON: the value, and where it ends. Raises RecursionError, too."""


def parse_json(text: str | bytes) -> Any:
    """Return what JSON of somebody else says. Python's numbers that JSON does not know (NaN, Infinity) are refused, and
    so are those that are too large for a float. Raises ValueError with a reason for a sentence.

    >>> parse_json("[1e400]")
    Traceback (most recent call last):
    ValueError: 1e400 is not a number to compute with
    """
    try:
        return _JSON.decode(text if isinstance(text, str) else text.decode(json.detect_encoding(text)))
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def read_json(path: str | Path, advice: str) -> Any:
    """Return what a file of JSON says. Raises BadFile, which ends with the advice."""
    try:
        return parse_json(read_text(path))
    except ValueError as problem:
        raise BadFile(f"{path}: not JSON ({problem}); {advice}") from None


def toml_of(path: str | Path, text: str, advice: str) -> dict[str, Any]:
    """Return what TOML of somebody else says; `path` is for messages. Raises BadFile, which ends with the advice."""
    try:
        return tomllib.loads(text, parse_float=_number)
    except RecursionError:
        reason = "it is nested too deeply"
    except ValueError as problem:  # a whole number of thousands of digits, too
        reason = str(problem)
    raise BadFile(f"{path}: not TOML ({reason}); {advice}")


def text_of(path: str | Path, content: bytes) -> str:
    """Return the text of what was read elsewhere (an upload); `path` is for messages. Raises BadFile."""
    try:
        text = content.decode(_encoding(content))
    except UnicodeDecodeError:
        _refuse_encoding(path, content)
    if not text.strip():
        raise BadFile(message("file.empty", file=path))
    return text


def unstorable(text: str) -> str | None:
    """Return what a text holds that no database and no file in UTF-8 can, and what to do; None: nothing."""
    if "\0" in text:
        return "a NUL byte; remove it"
    try:
        text.encode()
    except UnicodeEncodeError:
        return "half a character (a lone surrogate); write the file as UTF-8"
    return None


def refuse_bad_rows(
    path: str | Path,
    bad: Sequence[tuple[int, str]],
    rows: int,
    parameter: str | tuple[str, ...] = "",
    advice: Sequence[str] = (),
) -> None:
    """Raise for rows (line, reason): BadRow for one row that is wrong, BadFile that lists the first ten reasons for
    more. `parameter` is as of an AuditError; `advice` ends the sentence."""
    bad = sorted(bad, key=lambda row: row[0])
    wrong_lines = {line for line, _ in bad}
    if len(wrong_lines) == 1:
        reasons = joined("list.also", [*(reason for _, reason in bad), *advice])
        raise BadRow(path, bad[0][0], reasons, parameter=parameter)
    if bad:
        lines = [message("file.row", line=line, reason=reason) for line, reason in bad]
        shown = first_lines(lines, SHOWN)
        wrong = message("file.wrong_rows", file=path, count=len(wrong_lines), whole=rows, lines=shown)
        raise BadFile(joined("list.also", [wrong, *advice]), parameter=parameter)


def first_lines(lines: Sequence[str], most: int) -> str:
    """The first of some lines as one text, and how many more there are."""
    more = [message("list.more", count=len(lines) - most)] if len(lines) > most else []
    return joined("list.lines", [*lines[:most], *more])


# Tables of the user's: one reader for corpora, labels, ratings and all else that has rows and columns.

PIECE = 20_000  # Rows that are in memory at once, of a table that is read in pieces
LARGE = 20 << 20  # Bytes above which a file is not kept in memory
MISSING = frozenset({"", "NA", "#N/A", "<NA>", "NaN", "nan", "NULL", "null", "None"})
"""What R, Excel, pandas and SQL write where a label is missing. "none" in small letters is a label of audit's."""
LABEL = "label"
"""The column that may be several of a file, one for each annotator (`label=ann+ben`), and may hold lists."""
_SEPARATORS = {".csv": ",", ".tsv": "\t"}
_TABLES = (".csv", ".tsv", ".jsonl", ".ndjson", ".json", ".xlsx", ".parquet")
_PACKED = (".gz", ".zip")
csv.field_size_limit(4_000_000)  # a longer field is a quotation mark that nobody closed


def is_table_name(name: str) -> bool:
    """Return whether a name ends as those of the tables that `read_pieces` reads."""
    return PurePath(name).suffix.lower() in (*_TABLES, *_PACKED)


def read_table(
    path: str | Path,
    needed: Sequence[str],
    optional: Iterable[str] = (),
    *,
    columns: Mapping[str, str] | None = None,
    content: bytes | None = None,
    may_be_empty: Collection[str] = (),
    bad: list[tuple[int, str]] | None = None,
) -> "pd.DataFrame":
    """Return the `needed` columns of a table and those of `optional` that it has, as text: a field that is missing is
    "".

    The index has the line of each row. Names count in any case; `columns` has our name -> the file's (None: nobody can
    say). `content` is what the file holds, where it was read already. Raises BadFile for a file that cannot be read,
    lacks a needed column, has one twice or has no rows; BadRow or BadFile for rows with another number of fields, or an
    empty needed one, unless these are to be added to `bad`."""
    import pandas as pd

    wrong: list[tuple[int, str]] = [] if bad is None else bad
    raw = pd.concat(read_pieces(path, wrong, content))
    if raw.columns.empty:  # JSONL of which no line could be read
        refuse_bad_rows(path, wrong, len(wrong))
    wanted = list(dict.fromkeys([*needed, *optional]))
    columns_there = named_columns(path, list(raw.columns), wanted, columns or {})
    wide = len(columns_there.get(LABEL, ())) > 1  # the columns of labels are the annotators
    if lacking := [name for name in needed if name not in columns_there and not (wide and name == "annotator")]:
        there = f"needed are {', '.join(needed)}, and there are {', '.join(raw.columns)}"
        hints = ["say with columns=OURS=THEIRS which is meant"] if columns is not None else []
        hints += ["where each annotator has a column: columns=label=A+B"] if LABEL in lacking else []
        sentence = "; ".join([f"{path}: column(s) {', '.join(lacking)} missing; {there}", *hints])
        raise BadFile(sentence, parameter="columns" if hints else "")
    frame = pd.DataFrame(
        {name: raw.iloc[:, columns_there[name][0]] for name in wanted if name in columns_there}, dtype=object
    )
    if wide:
        frame = pd.concat(frame.assign(annotator=raw.columns[at], label=raw.iloc[:, at]) for at in columns_there[LABEL])
        frame = frame.sort_index(kind="stable")
    if {LABEL, "annotator"} <= {*frame}:
        frame = _each_annotator(frame, wrong)
    frame = frame.fillna("").map(as_text)
    for name in (name for name in needed if name not in may_be_empty):
        empty = frame[name] == ""
        wrong += [(line, message("file.empty_column", column=name)) for line in frame.index[empty]]
        frame = frame[~empty]
    if bad is None:
        refuse_bad_rows(path, wrong, len(raw) + len({line for line, _ in wrong} - set(raw.index)))
    return frame


def refuse_unknown_columns(columns: Iterable[str], allowed: Sequence[str]) -> None:
    """Raise AuditError for a name of ours, in `columns`, that such a file does not have."""
    if unknown := next((name for name in columns if name not in allowed), None):
        sentence = f"columns {unknown!r}: a file has no such column of ours; allowed are {', '.join(allowed)}"
        raise AuditError(sentence, parameter="columns")


def named_columns(
    path: str | Path, written: Sequence[str], wanted: Iterable[str], columns: Mapping[str, str]
) -> dict[str, list[int]]:
    """Where the columns with our names are among those of a file; LABEL may be in several. Raises BadFile for one that
    `columns` names and the file does not have, and for one that is there twice."""
    folded = [name.casefold() for name in written]
    taken = {theirs.casefold() for theirs in columns.values()}
    found: dict[str, list[int]] = {}
    for ours in wanted:
        theirs = columns.get(ours)
        if theirs is None and ours.casefold() in taken:
            continue  # it is read as another column
        name = theirs or ours
        several = ours == LABEL and name.casefold() not in folded
        places: list[int] = []
        for part in map(str.strip, name.split("+") if several else [name]):
            exact = [at for at, other in enumerate(written) if theirs is not None and other == part]
            here = exact or [at for at, other in enumerate(folded) if other == part.casefold()]
            if len(here) > 1:
                raise BadFile(message("file.column_twice", file=path, column=part))
            if theirs is not None and not here:
                has = f"which columns names; it has: {', '.join(map(repr, written))}"
                raise BadFile(f"{path}: there is no column {theirs!r}, {has}", parameter="columns")
            places += here
        if places:
            found[ours] = places
    return found


def _each_annotator(frame: "pd.DataFrame", bad: list[tuple[int, str]]) -> "pd.DataFrame":
    """The frame with a row for each annotator of a list of them, and their labels of the list beside it."""
    sizes = frame[[LABEL, "annotator"]].map(lambda value: len(value) if isinstance(value, list) else None)
    many = sizes["annotator"].notna()
    uneven = many & (sizes["annotator"] != sizes[LABEL])
    bad += [(line, "the lists of labels and annotators have different lengths") for line in frame.index[uneven]]
    return frame[~uneven].explode([LABEL, "annotator"]) if many.any() else frame


def sha_of(path: str | Path) -> str:
    """Names what a file holds, for signatures; the line ends of a text make no difference."""
    content = read_bytes(path)
    try:
        return fingerprint(content.decode("utf-8-sig").splitlines())
    except UnicodeDecodeError:
        return fingerprint([content.decode("latin-1")])


def as_text(value: object) -> str:
    """Return a field as text: of a list its texts with + between them, as tasks write several labels of one text."""
    if isinstance(value, str):
        return value.strip()
    return "+".join(map(as_text, value)) if isinstance(value, list) else canonical(value)


def first_spelling(values: "pd.Series") -> "pd.Series":
    """Texts that differ in case alone as the first of them is written: the rule for labels and names everywhere."""
    return values.groupby(values.str.casefold(), sort=False).transform("first")


def read_pieces(path: str | Path, bad: list[tuple[int, str]], content: bytes | None = None) -> Iterator["pd.DataFrame"]:
    """Yield the rows of a table in frames of `PIECE` rows at most, at least one: columns as they are written, the index
    the line of each row (of a sheet the row, of one JSON array or a Parquet file the number).

    Fields are text without spaces at their ends; None where JSON or Parquet has none; lists and objects as they are.
    Reads CSV with the separator that its first line shows (comma, semicolon, tab, bar), JSONL, one JSON array, Excel's
    first sheet and Parquet, by the end of the name, also in .gz and in a .zip of one file; in UTF-8 or UTF-16. Columns
    without a name are left out, and so are blank rows. Rows that cannot be read are added to `bad` with the reason.
    Raises BadFile, and BadRow where quotation marks do not match."""
    has_rows = False
    with _unpacked(path, content) as (name, stream):
        kind = PurePath(name).suffix.lower()
        if kind not in _TABLES:
            raise BadFile(message("file.bad_suffix", file=path, suffixes=_TABLES, packed=_PACKED))
        if kind in (".parquet", ".xlsx"):
            frames = _whole_table(path, kind, stream, bad)
        else:
            text = _decoded(stream)  # held here: it closes the file when nobody holds it
            own = _SEPARATORS.get(kind)
            frames = _framed(path, _delimited(path, text, own), bad) if own else _objects(path, text, bad)
        try:
            for frame in frames:
                has_rows = has_rows or bool(len(frame))
                yield frame
        except UnicodeDecodeError:
            _refuse_encoding(path, content)
    if not has_rows and not bad:
        raise BadFile(message("file.no_rows", file=path))


def read_lines(path: str | Path) -> Iterator[str]:
    """Yield the lines of a text in UTF-8 or UTF-16, packed or not, without holding all of it. Raises BadFile."""
    has_lines = False
    with _unpacked(path, None) as (_, stream):
        try:
            for line in _decoded(stream):
                has_lines = has_lines or bool(line.strip())
                yield line
        except UnicodeDecodeError:
            _refuse_encoding(path, None)
    if not has_lines:
        raise BadFile(message("file.empty", file=path))


def plain_frame(frame: "pd.DataFrame", name: str | Path) -> "pd.DataFrame":
    """Return a frame with the fields that `read_pieces` gives; rows count from 1. Raises BadRow for half a
    character."""
    import pandas as pd

    columns = {at: [_plain(value) for value in frame.iloc[:, at]] for at in range(frame.shape[1])}
    for row, values in enumerate(zip(*columns.values(), strict=True), start=1):
        for value in values:
            if isinstance(value, str) and not value.isascii() and (fault := unstorable(value.replace("\0", ""))):
                raise BadRow(name, row, fault)
    index = pd.RangeIndex(1, len(frame) + 1)
    return pd.DataFrame(columns, index=index, dtype=object).set_axis([str(name).strip() for name in frame], axis=1)


def _plain(value: Any) -> Any:
    """A field as text, list or dict; None where there is none."""
    if isinstance(value, str):
        return value.strip()
    value = value.tolist() if hasattr(value, "tolist") else value  # NumPy's
    if value is None or type(value).__name__ == "NAType" or value != value:
        return None
    if isinstance(value, list | tuple):
        return list(value)
    return value if isinstance(value, dict) else canonical(value) if isinstance(value, int | float) else str(value)


@contextmanager
def _unpacked(path: str | Path, content: bytes | None) -> Iterator[tuple[str, io.BufferedReader]]:
    """The name of a table, and its bytes."""
    if content is None:
        refuse_no_file(path)
    with ExitStack() as stack:
        try:
            raw: Any = io.BytesIO(content) if content is not None else stack.enter_context(open(path, "rb"))
            name, packed = PurePath(path).name, raw
            if name.lower().endswith(".gz"):
                name, packed = name[:-3], gzip.GzipFile(fileobj=raw)
            elif name.lower().endswith(".zip"):
                archive = stack.enter_context(zipfile.ZipFile(raw))
                names = [entry for entry in archive.namelist() if not entry.endswith("/") and "__MACOSX" not in entry]
                if len(names) != 1:
                    raise BadFile(f"{path}: there are {len(names)} files in it; a .zip needs exactly one")
                name, packed = names[0], archive.open(names[0])
            yield name, io.BufferedReader(packed)
        except (OSError, EOFError, zipfile.BadZipFile, zlib.error) as problem:
            reason = getattr(problem, "strerror", None) or problem
            raise BadFile(message("file.unreadable", file=path, reason=reason)) from problem


def _encoding(start: bytes) -> str:
    return "utf-16" if start.startswith((b"\xff\xfe", b"\xfe\xff")) else "utf-8-sig"


def _decoded(stream: io.BufferedReader) -> io.TextIOWrapper:
    return io.TextIOWrapper(stream, _encoding(stream.peek(2)), newline=None)


def _refuse_encoding(path: str | Path, content: bytes | None) -> NoReturn:
    """Raise BadFile for what is no UTF-8, with how the line reads in the encoding that it may have: GB18030 where that
    gives usual Chinese characters, else Windows-1252."""
    with _unpacked(path, content) as (name, stream):
        for number, line in enumerate(stream, start=1):
            try:
                line.decode()
            except UnicodeDecodeError as problem:
                start, encoding = max(0, problem.start - 20), "GB18030"
                try:
                    line.decode(encoding).encode("gb2312")
                except UnicodeError:
                    encoding = "WINDOWS-1252"
                shown = line[start:].decode(encoding, "replace")[:40].strip()
                place = {"file": path, "line": number, "byte": line[problem.start]}
                raise BadFile(message("file.not_utf8", encoding=encoding, shown=shown, name=name, **place)) from None
    raise AssertionError(f"{path} is UTF-8")


_Line = tuple[int, list[str]]


def _delimited(path: str | Path, text: Iterable[str], own: str) -> Iterator[_Line]:
    """The rows of a CSV, blank ones too, with the line that each begins on; the separator is the one that is most
    often in the first line, outside quotation marks."""
    lines = iter(text)
    head = []
    for line in lines:
        head.append(line)
        if line.strip():
            break
    bare = re.sub('"[^"]*"', "", head[-1] if head else "")
    mark = max(",;\t|", key=lambda mark: (bare.count(mark), mark == own))
    reader = csv.reader(chain(head, lines), delimiter=mark, strict=True)
    started = 1
    try:
        for row in reader:
            yield started, row
            started = reader.line_num + 1
    except csv.Error as problem:  # from here on nobody can tell rows apart, so this is the only row to report
        raise BadRow(path, started, message("file.not_csv", reason=problem)) from problem


def _whole_table(
    path: str | Path, kind: str, stream: io.BufferedReader, bad: list[tuple[int, str]]
) -> Iterable["pd.DataFrame"]:
    """The first sheet of an Excel file, or a Parquet file."""
    import pandas as pd

    with installed_extras():
        import_module("pyarrow" if kind == ".parquet" else "openpyxl")
    try:
        if kind == ".parquet":
            return [plain_frame(pd.read_parquet(stream), path)]
        rows = pd.read_excel(stream, header=None, dtype=str, na_filter=False).to_numpy().tolist()
    except (ValueError, KeyError, TypeError) as problem:
        raise BadFile(message("file.unreadable", file=path, reason=first_line(problem))) from problem
    return _framed(path, enumerate(rows, start=1), bad)


def _framed(path: str | Path, rows: Iterable[_Line], bad: list[tuple[int, str]]) -> Iterator["pd.DataFrame"]:
    """Rows below a header as frames; those of another length go to `bad`."""
    import pandas as pd

    stripped = ((line, [field.strip() for field in row]) for line, row in rows)
    filled = ((line, row) for line, row in stripped if any(row))
    _, header = next(filled, (0, list[str]()))
    if not header:
        raise BadFile(message("file.empty", file=path))
    named = [at for at, name in enumerate(header) if name]
    while piece := list(islice(filled, PIECE)):
        whole: dict[int, list[str]] = {}
        for line, row in piece:
            if len(row) == len(header) or (len(row) > len(header) and not any(row[len(header) :])):
                whole[line] = [row[at] for at in named] if len(named) < len(row) else row
            else:
                bad.append((line, message("file.fields", count=len(row), expected=len(header), names=header)))
        index = pd.Index([*whole], dtype="int64")
        yield pd.DataFrame([*whole.values()], index, [header[at] for at in named], dtype=object)


def _objects(path: str | Path, text: Iterable[str], bad: list[tuple[int, str]]) -> Iterator["pd.DataFrame"]:
    """The objects of JSON, one a line or all in one array, as frames; what is no object goes to `bad`."""
    import pandas as pd

    lines: Iterable[tuple[int, str]] = ((at, line) for at, line in enumerate(text, start=1) if line.strip())
    if (first := next(iter(lines), None)) is None:
        raise BadFile(message("file.empty", file=path))
    lines, whole = chain([first], lines), None
    if not isinstance(_parsed(first[1]), dict):
        lines = list(lines)
        whole = _parsed("".join(line for _, line in lines))
    if isinstance(whole, dict):
        raise BadFile(f"{path}: this is one JSON object; write an array of objects, or one object a line")
    by_line = ((number, _parsed(line)) for number, line in lines)
    values = enumerate(whole, start=1) if isinstance(whole, list) else by_line
    while piece := list(islice(values, PIECE)):
        objects: dict[int, dict[str, Any]] = {}
        for number, value in piece:
            if not isinstance(value, dict):
                bad.append(
                    (
                        number,
                        str(value)
                        if isinstance(value, ValueError)
                        else f"a JSON {type(value).__name__}; every row must be a JSON object",
                    )
                )
            elif fault := unstorable(canonical(value)):  # half a character: pandas cannot hold it either
                bad.append((number, fault))
            else:
                objects[number] = value
        names = list(dict.fromkeys(name for value in objects.values() for name in value))
        cells = [[_plain(value.get(name)) for name in names] for value in objects.values()]
        yield pd.DataFrame(cells, pd.Index([*objects], dtype="int64"), [name.strip() for name in names], dtype=object)


def _parsed(text: str) -> Any:
    """Return what JSON says; a ValueError where it is none."""
    try:
        return parse_json(text)
    except ValueError as problem:
        return ValueError(f"not JSON ({problem}); every line must be one JSON object, or the file one array of them")
