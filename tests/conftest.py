"""What several rooms' tests share: a toy corpus, toy relations, a user's own systems, what a database holds."""

import hashlib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from audit.corpora import Row
from audit.keys import fingerprint
from audit.tasks import Input

# The same examples in every run: a test that fails, fails for everybody.
settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.load_profile("repeatable")


@pytest.fixture(scope="session", autouse=True)
def _light_hashes() -> Iterator[None]:
    """Argon2id with the least work there is: hundreds of accounts are made here, each with 64 MiB otherwise."""
    from pwdlib import PasswordHash
    from pwdlib.hashers.argon2 import Argon2Hasher

    from audit.annotation import passwords

    light = PasswordHash((Argon2Hasher(time_cost=1, memory_cost=8, parallelism=1),))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(passwords, "_hasher", lambda: light)
        yield


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


class ToyCorpus:
    """Thirty sentences with gold labels; rows 11 and 21 repeat the text of row 1."""

    task, language, unit, has_gold, summary = "sentiment", "en", "sentence", True, "thirty sentences"

    def __init__(self, rows: int = 30, name: str = "toy"):
        self.name = name
        self._texts = [f"Film {1 if row in (11, 21) else row} was fine." for row in range(1, rows + 1)]

    def size(self) -> int:
        return len(self._texts)

    def needs(self) -> None:
        return None

    def fingerprint(self) -> str:
        return fingerprint(self._texts)

    def rows(self) -> Iterator[Row]:
        for number, text in enumerate(self._texts, start=1):
            gold = LABELS[hashlib.md5(text.encode()).digest()[1] % 3]
            yield Row(str(number), Input.of(text), gold)


@pytest.fixture
def toy_corpus() -> type[ToyCorpus]:
    """The class of the toy corpus."""
    return ToyCorpus


@pytest.fixture
def toy_relations() -> Iterator[list]:
    """Three registered relations: T1 and T2 plain, T3 chained with a probe; they are forgotten after the test."""
    from audit.relations import carry, registry
    from audit.relations.base import Member
    from audit.relations.expect import different, equivalent, opinionated

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

    before = dict(registry._RELATIONS)
    options = {"task": "sentiment", "family": "toys", "unit": "sentence"}
    registry.plain("T1", check=equivalent, carry=carry.unchanged, **options)(shout)
    registry.plain("T2", check=opinionated(equivalent), carry=carry.nothing, **options)(extend)
    registry.chained("T3", carry=carry.nothing, **options)(ask)
    yield [registry.get_relation("sentiment", name) for name in ("T1", "T2", "T3")]
    registry._RELATIONS.clear()
    registry._RELATIONS.update(before)


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


@pytest.fixture
def content() -> Callable[..., dict[str, list]]:
    """What a database holds: every table's rows but for their times, sorted."""
    from sqlalchemy import DateTime, select
    from sqlmodel import SQLModel

    from audit.store import tables  # noqa: F401  (makes the tables known)

    def read(engine, *names: str) -> dict[str, list]:
        found = {}
        with engine.connect() as connection:
            for table in SQLModel.metadata.sorted_tables:
                if names and table.name not in names:
                    continue
                columns = [column for column in table.columns if not isinstance(column.type, DateTime)]
                found[table.name] = sorted(map(repr, connection.execute(select(*columns))))
        return found

    return read
