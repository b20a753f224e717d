"""The catalogue and the code: every code that is used is there in both languages, with the fields that are filled in,
and every code that is there is used; what the app can refuse is a message, and reads well in Chinese."""

import ast
import re
import string
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from audit.errors import UnknownName
from audit.messages import _flat, catalogue, from_stored, message, said, stored
from audit.resources import data_file

ROOT = Path(__file__).parents[1]
ROOMS = ("judging", "ui")
ENGLISH_ALONE = ("judging/options.py", "judging/labels.py", "judging/judges.py")
"""Where every error is a message, since annotators and adjudicators read it; and files that commands alone use."""
DYNAMIC = {
    **dict.fromkeys(("welcome.", "account.", "join.", "first.", "reset."), "audit.ui.sign_in_pages: the forms"),
    "streamlit.": "data/ui/page.js: what Streamlit's page says by itself",
}
"""Beginnings of codes that are put together while the program runs, and where."""
COMMANDS = ("api.", "known.", "settings.", "token.", "upload.", "words.", "wrong.")
"""Beginnings of codes that only commands and programs are told, in English alone."""


@cache
def trees() -> dict[str, ast.Module]:
    files = (ROOT / "audit").rglob("*.py")
    return {str(path.relative_to(ROOT / "audit")): ast.parse(path.read_text(encoding="utf-8")) for path in files}


def fields(text: str) -> set[str]:
    parts = [(name, spec) for _, name, spec, _ in string.Formatter().parse(text) if name]
    return {name for name, _ in parts}.union(*(fields(spec) for _, spec in parts if spec))


def called(node: ast.AST) -> str:
    function = node.func if isinstance(node, ast.Call) else None
    return (
        function.id if isinstance(function, ast.Name) else function.attr if isinstance(function, ast.Attribute) else ""
    )


def constants(node: ast.AST) -> list[str]:
    """The codes that an argument can be, as far as they are written there."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return [node.value]
    return [*constants(node.body), *constants(node.orelse)] if isinstance(node, ast.IfExp) else []


def says_messages(tree: ast.Module) -> bool:
    """Whether `message` means that of the catalogue: another room has a function of this name."""
    imports = (node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module == "audit.messages")
    return any(alias.name == "message" for node in imports for alias in node.names)


def calls() -> Iterator[tuple[str, ast.Call]]:
    for name, tree in trees().items():
        if says_messages(tree) or name == "messages.py":
            yield from ((name, node) for node in ast.walk(tree) if called(node) == "message")


@cache
def written() -> tuple[frozenset[str], tuple[re.Pattern[str], ...]]:
    """Every text of the code, and a pattern of each that is put together."""
    nodes = [node for tree in trees().values() for node in ast.walk(tree)]
    texts = {node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)}
    for template in (ROOT / "data").glob("*.j2"):
        texts |= set(re.findall(r'"([a-z_.]+)"', template.read_text(encoding="utf-8")))
    patterns = set()
    for node in nodes:
        if isinstance(node, ast.JoinedStr) and isinstance(node.values[0], ast.Constant):
            parts = [re.escape(part.value) if isinstance(part, ast.Constant) else ".*" for part in node.values]
            if re.match(r"[a-z_]+\\\.", parts[0]):
                patterns.add("".join(parts))
    return frozenset(texts), tuple(map(re.compile, sorted(patterns)))


def test_every_message_of_the_code_is_in_the_catalogue_with_its_fields() -> None:
    checked = 0
    for name, call in calls():
        passed = {keyword.arg for keyword in call.keywords}
        codes = constants(call.args[0])
        for code in codes:
            assert code in catalogue("en"), (name, call.lineno, code)
            wanted = fields(catalogue("en")[code])
            assert None in passed or wanted <= passed, (name, call.lineno, code)
            assert None in passed or len(codes) > 1 or passed <= wanted | {"count"}, (name, call.lineno, code)
            checked += 1
    assert checked > 150


def test_every_code_of_the_catalogue_is_used() -> None:
    texts, patterns = written()
    for code in catalogue("en"):
        used = code in texts or any(pattern.fullmatch(code) for pattern in patterns)
        assert used or code.startswith(tuple(DYNAMIC)), code


def test_languages_have_the_same_codes_fields_and_ends() -> None:
    """What the app and reports say is there in Chinese; what is not is said by errors of commands and programs."""
    english = catalogue("en")
    chinese = dict(_flat(tomllib.loads(data_file("messages/zh.toml").read_text(encoding="utf-8")), ""))
    of_chinese = ("relation.", "expects.", "family.", "streamlit.")
    assert [code for code in chinese.keys() - english.keys() if not code.startswith(of_chinese)] == []
    said_by_code = {code for _, call in calls() for code in constants(call.args[0])}
    assert [code for code in english.keys() - chinese.keys() if not code.startswith(COMMANDS)] == []
    for code in chinese.keys() & english.keys():
        assert fields(chinese[code]) <= fields(english[code]) | {"count"}, code
        assert chinese[code] or not english[code].strip(), code
        if code in said_by_code:  # part of another sentence or not: both the same
            assert english[code].endswith(".") == chinese[code].endswith("。"), code


def of_audit() -> set[str]:
    """The names of all errors."""
    names = {"AuditError"}
    classes = [node for tree in trees().values() for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
    for _ in range(4):  # as deep as they are
        names |= {node.name for node in classes if names & {ast.unparse(base) for base in node.bases}}
    return names


def test_errors_that_the_app_can_show_are_messages() -> None:
    kinds, raised = of_audit() - {"NoForm", "UnknownName", "BadRow"}, 0
    for name, tree in trees().items():
        if name.split("/")[0] not in ROOMS or name in ENGLISH_ALONE:
            continue
        for node in ast.walk(tree):
            if called(node) in kinds and isinstance(node, ast.Call) and node.args:
                assert not isinstance(node.args[0], ast.Constant | ast.JoinedStr | ast.BinOp), (name, node.lineno)
                raised += 1
    assert raised > 50


def test_an_unknown_name_says_what_is_there() -> None:
    problem = UnknownName("relation", "MR9", ["MR1", "MR2"], ["no disk"])
    assert str(problem) == "unknown relation 'MR9'; did you mean 'MR2'? known are: MR1, MR2; no disk"
    assert str(UnknownName("swan", "x", [])) == "unknown swan 'x'; known are: none"


def test_messages_outlive_the_database_and_the_worker() -> None:
    nested = message("file.at_line", file="own.csv", line=3, reason=message("file.empty_column", column='"e"'))
    assert said(nested, "zh") == 'own.csv，第 3 行：列 "e" 是空的'
    assert message("note.not_checked", count=1).startswith("1 group was not checked")
    for sentence in (nested, message("wrong.choice", what="answer", value="x", allowed=("a", "b"))):
        assert said(from_stored(stored(sentence)), "zh") == said(sentence, "zh")
    hidden = stored(
        message("file.unreadable", file="a", reason="pa55word"), lambda text: text.replace("pa55word", "***")
    )
    assert from_stored(hidden) == "a: cannot be read (***)"
    for old in ("killed (out of memory)", "[]", "3", '{"code": "no.such", "parameters": {}}', "{", '{"code": 3}'):
        assert from_stored(old) == old
