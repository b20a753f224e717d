"""What a changed text has that the text before it has not."""

import re
from collections.abc import Iterator
from difflib import SequenceMatcher

_TOKENS = re.compile(r"\s+|[\u3040-\u30ff\u3400-\u9fff]|[^\W\u3040-\u30ff\u3400-\u9fff]+|[^\w\s]")
"""Words, spaces, and every other sign by itself; Chinese and Japanese signs one by one, as they have no spaces."""
_LONG = 250_000
"""Pairs of tokens above which texts are compared by their rarer ones."""


def differences(before: str, after: str) -> Iterator[tuple[str, bool]]:
    """The pieces of `after` in order, each with whether it is new against `before`; together they are `after`.

    >>> list(differences("a good film", "a very good film"))
    [('a', False), (' very', True), (' good film', False)]
    """
    old, new = _TOKENS.findall(before), _TOKENS.findall(after)
    # In a long review spaces and commas would be compared millions of times; there only rarer words begin a match.
    frequent = len(old) * len(new) > _LONG
    for kind, _, _, start, end in SequenceMatcher(None, old, new, autojunk=frequent).get_opcodes():
        piece = "".join(new[start:end])
        if piece:
            yield piece, kind in ("insert", "replace") and bool(piece.strip())
