"""The quality document: from a known record, by hand; from a judged database; as text, charts and command."""

import json

import pandas as pd
import pytest

from audit.judging.settings import JudgingSettings
from audit.reports.quality import RECORD_COLUMNS, Record, quality_report

POSITIVE, NEGATIVE = frozenset({"positive"}), frozenset({"negative"})


def row(name, question, round, answer, seconds, expected=None, settled=None, before=None):
    return (name, question, "sentiment", "input", round, answer, seconds, expected, settled, before)


@pytest.fixture
def two_annotators():
    """Ann is right and quick, bob calls what is negative neutral and is slow."""
    rows = []
    for number in range(20):
        right, settled = ("positive", POSITIVE) if number % 2 else ("negative", NEGATIVE)
        said = "positive" if number % 2 else "neutral"
        for name, answer, seconds in (("ann", right, 0.5), ("bob", said, 9.0)):
            rows.append(row(name, number, 1, answer, seconds, settled=settled))
            rows.append(row(name, 100 + number, 3, answer, seconds + 0.2, expected=settled))
    rows.append(row("bob", 120, 3, "unsure", 9.0, expected=NEGATIVE))
    rows += [row("ann", number, 2, "positive", 2.0, before="positive") for number in range(3)]
    frame = pd.DataFrame(rows, columns=RECORD_COLUMNS, dtype=object).astype({"seconds": float})
    return Record(frame, ("ann", "bob"), {"ann": (2, True)}, JudgingSettings(pass_mark=0.9, fastest=1.0))


def test_by_hand(two_annotators):
    report = quality_report(two_annotators)
    ann, bob = report["annotators"]
    assert (ann["annotator"], ann["judgements"], bob["judgements"]) == ("ann", 20, 20)
    assert (ann["accuracy"]["value"], bob["accuracy"]["value"]) == (1.0, 0.5)
    assert (bob["accuracy"]["part"], bob["accuracy"]["whole"], bob["accuracy"]["unsure"]) == (10, 20, 1)
    assert bob["confusion"]["negative"] == {"positive": 0.0, "neutral": 10.0, "negative": 0.0}
    assert {bias["label"]: bias["value"] for bias in bob["bias"]} == {"positive": 0.0, "neutral": 0.5, "negative": -0.5}
    assert ann["consistency"]["value"] is None
    assert ann["consistency"]["reason"] == "3 observations, at least 10 are needed"
    assert (ann["settled"]["value"], bob["settled"]["value"]) == (1.0, 0.5)
    assert (ann["others"]["items"], ann["others"]["value"], ann["others"]["alpha_without"]) == (20, 0.5, None)
    # Twenty times 0.5 s, twenty times 0.7 s, three times 2 s: the median is 0.7, and 40 of 43 are below 1 s.
    assert ann["speed"]["seconds"] == 0.7
    assert (ann["speed"]["fast"]["part"], ann["speed"]["fast"]["whole"]) == (40, 43)
    assert (ann["training"], bob["training"]) == (
        {"attempts": 2, "passed": True}, {"attempts": 0, "passed": False}
    )  # fmt: skip
    assert report["settings"]["pass_mark"] == 0.9
    json.dumps(report, allow_nan=False)
