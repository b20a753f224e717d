"""`audit pivots FILE`: recorded translations beside those over another language: scores, and who is more consistent."""

import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np

import audit
from audit.corpora.recordings import SCORES, Chains
from audit.errors import AuditError
from audit.reports.tables import aligned, headed
from audit.reports.words import UNKNOWN, count, number, p_number, percent, signature_line, with_interval
from audit.statistics.intervals import effective_interval, effective_size
from audit.statistics.linear_model import compared, fit_two_way, type_three
from audit.text.similarity import bleu, cosine, levenshtein_similarity

if TYPE_CHECKING:
    import pandas as pd


Watch = Callable[[Iterable[Any], int], Iterable[Any]]
"""A progress bar: wraps the pairs that are scored, and is told how many there are."""
FUNCTIONS: Mapping[str, Callable[[str, str], float]] = {
    "levenshtein": levenshtein_similarity,
    "bleu": bleu,
    "cosine": cosine,
}
CONSISTENCY = "consistency"
KINDS = (CONSISTENCY, *SCORES)
BY = ("target", "pivot")
ERRORS = ("sentence", "independent")
CLOSE = 1e-6
"""A recorded score is reproduced if the computed one differs by no more than this."""
ALPHA = 0.05


def pivots_report(
    chains: Chains,
    *,
    by: str = "target",
    score: str = CONSISTENCY,
    threshold: float = 0.8,
    source_language: str = "en",
    targets: Sequence[str] | None = None,
    systems: Sequence[str] | None = None,
    exclude: Sequence[str] = (),
    interaction: bool = True,
    errors: str | None = None,
    confidence: float = 0.95,
    watch: Watch | None = None,
) -> dict[str, Any]:
    """The document: what the file holds, recorded against computed scores, and scores, means and tests of its pairs.

    Pairs whose target is `source_language` are round trips (their direct translation is the source itself) and stand
    apart from those over a pivot. `by` is the other factor of the model beside the system, one of `BY`, for round trips
    the pivot always; `score` is one of `KINDS`; a pair with at least `threshold` is satisfied. `targets` and `systems`
    choose, `exclude` leaves out targets. `errors` go together by `sentence` (the default, where the file says which
    pairs are of one sentence) or are `independent`, as in the MCMT study. Raises AuditError for names that the file has
    not, and for what a missing column does not allow.
    """
    errors = errors or ("independent" if "source" in chains.lacking else "sentence")
    _check(chains, by, score, threshold, errors)
    frame = _select(chains, "system", systems)
    frame = frame.merge(_select(chains, "target", targets)[["line"]], on="line")
    _select(chains, "target", exclude)
    frame = frame[~frame["target"].isin(list(exclude))]
    if not len(frame):
        raise AuditError(f"{chains.name}: no row has one of these systems and targets; choose others")
    frame = scored(frame, watch)
    frame = frame.assign(
        score=frame[score] if score == CONSISTENCY else frame[f"computed_{score}"],
        # Pairs of one sentence go together; one without a sentence stands for itself.
        sentence=np.where(frame["source"].ne(""), frame["source"], frame["line"].astype(str)),
    )
    back = frame["target"].eq(source_language)
    settings = {"score": score, "threshold": threshold, "interaction": interaction, "errors": errors}
    return {
        "file": chains.name,
        "rows": chains.rows,
        "usable": len(chains.frame),
        "analysed": len(frame),
        "lacking": list(chains.lacking),
        "oddities": [asdict(oddity) for oddity in chains.oddities],
        "recorded": [_recorded(frame, name) for name in SCORES if name not in chains.lacking],
        "pivots": _part(frame[~back], by, settings, confidence),
        "round_trips": _part(frame[back], "pivot" if "pivot" not in chains.lacking else "target", settings, confidence)
        | {"unlike": int((back & frame["source"].ne("") & frame["source"].ne(frame["direct"])).sum())},
        "signature": {
            "audit": audit.__version__,
            "file": chains.name,
            "sha": chains.sha,
            "by": by,
            **settings,
            "source_language": source_language,
            "systems": list(systems or ()),
            "targets": list(targets or ()),
            "excluded": list(exclude),
            "confidence": confidence,
        },
    }


def scored(frame: "pd.DataFrame", watch: Watch | None = None) -> "pd.DataFrame":
    """`frame` with the columns computed_levenshtein, computed_bleu, computed_cosine, and consistency, their mean."""
    pairs: Iterable[tuple[str, str]] = zip(frame["direct"], frame["alternate"], strict=True)
    if watch is not None:
        pairs = watch(pairs, len(frame))
    rows = [[function(direct, alternate) for function in FUNCTIONS.values()] for direct, alternate in pairs]
    values = np.array(rows).reshape(len(frame), len(FUNCTIONS))
    columns = {f"computed_{name}": values[:, at] for at, name in enumerate(FUNCTIONS)}
    return frame.assign(**columns, **{CONSISTENCY: values.mean(axis=1)})


def _check(chains: Chains, by: str, score: str, threshold: float, errors: str) -> None:
    for what, value, allowed in (("factor", by, BY), ("score", score, KINDS), ("kind of errors", errors, ERRORS)):
        if value not in allowed:
            raise AuditError(f"unknown {what} {value!r}; known are: {', '.join(allowed)}")
    if not 0 <= threshold <= 1:
        raise AuditError(f"the threshold {threshold:g} is impossible; it lies between 0 and 1, as scores do")
    if by in chains.lacking:
        raise AuditError(
            f"{chains.name} has no column {by}, so means by {by} cannot be had; leave out by={by}", parameter="by"
        )
    if errors == "sentence" and "source" in chains.lacking:
        raise AuditError(f"{chains.name} has no column source, so nothing says which pairs are of one sentence")


def _select(chains: Chains, column: str, names: Sequence[str] | None) -> "pd.DataFrame":
    present = sorted(chains.frame[column].unique())
    unknown = [name for name in names or () if name not in present]
    if unknown:
        raise AuditError(f"{chains.name} has no {column} {unknown[0]!r}; it has: {', '.join(present)}")
    return chains.frame if names is None else chains.frame[chains.frame[column].isin(list(names))]


def _recorded(frame: "pd.DataFrame", name: str) -> dict[str, Any]:
    """How many recorded scores are reproduced here, and the largest difference."""
    differences = (frame[name] - frame[f"computed_{name}"]).abs().dropna()
    reproduced = int((differences <= CLOSE).sum())
    return {
        "score": name,
        "rows": len(differences),
        "met": reproduced,
        "share": reproduced / len(differences) if len(differences) else None,
        "largest": float(differences.max()) if len(differences) else None,
        "recorded_mean": float(frame[name].mean()) if len(differences) else None,
        "computed_mean": float(frame.loc[differences.index, f"computed_{name}"].mean()) if len(differences) else None,
    }


def _part(frame: "pd.DataFrame", by: str, settings: Mapping[str, Any], confidence: float) -> dict[str, Any]:
    return {
        "by": by,
        "pairs": len(frame),
        "sentences": _sentences(frame),
        "cells": [
            {"level": level, "system": system} | _cell(pairs, settings["threshold"], confidence)
            for (level, system), pairs in frame.groupby([by, "system"], sort=True)
        ],
        "model": _model(frame, by, settings, confidence),
    }


def _sentences(frame: "pd.DataFrame") -> int | None:
    sentences = frame.loc[frame["source"].ne(""), "source"]
    return int(sentences.nunique()) if len(sentences) else None


def _cell(pairs: "pd.DataFrame", threshold: float, confidence: float) -> dict[str, Any]:
    satisfied = pairs["score"].to_numpy() >= threshold
    rate = float(satisfied.mean())
    ends = effective_interval(rate, effective_size(pairs["sentence"].to_numpy(), satisfied, confidence), confidence)
    return {
        "pairs": len(pairs),
        "sentences": _sentences(pairs),
        **{name: float(pairs[f"computed_{name}"].mean()) for name in FUNCTIONS},
        CONSISTENCY: float(pairs[CONSISTENCY].mean()),
        "equal": int(pairs["direct"].eq(pairs["alternate"]).sum()),
        "satisfied": int(satisfied.sum()),
        "sr_observed": rate,
        "sr_low": ends.low,
        "sr_high": ends.high,
    }


def _model(frame: "pd.DataFrame", by: str, settings: Mapping[str, Any], confidence: float) -> dict[str, Any]:
    """The two-way model of the score; `reason` says why there is none."""
    model: dict[str, Any] = {"score": settings["score"], "factors": [by, "system"]}
    model |= {"interaction": settings["interaction"], "errors": settings["errors"], "scores": len(frame)}
    model |= {"df": None, "mse": None, "clusters": None}
    nothing: dict[str, Any] = {"means": [], "tests": [], "comparisons": []}
    try:
        fit = fit_two_way(
            frame,
            by,
            "system",
            interaction=settings["interaction"],
            clusters="sentence" if settings["errors"] == "sentence" else None,
        )
        means, differences = [], []
        for factor, factor_means, pairs, letters in compared(fit, confidence, ALPHA):
            means += [
                {"factor": factor} | asdict(mean) | {"letters": letters.get(mean.level, "")} for mean in factor_means
            ]
            differences += [{"factor": factor} | asdict(pair) for pair in pairs]
    except AuditError as problem:
        return model | nothing | {"reason": str(problem) if len(frame) else "there are no such pairs"}
    model |= {"df": fit.df, "mse": fit.mse, "clusters": fit.clusters}
    tests = [asdict(test) for test in type_three(fit)]
    return model | {"means": means, "tests": tests, "comparisons": differences, "reason": None}


# The document of `audit pivots` as text for a terminal.

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
    for oddity in report["oddities"]:
        used = "used" if oddity["used"] else "left out"
        lines += _wrapped(
            f"- Rows that {oddity['says']}: {count(oddity['rows'])}, {used} (first: line {count(oddity['first'])})."
        )
    if trips["unlike"]:
        lines += _wrapped(f"- Round trips whose direct translation is not the source: {count(trips['unlike'])}.")
    if report["lacking"]:
        lines += _wrapped(f"- The file has no column {', '.join(report['lacking'])}.")
    if report["recorded"]:
        lines += ["", f"Recorded scores, and those computed here: met within {CLOSE:g}", ""]
        lines += aligned(_SCORE_HEADS, [_score_row(row) for row in report["recorded"]], 1, WIDTH)
    for title, part in (("Over a pivot", pivots), ("Round trips", trips)):
        if part["pairs"]:
            lines += ["", *_part_lines(title, part, report["signature"])]
    return [*lines, "", "signature " + signature_line(report["signature"])]


def _part_lines(title: str, part: Mapping[str, Any], signature: Mapping[str, Any]) -> list[str]:
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
        means = sorted((mean for mean in model["means"] if mean["factor"] == factor), key=_best_first)
        lines += ["", *aligned((factor, *_MEAN_HEADS), [_mean_row(mean) for mean in means], 1, WIDTH)]
        lines += _not_estimated(means)
    lines += ["", "F tests (type III)", ""]
    for test in model["tests"]:
        lines += _wrapped(f"{test['effect']}: {_test_text(test)}")
    if model["comparisons"]:
        lines += ["", "Pairs (Tukey-Kramer)", ""]
        rows = [_pair_row(pair) for pair in model["comparisons"]]
        lines += aligned(("pair", *_PAIR_HEADS), rows, 1, WIDTH)
    return lines


def _not_estimated(means: Sequence[Mapping[str, Any]]) -> list[str]:
    """A line for all levels that cannot be estimated for the same reason."""
    levels: dict[str, list[str]] = {}
    for mean in means:
        if mean["mean"] is None:
            levels.setdefault(mean["reason"], []).append(mean["level"])
    return [
        line
        for why, names in levels.items()
        for line in _wrapped(f"  Cannot be estimated: {', '.join(names)} ({why}).")
    ]


def _score_row(row: Mapping[str, Any]) -> tuple[str, ...]:
    farthest = UNKNOWN if row["largest"] is None else f"{row['largest']:.1e}"
    means = (number(row["recorded_mean"]), number(row["computed_mean"]))
    return (row["score"], count(row["rows"]), count(row["met"]), percent(row["share"], 2), farthest, *means)


def _cell_row(cell: Mapping[str, Any]) -> tuple[str, ...]:
    scores = (number(cell[name]) for name in ("levenshtein", "bleu", "cosine", CONSISTENCY))
    rate = with_interval({"rate": cell["sr_observed"], "low": cell["sr_low"], "high": cell["sr_high"]}, "rate")
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
