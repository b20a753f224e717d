"""Nothing that is pinned has changed: see `pins.py`, which shows and updates it."""

import warnings

import pytest
from audited import SLOW, WORLDS, Absent
from pins import LANGUAGES, QUICK, ROWS, compare_follow_ups, differences, now, pinned

SLOWLY = 120
"""Texts of the slow tests; `pins.py` compares all 500."""
SHOW = "see it with: python tests/golden/pins.py"


def marked(name):
    return pytest.param(name, marks=pytest.mark.slow) if name in SLOW else name


@pytest.mark.parametrize("name", [*map(marked, WORLDS), ROWS])
def test_what_is_pinned_is_so_now(name):
    try:
        is_now = now(name)
    except Absent as reason:
        pytest.skip(str(reason))
    lines = list(differences(pinned(name), is_now))
    assert not lines, f"{len(lines)} differ; {SHOW} {name}\n" + "\n".join(lines[:20])


@pytest.mark.parametrize("number", [QUICK, pytest.param(SLOWLY, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", LANGUAGES)
def test_follow_ups_are_what_they_were(name, number):
    compared = list(compare_follow_ups(name, number))
    for state in ("new", "gone"):
        if names := [one.relation for one in compared if one.state == state]:
            warnings.warn(f"{name}: {state} are {', '.join(names)}; {SHOW} {name} --update", stacklevel=1)
    changed = [one for one in compared if one.changed]
    assert not changed, f"{len(changed)} relations differ; {SHOW} {name}\n" + "\n".join(
        one.lines(3) for one in changed[:5]
    )
    assert any(one.marks for one in compared)
