"""JSON, TOML and files of others: each thing that can be wrong with them is a sentence, and nothing hangs."""

import gzip
import io
import json
import os
import zipfile

import pandas as pd
import pytest

from audit.errors import BadFile, BadRow
from audit.files import parse_json, read_bytes, read_json, read_table, read_text, toml_of


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[" * 100_000, "nested too deeply"),
        ("9" * 10_000, "Exceeds the limit"),
        ("[-1e400]", "-1e400 is not a number to compute with"),
        ("[NaN]", "NaN is not a number to compute with"),
        ("[-Infinity]", "-Infinity is not a number to compute with"),
    ],
    ids=lambda value: value[:12],
)
def test_json_that_nobody_can_use(text, says, tmp_path):
    with pytest.raises(ValueError, match=says):
        parse_json(text.encode("utf-16"))
    (tmp_path / "a.json").write_text(text, encoding="utf-8")
    with pytest.raises(BadFile, match=rf"a\.json: .*{says}.*; export again$"):
        read_json(tmp_path / "a.json", "export again")


def test_json_and_toml_say_what_they_say():
    assert parse_json('{"a": [1, -2.5, 1e300, "\\ud83d\\ude00", null, true]}') == {
        "a": [1, -2.5, 1e300, "😀", None, True]
    }
    assert parse_json("9" * 308) == int("9" * 308)
    assert toml_of("a.toml", "a = [1, 0x1f, 2.5]\n[b]\nc = 1979-05-27", "")["a"] == [1, 31, 2.5]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("a = ", "Invalid value"),
        ("a = " + "[" * 100_000, "it is nested too deeply"),
        ("a = " + "9" * 10_000, "Exceeds the limit"),
        ("a = [0, 1e400]", "1e400 is not a number"),
        ("a = nan", "nan is not a number"),
    ],
    ids=lambda value: value[:12],
)
def test_toml_that_nobody_can_use(text, says):
    with pytest.raises(BadFile, match=rf"^a\.toml: not TOML \({says}.*\); see the page$"):
        toml_of("a.toml", text, "see the page")


@pytest.mark.skipif(os.name == "nt", reason="pipes and devices of POSIX")
@pytest.mark.parametrize("read", [read_text, read_bytes])
def test_what_is_no_file_is_refused_without_waiting(tmp_path, monkeypatch, read):
    monkeypatch.chdir(tmp_path)
    os.mkfifo("pipe")
    (tmp_path / "link").symlink_to("pipe")
    for name, says in (
        ("pipe", "this is no file"),
        ("link", "this is no file"),
        ("/dev/zero", "this is no file"),
        (".", "this is no file"),
        ("absent", "there is no such file"),
        ("pipe/below", "cannot be read"),
        ("n" * 300, "cannot be read"),
        ("a\0b", "cannot be read"),
    ):
        with pytest.raises(BadFile, match=says):
            read(name)


# Tables: every form of the same rows is read alike, and what cannot be read says why.

ROWS = [('It\'s "good", really; yes|no', "positive"), ("床很软。\nIch mag es\tnicht.", "negative")]
FRAME = pd.DataFrame(ROWS, columns=["Text ", "Gold"])


def _delimited(separator: str) -> str:
    return FRAME.to_csv(index=False, sep=separator, lineterminator="\r\n")


def _zipped(content: bytes, *names: str) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name in names:
            archive.writestr(name, content)
    return packed.getvalue()


def _binary(write) -> bytes:
    content = io.BytesIO()
    write(content)
    return content.getvalue()


OBJECTS = FRAME.to_dict("records")
CSV = _delimited(",").encode()
FORMS = {
    "commas.csv": CSV,
    "mark.csv": b"\xef\xbb\xbf" + CSV,
    "semicolons.csv": _delimited(";").encode(),
    "tabs.csv": _delimited("\t").encode(),
    "bars.csv": _delimited("|").encode(),
    "a.tsv": _delimited("\t").encode(),
    "utf16.csv": _delimited("\t").encode("utf-16"),
    "blank.csv": b"\r\n" + CSV + b",\r\n  , \r\n",
    "trailing.csv": "".join(
        line + ",," + end for line, end in [('Text,Gold', "\n"), ('"It\'s ""good"", really; yes|no",positive', "\n"),
                                            ('"床很软。\nIch mag es\tnicht.",negative', "\n")]
    ).encode(),
    "lines.jsonl": "\n".join(json.dumps(row) for row in OBJECTS).encode(),
    "array.jsonl": json.dumps(OBJECTS, indent=1).encode(),
    "array.json": json.dumps(OBJECTS).encode(),
    "a.csv.gz": gzip.compress(CSV),
    "a.zip": _zipped(CSV, "a.csv"),
    "a.xlsx": _binary(lambda to: FRAME.to_excel(to, index=False)),
    "a.parquet": _binary(FRAME.to_parquet),
}  # fmt: skip


@pytest.mark.parametrize("name", FORMS)
def test_every_form_of_a_table_is_read_alike(name, tmp_path):
    (tmp_path / name).write_bytes(FORMS[name])
    for table in (
        read_table(tmp_path / name, ["text"], ["GOLD", "absent"]),
        read_table(name, ["text"], ["GOLD"], content=FORMS[name]),
    ):
        assert table.columns.tolist() == ["text", "GOLD"]
        assert [*table.itertuples(index=False, name=None)] == ROWS


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("a.csv", "text\n这家店的服务很好。\n".encode("gb18030"), "line 2: .* as GB18030 it reads '这家店"),
        ("a.csv", "text\nA crème brûlée.\n".encode("cp1252"), "as WINDOWS-1252 it reads 'A crème brûlée.'.* iconv"),
        ("a.csv", b"text,text\na,b\n", "column 'text' twice"),
        ("a.csv", b"Text,TEXT\na,b\n", "column 'text' twice"),
        ("a.csv", b"text,gold\na\n", "line 2: 1 field where the header has 2"),
        ("a.csv", b"text,gold\na,b,c\n", "line 2: 3 fields where the header has 2"),
        ("a.csv", b"text\n ,\n", "no rows"),
        ("a.csv", b"review\na\n", r"column\(s\) text missing.*there are review"),
        ("a.json", b'{"text": "a",\n "b": 1}', "one JSON object"),
        ("a.jsonl", b'{"text": "a"}\n{"text": \n', "line 2: not JSON"),
        ("a.json", b'[{"text": "a"}, 3]', "line 2: a JSON int"),
        ("a.gz", gzip.compress(b"text\na\n"), "must end in .csv"),
        ("a.csv.gz", b"text\na\n", "cannot be read"),
        ("a.zip", _zipped(CSV, "a.csv", "b.csv"), "2 files in it"),
        ("a.zip", CSV, "cannot be read"),
        ("a.xlsx", CSV, "cannot be read"),
        ("a.parquet", CSV, "cannot be read"),
    ],
    ids=lambda value: value[:20] if isinstance(value, str) else "",
)  # fmt: skip
def test_a_table_that_cannot_be_read_says_why(name, content, says):
    with pytest.raises((BadFile, BadRow), match=says):
        read_table(name, ["text"], content=content)


def test_columns_are_read_as_they_are_named():
    content = b"Label,text,review\nold,a,A\n"
    table = read_table("a.csv", ["text", "label"], columns={"text": "Review"}, content=content)
    assert table.iloc[0].tolist() == ["A", "old"]


def test_lists_of_labels_are_several_labels_of_a_text_or_one_of_each_annotator():
    lines = b'{"text": "a", "label": ["x", "y"]}\n{"text": "b", "label": []}'
    assert read_table("a.jsonl", ["text"], ["label"], content=lines)["label"].tolist() == ["x+y", ""]
    lines = b'{"text": "a", "q": ["x", "y"], "by": ["ann", "ben"]}\n{"text": "b", "q": ["x"], "by": ["ben"]}'
    columns = {"label": "q", "annotator": "by"}
    table = read_table("a.jsonl", ["text", "label"], ["annotator"], columns=columns, content=lines)
    assert table["label"].tolist() == ["x", "y", "x"]
    assert table["annotator"].tolist() == ["ann", "ben", "ben"]


def test_lines_are_those_of_the_file(tmp_path):
    content = b'text,x\n"a\nb",1\n\nc,2\n'
    assert read_table("a.csv", ["text"], content=content).index.tolist() == [2, 5]
