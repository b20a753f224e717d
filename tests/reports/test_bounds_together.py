"""Cells taken together of which some have bounds only: worked by hand, against the cells, and in every form."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from audit.reports.build import Groups, build_report
from audit.reports.violations import VR_BOUNDS
from audit.statistics.rates import BOUNDS


def cell(relation, satisfied, violated, drawn, false, waits=None, system="a"):
    """A cell that was judged, or with `waits` one of which so many groups may never have an answer."""
    counts = {"satisfied": satisfied, "violated": violated, "drawn": drawn, "drawn_false": false}
    counts |= {"judged": drawn if waits is None else 0, "false": false if waits is None else 0}
    name = {"study": 1, "corpus": "c", "task": "sentiment", "relation": relation, "system": system}
    return name | counts | {"drawn_open": waits or 0, "groups": satisfied + violated}


def draws(cells, documents=10**9):
    """The judged groups and the whole draws of these cells: sources from 0 on, false ones first, then those waiting."""
    frames = []
    for cell in cells:
        source = np.arange(cell["drawn"])
        groups = {name: cell[name] for name in ("study", "task", "relation", "system")} | {"source": source}
        groups |= {"cluster": source % documents, "false": 1 * (source < cell["drawn_false"])}
        waits = (source >= cell["drawn_false"]) & (source < cell["drawn_false"] + cell["drawn_open"])
        frames.append(pd.DataFrame(groups | {"open": 1 * waits, "rate": cell["judged"] > 0}))
    groups = pd.concat(frames, ignore_index=True)
    judged, drawn = groups[groups["rate"]].drop(columns=["rate", "open"]), groups[~groups["rate"]]
    return Groups(judged, drawn=drawn.drop(columns="rate"))


def report_of(*cells, documents=10**9, **options):
    return build_report(pd.DataFrame(list(cells)), {}, groups=draws(cells, documents), **options)


def by(report, level, name="all"):
    return next(roll_up for roll_up in report["rollups"] if (roll_up["by"], roll_up["name"]) == (level, name))


KNOWN, BOUNDED = cell("MR1.1", 300, 100, 60, 15), cell("MR1.2", 100, 100, 60, 12, 30)


def test_sums_of_the_ends_worked_by_hand():
    report = report_of(KNOWN, BOUNDED, target="corpus")
    roll_up = by(report, "overall")
    # R_FS .25 of 300 satisfied groups, and .2 to .7 of 100. SR_g: .75 x .75 of 400, and .5 x .3 to .5 x .8 of 200.
    assert (roll_up["fs_least"], roll_up["fs_most"]) == pytest.approx((0.75 * 0.25 + 0.05, 0.75 * 0.25 + 0.175))
    assert (roll_up["sr_least"], roll_up["sr_most"]) == pytest.approx(((225 + 30) / 600, (225 + 80) / 600))
    assert roll_up["fs_rate"] is roll_up["sr_genuine"] is None
    assert roll_up["reason"] == "1 cell has bounds only, so there are bounds of all together"
    assert roll_up["missing"] == [{"study": 1, "relation": "MR1.2", "system": "a"}]
    assert roll_up["method"] == "stratified over cells, dependence by sums over sources"
    totals = next(row for row in report["violations"][0]["rows"] if row["by"] == "all")["rates"][0]
    assert [totals[name] for name in VR_BOUNDS[:2]] == pytest.approx([1 - roll_up["sr_most"], 1 - roll_up["sr_least"]])
    assert [totals[name] for name in VR_BOUNDS[2:]] == pytest.approx(
        [1 - roll_up["sr_bound_high"], 1 - roll_up["sr_bound_low"]]
    )


@pytest.mark.slow
@pytest.mark.parametrize("target", ["corpus", "population"])
@pytest.mark.parametrize("documents", [10**9, 6])
def test_one_cell_together_is_the_cell(target, documents):
    report = report_of(BOUNDED, documents=documents, target=target)
    (alone,) = report["cells"]
    for roll_up in report["rollups"]:
        assert {name: roll_up[name] for name in BOUNDS} == pytest.approx({name: alone[name] for name in BOUNDS})


@pytest.mark.slow
def test_documents_and_shared_sources_widen_the_interval():
    cells = [cell(f"MR1.{at}", 300, 100, 60, 12, 24) for at in (1, 2, 3)]
    alone = build_report(pd.DataFrame(cells), {})  # as if cells shared nothing
    together, documents = report_of(*cells), report_of(*cells, documents=6)
    widths = [
        [by(report, "overall")[high] - by(report, "overall")[low] for report in (alone, together, documents)]
        for low, high in (("fs_bound_low", "fs_bound_high"), ("sr_bound_low", "sr_bound_high"))
    ]
    for first, second, third in widths:
        assert first < second < third
    assert by(documents, "overall")["method"] == "stratified over cells, dependence by sums over documents"


CELLS = st.lists(
    st.tuples(st.integers(0, 20), st.integers(0, 20), st.integers(0, 20), st.integers(0, 50), st.booleans()),
    min_size=1,
    max_size=4,
).filter(lambda cells: any(sum(one[:3]) for one in cells))


@pytest.mark.slow
@settings(max_examples=15)
@given(CELLS, st.sampled_from([3, 10**9]), st.sampled_from(["corpus", "population"]))
def test_bounds_hold_what_any_answers_would_have_said(numbers, documents, target):
    cells = [
        cell(f"MR1.{at}", false + waits + true + more, 10, false + waits + true, false, None if judged else waits)
        for at, (false, waits, true, more, judged) in enumerate(numbers)
        if false + waits + true
    ]
    roll_up = by(report_of(*cells, documents=documents, target=target), "overall")
    if roll_up["fs_least"] is None:
        assert roll_up["reason"] is None or "no estimate" in roll_up["reason"]
        return
    for low, least, most, high in (
        (roll_up["fs_bound_low"], roll_up["fs_least"], roll_up["fs_most"], roll_up["fs_bound_high"]),
        (roll_up["sr_bound_low"], roll_up["sr_least"], roll_up["sr_most"], roll_up["sr_bound_high"]),
    ):
        assert -1e-9 <= low <= least + 1e-9 <= most + 2e-9 <= high + 3e-9 <= 1 + 4e-9
    for share in (0.0, 0.5, 1.0):
        answers = [
            cell | {"judged": cell["drawn"], "false": cell["drawn_false"] + round(share * cell["drawn_open"])}
            for cell in cells
        ]
        rate = by(build_report(pd.DataFrame(answers), {}, target=target), "overall")["fs_rate"]
        assert roll_up["fs_least"] - 1e-9 <= rate <= roll_up["fs_most"] + 1e-9
