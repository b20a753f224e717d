"""One of a few that stand side by side: what a page, a table or a report is about."""

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

import streamlit as st

from audit.false_satisfaction.settling import Whose
from audit.ui.language import t

T = TypeVar("T")


def one_of(label: str, names: Mapping[T, str], key: str, default: T | None = None, **more: Any) -> T:
    """The one of `names` that is chosen, each shown by its name; at first `default`, or else the first of them.

    Exactly one is chosen at any time. `more` is what else `st.segmented_control` takes.
    """
    chosen: T = st.segmented_control(
        label,
        list(names),
        default=next(iter(names)) if default is None else default,
        required=True,
        format_func=names.__getitem__,
        key=key,
        **more,
    )
    return chosen


def whose_answers(allowed: Sequence[Whose], key: str) -> Whose:
    """Whose answers count in what is shown; kept for the session."""
    return one_of(t("results.whose"), {one: t(f"whose.{one}") for one in allowed}, key, persist_state="session")
