"""`audit values ...` as commands: text, and JSON with the keys that docs/formats.md shows."""

import json

import pytest
import translation_study
from test_commands_docs import example, shape

from audit.cli import main
from audit.store import open_store

ACTIONS = {
    "bounds": "--at 0.5,0.6",
    "means": "--relation MCMT",
    "correlate": "--reference references.csv",
    "contribute": "--relations RTT,MCMT --reference references.csv",
    "levels": "--relations RTT,MGMT-sentence --domain domain",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("values_cli")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        translation_study.write_files(folder)
        engine = open_store(str(folder / "audit.db"), create=True)
        translation_study.run_study(engine, folder)
        engine.dispose()
    return folder


@pytest.mark.parametrize("action", ACTIONS)
def test_the_json_has_the_keys_that_are_documented(action, folder, capsys, monkeypatch):
    monkeypatch.chdir(folder)
    assert main(["values", action, *ACTIONS[action].split(), "--json"]) == 0
    deep = ("cells", "pairs", "groups", "means", "tests", "comparisons", "subsets", "sentences", "systems", "gains")
    assert shape(json.loads(capsys.readouterr().out), deep) == shape(example(f"values {action}"), deep)
