"""The change of order: ranks before and after, ties, and the chart."""

import pandas as pd
import pytest

from audit.reports.build import build_report
from audit.reports.charts import moves, order_chart, order_in_words, to_svg


def report_of(**systems):
    """A report of one relation; each system has (satisfied of 100, false of all that are satisfied)."""
    rows = [
        {"task": "t", "relation": "MR1", "system": name, "satisfied": good, "violated": 100 - good, "judged": good}
        | {"false": false}
        for name, (good, false) in systems.items()
    ]
    return build_report(pd.DataFrame(rows), {})


def test_ranks_before_and_after():
    # SR_g: a 90 - 60 = 30, b 80 - 10 = 70, c 70 - 20 = 50.
    report = report_of(a=(90, 60), b=(80, 10), c=(70, 20))
    moved = moves(report["relations"][0])
    assert [(move.system, move.rank_before, move.rank_after) for move in moved] == [
        ("b", 2, 1),
        ("c", 3, 2),
        ("a", 1, 3),
    ]
    assert [move.observed for move in moved] == pytest.approx([0.8, 0.7, 0.9])
    assert [move.genuine for move in moved] == pytest.approx([0.7, 0.5, 0.3])
    assert order_in_words(report["relations"][0]) == (
        "Ranks by the reported and by the genuine rate of MR1: b from rank 2 to 1; c from rank 3 to 2; "
        "a from rank 1 to 3."
    )


def test_a_tie_does_not_look_like_a_change():
    # Tied before; c is best after. Their lines before are in the order after, so that no two cross.
    report = report_of(a=(80, 30), b=(80, 20), c=(80, 10))
    moved = moves(report["relations"][0])
    assert [move.system for move in moved] == ["c", "b", "a"]
    assert [move.rank_before for move in moved] == [1, 1, 1]
    assert [move.line_before for move in moved] == [move.line_after for move in moved] == [0, 1, 2]


def test_chart_names_every_system_twice_with_its_rates():
    report = report_of(a=(90, 60), b=(80, 10), c=(80, 10))
    svg = to_svg(order_chart(report["relations"][0]))
    for text in ("reported", "genuine", "a  90.0", "30.0  a", "b  80.0", "70.0  c"):
        assert f">{text}<" in svg
    assert "stroke-dasharray" in svg  # a falls


def test_no_chart_of_fewer_than_two_systems_with_both_rates():
    rows = [
        {"task": "t", "relation": "MR1", "system": name, "satisfied": 8, "violated": 2, "judged": judged, "false": 0}
        for name, judged in (("a", 8), ("b", 0))
    ]
    report = build_report(pd.DataFrame(rows), {})
    assert moves(report["relations"][0]) == []
    assert order_chart(report["relations"][0]) is None
