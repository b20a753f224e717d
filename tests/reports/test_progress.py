"""The document of `audit progress`, and the CSV of any table."""

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from audit.annotation.activity import overview
from audit.reports.evidence import evidence
from audit.reports.progress import CELLS, cells_at_work, progress_document, progress_lines
from audit.reports.study import cells_of_report, report_of
from audit.reports.tables import sheet
from audit.store import open_store


@pytest.mark.slow
def test_the_document_has_the_cells_of_the_report(judged):
    engine = open_store(judged)
    basis = evidence(engine)
    report = report_of(basis)
    document = progress_document(overview(engine), cells_at_work(basis.counted, cells_of_report(basis)))
    drawn = [cell for cell in report["cells"] if cell["drawn"]]
    assert [{name: cell[name] for name in CELLS if name != "settled"} for cell in drawn] == [
        {name: value for name, value in cell.items() if name != "settled"} for cell in document["cells"]
    ]
    for cell in document["cells"]:
        assert tuple(cell) == CELLS
        assert cell["judged"] <= cell["settled"] <= cell["drawn"]
        assert (cell["settled"] == cell["drawn"]) == (cell["waiting"] == 0)
    assert document["questions"]["adjudicated"] > 0
    text = "\n".join(progress_lines(document))
    assert "fs_high" not in text
    assert "by adjudicators" in text


def read(data):
    return list(csv.reader(io.StringIO(data.decode("utf-8-sig"), newline="")))


def test_a_sheet_has_titles_numbers_and_no_formulas():
    rows = [{"a": '=HYPERLINK("x")', "b": -1.5, "c": None}, {"a": '很好, "x"\n', "b": 2, "c": ["+1", "z"]}]
    fields = read(sheet(rows, {"a": "名称", "b": "%", "c": "-"}))
    assert fields == [["名称", "%", "'-"], ['\'=HYPERLINK("x")', "-1.5", ""], ['很好, "x"\n', "2", "'+1, z"]]


@given(st.lists(st.text(), min_size=1, max_size=5))
def test_no_text_of_a_sheet_begins_like_a_formula(texts):
    data = sheet([{"a": text} for text in texts], {"a": "a"})
    for field in (row[0] for row in read(data)[1:] if row):
        assert not field.startswith(("=", "+", "-", "@", "\t", "\r"))


@pytest.mark.parametrize("prefix", ["=", "+", "-", "@", "\t", "\r"])
def test_the_apostrophe_is_all_that_is_added(prefix):
    assert read(sheet([{"a": f"{prefix}1"}], {"a": "a"}))[1] == [f"'{prefix}1"]
