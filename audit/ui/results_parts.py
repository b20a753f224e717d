"""What the tabs of the results share: charts that are built once, tables that sort, and how sure a ranking is."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import streamlit as st
from sqlalchemy import Engine

from audit.errors import AuditError
from audit.false_satisfaction.resolution import Whose
from audit.reports import charts
from audit.reports.build import Report
from audit.reports.preference import known_everywhere
from audit.reports.study import INTERVAL
from audit.reports.words import (
    UNKNOWN,
    by_rank,
    inspected_text,
    percent,
    ranks_text,
    signed,
    unchanged_text,
    with_interval,
)
from audit.statistics.intervals import METHODS, SEQUENCE, TARGETS, Target, get_target
from audit.statistics.rates import BOUNDS
from audit.ui import session
from audit.ui.background_cache import Found, computed
from audit.ui.dashboard_parts import built
from audit.ui.language import known_or, one_of, plain, sentence, t, translated, whose_answers

# How the report is computed: what a manager chose, and the report for it, which is computed once per choice.
#
# The worker computes it (`audit.ui.background_cache`): at a million groups it takes seconds, in which annotators go on.

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
    methods = {name: known_or(f"interval.{name}", name) for name in METHODS}
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
    return View(found.value, (session.where(), found.state, options), options, found, problem)


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


RATES = ("sr_observed", "fs_rate", "fs_low", "fs_high", "sr_genuine", "sr_genuine_low", "sr_genuine_high")
CORRECTED = ("sr_corrected", "sr_corrected_low", "sr_corrected_high")
SCORES = ("score_observed", "score", "score_low", "score_high")
WEIGHTS = ("weight", "weight_level")
DIFFERENCES = ("difference", "low", "high")
CAUSES = ("cause_share", "cause_low", "cause_high")
IN_PERCENT = {*RATES, *BOUNDS, *CORRECTED, *SCORES, *WEIGHTS, *DIFFERENCES, *CAUSES, "p_best"}
"""Columns that hold fractions and are shown in per cent."""
TESTS = ("p_holm", "mcnemar_p")


def chart(view: View, name: tuple[Any, ...], make: Callable[[charts.Palette], Any], words: str) -> None:
    """A chart in its own size, or nothing where there is none; `name` tells it from the view's other charts.

    `words` say what it shows to those who cannot see it.
    """
    dark = st.context.theme.type == "dark"
    spec = built((view.key, name), dark, make)
    if spec is not None:
        st.vega_lite_chart(spec, theme=None, width="content", alt=words)


def table(rows: Sequence[Mapping[str, Any]], names: Sequence[str], height: int | Literal["auto"] = "auto") -> None:
    """Rows as a table that sorts: rates in per cent, names as they are."""
    shown = [{t(f"column.{name}"): _shown(row, name) for name in names} for row in rows]
    st.dataframe(shown, hide_index=True, height=height, column_config=_formats(names), placeholder=UNKNOWN)


def cells_table(report: Report, cells: Sequence[Mapping[str, Any]], names: Sequence[str], height: Any = "auto") -> None:
    """Cells as a table, with bounds, corrected rates, the method and the reason of those that have one."""
    rare = (*BOUNDS, *CORRECTED, "method", "reason")
    more = [name for name in rare if any(cell.get(name) is not None for cell in cells)]
    table([_named(cell) for cell in cells], (*names, *more), height)


def whole(report: Report) -> tuple[str, ...]:
    """The columns that name a cell; the study too where there are several."""
    several = len({cell["study"] for cell in report["cells"]}) > 1
    return (*(("study",) if several else ()), "relation", "system")


def how(view: View) -> str:
    """How the numbers were computed, in one sentence, for beside them."""
    chosen = view.options
    confidence = f"{percent(view.report['signature'].get('confidence') or 0.95, 0)} %"
    parts = (
        t("how.interval", confidence=confidence, method=t(f"interval.{chosen.interval}")),
        t(f"how.{chosen.target}"),
        t(f"how.{chosen.whose}"),
        _tolerance(view),
    )
    return t("how.comma").join(parts) + t("how.stop")


def tolerance(view: View) -> str:
    """Which differences count as equal, as a sentence: for beside whatever depends on it."""
    return sentence(_tolerance(view) + t("how.stop"))


def _tolerance(view: View) -> str:
    chosen = view.options.delta
    return t("how.delta", points=percent(chosen)) if chosen else t("how.no_delta")


def ranking_table(
    entries: Sequence[Mapping[str, Any]], rates: Mapping[str, Mapping[str, Any]], names: Sequence[str]
) -> None:
    """A ranking, best first, with rates of each system: rank interval, letters, P(best), or why it is not known."""
    known = by_rank(entries)
    rest = [entry for entry in entries if entry["p_best"] is None]
    rows = [
        {**rates.get(entry["system"], {}), **entry, "ranks": ranks_text(entry) if entry["p_best"] is not None else None}
        for entry in (*known, *rest)
    ]
    letters = ("letters",) if any(entry.get("letters") for entry in entries) else ()
    sure = ("ranks", "p_best") if known else ()
    why = ("reason",) if rest else ()
    table([_named(row) for row in rows], ("system", *names[:2], *why, *names[2:], *letters, *sure))


def heading(text: str) -> None:
    """A heading inside a tab: smaller than the page's."""
    st.markdown(f"##### {text}")


def say(text: str) -> None:
    """A sentence that may quote names, as it is."""
    st.markdown(plain(text))


def _named(row: Mapping[str, Any]) -> dict[str, Any]:
    """With its study's name, and with its reason in the session's language."""
    named = dict(row)
    if row.get("study") is not None:
        named["study"] = t("browse.study_name", corpus=row.get("corpus"), id=row["study"])
    if row.get("reason"):
        named["reason"] = sentence(translated(row["reason"]))
    return named


def _shown(row: Mapping[str, Any], name: str) -> Any:
    value = row.get(name)
    return 100 * value if name in IN_PERCENT and value is not None else value


def _formats(names: Sequence[str]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name in names:
        if name == "p_best":
            found[t("column.p_best")] = st.column_config.ProgressColumn(format="%.1f", min_value=0, max_value=100)
        elif name in DIFFERENCES:
            found[t(f"column.{name}")] = st.column_config.NumberColumn(format="%+.1f")
        elif name in IN_PERCENT:
            found[t(f"column.{name}")] = st.column_config.NumberColumn(format="%.1f")
        elif name in TESTS:
            found[t(f"column.{name}")] = st.column_config.NumberColumn(format="%.2g")
    return found


# What audits found: whether relations hold, how often answers are carried wrongly, what spot checks say.


def of_relation(entry: Mapping[str, Any]) -> None:
    """Of one relation, in sentences; nothing where nothing was audited."""
    holds, carry = entry["holds"], entry["carry"]
    texts = []
    if holds and holds["rate"] is not None:
        values = {name: percent(holds[name]) for name in ("rate", "low", "high")}
        values |= {name: percent(holds[name]["rate"]) for name in ("satisfied", "violated")}
        texts.append(t("audits.holds", broken=holds["broken"], judged=holds["judged"], **values))
    if carry and carry["audited"]:
        values = {name: percent(carry[name]) for name in ("error", "low", "high")}
        texts.append(t("audits.carry", wrong=carry["wrong"], audited=carry["audited"], **values))
        if carry["effect"] is not None:
            rests, effect = percent(carry["rests_on_carried"]), percent(carry["effect"])
            texts.append(t("audits.effect", rests=rests, effect=effect))
    if texts:
        heading(t("audits.title"))
    for text in texts:
        say(text)


def of_all(report: Report) -> None:
    """What spot checks say of the protocol and of R_FS; nothing where nothing was checked."""
    found = report["overall"]["checks"]
    if not found or not found["answers"]:
        return
    heading(t("audits.checks"))
    ends = {name: percent(found[f"error_{name}"]) for name in ("low", "high")}
    rate = percent(found["error"])
    say(t("audits.answers", answers=found["answers"], wrong=found["answers_wrong"], rate=rate, **ends))
    if found["fs_checked"] is None:
        return
    st.caption(plain(t("audits.groups", groups=found["groups"], removed=found["removed"], added=found["added"])))
    other = found["rogan_gladen"]
    estimates = (
        ("protocol", found["fs_rate"], found["fs_low"], found["fs_high"]),
        ("difference", found["fs_checked"], found["fs_checked_low"], found["fs_checked_high"]),
        ("rogan_gladen", other["rate"], other["low"], other["high"]),
    )
    rows = [
        {"name": t(f"audits.{name}"), "fs_rate": rate, "fs_low": low, "fs_high": high}
        for name, rate, low, high in estimates
    ]
    table(rows, ("name", "fs_rate", "fs_low", "fs_high"))
    if other["reason"]:
        st.caption(plain(f"{t('audits.rogan_gladen')}: {translated(other['reason'])}"))


# What seeing an earlier answer moves: R_FS by protocol and the difference, where a report has both.


def of_protocols(report: Report) -> None:
    """A sentence and a table; nothing where people answered under one protocol only."""
    found = report.get("protocols")
    if not found:
        return
    heading(t("protocols.title"))
    if found["difference"] is None:
        say(t("protocols.one_empty"))
    else:
        none_shown = found["low"] <= 0 <= found["high"]
        kind = "not_random" if not found["randomised"] else "no_effect" if none_shown else "effect"
        points, low, high = (signed(found[name]) for name in ("difference", "low", "high"))
        say(t(f"protocols.{kind}", points=points, low=low, high=high))
    st.dataframe([_row(arm) for arm in found["arms"]], hide_index=True)
    if found["crossed"]:
        st.caption(plain(t("protocols.crossed", count=found["crossed"])))


def _row(arm: dict[str, object]) -> dict[str, object]:
    rate = with_interval(arm, "fs_rate", "fs_low", "fs_high")
    agreement = arm["agreement"]
    texts = {
        "name": t(f"protocols.{arm['protocol']}"),
        **{name: arm[name] for name in ("sources", "groups", "false")},
        "fs": rate,
        "questions": arm["questions"],
        "agreement": percent(agreement if isinstance(agreement, float) else None),
        "disputed": arm["disputed"],
        "unchanged": unchanged_text(arm),
        "inspected": inspected_text(arm),
    }
    return {t(f"protocols.{name}"): text for name, text in texts.items()}
