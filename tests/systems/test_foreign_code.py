"""A user's own system may do anything when it is loaded, described or prepared: it is one sentence that names it."""

import signal
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from audit.errors import AuditError
from audit.relations import get_relation
from audit.runner.executors import InProcess, Processes
from audit.runner.run import AllFailed, loaded, prepared, run
from audit.store import open_store
from audit.systems import get_system
from audit.systems.foreign import Left, contained, foreign

ACTS = {
    "raises": "raise ValueError('boom')",
    "leaves": "raise SystemExit(7)",
    "ends": "import os; os._exit(7)",
    "interrupts": "raise KeyboardInterrupt",
    "odd": "raise type('Odd', (BaseException,), {})('odd')",
    "deep": "return act()",
    "half": "raise ValueError('half \\ud800')",
}
PLACES = {
    "import": "act()\ndef f(text): return 'positive'",
    "init": "class f:\n  def __init__(self): act()\n  def __call__(self, text): return 'positive'",
    "needs": "class f:\n  def needs(self): return act()\n  def run(self, inputs): return []",
    **{
        name: f"class f:\n  {name} = property(lambda self: act())\n  def __call__(self, text): return 'positive'"
        for name in ("name", "version", "settings", "tasks", "languages")
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
        ("name = []", r"has name = \[\]; it must be a text of 1 to 200 printable"),
        ("name = 'a\\ud800'", r"has name = 'a\\ud800'; it must"),
        ("version = 'x' * 1_000_000", r"has version = 'x+\.\.\.; it must"),
        ("version = 10 ** 10_000", "cannot tell its version: ValueError: Exceeds the limit"),
        ("settings = {'a': float('nan')}", "settings that cannot be kept"),
        ("settings = {'a': 'half \\ud800'}", "settings that cannot be kept"),
        ("settings = {'a': 10 ** 10_000}", "settings that cannot be kept"),
        ("settings = {}; settings['me'] = settings", "settings that cannot be kept"),
        ("settings = {'a': 'x' * 200_000}", "has settings of 200,008 characters; at most 100,000"),
        ("tasks = [object]", "has tasks = .*; it must be a list of names"),
        ("languages = ('e\\n',)", "has languages = .*; it must be a list of names"),
        ("call_size = 0", "has call_size = 0; it must be a whole number from 1"),
        ("batch_seconds = float('inf')", "has batch_seconds = inf; it must be a number from"),
        ("needs = lambda self: 5", "returned 5; it must be None or a text"),
        ("run_async = print", "has run_async, .*concurrency"),
    ],
)
def test_what_it_says_of_itself_is_checked(write_module, part: str, says: str) -> None:
    source = f"class f:\n  def needs(self): return None\n  def run(self, inputs): return []\n  {part}"
    with pytest.raises(AuditError, match=says):
        get_system(write_module(source) + ":f")


@pytest.mark.parametrize("apart", [True, False])
@pytest.mark.parametrize("place", ["import", "init"])
def test_one_that_hangs_is_given_up(write_module, place: str, apart: bool) -> None:
    spec = write_module(PLACES[place], "import time; time.sleep(600)") + ":f"
    with pytest.raises(AuditError, match=r"cannot be loaded: no end within 0.3 s; a longer time limit"):
        loaded([spec], 0.3, apart)


@pytest.mark.parametrize(
    ("act", "limit", "says"),
    [
        ("import os; os._exit(0)", 60, "its process ended with status 0"),
        ("import time; time.sleep(600)", 1, "no end within 1 s"),
    ],
)
def test_preparing_in_another_process_costs_that_process(write_module, act: str, limit: int, says: str) -> None:
    source = "class f:\n  def prepare(self): act()\n  def __call__(self, text): return 'positive'"
    spec = write_module(source, act) + ":f"
    with pytest.raises(AuditError, match=rf"prepare\(\) of the system .* failed: {says}"):
        prepared(loaded([spec], 60), limit, apart=True)


COUNTED = """
import pathlib


def loadings():
    file = pathlib.Path(__file__).with_suffix(".count")
    file.write_text((file.read_text() if file.exists() else "") + "x")
    return len(file.read_text())


class Base:
    def __init__(self): again(self, loadings())
    def __call__(self, text): return "positive"


class Waiting(Base):
    concurrency, batch = 2, 2
    def needs(self): return None
    def run(self, inputs): raise NotImplementedError
    async def run_async(self, inputs): raise NotImplementedError
"""
AGAIN = {
    "raises": ("if n > LAST: raise OSError('no more')", "cannot be created without arguments: OSError: no more"),
    "leaves": ("if n > LAST: raise SystemExit(3)", "cannot be created without arguments: SystemExit: 3"),
    "ends": ("import os\n  if n > LAST: os._exit(3)", "cannot be created without arguments: SystemExit: 3"),
    "version": ("self.version = str(n > LAST)", "had version .* at first, and version .* when it was loaded once more"),
    "settings": ("self.settings = {'a': n > LAST}", "settings .* at first, and .*settings .* loaded once more"),
    "name": ("self.name = 'n' + str(n > LAST)", "had name .* at first, and name .* loaded once more"),
    "tasks": (
        "self.tasks = ('similarity',) if n > LAST else ('sentiment',)",
        "tasks .* at first, and .*tasks|not sent",
    ),
}


@pytest.mark.parametrize("last", [1, *(pytest.param(last, marks=pytest.mark.slow) for last in (2, 3))])
@pytest.mark.parametrize("kind", ["Base", "Waiting"])
@pytest.mark.parametrize(("act", "says"), AGAIN.values(), ids=list(AGAIN))
def test_one_that_is_another_when_it_is_loaded_again_is_refused(
    write_module, toy_corpus, kind, last, act, says
) -> None:
    """Loaded for trying, by the run, for preparing, by a worker: whichever time, it is one sentence."""
    spec = f"{write_module(f'{COUNTED}{chr(10)}def again(self, n):{chr(10)}  {act}'.replace('LAST', str(last)))}:{kind}"
    engine = open_store("sqlite://", create=True)
    with Processes(1) as at_work, pytest.raises(AuditError, match=says) as raised:
        run(engine, toy_corpus(), [spec], [get_relation("sentiment", "MR3.1")], at_work, time_limit=1)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("kind", ["Base", "Waiting"])
def test_one_that_is_another_when_this_process_loads_it_again_is_refused(write_module, toy_corpus, kind) -> None:
    spec = f"{write_module(f'{COUNTED}{chr(10)}def again(self, n): self.version = str(n > 1)')}:{kind}"
    engine = open_store("sqlite://", create=True)
    with pytest.raises(AuditError, match=r"had version .* loaded once more"):
        run(engine, toy_corpus(), [spec], [get_relation("sentiment", "MR3.1")], InProcess(), time_limit=1)


@pytest.mark.parametrize("executor", [InProcess, lambda: Processes(2)])
def test_every_worker_prepares_it(write_module, toy_corpus, executor) -> None:
    source = (
        "class f:\n  model = None\n  def prepare(self): self.model = 'positive'\n"
        "  def predict(self, texts): return [self.model for _ in texts]"
    )
    engine = open_store("sqlite://", create=True)
    with executor() as at_work:
        ran = run(engine, toy_corpus(), [write_module(source) + ":f"], [get_relation("sentiment", "MR3.1")], at_work)
    assert (ran.counts.failed, ran.counts.outcomes["error"]) == (0, 0)
    assert ran.counts.checks > 0


def test_a_run_in_which_a_system_only_fails_ends_with_an_error_every_time(
    write_module, own, toy_corpus, toy_relations
) -> None:
    # It answers the first inputs, else the run would not begin.
    source = "def f(text):\n  if text.isupper(): raise OSError('no model')\n  return 'positive'"
    specs = [*own.specs("calm"), write_module(source) + ":f"]
    engine = open_store("sqlite://", create=True)
    for executed in (112, 0):
        with pytest.raises(AllFailed, match=r"failed on 28 of its 56 inputs, .* with 'OSError: no model'") as raised:
            run(engine, toy_corpus(), specs, toy_relations[:1], InProcess())
        assert raised.value.ran.counts.executed == executed
        assert raised.value.status == 1


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


@pytest.fixture
def interruptible() -> Iterator[None]:
    """Ctrl-C ends this process, as it does unless whoever began the tests ignores it (a job in the background)."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("interruptible")
def test_only_what_the_user_asks_for_passes() -> None:
    with pytest.raises(Left), contained():
        raise KeyboardInterrupt
    with pytest.raises(KeyboardInterrupt), foreign("it failed"), contained():
        signal.raise_signal(signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    raised: list[str] = []

    def elsewhere() -> None:
        try:
            with foreign("it failed"):
                raise KeyboardInterrupt
        except AuditError as problem:
            raised.append(str(problem))

    thread = threading.Thread(target=elsewhere)
    thread.start()
    thread.join()
    assert raised == ["it failed: KeyboardInterrupt"]
