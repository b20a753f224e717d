"""Names of what anybody may add: registering, finding, plug-ins that are broken, and how they are told of."""

import os
import subprocess
import sys

import pytest
from plugged import environment, registries_kept

from audit import registry
from audit.corpora import get_corpus
from audit.errors import AuditError, UnknownName
from audit.registry import Registry, load_plugin
from audit.resources import made
from audit.systems import all_systems, get_system, is_own, offer_system
from audit.tasks import Input

CALM = """
from audit import registry

@registry.systems.register("calm")
def classify(text):
    return "neutral"
"""


@pytest.fixture
def kept(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with registries_kept():
        yield tmp_path


def module(folder, name: str, text: str) -> str:
    (folder / f"{name}.py").write_text(text, encoding="utf-8")
    return name


def test_things_are_registered_by_call_by_decorator_and_by_where_they_are():
    shapes = Registry("shape")
    shapes.register("line", int)
    shapes.register("ordered", "collections:OrderedDict")

    @shapes.register("made")
    def make():
        return 3

    assert shapes.names() == ["line", "ordered", "made"]
    assert shapes.get("ordered")([(1, 2)]) == {1: 2}
    assert (shapes.get("made")(), "made" in shapes, "square" in shapes) == (3, True, False)
    with pytest.raises(UnknownName, match=r"unknown shape 'square'; known are: line, made, ordered$"):
        shapes.get("square")


def test_a_name_is_taken_once():
    shapes = Registry("shape")
    shapes.register("line", int)
    with pytest.raises(AuditError, match="shape 'line' is registered twice"):
        shapes.register("line", float)
    shapes.register("line", float, replace=True)
    assert shapes.get("line") is float


@pytest.mark.parametrize("spec", ["plain:x", "needs", "needs:", "may:", "nothing", "nothing:x"])
def test_specs_that_do_not_fit(spec):
    makers = {"plain": (str, ""), "needs": (str, "FILE"), "may": (str, "[URL]")}
    with pytest.raises(UnknownName, match=r"known are: may:\[URL\], needs:FILE, plain"):
        made("shape", spec, makers)
    assert [made("shape", fit, makers) for fit in ("plain", "needs:a:b", "may", "may:c")] == ["", "a:b", "", "c"]


def test_a_plugin_registers_when_it_is_loaded_once(kept):
    name = module(kept, "plugin_calm", CALM)
    load_plugin(name)
    load_plugin(name)
    assert os.environ[registry.VARIABLE] == name
    assert get_system("calm").run([Input.of("A film.")])[0].label == "neutral"
    assert [system.name for system in all_systems()][-1] == "calm"
    assert is_own("calm")
    assert registry.systems.find("calm").origin == name
    with pytest.raises(AuditError, match="has the name of a built-in one"):
        offer_system("calm", lambda: get_system("vader"))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1 / 0", r"the plug-in 'plugin_bad' could not be loaded \(ZeroDivisionError: division by zero\)"),
        ("raise SystemExit(3)", r"could not be loaded \(SystemExit: 3\)"),
        ("import no_such_package", r"ModuleNotFoundError: No module named 'no_such_package'"),
        (
            "from audit import registry\nregistry.systems.register('vader', int)",
            "system 'vader' is registered twice, by audit itself",
        ),
        ("from audit import registry\nregistry.systems.register('a:b', int)", "'a:b' cannot be the name of a system"),
    ],
)
def test_a_plugin_that_cannot_be_loaded_is_one_sentence(kept, text, message):
    name = module(kept, "plugin_bad", text)
    with pytest.raises(AuditError, match=message) as caught:
        load_plugin(name)
    assert "\n" not in str(caught.value)
    assert not os.environ[registry.VARIABLE]


def test_a_module_or_a_corpus_that_is_not_there_is_one_sentence(kept):
    with pytest.raises(AuditError, match=r"no module 'mine.py' .* mine for mine.py"):
        load_plugin("mine.py")
    code = "from audit import registry\n@registry.corpora.register('three')\ndef three():\n    raise ValueError('no')\n"
    load_plugin(module(kept, "plugin_three", code))
    with pytest.raises(AuditError, match=r"\(ValueError: no\)"):
        get_corpus("three")


@pytest.mark.slow
def test_entry_points_that_are_broken_or_take_names_of_ours_are_told_and_left_out(tmp_path):
    info = tmp_path / "broken_plugin-2.1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: broken-plugin\nVersion: 2.1\n", encoding="utf-8")
    points = "[audit.plugins]\nmissing = nowhere\ntaken = plugin_taken\nfine = plugin_calm\n"
    (info / "entry_points.txt").write_text(points, encoding="utf-8")
    module(tmp_path, "plugin_calm", CALM)
    module(tmp_path, "plugin_taken", CALM.replace("calm", "vader"))
    code = "from audit.systems import all_systems, get_system; print([s.name for s in all_systems()][-1:])"
    ran = subprocess.run(
        [sys.executable, "-c", f"{code}; print(type(get_system('vader')).__module__)"],
        capture_output=True, text=True, check=True, cwd=tmp_path, env=environment(tmp_path),
    )  # fmt: skip
    assert ran.stdout.splitlines() == ["['calm']", "audit.packs.english.systems"]
    said = sorted(ran.stderr.splitlines())
    assert len(said) == 2
    assert "system 'vader' is registered twice, by audit itself" in said[1]
    assert "no module 'nowhere' for a plug-in" in said[0]
