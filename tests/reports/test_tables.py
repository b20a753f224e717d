"""What a CSV of any table may hold."""

from hypothesis import given
from hypothesis import strategies as st

from audit.reports.tables import harmless


@given(st.sampled_from(["", "=", "+", "-", "@", "\t", "\r"]), st.text())
def test_no_text_of_a_table_begins_like_a_formula(prefix, text):
    field = harmless(prefix + text)
    assert not field.startswith(("=", "+", "-", "@", "\t", "\r"))
    assert field in (prefix + text, "'" + prefix + text)
