"""Pickles of other packages, read without the power that pickles have.

A pickle is a program: it can name any function of any module and have it called. Corpora that come as pickles hold
lists, tuples, texts and numbers, for which no name is needed; so every name is refused, and nothing is ever called.
"""

import io
import pickle

from audit.errors import BadFile


class _Plain(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> object:
        raise pickle.UnpicklingError(f"it names {module}.{name}, and data name nothing")

    def persistent_load(self, pid: object) -> object:
        raise pickle.UnpicklingError(f"it refers to something outside of it, {str(pid)[:40]!r}")


def plain(content: bytes, name: object) -> object:
    """The lists, tuples, dictionaries, texts and numbers that a pickle holds; `name` is for messages.

    Raises BadFile for a pickle that names a class or function, refers to something outside of it, or is damaged.

    >>> plain(pickle.dumps(([1], ["好"])), "news.pkl")
    ([1], ['好'])
    >>> plain(pickle.dumps(print), "news.pkl")
    Traceback (most recent call last):
    audit.errors.BadFile: news.pkl: this pickle is refused: it names builtins.print, and data name nothing
    """
    try:
        return _Plain(io.BytesIO(content)).load()
    except pickle.UnpicklingError as problem:
        raise BadFile(f"{name}: this pickle is refused: {problem}") from None
    except Exception as problem:  # a damaged pickle raises whatever its broken steps run into
        raise BadFile(f"{name}: this is no pickle, or a damaged one ({type(problem).__name__}: {problem})") from None
