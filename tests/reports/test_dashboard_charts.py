"""The charts of the dashboard say in numbers what they say in colour, and draw."""

from itertools import pairwise

import pytest
import vl_convert

from audit.reports.charts import DARK
from audit.reports.dashboard_charts import (
    agreement_chart,
    best_chart,
    confusion_chart,
    firming_chart,
    needs_chart,
    people_chart,
    progress_chart,
)

POINTS = [{"judgements": 0}, {"judgements": 10}]
HOSTILE = "</script><b>a & 很长的名字"


def system(name, rates, chances):
    lists = dict.fromkeys(("fs_rate", "fs_low", "fs_high", "sr_genuine", "sr_genuine_low", "sr_genuine_high"), rates)
    return {"system": name, "judged": [0, 5], "sr_observed": [0.9, 0.9], "p_best": chances} | lists


CHARTS = {
    "progress": progress_chart([{"relation": "MR1", "system": HOSTILE, "judged": 3, "drawn": 4}]),
    "nothing drawn": progress_chart([{"relation": "MR1", "system": "a", "judged": 0, "drawn": 0}]),
    "confusion": confusion_chart([[2, 1], [1, 0]], ["正面", HOSTILE]),
    "firming": firming_chart(POINTS, [system(HOSTILE, [None, 0.25], [None, 1.0])], "sr_genuine", ("x", "y")),
    "best": best_chart(POINTS, [system(n, [0.1, 0.2], [0.3, 0.3]) for n in "abc"], ("x", "y"), DARK),
    "agreement": agreement_chart(
        [{"name": "alpha", "stretch": 1, "estimate": -0.1, "low": -0.3, "high": None, "items": 9}], ("x", "y")
    ),
    "needs": needs_chart(
        [{"name": "MR1", "goal": "w", "to_go": 1200}, {"name": "MR2", "goal": "w", "to_go": None}], ["w"], ("x", "done")
    ),
    "people": people_chart([{"name": HOSTILE, "judgements": 1234}]),
}


@pytest.mark.parametrize(
    ("name", "texts"),
    [
        ("progress", ["3/4", "MR1"]),
        ("nothing drawn", ["0/0"]),
        ("confusion", ["正面"]),
        ("firming", ["y"]),
        ("best", ["a  30", "b  30", "c  30"]),
        ("agreement", ["alpha"]),
        ("needs", ["1,200", "–"]),
        ("people", ["1,234"]),
    ],
)
def test_a_chart_draws_and_has_its_numbers(name, texts):
    svg = vl_convert.vegalite_to_svg(CHARTS[name].to_dict())
    for text in texts:
        assert text in svg.replace("\N{NO-BREAK SPACE}", " ")
    assert "<b>" not in svg


def test_where_nothing_is_known_there_is_no_chart():
    unknown = [system("a", [None, None], [None, None])]
    assert firming_chart(POINTS, unknown, "fs_rate", ("x", "y")) is None
    assert best_chart(POINTS, unknown, ("x", "y")) is None
    assert agreement_chart([{"name": "a", "stretch": 1, "estimate": None, "low": None}], ("x", "y")) is None
    assert needs_chart([], ["w"], ("x", "y")) is None
    assert people_chart([{"name": "a", "judgements": 0}]) is None


def test_names_at_the_ends_of_lines_stand_apart():
    spec = CHARTS["best"].to_dict()
    ends = next(layer["data"]["values"] for layer in spec["layer"] if layer["mark"]["type"] == "text")
    places = sorted(end["place"] for end in ends)
    assert all(later - earlier > 0.09 for earlier, later in pairwise(places))
