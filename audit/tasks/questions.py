"""What people are asked about a task, and may answer: as data, without a database."""

from collections.abc import Iterable, Sequence
from functools import cache

from audit.keys import digest
from audit.tasks import get_task

Subject = tuple[str, int, str | None]
"""(task, input, output): what a question asks about whose answer says which outputs are right. The output is None where
the answer is about the input alone (kind `input`), and its text where it is about the two together (kind `pair`)."""
ABOUT_OUTPUTS = ("input", "pair")  # The kinds of questions whose answers say which outputs are right
SCALES = ("grammaticality", "plausibility")
"""Kinds of questions about a text that are answered by a rating, in the order in which they are asked. Every rating
counts: nothing is agreed or disputed, so they have no answer, and no adjudicator."""
RATINGS = ("1", "2", "3", "4", "5")  # Answers on a scale, the worst first
HOLDS, BROKEN = "holds", "broken"  # Answers about a group: the relation holds here, or it does not
UNSURE = "unsure"
ORIGINS = ("adjudicated", "people", "gold")  # Precedence: the first of these that a question has is its answer


def labels_of(task: str, kind: str) -> tuple[str, ...]:
    """Return the answers to a question of this task and kind, in the order in which the app shows them."""
    if kind in SCALES:
        return RATINGS
    return (HOLDS, BROKEN) if kind == "group" else get_task(task).labels


def in_order(allowed: Iterable[str], labels: Sequence[str]) -> tuple[str, ...]:
    """Return answers in the order of the labels; those that no list has, as spans, behind them."""
    listed = [*labels]
    return tuple(sorted(allowed, key=lambda label: (listed.index(label) if label in listed else len(listed), label)))


@cache
def asks_pairs(task: str) -> bool:
    """Return whether people judge outputs of this task one by one, each with its input. Raises UnknownName."""
    return get_task(task).question_kind == "pair"


def kind_of(output: str | None) -> str:
    """Return the kind of a question about this output, or about an input alone (None)."""
    return "input" if output is None else "pair"


def question_key(task: str, kind: str, input_key: bytes, output: str | None = None) -> bytes:
    """Return 16 bytes that name a question by its content. A scale is about the text alone, whatever the task."""
    return digest("" if kind in SCALES else task, kind, input_key.hex(), output or "", "")


def group_question_key(
    task: str, relation: str, version: str, params: str, members: Iterable[tuple[str, bytes]]
) -> bytes:
    """Return 16 bytes that name the question about a group: its relation, and role and input key of its members in
    order. Groups of other studies and systems with the same members under the same relation share it."""
    parts = (part for role, key in members for part in (role, key.hex()))
    return digest(task, "group", relation, version, params, *parts)
