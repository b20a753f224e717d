"""The example plug-in from the command line: loaded by its name and installed, in workers, and when it is absent."""

import json
import subprocess
import sys

import pandas as pd
import pytest
from plugged import EXAMPLE, MODULE, environment, install, plugged

import audit
from audit.annotation.guidelines import guideline_of
from audit.reports.study import study_report
from audit.runner.executors import Dask
from audit.runner.run import fitting, run
from audit.store import open_store
from audit.store.brought import absent_plugins

RUN = ("run", "--db", "a.db", "--corpus", "tiny-inference", "--systems", "overlap")


@pytest.fixture(params=["installed", "by name"])
def command(request, tmp_path):
    """Runs a command where the example is; its standard output."""
    if request.param == "installed":
        (tmp_path / "site").mkdir()
        where = environment(install(tmp_path / "site"))
    else:
        where = environment(EXAMPLE, plugins=MODULE)
    return lambda *arguments: _run(tmp_path, where, *arguments).stdout


def _run(folder, where, *arguments, status=0):
    ran = subprocess.run(
        [sys.executable, "-m", "audit", *arguments], cwd=folder, env=where, capture_output=True, text=True, check=False
    )
    assert ran.returncode == status, ran.stderr
    return ran


def test_run_sample_answer_and_report(command, tmp_path):
    command(*RUN, "--workers", "2")
    command("sample", "--db", "a.db", "--per-relation", "10")
    command("gold", "--db", "a.db")
    report = json.loads(command("report", "--db", "a.db", "--interval", "agresti-coull", "--json"))
    (cell,) = report["cells"]
    assert (cell["relation"], cell["system"], cell["satisfied"], cell["judged"]) == ("NLI1.1", "overlap", 10, 10)
    assert report["signature"]["interval"] == "agresti-coull"

    assert "overlap" in command("systems", "--task", "inference")
    assert "NLI1.1" in command("relations", "--task", "inference")
    assert "tiny-inference" in command("corpora", "--task", "inference")


def test_without_it_a_database_says_what_is_missing_and_how_to_bring_it(tmp_path):
    here = environment(EXAMPLE, plugins=MODULE)
    _run(tmp_path, here, *RUN, "--workers", "0")
    _run(tmp_path, here, "sample", "--db", "a.db", "--per-relation", "10")
    refused = _run(tmp_path, environment(), "report", "--db", "a.db", status=2).stderr
    assert "task inference of this database comes from the plug-in audit_example.plugin, which is not there" in refused
    assert "--plugin audit_example.plugin" in refused
    assert "Traceback" not in refused
    assert "tiny-inference" in _run(tmp_path, environment(), "runs", "--db", "a.db").stdout  # what needs no plug-in


def test_a_lost_rule_is_told_in_the_report(tmp_path):
    """The relation is one of a task of ours, so that everything but its rule can be counted."""
    (tmp_path / "plugin_shout.py").write_text(
        "from audit import equivalent, relation\n\n"
        '@relation("SHOUT", check=equivalent, preserves="label")\n'
        "def shout(text):\n    return text.upper()\n",
        encoding="utf-8",
    )
    (tmp_path / "films.csv").write_text("text,gold\nA good film.,positive\nA bad film.,negative\n", encoding="utf-8")
    here = environment(plugins="plugin_shout")
    _run(tmp_path, here, "run", "--db", "a.db", "--corpus", "films.csv", "--systems", "vader", "--relations", "SHOUT",
         "--workers", "0")  # fmt: skip
    _run(tmp_path, here, "sample", "--db", "a.db", "--per-relation", "2")
    _run(tmp_path, here, "gold", "--db", "a.db")
    whole = _run(tmp_path, here, "report", "--db", "a.db", "--json")
    assert json.loads(whole.stdout)["cells"][0]["judged"] == 2
    assert "plug-in" not in whole.stdout + whole.stderr
    partly = _run(tmp_path, environment(), "report", "--db", "a.db", "--json")
    (note,) = [one for one in json.loads(partly.stdout)["signature"]["notes"] if "plug-in" in one]
    assert note.startswith(
        "Relation sentiment/SHOUT of this database comes from the plug-in plugin_shout, which is not"
    )
    assert "--plugin plugin_shout" in note
    assert partly.stderr.count("sentiment/SHOUT") == 1


def test_workers_of_dask_load_it(tmp_path):
    pytest.importorskip("distributed")
    with plugged():
        engine = open_store(str(tmp_path / "a.db"), create=True)
        corpus = audit.registry.corpora.get("tiny-inference")()
        with Dask(workers=2) as executor:
            ran = run(engine, corpus, ["overlap"], fitting(corpus, []), executor)
        assert (ran.counts.outcomes["satisfied"], ran.counts.failed) == (10, 0)
        with engine.connect() as connection:
            assert absent_plugins(connection) == []


def test_the_library_takes_it(tmp_path):
    with plugged():
        study = audit.run("tiny-inference", systems=["overlap"], relations=["NLI1.1"], task="inference")
        report = study.sample(per_relation=10).answer_with_gold().report(interval="agresti-coull")
        assert report.relations["NLI1.1"].order_observed == ("overlap",)
        frame = pd.DataFrame({"item": [1, 1, 2, 2], "annotator": list("abab"), "label": list("xxyy")})
        assert audit.agreement(frame).to_frame().set_index("name").loc["brennan_prediger", "estimate"] == 1.0
        assert study_report(study.engine, interval="agresti-coull")["signature"]["interval"] == "agresti-coull"


def test_guidelines_of_a_plugin_and_of_nobody():
    with plugged():
        own = guideline_of.__wrapped__("inference", "input")
        assert own.text.startswith("**Read the premise, then the hypothesis.**")
        assert own.version == 1
        assert guideline_of.__wrapped__("inference", "input", "zh").text == own.text  # it has none in Chinese
        bare = audit.registry.tasks.register("bare", audit.tasks.LabelTask("bare", ("a", "b"), "Which?"))
        assert "{labels}" in guideline_of.__wrapped__(bare.name, "input", "zh").text
        assert guideline_of.__wrapped__(bare.name, "group").text == guideline_of("sentiment", "group").text
