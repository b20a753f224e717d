"""The document of `audit pivots` as text for a terminal."""

import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

from audit.reports.numbers import number, p_number
from audit.reports.pivots import CLOSE, CONSISTENCY
from audit.reports.terminal_tables import aligned, headed
from audit.reports.words import UNKNOWN, count, percent, signature_line, with_interval

WIDTH = 100
_SCORE_HEADS = ("score", "pairs", "met", "share", "farthest", "recorded", "computed")
_MEAN_HEADS = ("pairs", "mean", "se", "95 % interval", "subset")
_PAIR_HEADS = ("difference", "se", "t", "adjusted p")


def pivot_lines(report: Mapping[str, Any]) -> list[str]:
    """What the file holds, scores against recorded ones, and cells, means, tests and pairs of each part."""
    pivots, trips = report["pivots"], report["round_trips"]
    lines = headed(f"Recorded pivot chains of {report['file']}")
    lines += _wrapped(
        f"{count(report['rows'])} rows, {count(report['usable'])} of them usable, {count(report['analysed'])} of these "
        f"chosen: {count(pivots['pairs'])} over a pivot, {count(trips['pairs'])} round trips."
    )
    for one in report["oddities"]:
        used = "used" if one["used"] else "left out"
        lines += _wrapped(
            f"- Rows that {one['says']}: {count(one['rows'])}, {used} (first: line {count(one['first'])})."
        )
    if trips["unlike"]:
        lines += _wrapped(f"- Round trips whose direct translation is not the source: {count(trips['unlike'])}.")
    if report["lacking"]:
        lines += _wrapped(f"- The file has no column {', '.join(report['lacking'])}.")
    if report["recorded"]:
        lines += ["", f"Recorded scores, and those computed here: met within {CLOSE:g}", ""]
        lines += aligned(_SCORE_HEADS, [_score_row(one) for one in report["recorded"]], 1, WIDTH)
    for title, part in (("Over a pivot", pivots), ("Round trips", trips)):
        if part["pairs"]:
            lines += ["", *_part(title, part, report["signature"])]
    return [*lines, "", "signature " + signature_line(report["signature"])]


def _part(title: str, part: Mapping[str, Any], signature: Mapping[str, Any]) -> list[str]:
    model = part["model"]
    limit = f">= {signature['threshold']:g}, %"
    lines = headed(f"{title}: {model['score']} by {part['by']} and system")
    heads = (part["by"], "system", "pairs", "sentences", "levensht.", "BLEU", "cosine", "consist.", "equal", limit)
    lines += aligned(heads, [_cell_row(cell) for cell in part["cells"]], 2, WIDTH)
    lines.append("")
    if model["reason"]:
        return [*lines, *_wrapped(f"No model: {model['reason']}.")]
    together = "with" if model["interaction"] else "without"
    kind = (
        f"errors that go together in each of {count(model['clusters'])} sentences"
        if model["clusters"] is not None
        else "independent errors"
    )
    lines += _wrapped(
        f"Least-squares means of {count(model['scores'])} scores, {together} interaction, {kind}; error df "
        f"{count(model['df'])}, mean square {model['mse']:.5f}. Levels that share a letter do not differ "
        "(Tukey-Kramer, 5 %)."
    )
    for factor in model["factors"]:
        means = sorted((one for one in model["means"] if one["factor"] == factor), key=_best_first)
        lines += ["", *aligned((factor, *_MEAN_HEADS), [_mean_row(mean) for mean in means], 1, WIDTH)]
        lines += _unknown(means)
    lines += ["", "F tests (type III)", ""]
    for test in model["tests"]:
        lines += _wrapped(f"{test['effect']}: {_test_text(test)}")
    if model["comparisons"]:
        lines += ["", "Pairs (Tukey-Kramer)", ""]
        rows = [_pair_row(pair) for pair in model["comparisons"]]
        lines += aligned(("pair", *_PAIR_HEADS), rows, 1, WIDTH)
    return lines


def _unknown(means: Sequence[Mapping[str, Any]]) -> list[str]:
    """A line for all levels that cannot be estimated for the same reason."""
    levels: dict[str, list[str]] = {}
    for mean in means:
        if mean["mean"] is None:
            levels.setdefault(mean["reason"], []).append(mean["level"])
    return [
        line for why, some in levels.items() for line in _wrapped(f"  Cannot be estimated: {', '.join(some)} ({why}).")
    ]


def _score_row(one: Mapping[str, Any]) -> tuple[str, ...]:
    farthest = UNKNOWN if one["largest"] is None else f"{one['largest']:.1e}"
    means = (number(one["recorded_mean"]), number(one["computed_mean"]))
    return (one["score"], count(one["rows"]), count(one["met"]), percent(one["share"], 2), farthest, *means)


def _cell_row(cell: Mapping[str, Any]) -> tuple[str, ...]:
    scores = (number(cell[name]) for name in ("levenshtein", "bleu", "cosine", CONSISTENCY))
    rate = with_interval(cell, "sr_observed", "sr_low", "sr_high")
    return (
        cell["level"],
        cell["system"],
        count(cell["pairs"]),
        count(cell["sentences"]),
        *scores,
        count(cell["equal"]),
        rate,
    )


def _mean_row(mean: Mapping[str, Any]) -> tuple[str, ...]:
    ends = UNKNOWN if mean["low"] is None else f"{number(mean['low'])} to {number(mean['high'])}"
    return (mean["level"], count(mean["n"]), number(mean["mean"]), number(mean["se"], 5), ends, mean["letters"])


def _pair_row(pair: Mapping[str, Any]) -> tuple[str, ...]:
    name = f"{pair['one']} - {pair['other']}"
    return (name, number(pair["difference"]), number(pair["se"], 5), f"{pair['t']:.2f}", p_number(pair["p"]))


def _test_text(test: Mapping[str, Any]) -> str:
    about = f"; says nothing of {', '.join(test['left_out'])}" if test["left_out"] else ""
    if test["f"] is None:
        return f"not tested, {test['reason']}{about}."
    p = p_number(test["p"])
    return f"F({test['df']}, {test['df_error']}) = {test['f']:.2f}, p {p if p[0] == '<' else f'= {p}'}{about}."


def _best_first(mean: Mapping[str, Any]) -> tuple[bool, float, str]:
    return (mean["mean"] is None, -(mean["mean"] or 0.0), mean["level"])


def _wrapped(text: str) -> list[str]:
    return textwrap.wrap(text, WIDTH, subsequent_indent="  ", break_on_hyphens=False)
