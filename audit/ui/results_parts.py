"""Parts that the tabs of the results share: options, the report, charts, tables, rankings and audits."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import streamlit as st
from sqlalchemy import Engine

from audit.errors import AuditError
from audit.false_satisfaction.resolution import Whose
from audit.reports import charts
from audit.reports.build import Report
from audit.reports.document import PreferredSystem, ProtocolArm, RankedEntry, RelationResultEntry
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
from audit.ui.background_cache import CachedAnswer, computed
from audit.ui.dashboard_parts import chart_spec
from audit.ui.language import plain, sentence, single_choice, t, text_or, translated, whose_answers

# The options of the report, as a manager chose them, and the report itself, which is computed once per choice.
#
# The worker computes it (`audit.ui.background_cache`): at a million groups it takes seconds, in which annotators go on.

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
    """A report, and a key of what it was computed from for charts and files; `problem` says why it lacks weights.

    `answer` says when it was computed, and whether answers have come since.
    """

    report: Report
    key: tuple[Any, ...]
    options: Options
    answer: CachedAnswer
    problem: AuditError | None = None


def choose_options() -> Options:
    """The controls above the report. Their values are kept for the session."""
    targets: dict[Target, str] = {name: t(f"target.{name}") for name in TARGETS}
    methods = {name: text_or(f"interval.{name}", name) for name in METHODS}
    with st.container(horizontal=True):
        whose = whose_answers(WHOSE, "whose")
        target = single_choice(
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
        gold_error = st.text_input(
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
    return Options(whose, interval, target, round(points / 100, 4), profile, own_weights(), gold_error or None)


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
        "interval": options.interval,
        "target": options.target,
        "delta": options.delta,
        "weights": options.weights(),
        "gold_error": options.gold_error,
    }
    return computed(engine, "report", values, recompute=recompute)


RATES = ("sr_observed", "fs_rate", "fs_low", "fs_high", "sr_genuine", "sr_genuine_low", "sr_genuine_high")
CORRECTED = ("sr_corrected", "sr_corrected_low", "sr_corrected_high")
SCORES = ("score_observed", "score", "score_low", "score_high")
WEIGHTS = ("weight", "weight_level")
DIFFERENCES = ("difference", "low", "high")
CAUSES = ("cause_share", "cause_low", "cause_high")
IN_PERCENT = {*RATES, *BOUNDS, *CORRECTED, *SCORES, *WEIGHTS, *DIFFERENCES, *CAUSES, "p_best"}
"""Columns that hold fractions and are shown in per cent."""
TESTS = ("p_holm", "mcnemar_p")


def chart(view: View, name: tuple[Any, ...], build: Callable[[charts.Palette], Any], alt: str) -> None:
    """Show a chart in its own size, or nothing where there is none; `name` is unique among the view's charts.

    `alt` is the alternative text.
    """
    dark = st.context.theme.type == "dark"
    spec = chart_spec((view.key, name), dark, build)
    if spec is not None:
        st.vega_lite_chart(spec, theme=None, width="content", alt=alt)


def table(rows: Sequence[Mapping[str, Any]], names: Sequence[str], height: int | Literal["auto"] = "auto") -> None:
    """Rows as a table that sorts: rates in per cent, names as they are."""
    cells = [{t(f"column.{name}"): _cell_value(row, name) for name in names} for row in rows]
    st.dataframe(cells, hide_index=True, height=height, column_config=_formats(names), placeholder=UNKNOWN)


def cells_table(report: Report, cells: Sequence[Mapping[str, Any]], names: Sequence[str], height: Any = "auto") -> None:
    """Cells as a table; bounds, corrected rates, method and reason have columns where a cell has them."""
    optional = (*BOUNDS, *CORRECTED, "method", "reason")
    extra = [name for name in optional if any(cell.get(name) is not None for cell in cells)]
    table([_with_names(cell) for cell in cells], (*names, *extra), height)


def cell_columns(report: Report) -> tuple[str, ...]:
    """The columns that name a cell; with the study where there are several."""
    several_studies = len({cell["study"] for cell in report["cells"]}) > 1
    return (*(("study",) if several_studies else ()), "relation", "system")


def method_sentence(view: View) -> str:
    """How the numbers were computed, in one sentence."""
    options = view.options
    confidence = f"{percent(view.report['signature'].get('confidence') or 0.95, 0)} %"
    parts = (
        t("how.interval", confidence=confidence, method=text_or(f"interval.{options.interval}", options.interval)),
        t(f"how.{options.target}"),
        t(f"how.{options.whose}"),
        _delta_text(view),
    )
    return t("how.comma").join(parts) + t("how.stop")


def delta_sentence(view: View) -> str:
    """Which differences count as equal, in one sentence."""
    return sentence(_delta_text(view) + t("how.stop"))


def _delta_text(view: View) -> str:
    delta = view.options.delta
    return t("how.delta", points=percent(delta)) if delta else t("how.no_delta")


def ranking_table(
    entries: Sequence[RankedEntry | PreferredSystem], rates: Mapping[str, Mapping[str, Any]], names: Sequence[str]
) -> None:
    """A ranking, best first: rates, rank interval, letters and P(best) of each system, or why these are missing."""
    ranked = by_rank(entries)
    unranked = [entry for entry in entries if entry["p_best"] is None]
    rows = [
        {**rates.get(entry["system"], {}), **entry, "ranks": ranks_text(entry) if entry["p_best"] is not None else None}
        for entry in (*ranked, *unranked)
    ]
    letters = ("letters",) if any(entry.get("letters") for entry in entries) else ()
    certainty_columns = ("ranks", "p_best") if ranked else ()
    reason_column = ("reason",) if unranked else ()
    table(
        [_with_names(row) for row in rows],
        ("system", *names[:2], *reason_column, *names[2:], *letters, *certainty_columns),
    )


def heading(text: str) -> None:
    """A heading inside a tab: smaller than the page's."""
    st.markdown(f"##### {text}")


def write_plain(text: str) -> None:
    """Write a sentence without interpreting it as Markdown, since it may quote names."""
    st.markdown(plain(text))


def _with_names(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row with its study's name, and with its reason in the session's language."""
    result = dict(row)
    if row.get("study") is not None:
        result["study"] = t("browse.study_name", corpus=row.get("corpus"), id=row["study"])
    if row.get("reason"):
        result["reason"] = sentence(translated(row["reason"]))
    return result


def _cell_value(row: Mapping[str, Any], name: str) -> Any:
    value = row.get(name)
    return 100 * value if name in IN_PERCENT and value is not None else value


def _formats(names: Sequence[str]) -> dict[str, Any]:
    formats: dict[str, Any] = {}
    for name in names:
        if name == "p_best":
            formats[t("column.p_best")] = st.column_config.ProgressColumn(format="%.1f", min_value=0, max_value=100)
        elif name in DIFFERENCES:
            formats[t(f"column.{name}")] = st.column_config.NumberColumn(format="%+.1f")
        elif name in IN_PERCENT:
            formats[t(f"column.{name}")] = st.column_config.NumberColumn(format="%.1f")
        elif name in TESTS:
            formats[t(f"column.{name}")] = st.column_config.NumberColumn(format="%.2g")
    return formats


# Audits: whether relations hold, the propagation error of each relation, and spot checks.


def relation_audit(entry: RelationResultEntry) -> None:
    """The audits of one relation, in sentences; nothing where nothing was audited."""
    holds, propagation = entry["holds"], entry["carry"]
    texts = []
    if holds and holds["rate"] is not None:
        values = {name: percent(holds[name]) for name in ("rate", "low", "high")}
        values |= {name: percent(holds[name]["rate"]) for name in ("satisfied", "violated")}
        texts.append(t("audits.holds", broken=holds["broken"], judged=holds["judged"], **values))
    if propagation and propagation["audited"]:
        values = {name: percent(propagation[name]) for name in ("error", "low", "high")}
        texts.append(t("audits.carry", wrong=propagation["wrong"], audited=propagation["audited"], **values))
        if propagation["effect"] is not None:
            rests, effect = percent(propagation["rests_on_carried"]), percent(propagation["effect"])
            texts.append(t("audits.effect", rests=rests, effect=effect))
    if texts:
        heading(t("audits.title"))
    for text in texts:
        write_plain(text)


def spot_check_results(report: Report) -> None:
    """The error of the protocol and of R_FS by spot checks; nothing where nothing was checked."""
    checks = report["overall"]["checks"]
    if not checks or not checks["answers"]:
        return
    heading(t("audits.checks"))
    ends = {"low": percent(checks["error_low"]), "high": percent(checks["error_high"])}
    rate = percent(checks["error"])
    write_plain(t("audits.answers", answers=checks["answers"], wrong=checks["answers_wrong"], rate=rate, **ends))
    rogan_gladen = checks["rogan_gladen"]
    if checks["fs_checked"] is None or rogan_gladen is None:
        return
    st.caption(plain(t("audits.groups", groups=checks["groups"], removed=checks["removed"], added=checks["added"])))
    estimates = (
        ("protocol", checks["fs_rate"], checks["fs_low"], checks["fs_high"]),
        ("difference", checks["fs_checked"], checks["fs_checked_low"], checks["fs_checked_high"]),
        ("rogan_gladen", rogan_gladen["rate"], rogan_gladen["low"], rogan_gladen["high"]),
    )
    rows = [
        {"name": t(f"audits.{name}"), "fs_rate": rate, "fs_low": low, "fs_high": high}
        for name, rate, low, high in estimates
    ]
    table(rows, ("name", "fs_rate", "fs_low", "fs_high"))
    if rogan_gladen["reason"]:
        st.caption(plain(f"{t('audits.rogan_gladen')}: {translated(rogan_gladen['reason'])}"))


# The effect of seeing an earlier answer: R_FS by protocol and the difference, where a report has both protocols.


def protocol_effects(report: Report) -> None:
    """A sentence and a table; nothing where people answered under one protocol only."""
    protocols = report.get("protocols")
    if not protocols:
        return
    heading(t("protocols.title"))
    difference, low, high = protocols["difference"], protocols["low"], protocols["high"]
    if difference is None or low is None or high is None:
        write_plain(t("protocols.one_empty"))
    else:
        includes_zero = low <= 0 <= high
        kind = "not_random" if not protocols["randomised"] else "no_effect" if includes_zero else "effect"
        write_plain(t(f"protocols.{kind}", points=signed(difference), low=signed(low), high=signed(high)))
    st.dataframe([_row(arm) for arm in protocols["arms"]], hide_index=True)
    if protocols["crossed"]:
        st.caption(plain(t("protocols.crossed", count=protocols["crossed"])))


def _row(arm: ProtocolArm) -> dict[str, object]:
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
