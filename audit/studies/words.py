"""Changes of plans and deviations from them in words."""

from collections.abc import Mapping
from typing import Any

from audit.studies.plan_file import spelled
from audit.studies.versions import Change

ENGLISH = {"nothing": "nothing", "without": "without", "with": "with", "order": "in another order"}
"""The words that stand between values; the app has them in other languages, too."""


def change_text(change: Change) -> str:
    """A change in a few words.

    >>> change_text(Change("sample.per_relation", 60, 100))
    'sample.per_relation 60 -> 100'
    >>> change_text(Change("study.systems", ["vader", "hiv4"], ["vader", "textblob"]))
    'study.systems without hiv4, with textblob'
    """
    return f"{change.key} {from_to(change.before, change.after)}"


def from_to(before: Any, after: Any, words: Mapping[str, str] = ENGLISH) -> str:
    """How a value became another; of lists what was taken out and put in.

    >>> from_to(None, 0.02), from_to(["a"], ["a", "b"])
    ('nothing -> 0.02', 'with b')
    """
    if isinstance(before, list) and isinstance(after, list):
        out = [str(one) for one in before if one not in after]
        new = [str(one) for one in after if one not in before]
        parts = [f"{words[word]} {', '.join(some)}" for word, some in (("without", out), ("with", new)) if some]
        return ", ".join(parts) or words["order"]
    return f"{value_text(before, words)} -> {value_text(after, words)}"


def value_text(value: Any, words: Mapping[str, str] = ENGLISH) -> str:
    """A value as a plan's file has it; nothing for what is not there.

    >>> value_text("blind"), value_text({}), value_text([1, 2])
    ('"blind"', 'nothing', '[1, 2]')
    """
    if value is None or value == {}:
        return words["nothing"]
    if isinstance(value, dict):
        return ", ".join(f"{name} = {value_text(one, words)}" for name, one in value.items())
    return spelled(value)
