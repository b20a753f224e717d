"""What others do with the same questions, as far as an annotator may see it: earlier answers that the protocol shows,
and why there is no question just now."""

from collections.abc import Sequence
from datetime import UTC, datetime
from math import ceil

import streamlit as st
from sqlalchemy import Engine

from audit.annotation.earlier import Earlier
from audit.annotation.queue import elsewhere, queue_of
from audit.ui.language import label_name, t
from audit.ui.literal import html


def show_earlier(earlier: Sequence[Earlier]) -> None:
    """Under the protocol `shown`: what was answered before, without names, and the question whether one agrees."""
    if not earlier:
        return
    rows = "".join(f"<li>{_said(one, number, len(earlier))}</li>" for number, one in enumerate(earlier))
    st.html(f'<ul class="audit-votes audit-earlier">{rows}</ul><p class="audit-agree">{html(t("earlier.agree"))}</p>')


def why_nothing(engine: Engine, account_id: int) -> None:
    """Why there is no question: all is answered; or others look at what is left; or it is in other languages."""
    queue, other = queue_of(engine, account_id), elsewhere(engine, account_id)
    left = other.with_others + other.awaiting_first
    st.html(f'<h2 class="audit-question">{html(t("earlier.nothing_now" if left else "annotate.nothing"))}</h2>')
    if other.awaiting_first:
        st.write(t("earlier.awaiting_first", count=other.awaiting_first))
    if other.with_others:
        st.write(t("annotate.nothing_now", count=other.with_others))
    if other.free_at is not None:
        minutes = max(1, ceil((other.free_at - datetime.now(UTC)).total_seconds() / 60))
        st.caption(t("earlier.free_at", count=minutes))
    if queue.in_other_languages:
        st.write(t("annotate.nothing_read", count=queue.in_other_languages))
    elif not left:
        # Between the two readings somebody may have let go of a question: then the button below finds it.
        st.write(t("earlier.look" if queue.left_for_me else "annotate.nothing_more"))


def _said(one: Earlier, number: int, of: int) -> str:
    """One answer as HTML, under a letter where there are several."""
    who = t("earlier.another") if of == 1 else t("dispute.annotator", number=number + 1)
    comment = f"<br><q>{html(one.comment)}</q>" if one.comment else ""
    return f"{html(who)} <strong>{html(label_name(one.answer))}</strong>{comment}"
