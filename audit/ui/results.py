"""The page *Results*: the report's first lines and its sections. For managers.

The worker computes the report once per choice (`audit.ui.background_cache`): at a million groups it takes seconds, in
which annotators go on.
"""

import json
from collections.abc import Sequence
from typing import Any

import streamlit as st
from sqlalchemy import Engine, select, true

from audit.corpora.slices import ARGUMENTS, SLICES
from audit.false_satisfaction.resolution import Whose
from audit.messages import catalogue
from audit.reports.first_page import family_chart, first_lines, how_text, score_chart
from audit.reports.sections import sections
from audit.reports.words import Say
from audit.store.core import source
from audit.ui import session
from audit.ui.background_cache import computed_now, computed_with_freshness
from audit.ui.language import language, plain, sentence, single_choice, t, with_commands
from audit.ui.sections import chart, show_sections
from audit.ui.study_choice import choose_study

ROLES = ("manager",)


def page() -> None:
    """The report of the database in words, charts and numbers."""
    engine, account = session.enter(*ROLES)
    study = choose_study(engine, account.id)
    answers: dict[Whose, str] = {whose: t(f"whose.{whose}") for whose in ("both", "people", "gold")}
    whose = single_choice(t("results.whose"), answers, "whose", persist_state="session")
    words = catalogue(language())
    properties = {name: words.get(f"slice_name.{name}", name) for name in _properties(engine, study)}
    slices = st.multiselect(
        t("results.slices"), list(properties), format_func=properties.__getitem__,
        placeholder=t("results.no_slices"), key="slices", persist_state="session",
    )  # fmt: skip
    with session.showing_refusals():
        _show(engine, report_values(study, whose, slices))


def _properties(engine: Engine, study: int | None) -> list[str]:
    """Return what sources can be sliced by: properties of texts, and columns of the corpus."""
    with engine.connect() as connection:
        of = select(source.c.attributes).where(true() if study is None else source.c.study_id == study).limit(1)
        columns = connection.execute(of).scalar() or {}
    return [*(name for name in SLICES if name not in ARGUMENTS), *(name for name in columns if name not in SLICES)]


def report_values(study: int | None, whose: Whose = "both", slices: Sequence[str] = ()) -> dict[str, Any]:
    """Return what the worker is asked for a report."""
    return {"whose": whose, "study": study, "slices": tuple(slices)}


def _show(engine: Engine, values: dict[str, Any]) -> None:
    answer = computed_with_freshness(engine, "report", values, "results")
    report, code, say = answer.value, language(), Say(language())
    key = (answer.state, *values.values(), code)
    first, *lines = first_lines(report, code)
    st.markdown(f"## {with_commands(first)}")
    for line in lines:
        st.markdown(with_commands(line))
    whose = sentence(t(f"how.{values['whose']}"))
    st.caption(plain(f"{how_text(report, say)} {whose}"))
    pictures = [*(score_chart(entry, say) for entry in report["decisions"]), family_chart(report, say)]
    for number, picture in enumerate(pictures):
        if picture is not None:
            chart(f"first-{number}", (*key, number), picture.draw, picture.alt)
            st.caption(plain(picture.key))
    show_sections(sections(report, code), key)
    with st.container(horizontal=True):
        st.download_button(
            t("results.download_json"), lambda: json.dumps(report, ensure_ascii=False, indent=2), "report.json",
            "application/json", on_click="ignore", icon=":material/download:",
        )  # fmt: skip
        st.download_button(
            t("results.download_html"), lambda: str(computed_now(engine, "html", {**values, "language": code})),
            "report.html", "text/html", on_click="ignore", icon=":material/download:",
        )  # fmt: skip
