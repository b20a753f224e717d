"""The charts of the dashboard say in numbers what they say in colour, and draw."""

import pytest
import vl_convert

from audit.reports.dashboard_charts import (
    confusion_chart,
    people_chart,
    progress_chart,
)

HOSTILE = "</script><b>a & 很长的名字"


CHARTS = {
    "progress": progress_chart([{"relation": "MR1", "system": HOSTILE, "judged": 3, "drawn": 4}]),
    "nothing drawn": progress_chart([{"relation": "MR1", "system": "a", "judged": 0, "drawn": 0}]),
    "confusion": confusion_chart([[2, 1], [1, 0]], ["正面", HOSTILE]),
    "people": people_chart([{"name": HOSTILE, "judgements": 1234}]),
}


@pytest.mark.parametrize(
    ("name", "texts"),
    [
        ("progress", ["3/4", "MR1"]),
        ("nothing drawn", ["0/0"]),
        ("confusion", ["正面"]),
        ("people", ["1,234"]),
    ],
)
def test_a_chart_draws_and_has_its_numbers(name, texts):
    svg = vl_convert.vegalite_to_svg(CHARTS[name].to_dict())
    for text in texts:
        assert text in svg.replace("\N{NO-BREAK SPACE}", " ")
    assert "<b>" not in svg


def test_where_nothing_is_known_there_is_no_chart():
    assert people_chart([{"name": "a", "judgements": 0}]) is None
