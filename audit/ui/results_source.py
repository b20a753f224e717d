"""How the report is computed: what a manager chose, and the report for it, which is computed once per choice."""

from dataclasses import dataclass, replace
from typing import Any

import streamlit as st
from sqlalchemy import Engine, func, select

from audit.errors import AuditError
from audit.false_satisfaction.settling import Whose
from audit.reports.build import Report
from audit.reports.preference import PROFILES, Weights, known_everywhere
from audit.reports.study import INTERVAL, Evidence, evidence, report_of
from audit.statistics.intervals import METHODS, TARGETS, Target
from audit.store import table_of, tables
from audit.ui import database
from audit.ui.language import t

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
    target: Target = "corpus"
    delta: float = 0.0
    profile: str | None = None
    own: tuple[tuple[str, float], ...] = ()

    def weights(self) -> Weights | None:
        """The weights of the profile."""
        if self.profile is None:
            return None
        return Weights(FILE, dict(self.own)) if self.profile == OWN else Weights(self.profile, PROFILES[self.profile])


@dataclass(frozen=True)
class View:
    """A report, and what it was computed from as a key for what is made of it; `problem` is why it lacks weights."""

    report: Report
    key: tuple[Any, ...]
    options: Options
    problem: AuditError | None = None


def choose() -> Options:
    """The controls above the report. What they say is kept for the session."""
    answers = {one: t(f"whose.{one}") for one in WHOSE}
    targets = {one: t(f"target.{one}") for one in TARGETS}
    methods = {name: t(f"interval.{name}") for name in METHODS}
    with st.container(horizontal=True):
        whose: Whose = st.segmented_control(
            t("results.whose"),
            list(answers),
            default="both",
            required=True,
            format_func=answers.__getitem__,
            key="whose",
            persist_state="session",
        )
        target: Target = st.segmented_control(
            t("results.target"),
            list(targets),
            default=TARGETS[0],
            required=True,
            format_func=targets.__getitem__,
            key="results-target",
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
    profile = st.session_state.get(PROFILE) or "equal"
    return Options(whose, interval, target, round(points / 100, 4), profile, own_weights())


def own_weights() -> tuple[tuple[str, float], ...]:
    """The weights that this session's user gave; empty before."""
    return tuple(st.session_state.get(_OWN_WEIGHTS, ()))


def keep_own_weights(weights: dict[str, float]) -> None:
    """Keep a user's weights for the session."""
    st.session_state[_OWN_WEIGHTS] = tuple(weights.items())


def view(engine: Engine, options: Options) -> View:
    """The report for these options. Raises AuditError where there is none.

    Weights that do not fit the data (all 0, or of a relation that is not there) leave the rest of the report as it is.
    """
    state = _state(engine)
    if options.profile == OWN and not options.own:
        # A user's own weights begin with what can be ranked.
        plain = _report(engine, database.where(), state, replace(options, profile=None))
        keep_own_weights(known_everywhere(plain))
        options = replace(options, own=own_weights())
    problem = None
    try:
        report = _report(engine, database.where(), state, options)
    except AuditError as found:
        problem, options = found, replace(options, profile=None)
        report = _report(engine, database.where(), state, options)
    return View(report, (database.where(), state, options), options, problem)


def _state(engine: Engine) -> tuple[Any, ...]:
    """What changes whenever the report does, cheaply: the histories and the draws only ever grow or are redrawn."""
    counted = (tables.Judgement, tables.Adjudication, tables.Verdict, tables.Draw, tables.Answer, tables.Cause)
    sample = table_of(tables.Sample)
    with engine.connect() as connection:
        numbers = [connection.execute(select(func.count()).select_from(table_of(one))).scalar() for one in counted]
        return (*numbers, str(connection.execute(select(func.max(sample.c.drawn_at))).scalar()))


@st.cache_data(max_entries=24, show_spinner=False)
def _report(_engine: Engine, where: str, state: tuple[Any, ...], options: Options) -> Report:
    return report_of(
        _evidence(_engine, where, state, options.whose, options.target),
        interval=options.interval,
        target=options.target,
        delta=options.delta,
        weights=options.weights(),
    )


# A resource: shared by all sessions, never copied, and nobody writes to it.
@st.cache_resource(max_entries=4, show_spinner=False)
def _evidence(_engine: Engine, where: str, state: tuple[Any, ...], whose: Whose, target: Target) -> Evidence:
    return evidence(_engine, whose, target=target)
