"""Pairs of systems in words, tables and a chart."""

import pandas as pd
import pytest

from audit.reports.build import build_report
from audit.reports.charts import differences_chart, to_svg
from audit.reports.html import to_html
from audit.reports.words import oriented, p_text, pairs_text


def pair(system, other, difference, low, high, p_holm, **more):
    entry = {"system": system, "other": other, "difference": difference, "low": low, "high": high, "p": p_holm}
    entry |= {
        "p_holm": p_holm,
        "apart": bool(p_holm is not None and p_holm <= 0.05),
        "mcnemar_p": 0.5,
        "groups": 90,
        "informative": 60,
        "judged": 40,
        "reason": None,
    }
    return entry | more


UNKNOWN = pair("x", "y", None, None, None, None, mcnemar_p=None, judged=0, reason="the systems share no group")


def test_the_better_system_comes_first_and_the_surest_pair():
    ordered = oriented([pair("a", "b", 0.1, 0.0, 0.2, 0.06), UNKNOWN, pair("a", "c", -0.3, -0.4, -0.2, 0.001)])
    assert [(entry["system"], entry["other"]) for entry in ordered] == [("c", "a"), ("a", "b")]
    assert (ordered[0]["difference"], ordered[0]["low"], ordered[0]["high"]) == (0.3, 0.2, 0.4)
    assert [entry["apart"] for entry in ordered] == [True, False]


@pytest.mark.parametrize(
    ("p", "text"), [(None, "–"), (0.00099, "<\xa0.001"), (0.001, "=\xa0.001"), (0.25, "=\xa0.250"), (0.9996, "=\xa01")]
)
def test_p_values_as_papers_print_them(p, text):
    assert p_text(p) == text


def test_the_strongest_difference_in_words():
    assert pairs_text([UNKNOWN]) == ""
    assert pairs_text([pair("a", "c", -0.3, -0.4, -0.2, 0.001)]) == (
        "c is better than a by 30.0 points [20.0 to 40.0]; p =\xa0.001 after Holm’s adjustment over the whole report."
    )
    assert pairs_text([pair("a", "b", 0.1, -0.1, 0.2, 0.4)]).startswith(
        "No two systems are told apart; the strongest difference is a over b by 10.0 points [-10.0 to 20.0]; "
    )
    assert pairs_text([pair("a", "b", 0.1, -0.1, 0.2, None)]).endswith("too few groups are judged to test it.")
    assert "exact for this corpus; the largest is a over b by 10.0 points." in pairs_text(
        [pair("a", "b", 0.1, 0.1, 0.1, None)]
    )


def test_the_chart_has_a_line_a_pair_with_its_numbers():
    pairs = [pair("a", "c", -0.3, -0.4, -0.2, 0.0001), pair("a", "b", 0.02, -0.1, 0.14, 0.8), UNKNOWN]
    svg = to_svg(differences_chart(pairs, 0.05))
    for text in ("c – a", "a – b", "30.0 · p &lt;\xa0.001", "2.0 · p =\xa0.800"):
        assert f">{text}<" in svg
    assert "x – y" not in svg
    assert differences_chart([UNKNOWN], 0.0) is None


def test_the_html_report_has_a_table_of_pairs():
    rows = [
        {"task": "t", "relation": "MR1", "system": name, "satisfied": 200, "violated": 0, "judged": 100, "false": false}
        for name, false in (("<a>", 60), ("b", 30))
    ]
    html = to_html(build_report(pd.DataFrame(rows), {"delta": 0.02}, target="corpus"))
    assert "Which systems are apart" in html
    assert "Differences up to 2.0 points count as equal." in html
    assert '<tr class="apart">' in html
    assert "30.0 [20.2–38.6]" in html
    assert "&lt;\xa0.001" in html
    assert '<td class="name">&lt;a&gt;</td>' in html
    assert "Which systems are apart" not in to_html(build_report(pd.DataFrame(rows).assign(judged=0, false=0), {}))
