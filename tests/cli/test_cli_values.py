"""`audit values ...` and `audit pivots` as commands: the tables that docs/formats.md names."""

import json

import pytest
import translation_study

from audit.cli import main
from audit.store import open_store

CALLS = {
    "values bounds --at 0.5,0.6": {"cells"},
    "values means --relations MCMT": {"means", "tests", "pairs"},
    "values correlate --reference references.csv": {"means", "systems", "sentences"},
    "values contribute --relations RTT,MCMT --reference references.csv": (
        {"pairs", "shares", "combinations", "bleu", "meteor", "wer", "gains"}
    ),
    "values levels --relations RTT,MGMT-sentence --domain domain": {"levels"},
    "pivots chains.csv": {"pivots", "pivots_means", "pivots_tests", "pivots_pairs"},
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
    chains = ["a,S,fr,de,eins,zwei,0", "a,T,fr,de,drei,drei,1", "b,S,fr,de,eins,eins,1", "b,T,fr,de,zwei,drei,0"]
    head = "system,source,pivot,target,direct,alternate,bleu"
    (folder / "chains.csv").write_text("\n".join([head, *chains]), encoding="utf-8")
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("call", CALLS)
def test_a_command_answers_with_its_tables(call, folder, capsys, monkeypatch):
    monkeypatch.chdir(folder)
    assert main([*call.split(), "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer.keys() == CALLS[call] | {"notes", "signature"}
    assert main(call.split()) == 0
    shown = capsys.readouterr().out
    assert "signature audit:" in shown
    assert all(head.replace("_", " ") in shown for head in answer[min(CALLS[call])][0] if head != "sr_observed")
