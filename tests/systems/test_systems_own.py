"""The user's own system: what may be handed over, and one sentence for whatever it does instead."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from audit.errors import AuditError, BadOutput
from audit.runner.batch import Batch
from audit.systems import get_system
from audit.systems.foreign import hearing
from audit.tasks import Input, Output

DOCS = Path(__file__).parents[2] / "docs" / "reference" / "systems.md"


@pytest.fixture
def module(tmp_path, monkeypatch):
    """Writes a module into an empty current directory; gives its name, which no other test has."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))

    def write(source, name=None):
        name = name or f"mine_{abs(hash(tmp_path))}"
        (tmp_path / f"{name}.py").write_text(source, encoding="utf-8")
        sys.modules.pop(name, None)
        return name

    return write


def test_the_examples_of_the_docs(module):
    blocks = re.findall(r"```python\n# (\w+)\.py\n(.*?)```", DOCS.read_text("utf-8"), re.DOTALL)
    assert [name for name, _ in blocks] == ["mine", "overlap", "translator", "model", "service", "liner"]
    for name, source in blocks[:4]:  # the last two: test_systems_docs.py
        module(source, name)
    function = get_system("mine:classify")
    assert function.run([Input.of("Boring."), Input.of("Fun.")]) == [Output("negative", 0.8), Output("positive", 0.6)]
    assert (function.name, function.tasks, function.languages, function.settings, function.needs()) == (
        *("mine:classify", ("sentiment",), ("en",)),
        *({}, None),
    )
    assert re.fullmatch(r"[0-9a-f]{12}", function.version)
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
        ("def f(text): return ['negative', 1]", "f", Output("negative", 1.0)),
        ("import numpy\ndef f(text): return numpy.str_('neutral'), numpy.float32(0.5)", "f", Output("neutral", 0.5)),
        ("from audit.tasks import Output\ndef f(text): return Output('neutral', .5)", "f", Output("neutral", 0.5)),
        ("class C:\n  def __call__(self, text): return text", "C", Output("good", None)),
        ("class C:\n  def predict(self, texts): return (t for t in texts)", "C", Output("good", None)),
    ],
)
def test_what_may_be_handed_over(module, source, name, wanted):
    with hearing() as heard:
        assert get_system(f"{module(source)}:{name}").run([Input.of("good")]) == [wanted]
    assert len(heard) == 1  # word for word, for who tries a system


PAIR = Input.of("我喜欢猫。", "我喜欢狗。", language="zh")
RAIN = Input.of("It rains.", target="es")


@pytest.mark.parametrize(
    ("task", "source", "wanted"),
    [
        ("similarity", "def f(pair): return 0.75", Output(score=0.75)),
        ("similarity", "import numpy\ndef f(pair): return numpy.float32(len(pair) / 4)", Output(score=0.5)),
        ("summarization", "def f(pair): return pair[0]", Output(text="我喜欢猫。")),
        ("classification/Cats,Dogs", "def f(pair): return ' cats ', .5", Output("Cats", 0.5)),
        (
            "translation",
            "def f(text, source, target): return f'{source}>{target} {text}'",
            Output(text="en>es It rains."),
        ),
        (
            "translation",
            "class f:\n  def predict(self, asked): return [t + s for t, s, d in asked]",
            Output(text="It rains.en"),
        ),
        ("similarity", "def f(pair): return 'strong'", "allowed are a number from 0 to 1, or an audit.tasks.Output"),
        ("classification/a,b", "def f(pair): return .5", "allowed are a label, a pair (label, score)"),
    ],
)
def test_each_task_has_outputs_of_its_kind(module, task, source, wanted):
    system = get_system(module(f"{source}\nf.tasks = ({task!r},)\n") + ":f")
    asked = [RAIN if task == "translation" else PAIR]
    if isinstance(wanted, Output):
        assert system.run(asked) == [wanted]
    else:
        with pytest.raises(BadOutput, match=re.escape(wanted)):
            system.run(asked)


@pytest.mark.parametrize(
    ("source", "error"),
    [
        ("def f(text):\n  if 'bad' in text: raise ValueError('no')\n  return 'positive'", "ValueError: no"),
        ("def f(text):\n  if 'bad' in text: raise SystemExit(3)\n  return 'positive'", "SystemExit: 3"),
        ("def f(text):\n  print(text)\n  return None if 'bad' in text else 'positive'", "returned None for 'bad'"),
        ("def f(text): return 'positive', float('nan' if 'bad' in text else 1)", "score nan is not a number"),
        ("def f(text): return 'great' if 'bad' in text else 'positive'", "label 'great' is not one of"),
        (
            "class f:\n  def predict(self, texts): return ['positive'] * (len(texts) + ('bad' in texts))",
            "2 outputs for 1",
        ),
    ],
)
def test_an_input_that_it_fails_at_costs_itself_in_one_sentence(module, source, error):
    """What hangs or ends the process: tests/runner/test_faults_systems.py."""
    inputs = tuple(map(Input.of, ["one", "bad", "two"]))
    first, bad, last = Batch(f"{module(source)}:f", "sentiment", inputs).work().outputs
    assert (first.label, bad.label, last.label) == ("positive", None, "positive")
    assert error in bad.error
    assert "\n" not in bad.error


@pytest.mark.parametrize("act", ["raise ValueError('boom')", "raise SystemExit(7)", "return act()"])
@pytest.mark.parametrize("place", ["act()\nf = print", "class f:\n  needs = act\n  def run(self, inputs): return []"])
def test_whatever_it_does_when_it_is_loaded_is_one_sentence(module, place, act):
    spec = module(f"def act(*_):\n  {act}\n\n{place}\n") + ":f"
    with pytest.raises(AuditError) as raised:
        get_system(spec)
    assert repr(spec) in str(raised.value)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("source", "spec", "reason"),
    [
        ("", "absent_module:f", "no module 'absent_module'"),
        ("f = 5", "{}:f", "is a int, which cannot be called"),
        ("def f(text) return 1", "{}:f", "cannot be loaded: SyntaxError"),
        ("def f(text): pass\nf.tasks = 'cooking'", "{}:f", "has tasks = ('cooking',): unknown task 'cooking'; "),
        ("def f(text): pass\nf.settings = {'model': f}", "{}:f", "it must be a dict of numbers, strings and lists"),
        ("class f:\n  def needs(self): pass\n  run = run_async = print", "{}:f", "has run_async, but not both of"),
    ],
)
def test_what_cannot_be_used_is_said(module, source, spec, reason):
    with pytest.raises(AuditError, match=re.escape(reason)):
        get_system(spec.format(module(source)))


def test_a_module_never_stands_in_for_pythons_own(module, tmp_path):
    module("raise RuntimeError('hostile')", "colorsys")
    spec = module("import colorsys\ndef f(text): return 'positive'") + ":f"
    assert get_system(spec).name == spec
    assert sys.path.index(str(tmp_path)) > max(map(sys.path.index, {p for p in sys.path if "site-packages" in p}))
    with pytest.raises(AuditError, match=r"has the same name as another module; rename the file"):
        get_system("colorsys:f")


def test_a_version_sees_what_code_reads_in_any_process(module, tmp_path):
    """Helpers, constants, closures and state, whatever the order of sets; what cannot be hashed is left out."""
    source = """
import sys, threading
from functools import lru_cache
import helpers
from audit.systems.own import code_version
WORDS = {"a", "b", "c", "d"}
class Model:
    def __init__(self, weight): self.weight, self.kinds = weight, frozenset(WORDS)
    def predict(self, texts): return [helpers.label(text) for text in texts]
@lru_cache
def cached(text): return helpers.label(text), WORDS
def recursive(text): return text and recursive(text[1:])
def closed(model): return lambda text: model
locked = Model(1); locked.lock = threading.Lock()
for thing in (Model(1), Model(2), Model(1).predict, cached, recursive, closed(Model(1)), closed(Model(2)), locked):
    print(code_version(thing))
"""
    printed = []
    for seed, label in (("1", "positive"), ("2", "positive"), ("1", "negative")):
        module(f"def label(text): return {label!r}", "helpers")
        ran = subprocess.run(
            [sys.executable, "-B", module(source, "printing") + ".py"], capture_output=True, text=True, check=True,
            env={**os.environ, "PYTHONHASHSEED": seed},
        )  # fmt: skip
        printed.append(ran.stdout.splitlines())
    first, again, changed = printed
    assert first == again
    assert len(set(first)) == 8
    assert [line == other for line, other in zip(first, changed, strict=True)] == [line == first[4] for line in first]
