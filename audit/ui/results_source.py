"""How the report is computed: what a manager chose, and the report for it, which is computed once per choice.

The worker computes it (`audit.ui.workshop`): at a million groups it takes seconds, in which annotators go on.
"""

from dataclasses import dataclass, replace
from typing import Any

import streamlit as st
from sqlalchemy import Engine

from audit.errors import AuditError
from audit.false_satisfaction.settling import Whose
from audit.reports.build import Report
from audit.reports.preference import known_everywhere
from audit.reports.study import INTERVAL
from audit.statistics.intervals import METHODS, SEQUENCE, TARGETS, Target, get_target
from audit.ui import database
from audit.ui.choice import one_of, whose_answers
from audit.ui.language import t
from audit.ui.workshop import Found, computed

WHOSE: tuple[Whose, ...] = ("both", "people", "gold")
OWN = "own"
PROFILE = "results-profile"
"""Key of the control that chooses a profile of weights; it stands in a tab, and is read before the tab is drawn."""
_OWN_WEIGHTS = "results-own-weights"
FILE = "weights.csv"
"""Name of the file of a user's own weights, in the signature too: `audit report --weights weights.csv` repeats them."""


@dataclass(frozen=True)
class Options:
    """What a manager chose. `delta` is a fraction; `own` are (relation, weight) pairs, used by the profile `own`."""

    whose: Whose = "both"
    interval: str = INTERVAL
    target: Target = TARGETS[0]
    delta: float = 0.0
    profile: str | None = None
    own: tuple[tuple[str, float], ...] = ()
    gold_error: str | None = None

    def weights(self) -> list[Any] | None:
        """The weights of the profile as the worker takes them: a profile's name, or a file's name and its weights."""
        if self.profile is None:
            return None
        return [FILE, dict(self.own)] if self.profile == OWN else [self.profile]


@dataclass(frozen=True)
class View:
    """A report, and what it was computed from as a key for what is made of it; `problem` is why it lacks weights.

    `found` says when it was computed, and whether answers have come since.
    """

    report: Report
    key: tuple[Any, ...]
    options: Options
    found: Found
    problem: AuditError | None = None


def choose() -> Options:
    """The controls above the report. What they say is kept for the session."""
    targets: dict[Target, str] = {one: t(f"target.{one}") for one in TARGETS}
    methods = {name: t(f"interval.{name}") for name in METHODS}
    with st.container(horizontal=True):
        whose = whose_answers(WHOSE, "whose")
        target = one_of(
            t("results.target"),
            targets,
            "results-target",
            help=t("results.target_help"),
            persist_state="session",
        )
        interval: str = st.selectbox(
            t("results.interval"),
            list(methods),
            format_func=methods.__getitem__,
            key="results-interval",
            help=t("results.interval_help"),
            width=185,
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
        wrong = st.text_input(
            t("results.gold_error"),
            key="results-gold-error",
            placeholder="0.02-0.05",
            help=t("results.gold_error_help"),
            max_chars=40,
            width=165,
            persist_state="session",
            autocomplete="off",
        ).strip()
    profile = st.session_state.get(PROFILE) or "equal"
    if interval == SEQUENCE:
        target = get_target(None, interval)  # sequences are about this corpus only; the line above the tables says so
    return Options(whose, interval, target, round(points / 100, 4), profile, own_weights(), wrong or None)


def own_weights() -> tuple[tuple[str, float], ...]:
    """The weights that this session's user gave; empty before."""
    return tuple(st.session_state.get(_OWN_WEIGHTS, ()))


def keep_own_weights(weights: dict[str, float]) -> None:
    """Keep a user's weights for the session."""
    st.session_state[_OWN_WEIGHTS] = tuple(weights.items())


def view(engine: Engine, options: Options, *, anew: bool = False) -> View:
    """The report for these options; `anew`: as the database is now, however long it takes. Raises AuditError where
    there is none.

    Weights that do not fit the data (all 0, or of a relation that is not there) leave the rest of the report as it is.
    """
    if options.profile == OWN and not options.own:
        # A user's own weights begin with what can be ranked.
        plain = _report(engine, replace(options, profile=None), anew)
        keep_own_weights(known_everywhere(plain.value))
        options = replace(options, own=own_weights())
    problem = None
    try:
        found = _report(engine, options, anew)
    except AuditError as refused:
        problem, options = refused, replace(options, profile=None)
        found = _report(engine, options, anew)
    return View(found.value, (database.where(), found.state, options), options, found, problem)


def _report(engine: Engine, options: Options, anew: bool) -> Found:
    values = {
        "whose": options.whose,
        "interval": options.interval,
        "target": options.target,
        "delta": options.delta,
        "weights": options.weights(),
        "gold_error": options.gold_error,
    }
    return computed(engine, "report", values, anew=anew)
