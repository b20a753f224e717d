"""The options of the report on the page *Results*, as a manager chose them, and the report itself.

The worker computes it once per choice (`audit.ui.background_cache`): at a million groups it takes seconds, in which
annotators go on.
"""

from dataclasses import dataclass
from typing import Any

import streamlit as st
from sqlalchemy import Engine

from audit.false_satisfaction.resolution import Whose
from audit.reports.build import Report
from audit.statistics.intervals import TARGETS, Target
from audit.ui import session
from audit.ui.background_cache import CachedAnswer, computed
from audit.ui.language import single_choice, t, whose_answers
from audit.ui.study_choice import choose_study

WHOSE: tuple[Whose, ...] = ("both", "people", "gold")


@dataclass(frozen=True)
class Options:
    """The options of a report. `delta` is a fraction."""

    whose: Whose = "both"
    target: Target = TARGETS[0]
    delta: float = 0.0
    study: int | None = None


@dataclass(frozen=True)
class View:
    """A report, and a key of what it was computed from for charts and files.

    `answer` says when it was computed, and whether answers have come since.
    """

    report: Report
    key: tuple[Any, ...]
    options: Options
    answer: CachedAnswer


def choose_options(engine: Engine, account_id: int) -> Options:
    """The controls above the report. Their values are kept for the session."""
    study = choose_study(engine, account_id)
    targets: dict[Target, str] = {name: t(f"target.{name}") for name in TARGETS}
    with st.container(horizontal=True):
        whose = whose_answers(WHOSE, "whose")
        target = single_choice(
            t("results.target"),
            targets,
            "results-target",
            help=t("results.target_help"),
            persist_state="session",
        )
        points = st.number_input(
            t("results.delta"),
            min_value=0.0,
            max_value=50.0,
            value=0.0,
            step=0.5,
            format="%.1f",
            key="results-delta",
            help=t("results.delta_help"),
            width=165,
            persist_state="session",
        )
    return Options(whose, target, round(points / 100, 4), study)


def compute_view(engine: Engine, options: Options, *, recompute: bool = False) -> View:
    """The report for these options; `recompute`: from the database as it is now, however long it takes.

    Raises AuditError where there is no report.
    """
    answer = _report(engine, options, recompute)
    return View(answer.value, (session.database_url(), answer.state, options), options, answer)


def _report(engine: Engine, options: Options, recompute: bool) -> CachedAnswer:
    values = {
        "whose": options.whose,
        "target": options.target,
        "delta": options.delta,
        "study": options.study,
    }
    return computed(engine, "report", values, recompute=recompute)
