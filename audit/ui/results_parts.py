"""The options of the report on the page *Results*, as a manager chose them, and the report itself.

The worker computes it once per choice (`audit.ui.background_cache`): at a million groups it takes seconds, in which
annotators go on.
"""

from dataclasses import dataclass, replace
from typing import Any

import streamlit as st
from sqlalchemy import Engine

from audit.errors import AuditError
from audit.false_satisfaction.resolution import Whose
from audit.reports.build import Report
from audit.reports.preference import known_everywhere
from audit.statistics.intervals import TARGETS, Target
from audit.ui import session
from audit.ui.background_cache import CachedAnswer, computed
from audit.ui.language import single_choice, t, whose_answers
from audit.ui.study_choice import choose_study

WHOSE: tuple[Whose, ...] = ("both", "people", "gold")
OWN = "own"
PROFILE = "results-profile"
"""Key of the control that chooses a profile of weights; it stands in a tab, and is read before the tab is drawn."""
_OWN_WEIGHTS = "results-own-weights"
FILE = "weights.csv"
"""Name of the file of a user's own weights, in the signature too: `audit report` with this file repeats them."""


@dataclass(frozen=True)
class Options:
    """The options of a report. `delta` is a fraction; `own` has the (relation, weight) pairs of the profile `own`."""

    whose: Whose = "both"
    target: Target = TARGETS[0]
    delta: float = 0.0
    profile: str | None = None
    own: tuple[tuple[str, float], ...] = ()
    study: int | None = None

    def weights(self) -> list[Any] | None:
        """The weights of the profile as the worker takes them: a profile's name, or a file's name and its weights."""
        if self.profile is None:
            return None
        return [FILE, dict(self.own)] if self.profile == OWN else [self.profile]


@dataclass(frozen=True)
class View:
    """A report, and a key of what it was computed from for charts and files; `problem` says why it lacks weights.

    `answer` says when it was computed, and whether answers have come since.
    """

    report: Report
    key: tuple[Any, ...]
    options: Options
    answer: CachedAnswer
    problem: AuditError | None = None


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
    profile = st.session_state.get(PROFILE) or "equal"
    return Options(whose, target, round(points / 100, 4), profile, own_weights(), study)


def own_weights() -> tuple[tuple[str, float], ...]:
    """The user's own weights in this session; empty before any were given."""
    return tuple(st.session_state.get(_OWN_WEIGHTS, ()))


def keep_own_weights(weights: dict[str, float]) -> None:
    """Keep a user's weights for the session."""
    st.session_state[_OWN_WEIGHTS] = tuple(weights.items())


def compute_view(engine: Engine, options: Options, *, recompute: bool = False) -> View:
    """The report for these options; `recompute`: from the database as it is now, however long it takes.

    Raises AuditError where there is no report.

    Weights that do not fit the data (all 0, or of a relation that is not there) leave the rest of the report as it is.
    """
    if options.profile == OWN and not options.own:
        # At first, the user's own weights are equal ones of the relations that can be ranked.
        unweighted = _report(engine, replace(options, profile=None), recompute)
        keep_own_weights(known_everywhere(unweighted.value))
        options = replace(options, own=own_weights())
    problem = None
    try:
        answer = _report(engine, options, recompute)
    except AuditError as error:
        problem, options = error, replace(options, profile=None)
        answer = _report(engine, options, recompute)
    return View(answer.value, (session.database_url(), answer.state, options), options, answer, problem)


def _report(engine: Engine, options: Options, recompute: bool) -> CachedAnswer:
    values = {
        "whose": options.whose,
        "target": options.target,
        "delta": options.delta,
        "weights": options.weights(),
        "study": options.study,
    }
    return computed(engine, "report", values, recompute=recompute)
