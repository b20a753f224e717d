"""The document of `audit progress`, and the CSV of any table."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from audit.judging.activity import overview
from audit.reports.evidence import evidence
from audit.reports.progress import CELLS, cells_at_work, progress_document, progress_sections
from audit.reports.study import cells_of_report, report_of
from audit.reports.tables import harmless, to_text
from audit.store import open_store


@pytest.mark.slow
def test_the_document_has_the_cells_of_the_report(judged):
    engine = open_store(judged)
    basis = evidence(engine)
    report = report_of(basis)
    document = progress_document(overview(engine), cells_at_work(cells_of_report(basis)))
    drawn = [cell for cell in report["cells"] if cell["drawn"]]
    assert [{name: cell[name] for name in CELLS if name != "settled"} for cell in drawn] == [
        {name: value for name, value in cell.items() if name != "settled"} for cell in document["cells"]
    ]
    for cell in document["cells"]:
        assert tuple(cell) == CELLS
        assert cell["judged"] <= cell["settled"] <= cell["drawn"]
        assert (cell["settled"] == cell["drawn"]) == (cell["waiting"] == 0)
    assert document["questions"]["adjudicated"] > 0
    text = to_text(list(progress_sections(document)))
    assert "by adjudicators" in text


@given(st.sampled_from(["", "=", "+", "-", "@", "\t", "\r"]), st.text())
def test_no_text_of_a_table_begins_like_a_formula(prefix, text):
    field = harmless(prefix + text)
    assert not field.startswith(("=", "+", "-", "@", "\t", "\r"))
    assert field in (prefix + text, "'" + prefix + text)
