"""What tests of Apertium have in common: whether it is installed; a folder of modes with programs that are fakes."""

import os
import stat
import sys
from pathlib import Path

import pytest

from audit.packs.translation import apertium as apertium

PAIRS = ("eng-spa", "spa-eng", "eng-cat", "cat-eng", "spa-cat", "cat-spa", "fra-cat", "cat-fra", "fr-es", "es-fr")
needs_apertium = pytest.mark.skipif(
    apertium.needs(PAIRS) is not None, reason=f"Apertium is not installed here: {apertium.needs(PAIRS)}"
)

_FAKE = """#!{python}
import os, sys, time
how = sys.argv[-1]
if how == "-V" or "-V" in sys.argv:
    print("Apertium 0.0.fake")
    sys.exit()
texts = sys.stdin.buffer.read().split(b"\\0")[:-1]
with open({log!r}, "a") as log:
    log.write(f"{{len(texts)}}\\n")
if how == "fails" and any(b"bad" in text for text in texts):
    print("fake engine: cannot read\\nthe data", file=sys.stderr)
    sys.exit(3)
if how == "hangs" and any(b"bad" in text for text in texts):
    time.sleep(600)
if how == "loses":
    texts = [text for text in texts if b"bad" not in text]
if how == "mixes" and len(texts) > 1:
    texts = texts[::-1]
for text in texts:
    sys.stdout.buffer.write(text.upper() + b"\\0")
"""


class FakeApertium:
    """Programs called `apertium`, `apertium-wblank-mode` and `fake-engine` in a folder of their own, and modes."""

    def __init__(self, folder: Path):
        self.programs, self.data, self._log = folder / "bin", folder / "data", folder / "log"
        self.programs.mkdir()
        (self.data / "modes").mkdir(parents=True)
        engine = _FAKE.format(python=sys.executable, log=str(self._log))
        for name in ("apertium", "fake-engine"):
            self._program(name, engine)
        self._program("apertium-wblank-mode", '#!/bin/sh\ncat "$2"\n')

    def _program(self, name: str, text: str) -> None:
        path = self.programs / name
        path.write_text(text)
        path.chmod(path.stat().st_mode | stat.S_IXUSR)

    def mode(self, name: str, command: str = "fake-engine $1 works") -> None:
        (self.data / "modes" / f"{name}.mode").write_text(command)

    def batches(self) -> list[int]:
        """How many texts the engine was given, each time that it was started."""
        return [int(line) for line in self._log.read_text().splitlines()] if self._log.exists() else []


@pytest.fixture
def fake_apertium(tmp_path, monkeypatch):
    fake = FakeApertium(tmp_path)
    monkeypatch.setenv("PATH", f"{fake.programs}{os.pathsep}/usr/bin{os.pathsep}/bin")
    monkeypatch.setenv("APERTIUM_DATADIR", str(fake.data))
    apertium.engine_version.cache_clear()
    yield fake
    apertium.engine_version.cache_clear()


@pytest.fixture
def no_apertium(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("APERTIUM_DATADIR", raising=False)
    apertium.engine_version.cache_clear()
    yield
    apertium.engine_version.cache_clear()
