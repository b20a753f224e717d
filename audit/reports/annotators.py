"""How competent each annotator is, by Dawid and Skene's model: a JSON document, and text for a terminal."""

import textwrap
from typing import Any

import numpy as np
import pandas as pd

import audit
from audit.annotation.ratings import Rated
from audit.reports.words import UNKNOWN, count, percent, signature_line
from audit.statistics.annotators import Competence, dawid_skene, protocols

WIDTH = 100
_SETTLES = 3
"""Ratings an item needs for the model to tell error from difficulty."""


def annotators_report(
    rated: Rated,
    draws: int = 1000,
    seed: int = 0,
    outputs: pd.DataFrame | None = None,
    adjudicator: float = 1.0,
) -> dict[str, Any]:
    """Shares of the true labels, a confusion matrix for each annotator, and the likeliest label of each item.

    And what protocols would make of these annotators: `protocol`, with the bias of R_FS where `outputs` tells what the
    systems say (columns item, output, groups: `audit.false_satisfaction.opinions.answered_outputs`), and an adjudicator
    who is right with the probability `adjudicator`.

    `rated.frame` has the columns item, annotator, label; repeats are taken as they are. `draws` of the model's
    posterior give the intervals, 0 none. Raises AuditError as `dawid_skene` does.
    """
    found = dawid_skene(rated.frame, draws, seed)
    notes = list(rated.notes)
    if rated.frame.groupby("item").size().max() < _SETTLES:
        notes.append(
            "No item has three ratings. The model then has more unknowns than the ratings can settle: take the shares "
            "and confusions as one of several explanations."
        )
    if not found.converged:
        notes.append(f"The fit was still moving after {found.iterations:,} iterations; its last step is shown.")
    return {
        "labels": list(found.labels),
        "marginals": {name: float(share) for name, share in zip(found.labels, found.marginals, strict=True)},
        "marginals_low": _ends(found, 0),
        "marginals_high": _ends(found, 1),
        "protocol": [
            {
                "name": one.name,
                "wrong_answers": one.wrong_answers,
                "judgements": one.judgements,
                "fs_bias": one.bias,
            }
            for one in protocols(found.confusion, found.marginals.tolist(), _joint(found, outputs), adjudicator)
        ],
        "annotators": [_annotator(found, place) for place in range(len(found.annotators))],
        "items": [
            {"item": str(item), "label": found.labels[best], "probability": float(chance)}
            for item, best, chance in zip(
                found.items, found.posterior.argmax(axis=1), found.posterior.max(axis=1), strict=True
            )
        ],
        "log_likelihood": found.log_likelihood,
        "iterations": found.iterations,
        "converged": found.converged,
        "notes": notes,
        "signature": {
            "audit": audit.__version__,
            **rated.origin,
            "model": "Dawid-Skene, maximum likelihood",
            "adjudicator": adjudicator,
            "posterior_draws": draws or None,
            "seed": seed if draws else None,
            "confidence": 0.95 if draws else None,
        },
    }


def _joint(found: Competence, outputs: pd.DataFrame | None) -> np.ndarray | None:
    """Groups by the true label of their item, by what the fit makes of it, and the systems' output; (q, q or more)."""
    if outputs is None or outputs.empty:
        return None
    place = {str(item): at for at, item in enumerate(found.items)}
    said = [*found.labels, *sorted(set(outputs["output"]) - set(found.labels))]
    joint = np.zeros((len(found.labels), len(said)))
    for item, output, groups in outputs[["item", "output", "groups"]].itertuples(index=False):
        if item in place:
            joint[:, said.index(output)] += groups * found.posterior[place[item]]
    return joint


def _ends(found: Competence, end: int) -> dict[str, float] | None:
    if found.marginals_interval is None:
        return None
    return {name: float(share) for name, share in zip(found.labels, found.marginals_interval[end], strict=True)}


def _annotator(found: Competence, place: int) -> dict[str, Any]:
    low, high = (None, None) if found.accuracy_interval is None else found.accuracy_interval[:, place]
    return {
        "annotator": found.annotators[place],
        "ratings": int(found.ratings[place]),
        "accuracy": float(found.accuracy[place]),
        "accuracy_low": _known(low),
        "accuracy_high": _known(high),
        # Where an annotator saw nothing of a true label, what they would say of it is not known.
        "confusion": {
            true: {said: _known(chance) for said, chance in zip(found.labels, row, strict=True)}
            for true, row in zip(found.labels, found.confusion[place], strict=True)
        },
    }


def _known(value: float | None) -> float | None:
    return None if value is None or np.isnan(value) else float(value)


def annotators_lines(report: dict[str, Any]) -> list[str]:
    """The document as lines of text; the items are in the JSON only."""
    lines = [
        f"{len(report['annotators']):,} annotators, {count(len(report['items']))} items. Rates are in per cent.",
        "",
    ]
    lines.append(
        "  true label: " + ", ".join(f"{name} {percent(share)}" for name, share in report["marginals"].items())
    )
    size = max(7, *(min(len(name), 14) + 2 for name in report["labels"]))
    for one in report["annotators"]:
        ends = ""
        if one["accuracy_low"] is not None:
            ends = f" [{percent(one['accuracy_low'])}–{percent(one['accuracy_high'])}]"
        lines += ["", f"  {one['annotator']}: right {percent(one['accuracy'])}{ends}, {count(one['ratings'])} ratings"]
        lines.append(f"    {'is / says':<{size + 2}}" + "".join(f"{name[:14]:>{size}}" for name in report["labels"]))
        for true, row in one["confusion"].items():
            cells = "".join(f"{UNKNOWN if chance is None else percent(chance):>{size}}" for chance in row.values())
            lines.append(f"    {true[:14]:<{size + 2}}{cells}")
    right = percent(report["signature"]["adjudicator"])
    lines += ["", f"  If these people answered, independently of each other, and an adjudicator were right in {right}:"]
    for one in report["protocol"]:
        bias = "" if one["fs_bias"] is None else f", bias of R_FS {100 * one['fs_bias']:+.1f}"
        wrong = f"{percent(one['wrong_answers'])} of the answers wrong{bias}"
        lines.append(f"    {one['name']}: {wrong}, {one['judgements']:.2f} judgements a question")
    if report["notes"]:
        lines.append("")
    for note in report["notes"]:
        lines += textwrap.wrap(f"Note: {note}", WIDTH, subsequent_indent="  ")
    return [*lines, "", "signature " + signature_line(report["signature"])]
