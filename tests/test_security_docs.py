"""The table of attacks names tests that there are."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]


def test_every_test_named_is_there():
    page = (ROOT / "docs" / "reference" / "security.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`((?:tests/\w+/)?test_\w+\.py)`", page))
    assert len(named) >= 15
    there = {path.relative_to(ROOT).as_posix() for path in (ROOT / "tests").rglob("test_*.py")}
    for name in named:
        assert any(path.endswith(name) for path in there), name
