"""The example plug-in from the command line: loaded by its name and installed, in workers, and when it is absent."""

import json
import subprocess
import sys

import pytest
from dask_cluster import started
from plugged import EXAMPLE, MODULE, environment, install, plugged, registries_kept

import audit
from audit.cli import main
from audit.runner.executors import Dask
from audit.runner.fitting import fitting
from audit.runner.options import RunOptions
from audit.runner.run import run
from audit.store import open_store
from audit.store.brought import absent_plugins

RUN = ("run", "--db", "a.db", "--corpus", "tiny-inference", "--systems", "overlap")


@pytest.fixture
def call(tmp_path, capsys):
    """Runs a command that loads this plug-in, and is the first to do so; what it printed to stdout and stderr."""

    def run_command(*arguments, plugin="", status=0):
        with registries_kept() as patch:
            patch.chdir(tmp_path)
            patch.syspath_prepend(str(EXAMPLE))
            assert main([*(["--plugin", plugin] if plugin else []), *arguments]) == status
        return capsys.readouterr()

    return run_command


def _installed(folder, *arguments):
    """Runs a command in a process of its own, where the example is installed; its standard output."""
    ran = subprocess.run(
        [sys.executable, "-m", "audit", *arguments],
        cwd=folder, env=environment(folder / "site"), capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


@pytest.mark.parametrize("how", [pytest.param("installed", marks=pytest.mark.slow), "by name"])
def test_run_sample_answer_and_report(call, tmp_path, how):
    if how == "installed":
        (tmp_path / "site").mkdir()
        install(tmp_path / "site")

    def command(*arguments):
        return _installed(tmp_path, *arguments) if how == "installed" else call(*arguments, plugin=MODULE).out

    command(*RUN, "--workers", "2")
    command("sample", "--db", "a.db", "--base", "10")
    command("gold", "--db", "a.db")
    report = json.loads(command("report", "--db", "a.db", "--json"))
    (cell,) = report["cells"]
    assert (cell["relation"], cell["system"], cell["satisfied"], cell["judged"]) == ("NLI1.1", "overlap", 10, 10)

    assert "overlap" in command("systems", "--task", "entailment")
    assert "NLI1.1" in command("relations", "--task", "entailment")
    assert "tiny-inference" in command("corpora", "--task", "entailment")
    shown = command("follow-ups", "NLI1.1", "--corpus", "tiny-inference", "--show", "2")
    assert shown.count("That is what was said.") == 2


def test_without_it_a_database_says_what_is_missing_and_how_to_bring_it(call):
    call(*RUN, "--workers", "0", plugin=MODULE)
    call("sample", "--db", "a.db", "--base", "10", plugin=MODULE)
    refused = call("report", "--db", "a.db", status=2).err
    assert "task entailment of this database comes from the plug-in audit_example.plugin, which is not there" in refused
    assert "--plugin audit_example.plugin" in refused
    assert "Traceback" not in refused
    assert "tiny-inference" in call("runs", "--db", "a.db").out  # what needs no plug-in


@pytest.mark.slow
def test_a_lost_rule_is_told_in_the_report(call, tmp_path):
    """The relation is one of a task of ours, so that everything but its rule can be counted."""
    (tmp_path / "plugin_shout.py").write_text(
        "from audit import equivalent, relation\n\n"
        '@relation("SHOUT", check=equivalent, preserves="label")\n'
        "def shout(text):\n    return text.upper()\n",
        encoding="utf-8",
    )
    (tmp_path / "films.csv").write_text("text,gold\nA good film.,positive\nA bad film.,negative\n", encoding="utf-8")
    run_it = ("run", "--db", "a.db", "--corpus", "films.csv", "--systems", "vader", "--relations", "SHOUT")
    call(*run_it, "--workers", "0", plugin="plugin_shout")
    call("sample", "--db", "a.db", "--base", "2", plugin="plugin_shout")
    call("gold", "--db", "a.db", plugin="plugin_shout")
    whole = call("report", "--db", "a.db", "--json", plugin="plugin_shout")
    assert json.loads(whole.out)["cells"][0]["judged"] == 2
    assert "plug-in" not in whole.out + whole.err
    partly = call("report", "--db", "a.db", "--json")
    (note,) = [note for note in json.loads(partly.out)["signature"]["notes"] if "plug-in" in note]
    assert note.startswith(
        "Relation sentiment/SHOUT of this database comes from the plug-in plugin_shout, which is not"
    )
    assert "--plugin plugin_shout" in note
    assert partly.err.count("sentiment/SHOUT") == 1


@pytest.mark.slow
def test_workers_of_dask_load_it(tmp_path):
    pytest.importorskip("distributed")
    with plugged(), started(path=(EXAMPLE,)) as cluster:
        engine = open_store(str(tmp_path / "a.db"), create=True)
        corpus = audit.registry.corpora.get("tiny-inference")()
        with Dask(cluster.address) as executor:
            ran = run(engine, corpus, ["overlap"], fitting(corpus, RunOptions(relations=[])), executor)
        assert (ran.counts.outcomes["satisfied"], ran.counts.failed) == (10, 0)
        with engine.connect() as connection:
            assert absent_plugins(connection) == []
