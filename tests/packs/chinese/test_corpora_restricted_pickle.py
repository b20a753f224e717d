"""Pickles that hold data are read, pickles that do anything are not."""

import os
import pickle
import pickletools
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from audit.errors import BadFile
from audit.packs.chinese.corpora import plain

DATA = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text() | st.binary(),
    lambda inner: st.lists(inner) | st.tuples(inner, inner) | st.dictionaries(st.text(), inner),
    max_leaves=10,
)


class _Hostile:
    """Makes a file when it is unpickled."""

    def __init__(self, file: Path):
        self.file = file

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return os.system, (f"touch {self.file}",)


@given(DATA, st.integers(0, 4))
def test_data_come_back_as_they_were(data: object, protocol: int) -> None:
    # Protocols 0 to 2 have no bytes of their own: they name a function that makes them.
    content = pickle.dumps(data, protocol)
    names = {"GLOBAL", "STACK_GLOBAL"} & {step.name for step, _, _ in pickletools.genops(content)}
    if names:
        with pytest.raises(BadFile, match="names"):
            plain(content, "file")
    else:
        assert plain(content, "file") == data


@pytest.mark.parametrize("protocol", range(6))
def test_a_hostile_pickle_is_refused_and_does_nothing(tmp_path: Path, protocol: int) -> None:
    target = tmp_path / "made"
    content = pickle.dumps(([_Hostile(target)], []), protocol)
    with pytest.raises(BadFile, match=r"news\.pkl: this pickle is refused: it names (posix|nt)\.system"):
        plain(content, "news.pkl")
    assert not target.exists()
    pickle.loads(content)  # noqa: S301 - without restrictions it does what it says
    assert target.exists()
