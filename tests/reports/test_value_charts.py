"""Charts of values: what they say in numbers, how far they reach, and that they draw."""

import pytest
import vl_convert

from audit.reports.charts import DARK
from audit.reports.dashboard_charts import bounds_chart, levels_chart, means_chart

HOSTILE = "</script><b>a & 很长的名字"


def cell(system, bound, shares):
    rates = [{"at": round(at / 4, 2), "sr_observed": share} for at, share in enumerate(shares)]
    reported = next(rate["sr_observed"] for rate in rates if rate["at"] == bound)
    return {"system": system, "relation": "R", "bound": bound, "sr_observed": reported, "rates": rates}


def svg(chart):
    return vl_convert.vegalite_to_svg(chart.to_dict()).replace("\N{NO-BREAK SPACE}", " ")


def rows(chart):
    return chart.to_dict()["data"]["values"]


def test_each_system_has_a_panel_with_all_lines_and_what_its_run_reported():
    cells = [cell(HOSTILE, 0.5, [1, 0.9, 0.714, 0.4, 0.1, 0, 0]), cell("b", 0.5, [1, 1, 0.25, 0, 0, 0, 0])]
    chart = bounds_chart(cells, ("bound", "satisfied"), DARK)
    values = rows(chart)
    assert [value["written"] for value in values if "run" in value] == ["71.4", "25.0"]
    for own in (HOSTILE, "b"):
        lines = [value for value in values if value["panel"] == own and "bound" in value]
        assert {value["line"] for value in lines} == {HOSTILE, "b"}
        assert all(value["own"] == (value["line"] == own) for value in lines)
        # It ends where no system is satisfied any more.
        assert max(value["bound"] for value in lines) == 1.25
    drawn = svg(chart)
    for text in ("71.4", "25.0", "bound", "satisfied", "&lt;/script&gt;"):
        assert text in drawn
    assert "<script>" not in drawn


@pytest.mark.parametrize("bound", [0.0, 0.25, 1.0, 1.5])
def test_the_bound_of_the_run_is_always_in_the_picture(bound):
    chart = bounds_chart([cell("a", bound, [1, 0.5, 0, 0, 0, 0, 0])], ("bound", "satisfied"))
    across = chart.to_dict()["spec"]["layer"][0]["encoding"]["x"]["scale"]["domain"]
    assert across[0] <= bound <= across[1]
    assert across[0] < across[1]
    svg(chart)


def test_a_share_that_never_falls_to_nothing_is_shown_to_the_last_bound():
    chart = bounds_chart([cell("a", 0.5, [1, 1, 1, 1, 1, 1, 0.2])], ("bound", "satisfied"))
    assert max(value["bound"] for value in rows(chart) if "bound" in value) == 1.5


def mean(level, estimate, low=None, high=None):
    return {"level": level, "mean": estimate, "low": low, "high": high}


def test_means_stand_in_their_order_with_letters_and_without_those_that_have_none():
    means = [mean("fr", 0.58, 0.57, 0.59), mean(HOSTILE, 0.69, 0.68, 0.7), mean("ko", None), mean("es", 0.6)]
    chart = means_chart(means, {"fr": "b", HOSTILE: "a"}, "mean value")
    assert [value["level"] for value in rows(chart)] == [HOSTILE, "es", "fr"]
    drawn = svg(chart)
    for text in ("0.690", "0.600", "0.580", ">a<", ">b<", "mean value"):
        assert text in drawn
    assert ">ko<" not in drawn
    assert means_chart([mean("ko", None)], {}, "mean value") is None


def test_levels_end_with_their_mean_and_have_a_dash_where_nothing_was_checked():
    shares = {"MGMT-sentence": 0.95, "MGMT-word": None}
    chart = levels_chart([{"system": HOSTILE, "shares": shares, "score": None}], "得分")
    assert [(value["level"], value["text"]) for value in rows(chart)] == [
        ("MGMT-sentence", "95.0"),
        ("MGMT-word", "–"),
        ("得分", "–"),
    ]
    assert "得分" in svg(chart)
