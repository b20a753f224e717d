"""A user's own system may do anything when it is loaded, described or prepared: it is one sentence that names it."""

import sys
from pathlib import Path

import pytest

from audit.errors import AuditError
from audit.systems import get_system

ACTS = {
    "raises": "raise ValueError('boom')",
    "leaves": "raise SystemExit(7)",
    "odd": "raise type('Odd', (BaseException,), {})('odd')",
    "deep": "return act()",
}
PLACES = {
    "import": "act()\ndef f(text): return 'positive'",
    "init": "class f:\n  def __init__(self): act()\n  def __call__(self, text): return 'positive'",
    "needs": "class f:\n  def needs(self): return act()\n  def run(self, inputs): return []",
    **{
        name: f"class f:\n  {name} = property(lambda self: act())\n  def __call__(self, text): return 'positive'"
        for name in ("version", "settings")
    },
}


@pytest.fixture
def write_module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Writes a module into an empty current directory; gives its name, which no other test has."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))

    def write(source: str, act: str = "pass") -> str:
        name = f"foreign_{abs(hash(tmp_path))}"
        (tmp_path / f"{name}.py").write_text(f"def act():\n  {act}\n\n{source}\n", encoding="utf-8")
        return name

    return write


@pytest.mark.parametrize("act", ACTS)
@pytest.mark.parametrize("place", PLACES)
def test_whatever_it_raises_is_one_sentence(write_module, place: str, act: str) -> None:
    spec = write_module(PLACES[place], ACTS[act]) + ":f"
    with pytest.raises(AuditError) as raised:
        get_system(spec)
    said = str(raised.value)
    assert repr(spec) in said
    assert "\n" not in said
    said.encode("utf-8")


@pytest.mark.parametrize(
    ("part", "says"),
    [
        ("name = []", r"has name = \[\]; it must be a valid string"),
        ("version = 'x' * 1_000_000", r"has version = 'x+\.\.\.; it must have at most 200"),
        ("settings = {'a': 'half \\ud800'}", "settings that cannot be kept"),
        ("settings = {}; settings['me'] = settings", "settings that cannot be kept"),
        ("tasks = [object]", "has tasks = .*; it must be a valid string"),
        ("batch_seconds = float('inf')", "has batch_seconds = inf; it must be a finite number"),
        ("run_async = print", "has run_async, .*concurrency"),
    ],
)
def test_what_it_says_of_itself_is_checked(write_module, part: str, says: str) -> None:
    source = f"class f:\n  def needs(self): return None\n  def run(self, inputs): return []\n  {part}"
    with pytest.raises(AuditError, match=says):
        get_system(write_module(source) + ":f")


def test_a_module_never_stands_in_for_pythons_own(write_module, tmp_path: Path) -> None:
    (tmp_path / "colorsys.py").write_text("raise RuntimeError('hostile')")
    sys.modules.pop("colorsys", None)
    spec = write_module("import colorsys\ndef f(text): return 'positive'") + ":f"
    assert get_system(spec).name == spec
    assert sys.path.index(str(tmp_path)) > max(
        map(sys.path.index, {path for path in sys.path if "site-packages" in path})
    )
    with pytest.raises(AuditError, match=r"has the same name as another module; rename the file"):
        get_system("colorsys:f")
