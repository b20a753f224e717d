"""The user's own system: what may be handed over, and what is said when it is wrong."""

import re
import sys
from pathlib import Path

import pytest

from audit.errors import AuditError, BadOutput
from audit.systems import get_system
from audit.tasks import Input, Output

DOCS = Path(__file__).parents[2] / "docs" / "reference" / "systems.md"


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty current directory; what is imported from it is forgotten afterwards."""
    monkeypatch.chdir(tmp_path)
    modules, paths = set(sys.modules), list(sys.path)
    yield tmp_path
    for name in set(sys.modules) - modules:
        if str(tmp_path) in str(getattr(sys.modules[name], "__file__", "")):
            del sys.modules[name]
    sys.path[:] = paths


def _module(folder: Path, source: str, name: str = "mine_0") -> str:
    (folder / f"{name}.py").write_text(source, "utf-8")
    return name


def _run(spec: str, *texts: str) -> list[Output]:
    return get_system(spec).run([Input.of(text) for text in texts])


def test_the_examples_of_the_docs(here: Path) -> None:
    blocks = re.findall(r"```python\n# (\w+)\.py\n(.*?)```", DOCS.read_text("utf-8"), re.DOTALL)
    assert [name for name, _ in blocks] == [
        "mine",
        "overlap",
        "translator",
        "model",
        "service",
        "liner",
    ]  # the last two: test_systems_docs.py
    assert len(blocks[0][1].strip().splitlines()) <= 3
    for name, source in blocks:
        (here / f"{name}.py").write_text(source, "utf-8")
    function = get_system("mine:classify")
    assert function.run([Input.of("Boring."), Input.of("Fun.")]) == [Output("negative", 0.8), Output("positive", 0.6)]
    assert function.name == "mine:classify"
    assert re.fullmatch(r"[0-9a-f]{12}", function.version)
    assert (function.tasks, function.languages, function.settings, function.needs()) == (
        ("sentiment",),
        ("en",),
        {},
        None,
    )
    model = get_system("model:Mine")
    assert (model.name, model.version, model.settings) == ("mine", "2026-11", {"threshold": 0.3})
    assert model.run([Input.of("good"), Input.of("")]) == [Output("positive", 0.9), Output("negative", 0.9)]
    overlap = get_system("overlap:overlap")
    assert (overlap.tasks, overlap.languages) == (("similarity",), ("zh",))
    assert overlap.run([Input.of("一二", "二三", language="zh")]) == [Output(score=1 / 3)]
    translator = get_system("translator:translate")
    assert (translator.tasks, translator.languages) == (("translation",), ("*",))
    inputs = [Input.of("It rains.", target="es"), Input.of("Llueve.", language="es", target="en")]
    assert translator.run(inputs) == [Output(text="Llueve."), Output()]


@pytest.mark.parametrize(
    ("source", "name", "wanted"),
    [
        ("def f(text): return 'POSITIVE '", "f", Output("positive", None)),
        ("def f(text): return ['negative', 1]", "f", Output("negative", 1.0)),
        ("import numpy\ndef f(text): return numpy.str_('neutral'), numpy.float32(0.5)", "f", Output("neutral", 0.5)),
        ("from audit.tasks import Output\ndef f(text): return Output('neutral', .5)", "f", Output("neutral", 0.5)),
        ("class C:\n  def __call__(self, text): return text", "C", Output("good", None)),
        ("class C:\n  def predict(self, texts): return (t for t in texts)", "C", Output("good", None)),
        ("class C:\n  @staticmethod\n  def f(text): return 'neutral'", "C.f", Output("neutral", None)),
        (
            "class C:\n  def predict(self, texts): return ['neutral'] * len(texts)\nc = C()",
            "c",
            Output("neutral", None),
        ),
        ("f = lambda text: 'neutral'", "f", Output("neutral", None)),
    ],
)
def test_what_may_be_handed_over(here: Path, source: str, name: str, wanted: Output) -> None:
    assert _run(f"{_module(here, source)}:{name}", "good") == [wanted]


PAIR = Input.of("我喜欢猫。", "我喜欢狗。", language="zh")


@pytest.mark.parametrize(
    ("tasks", "source", "wanted"),
    [
        ("similarity", "def f(pair): return 0.75", Output(score=0.75)),
        ("similarity", "import numpy\ndef f(pair): return numpy.float32(len(pair) / 4)", Output(score=0.5)),
        ("similarity", "class f:\n  def predict(self, pairs): return [1 for a, b in pairs]", Output(score=1.0)),
        ("summarization", "def f(pair): return pair[0]", Output(text="我喜欢猫。")),
        ("classification/Cats,Dogs", "def f(pair): return ' cats ', .5", Output("Cats", 0.5)),
        ("classification", "def f(pair): return 'cats'", Output("cats")),
    ],
)
def test_each_task_has_outputs_of_its_kind(here: Path, tasks: str, source: str, wanted: Output) -> None:
    spec = _module(here, f"{source}\nf.tasks = ({tasks!r},)\nf.languages = 'zh'\n") + ":f"
    system = get_system(spec)
    assert (system.tasks, system.languages) == ((tasks,), ("zh",))
    assert system.run([PAIR]) == [wanted]


@pytest.mark.parametrize(
    ("source", "wanted"),
    [
        ("def f(text, source, target): return f'{source}>{target} {text}'", Output(text="en>es It rains.")),
        ("class f:\n  def predict(self, asked): return [t + s + d for t, s, d in asked]", Output(text="It rains.enes")),
        ("class f:\n  def __call__(self, text, source, target): return None", Output()),
        (
            "from audit.tasks import Output\ndef f(*asked): return Output(text='Llueve.', score=.5)",
            Output(None, 0.5, "Llueve."),
        ),
    ],
)
def test_a_translator_is_told_the_languages(here: Path, source: str, wanted: Output) -> None:
    spec = _module(here, f"{source}\nf.tasks = ('translation',)\n") + ":f"
    assert get_system(spec).run([Input.of("It rains.", target="es")]) == [wanted]


@pytest.mark.parametrize(
    ("tasks", "source", "reason"),
    [
        ("similarity", "def f(pair): return 'strong'", "allowed are a number from 0 to 1, or an audit.tasks.Output"),
        ("similarity", "def f(pair): return True", "allowed are a number from 0 to 1"),
        ("summarization", "def f(pair): return 3", "allowed are a text, or an audit.tasks.Output"),
        ("classification/a,b", "def f(pair): return .5", "allowed are a label, a pair (label, score)"),
    ],
)
def test_an_output_of_another_kind_is_a_bad_output(here: Path, tasks: str, source: str, reason: str) -> None:
    with pytest.raises(BadOutput, match=re.escape(reason)):
        get_system(_module(here, f"{source}\nf.tasks = ({tasks!r},)\n") + ":f").run([PAIR])


def test_texts_of_a_pair_come_as_a_tuple(here: Path) -> None:
    spec = _module(here, "def f(pair): return 'positive' if pair == ('a', 'b') else 'negative'") + ":f"
    assert get_system(spec).run([Input.of("a", "b")]) == [Output("positive", None)]


def test_a_full_system_is_used_as_it_is(here: Path) -> None:
    source = "from audit.packs.english.systems import Vader\nclass Strict(Vader):\n  name = 'strict'\n"
    source += "  def __init__(self): super().__init__(neutral=0.5)\n"
    system = get_system(_module(here, source) + ":Strict")
    assert (system.name, system.settings) == ("strict", {"neutral": 0.5})


@pytest.mark.parametrize(
    ("source", "spec", "reason"),
    [
        ("", "absent_module:f", "no module 'absent_module'"),
        ("f = 5", "mine_0:f", "is a int, which cannot be called"),
        ("def f(text) return 1", "mine_0:f", "failed to import: SyntaxError"),
        ("def f(text): pass\nf.tasks = 'cooking'", "mine_0:f", "has tasks = ('cooking',): unknown task 'cooking'; "),
        ("def f(text): pass\nf.settings = {'model': f}", "mine_0:f", "settings that cannot be kept"),
        ("", ":f", "write module:name"),
    ],
)
def test_what_cannot_be_used_is_said(here: Path, source: str, spec: str, reason: str) -> None:
    _module(here, source)
    with pytest.raises(AuditError) as raised:
        get_system(spec)
    assert reason in str(raised.value)


def test_changed_code_is_another_version(here: Path) -> None:
    versions = set()
    for number in range(2):
        (here / "changing.py").write_text(f"def f(text): return 'neutral'  # {number}\n", "utf-8")
        sys.modules.pop("changing", None)
        versions.add(get_system("changing:f").version)
    assert len(versions) == 2
