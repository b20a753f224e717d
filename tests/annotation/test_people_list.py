"""Lists of people: names alone, CSV, cells of a spreadsheet; wrong lines are told, and then nobody is invited."""

import pytest

from audit.annotation.invitations import Terms
from audit.annotation.people_list import people_of
from audit.errors import AuditError

STUDIES = {"hotels": [1], "films (imdb)": [2], "2": [2]}


def listed(text: str, terms: Terms | None = None) -> list[tuple[str, str, tuple[str, ...], tuple[int, ...], int]]:
    return [
        (one.name, one.terms.role, tuple(one.terms.languages), tuple(one.terms.studies), one.line)
        for one in people_of(text, terms or Terms(), STUDIES)
    ]


def test_names_alone_have_the_terms_of_the_form():
    terms = Terms("adjudicator", ("en",), studies=[1])
    assert listed("ann\n\n 王芳 \r\n", terms) == [
        ("ann", "adjudicator", ("en",), (1,), 1),
        ("王芳", "adjudicator", ("en",), (1,), 3),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "ann,annotator,en;zh,hotels\nben,Adjudicator,,2",
        "name,role,languages,study\nann,标注员,en zh,HOTELS\nben,adjudicator,,films (imdb)",
        "study\tname\tlanguages\trole\nhotels\tann\ten;zh\t\n2\tben\t\tadjudicator",
        'name,study,languages,role\n"ann",hotels,en|zh,\nben，2，，仲裁员',
    ],
)
def test_columns_in_any_order_and_roles_in_any_language(text):
    people = [row[:4] for row in listed(text)]
    assert people == [("ann", "annotator", ("en", "zh"), (1,)), ("ben", "adjudicator", (), (2,))]


def test_every_wrong_line_is_told_with_its_number_and_reason():
    text = "name,role\nann,queen\nben,annotator\ncarl,annotator,en"
    with pytest.raises(AuditError) as caught:
        people_of(text, Terms(), STUDIES, "people.csv")
    said = str(caught.value)
    assert "people.csv: 2 of 3 rows are wrong, so nothing was used" in said
    assert "line 2: role 'queen' is not one of" in said
    assert "line 4: 3 fields where the header has 2" in said
    with pytest.raises(AuditError, match="line 1: there is no study 'spas'; there are 2, films"):
        people_of("ann,,,spas", Terms(), STUDIES)
    with pytest.raises(AuditError, match="the columns are name, role, languages, study"):
        people_of("name,shoe\nann,42", Terms())
