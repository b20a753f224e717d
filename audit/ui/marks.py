"""Marking names in a text: the component, and how its places of words become an answer and back."""

import re
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import streamlit as st

from audit.judging.queue import Shown
from audit.resources import data_file
from audit.tasks import get_task, lists_answers
from audit.tasks.entities import TOKENS, Span, read_spans, write_spans
from audit.tasks.questions import SCALES
from audit.ui.language import label_name, t

_FIRST = re.compile(
    r"a|after|all|an|and|as|at|but|by|for|from|he|her|his|i|if|in|it|its|my|no|of|on|one|or|our|she|so|some|that|the"
    r"|their|then|there|they|this|to|we|what|when|where|which|while|who|with|you|your",
    re.IGNORECASE,
)
"""Words that seldom begin a name, though a sentence that begins with one has a capital there."""
Action = Callable[..., None]


def marks_names(shown: Shown) -> bool:
    """Whether the answer to a question is the names in its text."""
    return shown.group is None and shown.kind not in SCALES and not lists_answers(get_task(shown.task))


def mark_names(
    shown: Shown, place: str, action: Action, *args: object, answers: Sequence[str] = (), before: str | None = None
) -> None:
    """The text, in which names are marked. `action` is called with the answer behind `args`: when it is stored, or,
    with `before` (the answer up to now, or empty), whenever it changes. `answers` are those that a key goes through."""
    text, kinds = shown.texts[0], [*get_task(shown.task).labels]
    words = [match.span() for match in TOKENS.finditer(text)]
    key = f"marks-{place}"

    def said() -> None:
        marks = (st.session_state.get(key) or {}).get("answer")
        if marks is not None:
            spans = (Span(words[first][0], words[behind][1], kinds[kind]) for first, behind, kind in marks)
            action(*args, write_spans(spans))

    _component()(
        key=key,
        data={
            "place": place, "language": shown.languages[0], "decides": before is not None,
            "pieces": _pieces(text, words), "runs": _runs(text, words),
            "kinds": [label_name(kind, shown.task, study_id=shown.study_id) for kind in kinds],
            "before": _places(before or "", words, kinds),
            "choices": [_places(answer, words, kinds) for answer in answers],
            "words": {name: t(f"marks.{name}") for name in ("none", "remove", "choose", "store", "keys")},
        },
        on_answer_change=said,
    )  # fmt: skip


def _pieces(text: str, words: Sequence[tuple[int, int]]) -> list[dict[str, object]]:
    """Words of a text, and what stands between them."""
    pieces: list[dict[str, object]] = []
    at = 0
    for number, (start, end) in enumerate(words):
        pieces += [{"text": text[at:start]}] if at < start else []
        pieces.append({"text": text[start:end], "word": True, "number": number})
        at = end
    return [*pieces, {"text": text[at:]}] if at < len(text) else pieces


def _runs(text: str, words: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Where words with capitals stand together, as most names do: the first and the last word of each."""
    runs: list[tuple[int, int]] = []
    for number, (start, end) in enumerate(words):
        if not text[start].isupper() or _FIRST.fullmatch(text, start, end):
            continue
        gap = text[words[runs[-1][1]][1] : start] if runs else "."
        joined = bool(runs) and re.fullmatch(r" |[-'’&.]? ?|'s? ?", gap) is not None and gap.count("\n") == 0
        runs = [*runs[:-1], (runs[-1][0], number)] if joined and gap != ". " else [*runs, (number, number)]
    return runs


def _places(answer: str, words: Sequence[tuple[int, int]], kinds: Sequence[str]) -> list[tuple[int, int, int]]:
    """An answer as the component has it; a span that cuts a word has the whole word."""
    spans = []
    for start, end, kind in read_spans(answer) or ():
        inside = [number for number, (first, behind) in enumerate(words) if first < end and start < behind]
        if inside and kind in kinds:
            spans.append((inside[0], inside[-1], list(kinds).index(kind)))
    return spans


@cache
def _component() -> Any:
    script = data_file("ui/mark.js").read_text(encoding="utf-8")
    return st.components.v2.component("audit_marks", js=script, isolate_styles=False)
