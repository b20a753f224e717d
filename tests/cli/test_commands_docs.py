"""docs/commands.md is what its script writes from the commands, and docs/formats.md has every key of their JSON.

Reports have report.schema.json instead.

After simonw/sqlite-utils, tests/test_docs.py.
"""

import importlib.util
import json
import re
import shlex
from pathlib import Path

import pytest

from audit.cli import main

DOCS = Path(__file__).parents[2] / "docs"
FORMATS = (DOCS / "formats.md").read_text(encoding="utf-8")


def script():
    """docs/make_commands.py as a module."""
    specification = importlib.util.spec_from_file_location("make_commands", DOCS / "make_commands.py")
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


COMMANDS = {name: command for _, name, command in script().commands()}
WORKING = {name: command for name, command in COMMANDS.items() if not hasattr(command, "commands")}


def section(command):
    """The text from a command's heading in docs/formats.md to the next heading."""
    found = re.search(rf"^##+ `audit {command}`\n(.*?)(?=^##|\Z)", FORMATS, re.DOTALL | re.MULTILINE)
    return found.group(1) if found else None


def example(command):
    """The JSON that a section shows, or None."""
    found = re.search(r"```json\n(.*?)```", section(command) or "", re.DOTALL)
    return json.loads(found.group(1)) if found else None


def examples(command):
    return [line.removeprefix("Example: audit ") for line in (command.epilog or "").split("\n\n") if line]


def test_the_page_is_what_the_script_writes():
    assert (DOCS / "commands.md").read_text(encoding="utf-8") == script().page()


def test_every_command_is_described_and_has_examples_which_parse():
    for name, command in COMMANDS.items():
        assert command.help, name
        assert command.short_help, name
        assert [param.name for param in command.params if not param.help] == [], name
    for name, command in WORKING.items():
        assert examples(command), name
        for line in examples(command):
            words = shlex.split(line)
            assert words[: len(name.split())] == name.split()
            command.make_context(name, words[len(name.split()) :], help_option_names=["--help", "-h"])


def test_every_command_with_json_shows_it():
    for name, command in WORKING.items():
        has_json = any("--json" in param.opts for param in command.params)
        assert (example(name) is not None) == (
            has_json and name.split()[0] not in ("rerank", "report", "pivots", "values")
        ), name


DEEP = ("cells", "relations", "studies", "coefficients", "groups", "pairs", "annotators", "items", "people", "found")


def shape(value, deep=DEEP):
    """Keys of objects, with the shape of the first row of lists of objects."""
    if isinstance(value, list) and value and isinstance(value[0], dict):
        return [shape(value[0], deep)]
    if isinstance(value, dict):
        return {name: shape(one, deep) if name in deep else None for name, one in value.items()}
    return None


@pytest.mark.slow
def test_the_json_shown_has_the_keys_of_the_real_one(own, tmp_path, capsys, monkeypatch):
    (tmp_path / "reviews.csv").write_text("text,gold\nIt is good.,positive\nIt is bad.,negative", encoding="utf-8")
    group = {"relation": "X", "system": "a", "source": "S.", "follow_ups": ["F."], "outputs": ["positive", "positive"]}
    (tmp_path / "own.jsonl").write_text(json.dumps(group | {"verdict": "satisfied"}), encoding="utf-8")
    (tmp_path / "ratings.csv").write_text("item,annotator,label\n1,a,x\n1,b,x\n2,a,y\n2,b,x", encoding="utf-8")
    (tmp_path / "labels.csv").write_text("text,label\nIt is good.,positive\nElsewhere.,positive", encoding="utf-8")
    (tmp_path / "known.csv").write_text("text,answer\nIt is fine.,positive", encoding="utf-8")
    two = ",".join(own.specs("calm", "nervous"))
    assert main(f"run --db picked.db --corpus reviews.csv --systems {two} --workers 0".split()) == 0
    capsys.readouterr()
    (tmp_path / "past.csv").write_text(
        "system,source_language,target_language,source,translation\n" + "a,en,es,It rains.,Llueve.\n" * 2,
        encoding="utf-8",
    )
    study = f'corpus = "reviews.csv"\nsystems = ["{own.specs("calm")[0]}"]\nrelations = ["MR3.1"]\n'
    (tmp_path / "films.toml").write_text(f'name = "films"\n[study]\n{study}[sample]\nbase = 5', encoding="utf-8")
    monkeypatch.setenv("AUDIT_PASSWORD", "correct horse")
    calls = {
        "run": f"--corpus reviews.csv --systems {own.specs('calm')[0]} --relations MR3.1 --workers 0",
        "search": f"--corpus reviews.csv --systems {own.specs('calm')[0]} --relations MR3.1 --budget 4 --workers 0",
        "sample": "--base 5",
        "gold": "",
        "plan": "--pace 6 --price 20",
        "study check": "films.toml",
        "study set": "films.toml",
        "study freeze": "films",
        "study list": "",
        "study show": "films",
        "study run": "films --workers 0",
        "compare": "#1 #2 --db picked.db",
        "agreement": "--ratings ratings.csv --by pair",
        "annotators": "--ratings ratings.csv",
        "user add": "mia",
        "progress": "",
        "relations": "",
        "systems": "",
        "check": "vader",
        "corpora": "",
        "import-run": "own.jsonl --db other.db",
        "import-labels": "labels.csv --annotator crowd",
        "settings": "--set pass_mark=0.8",
        "known add": "known.csv --purpose training",
        "known pick": "--purpose gold --count 1 --db picked.db",
        "quality": "",
        "follow-ups": "--measures replaced",
        "export": "--out exported",
        "import": "exported --db again.db",
        "replay": "exported",
        "backup": "--out backup.db",
        "doctor": "",
    }
    for name, arguments in calls.items():
        as_json = ["--json"] if name != "user add" else []
        assert main([*name.split(), *arguments.split(), *as_json]) == 0
        shown = capsys.readouterr().out
        if as_json:
            assert shape(example(name)) == shape(json.loads(shown)), name
