"""JSON, TOML and files of others: each thing that can be wrong with them is a sentence, and nothing hangs."""

import json
import os
import socket

import pytest

from audit.errors import BadFile
from audit.files import Excessive, parse_json, read_bytes, read_json, read_text, toml_of


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[" * 100_000, "nested too deeply"),
        ('{"a":' * 100_000, "nested too deeply"),
        ("9" * 10_000, "10,000 digits; at most 308 are allowed"),
        ("-" + "9" * 400, "401 digits"),
        ('{"a": 1e400}', "1e400 is too large a number"),
        ("[-1e400]", "-1e400 is too large a number"),
        ("[NaN]", "NaN is no number of JSON"),
        ("[-Infinity]", "-Infinity is no number of JSON"),
    ],
    ids=lambda value: value[:12],
)
def test_json_that_nobody_can_use(text, says, tmp_path):
    for form in (text, text.encode(), text.encode("utf-16")):
        with pytest.raises(Excessive, match=says):
            parse_json(form)
    (tmp_path / "a.json").write_text(text, encoding="utf-8")
    with pytest.raises(BadFile, match=rf"a\.json: .*{says}.*; export again$"):
        read_json(tmp_path / "a.json", "export again")


@pytest.mark.parametrize("text", ["{", "", "a", '"a" b', b"\xff\xfe\xfd", '{"a": 1,}'])
def test_what_is_no_json(text):
    with pytest.raises((json.JSONDecodeError, UnicodeDecodeError)):
        parse_json(text)


def test_json_and_toml_say_what_they_say():
    assert parse_json('{"a": [1, -2.5, 1e300, "\\ud83d\\ude00", null, true]}') == {
        "a": [1, -2.5, 1e300, "😀", None, True]
    }
    assert parse_json("9" * 308) == int("9" * 308)
    assert toml_of("a.toml", "a = [1, 0x1f, 2.5]\n[b]\nc = 1979-05-27", "")["a"] == [1, 31, 2.5]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("a = ", "this is not TOML: Invalid value"),
        ("a = " + "[" * 100_000, "nested too deeply"),
        (".".join("a" * 5_000) + " = 1", "nested too deeply"),
        ("a = " + "9" * 10_000, "a whole number of more than 308 digits"),
        ("[a]\nb = 0x1" + "0" * 10_000, "a.b: the whole number has more than 308 digits"),
        ("a = [0, 1e400]", "a.1: inf is not a number"),
        ("a = nan", "a: nan is not a number"),
    ],
    ids=lambda value: value[:12],
)
def test_toml_that_nobody_can_use(text, says):
    with pytest.raises(BadFile, match=rf"^a\.toml: (there is |tables or lists are )?{says}.*; see the page$"):
        toml_of("a.toml", text, "see the page")


@pytest.mark.skipif(os.name == "nt", reason="pipes, sockets and devices of POSIX")
@pytest.mark.parametrize("read", [read_text, read_bytes])
def test_what_is_no_file_is_refused_without_waiting(tmp_path, monkeypatch, read):
    monkeypatch.chdir(tmp_path)  # a socket's name is short
    os.mkfifo("pipe")
    (tmp_path / "link").symlink_to("pipe")
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind("socket")
        for name, says in (
            ("pipe", "a named pipe"),
            ("link", "a named pipe"),
            ("socket", "a socket"),
            ("/dev/zero", "a device"),
            (".", "a folder"),
            ("absent", "there is no such file"),
            ("pipe/below", "cannot be read"),
            ("n" * 300, "cannot be read"),
            ("a\0b", "cannot be read"),
        ):
            with pytest.raises(BadFile, match=says):
                read(name)
