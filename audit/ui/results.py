"""The page *Results*: the report's first lines and its sections. For managers.

The worker computes the report once per choice (`audit.ui.background_cache`): at a million groups it takes seconds, in
which annotators go on.
"""

import json
from dataclasses import asdict, dataclass

import streamlit as st
from sqlalchemy import Engine

from audit.errors import AuditError
from audit.false_satisfaction.resolution import Whose
from audit.reports.first_page import family_chart, first_lines, how_text, score_chart
from audit.reports.sections import sections
from audit.reports.words import Say
from audit.statistics.intervals import TARGETS, Target
from audit.ui import session
from audit.ui.background_cache import CachedAnswer, computed_with_freshness, produce
from audit.ui.dashboard_parts import chart
from audit.ui.language import language, plain, sentence, single_choice, t, whose_answers, with_commands
from audit.ui.sections import show_sections
from audit.ui.study_choice import choose_study

ROLES = ("manager",)


@dataclass(frozen=True)
class Options:
    """The options of a report. `delta` is a fraction."""

    whose: Whose
    target: Target
    delta: float
    study: int | None


def page() -> None:
    """The report of the database in words, charts and numbers."""
    engine = session.engine()
    account = session.require_role(engine, *ROLES)
    try:
        options = _options(engine, account.id)
        answer = computed_with_freshness(engine, "report", asdict(options), "results")
    except AuditError as problem:
        session.show_refusal(problem)
        return
    _show(answer, options)


def _show(answer: CachedAnswer, options: Options) -> None:
    report, code, say = answer.value, language(), Say(language())
    key = (session.database_url(), answer.state, options, code)
    first, *lines = first_lines(report, code)
    st.markdown(f"## {with_commands(first)}")
    for line in lines:
        st.markdown(with_commands(line))
    st.caption(plain(f"{how_text(report, say)} {sentence(t(f'how.{options.whose}'))}"))
    pictures = [*(score_chart(entry, say) for entry in report["decisions"]), family_chart(report, say)]
    for number, picture in enumerate(pictures):
        if picture is not None:
            chart(f"first-{number}", (*key, number), picture.draw, picture.alt)
            st.caption(plain(picture.key))
    show_sections(sections(report, code), key)
    with st.container(horizontal=True):
        st.download_button(
            t("results.download_json"),
            lambda: json.dumps(report, ensure_ascii=False, indent=2),
            "report.json",
            "application/json",
            on_click="ignore",
            icon=":material/download:",
        )
        st.download_button(
            t("results.download_html"),
            lambda: str(produce("html", {"report": report, "language": code}, key)),
            "report.html",
            "text/html",
            on_click="ignore",
            icon=":material/download:",
        )


def _options(engine: Engine, account_id: int) -> Options:
    """The controls above the report. Their values are kept for the session."""
    study = choose_study(engine, account_id)
    targets: dict[Target, str] = {name: t(f"target.{name}") for name in TARGETS}
    with st.container(horizontal=True):
        whose = whose_answers(("both", "people", "gold"), "whose")
        target = single_choice(
            t("results.target"), targets, "results-target", help=t("results.target_help"), persist_state="session"
        )
        points = st.number_input(
            t("results.delta"),
            min_value=0.0,
            max_value=50.0,
            step=0.5,
            format="%.1f",
            key="results-delta",
            help=t("results.delta_help"),
            width=165,
            persist_state="session",
        )
    return Options(whose, target, round(points / 100, 4), study)
