"""The code of docs/extending.md is one plug-in: it is executed, and what it registers works together."""

import re
import tomllib
from pathlib import Path

import pandas as pd
import pytest
from plugged import registries_kept

import audit
from audit import registry
from audit.relations import get_relation
from audit.relations.uses import EVERY
from audit.text import Analysis
from audit.text.tools import tools_of

PAGE = (Path(__file__).parents[1] / "docs" / "extending.md").read_text(encoding="utf-8")


def blocks(kind: str) -> list[str]:
    return re.findall(rf"```{kind}\n(.*?)```", PAGE, re.DOTALL)


@pytest.fixture
def loaded(tmp_path, monkeypatch):
    (tmp_path / "plugin_of_docs.py").write_text("\n".join(blocks("python")), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    with registries_kept():
        registry.load_plugin("plugin_of_docs")
        yield


@pytest.mark.slow
def test_the_pages_plugin_goes_from_run_to_report(loaded):
    study = audit.run(
        "tiny-entailment", systems=["overlap-baseline"], relations=["ENT.1"], task="entailment", workers=0
    )
    report = study.sample(2).answer_with_gold().report()
    (cell,) = report.to_frame().to_dict("records")
    assert (cell["satisfied"], cell["false"]) == (2, 1)


def test_its_perturbation_is_a_relation_of_every_task(loaded):
    pairs = pd.DataFrame({"text": ["It rains in Oslo."], "text_b": ["It rains."]})
    study = audit.run(
        pairs, systems={"one": lambda pair: "neutral"}, relations=["ellipsis"], task="inference", workers=0
    )
    assert list(study.report().relations) == ["ellipsis"]
    for task in EVERY:
        assert get_relation(task, "ellipsis").summary.startswith("The text trails off")


def test_its_language(loaded):
    spanish = tools_of("es").tag("¿Es buena?")
    assert [token.text for token in spanish] == ["¿", "Es", "buena", "?"]
    assert [token.text for token in Analysis("Es buena.", "es").tokens] == ["Es", "buena", "."]


def test_its_slice_and_its_relation_on_single_texts(loaded):
    study = audit.run(["A GOOD film.", "A bad film."], ["vader"], ["SHOUT.1", "ellipsis | lower-case"], workers=0)
    report = study.report(slices="shouting")
    assert list(report.relations) == ["SHOUT.1", "ellipsis | lower-case"]
    whole = report.slices[report.slices["relation"].isna()]
    assert whole[["by", "slice", "sources"]].values.tolist() == [["shouting", "yes", 1], ["shouting", "no", 1]]


def test_its_measure_rejects_what_changes_too_much(loaded):
    pairs = pd.DataFrame({"text": ["It rains.", "It rains in Oslo, as it always did."], "text_b": ["It rains."] * 2})
    systems = {"one": lambda pair: "neutral"}
    study = audit.run(pairs, systems, ["ellipsis"], task="inference", workers=0, valid=["length-change<0.1"])
    (entry,) = study.follow_ups(measures=["length-change"]).to_dict("records")
    assert entry["least"] < 0.1 < entry["most"]
    assert entry["rejected"] == study.ran.counts.outcomes["rejected"] == 1


def test_its_entry_point_is_of_the_group_there_is():
    (points,) = blocks("toml")
    assert list(tomllib.loads(points)["project"]["entry-points"]) == [registry.GROUP]
